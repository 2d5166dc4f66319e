//! Walks all slots in the order of their ids.

use super::order::append_id;
use crate::graph::index::id_order::Run;
use crate::graph::table::Table;
use crate::model::Id;

/// Slots by id, in one direction.
pub(super) struct Ids<'g> {
    table: &'g Table,
    // Each with what is left of it.
    runs: Vec<(Run, std::ops::Range<usize>)>,
    is_descending: bool,
}

impl<'g> Ids<'g> {
    /// Starts behind the key of a cursor.
    pub(super) fn start(table: &'g Table, is_descending: bool, after: Option<&[u8]>) -> Ids<'g> {
        // Shape of a cursor: 1, the id, slot (4).
        let after = after.map(|key| {
            let id = key.get(1..key.len().saturating_sub(4)).unwrap_or_default();
            id.iter().map(|byte| if is_descending { !byte } else { *byte }).collect::<Vec<u8>>()
        });
        let mut own = Vec::new();
        let mut left = |run: &Run| {
            let Some(after) = &after else { return 0..run.len() };
            let mut key_of = |id: &Id| {
                own.clear();
                append_id(id, &mut own);
                own.cmp(after)
            };
            match is_descending {
                true => 0..run.partition_point(|(id, _)| key_of(id).is_lt()),
                false => run.partition_point(|(id, _)| key_of(id).is_le())..run.len(),
            }
        };
        let runs = table.id_order.runs(&table.ids);
        let runs = runs.into_iter().map(|run| (Run::clone(&run), left(&run))).collect();
        Ids { table, runs, is_descending }
    }
}

impl Iterator for Ids<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let is_descending = self.is_descending;
            let head = |run: &Run, left: &std::ops::Range<usize>| {
                let at = if is_descending { left.end.checked_sub(1) } else { Some(left.start) };
                at.filter(|at| left.contains(at)).map(|at| run[at].clone())
            };
            let heads = self.runs.iter().enumerate();
            let heads = heads.filter_map(|(number, (run, left))| Some((head(run, left)?, number)));
            let ((id, slot), number) = if is_descending { heads.max()? } else { heads.min()? };
            let left = &mut self.runs[number].1;
            if is_descending {
                left.end -= 1
            } else {
                left.start += 1
            }
            // Purged since, or not there yet in this graph.
            if (slot as usize) < self.table.slots_count() && *self.table.id(slot) == id {
                return Some(slot);
            }
        }
    }
}
