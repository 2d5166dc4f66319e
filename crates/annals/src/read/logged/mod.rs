//! The log for people: author, time, reason and changes, with the values before and after.

mod change;
mod filter;
mod record_scan;
pub(crate) mod query;

use query::{LogPlace, LogQuery};
use std::sync::Arc;

use self::filter::Filter;
use self::record_scan::Scan;
use super::snapshot::Snapshot;
use super::stored::difference_bytes;
use crate::model::Instant;
use crate::record::IndexedRecord;
use crate::{Error, ErrorKind, Position, Result};

pub use change::{LoggedChange, LoggedInstance};

/// Most changes on one page. A record with more changes continues on the next page. Units: changes.
const CHANGES_MAX: usize = 10_000;
/// Most records that are read for one page. Units: records.
const SCANNED_RECORDS_MAX: usize = 100_000;
/// A page ends with the record that brings the read bytes over this. Units: bytes, as stored.
const SCANNED_BYTES_MAX: usize = 64 << 20;

/// Records, with their matching changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogPage {
    /// The records. A page may be empty without being the last one: a bounded part of the log is read for it.
    pub records: Vec<LoggedRecord>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<LogPlace>,
}

/// A record of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRecord {
    /// Its position.
    pub position: Position,
    /// Its commit instant.
    pub instant: Instant,
    /// Its author; may be empty.
    pub author: Arc<str>,
    /// Its reason; may be empty.
    pub message: Arc<str>,
    /// Its changes, in order, without those of purged instances.
    pub changes: Vec<LoggedChange>,
}

impl Snapshot {
    /// A page of the records of this snapshot, newest first, with their changes. It does not show purged instances, nor
    /// their purges.
    ///
    /// A page ends early when its changes are too many or too large, and after a bounded part of the log: continue
    /// until there is no next page.
    ///
    /// Under a sight it has the records with a change in sight, each with those changes: their versions are in sight.
    /// The difference from a hidden version is that from nothing. Declarations are left out.
    ///
    /// Errors: `NotFound` if `id` is given and no instance has or had it; `InvalidArgument` for an unknown verb, and if
    /// `since` is later than `until`; `InvalidPage` for a limit of 0; `Cancelled`; those of reading the log.
    pub fn log(&self, query: &LogQuery) -> Result<LogPage> {
        if query.limit == 0 {
            return Err(Error::new(ErrorKind::InvalidPage, "log: expected a limit of at least 1, found 0"));
        }
        let filter = Filter::new(self, query)?;
        let mut scan = Scan::new(self, query, &filter)?;
        let mut pages =
            PageOf { query, page: LogPage::default(), changes_count: 0, bytes: 0, scanned_bytes: 0 };
        let mut scanned_count = 0;
        while let Some((position, bytes)) = scan.next()? {
            self.check_cancelled()?;
            scanned_count += 1;
            pages.scanned_bytes += bytes.len();
            let record = IndexedRecord::new(position, bytes)?;
            if filter.has_author(&record.head.author) {
                pages.add(&filter, position, &record)?;
            }
            if pages.page.next.is_some() {
                break;
            }
            if pages.is_full()
                || pages.scanned_bytes >= SCANNED_BYTES_MAX
                || scanned_count >= SCANNED_RECORDS_MAX
            {
                pages.page.next = scan.has_more().then_some(LogPlace { position, changes: None });
                break;
            }
        }
        Ok(pages.page)
    }
}

/// A page that is being filled.
struct PageOf<'q> {
    query: &'q LogQuery,
    page: LogPage,
    changes_count: usize,
    // Stored bytes of its changes. Units: bytes.
    bytes: usize,
    // Bytes read for it. Units: bytes.
    scanned_bytes: usize,
}

impl PageOf<'_> {
    /// Adds a record if it matches; as much of it as there is room for.
    fn add(&mut self, filter: &Filter, position: Position, record: &IndexedRecord) -> Result<()> {
        let begun = self.query.after.filter(|after| after.position == position);
        let first = begun.and_then(|after| after.changes).unwrap_or(0);
        let mut changes = Vec::new();
        for number in first..record.changes_count() {
            if self.has_no_room() {
                self.page.next = Some(LogPlace { position, changes: Some(number) });
                break;
            }
            let Some(change) = filter.change(position, record, number)? else { continue };
            self.changes_count += 1;
            self.bytes += record.change_bytes(number);
            if let LoggedChange::Instance(instance) = &change {
                self.bytes += difference_bytes(&instance.difference);
            }
            changes.push(change);
        }
        // The page before showed the head of this record with its first changes.
        if !changes.is_empty() || first == 0 && !filter.is_of_changes() {
            let head = &record.head;
            let (author, message) = (Arc::clone(&head.author), Arc::clone(&head.message));
            self.page.records.push(LoggedRecord {
                position,
                instant: head.instant,
                author,
                message,
                changes,
            });
        }
        Ok(())
    }

    fn has_no_room(&self) -> bool {
        self.changes_count >= CHANGES_MAX || self.bytes >= self.query.bytes_max
    }

    fn is_full(&self) -> bool {
        self.page.records.len() >= self.query.limit || self.has_no_room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back_from_its_text() {
        for (text, changes) in [("42", None), ("42-0", Some(0)), ("42-1000", Some(1000))] {
            let place: LogPlace = text.parse().unwrap();
            assert_eq!((place, &*place.to_string()), (LogPlace { position: Position(42), changes }, text));
        }
        for text in ["", "-", "x", "42-", "42-x", "-1", "42-1-1"] {
            assert_eq!(text.parse::<LogPlace>().unwrap_err().kind(), ErrorKind::InvalidPage, "{text}");
        }
    }
}
