//! One value in the bytes of a row.
//!
//! Shape: tag (1), then depending on the tag: nothing, 4 bytes, 8 bytes, the place of a spilled value (16), the number
//! of a large set (4), or a length and as many bytes.
#![expect(clippy::expect_used, reason = "the bytes of rows are its own, or were checked")]

use std::borrow::Cow;

use super::properties::any_text;
use crate::graph::structures::spill_file::SpillPlace;
use crate::model::{Instant, Value, ValueRef};
use crate::record::decode_value_from;
use crate::structures::number::{bytes_at, narrow};
use crate::{Error, ErrorKind, Result};

// Tags.
pub(super) const FALSE: u8 = 0;
pub(super) const TRUE: u8 = 1;
pub(super) const SMALL_INTEGER: u8 = 2;
pub(super) const INTEGER: u8 = 3;
pub(super) const FLOAT: u8 = 4;
pub(super) const TIMESTAMP: u8 = 5;
pub(super) const STRING: u8 = 6;
// In the encoding of records.
pub(super) const OTHER: u8 = 7;
// The same two in a spill file.
pub(super) const SPILLED_STRING: u8 = 8;
pub(super) const SPILLED_OTHER: u8 = 9;
// One of the sets beside the bytes of the row.
pub(super) const LARGE_SET: u8 = 10;

const LARGE_SET_BYTES: usize = 4;
/// Means that the length is in the next eight bytes. A shorter length is this byte itself.
const LONG: u8 = u8::MAX;
const LONG_BYTES: usize = 9;

const IN_MEMORY: &str = "the graph wrote these bytes itself, or checked them when it loaded them";

/// Gives the bytes of a spilled value.
pub(crate) type Reader<'r> = &'r mut dyn FnMut(SpillPlace) -> Result<Vec<u8>>;

#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(bytes, at))
}

#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}

/// Appends a length, or a count.
pub(super) fn append_length(length: usize, out: &mut Vec<u8>) {
    match u8::try_from(length) {
        Ok(short) if short != LONG => out.push(short),
        _ => {
            out.push(LONG);
            out.extend_from_slice(&(length as u64).to_le_bytes());
        }
    }
}

/// The length at the start of these bytes, and its own size in bytes.
#[inline]
pub(super) fn length_at(bytes: &[u8]) -> (usize, usize) {
    if bytes[0] == LONG { (narrow(u64_at(bytes, 1)), LONG_BYTES) } else { (bytes[0].into(), 1) }
}

/// The same for bytes from a file; `None` if they are cut off.
pub(super) fn checked_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let is_whole = *bytes.first()? != LONG || bytes.len() >= LONG_BYTES;
    is_whole.then(|| length_at(bytes))
}

/// A value of a row.
#[derive(Clone, Copy)]
pub(crate) struct Tagged<'g> {
    /// The bytes from its tag on, including later ones.
    pub(super) bytes: &'g [u8],
    /// The large sets of the row.
    pub(super) sets: &'g [Value],
}

/// Size of the value that begins here, including its tag. Units: bytes.
#[inline]
pub(super) fn value_bytes(tagged: &[u8]) -> usize {
    match tagged[0] {
        FALSE | TRUE => 1,
        SMALL_INTEGER | LARGE_SET => 1 + LARGE_SET_BYTES,
        INTEGER | FLOAT | TIMESTAMP => 9,
        SPILLED_STRING | SPILLED_OTHER => 1 + SpillPlace::BYTES,
        _ => {
            let (length, head) = length_at(&tagged[1..]);
            1 + head + length
        }
    }
}

impl<'g> Tagged<'g> {
    #[inline]
    pub(super) fn tag(self) -> u8 {
        self.bytes[0]
    }

