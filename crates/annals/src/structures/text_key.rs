//! Keys of texts: a tag, the escaped bytes, and an end that marks the text as whole or cut.

pub(crate) const STRING: u8 = 0x30;

pub(crate) const IRI: u8 = 0x38;

/// A literal with a language, and one with a datatype: two texts.
pub(crate) const LANGUAGE: u8 = 0x3A;
pub(crate) const DATATYPE: u8 = 0x3C;

pub(crate) const BYTES: u8 = 0x40;

pub(crate) const END_WHOLE: [u8; 2] = [0, 0];

pub(crate) const END_CUT: [u8; 2] = [0, 2];

/// True if it is the index key of a string, an IRI or a text in a language.
pub(crate) fn is_text_key(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(STRING | IRI | LANGUAGE)))
}

/// True if an index key holds only the beginning of its text.
#[inline]
pub(crate) fn key_is_cut(key: &[u8]) -> bool {
    may_be_cut(key) && key.ends_with(&END_CUT)
}

/// True if keys with this beginning may hold only the beginning of their text.
#[inline]
pub(crate) fn may_be_cut(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(STRING | IRI | LANGUAGE | DATATYPE | BYTES)))
}

/// Writes the text of a key, without its tag and its language, to `text`. The key must hold the whole text.
pub(crate) fn decode_key_text(key: &[u8], text: &mut Vec<u8>) {
    text.clear();
    let mut body = key.get(1..key.len().saturating_sub(END_WHOLE.len())).unwrap_or_default();
    if key.first() == Some(&LANGUAGE) {
        body = first_text(body);
    }
    if !body.contains(&0) {
        text.extend_from_slice(body);
        return;
    }
    let mut bytes = body.iter();
    while let Some(&byte) = bytes.next() {
        text.push(byte);
        if byte == 0 {
            bytes.next();
        }
    }
}

/// The escaped bytes before the first end. A zero of a text is followed by FF, so that any other zero is an end.
fn first_text(escaped: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(zero) = escaped.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) {
        if escaped.get(at + zero + 1) != Some(&0xFF) {
            return &escaped[..at + zero];
        }
        at += zero + 2;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Literal, Value, append_index_key};

    #[test]
    fn the_text_of_a_key_has_no_tag_end_or_language() {
        for wanted in ["", "a", "\0", "a\0\0b", "\0é\0"] {
            let literal = Literal::in_language(wanted, "de-CH").unwrap();
            for value in [Value::from(wanted), Value::Iri(wanted.into()), literal.into()] {
                let (mut key, mut text) = (Vec::new(), Vec::new());
                append_index_key(&value, &mut key);
                assert!(is_text_key(&key));
                decode_key_text(&key, &mut text);
                assert_eq!(text, wanted.as_bytes(), "{value:?}");
            }
        }
    }
}
