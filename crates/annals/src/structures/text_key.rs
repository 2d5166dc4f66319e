//! Keys of texts: a tag, the escaped bytes, and an end that marks the text as whole or cut.

pub(crate) const STRING: u8 = 0x30;

pub(crate) const IRI: u8 = 0x38;

/// A literal with a language, and one with a datatype: two texts.
pub(crate) const LANGUAGE: u8 = 0x3A;
pub(crate) const DATATYPE: u8 = 0x3C;

pub(crate) const BYTES: u8 = 0x40;

pub(crate) const END_WHOLE: [u8; 2] = [0, 0];

pub(crate) const END_CUT: [u8; 2] = [0, 2];

/// True if it is the index key of a string or an IRI.
pub(crate) fn is_text_key(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(STRING | IRI)))
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

/// Writes the text of a key, without its tag, to `text`. The key must hold the whole text.
pub(crate) fn decode_key_text(key: &[u8], text: &mut Vec<u8>) {
    text.clear();
    let body = key.get(1..key.len().saturating_sub(END_WHOLE.len())).unwrap_or_default();
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
