//! The latest purges: which instances they removed, without any of their values.

use std::ops::RangeInclusive;

use super::structures::symbols::Symbol;
use crate::Position;
use crate::model::{Id, TypeKind};
use crate::structures::vector::Vector;

/// Most purged instances that a graph knows; those purged first are forgotten first.
const KNOWN_MAX: usize = 16_384;

/// An instance that a purge removed.
#[derive(Clone)]
pub(crate) struct PurgedInstance {
    /// The position of the purge.
    pub(crate) position: u64,
    pub(crate) kind: TypeKind,
    pub(crate) slot: u32,
    /// Its ids, the last one first; each once.
    pub(crate) ids: Vec<Id>,
    /// Its types, possibly repeated.
    pub(crate) types: Vec<Symbol>,
    /// Of a relationship: the slots of its start entities, possibly repeated.
    pub(crate) starts: Vec<u32>,
}

/// The latest purges.
#[derive(Clone)]
pub(crate) struct Purges {
    /// In the order of their positions.
    known: Vector<PurgedInstance>,
    /// Earlier purges, up to this position, may be missing.
    pub(crate) forgotten: Position,
    /// The last record that may have purged an instance; zero if none has.
    pub(crate) last: Position,
}

impl Purges {
    /// Those of a graph as of `position` that was not made from its records. Neither checkpoints nor compacted logs hold
    /// purges.
    pub(crate) fn unknown_until(position: Position) -> Purges {
        Purges { known: Vector::new(), forgotten: position, last: position }
    }

    pub(crate) fn add(&mut self, purged: PurgedInstance) {
        self.last = Position(purged.position);
        self.known.push(purged);
        // Twice as many, so that forgetting costs little for each.
        if self.known.len() < 2 * KNOWN_MAX {
            return;
        }
        let first = self.known.len() - KNOWN_MAX;
        self.forgotten = self.forgotten.max(Position(self.known[first - 1].position));
        let mut kept = Vector::new();
        self.known.iter_from(first).for_each(|purged| kept.push(purged.clone()));
        self.known = kept;
    }

    /// Adds instances that the record at `position` purged together, the last ones in `purged`. If there are too many of
    /// them, the graph knows only that there were such.
    pub(crate) fn add_together(
        &mut self,
        position: Position,
        count: usize,
        purged: impl Iterator<Item = PurgedInstance>,
    ) {
        if count < 2 * KNOWN_MAX {
            return purged.for_each(|purged| self.add(purged));
        }
        self.last = position;
        self.forget(position);
    }

    /// Notes that a compaction has removed a change of the record at `position`, perhaps a purge.
    pub(crate) fn forget(&mut self, position: Position) {
        self.forgotten = self.forgotten.max(position);
    }

    /// The known purges by the records at `positions`.
    pub(crate) fn known(&self, positions: RangeInclusive<u64>) -> impl Iterator<Item = &PurgedInstance> {
        let (mut low, mut high) = (0, self.known.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.known[middle].position < *positions.start() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        self.known.iter_from(low).take_while(move |purged| purged.position <= *positions.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_forgets_the_first_purges_and_knows_that() {
        let mut purges = Purges::unknown_until(Position::ZERO);
        for position in 1..=2 * KNOWN_MAX as u64 {
            let (ids, types, starts) = (Vec::new(), Vec::new(), Vec::new());
            purges.add(PurgedInstance { position, kind: TypeKind::Entity, slot: 0, ids, types, starts });
        }
        assert_eq!(purges.forgotten, Position(KNOWN_MAX as u64));
        let known: Vec<u64> = purges.known(0..=u64::MAX).map(|purged| purged.position).collect();
        assert_eq!(known, (KNOWN_MAX as u64 + 1..=2 * KNOWN_MAX as u64).collect::<Vec<_>>());
        let first = KNOWN_MAX as u64 + 1;
        assert_eq!(purges.known(first - 1..=first + 1).count(), 2);
        assert_eq!(purges.last, Position(2 * KNOWN_MAX as u64));
    }
}
