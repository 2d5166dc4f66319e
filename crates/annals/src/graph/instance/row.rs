//! One instance in the graph: a row of bytes, of any length.
//!
//! Shape: flags (1), type (4), position (8), change (4), author (4), microseconds (8). Depending on the flags: ends
//! (8), header (4), and further fields (56), which an untouched first version does not have. Then the list of
//! properties, and depending on the flags the number of classifications (a length), each as a head and a list.

use std::sync::Arc;

use super::classified::Classified;
use super::deletions::Deletion;
use super::headers::{HeaderNumber, PLAIN};
use super::past::{ChangePlace, Past, PastVersion};
use super::properties::Properties;
use super::row_list::List;
use super::row_value::{Reader, length_at, u32_at, u64_at};
use super::unpacked::{Classification, Instance, NO_ENDS, RowStamp};
use crate::Result;
use crate::graph::structures::spill_file::SpillPlace;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Status, Value, ValueRef};

/// Marks a row that needs only its bytes.
pub(crate) const NO_EXTRA: u32 = u32::MAX;

/// Longest row in a page, which is copied as a whole. A longer row, or one with large sets, has its own memory. Units:
/// bytes.
pub(crate) const SHORT_BYTES_MAX: usize = 1_024;

// Flags.
pub(super) const DELETED: u8 = 1;
pub(super) const HAS_ENDS: u8 = 2;
pub(super) const IS_LATER: u8 = 4;
pub(super) const IS_CLASSIFIED: u8 = 8;
const IS_STUB: u8 = 16;
pub(super) const HAS_SPILLED: u8 = 32;
pub(super) const HAS_HEADER: u8 = 64;
/// The flags of a row that is not a stub.
pub(super) const ALL_FLAGS: u8 = DELETED | HAS_ENDS | IS_LATER | IS_CLASSIFIED | HAS_SPILLED | HAS_HEADER;

/// Length of a stub, which replaces a row with its own memory in a page: flags, and the number of its extra.
const STUB_BYTES: usize = 5;

// Offsets of the fields of every row.
const TYPE: usize = 1;
const POSITION: usize = 5;
const CHANGE: usize = 13;
const AUTHOR: usize = 17;
const MICROS: usize = 21;
const HEAD_BYTES: usize = 29;
const ENDS_BYTES: usize = 8;
const HEADER_BYTES: usize = 4;

// Offsets of the fields that an untouched first version does not have.
const VERSION: usize = 0;
const VERSIONS: usize = 4;
const BASE: usize = 8;
const SINCE_ANCHOR: usize = 12;
const CREATED_MICROS: usize = 16;
const CREATED_AUTHOR: usize = 24;
const VALID_FROM: usize = 28;
const LIVE_FROM: usize = 36;
const CHANGED: usize = 44;
const EXTRA: usize = 52;
const LATER_BYTES: usize = 56;

/// The version in force of one instance. Copying it copies three pointers.
#[derive(Clone, Copy)]
pub(crate) struct Row<'g> {
    pub(super) bytes: &'g [u8],
    /// The large sets among its values, by number.
    pub(super) sets: &'g [Value],
    /// A deletion after the version in these bytes.
    deletion: Option<&'g Deletion>,
}

/// A row with its own memory. Large sets, which share unchanged parts with other versions, are beside its bytes.
#[derive(Clone)]
pub(crate) struct OwnRow {
    pub(super) bytes: Box<[u8]>,
    pub(super) sets: Box<[Value]>,
}

impl OwnRow {
    #[inline]
    pub(crate) fn row(&self) -> Row<'_> {
        Row { bytes: &self.bytes, sets: &self.sets, deletion: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if a page may hold it.
    pub(crate) fn is_short(&self) -> bool {
        self.bytes.len() <= SHORT_BYTES_MAX && self.sets.is_empty()
    }
}

/// The stub that replaces a row with its own memory in a page.
pub(crate) fn stub(extra: u32) -> [u8; STUB_BYTES] {
    let [a, b, c, d] = extra.to_le_bytes();
    [IS_STUB, a, b, c, d]
}

/// The extra with the row, if these bytes are a stub.
#[inline]
pub(crate) fn stub_extra(bytes: &[u8]) -> Option<u32> {
    let is_stub = bytes.first()? & IS_STUB != 0;
    (is_stub && bytes.len() == STUB_BYTES).then(|| u32_at(bytes, 1))
}

impl<'g> Row<'g> {
    /// The row in these bytes of a page. They must not be empty, and not a stub.
    #[inline]
    pub(crate) fn new(bytes: &'g [u8]) -> Row<'g> {
        Row { bytes, sets: &[], deletion: None }
    }

    /// The row of an instance that was deleted after the version in these bytes, if there is a deletion.
    #[inline]
    pub(crate) fn deleted_by(self, deletion: Option<&'g Deletion>) -> Row<'g> {
        Row { deletion, ..self }
    }

    /// The version before, if the instance was deleted after the version in these bytes.
    #[inline]
    pub(crate) fn before_deletion(self) -> Option<Row<'g>> {
        self.deletion.map(|_| Row { deletion: None, ..self })
    }

    /// Units: bytes, without large sets.
    pub(crate) fn bytes_count(self) -> usize {
        self.bytes.len()
    }

    /// The large sets among its values.
    pub(crate) fn large_sets(self) -> &'g [Value] {
        self.sets
    }

