//! The value of a register that tells who writes, as bytes.

use minicbor::{Decoder, Encoder};

use crate::log::{Term, Token};
use crate::model::Instant;
use crate::upkeep::{FORMAT, end, open, read_instant, read_token};
use crate::{Position, Result};

/// Units: bytes of an address.
pub(super) const ADDRESS_BYTES_MAX: usize = 1024;

/// A sign of life of the writer; each one differs from all before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WriterLease {
    /// How many signs its writer has given.
    pub(super) count: u64,
    pub(super) term: Term,
    pub(super) writer: Token,
    /// False once the writer has given it back.
    pub(super) is_held: bool,
    /// Where the writer answers; empty if it does not tell.
    pub(super) address: String,
    /// The last record that it has written.
    pub(super) position: Position,
    /// With the records up to that position, no later one gets an instant before this.
    pub(super) settled: Instant,
    /// It tells no settled instant beyond this.
    pub(super) end: Instant,
}

impl WriterLease {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new(Vec::new());
        // Writing to memory cannot fail.
        let _ = out.array(9).and_then(|out| {
            out.u8(FORMAT)?.u64(self.term.0)?.bytes(&self.writer.0.to_le_bytes())?.u64(self.count)?;
            out.bool(self.is_held)?.str(&self.address)?.u64(self.position.0)?;
            out.i64(self.settled.micros())?.i64(self.end.micros())
        });
        out.into_writer()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<WriterLease> {
        let (mut input, _) = open(bytes)?;
        let read = |input: &mut Decoder<'_>| {
            let (term, writer, count) = (Term(input.u64()?), read_token(input)?, input.u64()?);
            let (is_held, address) = (input.bool()?, input.str()?.to_owned());
            let position = Position(input.u64()?);
            let (settled, end) = (read_instant(input)?, read_instant(input)?);
            Ok(WriterLease { count, term, writer, is_held, address, position, settled, end })
        };
        end(read(&mut input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn values_read_back_and_others_are_refused() {
        let lease = WriterLease {
            count: 7,
            term: Term(3),
            writer: Token(1),
            is_held: true,
            address: "https://a.example".to_owned(),
            position: Position(9),
            settled: Instant::from_micros(5).unwrap(),
            end: Instant::from_micros(6).unwrap(),
        };
        let bytes = lease.encode();
        assert_eq!(WriterLease::decode(&bytes).unwrap(), lease);
        for length in 0..bytes.len() {
            assert_eq!(WriterLease::decode(&bytes[..length]).unwrap_err().kind(), ErrorKind::Corrupted);
        }
        let mut newer = bytes;
        newer[1] = 2;
        assert_eq!(WriterLease::decode(&newer).unwrap_err().kind(), ErrorKind::NewerFormat);
    }
}
