//! Merges calls into segments, so that an opening and a reader need few objects. The objects of the calls stay: they keep
//! their positions taken.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use annals::log::Token;
use annals::{Error, ErrorKind, Position, Result};

use super::call::{WholeCall, narrow};
use super::chain::KnownCall;
use super::leaving::clean;
use super::manifest::{Manifest, Segment};
use super::manifest_object::{KnownManifest, swap};
use super::read_records::segment_key;
use super::segment::{SegmentCalls, SegmentWriter};
use super::shared_log::{SharedLog, call_name};
use crate::s3::object_requests::Wanted;

/// So many calls are merged, or so many bytes of them. Tests need few.
const CALLS_MIN: usize = 256;
const BYTES_MIN: u64 = 32 << 20;
/// A segment of so many bytes is not merged with later ones.
const SEGMENT_BYTES: u64 = 64 << 20;
/// Calls that are asked for at a time, and their bytes, unless one alone has more.
const AHEAD_MAX: usize = 16;
const AHEAD_BYTES_MAX: u64 = 16 << 20;
/// Digits of the numbers in a name.
const DIGITS: usize = 20;

/// The name of an object that a change of the manifest brings: of the version that it makes. Once that version is in force
/// without it, no change brings it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangeName {
    pub version: u64,
    pub change: Token,
}

impl ChangeName {
    pub fn of(manifest: &Manifest) -> ChangeName {
        ChangeName { version: manifest.version, change: manifest.change }
    }

    /// The end of the name of a segment, or the name of a list.
    pub fn parse(name: &str) -> Option<ChangeName> {
        let mut parts = name.rsplit('-');
        let (change, version) = (parts.next()?, parts.next()?);
        let is_hex = change.len() == 32;
        let change = is_hex.then(|| u128::from_str_radix(change, 16).ok())?;
        let version = (version.len() == DIGITS).then(|| version.parse().ok())?;
        Some(ChangeName { version: version?, change: Token(change?) })
    }
}

impl fmt::Display for ChangeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0DIGITS$}-{}", self.version, self.change)
    }
}

/// Puts a segment that the change `next` brings.
pub(super) fn put_segment(shared: &SharedLog, writer: SegmentWriter, next: ChangeName) -> Result<Segment> {
    writer.put(shared.bucket(), &|first: Position, last: Position| {
        let name = format!("{:0DIGITS$}-{:0DIGITS$}-{next}", first.0, last.0);
        let key = segment_key(shared, &name)?;
        Ok((name, key))
    })
}

/// Removes segments that no manifest names, and none will. Those that cannot be removed now are removed later.
pub(super) fn discard(shared: &SharedLog, segments: &[Segment]) {
    for segment in segments {
        let _ = segment_key(shared, &segment.name).map(|key| shared.bucket().remove(&key));
    }
}

/// Merges on a thread of its own once there is enough to merge.
pub(super) fn merge_if_due(shared: &Arc<SharedLog>) {
    let (calls, bytes) = shared.unmerged();
    let is_due = calls >= CALLS_MIN || bytes >= BYTES_MIN;
    if is_due
        && calls >= shared.merge_from.load(Ordering::SeqCst)
        && !shared.is_rewriting.load(Ordering::SeqCst)
    {
        go(shared, move |shared| {
            let merged = merge(shared);
            let from = if merged.is_ok() { 0 } else { calls.saturating_add(CALLS_MIN / 4) };
            shared.merge_from.store(from, Ordering::SeqCst);
            merged.map(drop)
        });
    }
}

/// Removes on a thread of its own what earlier handles have left.
pub(super) fn clean_later(shared: &Arc<SharedLog>) {
    go(shared, clean);
}

/// Runs `work` on a thread, unless there is one.
fn go(shared: &Arc<SharedLog>, work: impl FnOnce(&SharedLog) -> Result<()> + Send + 'static) {
    if shared.is_merging.swap(true, Ordering::SeqCst) {
        return;
    }
    let own = Arc::clone(shared);
    let run = move || {
        let held = own.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
        if !own.is_closed.load(Ordering::SeqCst) && !own.is_rewriting.load(Ordering::SeqCst) {
            // A failure leaves all as it was: a later append, or the next opening, tries it again.
            let _ = work(&own);
        }
        drop(held);
        own.is_merging.store(false, Ordering::SeqCst);
    };
    let started = std::thread::Builder::new().name("annals-s3-merge".to_owned()).spawn(run);
    if started.is_err() {
        shared.is_merging.store(false, Ordering::SeqCst);
    }
}

