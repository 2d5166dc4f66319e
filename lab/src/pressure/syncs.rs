//! Whether a server syncs as often as it says: insertions by a lone caller, below strace.

use std::time::Duration;

use super::dialect::Ask;
use super::generator::{Pace, load};
use super::session::Session;
use super::suite::introduce;
use crate::harness::{Cell, Syncs};
use crate::outcome::Outcome;

/// Vertices of the graph meanwhile.
const VERTICES: u64 = 200;

/// Inserts for a while, and tells how many insertions were acknowledged; the harness counts the calls that sync.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    if matches!(cell.target.name, "nginx" | "disk") {
        return introduce(cell, None);
    }
    let session = Session::start(cell, VERTICES)?;
    let mut asking = session.asking(Ask::InsertVertex, session.numbers(Ask::InsertVertex));
    let time = Duration::from_secs_f64(cell.size(1.0, 0.3));
    let loaded = load(&session.plan(1, Pace::Closed, time), &mut asking)?;
    introduce(cell, Some(Syncs { commits: loaded.right, syncs: 0 }))
}
