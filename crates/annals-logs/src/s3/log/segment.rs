//! A segment: many calls in one object, and behind them a directory that finds each of them.

use std::io::{Read, Write};
use std::sync::Arc;

use annals::log::Token;
use annals::{Error, ErrorKind, Position, Result};
use object_store::path::Path;

use super::call::{CallHeader, HEADER_BYTES, narrow, take, wide};
use super::manifest::Segment;
use crate::s3::bucket::Bucket;
use crate::s3::reader::ObjectReader;
use crate::s3::upload::{Spool, put};

/// Small calls are found in groups of about so much; a larger call is a group of its own. Units: bytes.
const GROUP_BYTES: u64 = 64 << 10;
/// Units: bytes of an entry of a directory: the first position of a group, and where it begins.
const ENTRY_BYTES: usize = 16;
/// Units: bytes of the checksum behind the entries.
const SUM_BYTES: usize = 4;

/// Where the groups of a segment are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Directory {
    /// Shape: first positions and offsets, ascending.
    entries: Vec<(Position, u64)>,
    /// Where the last group ends.
    end: u64,
}

/// A group of calls in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub first: Position,
    /// Units: bytes before it.
    pub start: u64,
    /// Units: bytes up to its end.
    pub end: u64,
}

impl Directory {
    fn encode(&self) -> Vec<u8> {
        let entries = self.entries.iter();
        let mut bytes: Vec<u8> = entries
            .flat_map(|(first, start)| first.0.to_be_bytes().into_iter().chain(start.to_be_bytes()))
            .collect();
        bytes.extend(crc32c::crc32c(&bytes).to_be_bytes());
        bytes
    }

    /// Reads the directory behind `end` bytes of groups.
    ///
    /// Errors: `Corrupted`.
    pub fn decode(bytes: &[u8], end: u64) -> Result<Directory> {
        let damaged = || Error::new(ErrorKind::Corrupted, "expected a directory, found other bytes");
        let at = bytes.len().checked_sub(SUM_BYTES).ok_or_else(damaged)?;
        let (mut entries, mut sum) = bytes.split_at(at);
        if take::<SUM_BYTES>(&mut sum) != crc32c::crc32c(entries).to_be_bytes()
            || entries.len() % ENTRY_BYTES != 0
        {
            return Err(damaged());
        }
        let mut directory = Directory { entries: Vec::with_capacity(entries.len() / ENTRY_BYTES), end };
        while !entries.is_empty() {
            let first = Position(u64::from_be_bytes(take(&mut entries)));
            directory.entries.push((first, u64::from_be_bytes(take(&mut entries))));
        }
        let is_ascending = directory.entries.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1);
        let is_whole = directory.entries.first().is_some_and(|(_, start)| *start == 0);
        let is_inside = directory.entries.last().is_some_and(|(_, start)| *start < end);
        match is_ascending && is_whole && is_inside {
            true => Ok(directory),
            false => Err(damaged()),
        }
    }

    /// The groups from the one with the position `from` on.
    pub fn groups_from(&self, from: Position) -> impl Iterator<Item = Group> {
        let at = self.entries.partition_point(|(first, _)| *first <= from).saturating_sub(1);
        let rest = self.entries.get(at..).unwrap_or_default();
        let ends = rest.iter().skip(1).map(|(_, start)| *start).chain([self.end]);
        rest.iter().zip(ends).map(|((first, start), end)| Group { first: *first, start: *start, end })
    }
}

/// A segment that is being written.
pub(super) struct SegmentWriter {
    spool: Spool,
    directory: Directory,
    /// Units: bytes of the group that is being written.
    group_bytes: u64,
    first: Position,
    last: Position,
    token: Token,
    bytes: u64,
}

impl SegmentWriter {
    pub fn new(bucket: &Bucket) -> SegmentWriter {
        SegmentWriter {
            spool: Spool::new(bucket),
            directory: Directory::default(),
            group_bytes: 0,
            first: Position::ZERO,
            last: Position::ZERO,
            token: Token(0),
            bytes: 0,
        }
    }

    /// Units: bytes that it has.
    pub fn length(&self) -> u64 {
        self.directory.end
    }

