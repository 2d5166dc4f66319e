//! Which of the purged instances were in a sight: only a sight that was in use before the purge knows it.

use std::collections::BTreeSet;

use super::InSight;
use crate::Position;
use crate::graph::Graph;
use crate::graph::purges::PurgedInstance;
use crate::model::TypeKind;

/// Most purged instances that a sight knows; those purged first are forgotten first.
const KNOWN_MAX: usize = 16_384;

/// The purged instances that were in a sight.
#[derive(Clone, Default)]
pub(in crate::read) struct PurgedInSight {
    /// Of purges up to this position it is not known; `None`: of none.
    known_after: Option<Position>,
    /// Position of the purge, kind of the table and slot.
    known: BTreeSet<(u64, bool, u32)>,
}

impl PurgedInSight {
    /// Those of a sight that is first used at `position`.
    pub(super) fn after(position: Position) -> PurgedInSight {
        PurgedInSight { known_after: Some(position), known: BTreeSet::new() }
    }

    /// Whether the instance was in sight before its purge; `None` if it is not known.
    pub(in crate::read) fn had(&self, purged: &PurgedInstance) -> Option<bool> {
        let is_known = self.known_after.is_some_and(|after| purged.position > after.0);
        is_known.then(|| self.known.contains(&key(purged)))
    }

    /// The same after the records from `from`, the position of the sets, to that of `graph`.
    pub(super) fn later(&self, sets: &InSight, from: Position, graph: &Graph) -> PurgedInSight {
        let mut later = self.clone();
        let purges = &graph.purges;
        if purges.forgotten > from {
            later = PurgedInSight::after(purges.forgotten);
        }
        let was_in_sight = |purged: &&PurgedInstance| match purged.kind {
            TypeKind::Relationship => sets.relationships.contains(purged.slot),
            _ => sets.entities.contains(purged.slot),
        };
        later.known.extend(purges.known(from.0 + 1..=graph.position.0).filter(was_in_sight).map(key));
        while later.known.len() > KNOWN_MAX {
            let first = later.known.pop_first();
            later.known_after = first.map(|(position, ..)| Position(position)).max(later.known_after);
        }
        later
    }
}

fn key(purged: &PurgedInstance) -> (u64, bool, u32) {
    (purged.position, purged.kind == TypeKind::Relationship, purged.slot)
}
