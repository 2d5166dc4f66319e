//! The state of an open log that its calls and its threads share, and what it must find again in the bucket.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Clock};

use annals::log::{LogId, Term, another_log};
use annals::{Error, ErrorKind, Position, Result};
use object_store::path::Path;

use super::chain::{Chain, KnownCall};
use super::manifest::{End, Manifest};
use super::manifest_object::{FOLDER, KnownManifest};
use super::segment::Directory;
use crate::s3::S3Store;
use crate::s3::bucket::Bucket;

/// Directories of segments that are kept.
const DIRECTORIES_MAX: usize = 64;
/// Digits of a position in the name of a call.
const DIGITS: usize = 20;

/// An open log.
pub(super) struct SharedLog {
    pub store: Arc<S3Store>,
    pub id: LogId,
    state: Mutex<LogState>,
    /// The latest ones last.
    directories: Mutex<VecDeque<(String, Arc<Directory>)>>,
    /// When the next call may be put.
    next_put: Mutex<Clock>,
    /// Held while this process changes the manifest, which it does one thing after the other.
    pub upkeep: Mutex<()>,
    /// The highest term of a call of this handle.
    term: AtomicU64,
    pub is_merging: AtomicBool,
    /// After a failure to merge: not before there are so many calls.
    pub merge_from: AtomicUsize,
    pub is_rewriting: AtomicBool,
    pub is_closed: AtomicBool,
}

struct LogState {
    known: Arc<KnownManifest>,
    chain: Chain,
    /// When the log was last seen to be the one that was read; `None` before that.
    proven_at: Option<Clock>,
}

/// The name of the call that begins at a position.
pub(super) fn call_name(first: Position) -> String {
    format!("{:0DIGITS$}", first.0)
}

/// The position at which a call of this name begins; `None` for other objects of a log.
pub(super) fn parse_call_name(name: &str) -> Option<Position> {
    let is_call = name.len() == DIGITS && name.bytes().all(|digit| digit.is_ascii_digit());
    is_call.then(|| name.parse().ok().map(Position))?
}

/// True for the error of a log that is not the one that was read.
pub(super) fn is_another(error: &Error) -> bool {
    error.context().iter().any(|(name, value)| *name == "log" && value == "another")
}

impl SharedLog {
    pub fn new(store: Arc<S3Store>, known: KnownManifest) -> SharedLog {
        let chain = Chain::new(known.manifest.end());
        SharedLog {
            store,
            id: known.manifest.id,
            state: Mutex::new(LogState { known: Arc::new(known), chain, proven_at: None }),
            directories: Mutex::default(),
            next_put: Mutex::new(Clock::now()),
            upkeep: Mutex::default(),
            term: AtomicU64::new(0),
            is_merging: AtomicBool::new(false),
            merge_from: AtomicUsize::new(0),
            is_rewriting: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        }
    }

    pub fn bucket(&self) -> &Arc<Bucket> {
        &self.store.bucket
    }

    pub fn describe(&self) -> String {
        self.bucket().place.to_string()
    }