    /// Its bytes without later ones.
    pub(super) fn own_bytes(self) -> &'g [u8] {
        &self.bytes[..value_bytes(self.bytes)]
    }

    /// The bytes of a string, or of another value in the encoding of records.
    #[inline]
    pub(super) fn content(self) -> &'g [u8] {
        let (length, head) = length_at(&self.bytes[1..]);
        &self.bytes[1 + head..1 + head + length]
    }

    /// Its place, if it is spilled.
    pub(super) fn place(self) -> Option<SpillPlace> {
        let is_spilled = matches!(self.tag(), SPILLED_STRING | SPILLED_OTHER);
        is_spilled.then(|| SpillPlace::from_bytes(&self.bytes[1..=SpillPlace::BYTES]))
    }

    /// The set, if it is a large one.
    pub(super) fn large_set(self) -> Option<&'g Value> {
        (self.tag() == LARGE_SET).then(|| &self.sets[u32_at(self.bytes, 1) as usize])
    }

    /// True if it takes at least this many bytes in the row.
    pub(super) fn is_longer(self, bytes: usize) -> bool {
        matches!(self.tag(), STRING | OTHER) && self.content().len() >= bytes
    }

    /// The text if it is a string, without a copy.
    #[inline]
    pub(super) fn text(self) -> Option<&'g str> {
        (self.tag() == STRING).then(|| std::str::from_utf8(self.content()).expect(IN_MEMORY))
    }

    /// True if `matches` holds for its text: it is a string or a literal with a language, or has one in a set.
    pub(super) fn any_text(self, matches: &mut dyn FnMut(&str) -> bool) -> bool {
        match self.tag() {
            STRING | OTHER | LARGE_SET => match self.value_ref() {
                ValueRef::String(text) => matches(text),
                ValueRef::Other(value) => any_text(&value, matches),
            },
            _ => false,
        }
    }

    #[inline]
    pub(super) fn value(self) -> Value {
        self.value_ref().into_value()
    }

    /// The value; it must not be spilled.
    #[inline]
    pub(super) fn value_ref(self) -> ValueRef<'g> {
        let bytes = self.bytes;
        ValueRef::Other(Cow::Owned(match bytes[0] {
            STRING => return ValueRef::String(std::str::from_utf8(self.content()).expect(IN_MEMORY)),
            FALSE => Value::Boolean(false),
            TRUE => Value::Boolean(true),
            SMALL_INTEGER => Value::Integer(u32_at(bytes, 1).cast_signed().into()),
            INTEGER => Value::Integer(u64_at(bytes, 1).cast_signed()),
            FLOAT => Value::Float(f64::from_bits(u64_at(bytes, 1))),
            TIMESTAMP => Value::Timestamp(Instant::from_checked_micros(u64_at(bytes, 1).cast_signed())),
            LARGE_SET => return ValueRef::Other(Cow::Borrowed(&self.sets[u32_at(bytes, 1) as usize])),
            SPILLED_STRING | SPILLED_OTHER => {
                unreachable!("a row with spilled values is read through its table")
            }
            _ => decode_value_from(self.content()).expect(IN_MEMORY).0,
        }))
    }

    /// The value, even a spilled one.
    pub(super) fn read(self, read: Reader) -> Result<Value> {
        let Some(place) = self.place() else { return Ok(self.value()) };
        let content = read(place)?;
        let found = match self.tag() {
            SPILLED_STRING => std::str::from_utf8(&content).ok().map(|text| Value::String(text.into())),
            _ => decode_whole(&content),
        };
        found.ok_or_else(|| {
            Error::new(ErrorKind::Corrupted, "a spilled value does not decode; reopen the repository")
        })
    }
}

/// The value in these bytes, if they are exactly one value.
pub(super) fn decode_whole(content: &[u8]) -> Option<Value> {
    decode_value_from(content).filter(|(_, end)| *end == content.len()).map(|(value, _)| value)
}

/// Reads a value from bytes of a file: its size, and whether it is spilled. `None` if it is malformed.
pub(super) fn checked_value(tagged: &[u8], sets_count: usize) -> Option<(usize, bool)> {
    let tag = *tagged.first()?;
    let (length, head) = match tag {
        FALSE | TRUE => (0, 0),
        SMALL_INTEGER | LARGE_SET => (LARGE_SET_BYTES, 0),
        INTEGER | FLOAT | TIMESTAMP => (8, 0),
        SPILLED_STRING | SPILLED_OTHER => (SpillPlace::BYTES, 0),
        STRING | OTHER => checked_length(&tagged[1..])?,
        _ => return None,
    };
    let content = tagged[1 + head..].get(..length)?;
    let is_sound = match tag {
        STRING => std::str::from_utf8(content).is_ok(),
        OTHER => decode_whole(content).is_some(),
        TIMESTAMP => Instant::from_micros(u64_at(content, 0).cast_signed()).is_ok(),
        LARGE_SET => (u32_at(content, 0) as usize) < sets_count,
        _ => true,
    };
    is_sound.then_some((1 + head + length, matches!(tag, SPILLED_STRING | SPILLED_OTHER)))
}
