//! Whether a system syncs as often as it says: commits of a lone thread, below strace.

use serde_json::{Value, json};

use super::answer::ANSWER_MAX;
use super::systems::{open, start};
use super::warm::ask;
use crate::harness::{Answered, Cell, Syncs};
use crate::outcome::Outcome;

/// Commits for a while, and tells how many there were; the harness counts the calls that sync.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let mut system = start(cell)?;
    let opened = open(&mut *system, cell, "syncs")?;
    let request = json!({ "do": "commits", "threads": 1 });
    let syncs = match ask(&mut *system, &request, cell.size(0.5, 0.2))? {
        Answered::Answer(answer) => Some(Syncs { commits: answer.operations, syncs: 0 }),
        Answered::Skip(_) => None,
    };
    let _: Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    cell.introduce(opened.record(syncs))
}
