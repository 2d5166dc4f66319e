//! One classification of a row, read in place.
//!
//! Shape: name (4), version (4), two stamps of author (4) and microseconds (8); if the highest bit of the version is
//! set, header (4). Then the list of its properties.

use super::headers::{HeaderNumber, PLAIN};
use super::row_list::List;
use super::row_value::{Reader, u32_at, u64_at};
use super::unpacked::{Classification, RowStamp};
use crate::Result;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, ValueRef};

/// In the version: a header follows.
const HAS_HEADER: u32 = 1 << 31;
const VERSION: usize = 4;
const CREATED: usize = 8;
const UPDATED: usize = 20;
/// Without a header. Units: bytes.
pub(super) const HEAD_BYTES: usize = 32;
const HEADER_BYTES: usize = 4;

/// A classification of an entity. It is decoded only as far as needed.
#[derive(Clone, Copy)]
pub(crate) struct Classified<'g> {
    bytes: &'g [u8],
    sets: &'g [Value],
}

impl<'g> Classified<'g> {
    /// The classification at the start of these bytes.
    pub(super) fn new(bytes: &'g [u8], sets: &'g [Value]) -> Classified<'g> {
        Classified { bytes, sets }
    }

    #[inline]
    pub(crate) fn name(self) -> Symbol {
        Symbol(u32_at(self.bytes, 0))
    }

    pub(crate) fn version(self) -> u32 {
        u32_at(self.bytes, VERSION) & !HAS_HEADER
    }

    fn has_header(self) -> bool {
        u32_at(self.bytes, VERSION) & HAS_HEADER != 0
    }

    pub(crate) fn header(self) -> HeaderNumber {
        if self.has_header() { HeaderNumber(u32_at(self.bytes, HEAD_BYTES)) } else { PLAIN }
    }

    fn stamp(self, at: usize) -> RowStamp {
        RowStamp { author: Symbol(u32_at(self.bytes, at)), micros: u64_at(self.bytes, at + 4).cast_signed() }
    }

    pub(crate) fn created(self) -> RowStamp {
        self.stamp(CREATED)
    }

    pub(crate) fn updated(self) -> RowStamp {
        self.stamp(UPDATED)
    }

    /// Length of its head. It needs only the bytes of a head without header.
    pub(super) fn head_bytes(self) -> usize {
        HEAD_BYTES + if self.has_header() { HEADER_BYTES } else { 0 }
    }

    /// The bytes before its properties.
    pub(super) fn head(self) -> &'g [u8] {
        &self.bytes[..self.head_bytes()]
    }

    pub(super) fn properties(self) -> List<'g> {
        List::new(&self.bytes[self.head_bytes()..], self.sets)
    }

    pub(crate) fn property(self, name: Symbol) -> Option<Value> {
        self.properties().find(name)
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    pub(crate) fn text(self, name: Symbol) -> Option<&'g str> {
        self.properties().text(name)
    }

    /// True if `matches` holds for a text of a property: a string, or a string in a set.
    pub(crate) fn any_text(self, matches: &mut dyn FnMut(&str) -> bool) -> bool {
        self.properties().any_text(matches)
    }

    /// The properties one by one, with their names.
    pub(crate) fn each_property(self) -> impl Iterator<Item = (Symbol, ValueRef<'g>)> {
        self.properties().each_value()
    }

    /// The whole classification, decoded. `read` reads spilled values.
    pub(super) fn read(self, read: Reader) -> Result<Classification> {
        Ok(Classification {
            name: self.name(),
            version: self.version(),
            header: self.header(),
            created: self.created(),
            updated: self.updated(),
            properties: self.properties().read(read)?,
        })
    }
}

/// Appends the head of a classification.
pub(super) fn append_head(known: &Classification, out: &mut Vec<u8>) {
    let flag = if known.header == PLAIN { 0 } else { HAS_HEADER };
    out.extend_from_slice(&known.name.0.to_le_bytes());
    out.extend_from_slice(&(known.version | flag).to_le_bytes());
    for stamp in [known.created, known.updated] {
        out.extend_from_slice(&stamp.author.0.to_le_bytes());
        out.extend_from_slice(&stamp.micros.to_le_bytes());
    }
    if known.header != PLAIN {
        out.extend_from_slice(&known.header.0.to_le_bytes());
    }
}