    /// Adds a call, which follows the last one.
    ///
    /// Errors: `NoRoom` or `Io` if it cannot wait on this machine.
    pub fn add(&mut self, header: &CallHeader, call: &[u8]) -> Result<()> {
        let length = wide(call.len());
        let is_new =
            self.directory.entries.is_empty() || self.group_bytes >= GROUP_BYTES || length > GROUP_BYTES;
        if is_new {
            self.directory.entries.push((header.first, self.directory.end));
            self.group_bytes = 0;
        }
        self.spool.write_all(call).map_err(|error| Error::io("keep a segment until it is whole", error))?;
        self.group_bytes = self.group_bytes.saturating_add(length);
        self.directory.end = self.directory.end.saturating_add(length);
        if self.first == Position::ZERO {
            self.first = header.first;
        }
        (self.last, self.token) = (header.last, header.token);
        self.bytes = self.bytes.saturating_add(header.body_bytes);
        Ok(())
    }

    /// Puts the segment under the name that `name` gives for its positions.
    ///
    /// Errors: those of the requests.
    pub fn put(
        mut self,
        bucket: &Bucket,
        name: &dyn Fn(Position, Position) -> Result<(String, Path)>,
    ) -> Result<Segment> {
        let directory = self.directory.encode();
        self.spool
            .write_all(&directory)
            .map_err(|error| Error::io("keep a segment until it is whole", error))?;
        let (name, key) = name(self.first, self.last)?;
        let length = self.spool.length();
        put(bucket, &key, self.spool, false).map_err(|error| of_store(&name, error))?;
        Ok(Segment {
            first: self.first,
            last: self.last,
            bytes: self.bytes,
            directory: self.directory.end,
            length,
            token: self.token,
            name,
        })
    }
}

/// The error of a put or a read of an object, as the engine knows it.
fn of_store(name: &str, error: std::io::Error) -> Error {
    use std::io::ErrorKind as Io;
    let kind = match error.kind() {
        Io::StorageFull => ErrorKind::NoRoom,
        Io::TimedOut | Io::NotFound => ErrorKind::Unavailable,
        _ => ErrorKind::Io,
    };
    Error::new(kind, format!("segment {name}")).caused_by(error)
}

/// The calls of a segment, in order.
pub(super) struct SegmentCalls {
    name: String,
    input: ObjectReader,
    /// Units: bytes of the calls that are left.
    left: u64,
    next: Position,
}

impl SegmentCalls {
    pub fn new(bucket: &Arc<Bucket>, key: Path, segment: &Segment) -> SegmentCalls {
        let input = ObjectReader::new(Arc::clone(bucket), key, None, segment.length);
        SegmentCalls { name: segment.name.clone(), input, left: segment.directory, next: segment.first }
    }

    /// The next call. Shape: its header, and all its bytes.
    ///
    /// Errors: `Corrupted`; those of the requests.
    pub fn next(&mut self) -> Result<Option<(CallHeader, Vec<u8>)>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut bytes = vec![0; HEADER_BYTES];
        self.read(&mut bytes)?;
        let damaged = |kind, text: &str| {
            Error::new(kind, format!("segment {}: {text}; restore it from a backup", self.name))
        };
        let (header, _) = CallHeader::decode(&bytes).map_err(|error| damaged(error.kind(), error.text()))?;
        let whole = header.whole_bytes();
        if header.first != self.next || whole > self.left {
            let text = format!("expected the call at {}, found another one", self.next);
            return Err(damaged(ErrorKind::Corrupted, &text));
        }
        bytes.resize(narrow(whole), 0);
        self.read(bytes.get_mut(HEADER_BYTES..).unwrap_or_default())?;
        (self.left, self.next) = (self.left - whole, header.last.next());
        Ok(Some((header, bytes)))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.input.read_exact(bytes).map_err(|error| of_store(&self.name, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_any_of_their_positions() {
        let entries = vec![(Position(1), 0), (Position(4), 100), (Position(5), 250)];
        let directory = Directory { entries, end: 300 };
        let groups = |from| directory.groups_from(Position(from)).collect::<Vec<_>>();
        let group = |first, start, end| Group { first: Position(first), start, end };
        assert_eq!(groups(3), [group(1, 0, 100), group(4, 100, 250), group(5, 250, 300)]);
        assert_eq!(groups(4), [group(4, 100, 250), group(5, 250, 300)]);
        assert_eq!(groups(99), [group(5, 250, 300)]);
        let bytes = directory.encode();
        assert_eq!(Directory::decode(&bytes, 300).unwrap(), directory);
        assert!(Directory::decode(&bytes, 250).is_err());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Directory::decode(&damaged, 300).is_err(), "byte {at}");
        }
    }
}
