//! The address of a frame: the segment, and the place in it. A checkpoint holds the address of its last record, so that
//! an opening looks for the end of the log from there on.

use crate::Position;
use crate::log::bytes::take_u64;
use crate::log::frame::{SegmentHeader, SegmentStart};

/// The place of the last frame of an append call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameAddress {
    /// The position of its record.
    pub position: Position,
    /// The segment that holds it: its salt tells it from all others.
    pub segment: SegmentHeader,
    /// Units: bytes from the start of the file to the frame.
    pub offset: u64,
}

impl FrameAddress {
    /// The bytes without the position.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.offset.to_le_bytes().to_vec();
        bytes.extend(self.segment.encode());
        bytes
    }

    /// `None` if `bytes` are no address.
    pub fn decode(position: Position, mut bytes: &[u8]) -> Option<FrameAddress> {
        let offset = take_u64(&mut bytes);
        match SegmentHeader::decode(bytes) {
            SegmentStart::Whole(segment) => Some(FrameAddress { position, segment, offset }),
            SegmentStart::Newer(_) | SegmentStart::Bad(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::frame::FORMAT;
    use crate::log::identity::LogId;

    #[test]
    fn addresses_read_back_and_other_bytes_are_none() {
        let segment = SegmentHeader {
            format: FORMAT,
            salt: 7,
            first: Position(3),
            previous: Position(1),
            log_id: LogId([9; 16]),
            generation: 2,
        };
        let address = FrameAddress { position: Position(5), segment, offset: 64 };
        let bytes = address.encode();
        assert_eq!(FrameAddress::decode(Position(5), &bytes), Some(address));
        for length in 0..bytes.len() {
            assert_eq!(FrameAddress::decode(Position(5), &bytes[..length]), None);
        }
    }
}
