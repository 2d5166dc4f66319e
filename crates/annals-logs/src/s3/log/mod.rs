//! A log in a bucket: one object for each append call, put under the condition that its key is new.
//!
//! The key of a call is its first position, and the next key follows from its last one. So a position is taken once, and a
//! reader finds the end of the log by asking for the next key. Keys are never given back. Calls are merged into segments,
//! which a manifest names; a rewriting puts other segments in their place.

mod call;
mod manifest;
mod manifest_object;
mod segment;
mod chain;
mod shared_log;
mod look;
mod read_records;
mod put_call;
mod merge;
mod leaving;
mod rewrite_segments;
mod find_log;
mod another_id;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use annals::log::{
    Appended, Call, Log, LogId, ReadLimit, Register, Rewrite, Verified, check_append, check_read,
};
use annals::{Position, Result};

use super::S3Store;
use super::s3_place::S3Place;
use crate::Options;
pub(crate) use find_log::is_missing;
pub(super) use manifest::Manifest;
pub(super) use manifest_object::{create, load, swap};
use shared_log::SharedLog;

/// A log in a bucket, beside its objects and its register. Each append is one object.
///
/// A call of any operation ends within a few times [`Options::deadline`], with a second more for each 4 MiB.
pub struct S3Log {
    shared: Arc<SharedLog>,
}

impl S3Log {
    /// Opens the log at `s3://BUCKET/PREFIX?OPTION=…`, and creates it there if it is missing and opened for writing. The
    /// bucket must be there.
    ///
    /// Errors: those of [`crate::open`]; `Gap` if calls are missing.
    pub fn open(place: &str, options: &Options) -> Result<S3Log> {
        let log = S3Log::find(place, options)?;
        find_log::find_end(&log.shared)?;
        if !options.is_read_only {
            merge::clean_later(&log.shared);
        }
        Ok(log)
    }

    /// Opens it although calls may be missing.
    pub(crate) fn find(place: &str, options: &Options) -> Result<S3Log> {
        let shared = find_log::find(Arc::new(S3Store::open(place, options)?))?;
        Ok(S3Log { shared: Arc::new(shared) })
    }

    /// Checks a place without asking the service.
    ///
    /// Errors: `InvalidArgument`, as of [`S3Log::open`].
    pub fn check(place: &str) -> Result<()> {
        S3Place::parse(place).map(drop)
    }

    /// The store of contents and checkpoints in the same place.
    pub fn store(&self) -> &Arc<S3Store> {
        &self.shared.store
    }

    /// How durable an acknowledged commit is.
    pub fn durability(&self) -> &'static str {
        "each commit is in an object that the service has acknowledged"
    }
}

impl Log for S3Log {
    fn tail(&self) -> Result<Position> {
        let proof = look::begin_proof(&self.shared)?;
        let end = look::look(&self.shared)?;
        proof.map_or(Ok(()), |proof| look::end_proof(&self.shared, &proof))?;
        Ok(end.position)
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        let checked = check_append(self, call).and_then(|()| self.shared.check_writer("append"));
        if let Err(error) = checked {
            return Appended::Refused(error);
        }
        let outcome = put_call::append(&self.shared, call);
        if matches!(outcome, Appended::Stored) {
            merge::merge_if_due(&self.shared);
        }
        outcome
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        read_records::read(&self.shared, from, limit)
    }

    fn describe(&self) -> String {
        self.shared.describe()
    }

    fn id(&self) -> LogId {
        self.shared.id
    }

    fn generation(&self) -> u64 {
        self.shared.known().manifest.generation
    }

    fn rewritten_since(&self, since: u64) -> Position {
        self.shared.known().manifest.rewritten_since(since)
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }

    fn register(&self) -> Option<&dyn Register> {
        Some(&*self.shared.store)
    }

    fn bytes_up_to(&self, position: Position) -> u64 {
        self.shared.bytes_up_to(position)
    }

    fn verify(&self) -> Result<Verified> {
        self.tail()?;
        let mut verified = Verified::default();
        let limit = ReadLimit { bytes: 16 << 20, records: usize::MAX };
        loop {
            let records = self.read(Position(verified.records_count + 1), limit)?;
            if records.is_empty() {
                break;
            }
            verified.records_count += call::wide(records.len());
            verified.bytes += records.iter().map(|record| call::wide(record.len())).sum::<u64>();
        }
        let (calls, _) = self.shared.unmerged();
        verified.segments_count = call::wide(self.shared.known().manifest.segments.len() + calls);
        Ok(verified)
    }

    fn close(&self) -> Result<()> {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        Ok(())
    }
}

impl fmt::Debug for S3Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Log").field("place", &self.describe()).finish_non_exhaustive()
    }
}
