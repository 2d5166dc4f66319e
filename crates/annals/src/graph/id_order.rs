//! The order of ids: sorted when somebody asks for it, and then kept for all later graphs, because ids stay.

use std::sync::{Arc, Mutex, PoisonError};

use super::vector::Vector;
use crate::model::Id;

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
            let mut run: Vec<(Id, u32)> = ids.iter_from(state.slots_count).cloned().zip(first..).collect();
            run.sort_unstable();
            while let Some(before) = state.runs.pop_if(|before| before.len() <= 2 * run.len()) {
                run = merged(&before, run);
            }
            state.runs.push(run.into());
            state.slots_count = ids.len();
        }
        state.runs.clone()
    }
}

fn merged(one: &[(Id, u32)], other: Vec<(Id, u32)>) -> Vec<(Id, u32)> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    all.extend_from_slice(one);
    all.extend(other);
    // Two runs: the sort sees them and merges.
    all.sort();
    all
}
