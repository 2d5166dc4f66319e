//! The one owner of the byte layout of segment files: the segment header and the frame around each record.
//!
//! The tables are in `docs/formats.md`, section "File log"; golden bytes are in the tests below.

use super::RECORD_BYTES_MAX;
use crate::Position;

/// The newest format this version writes and reads, of frames and of segments.
pub(crate) const FORMAT: u16 = 1;

/// Units: bytes of a frame before its payload.
pub(crate) const FRAME_HEADER_BYTES: usize = 28;

/// Units: bytes of a segment file before its first frame.
pub(crate) const SEGMENT_HEADER_BYTES: usize = 32;

/// The first bytes of a frame. The first one is no ASCII and no valid start of UTF-8, so text seldom looks like it.
pub(crate) const FRAME_MAGIC: [u8; 4] = [0xA7, b'a', b'n', b'r'];

const SEGMENT_MAGIC: [u8; 4] = [0xA7, b'a', b'n', b's'];
const FLAG_LAST: u16 = 1;

/// The header of one segment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// A random number that enters every checksum of this file. A frame of another file inside a payload (a backup
    /// of a log stored in a log) therefore never passes for a frame of this one.
    pub salt: u32,
    /// The position of the first record, whether or not it is there yet.
    pub first: Position,
    /// The first position of the segment before, zero if there is none: a missing segment shows in the headers.
    pub previous: Position,
}

/// What the first bytes of a segment file are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SegmentStart {
    Whole(SegmentHeader),
    Newer(u16),
    Bad(String),
}

impl SegmentHeader {
    pub fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&SEGMENT_MAGIC);
        bytes[8..10].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.salt.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.previous.0.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[8..]);
        bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> SegmentStart {
        let Some(bytes) = bytes.get(..SEGMENT_HEADER_BYTES) else {
            return SegmentStart::Bad(format!("{} bytes, expected {SEGMENT_HEADER_BYTES}", bytes.len()));
        };
        if bytes[0..4] != SEGMENT_MAGIC {
            return SegmentStart::Bad(format!("magic {:02x?}, expected {SEGMENT_MAGIC:02x?}", &bytes[0..4]));
        }
        let (expected, found) = (u32_at(bytes, 4), crc32c::crc32c(&bytes[8..]));
        if expected != found {
            return SegmentStart::Bad(format!("header checksum expected {expected:08x}, found {found:08x}"));
        }
        let format = u16_at(bytes, 8);
        if format > FORMAT {
            return SegmentStart::Newer(format);
        }
        SegmentStart::Whole(SegmentHeader {
            salt: u32_at(bytes, 12),
            first: Position(u64_at(bytes, 16)),
            previous: Position(u64_at(bytes, 24)),
        })
    }

    /// Where the checksum of every frame of this segment starts from.
    pub fn seed(&self) -> u32 {
        crc32c::crc32c(&self.salt.to_le_bytes())
    }
}

/// The header of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub checksum: u32,
    /// Units: bytes of the payload, not checked against anything.
    pub length: u32,
    pub format: u16,
    pub flags: u16,
    pub position: Position,
    /// Counts from 0 within the append call that wrote the frame.
    pub index: u32,
}

impl FrameHeader {
    /// Reads a header; `None` if `bytes` do not start with one. The checksum is not verified.
    pub fn decode(bytes: &[u8]) -> Option<FrameHeader> {
        let bytes = bytes.get(..FRAME_HEADER_BYTES)?;
        if bytes[0..4] != FRAME_MAGIC {
            return None;
        }
        Some(FrameHeader {
            checksum: u32_at(bytes, 4),
            length: u32_at(bytes, 8),
            format: u16_at(bytes, 12),
            flags: u16_at(bytes, 14),
            position: Position(u64_at(bytes, 16)),
            index: u32_at(bytes, 24),
        })
    }

    /// Units: bytes of header and payload; `None` if the payload exceeds the bound of a record.
    pub fn frame_bytes(&self) -> Option<usize> {
        let length = self.length as usize;
        (length <= RECORD_BYTES_MAX).then_some(FRAME_HEADER_BYTES + length)
    }

    /// True if this is the last frame of its append call.
    pub fn is_last(&self) -> bool {
        self.flags & FLAG_LAST != 0
    }

    /// True if a newer version of Annals wrote the frame. Only meaningful once the checksum holds.
    pub fn is_newer(&self) -> bool {
        self.format > FORMAT || self.flags & !FLAG_LAST != 0
    }

