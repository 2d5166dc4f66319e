//! The parts that values of a register have in common, as bytes.

use minicbor::Decoder;
use minicbor::decode::Error as Malformed;

use crate::log::Token;
use crate::model::Instant;
use crate::{Error, ErrorKind, Result};

/// The first element of each value.
pub(crate) const FORMAT: u8 = 1;

/// Reads the number of elements and the format, which is one of them.
///
/// Errors: `Corrupted`; `NewerFormat`.
pub(crate) fn open(bytes: &[u8]) -> Result<(Decoder<'_>, u64)> {
    let mut input = Decoder::new(bytes);
    let begun = input.array().and_then(|count| Ok((count.unwrap_or(0), input.u8()?)));
    let (count, format) = end(begun)?;
    if format == FORMAT {
        return Ok((input, count));
    }
    let text = format!("register: expected format {FORMAT}, found {format}; use a newer version of Annals");
    Err(Error::new(ErrorKind::NewerFormat, text))
}

/// Errors: `Corrupted` for a value that could not be read.
pub(crate) fn end<T>(read: std::result::Result<T, Malformed>) -> Result<T> {
    read.map_err(|error| {
        let text =
            "register: expected a value that Annals wrote, found another one; look which program writes it";
        Error::new(ErrorKind::Corrupted, text).caused_by(error)
    })
}

pub(crate) fn read_token(input: &mut Decoder<'_>) -> std::result::Result<Token, Malformed> {
    let bytes =
        <[u8; 16]>::try_from(input.bytes()?).map_err(|_| Malformed::message("a writer has 16 bytes"))?;
    Ok(Token(u128::from_le_bytes(bytes)))
}

pub(crate) fn read_instant(input: &mut Decoder<'_>) -> std::result::Result<Instant, Malformed> {
    Instant::from_micros(input.i64()?).map_err(|_| Malformed::message("an instant is out of its range"))
}
