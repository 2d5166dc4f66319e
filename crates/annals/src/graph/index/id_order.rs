//! The order of ids: sorted when somebody asks for it, and then kept for all later graphs, because ids stay.

use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Id;
use crate::structures::vector::Vector;

/// Ids with their slots, ascending.
pub(crate) type Run = Arc<[(Id, u32)]>;

/// Shared by all graphs of one repository. Takes no memory until it is asked for, then that of one id for each slot.
#[derive(Default)]
pub(crate) struct IdOrder {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    // How many slots the runs cover: a graph may have more, or fewer.
    slots_count: usize,
    // Invariant: each is more than twice as long as the next one, so there are few.
    runs: Vec<Run>,
}

impl IdOrder {
    /// Runs that together hold every id of `ids`, and perhaps such as were given later.
    pub(crate) fn runs(&self, ids: &Vector<Id>) -> Vec<Run> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.len() > state.slots_count {
            let first = u32::try_from(state.slots_count).unwrap_or(u32::MAX);
            let mut run = sorted(ids.iter_from(state.slots_count).zip(first..));
            while let Some(before) = state.runs.pop_if(|before| before.len() <= 2 * run.len()) {
                run = merged(&before, run);
            }
            state.runs.push(run.into());
            state.slots_count = ids.len();
        }
        state.runs.clone()
    }
}

fn sorted<'i>(ids: impl Iterator<Item = (&'i Id, u32)>) -> Vec<(Id, u32)> {
    // Nearly all are UUIDs, and numbers are compared several times faster. They stand before all texts.
    let (mut uuids, mut texts) = (Vec::new(), Vec::new());
    for (id, slot) in ids {
        match id.uuid_bytes() {
            Some(bytes) => uuids.push((u128::from_be_bytes(*bytes), slot)),
            None => texts.push((id.clone(), slot)),
        }
    }
    uuids.sort_unstable();
    texts.sort_unstable();
    let uuids = uuids.into_iter().map(|(number, slot)| (Id::from_uuid_bytes(number.to_be_bytes()), slot));
    uuids.chain(texts).collect()
}

fn merged(one: &[(Id, u32)], other: Vec<(Id, u32)>) -> Vec<(Id, u32)> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    all.extend_from_slice(one);
    all.extend(other);
    // Two runs: the sort sees them and merges.
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_both_forms_are_sorted_as_they_compare() {
        let uuid = |byte: u8| Id::from_uuid_bytes([byte; 16]);
        let ids: Vec<Id> = (0..100u8)
            .map(|number| match number % 3 {
                0 => Id::new(&format!("text-{}", number.wrapping_mul(57))).unwrap(),
                _ => uuid(number.wrapping_mul(57)),
            })
            .collect();
        let mut expected: Vec<(Id, u32)> = ids.iter().cloned().zip(0..).collect();
        expected.sort();
        assert_eq!(sorted(ids.iter().zip(0..)), expected);
    }
}
