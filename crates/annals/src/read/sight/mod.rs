//! Sights: the part of a snapshot that a reader with some grants sees.
//!
//! A sight is two sets of slots, so that every operator asks with one bit whether an instance is in it. Only trees ask for the
//! ways beside them.

mod grant;
pub(super) mod resolved_grants;
mod ways;
pub(super) mod snapshot_sight;
mod record_in_sight;
mod displaced;
mod purged_in_sight;
mod rights;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::graph::structures::slot_set::SlotSet;
use crate::read::source::Source;
use crate::{Error, ErrorKind, Position, Result};
pub use grant::Grant;
use grant::{Merged, merged};
pub(super) use purged_in_sight::PurgedInSight;
pub(crate) use rights::hidden;
pub use rights::{Right, Rights};

/// Most grants of one sight.
pub const GRANTS_MAX: usize = 100_000;

/// The grants of a reader. An entity is in sight if a grant admits it as it is now and, in a read of the past, also as it
/// was then. A relationship is in sight if a grant admits its type and both its ends are in sight. Instances of types whose
/// names begin with `annals.` or `annals-`, and of their subtypes, are what the repository stores about itself, and never in
/// sight.
///
/// The containers above one that a grant names are not in sight, but paths of trees lead through them: a reader sees the id,
/// the type and the name of each, and no properties, headers or other children.
///
/// ```
/// use std::sync::Arc;
/// use annals::{Find, Grant, NewEntity, Repository, Sight};
/// let repository = Repository::in_memory();
/// repository.transact(|t| {
///     t.create_entity(NewEntity::new("page").id("open")?.property("public", true))?;
///     t.create_entity(NewEntity::new("page").id("closed")?)
/// })?;
/// let pages = Grant { entities: "page where public = true".parse()?, ..Grant::default() };
/// let sight = Arc::new(Sight::new(vec![pages])?);
/// let snapshot = repository.snapshot().seen_by(&sight)?;
/// assert!(snapshot.entity(&"closed".parse()?)?.is_none());
/// assert_eq!(snapshot.entities_count(), 1);
/// # Ok::<(), annals::Error>(())
/// ```
pub struct Sight {
    grants: Vec<Grant>,
    /// The same, as few as possible.
    merged: Vec<Merged>,
    kept: Mutex<Option<Kept>>,
}

/// The instances in sight at one position.
#[derive(Clone)]
pub(super) struct Kept {
    /// That of the repository, because positions of others mean something else.
    pub(super) source: Weak<Source>,
    pub(super) generation: u64,
    pub(super) position: Position,
    pub(super) sets: Arc<InSight>,
}

/// The slots of the instances in sight, deleted ones and proxies included.
#[derive(Clone)]
pub(super) struct InSight {
    // Differs between sights, for walks that are kept.
    pub(super) number: u64,
    // The containers that the grants name. For each grant with some.
    pub(super) roots: Vec<Vec<u32>>,
    // The grants that admitted nothing, because a name in their conditions was unknown.
    pub(super) unknown: Vec<usize>,
    pub(super) entities: SlotSet,
    pub(super) relationships: SlotSet,
    ways: Ways,
    /// Those that were in sight before they were purged.
    pub(super) purged: Arc<PurgedInSight>,
}

/// The containers that grants name and everything above them, in sight or not.
#[derive(Clone, Default)]
struct Ways {
    entities: SlotSet,
    /// The relationships by which each contains the next.
    links: SlotSet,
    /// Those that grants name: what is in sight in one of them shows its place there.
    containers: SlotSet,
}

/// The sight of a snapshot.
pub(super) struct SnapshotSight {
    pub(super) sight: Arc<Sight>,
    /// In the present.
    pub(super) present: Arc<InSight>,
    /// In the view of the snapshot.
    pub(super) in_sight: Arc<InSight>,
}

impl Sight {
    /// Errors: `InvalidArgument` for a grant with conditions on relationships, or with more than types and conditions;
    /// `TooLarge` for too many grants.
    pub fn new(grants: Vec<Grant>) -> Result<Sight> {
        if grants.len() > GRANTS_MAX {
            let text = format!("sight: expected at most {GRANTS_MAX} grants, found {}", grants.len());
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        grants.iter().try_for_each(Grant::check)?;
        let merged = merged(&grants);
        Ok(Sight { grants, merged, kept: Mutex::default() })
    }

    /// The grants.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }
}

impl std::fmt::Debug for Sight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sight").field("grants", &self.grants).finish_non_exhaustive()
    }
}

pub(super) fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