/// Merges all calls behind the segments. The caller holds the upkeep. Shape: the manifest in force.
///
/// Errors: those of the requests; `Conflict` if another process changed the manifest meanwhile.
pub(super) fn merge(shared: &SharedLog) -> Result<Arc<KnownManifest>> {
    let known = shared.known();
    let end = known.manifest.end().position;
    let calls = shared.calls_from(end.next(), |_| true);
    if calls.is_empty() {
        return Ok(known);
    }
    let mut next = known.manifest.changed();
    // Segments grow by halves, so that each byte is written few times.
    let (mut absorbed, mut bytes) = (Vec::new(), calls.iter().map(|call| call.length).sum::<u64>());
    while let Some(last) = next.segments.pop_if(|last| last.length <= bytes && last.length < SEGMENT_BYTES) {
        bytes = bytes.saturating_add(last.length);
        absorbed.insert(0, last);
    }
    let mut fresh = Vec::new();
    let written = write(shared, ChangeName::of(&next), &absorbed, &calls, &mut fresh);
    next.segments.extend(fresh.iter().cloned());
    put_in_force(shared, written.map(|()| next), &known, &fresh)?;
    discard(shared, &absorbed);
    Ok(shared.known())
}

/// Puts a prepared manifest in the place of the known one. If it is sure that it never comes in force, the segments that it
/// brings are removed.
///
/// Errors: that of the preparation; those of the requests; `Conflict`; `Unavailable` if the outcome is unknown.
pub(super) fn put_in_force(
    shared: &SharedLog,
    next: Result<Manifest>,
    known: &KnownManifest,
    fresh: &[Segment],
) -> Result<()> {
    let swapped = next.map_err(|error| (error, false)).and_then(|next| {
        swap(shared.bucket(), known, next).map_err(|error| {
            let is_in_doubt = error.kind() == ErrorKind::Unavailable;
            (error, is_in_doubt)
        })
    });
    match swapped {
        Ok(Some(found)) => shared.take_manifest(found, &known.manifest),
        Ok(None) => {
            discard(shared, fresh);
            let text = format!("{}: another rewriting was put in place first; retry", shared.describe());
            Err(Error::new(ErrorKind::Conflict, text))
        }
        Err((error, is_in_doubt)) => {
            if !is_in_doubt {
                discard(shared, fresh);
            }
            Err(error)
        }
    }
}

/// Writes segments of these earlier ones and of calls behind them. `fresh` has those that were put, also after an error.
fn write(
    shared: &SharedLog,
    next: ChangeName,
    absorbed: &[Segment],
    calls: &[KnownCall],
    fresh: &mut Vec<Segment>,
) -> Result<()> {
    let bucket = shared.bucket();
    let mut writer = SegmentWriter::new(bucket);
    for segment in absorbed {
        let mut input = SegmentCalls::new(bucket, segment_key(shared, &segment.name)?, segment);
        while let Some((header, bytes)) = input.next()? {
            writer.add(&header, &bytes)?;
        }
    }
    let mut rest = calls;
    while !rest.is_empty() {
        let (calls, others) = rest.split_at(ahead_count(rest));
        rest = others;
        let ask = |call: &KnownCall| {
            let key = shared.key(&call_name(call.first))?;
            Ok(call.kept().is_none().then(|| bucket.get_ahead(key, Wanted::default(), call.length)))
        };
        let asked = calls.iter().map(ask).collect::<Result<Vec<_>>>()?;
        for (call, asked) in calls.iter().zip(asked) {
            let name = call_name(call.first);
            let found = asked.map(|asked| bucket.found(&asked)).transpose();
            let found = found.map_err(|failure| failure.into_error(&name))?;
            let bytes = found.map_or_else(|| call.piece.clone(), |found| found.bytes);
            // No damage is carried on.
            let found = WholeCall::decode(&bytes).and_then(|found| found.records().map(|_| found.header));
            let header = found.map_err(|error| shared.damaged(&name, &error))?;
            if (header.first, header.token, header.is_stub) != (call.first, call.token, false) {
                return Err(shared.lost("found another call there"));
            }
            writer.add(&header, bytes.get(..narrow(header.whole_bytes())).unwrap_or_default())?;
            if writer.length() >= SEGMENT_BYTES {
                let whole = std::mem::replace(&mut writer, SegmentWriter::new(bucket));
                fresh.push(put_segment(shared, whole, next)?);
            }
        }
    }
    if writer.length() > 0 {
        fresh.push(put_segment(shared, writer, next)?);
    }
    Ok(())
}

/// How many of the next calls are asked for together.
fn ahead_count(calls: &[KnownCall]) -> usize {
    let mut bytes = 0_u64;
    let is_wanted = |call: &&KnownCall| {
        bytes = bytes.saturating_add(call.length);
        bytes <= AHEAD_BYTES_MAX
    };
    calls.iter().take(AHEAD_MAX).take_while(is_wanted).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_changes_read_back() {
        let name = ChangeName { version: 7, change: Token(u128::MAX) };
        for text in [name.to_string(), format!("{:020}-{:020}-{name}", 1, 9)] {
            assert_eq!(ChangeName::parse(&text), Some(name));
        }
        assert_eq!(ChangeName::parse("manifest"), None);
        assert_eq!(ChangeName::parse("7-a"), None);
    }
}
