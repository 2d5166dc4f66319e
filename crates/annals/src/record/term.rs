//! The record with which a writer begins its term.

use minicbor::{Decoder, Encoder};

use super::record_key;
use crate::log::{Term, Token};
use crate::model::Instant;

/// The author of such a record.
const AUTHOR: &str = "annals";
/// Units: bytes; longer records begin no term.
const TERM_RECORD_BYTES_MAX: usize = 4 * 1024;

/// A record without changes that begins the term of a writer.
pub(crate) fn encode_term(instant: Instant, term: Term, writer: Token, reason: &str) -> Vec<u8> {
    let mut out = Encoder::new(Vec::new());
    // Writing to memory cannot fail.
    let _ = out
        .map(6)
        .and_then(|out| out.u32(record_key::TERM)?.array(2)?.u64(term.0)?.bytes(&writer.0.to_le_bytes()))
        .and_then(|out| out.u32(record_key::INSTANT)?.i64(instant.micros()))
        .and_then(|out| out.u32(record_key::AUTHOR)?.str(AUTHOR)?.u32(record_key::MESSAGE)?.str(reason))
        .and_then(|out| out.u32(record_key::NAMES)?.array(0)?.u32(record_key::CHANGES)?.array(0));
    out.into_writer()
}

/// The term that a record begins; `None` for all other records.
pub(crate) fn term_of(record: &[u8]) -> Option<Term> {
    // Key 6 comes first, right after the number of keys.
    let first = record.get(1).copied().map(u32::from);
    if first != Some(record_key::TERM) || record.len() > TERM_RECORD_BYTES_MAX {
        return None;
    }
    let mut input = Decoder::new(record);
    input.map().ok()??;
    input.u32().ok()?;
    input.array().ok()??;
    input.u64().ok().map(Term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;
    use crate::record::{decode_record, encode_record};

    #[test]
    fn a_record_of_a_term_is_a_record_without_changes() {
        let instant = Instant::from_micros(7).unwrap();
        let bytes = encode_term(instant, Term(5), Token(9), "the writer was gone");
        assert_eq!(term_of(&bytes), Some(Term(5)));
        let record = decode_record(Position(3), &bytes).unwrap();
        assert_eq!(
            (record.instant, &*record.author, &*record.message),
            (instant, AUTHOR, "the writer was gone")
        );
        assert!(record.changes.is_empty());
        assert_eq!(term_of(&encode_record(&record)), None);
        assert_eq!(term_of(&[]), None);
        for length in 0..bytes.len() {
            // Never a panic.
            let _ = term_of(&bytes[..length]);
        }
    }
}