    #[inline]
    pub(super) fn has(self, flag: u8) -> bool {
        self.bytes[0] & flag != 0
    }

    #[inline]
    fn u32(self, at: usize) -> u32 {
        u32_at(self.bytes, at)
    }

    fn i64(self, at: usize) -> i64 {
        u64_at(self.bytes, at).cast_signed()
    }

    fn stamp(self, at: usize) -> RowStamp {
        RowStamp { author: Symbol(self.u32(at)), micros: self.i64(at + 4) }
    }

    #[inline]
    fn header_at(self) -> usize {
        HEAD_BYTES + if self.has(HAS_ENDS) { ENDS_BYTES } else { 0 }
    }

    /// Offset of the further fields.
    #[inline]
    fn later(self) -> usize {
        self.header_at() + if self.has(HAS_HEADER) { HEADER_BYTES } else { 0 }
    }

    /// Offset of its list of properties.
    #[inline]
    pub(super) fn properties_at(self) -> usize {
        self.later() + if self.has(IS_LATER) { LATER_BYTES } else { 0 }
    }

    #[inline]
    pub(super) fn properties(self) -> List<'g> {
        List::new(&self.bytes[self.properties_at()..], self.sets)
    }

    fn later_u32(self, at: usize, untouched: u32) -> u32 {
        if self.has(IS_LATER) { self.u32(self.later() + at) } else { untouched }
    }

    /// A time; for an untouched first version the instant when it was written.
    fn later_i64(self, at: usize) -> i64 {
        self.i64(if self.has(IS_LATER) { self.later() + at } else { MICROS })
    }

    /// The extra with its past.
    pub(crate) fn extra(self) -> Option<u32> {
        let extra = self.later_u32(EXTRA, NO_EXTRA);
        (extra != NO_EXTRA).then_some(extra)
    }

    pub(crate) fn is_classified(self) -> bool {
        self.has(IS_CLASSIFIED)
    }

    pub(crate) fn has_spilled(self) -> bool {
        self.has(HAS_SPILLED)
    }

    /// The places of its spilled values, in the order of the row.
    pub(crate) fn places(self) -> Vec<SpillPlace> {
        if !self.has_spilled() {
            return Vec::new();
        }
        self.lists().flat_map(List::places).collect()
    }

    /// True if it has a value, not spilled, of at least this many bytes.
    pub(crate) fn has_longer(self, bytes: usize) -> bool {
        self.lists().any(|properties| properties.has_longer(bytes))
    }

