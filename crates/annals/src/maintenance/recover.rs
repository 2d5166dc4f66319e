//! Recovery: brings a graph up to the tail of its log.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::put::EventBatch;
use crate::log::{Log, ReadLimit};
use crate::memory::{Memory, StoredData};
use crate::model::Record;
use crate::options::ReplayProgress;
use crate::record::decode_record;
use crate::{Error, ErrorKind, Position, Result};

/// Most records between two reports of progress.
const REPORT_RECORDS: u64 = 10_000;
/// How much is read together, or a step of the memory budget: decoded it takes several times as much. Units: bytes.
const AHEAD_BYTES: usize = 4 << 20;
/// While the indexes of a checkpoint are not made, at most so many events wait for them.
const LATE_EVENTS_MAX: usize = 1_024;
/// Most attempts to load a repository that is compacted during each of them.
const LOADS_MAX: usize = 10;
/// Most batches that are read but not applied.
const AHEAD_BATCHES_MAX: usize = 2;

/// Loads a graph with `load` and replays the records after it. If another process rewrites the log meanwhile, it loads
/// again, because the records before and after do not fit together.
///
/// Shape: the graph, and the position at which it was loaded.
pub(crate) fn load_with(
    log: &dyn Log,
    memory: &Memory,
    on_replay: Option<&ReplayProgress>,
    mut load: impl FnMut() -> Result<Indexed>,
) -> Result<(Indexed, Position)> {
    for _ in 0..LOADS_MAX {
        let mut indexed = load()?;
        let loaded_position = indexed.graph.position;
        let replayed = replay(log, &mut indexed, memory, on_replay);
        if log.generation() == indexed.graph.generation {
            return replayed.map(|()| (indexed, loaded_position));
        }
    }
    let text = format!("{}: it was compacted again and again while it was opened; retry", log.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

/// Applies every record after the graph's position.
///
/// Errors: `Corrupted` if a record is damaged or does not fit its predecessors; `Gap` if the log ends before the
/// graph's position; `TooLarge` if the memory budget does not hold it.
pub(crate) fn replay(
    log: &dyn Log,
    indexed: &mut Indexed,
    memory: &Memory,
    progress: Option<&ReplayProgress>,
) -> Result<()> {
    let tail = log.tail()?;
    if tail < indexed.graph.position {
        return Err(Error::new(
            ErrorKind::Gap,
            format!(
                "{}: expected a tail of at least {}, found {tail}",
                log.describe(),
                indexed.graph.position
            ),
        ));
    }
    let report = |at: Position| {
        if let Some(progress) = progress {
            progress(at, tail);
        }
    };
    report(indexed.graph.position);
    replay_to(log, indexed, tail, memory, report)
}

/// Applies the records after the graph's position up to `end`, reporting its progress at intervals. Another thread
/// reads and decodes ahead. If they are few, the indexes of a checkpoint are not made for them: their events wait.
///
/// Errors: as [`replay`].
pub(crate) fn replay_to(
    log: &dyn Log,
    indexed: &mut Indexed,
    end: Position,
    memory: &Memory,
    mut progress: impl FnMut(Position),
) -> Result<()> {
    indexed.pass_events(0);
    let mut waiting = (!indexed.indexes.are_made()).then(Vec::new);
    let Indexed { graph, indexes, .. } = indexed;
    let indexes = Arc::make_mut(indexes);
    let first = graph.position.next();
    let outcome = std::thread::scope(|scope| {
        let batches_max = if memory.is_bounded() { 1 } else { AHEAD_BATCHES_MAX };
        let (batches_in, batches) = sync_channel(batches_max);
        let ahead_bytes = memory.step(AHEAD_BYTES);
        scope.spawn(move || read_ahead(log, first, end, ahead_bytes, &batches_in));
        // Events that wait for the indexes take memory, too: at most one batch waits.
        let (events_in, events) = sync_channel::<Arc<EventBatch>>(if memory.is_bounded() { 0 } else { 1 });
        let mut index = Some(move || events.iter().try_for_each(|batch| indexes.update(&[batch])));
        let mut indexing = None;
        for batch in batches {
            let stored = StoredData::Records { done: graph.position.0, all: end.0 };
            memory.charge_stored(ahead_bytes, stored)?;
            let outcome = batch.into_iter().try_for_each(|record| {
                apply_decoded(graph, graph.position.next(), &record?)?;
                if graph.position.0.is_multiple_of(REPORT_RECORDS) {
                    progress(graph.position);
                }
                Ok(())
            });
            let events = graph.take_events();
            if events.events_count > 0 {
                let mut ready = vec![Arc::new(events)];
                if let Some(waiting) = &mut waiting {
                    waiting.append(&mut ready);
                    if waiting.iter().map(|batch| batch.events_count).sum::<usize>() > LATE_EVENTS_MAX {
                        ready = std::mem::take(waiting);
                    }
                }
                if !ready.is_empty() {
                    waiting = None;
                    // Only now: for a log that cannot be read, no thread for indexes is needed.
                    if let Some(index) = index.take() {
                        indexing = Some(scope.spawn(index));
                    }
                }
                // If the thread has failed, it returns why; the end of the scope passes a panic on.
                ready.into_iter().for_each(|batch| drop(events_in.send(batch)));
            }
            outcome?;
            // A few records of an import can take as long as many others.
            progress(graph.position);
        }
        drop(events_in);
        indexing.map_or(Ok(()), |indexing| indexing.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    if let Some(waiting) = waiting {
        indexed.put_tail(waiting);
    }
    outcome
}

/// Sends decoded records in order; the last may be the error that ends them.
fn read_ahead(
    log: &dyn Log,
    first: Position,
    end: Position,
    ahead_bytes: usize,
    batches: &SyncSender<Vec<Result<Record>>>,
) {
    let mut next = first;
    while next <= end {
        let left = usize::try_from(end.0 - next.0 + 1).unwrap_or(usize::MAX);
        let limit = ReadLimit { bytes: ahead_bytes, records: left };
        let batch = match log.read(next, limit) {
            Err(error) => vec![Err(error)],
            Ok(records) if records.is_empty() => {
                let text = format!("{}: expected a record at {next}, found none", log.describe());
                vec![Err(Error::new(ErrorKind::Gap, text))]
            }
            Ok(records) => {
                let batch: Vec<_> =
                    (next.0..).zip(&records).map(|(at, bytes)| decode_record(Position(at), bytes)).collect();
                next = Position(next.0 + batch.len() as u64);
                batch
            }
        };
        let is_over = batch.iter().any(Result::is_err);
        // The receiver has met an error.
        if batches.send(batch).is_err() || is_over {
            return;
        }
    }
}

/// Decodes and applies one record of the log.
pub(crate) fn apply(graph: &mut Graph, position: Position, bytes: &[u8]) -> Result<()> {
    apply_decoded(graph, position, &decode_record(position, bytes)?)
}

fn apply_decoded(graph: &mut Graph, position: Position, record: &Record) -> Result<()> {
    graph.apply(position, record).map_err(|error| match error.kind() {
        ErrorKind::Corrupted | ErrorKind::NewerFormat | ErrorKind::Io => error,
        _ => Error::new(
            ErrorKind::Corrupted,
            format!(
                "record {position}: it does not fit the records before it; restore the log from a backup"
            ),
        )
        .caused_by(error.to_string()),
    })
}
