//! Properties in the bytes of a row.
//!
//! Shape: for each property, ordered by symbol: symbol (4), tag (1), value. A spilled value is the place where it is.

use super::properties::any_text;
use std::borrow::Cow;
use std::sync::Arc;

use super::properties::Properties;
use super::row_format::PACKED_BYTES_MAX;
use crate::graph::structures::spill_file::SpillPlace;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Instant, Value, ValueRef};
use crate::record::{decode_value_from, encode_value_into};
use crate::{Error, ErrorKind, Result};

// What the value is, and how long: nothing, four bytes, eight bytes, or a length of two bytes and as many bytes.
const FALSE: u8 = 0;
const TRUE: u8 = 1;
const SMALL_INTEGER: u8 = 2;
const INTEGER: u8 = 3;
const FLOAT: u8 = 4;
const TIMESTAMP: u8 = 5;
const STRING: u8 = 6;
// As the record encodes it.
const OTHER: u8 = 7;
// The same two in a spill file, and here their place of sixteen bytes.
const SPILLED_STRING: u8 = 8;
const SPILLED_OTHER: u8 = 9;

const HEAD_BYTES: usize = 5;
const IN_MEMORY: &str = "the graph wrote these bytes itself, or checked them when it loaded them";

/// Gives the bytes of a spilled value.
pub(crate) type Reader<'r> = &'r mut dyn FnMut(SpillPlace) -> Result<Vec<u8>>;

/// How properties are packed, and what was left out of them to be spilled.
pub(crate) struct Packing {
    bytes_max: usize,
    value_bytes_min: usize,
    /// Where the place of each left out value belongs, counted from the start of the bytes appended to.
    pub(crate) left_out: Vec<(usize, Content)>,
}

/// The bytes of a long value.
pub(crate) enum Content {
    Text(Arc<str>),
    Encoded(Vec<u8>),
}

impl Content {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Content::Text(text) => text.as_bytes(),
            Content::Encoded(bytes) => bytes,
        }
    }
}

impl Packing {
    /// Leaves out values of at least `value_bytes_min`, which `usize::MAX` is for none.
    pub(crate) fn new(value_bytes_min: usize) -> Packing {
        Packing { bytes_max: PACKED_BYTES_MAX, value_bytes_min, left_out: Vec::new() }
    }

    fn leave_out(&mut self, tag: u8, content: Content, out: &mut Vec<u8>) {
        out.push(tag);
        self.left_out.push((out.len(), content));
        out.extend_from_slice(&[0; SpillPlace::BYTES]);
    }
}

#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Properties that are still to be read, with what follows them.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'g> {
    bytes: &'g [u8],
    count: u8,
}

impl<'g> Bytes<'g> {
    #[inline]
    pub(crate) fn new(bytes: &'g [u8], count: u8) -> Bytes<'g> {
        Bytes { bytes, count }
    }

    #[inline]
    pub(crate) fn find(self, name: Symbol) -> Option<Value> {
        let mut rest = self.bytes;
        for _ in 0..self.count {
            let found = u32_at(rest, 0);
            if found >= name.0 {
                return (found == name.0).then(|| value(&rest[HEAD_BYTES - 1..]));
            }
            rest = &rest[HEAD_BYTES + value_bytes(&rest[HEAD_BYTES - 1..])..];
        }
        None
    }
}

impl<'g> Bytes<'g> {
    // Each property as its symbol and its tagged value.
    fn tagged(mut self) -> impl Iterator<Item = (Symbol, &'g [u8])> {
        std::iter::from_fn(move || {
            self.count = self.count.checked_sub(1)?;
            let (name, tagged) = (Symbol(u32_at(self.bytes, 0)), &self.bytes[HEAD_BYTES - 1..]);
            self.bytes = &self.bytes[HEAD_BYTES + value_bytes(tagged)..];
            Some((name, tagged))
        })
    }

    pub(crate) fn names(self) -> impl Iterator<Item = Symbol> {
        self.tagged().map(|(name, _)| name)
    }

    /// Where its spilled values are, and how many bytes before the end of the row each place stands.
    pub(crate) fn places(self) -> impl Iterator<Item = (usize, SpillPlace)> {
        self.tagged()
            .filter(|(_, tagged)| is_spilled(tagged))
            .map(|(_, tagged)| (tagged.len() - 1, place(tagged)))
    }

    /// The value of one property, also a spilled one.
    pub(crate) fn read_one(self, name: Symbol, read: Reader) -> Result<Option<Value>> {
        let found = self.tagged().find(|(found, _)| *found == name);
        found.map(|(_, tagged)| read_value(tagged, read)).transpose()
    }