    // All its properties, including those of classifications.
    fn lists(self) -> impl Iterator<Item = List<'g>> {
        std::iter::once(self.properties()).chain(self.classifications().map(Classified::properties))
    }

    #[inline]
    pub(crate) fn type_name(self) -> Symbol {
        Symbol(self.u32(TYPE))
    }

    #[inline]
    pub(crate) fn status(self) -> Status {
        if self.is_live() { Status::Active } else { Status::Deleted }
    }

    #[inline]
    pub(crate) fn is_live(self) -> bool {
        self.deletion.is_none() && !self.has(DELETED)
    }

    /// The number of its header.
    #[inline]
    pub(crate) fn header(self) -> HeaderNumber {
        if self.has(HAS_HEADER) { HeaderNumber(self.u32(self.header_at())) } else { PLAIN }
    }

    pub(crate) fn version(self) -> u32 {
        if self.deletion.is_some() { self.versions() } else { self.later_u32(VERSION, 1) }
    }

    /// Number of the latest version.
    pub(crate) fn versions(self) -> u32 {
        self.later_u32(VERSIONS, 1).saturating_add(self.deletion.is_some().into())
    }

    /// Number of versions written since the log last had the whole content.
    pub(crate) fn since_anchor(self) -> u32 {
        self.later_u32(SINCE_ANCHOR, 0).saturating_add(self.deletion.is_some().into())
    }

    pub(crate) fn place(self) -> ChangePlace {
        match self.deletion {
            Some(deletion) => deletion.place,
            None => ChangePlace { position: u64_at(self.bytes, POSITION), change: self.u32(CHANGE) },
        }
    }

    pub(crate) fn updated(self) -> RowStamp {
        self.deletion.map_or_else(|| self.stamp(AUTHOR), |deletion| deletion.stamp)
    }

    pub(crate) fn created(self) -> RowStamp {
        if !self.has(IS_LATER) {
            return self.stamp(AUTHOR);
        }
        let at = self.later();
        RowStamp { micros: self.i64(at + CREATED_MICROS), author: Symbol(self.u32(at + CREATED_AUTHOR)) }
    }

    pub(crate) fn valid_from(self) -> i64 {
        self.deletion.map_or_else(|| self.later_i64(VALID_FROM), |deletion| deletion.valid_from)
    }

    pub(crate) fn live_from(self) -> i64 {
        self.later_i64(LIVE_FROM)
    }

    /// Record that wrote the latest version.
    pub(crate) fn changed(self) -> u64 {
        match self.deletion {
            Some(deletion) => deletion.place.position,
            None => u64_at(self.bytes, if self.has(IS_LATER) { self.later() + CHANGED } else { POSITION }),
        }
    }

    /// The version its difference was taken from; 0 for the first.
    fn base(self) -> u32 {
        if self.deletion.is_some() { self.later_u32(VERSION, 1) } else { self.later_u32(BASE, 0) }
    }

    pub(crate) fn ends(self) -> [u32; 2] {
        if self.has(HAS_ENDS) { [self.u32(HEAD_BYTES), self.u32(HEAD_BYTES + 4)] } else { NO_ENDS }
    }

    /// The version in force, described as a past one.
    pub(crate) fn in_force(self) -> PastVersion {
        PastVersion {
            version: self.version(),
            base: self.base(),
            status: self.status(),
            header: self.header(),
            place: self.place(),
            valid_from: self.valid_from(),
        }
    }

    #[inline]
    pub(crate) fn property(self, name: Symbol) -> Option<Value> {
        self.properties().find(name)
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    #[inline]
    pub(crate) fn text(self, name: Symbol) -> Option<&'g str> {
        self.properties().text(name)
    }

    /// True if `matches` holds for a text of a property. Spilled values must have been read.
    pub(crate) fn any_text(self, matches: &mut dyn FnMut(&str) -> bool) -> bool {
        self.properties().any_text(matches)
    }

    /// A property, also a spilled one.
    pub(crate) fn read_property(self, name: Symbol, read: Reader) -> Result<Option<Value>> {
        self.properties().read_one(name, read)
    }

    /// The properties one by one, with their names.
    #[inline]
    pub(crate) fn each_property(self) -> impl Iterator<Item = (Symbol, ValueRef<'g>)> {
        self.properties().each_value()
    }

    /// All values, including those of classifications; `Err` for a spilled one, which is not read.
    pub(crate) fn each_value_here(
        self,
    ) -> impl Iterator<Item = std::result::Result<ValueRef<'g>, SpillPlace>> {
        self.lists().flat_map(List::each_here)
    }

    /// The names of all properties.
    pub(crate) fn names(self) -> Vec<Symbol> {
        self.properties().names().collect()
    }

    /// The properties whose values need no memory of their own.
    pub(crate) fn short_properties(self) -> Vec<(Symbol, Value)> {
        self.properties().short().collect()
    }

    pub(crate) fn classifications(self) -> impl Iterator<Item = Classified<'g>> {
        let (mut rest, mut count): (&[u8], usize) = (&[], 0);
        if self.has(IS_CLASSIFIED) {
            rest = self.properties().rest();
            let (found, head) = length_at(rest);
            (count, rest) = (found, &rest[head..]);
        }
        std::iter::from_fn(move || {
            count = count.checked_sub(1)?;
            let known = Classified::new(rest, self.sets);
            rest = known.properties().rest();
            Some(known)
        })
    }

    /// The whole instance, decoded. `read` reads spilled values.
    pub(crate) fn unpack(self, id: &Id, past: Option<Arc<Past>>, read: Reader) -> Result<Instance> {
        let properties = self.properties().read(&mut *read)?;
        let mut instance = Instance { properties, ..self.head(id, past) };
        let classifications: Result<Vec<Classification>> =
            self.classifications().map(|known| known.read(&mut *read)).collect();
        instance.set_classifications(classifications?);
        Ok(instance)
    }

    /// The instance without properties and classifications.
    pub(crate) fn head(self, id: &Id, past: Option<Arc<Past>>) -> Instance {
        Instance {
            properties: Properties::new(),
            type_name: self.type_name(),
            version: self.version(),
            versions: self.versions(),
            status: self.status(),
            header: self.header(),
            id: id.clone(),
            ends: self.ends(),
            valid_from: self.valid_from(),
            place: self.place(),
            past,
            classifications: None,
            created: self.created(),
            updated: self.updated(),
            live_from: self.live_from(),
            changed: self.changed(),
            base: self.base(),
            since_anchor: self.since_anchor(),
        }
    }
}

#[cfg(test)]
mod tests;
