//! A query of the log, and the place where its next page begins.

use crate::model::{Id, Instant, TypeKind};
use crate::search::PAGE_BYTES_MAX;
use crate::{Error, ErrorKind, Position, Result};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The changes to list, and their order. A change must match all given filters.
///
/// ```
/// use annals::{InstanceId, LogQuery, LoggedChange, NewEntity, Patch, Repository};
/// let repository = Repository::in_memory();
/// let (id, _) = repository.transact(|t| t.create_entity(NewEntity::new("table").property("rows", 5)))?;
/// repository.transact(|t| t.author("bob").update(&InstanceId::Entity(id.clone()), Patch::new().set("rows", 9)))?;
/// let query = LogQuery { author: Some("bob".into()), ..LogQuery::default() };
/// let page = repository.snapshot().log(&query)?;
/// let LoggedChange::Instance(change) = &page.records[0].changes[0] else { panic!() };
/// assert_eq!((change.verb, &*change.type_name), ("update", "table"));
/// assert_eq!(change.difference.properties[0].before, Some(5.into()));
/// assert_eq!(change.difference.properties[0].after, Some(9.into()));
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogQuery {
    /// Only records of this author.
    pub author: Option<Arc<str>>,
    /// Only changes of instances of this type and its subtypes, of classifications of this name, and of its declaration.
    pub type_name: Option<Arc<str>>,
    /// Only changes of the entity or relationship that has or had this id; the deletion of an entity also counts for
    /// its relationships, and for everything it contains.
    pub id: Option<Id>,
    /// Only changes of entities, of relationships or of classifications, and declarations of types of this kind. A
    /// change of a classification also counts for its entity.
    pub kind: Option<TypeKind>,
    /// Only changes with this verb: one of [`Action::verbs`](crate::Action::verbs).
    pub verb: Option<Arc<str>>,
    /// Only records committed at this instant or later.
    pub since: Option<Instant>,
    /// Only records committed before this instant.
    pub until: Option<Instant>,
    /// Oldest first instead of newest first. The changes of a record are always in their original order.
    pub is_oldest_first: bool,
    /// Continues after this place, in the order of the list: the place in the page before, or any position.
    pub after: Option<LogPlace>,
    /// Page size. Units: records.
    pub limit: usize,
    /// Ends the page with the change that brings its stored bytes over this. Units: bytes.
    pub bytes_max: usize,
}

impl Default for LogQuery {
    fn default() -> LogQuery {
        LogQuery {
            author: None,
            type_name: None,
            id: None,
            kind: None,
            verb: None,
            since: None,
            until: None,
            is_oldest_first: false,
            after: None,
            limit: 100,
            bytes_max: PAGE_BYTES_MAX,
        }
    }
}

/// The end of a page of the log.
///
/// Shape: as text `42`, or `42-1000` if only the first 1000 changes of the record at 42 were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPlace {
    /// The last record.
    pub position: Position,
    /// The number of its changes that were read; `None`: all of them.
    pub changes: Option<u32>,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.changes {
            None => write!(f, "{}", self.position),
            Some(changes) => write!(f, "{}-{changes}", self.position),
        }
    }
}

impl FromStr for LogPlace {
    type Err = Error;

    fn from_str(text: &str) -> Result<LogPlace> {
        let (position, changes) =
            text.split_once('-').map_or((text, None), |(position, changes)| (position, Some(changes)));
        let place = position.parse().ok().zip(changes.map(str::parse).transpose().ok());
        let (position, changes) = place.ok_or_else(|| {
            let text = format!("log after {text:?}: expected a position, or the `next` of the page before");
            Error::new(ErrorKind::InvalidPage, text)
        })?;
        Ok(LogPlace { position: Position(position), changes })
    }
}
