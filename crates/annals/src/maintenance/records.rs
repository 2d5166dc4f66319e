//! All records of a log in order.

use crate::log::{Log, ReadLimit};
use crate::model::Record;
use crate::record::decode_record;
use crate::{Error, ErrorKind, Position, Result};

/// Calls `take` for each record from `first` to `last`.
///
/// Errors: those of the log and of `take`; `Gap` if a record is missing; `Corrupted`.
pub(crate) fn for_each_record(
    log: &dyn Log,
    first: Position,
    last: Position,
    mut take: impl FnMut(Position, Record) -> Result<()>,
) -> Result<()> {
    let mut next = first;
    while next <= last {
        let records = log.read(next, ReadLimit::default())?;
        if records.is_empty() {
            let text = format!("{}: expected a record at {next}, found none", log.describe());
            return Err(Error::new(ErrorKind::Gap, text));
        }
        for bytes in records {
            if next > last {
                break;
            }
            take(next, decode_record(next, &bytes)?)?;
            next = next.next();
        }
    }
    Ok(())
}
