//! Reads of a client with grants.

use std::hint::black_box;
use std::sync::Arc;

use annals::{Find, Grant, Reach, Sight, Snapshot};

use crate::graph::{ENTITIES, Graphs, vertex_id};
use crate::line;
use crate::outcome::Outcome;

const PAGES: usize = 50;

/// A page in order of which half is visible, and a walk over all.
pub fn run(graphs: &Graphs) -> Outcome<()> {
    let snapshot = graphs.standard.snapshot();
    let half = seen(&snapshot, "vertex where is_even = true")?;
    let all = seen(&snapshot, "vertex where size >= 0")?;
    let find: Find = "vertex order by name limit 100".parse()?;
    line("granted-page", PAGES, || {
        for _ in 0..PAGES {
            black_box(half.find_entities(&find)?);
        }
        Ok(())
    })?;
    line("granted-walk", ENTITIES, || {
        black_box(all.reachable(&vertex_id(0), &Reach::out())?);
        Ok(())
    })
}

fn seen(snapshot: &Snapshot, entities: &str) -> Outcome<Snapshot> {
    let grant = Grant { entities: entities.parse()?, ..Grant::default() };
    Ok(snapshot.seen_by(&Arc::new(Sight::new(vec![grant])?))?)
}
