//! Revisions of instances as entity tags.

use std::fmt::Write;

use annals::{Entity, InstanceId, Relationship, Revision, Snapshot, SubtreeState};
use annals_json::Seen;
use http::header::HeaderValue;

use crate::protocol::problem::Problem;

/// The entity tag of an instance: its birth, its latest version and its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    text: String,
    latest_version: u32,
}

impl Tag {
    /// The tag of an entity.
    pub fn of_entity(entity: &Entity<'_>) -> Tag {
        Tag::of(entity.revision())
    }

    /// The tag of an item of a tree with everything below it. Without anything below it is that of the entity.
    pub fn of_subtree(entity: &Entity<'_>, state: &SubtreeState) -> Tag {
        let own = Tag::of_entity(entity);
        if state.items_count == 0 {
            return own;
        }
        let text = format!("\"{};{};{}\"", own.text.trim_matches('"'), state.items_count, state.changed);
        Tag { text, ..own }
    }

    /// The tag of an instance that a snapshot shows.
    pub fn of_seen(seen: &Seen<'_>) -> Result<Tag, Problem> {
        match seen {
            Seen::Entity(entity) => Ok(Tag::of_entity(entity)),
            Seen::Relationship(relationship) => Tag::of_relationship(relationship),
        }
    }

    fn of(revision: Revision) -> Tag {
        Tag { text: format!("\"{revision}\""), latest_version: revision.version }
    }

    // A relationship shows the ids of its ends, and another id of an end makes no version of the relationship.
    fn of_relationship(relationship: &Relationship<'_>) -> Result<Tag, Problem> {
        let revision = relationship.revision();
        let mut text = format!("\"{revision}");
        for end in [relationship.from_entity()?, relationship.to_entity()?].into_iter().flatten() {
            if end.reidentified_from().is_some() {
                write!(text, ".{}", end.latest_version()).expect("memory takes what is written");
            }
        }
        Ok(Tag { text: text + "\"", latest_version: revision.version })
    }

    /// The tag of an instance, also if it is deleted; `None` if the instance does not exist.
    pub fn find(snapshot: &Snapshot, instance: &InstanceId) -> Result<Option<Tag>, Problem> {
        if let InstanceId::Relationship(id) = instance
            && let Some(relationship) = snapshot.relationship(id)?
        {
            return Tag::of_relationship(&relationship).map(Some);
        }
        Ok(snapshot.revision(instance).map(Tag::of))
    }

    /// With its quotes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The latest version that it names.
    pub fn latest_version(&self) -> u32 {
        self.latest_version
    }

    /// As the value of the header `ETag`.
    pub fn to_header(&self) -> HeaderValue {
        HeaderValue::try_from(&self.text).expect("ASCII is valid in a header")
    }
}
