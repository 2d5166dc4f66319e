//! The two values of a register, as bytes.

use minicbor::{Decoder, Encoder};

use crate::log::{Term, Token};
use crate::model::Instant;
use crate::{Error, ErrorKind, Position, Result};

const FORMAT: u8 = 1;
/// Units: bytes of an address.
pub(super) const ADDRESS_BYTES_MAX: usize = 1024;

/// The term in force. Only its writer compacts and removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Upkeep {
    pub(super) term: Term,
    pub(super) writer: Token,
}

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

impl Upkeep {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new(Vec::new());
        // Writing to memory cannot fail.
        let _ = out
            .array(3)
            .and_then(|out| out.u8(FORMAT)?.u64(self.term.0)?.bytes(&self.writer.0.to_le_bytes()));
        out.into_writer()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Upkeep> {
        let mut input = open(bytes)?;
        let read = |input: &mut Decoder<'_>| -> std::result::Result<Upkeep, minicbor::decode::Error> {
            Ok(Upkeep { term: Term(input.u64()?), writer: token(input)? })
        };
        read(&mut input).map_err(|error| malformed().caused_by(error))
    }
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
        let mut input = open(bytes)?;
        let read = |input: &mut Decoder<'_>| -> std::result::Result<WriterLease, minicbor::decode::Error> {
            let (term, writer, count) = (Term(input.u64()?), token(input)?, input.u64()?);
            let (is_held, address) = (input.bool()?, input.str()?.to_owned());
            let position = Position(input.u64()?);
            let (settled, end) = (instant(input)?, instant(input)?);
            Ok(WriterLease { count, term, writer, is_held, address, position, settled, end })
        };
        read(&mut input).map_err(|error| malformed().caused_by(error))
    }
}

/// Reads the length and the format.
fn open(bytes: &[u8]) -> Result<Decoder<'_>> {
    let mut input = Decoder::new(bytes);
    let format = input.array().and_then(|_| input.u8()).map_err(|error| malformed().caused_by(error))?;
    if format == FORMAT {
        return Ok(input);
    }
    let text = format!("register: expected format {FORMAT}, found {format}; use a newer version of Annals");
    Err(Error::new(ErrorKind::NewerFormat, text))
}

fn token(input: &mut Decoder<'_>) -> std::result::Result<Token, minicbor::decode::Error> {
    let bytes = <[u8; 16]>::try_from(input.bytes()?)
        .map_err(|_| minicbor::decode::Error::message("a writer has 16 bytes"))?;
    Ok(Token(u128::from_le_bytes(bytes)))
}

fn instant(input: &mut Decoder<'_>) -> std::result::Result<Instant, minicbor::decode::Error> {
    Instant::from_micros(input.i64()?)
        .map_err(|_| minicbor::decode::Error::message("an instant is out of its range"))
}

fn malformed() -> Error {
    let text =
        "register: expected a value that Annals wrote, found another one; look which program writes it";
    Error::new(ErrorKind::Corrupted, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_and_others_are_refused() {
        let upkeep = Upkeep { term: Term(3), writer: Token(u128::MAX) };
        assert_eq!(Upkeep::decode(&upkeep.encode()).unwrap(), upkeep);
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