    /// All properties, also spilled ones.
    pub(crate) fn read(self, read: Reader) -> Result<Properties> {
        let entries: Result<Vec<(Symbol, Value)>> =
            self.tagged().map(|(name, tagged)| Ok((name, read_value(tagged, &mut *read)?))).collect();
        entries.map(Properties::from_sorted)
    }

    /// True if a value takes at least so many bytes in the row.
    pub(crate) fn has_longer(self, bytes: usize) -> bool {
        self.tagged().any(|(_, tagged)| matches!(tagged[0], STRING | OTHER) && length(tagged) >= bytes)
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    #[inline]
    pub(crate) fn text(self, name: Symbol) -> Option<&'g str> {
        let (_, tagged) =
            self.tagged().find(|(found, _)| *found >= name).filter(|(found, _)| *found == name)?;
        (tagged[0] == STRING).then(|| std::str::from_utf8(content(tagged)).expect(IN_MEMORY))
    }

    /// True if `admits` holds for a text of a property: a string, or a string in a set.
    pub(crate) fn any_text(self, admits: &mut dyn FnMut(&str) -> bool) -> bool {
        self.tagged().any(|(_, tagged)| match tagged[0] {
            STRING => admits(std::str::from_utf8(content(tagged)).expect(IN_MEMORY)),
            OTHER => any_text(&value(tagged), admits),
            _ => false,
        })
    }

