//! The parts that deletions, restorations and purges of many instances at once share.

use std::sync::Arc;

use crate::graph::index::Index;
use crate::graph::index::event::{Instances, Together, Told};
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;

impl Table {
    /// The instances at `slots` by their types. Shape: the slots of each type ascending.
    pub(super) fn of_types(&self, slots: impl Iterator<Item = u32>) -> Vec<(Symbol, Vec<u32>)> {
        let mut all: Vec<(Symbol, u32)> =
            slots.map(|slot| (self.known_row(slot).type_name(), slot)).collect();
        all.sort_unstable();
        let of_one = all.chunk_by(|(type_name, _), (next, _)| type_name == next);
        of_one.map(|of_one| (of_one[0].0, of_one.iter().map(|(_, slot)| *slot).collect())).collect()
    }

    /// Notes that the instances at `slots` were changed together: unique values follow at once, indexes later.
    pub(super) fn tell_together(
        &mut self,
        slots: Vec<u32>,
        instances: Box<dyn Instances>,
        told: fn(Arc<Together>) -> Told,
    ) {
        let together = Together { slots, instances };
        if !self.lists.unique.is_empty() {
            together.each(&mut |events| self.lists.unique.update(events));
        }
        self.events.push(told(Arc::new(together)));
    }
}