    /// The key of an object of the log.
    pub fn key(&self, name: &str) -> Result<Path> {
        self.bucket().key(FOLDER, name).map_err(|failure| failure.into_error(name))
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The manifest as it was read last.
    pub fn known(&self) -> Arc<KnownManifest> {
        Arc::clone(&self.state().known)
    }

    /// The end of the last call that is known.
    pub fn end(&self) -> End {
        self.state().chain.end()
    }

    /// The last call that is known behind the segments.
    pub fn last_call(&self) -> Option<KnownCall> {
        self.state().chain.last().cloned()
    }

    /// The number of calls behind the segments, and the bytes of their records.
    pub fn unmerged(&self) -> (usize, u64) {
        let state = self.state();
        (state.chain.count(), state.chain.bytes())
    }

    /// The known calls from the one with the position `from` on, as long as `is_wanted`.
    pub fn calls_from(
        &self,
        from: Position,
        mut is_wanted: impl FnMut(&KnownCall) -> bool,
    ) -> Vec<KnownCall> {
        self.state().chain.calls_from(from).take_while(|call| is_wanted(call)).cloned().collect()
    }

    /// Notes a call that is in the bucket behind the end that is known.
    pub fn push(&self, call: KnownCall) {
        self.state().chain.push(call);
    }

    /// Notes the manifest that was read or put, when `before` was known.
    ///
    /// Errors: `Unavailable` if it is the one of another log, or an older one.
    pub fn take_manifest(&self, found: KnownManifest, before: &Manifest) -> Result<()> {
        let Manifest { id, version, change, .. } = found.manifest;
        if id != self.id {
            return Err(self.another(&format!("expected the log {}, found {id}", self.id)));
        }
        if version < before.version || version == before.version && change != before.change {
            let text = format!("expected version {} of its manifest, found {version}", before.version);
            return Err(self.another(&text));
        }
        let mut state = self.state();
        // Another thread may have read or put a later one meanwhile.
        if version <= state.known.manifest.version {
            return Ok(());
        }
        if !state.chain.begin_from(found.manifest.end()) {
            drop(state);
            return Err(self.another("found another call at the end of its segments"));
        }
        state.known = Arc::new(found);
        Ok(())
    }

    /// True if the log was not seen in the bucket for so long.
    pub fn is_unproven(&self, since: Duration) -> bool {
        self.state().proven_at.is_none_or(|at| at.elapsed() >= since)
    }

    pub fn note_proven(&self) {
        self.state().proven_at = Some(Clock::now());
    }

    /// The error of another log, or of one that went back.
    pub fn another(&self, found: &str) -> Error {
        another_log(&self.describe(), found)
    }

    /// The error of a log that lacks calls that were known.
    pub fn lost(&self, found: &str) -> Error {
        self.another(&format!("expected records up to {}, {found}", self.end().position))
    }

    /// The error of an object that is not as it was put. The text of `error` says what it is.
    pub fn damaged(&self, name: &str, error: &Error) -> Error {
        let text =
            format!("{}: the object log/{name}: {}; restore it from a backup", self.describe(), error.text());
        Error::new(error.kind(), text)
    }

    /// The size of the records up to a position; within a segment or a call, of the share of it. Units: bytes.
    pub fn bytes_up_to(&self, position: Position) -> u64 {
        let state = self.state();
        let segments = state.known.manifest.segments.iter().map(|part| (part.first, part.last, part.bytes));
        let calls = state.chain.calls_from(Position::ZERO).map(|part| (part.first, part.last, part.bytes));
        let parts = segments.chain(calls).take_while(|(first, ..)| *first <= position);
        parts.map(|(first, last, bytes)| share(bytes, position.min(last).0 - first.0, last.0 - first.0)).sum()
    }

    pub fn directory(&self, name: &str) -> Option<Arc<Directory>> {
        let directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        directories.iter().find(|(known, _)| known == name).map(|(_, directory)| Arc::clone(directory))
    }

    pub fn keep_directory(&self, name: &str, directory: &Arc<Directory>) {
        let mut directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        if directories.len() >= DIRECTORIES_MAX {
            directories.pop_front();
        }
        directories.push_back((name.to_owned(), Arc::clone(directory)));
    }

    /// True if this handle has sent no call of the term yet.
    pub fn is_new_term(&self, term: Term) -> bool {
        term.0 > self.term.load(Ordering::SeqCst)
    }

    pub fn note_term(&self, term: Term) {
        self.term.fetch_max(term.0, Ordering::SeqCst);
    }

    /// Waits until the next call may be put.
    pub fn wait_for_turn(&self) {
        let interval = self.bucket().place.interval;
        if interval.is_zero() {
            return;
        }
        let now = Clock::now();
        let turn = {
            let mut next = self.next_put.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = now.max(*next);
            *next = turn + interval;
            turn
        };
        std::thread::sleep(turn.saturating_duration_since(now));
    }

    /// The reason why nothing is written by this handle.
    pub fn check_writer(&self, operation: &str) -> Result<()> {
        let refused =
            |kind, text: &str| Err(Error::new(kind, format!("{}: {operation}: {text}", self.describe())));
        if self.bucket().is_read_only {
            return refused(ErrorKind::ReadOnly, "the log was opened for reading; open it for writing");
        }
        if self.is_closed.load(Ordering::SeqCst) {
            return refused(ErrorKind::Closed, "the log was closed; open it again");
        }
        Ok(())
    }
}

/// The bytes of so many records and one more, of a part in which another one has number `last`, counted from 0.
fn share(bytes: u64, number: u64, last: u64) -> u64 {
    let share = u128::from(bytes) * (u128::from(number) + 1) / (u128::from(last) + 1);
    u64::try_from(share).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_calls_read_back() {
        assert_eq!(parse_call_name(&call_name(Position(42))), Some(Position(42)));
        assert_eq!(parse_call_name(&call_name(Position(u64::MAX))), Some(Position(u64::MAX)));
        for other in ["manifest", "segments/00000000000000000001", "42", "0000000000000000000x"] {
            assert_eq!(parse_call_name(other), None, "{other}");
        }
    }

    #[test]
    fn a_share_of_a_part_is_exact_at_its_end() {
        assert_eq!((share(100, 9, 9), share(100, 4, 9), share(u64::MAX, 0, 0)), (100, 50, u64::MAX));
    }
}
