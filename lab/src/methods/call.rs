//! The calls of the suite, for any target.

use std::sync::Arc;
use std::time::Duration;

use annals::{
    ClassificationContent, ClassificationCopy, EntityCopy, EntityProxy, Find, Id, InstanceId, Instant,
    NewEntity, NewRelationship, RelationshipCopy, TypeKind, Value,
};

use super::values::Properties;
use crate::outcome::Outcome;

/// Name of the collection that copies come from.
pub const ELSEWHERE: &str = "elsewhere";

/// A call to the repository.
#[derive(Clone, Debug)]
pub enum Call {
    CreateEntity(NewEntity),
    CreateRelationship(NewRelationship),
    Replace(InstanceId, Properties),
    Undo(InstanceId),
    /// With the type that the caller assumes, which may be a supertype.
    Delete(InstanceId, Arc<str>),
    Restore(InstanceId),
    /// Only if it is deleted.
    Purge(InstanceId),
    PurgeCopy(InstanceId),
    SaveEntity(EntityCopy),
    /// With the known fields of the entities at its ends.
    SaveRelationship(RelationshipCopy, Box<[EntityProxy; 2]>),
    SaveClassification(Id, ClassificationCopy),
    PurgeClassification(Id, Arc<str>),
    Rehome(InstanceId),
    Retype(InstanceId, Arc<str>),
    Reidentify(InstanceId, Id),
    Classify(Id, ClassificationContent),
    Reclassify(Id, Arc<str>, Properties),
    Declassify(Id, Arc<str>),
    /// Whether it exists.
    Known(InstanceId),
    /// Its header and classifications.
    Summary(Id),
    /// The whole instance.
    Get(InstanceId),
    /// This many of its versions, newest first.
    Versions(InstanceId, usize),
    Find(TypeKind, Box<Find>),
    RelationshipsOf(Id, usize),
    Neighborhood(Id, usize),
    Related(Id, usize),
    Linking(Id, Id),
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Ids of the found, created or visited instances, in order; of entities if there are both kinds.
    pub ids: Vec<Id>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// Number of returned elements.
    pub elements: usize,
    /// The commit instant of a write.
    pub instant: Option<Instant>,
}

/// An answer, or the reason why there is none, and the time it took.
pub struct Timed {
    pub answer: Result<Answer, String>,
    pub elapsed: Duration,
}

/// The present state of an instance, for checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    pub type_name: String,
    pub version: u64,
    pub status: String,
    /// Name of its collection, if it is not this repository's own.
    pub home: Option<String>,
    /// By name.
    pub properties: Vec<(String, Value)>,
    /// Names.
    pub classifications: Vec<String>,
}

/// A target of the calls.
pub trait Target {
    /// Makes a call, now or as of an instant.
    ///
    /// Errors: a failure that ends the measurement; a refusal is an answer.
    fn call(&mut self, call: Call, then: Option<Instant>) -> Outcome<Timed>;

    /// Changes many instances in one transaction, without a time limit.
    fn load(&mut self, calls: Vec<Call>) -> Outcome<()>;

    /// At most this many entities, evenly spread, are the start of graph queries.
    fn starts_max(&self) -> usize {
        usize::MAX
    }

    /// Why it cannot purge an entity with very many relationships, if it cannot.
    fn lacks_hubs(&self) -> Option<&'static str> {
        None
    }

    /// Reads an instance, without a time limit.
    fn look(&mut self, id: &InstanceId, then: Option<Instant>) -> Outcome<Option<Looked>>;
}

impl Call {
    /// True for a write.
    pub fn is_write(&self) -> bool {
        use Call::{Find, Get, Known, Linking, Neighborhood, Related, RelationshipsOf, Summary, Versions};
        !matches!(
            self,
            Known(_)
                | Summary(_)
                | Get(_)
                | Versions(..)
                | Find(..)
                | RelationshipsOf(..)
                | Neighborhood(..)
                | Related(..)
                | Linking(..)
        )
    }

    /// A short description, for errors.
    pub fn describe(&self) -> String {
        format!("{self:?}").chars().take(200).collect()
    }
}
