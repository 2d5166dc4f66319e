//! The end of a page, as an opaque text.

use crate::graph::Graph;
use crate::{Error, ErrorKind, Result};

/// Every key ends with a slot. Units: bytes.
const KEY_BYTES_MIN: usize = 4;
/// The generation of the graph that the slots belong to, and the number of an order: four bytes each. Units: bytes.
const HEAD_BYTES: usize = 8;
/// Longest cursor. Units: bytes.
const CURSOR_BYTES_MAX: usize = 8_192;

/// The digits of each byte.
const PAIRS: [[u8; 2]; 256] = {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Writes the number of an order, and the key of the last instance of a page of `graph`, as text.
#[expect(clippy::expect_used, reason = "hexadecimal digits are ASCII")]
pub(in crate::read) fn encode(graph: &Graph, order: u32, key: &[u8]) -> String {
    let mut digits = vec![0; 2 * (HEAD_BYTES + key.len())];
    let (of_head, of_key) = digits.split_at_mut(2 * HEAD_BYTES);
    write_hex(&head(graph, order), of_head);
    write_hex(key, of_key);
    String::from_utf8(digits).expect("digits are ASCII")
}

fn write_hex(bytes: &[u8], digits: &mut [u8]) {
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = PAIRS[usize::from(*byte)];
    }
}

fn head(graph: &Graph, order: u32) -> [u8; HEAD_BYTES] {
    // Two pages are never 2^32 compactions apart.
    let [.., a, b, c, d] = graph.generation.to_be_bytes();
    let [e, f, g, h] = order.to_be_bytes();
    [a, b, c, d, e, f, g, h]
}

/// Reads the key from a cursor that [`encode`] made for the same order in a graph of the same generation.
///
/// Errors: `InvalidPage` if the text is malformed, of another search, or older than a compaction.
pub(in crate::read) fn decode(graph: &Graph, order: u32, text: &str) -> Result<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || text.len() < 2 * (HEAD_BYTES + KEY_BYTES_MIN) || text.len() > CURSOR_BYTES_MAX {
        return Err(foreign(text));
    }
    let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    let bytes: Vec<u8> = bytes.collect::<std::result::Result<_, _>>().map_err(|_| foreign(text))?;
    let expected = head(graph, order);
    match bytes.split_at(HEAD_BYTES) {
        (found, key) if found == expected => Ok(key.to_vec()),
        (found, _) if found[4..] == expected[4..] => Err(Error::new(
            ErrorKind::InvalidPage,
            format!("cursor {text:?}: the repository was compacted since; start from the first page"),
        )),
        _ => Err(foreign(text)),
    }
}

/// The error for a cursor of another search or query.
pub(super) fn foreign(text: &str) -> Error {
    Error::new(
        ErrorKind::InvalidPage,
        format!("cursor {text:?}: expected the one of this query's page before; start from the first page"),
    )
}
