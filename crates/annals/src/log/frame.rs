//! The one owner of the byte layout of segment files: the segment header and the frame around each record.
//!
//! The tables are in `docs/formats.md`, section "File log"; golden bytes are in the tests below. This file reads
//! segments of format 1, and reads and writes format 2.

use super::bytes::{take_u16, take_u32, take_u64};
use super::identity::LogId;
use super::{RECORD_BYTES_MAX, record_length};
use crate::Position;
use crate::storage::widen;

/// The newest format this version writes and reads, of frames and of segments.
pub(crate) const FORMAT: u16 = 2;

/// Units: bytes of a frame before its payload, in format 1 and in format 2 without the header of an append call.
const FRAME_HEADER_BYTES_1: usize = 28;
pub(crate) const FRAME_HEADER_BYTES: usize = 32;

/// Units: bytes of the header of an append call, which follows the frame header if the call names its writer.
const CALL_HEADER_BYTES: usize = 24;

/// Units: bytes of a segment file before its first frame.
const SEGMENT_HEADER_BYTES_1: usize = 32;
pub(crate) const SEGMENT_HEADER_BYTES: usize = 64;

/// The first bytes of a frame. The first one is not ASCII and never starts a UTF-8 sequence, so text seldom looks like
/// it.
pub(crate) const FRAME_MAGIC: [u8; 4] = [0xA7, b'a', b'n', b'r'];

const SEGMENT_MAGIC: [u8; 4] = [0xA7, b'a', b'n', b's'];
/// The last frame of its append call.
const FLAG_LAST: u16 = 1;
/// The header of the append call follows the header of the frame.
const FLAG_CALL: u16 = 2;

/// The header of one segment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// 1 or 2; all frames of the segment have the same.
    pub format: u16,
    /// A random number that enters every checksum of this file. A frame of another file inside a payload (a backup
    /// of a log stored in a log) therefore never passes for a frame of this one.
    pub salt: u32,
    /// The position of the first record, even if that is not written yet.
    pub first: Position,
    /// The first position of the segment before, zero if there is none: so the headers show a missing segment.
    pub previous: Position,
    /// The log that the segment belongs to; nil in format 1, which does not name it.
    pub log_id: LogId,
    /// How many times the log had been rewritten when the segment was created.
    pub generation: u64,
}

/// The meaning of the first bytes of a segment file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SegmentStart {
    Whole(SegmentHeader),
    Newer(u16),
    Bad(String),
}

