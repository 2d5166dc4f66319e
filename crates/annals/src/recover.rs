//! Recovery: brings a graph up to the tail of its log.

use crate::graph::Graph;
use crate::log::{Log, ReadLimit};
use crate::memory::Memory;
use crate::options::ReplayProgress;
use crate::record::decode_record;
use crate::{Error, ErrorKind, Position, Result};

/// Records between two reports of progress.
const REPORT_RECORDS: u64 = 10_000;

/// Applies every record after the graph's position.
///
/// Errors: `Corrupted` if a record is damaged or does not fit its predecessors; `Gap` if the log ends before the
/// graph's position; `TooLarge` if the memory budget does not hold it.
pub(crate) fn replay(
    log: &dyn Log,
    graph: &mut Graph,
    memory: &Memory,
    progress: Option<&ReplayProgress>,
) -> Result<()> {
    let tail = log.tail()?;
    if tail < graph.position {
        return Err(Error::new(
            ErrorKind::Gap,
            format!("{}: expected a tail of at least {}, found {tail}", log.describe(), graph.position),
        ));
    }
    let report = |at: Position| {
        if let Some(progress) = progress {
            progress(at, tail);
        }
    };
    while graph.position < tail {
        let records = log.read(graph.position.next(), ReadLimit { bytes: 4 << 20, records: 10_000 })?;
        if records.is_empty() {
            let text =
                format!("{}: expected a record at {}, found none", log.describe(), graph.position.next());
            return Err(Error::new(ErrorKind::Gap, text));
        }
        for bytes in &records {
            let position = graph.position.next();
            if position > tail {
                break;
            }
            memory.admit(bytes.len())?;
            apply(graph, position, bytes)?;
            if position.0.is_multiple_of(REPORT_RECORDS) {
                report(position);
            }
        }
    }
    report(graph.position);
    Ok(())
}

/// Decodes and applies one record of the log.
pub(crate) fn apply(graph: &mut Graph, position: Position, bytes: &[u8]) -> Result<()> {
    let record = decode_record(position, bytes)?;
    graph.apply(position, &record).map_err(|error| match error.kind() {
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
