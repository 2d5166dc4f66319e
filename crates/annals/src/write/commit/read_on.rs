//! Applies the further records of a log to a graph, as far as they are known to follow it.

use std::time::{Duration, Instant};

use super::last_read::{LastRead, other_record};
use super::queue::Committer;
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::ReadLimit;
use crate::memory::{Memory, StoredData};
use crate::record::term_of;
use crate::{Error, ErrorKind, Position, Result};

/// While there is more to read, what was read is published so often.
const PUBLISH_EVERY: Duration = Duration::from_millis(5);

/// The instant of the record at `position`, as [`Graph::last_instant`].
pub(super) fn instant_at(graph: &Graph, position: Position) -> i64 {
    let index = usize::try_from(position.0).ok().and_then(|position| position.checked_sub(1));
    index.and_then(|index| graph.instants.get(index)).copied().unwrap_or(i64::MIN)
}

/// Refuses a graph of records from before and after a rewriting of the log, which do not fit together.
pub(super) fn check_generation(committer: &Committer, generation: u64) -> Result<()> {
    let log = committer.source.log();
    if log.generation() == generation {
        return Ok(());
    }
    let text = format!("{}: it was compacted again while it was read; retry", log.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

/// Whether records are published before all are read.
#[derive(Clone, Copy)]
pub(super) enum Publish {
    /// Now and then.
    Often,
    /// The caller publishes them once all are read, and reads no longer than until this instant.
    AfterAll { until: Option<Instant> },
}

/// Applies all further records of the log to the graph.
///
/// The first read begins with the last record that the graph has, so that the further ones are known to follow it.
/// Shape: false if its time is over and there may be more.
pub(super) fn read_on(
    committer: &Committer,
    indexed: &mut Indexed,
    memory: &Memory,
    last: &mut LastRead,
    publish: Publish,
) -> Result<bool> {
    let log = committer.source.log();
    let default = ReadLimit::default();
    let step = memory.step(default.bytes);
    let mut published_at = Instant::now();
    let mut first_known = last.record_of(&indexed.graph);
    loop {
        // Also before an error: the applied records stay.
        indexed.pass_events(0);
        match publish {
            // Records of a log that was rewritten meanwhile do not fit those before.
            Publish::Often
                if published_at.elapsed() >= PUBLISH_EVERY && last.fits(&indexed.graph, &**log) =>
            {
                committer.replace(indexed.clone());
                published_at = Instant::now();
            }
            Publish::AfterAll { until: Some(until) } if Instant::now() >= until => return Ok(false),
            Publish::Often | Publish::AfterAll { .. } => {}
        }
        let graph = &mut indexed.graph;
        let known = first_known.take();
        let records = match known {
            Some(known) => {
                let limit =
                    ReadLimit { bytes: step.saturating_add(known.length), records: default.records + 1 };
                log.read(known.position, limit)?
            }
            None => log.read(graph.position.next(), ReadLimit { bytes: step, ..default })?,
        };
        let mut records = records.into_iter();
        if let Some(known) = known {
            let is_same = records.next().is_some_and(|record| known.is(&record));
            if !is_same && last.fits(graph, &**log) {
                return Err(other_record(&**log, known.position));
            }
        }
        let mut latest = None;
        for bytes in records {
            let position = graph.position.next();
            let stored = StoredData::Records { done: graph.position.0, all: position.0 };
            memory.charge_stored(bytes.len(), stored)?;
            crate::maintenance::recover::apply(graph, position, &bytes)?;
            last.term = last.term.max(term_of(&bytes).unwrap_or_default());
            latest = Some(bytes);
        }
        match latest {
            Some(latest) => last.note(graph, &latest),
            // A log may give one record only, although more follow.
            None if known.is_some() => {}
            None => return Ok(true),
        }
    }
}