impl SegmentHeader {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = SEGMENT_MAGIC.to_vec();
        let mut head = self.format.to_le_bytes().to_vec();
        head.extend([0; 2]);
        head.extend(self.salt.to_le_bytes());
        head.extend(self.first.0.to_le_bytes());
        head.extend(self.previous.0.to_le_bytes());
        bytes.extend(crc32c::crc32c(&head).to_le_bytes());
        bytes.extend(head);
        if self.format > 1 {
            let mut rest = self.log_id.0.to_vec();
            rest.extend(self.generation.to_le_bytes());
            rest.extend([0; 4]);
            bytes.extend(&rest);
            bytes.extend(crc32c::crc32c(&rest).to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> SegmentStart {
        let Some((head, rest)) = bytes.split_at_checked(SEGMENT_HEADER_BYTES_1) else {
            return SegmentStart::Bad(format!("{} bytes, expected {SEGMENT_HEADER_BYTES}", bytes.len()));
        };
        let (magic, mut head) = head.split_at(SEGMENT_MAGIC.len());
        if magic != SEGMENT_MAGIC {
            return SegmentStart::Bad(format!("magic {magic:02x?}, expected {SEGMENT_MAGIC:02x?}"));
        }
        let expected = take_u32(&mut head);
        let found = crc32c::crc32c(head);
        if expected != found {
            return SegmentStart::Bad(format!("header checksum expected {expected:08x}, found {found:08x}"));
        }
        let (format, _) = (take_u16(&mut head), take_u16(&mut head));
        if format > FORMAT {
            return SegmentStart::Newer(format);
        }
        let mut header = SegmentHeader {
            format,
            salt: take_u32(&mut head),
            first: Position(take_u64(&mut head)),
            previous: Position(take_u64(&mut head)),
            log_id: LogId::NIL,
            generation: 0,
        };
        if format == 1 {
            return SegmentStart::Whole(header);
        }
        let Some(rest) = rest.get(..SEGMENT_HEADER_BYTES - SEGMENT_HEADER_BYTES_1) else {
            return SegmentStart::Bad(format!("{} bytes, expected {SEGMENT_HEADER_BYTES}", bytes.len()));
        };
        let (mut sealed, mut checksum) = rest.split_at(rest.len() - 4);
        let (expected, found) = (take_u32(&mut checksum), crc32c::crc32c(sealed));
        if expected != found {
            return SegmentStart::Bad(format!(
                "checksum of the log's id expected {expected:08x}, found {found:08x}"
            ));
        }
        header.log_id = LogId::take(&mut sealed);
        header.generation = take_u64(&mut sealed);
        SegmentStart::Whole(header)
    }

    /// Units: bytes of the header: the offset of the first frame.
    pub fn bytes(&self) -> u64 {
        widen(if self.format == 1 { SEGMENT_HEADER_BYTES_1 } else { SEGMENT_HEADER_BYTES })
    }

    /// Layout and checksums of the frames of this segment.
    pub fn framing(&self) -> Framing {
        Framing { format: self.format, seed: crc32c::crc32c(&self.salt.to_le_bytes()) }
    }
}

/// The layout of the frames of one segment, and the seed of their checksums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    format: u16,
    seed: u32,
}

/// The header of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub checksum: u32,
    /// Units: bytes of the payload; in format 1 not protected by a checksum.
    pub length: u32,
    pub format: u16,
    pub flags: u16,
    pub position: Position,
    /// Counts from 0 within the append call that wrote the frame.
    pub index: u32,
    /// Units: bytes before the payload.
    pub header_bytes: usize,
}

/// The meaning of the first bytes of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrameStart {
    Header(FrameHeader),
    Bad(String),
}

impl Framing {
    /// Units: bytes that a reader needs to recognise a frame.
    pub fn header_bytes(self) -> usize {
        if self.format == 1 { FRAME_HEADER_BYTES_1 } else { FRAME_HEADER_BYTES }
    }

    /// Reads the header at the start of `bytes`. In format 2 its checksum holds; in format 1 it has none.
    pub fn decode(self, bytes: &[u8]) -> FrameStart {
        let Some(all) = bytes.get(..self.header_bytes()) else {
            return FrameStart::Bad(format!(
                "{} bytes, less than a frame header of {}",
                bytes.len(),
                self.header_bytes()
            ));
        };
        let (magic, mut rest) = all.split_at(FRAME_MAGIC.len());
        if magic != FRAME_MAGIC {
            return FrameStart::Bad(format!("magic {magic:02x?}, expected {FRAME_MAGIC:02x?}"));
        }
        let checksum = take_u32(&mut rest);
        let sealed = rest.get(..FRAME_HEADER_BYTES_1 - 8).unwrap_or_default();
        let mut header = FrameHeader {
            checksum,
            length: take_u32(&mut rest),
            format: take_u16(&mut rest),
            flags: take_u16(&mut rest),
            position: Position(take_u64(&mut rest)),
            index: take_u32(&mut rest),
            header_bytes: self.header_bytes(),
        };
        if self.format > 1 {
            let (expected, found) = (take_u32(&mut rest), crc32c::crc32c_append(self.seed, sealed));
            if expected != found {
                return FrameStart::Bad(format!(
                    "header checksum expected {expected:08x}, found {found:08x}"
                ));
            }
            if header.flags & FLAG_CALL != 0 {
                header.header_bytes += CALL_HEADER_BYTES;
            }
        }
        FrameStart::Header(header)
    }

    /// The checksum of a whole frame (header and payload in `frame`), as its header should state it.
    pub fn checksum(self, frame: &[u8]) -> u32 {
        crc32c::crc32c_append(self.seed, frame.get(8..).unwrap_or_default())
    }

