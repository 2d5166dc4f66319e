//! The phases of a run, in their order: each goes through all types before the next begins.

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

use super::run::Run;
use crate::Outcome;

/// A step of the run.
type Phase = (&'static str, fn(&mut Run) -> Outcome<()>);

/// All phases, in the order of the original. Source: the profiles of its performance suite.
const PHASES: &[Phase] = &[
    ("create entities", create::entities),
    ("search entities", |run| search::entities(run, None)),
    ("create relationships", create::relationships),
    ("search relationships", |run| search::relationships(run, None)),
    ("classify", classify::attach),
    ("save copies of classifications", copies::save_classifications),
    ("search classifications", classify::find),
    ("update entities", update::entities),
    ("update relationships", update::relationships),
    ("update classifications", classify::update),
    ("undo entity updates", update::undo_entities),
    ("undo relationship updates", update::undo_relationships),
    ("read entities", read::entities),
    ("read entities as of then", read::entities_then),
    ("read relationships", read::relationships),
    ("read relationships as of then", read::relationships_then),
    ("search entities as of then", |run| search::entities(run, run.mark)),
    ("search relationships as of then", |run| search::relationships(run, run.mark)),
    ("graph queries", |run| graph::queries(run, None)),
    ("graph queries as of then", |run| graph::queries(run, run.mark)),
    ("re-home entities", copies::rehome_entities),
    ("re-home relationships", copies::rehome_relationships),
    ("declassify", classify::detach),
    ("purge copies of classifications", copies::purge_classifications),
    ("re-type entities", identity::retype_entities),
    ("re-identify entities", identity::reidentify_entities),
    ("re-identify relationships", identity::reidentify_relationships),
    ("delete relationships", remove::delete_relationships),
    ("delete entities", remove::delete_entities),
    ("restore entities", remove::restore_entities),
    ("restore relationships", remove::restore_relationships),
    ("purge relationships", remove::purge_relationships),
    ("purge entities", remove::purge_entities),
    ("purge a hub", hub::purge),
];

/// All of them. `tell` hears how long each took.
pub fn all(run: &mut Run, mut tell: impl FnMut(&str, std::time::Duration)) -> Outcome<()> {
    for (name, phase) in PHASES {
        let start = Clock::now();
        phase(run).map_err(|error| format!("{name}: {error}"))?;
        tell(name, start.elapsed());
    }
    Ok(())
}
