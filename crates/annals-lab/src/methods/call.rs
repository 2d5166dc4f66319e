//! The calls of the suite, whoever answers them.

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

/// Something asked of the repository.
#[derive(Clone, Debug)]
pub enum Call {
    CreateEntity(NewEntity),
    CreateRelationship(NewRelationship),
    Replace(InstanceId, Properties),
    Undo(InstanceId),
    /// With the type that the caller takes it for, which may be a supertype.
    Delete(InstanceId, Arc<str>),
    Restore(InstanceId),
    /// Only if it is deleted.
    Purge(InstanceId),
    PurgeCopy(InstanceId),
    SaveEntity(EntityCopy),
    /// With what is known of the entities at its ends.
    SaveRelationship(RelationshipCopy, [EntityProxy; 2]),
    SaveClassification(Id, ClassificationCopy),
    PurgeClassification(Id, Arc<str>),
    Rehome(InstanceId),
    Retype(InstanceId, Arc<str>),
    Reidentify(InstanceId, Id),
    Classify(Id, ClassificationContent),
    Reclassify(Id, Arc<str>, Properties),
    Declassify(Id, Arc<str>),
    /// Whether it is there.
    Known(InstanceId),
    /// Its header and classifications.
    Summary(Id),
    /// All of it.
    Get(InstanceId),
    /// So many of its versions, newest first.
    Versions(InstanceId, usize),
    Find(TypeKind, Box<Find>),
    RelationshipsOf(Id, usize),
    Neighborhood(Id, usize),
    Related(Id, usize),
    Linking(Id, Id),
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Ids of what was found, made or met, in order; of entities where both kinds come back.
    pub ids: Vec<Id>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// How many elements came back.
    pub elements: usize,
    /// When what was written was committed.
    pub instant: Option<Instant>,
}

/// An answer, or why there is none, and how long it took.
pub struct Timed {
    pub answer: Result<Answer, String>,
    pub elapsed: Duration,
}

/// What an instance is now, to be checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    pub type_name: String,
    pub version: u64,
    pub status: String,
    /// Name of the collection that it belongs to, if it is not ours.
    pub home: Option<String>,
    /// By name.
    pub properties: Vec<(String, Value)>,
    /// Names.
    pub classifications: Vec<String>,
}

/// Whoever answers.
pub trait Target {
    /// Asks, now or as of an instant.
    ///
    /// Errors: if nothing can be measured any more; a refusal is an answer.
    fn call(&mut self, call: Call, then: Option<Instant>) -> Outcome<Timed>;

    /// Changes many things in one transaction, whatever time it takes.
    fn load(&mut self, calls: Vec<Call>) -> Outcome<()>;

    /// Looks at an instance, whatever time it takes.
    fn look(&mut self, id: &InstanceId, then: Option<Instant>) -> Outcome<Option<Looked>>;
}

impl Call {
    /// True if it changes something.
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

    /// In a few words, for the list of the slowest.
    pub fn describe(&self) -> String {
        match self {
            Call::CreateEntity(entity) => format!("create {}", entity.type_name),
            Call::CreateRelationship(one) => {
                format!("create {} from {} to {}", one.type_name, one.from, one.to)
            }
            Call::Find(kind, find) => format!("find {} {find}", kind.name()),
            Call::SaveEntity(copy) => format!("save a copy of a {}", copy.type_name),
            Call::SaveRelationship(copy, _) => format!("save a copy of a {}", copy.type_name),
            Call::Classify(id, one) => format!("classify {id} as {}", one.name),
            Call::Neighborhood(id, depth) => format!("{depth} steps around {id}"),
            other => format!("{other:?}").chars().take(200).collect(),
        }
    }
}
