//! The phases of a run, in order: each handles all types before the next begins.

pub mod create;
pub mod copies;
pub mod search;
pub mod classify;
pub mod update;
pub mod read;
pub mod graph;
pub mod identity;
pub mod remove;
pub mod hub;

use std::time::Instant as Clock;

use annals::TypeKind;

use super::run::Run;
use crate::outcome::Outcome;

const ENTITY: TypeKind = TypeKind::Entity;
const RELATIONSHIP: TypeKind = TypeKind::Relationship;

/// A step of the run.
type Phase = (&'static str, fn(&mut Run) -> Outcome<()>);

/// All phases, in the order of the original. Source: the profiles of its performance suite.
const PHASES: &[Phase] = &[
    ("create entities", create::entities),
    ("search entities", |run| search::all(run, ENTITY, None)),
    ("create relationships", create::relationships),
    ("search relationships", |run| search::all(run, RELATIONSHIP, None)),
    ("classify", classify::attach),
    ("save copies of classifications", copies::save_classifications),
    ("search classifications", classify::find),
    ("update entities", |run| update::properties(run, ENTITY)),
    ("update relationships", |run| update::properties(run, RELATIONSHIP)),
    ("update classifications", classify::update),
    ("undo entity updates", |run| update::undo(run, ENTITY)),
    ("undo relationship updates", |run| update::undo(run, RELATIONSHIP)),
    ("read entities", |run| read::now(run, ENTITY)),
    ("read entities as of then", |run| read::then(run, ENTITY)),
    ("read relationships", |run| read::now(run, RELATIONSHIP)),
    ("read relationships as of then", |run| read::then(run, RELATIONSHIP)),
    ("search entities as of then", |run| search::all(run, ENTITY, run.mark)),
    ("search relationships as of then", |run| search::all(run, RELATIONSHIP, run.mark)),
    ("graph queries", |run| graph::queries(run, None)),
    ("graph queries as of then", |run| graph::queries(run, run.mark)),
    ("re-home entities", |run| copies::rehome(run, ENTITY)),
    ("re-home relationships", |run| copies::rehome(run, RELATIONSHIP)),
    ("declassify", classify::detach),
    ("purge copies of classifications", copies::purge_classifications),
    ("re-type entities", identity::retype_entities),
    ("re-identify entities", |run| identity::reidentify(run, ENTITY)),
    ("re-identify relationships", |run| identity::reidentify(run, RELATIONSHIP)),
    ("delete relationships", |run| remove::delete(run, RELATIONSHIP)),
    ("delete entities", |run| remove::delete(run, ENTITY)),
    ("restore entities", |run| remove::restore(run, ENTITY)),
    ("restore relationships", |run| remove::restore(run, RELATIONSHIP)),
    ("purge relationships", |run| remove::purge(run, RELATIONSHIP)),
    ("purge entities", |run| remove::purge(run, ENTITY)),
    ("purge a hub", hub::purge),
];

/// Runs all of them, and prints the time of each to the log of the cell.
pub fn all(run: &mut Run) -> Outcome<()> {
    for (name, phase) in PHASES {
        let start = Clock::now();
        run.record.begin_phase();
        phase(run).map_err(|error| format!("{name}: {error}"))?;
        eprintln!("{} {name}: {:.1} s", run.volume, start.elapsed().as_secs_f64());
    }
    Ok(())
}