    /// True if a newer version of Annals wrote the frame. Only meaningful once the checksum holds.
    pub fn is_newer(self, header: &FrameHeader) -> bool {
        let known = if self.format == 1 { FLAG_LAST } else { FLAG_LAST | FLAG_CALL };
        header.format > self.format || header.flags & !known != 0
    }
}

impl FrameHeader {
    /// Units: bytes of header and payload; `None` if the payload exceeds the bound of a record.
    pub fn frame_bytes(&self) -> Option<usize> {
        let length = usize::try_from(self.length).ok()?;
        (length <= RECORD_BYTES_MAX).then_some(self.header_bytes + length)
    }

    /// True if this is the last frame of its append call.
    pub fn is_last(&self) -> bool {
        self.flags & FLAG_LAST != 0
    }

    /// The position of the first frame of the same append call; `None` for an impossible header.
    pub fn call_start(&self) -> Option<Position> {
        self.position.0.checked_sub(u64::from(self.index)).map(Position)
    }
}

/// Units: bytes that the frames around `records` take.
pub(crate) fn frames_bytes(records: &[&[u8]]) -> u64 {
    records.iter().map(|record| widen(FRAME_HEADER_BYTES + record.len())).sum()
}

/// The position of a frame, and its index in its append call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePlace {
    pub position: Position,
    pub index: u32,
    pub is_last: bool,
}

/// Appends one frame of format 2 to `buffer`. The payload is within [`RECORD_BYTES_MAX`].
#[expect(clippy::expect_used, reason = "every append checks lengths before it encodes")]
pub(crate) fn encode_frame(buffer: &mut Vec<u8>, framing: Framing, place: FramePlace, payload: &[u8]) {
    let length = record_length(payload).expect("the record bound is checked before encoding");
    let flags = if place.is_last { FLAG_LAST } else { 0 };
    let mut sealed = [0; FRAME_HEADER_BYTES_1 - 8];
    let fields = length
        .to_le_bytes()
        .into_iter()
        .chain(FORMAT.to_le_bytes())
        .chain(flags.to_le_bytes())
        .chain(place.position.0.to_le_bytes())
        .chain(place.index.to_le_bytes());
    sealed.iter_mut().zip(fields).for_each(|(byte, field)| *byte = field);
    let header_checksum = crc32c::crc32c_append(framing.seed, &sealed);
    let checksum = crc32c::crc32c_append(header_checksum, &header_checksum.to_le_bytes());
    let checksum = crc32c::crc32c_append(checksum, payload);
    buffer.extend_from_slice(&FRAME_MAGIC);
    buffer.extend_from_slice(&checksum.to_le_bytes());
    buffer.extend_from_slice(&sealed);
    buffer.extend_from_slice(&header_checksum.to_le_bytes());
    buffer.extend_from_slice(payload);
}

