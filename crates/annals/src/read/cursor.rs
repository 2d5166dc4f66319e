//! The end of a page, as an opaque text.

use super::snapshot::Snapshot;
use crate::graph::Graph;
use crate::{Error, ErrorKind, Position, Result};

/// Every key ends with a slot. Units: bytes.
const KEY_BYTES_MIN: usize = 4;
/// The generation of the graph that the slots belong to, and the number of an order: four bytes each. Units: bytes.
const ORDER_BYTES: usize = 8;
/// The same, and the last position of the snapshot: eight bytes. Units: bytes.
const HEAD_BYTES: usize = ORDER_BYTES + 8;
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

/// Writes the number of an order, the position of the snapshot of a page, and the key of the last instance of the page, as
/// text.
#[expect(clippy::expect_used, reason = "hexadecimal digits are ASCII")]
pub(in crate::read) fn encode(snapshot: &Snapshot, order: u32, key: &[u8]) -> String {
    let mut digits = vec![0; 2 * (HEAD_BYTES + key.len())];
    let (of_order, rest) = digits.split_at_mut(2 * ORDER_BYTES);
    let (of_position, of_key) = rest.split_at_mut(2 * (HEAD_BYTES - ORDER_BYTES));
    write_hex(&head(snapshot.graph(), order), of_order);
    write_hex(&snapshot.committed_position().0.to_be_bytes(), of_position);
    write_hex(key, of_key);
    String::from_utf8(digits).expect("digits are ASCII")
}

/// The position of the snapshot that gave the page which ends with a cursor, as of an earlier time or not. A server that
/// is behind waits for it before the next page.
///
/// Shape: `None` for a text that is no cursor of the engine.
pub fn cursor_position(text: &str) -> Option<Position> {
    let bytes = bytes_of(text)?;
    let (_, rest) = bytes.split_at_checked(ORDER_BYTES)?;
    rest.first_chunk().map(|position| Position(u64::from_be_bytes(*position)))
}

/// Shape: `None` for another text than [`encode`] writes.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || text.len() < 2 * (HEAD_BYTES + KEY_BYTES_MIN) || text.len() > CURSOR_BYTES_MAX {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

fn write_hex(bytes: &[u8], digits: &mut [u8]) {
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = PAIRS[usize::from(*byte)];
    }
}

fn head(graph: &Graph, order: u32) -> [u8; ORDER_BYTES] {
    // Two pages are never 2^32 compactions apart.
    let [.., a, b, c, d] = graph.generation.to_be_bytes();
    let [e, f, g, h] = order.to_be_bytes();
    [a, b, c, d, e, f, g, h]
}

/// Reads the key from a cursor that [`encode`] made for the same order in a graph of the same generation.
///
/// Errors: `InvalidPage` if the text is malformed, of another search, or older than a compaction.
pub(in crate::read) fn decode(graph: &Graph, order: u32, text: &str) -> Result<Vec<u8>> {
    let bytes = bytes_of(text).ok_or_else(|| foreign(text))?;
    let expected = head(graph, order);
    let (head, key) = bytes.split_at(HEAD_BYTES);
    match head.split_at(ORDER_BYTES).0 {
        found if found == expected => Ok(key.to_vec()),
        found if found[4..] == expected[4..] => Err(Error::new(
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
