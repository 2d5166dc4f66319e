//! Reads the deletions of a table out of a checkpoint.

use super::block::{Input, Loaded, damaged};
use crate::graph::instance::deletions::{Deletion, Deletions, SlotRun};
use crate::graph::instance::past::ChangePlace;
use crate::graph::instance::unpacked::RowStamp;
use crate::graph::structures::symbols::Symbol;

/// The deletions of a table, read so far.
#[derive(Default)]
pub(crate) struct DeletionParts {
    list: Vec<Deletion>,
    runs: Vec<SlotRun>,
}

impl DeletionParts {
    /// Reads a deletion, or a run of slots.
    pub(crate) fn read(&mut self, input: &mut Input) -> Loaded<()> {
        match input.u8()? {
            0 => self.list.push(Deletion {
                place: ChangePlace { position: input.number()?, change: input.small()? },
                stamp: RowStamp { author: Symbol(input.small()?), micros: input.signed()? },
                valid_from: input.signed()?,
            }),
            _ => {
                self.runs.push(SlotRun { first: input.small()?, len: input.small()?, number: input.small()? })
            }
        }
        Ok(())
    }

    /// All of them, if they fit a table with so many slots, and so many authors.
    pub(crate) fn finish(self, slots_count: usize, authors: usize) -> Loaded<Deletions> {
        let mut deletions = Deletions::new();
        for deletion in &self.list {
            if deletion.stamp.author.index() >= authors {
                return Err(damaged("the author of a deletion"));
            }
            deletions.push(*deletion);
        }
        let mut next = 0;
        for SlotRun { first, len, number } in self.runs {
            let is_below = |number: u32, count: usize| usize::try_from(number).is_ok_and(|it| it < count);
            let last = first.checked_add(len).and_then(|end| end.checked_sub(1));
            let is_sound = first >= next && len > 0 && is_below(number, self.list.len());
            let last = last.filter(|last| is_sound && is_below(*last, slots_count));
            next = last.ok_or_else(|| damaged("the slots of a deletion"))? + 1;
            let slots: Vec<(u32, u32)> = (first..next).map(|slot| (slot, number)).collect();
            deletions.put_sorted(&slots);
        }
        Ok(deletions)
    }
}