    /// The properties whose values are in no need of memory of their own.
    pub(crate) fn short(self) -> impl Iterator<Item = (Symbol, Value)> {
        self.tagged().filter(|(_, tagged)| tagged[0] < STRING).map(|(name, tagged)| (name, value(tagged)))
    }
}

impl<'g> Iterator for Bytes<'g> {
    type Item = (Symbol, ValueRef<'g>);

    #[inline]
    fn next(&mut self) -> Option<(Symbol, ValueRef<'g>)> {
        self.count = self.count.checked_sub(1)?;
        let name = Symbol(u32_at(self.bytes, 0));
        let (tagged, rest) =
            self.bytes[HEAD_BYTES - 1..].split_at(1 + value_bytes(&self.bytes[HEAD_BYTES - 1..]));
        self.bytes = rest;
        Some((name, value_ref(tagged)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count.into(), Some(self.count.into()))
    }
}

/// What follows the properties.
pub(crate) fn skip_properties(properties: Bytes<'_>) -> &[u8] {
    (0..properties.count)
        .fold(properties.bytes, |rest, _| &rest[HEAD_BYTES + value_bytes(&rest[HEAD_BYTES - 1..])..])
}

// The bytes after the tag that belong to the value.
#[inline]
fn value_bytes(tagged: &[u8]) -> usize {
    match tagged[0] {
        FALSE | TRUE => 0,
        SMALL_INTEGER => 4,
        INTEGER | FLOAT | TIMESTAMP => 8,
        SPILLED_STRING | SPILLED_OTHER => SpillPlace::BYTES,
        _ => 2 + length(tagged),
    }
}

fn is_spilled(tagged: &[u8]) -> bool {
    matches!(tagged[0], SPILLED_STRING | SPILLED_OTHER)
}

fn place(tagged: &[u8]) -> SpillPlace {
    SpillPlace::from_bytes(&tagged[1..=SpillPlace::BYTES])
}

fn read_value(tagged: &[u8], read: Reader) -> Result<Value> {
    if !is_spilled(tagged) {
        return Ok(value(tagged));
    }
    let content = read(place(tagged))?;
    let found = match tagged[0] {
        SPILLED_STRING => std::str::from_utf8(&content).ok().map(|text| Value::String(text.into())),
        _ => decode_value_from(&content).filter(|(_, end)| *end == content.len()).map(|(value, _)| value),
    };
    found.ok_or_else(|| {
        Error::new(ErrorKind::Corrupted, "a spilled value does not decode; reopen the repository")
    })
}

#[inline]
fn length(tagged: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([tagged[1], tagged[2]]))
}

#[inline]
fn value(tagged: &[u8]) -> Value {
    value_ref(tagged).into_value()
}

#[inline]
fn value_ref(tagged: &[u8]) -> ValueRef<'_> {
    ValueRef::Other(Cow::Owned(match tagged[0] {
        STRING => return ValueRef::String(std::str::from_utf8(content(tagged)).expect(IN_MEMORY)),
        FALSE => Value::Boolean(false),
        TRUE => Value::Boolean(true),
        SMALL_INTEGER => Value::Integer(u32_at(tagged, 1).cast_signed().into()),
        INTEGER => Value::Integer(u64_at(tagged, 1).cast_signed()),
        FLOAT => Value::Float(f64::from_bits(u64_at(tagged, 1))),
        TIMESTAMP => Value::Timestamp(Instant::from_checked_micros(u64_at(tagged, 1).cast_signed())),
        SPILLED_STRING | SPILLED_OTHER => unreachable!("a row with spilled values is read through its table"),
        _ => decode_value_from(content(tagged)).expect(IN_MEMORY).0,
    }))
}

fn content(tagged: &[u8]) -> &[u8] {
    &tagged[3..3 + length(tagged)]
}

/// Appends properties; false if one of them is too long for a row or changes in parts, like a large set.
pub(crate) fn append_properties(properties: &Properties, packing: &mut Packing, out: &mut Vec<u8>) -> bool {
    properties.iter().all(|(name, value)| {
        out.extend_from_slice(&name.0.to_le_bytes());
        append_value(value, packing, out)
    })
}

fn append_value(value: &Value, packing: &mut Packing, out: &mut Vec<u8>) -> bool {
    let word = |tag: u8, word: u64, out: &mut Vec<u8>| {
        out.push(tag);
        out.extend_from_slice(&word.to_le_bytes());
    };
    // What will be spilled may be of any length.
    let bytes_max = if packing.value_bytes_min == usize::MAX { packing.bytes_max } else { usize::MAX };
    match value {
        Value::Boolean(boolean) => out.push(if *boolean { TRUE } else { FALSE }),
        Value::Integer(number) => match i32::try_from(*number) {
            Ok(small) => {
                out.push(SMALL_INTEGER);
                out.extend_from_slice(&small.to_le_bytes());
            }
            Err(_) => word(INTEGER, number.cast_unsigned(), out),
        },
        Value::Float(number) => word(FLOAT, number.to_bits(), out),
        Value::Timestamp(instant) => word(TIMESTAMP, instant.micros().cast_unsigned(), out),
        Value::String(text) if text.len() >= packing.value_bytes_min => {
            packing.leave_out(SPILLED_STRING, Content::Text(Arc::clone(text)), out);
        }
        Value::String(text) if text.len() <= packing.bytes_max => {
            out.push(STRING);
            append_content(text.as_bytes(), out);
        }
        value if is_small(value, &mut { bytes_max }) => {
            let mut content = Vec::new();
            encode_value_into(value, &mut content);
            if content.len() >= packing.value_bytes_min {
                packing.leave_out(SPILLED_OTHER, Content::Encoded(content), out);
                return true;
            }
            if content.len() > packing.bytes_max {
                return false;
            }
            out.push(OTHER);
            append_content(&content, out);
        }
        _ => return false,
    }
    true
}

fn append_content(content: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(content.len()).expect("at most the longest packed form");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(content);
}

// False once the parts of a value use up `left`; looks at no more of them.
fn is_small(value: &Value, left: &mut usize) -> bool {
    let bytes = match value {
        Value::String(text) | Value::Iri(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    let Some(rest) = left.checked_sub(bytes + 1) else { return false };
    *left = rest;
    match value {
        Value::List(values) => values.iter().all(|value| is_small(value, left)),
        Value::Map(values) => values.iter().all(|(name, value)| {
            *left = left.saturating_sub(name.len());
            is_small(value, left)
        }),
        Value::Set(values) => values.is_few() && values.iter().all(|value| is_small(&value, left)),
        _ => true,
    }
}

/// Reads properties of bytes that somebody else wrote. `None` if they are no properties in order, otherwise what
/// follows them. `names` is how many symbols there are; `is_spilled` becomes true if a value is not in the bytes.
pub(crate) fn checked<'b>(
    bytes: &'b [u8],
    count: u8,
    names: usize,
    is_spilled: &mut bool,
) -> Option<&'b [u8]> {
    let mut rest = bytes;
    let mut before = None;
    for _ in 0..count {
        let name = u32::from_le_bytes(*rest.first_chunk()?);
        if name as usize >= names || before.is_some_and(|before| before >= name) {
            return None;
        }
        before = Some(name);
        let tagged = &rest[HEAD_BYTES - 1..];
        let length = match *tagged.first()? {
            FALSE | TRUE => 0,
            SMALL_INTEGER => 4,
            INTEGER | FLOAT | TIMESTAMP => 8,
            STRING | OTHER => 2 + usize::from(u16::from_le_bytes(*tagged.get(1..)?.first_chunk()?)),
            SPILLED_STRING | SPILLED_OTHER => {
                *is_spilled = true;
                SpillPlace::BYTES
            }
            _ => return None,
        };
        let content = tagged.get(1..1 + length)?;
        let is_sound = match tagged[0] {
            STRING => std::str::from_utf8(&content[2..]).is_ok(),
            OTHER => decode_value_from(&content[2..]).is_some(),
            TIMESTAMP => Instant::from_micros(u64_at(tagged, 1).cast_signed()).is_ok(),
            _ => true,
        };
        if !is_sound {
            return None;
        }
        rest = &tagged[1 + length..];
    }
    Some(rest)
}