    /// The position of the first frame of the same append call; `None` for a header that cannot be.
    pub fn call_start(&self) -> Option<Position> {
        self.position.0.checked_sub(u64::from(self.index)).map(Position)
    }
}

/// The checksum of a whole frame (header and payload in `frame`), as its header should state it.
pub(crate) fn frame_checksum(seed: u32, frame: &[u8]) -> u32 {
    crc32c::crc32c_append(seed, &frame[8..])
}

/// Units: bytes that the frames around `records` take.
pub(crate) fn frames_bytes(records: &[&[u8]]) -> u64 {
    records.iter().map(|record| (FRAME_HEADER_BYTES + record.len()) as u64).sum()
}

/// Where a frame stands: its position and its place in its append call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePlace {
    pub position: Position,
    pub index: u32,
    pub is_last: bool,
}

/// Appends one frame to `buffer`. The payload is within [`RECORD_BYTES_MAX`].
pub(crate) fn encode_frame(buffer: &mut Vec<u8>, seed: u32, place: FramePlace, payload: &[u8]) {
    assert!(payload.len() <= RECORD_BYTES_MAX, "the record bound is checked before encoding");
    let start = buffer.len();
    let mut header = [0; FRAME_HEADER_BYTES];
    header[0..4].copy_from_slice(&FRAME_MAGIC);
    header[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    header[12..14].copy_from_slice(&FORMAT.to_le_bytes());
    header[14..16].copy_from_slice(&if place.is_last { FLAG_LAST } else { 0 }.to_le_bytes());
    header[16..24].copy_from_slice(&place.position.0.to_le_bytes());
    header[24..28].copy_from_slice(&place.index.to_le_bytes());
    buffer.extend_from_slice(&header);
    buffer.extend_from_slice(payload);
    let checksum = frame_checksum(seed, &buffer[start..]);
    buffer[start + 4..start + 8].copy_from_slice(&checksum.to_le_bytes());
}

/// Appends the frames of one append call to `buffer`, the first at position `at`.
pub(crate) fn encode_call(buffer: &mut Vec<u8>, seed: u32, at: Position, records: &[&[u8]]) {
    buffer.reserve(records.iter().map(|record| FRAME_HEADER_BYTES + record.len()).sum());
    for (index, record) in records.iter().enumerate() {
        let place = FramePlace {
            position: Position(at.0 + index as u64),
            index: index as u32,
            is_last: index + 1 == records.len(),
        };
        encode_frame(buffer, seed, place, record);
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The golden bytes were made by a program in another language from the tables in `docs/formats.md`.
    const HEADER: SegmentHeader =
        SegmentHeader { salt: 0x1122_3344, first: Position(7), previous: Position(3) };
    const SEGMENT_BYTES: &[u8; SEGMENT_HEADER_BYTES] =
        b"\xa7ansQ?CY\x01\x00\x00\x00D3\x22\x11\x07\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00";
    const CALL_BYTES: &[u8] =
        b"\xa7anr\xab\x87\xe7\x8a\x00\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
          \xa7anr\xafc\xa5\x04\x05\x00\x00\x00\x01\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00hello";

    #[test]
    fn golden_bytes_of_a_segment_header() {
        assert_eq!(&HEADER.encode(), SEGMENT_BYTES);
        assert_eq!(SegmentHeader::decode(SEGMENT_BYTES), SegmentStart::Whole(HEADER));
    }

    #[test]
    fn golden_bytes_of_an_append_call() {
        let mut bytes = Vec::new();
        encode_call(&mut bytes, HEADER.seed(), Position(7), &[b"", b"hello"]);
        assert_eq!(bytes, CALL_BYTES);
        let first = FrameHeader::decode(&bytes).expect("a frame");
        assert_eq!((first.position, first.index, first.is_last()), (Position(7), 0, false));
        let second = FrameHeader::decode(&bytes[28..]).expect("a frame");
        assert_eq!((second.position, second.index, second.is_last()), (Position(8), 1, true));
        assert_eq!(second.call_start(), Some(Position(7)));
    }

    #[test]
    fn any_flipped_bit_of_a_segment_header_is_noticed() {
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            let mut bytes = HEADER.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(SegmentHeader::decode(&bytes), SegmentStart::Bad(_)), "bit {bit}");
        }
    }

    #[test]
    fn newer_segment_is_told_from_a_damaged_one() {
        let mut bytes = HEADER.encode();
        bytes[8] = 2;
        let checksum = crc32c::crc32c(&bytes[8..]);
        bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(SegmentHeader::decode(&bytes), SegmentStart::Newer(2));
    }
}
