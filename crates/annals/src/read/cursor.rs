//! Where a page ended, as an opaque text.

use crate::{Error, ErrorKind, Result};

/// Every key ends with a slot. Units: bytes.
const KEY_BYTES_MIN: usize = 4;

/// Writes the number of a plan and the last key of a page as text.
pub(super) fn encode(plan: u8, key: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    let mut text = String::with_capacity(2 + 2 * key.len());
    for byte in std::iter::once(&plan).chain(key) {
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    text
}

/// Reads the key of a cursor that [`encode`] made for the same plan.
///
/// Errors: `InvalidPage` if the text is no cursor, or one of another query.
pub(super) fn decode(plan: u8, text: &str) -> Result<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || text.len() < 2 + 2 * KEY_BYTES_MIN || text.len() > 4096 {
        return Err(foreign(text));
    }
    let mut bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    match bytes.next() {
        Some(Ok(first)) if first == plan => {
            bytes.collect::<std::result::Result<_, _>>().map_err(|_| foreign(text))
        }
        _ => Err(foreign(text)),
    }
}

/// The error for a cursor of another query.
pub(super) fn foreign(text: &str) -> Error {
    Error::new(
        ErrorKind::InvalidPage,
        format!("cursor {text:?}: expected the one of this query's page before; start from the first page"),
    )
}