/// Appends the frames of one append call to `buffer`, the first at position `at`.
pub(crate) fn encode_call(buffer: &mut Vec<u8>, framing: Framing, at: Position, records: &[&[u8]]) {
    buffer.reserve(records.iter().map(|record| FRAME_HEADER_BYTES + record.len()).sum());
    let last = records.len().saturating_sub(1);
    for (number, (index, record)) in (0..).zip(records).enumerate() {
        let position = Position(at.0 + u64::from(index));
        encode_frame(buffer, framing, FramePlace { position, index, is_last: number == last }, record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The golden bytes were made by a program in another language from the tables in `docs/formats.md`.
    const HEADER_1: SegmentHeader = SegmentHeader {
        format: 1,
        salt: 0x1122_3344,
        first: Position(7),
        previous: Position(3),
        log_id: LogId::NIL,
        generation: 0,
    };
    const SEGMENT_BYTES_1: &[u8] =
        b"\xa7ansQ?CY\x01\x00\x00\x00D3\x22\x11\x07\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00";
    const CALL_BYTES_1: &[u8] =
        b"\xa7anr\xab\x87\xe7\x8a\x00\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\
          \xa7anr\xafc\xa5\x04\x05\x00\x00\x00\x01\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00hello";
    const HEADER: SegmentHeader = SegmentHeader {
        format: 2,
        log_id: LogId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        generation: 5,
        ..HEADER_1
    };
    const SEGMENT_BYTES: &[u8] =
        b"\xa7ans2\x0e\x7f\x92\x02\x00\x00\x00D3\x22\x11\x07\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\
          \x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc9*\xd2\xb5";
    const CALL_BYTES: &[u8] =
        b"\xa7anr\xc7KgH\x00\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00X\xe7\x1f\x99\
          \xa7anr\xda\xa5\xe6d\x05\x00\x00\x00\x02\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0e\xca&\xe2hello";
    const CALL_HEADER: &[u8] =
        b"\xa7anr\xbe\x1a\x9d\x10\x05\x00\x00\x00\x02\x00\x03\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xdb1Z\x8f\
          \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x09\x00\x00\x00\x00\x00\x00\x00hello";

    fn headers(bytes: &[u8], framing: Framing) -> [FrameHeader; 2] {
        let at = |bytes: &[u8]| match framing.decode(bytes) {
            FrameStart::Header(header) => header,
            FrameStart::Bad(reason) => panic!("{reason}"),
        };
        let first = at(bytes);
        [first, at(&bytes[first.frame_bytes().expect("within the bound")..])]
    }

    #[test]
    fn golden_bytes_of_segment_headers() {
        for (header, bytes) in [(HEADER_1, SEGMENT_BYTES_1), (HEADER, SEGMENT_BYTES)] {
            assert_eq!(header.encode(), bytes);
            assert_eq!(header.bytes(), bytes.len() as u64);
            assert_eq!(SegmentHeader::decode(bytes), SegmentStart::Whole(header));
        }
    }

    #[test]
    fn golden_bytes_of_append_calls() {
        let mut bytes = Vec::new();
        encode_call(&mut bytes, HEADER.framing(), Position(7), &[b"", b"hello"]);
        assert_eq!(bytes, CALL_BYTES);
        for (framing, bytes) in [(HEADER_1.framing(), CALL_BYTES_1), (HEADER.framing(), CALL_BYTES)] {
            let [first, second] = headers(bytes, framing);
            assert_eq!((first.position, first.index, first.is_last()), (Position(7), 0, false));
            assert_eq!((second.position, second.index, second.is_last()), (Position(8), 1, true));
            assert_eq!(second.call_start(), Some(Position(7)));
            let second_frame = &bytes[first.frame_bytes().unwrap()..];
            assert_eq!(framing.checksum(second_frame), second.checksum);
        }
    }

    /// Remote logs will name the writer of an append call, and its token; this version skips that header.
    #[test]
    fn the_header_of_an_append_call_is_read_over() {
        let framing = HEADER.framing();
        let FrameStart::Header(header) = framing.decode(CALL_HEADER) else { panic!("a frame") };
        assert!(!framing.is_newer(&header) && header.is_last());
        assert_eq!(header.frame_bytes(), Some(CALL_HEADER.len()));
        assert_eq!(framing.checksum(CALL_HEADER), header.checksum);
        assert_eq!(&CALL_HEADER[header.header_bytes..], b"hello");
    }

    #[test]
    fn any_flipped_bit_of_a_header_is_noticed() {
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            let mut bytes = HEADER.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(SegmentHeader::decode(&bytes), SegmentStart::Bad(_)), "bit {bit}");
        }
        // The checksum of the whole frame, bytes 4 to 8, is compared with the frame.
        for bit in (0..4 * 8).chain(8 * 8..FRAME_HEADER_BYTES * 8) {
            let mut bytes = CALL_BYTES.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(HEADER.framing().decode(&bytes), FrameStart::Bad(_)), "bit {bit}");
        }
    }

    #[test]
    fn newer_segment_is_told_from_a_damaged_one() {
        let mut bytes = HEADER.encode();
        bytes[8] = 3;
        let checksum = crc32c::crc32c(&bytes[8..32]);
        bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(SegmentHeader::decode(&bytes), SegmentStart::Newer(3));
    }
}
