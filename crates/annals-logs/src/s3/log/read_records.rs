//! Reads records: of calls behind the segments, of groups of calls in segments, and of parts of large calls.

use std::sync::Arc;

use annals::log::{ReadBatch, ReadLimit};
use annals::{Error, ErrorKind, Position, Result};
use bytes::Bytes;
use object_store::path::Path;

use super::call::{CallHeader, HEADER_BYTES, WholeCall, check_index, narrow, wide};
use super::chain::KnownCall;
use super::look::{look, refresh};
use super::manifest::{Manifest, Segment};
use super::segment::{Directory, Group};
use super::shared_log::{SharedLog, call_name};
use crate::call_body::{ENTRY_BYTES, Part};
use crate::s3::object_requests::Wanted;
use crate::s3::request_failure::RequestFailure;

/// The folder of segments below that of the log.
pub(super) const SEGMENTS: &str = "segments";
/// An answer has at most so much, and one record more. Units: bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// A larger call is read in parts, if a part of it is asked for. Units: bytes.
const PART_BYTES_MIN: u64 = 256 << 10;
/// Calls that are read at a time.
const CALLS_MAX: usize = 32;
/// How often a rewriting may come between the manifest and the objects that it names.
const TRIES_MAX: usize = 8;

/// Why nothing was read.
pub(super) enum ReadFailure {
    /// The object is not there any more, or has no records any more: a later manifest says where they are.
    Moved,
    Failed(Error),
}

impl From<Error> for ReadFailure {
    fn from(error: Error) -> ReadFailure {
        ReadFailure::Failed(error)
    }
}

type Read<T> = std::result::Result<T, ReadFailure>;

/// Reads records from `from` on.
///
/// Errors: those of the requests; `Unavailable` if the log has lost records; `Corrupted`.
pub(super) fn read(shared: &SharedLog, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
    for _ in 0..TRIES_MAX {
        let known = shared.known();
        let outcome = if from <= known.manifest.end().position {
            read_segment(shared, &known.manifest, from, limit)
        } else if from <= shared.end().position || from <= look(shared)?.position {
            read_calls(shared, from, limit)
        } else {
            return Ok(Vec::new());
        };
        match outcome {
            Ok(records) if !records.is_empty() => return Ok(records),
            Err(ReadFailure::Failed(error)) => return Err(error),
            // Segments have them now.
            Ok(_) => {}
            Err(ReadFailure::Moved) => {
                refresh(shared)?;
                if known.manifest.version == shared.known().manifest.version {
                    return Err(shared.lost("found fewer"));
                }
            }
        }
    }
    let text =
        format!("{}: it was rewritten again and again while it was read; try again", shared.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

/// Reads calls behind the segments. Shape: empty if segments have them now.
fn read_calls(shared: &SharedLog, from: Position, limit: ReadLimit) -> Read<Vec<Vec<u8>>> {
    let bytes_max = wide(limit.bytes.min(ANSWER_BYTES_MAX));
    let (mut bytes, mut count) = (0_u64, 0);
    let calls = shared.calls_from(from, |call| {
        let is_wanted = count == 0
            || count < CALLS_MAX
                && bytes.saturating_add(call.bytes) <= bytes_max
                && call.first.0 - from.0 < wide(limit.records);
        (bytes, count) = (bytes.saturating_add(call.bytes), count + 1);
        is_wanted
    });
    let mut batch = ReadBatch::new(limit);
    let Some(first) = calls.first() else { return Ok(Vec::new()) };
    if is_read_in_parts(first.length, bytes_max, first.last.0 - first.first.0 + 1, limit) {
        let key = shared.key(&call_name(first.first))?;
        let whole = Group { first: first.first, start: 0, end: first.length };
        return read_part(shared, &key, whole, first.last, from, limit);
    }
    let ask = |call: &KnownCall| {
        let key = shared.key(&call_name(call.first))?;
        let asked = |key| shared.bucket().get_ahead(key, Wanted::default(), call.length);
        Ok(call.kept().is_none().then(|| asked(key)))
    };
    let asked = calls.iter().map(ask).collect::<Result<Vec<_>>>()?;
    for (call, asked) in calls.iter().zip(asked) {
        let name = call_name(call.first);
        let bytes = match asked.map(|asked| shared.bucket().found(&asked)) {
            None => call.piece.clone(),
            Some(Ok(found)) => found.bytes,
            Some(Err(failure)) if failure.is_passing() => {
                let found = shared.bucket().get_sized(&shared.key(&name)?, call.length);
                found.map_err(|failure| read_failure(failure, &name))?.bytes
            }
            Some(Err(failure)) => return Err(read_failure(failure, &name)),
        };
        let found = WholeCall::decode(&bytes).map_err(|error| shared.damaged(&name, &error))?;
        if found.header.is_stub {
            return Err(ReadFailure::Moved);
        }
        if (found.header.last, found.header.token) != (call.last, call.token) {
            return Err(shared.lost("found another call there").into());
        }
        let records = found.records().map_err(|error| shared.damaged(&name, &error))?;
        if !offer(&mut batch, &found.header, &records, from) {
            break;
        }
    }
    Ok(batch.into_records())
}

/// Offers the records of a call from `from` on. False if the batch is full.
fn offer(batch: &mut ReadBatch, header: &CallHeader, records: &[&[u8]], from: Position) -> bool {
    let skipped = narrow(from.0.saturating_sub(header.first.0));
    records.iter().skip(skipped).all(|record| batch.offer(record))
}

/// True if the records that are wanted are much less than the call.
fn is_read_in_parts(length: u64, bytes_max: u64, records_count: u64, limit: ReadLimit) -> bool {
    length > PART_BYTES_MIN && (length > bytes_max || wide(limit.records) < records_count)
}

fn read_failure(failure: RequestFailure, name: &str) -> ReadFailure {
    match failure {
        RequestFailure::Missing => ReadFailure::Moved,
        failure => ReadFailure::Failed(failure.into_error(name)),
    }
}

/// Reads records of the segments that a manifest names.
pub(super) fn read_segment(
    shared: &SharedLog,
    manifest: &Manifest,
    from: Position,
    limit: ReadLimit,
) -> Read<Vec<Vec<u8>>> {
    let at = manifest.segments.partition_point(|segment| segment.last < from);
    let Some(segment) = manifest.segments.get(at) else { return Ok(Vec::new()) };
    let bytes_max = wide(limit.bytes.min(ANSWER_BYTES_MAX));
    let key = segment_key(shared, &segment.name)?;
    let directory = directory(shared, &key, segment)?;
    let mut groups = directory.groups_from(from).peekable();
    let Some(first) = groups.next() else { return Ok(Vec::new()) };
    let after = groups.peek().map_or(segment.last, |next| Position(next.first.0 - 1));
    let records_count = after.0.saturating_sub(first.first.0).saturating_add(1);
    if is_read_in_parts(first.end - first.start, bytes_max, records_count, limit) {
        return read_part(shared, &key, first, after, from, limit);
    }
    let is_wanted = |group: &Group| {
        group.end - first.start <= bytes_max && group.first.0.saturating_sub(from.0) < wide(limit.records)
    };
    let end = groups.take_while(is_wanted).last().map_or(first.end, |last| last.end);
    let bytes = piece(shared, &key, first.start, end)?;
    let (mut batch, mut rest) = (ReadBatch::new(limit), &*bytes);
    while !rest.is_empty() {
        let call = WholeCall::decode(rest).map_err(|error| damaged_segment(shared, segment, &error))?;
        rest = rest.get(narrow(call.header.whole_bytes())..).unwrap_or_default();
        if call.header.last < from {
            continue;
        }
        let records = call.records().map_err(|error| damaged_segment(shared, segment, &error))?;
        if !offer(&mut batch, &call.header, &records, from) {
            break;
        }
    }
    Ok(batch.into_records())
}

pub(super) fn segment_key(shared: &SharedLog, name: &str) -> Result<Path> {
    shared.key(&format!("{SEGMENTS}/{name}"))
}

pub(super) fn damaged_segment(shared: &SharedLog, segment: &Segment, error: &Error) -> Error {
    shared.damaged(&format!("{SEGMENTS}/{}", segment.name), error)
}

fn directory(shared: &SharedLog, key: &Path, segment: &Segment) -> Read<Arc<Directory>> {
    if let Some(known) = shared.directory(&segment.name) {
        return Ok(known);
    }
    let bytes = piece(shared, key, segment.directory, segment.length)?;
    let directory = Directory::decode(&bytes, segment.directory);
    let directory = Arc::new(directory.map_err(|error| damaged_segment(shared, segment, &error))?);
    shared.keep_directory(&segment.name, &directory);
    Ok(directory)
}

/// The bytes of an object from `start` to `end`.
fn piece(shared: &SharedLog, key: &Path, start: u64, end: u64) -> Read<Bytes> {
    let found = shared.bucket().get(key, &Wanted::range(start, end));
    let bytes = found.map_err(|failure| read_failure(failure, key.as_ref()))?.bytes;
    if wide(bytes.len()) == end - start {
        return Ok(bytes);
    }
    let text = format!(
        "{}: {key}: expected the bytes {start} to {end}, found {}; restore it from a backup",
        shared.describe(),
        bytes.len()
    );
    Err(Error::new(ErrorKind::Corrupted, text).into())
}

/// Reads some records of one large call, which fills a group and ends at `last`: its index first, and then these.
fn read_part(
    shared: &SharedLog,
    key: &Path,
    group: Group,
    last: Position,
    from: Position,
    limit: ReadLimit,
) -> Read<Vec<Vec<u8>>> {
    let damaged = |text: &str| {
        let text = format!("{}: {key}: {text}; restore it from a backup", shared.describe());
        ReadFailure::Failed(Error::new(ErrorKind::Corrupted, text))
    };
    let count = narrow(last.0 - group.first.0).saturating_add(1);
    let head_bytes = wide(HEADER_BYTES + count * ENTRY_BYTES);
    // A stub has the header only.
    let found = shared.bucket().get(key, &Wanted::range(group.start, group.start + head_bytes));
    let head = found.map_err(|failure| read_failure(failure, key.as_ref()))?.bytes;
    let (header, sum) = CallHeader::decode(&head).map_err(|error| damaged(error.text()))?;
    if header.is_stub {
        return Err(ReadFailure::Moved);
    }
    if (header.first, header.last) != (group.first, last) || header.head_bytes() != wide(head.len()) {
        return Err(damaged(&format!("expected the call at {}, found another one", group.first)));
    }
    let index = head.get(HEADER_BYTES..).unwrap_or_default();
    check_index(index, sum).map_err(|error| damaged(error.text()))?;
    let end_of = |number: usize| {
        let entry = index.get(number * ENTRY_BYTES..).and_then(|rest| rest.first_chunk::<4>());
        u64::from(entry.map_or(0, |end| u32::from_be_bytes(*end)))
    };
    let skipped = narrow(from.0 - group.first.0);
    let begin = skipped.checked_sub(1).map_or(0, end_of);
    let bytes_max = wide(limit.bytes.min(ANSWER_BYTES_MAX));
    let stops = (skipped + 1..=count).take(limit.records.max(1));
    let is_wanted =
        |stop: &usize| *stop == skipped + 1 || end_of(*stop - 1).saturating_sub(begin) <= bytes_max;
    let stop = stops.take_while(is_wanted).last().unwrap_or(skipped + 1);
    let start = group.start + head_bytes;
    let end = end_of(stop - 1);
    if end < begin || start + end > group.end {
        return Err(damaged("expected ascending ends in its index"));
    }
    let body = if end == begin { Bytes::new() } else { piece(shared, key, start + begin, start + end)? };
    let index = index.get(skipped * ENTRY_BYTES..stop * ENTRY_BYTES).unwrap_or_default();
    let part = Part { index, body: &body, begin: i64::try_from(begin).unwrap_or(i64::MAX) };
    let records = part.records().map_err(|(number, text)| {
        damaged(&format!("the record at {}: {text}", from.0.saturating_add(wide(number))))
    })?;
    if records.is_empty() {
        return Err(damaged(&format!("expected the record at {from}, found none")));
    }
    Ok(records.into_iter().map(<[u8]>::to_vec).collect())
}
