//! One instance as the graph holds it: packed into a few bytes, or whole if it is large.

use super::row_format::PACKED_BYTES_MAX;
use std::sync::Arc;

use super::classified::Classified;
use super::headers::{HeaderNumber, PLAIN};
use super::past::{Past, PastVersion, Place};
use super::properties::Entries;
use super::row_value::{self, Bytes, append_properties, skip_properties};
use super::unpacked::{Classification, Instance, NO_ENDS, Stamp};
use crate::Result;
use crate::graph::structures::spill_file::SpillPlace;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Status, Value, ValueRef};

pub(crate) use super::row_value::{Packing, Reader};

/// "This row needs nothing but its bytes."
pub(crate) const NO_EXTRA: u32 = u32::MAX;

// Bits of the first byte.
const DELETED: u8 = 1;
const HAS_ENDS: u8 = 2;
pub(crate) const IS_LATER: u8 = 4;
pub(crate) const IS_CLASSIFIED: u8 = 8;
pub(crate) const IS_WHOLE: u8 = 16;
const HAS_SPILLED: u8 = 32;
const HAS_HEADER: u8 = 64;

// Offsets of what every packed row has. A whole one has only the flags and, at `EXTRA_OF_WHOLE`, where it is.
pub(crate) const PROPERTIES_COUNT: usize = 1;
const TYPE: usize = 2;
pub(crate) const EXTRA_OF_WHOLE: usize = 2;
const POSITION: usize = 6;
const CHANGE: usize = 14;
const AUTHOR: usize = 18;
const MICROS: usize = 22;
const HEAD_BYTES: usize = 30;
const ENDS_BYTES: usize = 8;
const HEADER_BYTES: usize = 4;
/// In the version of a classification: the number of a header follows its head.
pub(crate) const CLASSIFICATION_HAS_HEADER: u32 = 1 << 31;

// Offsets within what a row has that is not an untouched first version.
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
pub(crate) const LATER_BYTES: usize = 56;

/// The version in force of one instance. Copying it copies a pointer.
#[derive(Clone, Copy)]
pub(crate) enum Row<'g> {
    Packed(Packed<'g>),
    Whole(&'g Instance),
}

/// The bytes of a row.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'g>(pub(crate) &'g [u8]);

/// The properties of a row. Made by [`Row::each_property`].
pub(crate) enum EachProperty<'g> {
    Packed(Bytes<'g>),
    Whole(Entries<'g>),
}

impl<'g> Iterator for EachProperty<'g> {
    type Item = (Symbol, ValueRef<'g>);

    #[inline]
    fn next(&mut self) -> Option<(Symbol, ValueRef<'g>)> {
        match self {
            EachProperty::Packed(bytes) => bytes.next(),
            EachProperty::Whole(entries) => entries.next().map(|(name, value)| (name, value.into())),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            EachProperty::Packed(bytes) => bytes.size_hint(),
            EachProperty::Whole(entries) => entries.size_hint(),
        }
    }
}

/// Appends the packed form of `instance`; false, and nothing, if it is too large for one. What `packing` leaves out is
/// still to be put in its place, and the row to be marked.
pub(crate) fn pack(instance: &Instance, extra: u32, packing: &mut Packing, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let is_packed = try_pack(instance, extra, packing, out) && out.len() - start <= PACKED_BYTES_MAX;
    if !is_packed {
        out.truncate(start);
    }
    is_packed
}

/// Appends what stands for an instance that is kept whole at `extra`.
pub(crate) fn pack_whole(extra: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[IS_WHOLE, 0]);
    out.extend_from_slice(&extra.to_le_bytes());
}

/// Says of a packed row that it has spilled values.
pub(crate) fn mark_spilled(row: &mut [u8]) {
    row[0] |= HAS_SPILLED;
}

/// Puts other places of spilled values into a packed row: for each in order what `place` gives.
pub(crate) fn relocate(
    row: &mut [u8],
    mut place: impl FnMut(SpillPlace) -> Option<SpillPlace>,
) -> Option<()> {
    let places: Vec<(usize, SpillPlace)> = Packed(row).places_from_end().collect();
    for (from_end, before) in places {
        let at = row.len() - from_end;
        row[at..at + SpillPlace::BYTES].copy_from_slice(&place(before)?.to_bytes());
    }
    Some(())
}

fn try_pack(instance: &Instance, extra: u32, packing: &mut Packing, out: &mut Vec<u8>) -> bool {
    let is_later = !instance.is_untouched() || extra != NO_EXTRA;
    let Ok(count) = u8::try_from(instance.properties.len()) else { return false };
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(
        flag(instance.status == Status::Deleted, DELETED)
            | flag(instance.ends != NO_ENDS, HAS_ENDS)
            | flag(is_later, IS_LATER)
            | flag(instance.header != PLAIN, HAS_HEADER)
            | flag(instance.classifications.is_some(), IS_CLASSIFIED),
    );
    out.push(count);
    out.extend_from_slice(&instance.type_name.0.to_le_bytes());
    out.extend_from_slice(&instance.place.position.to_le_bytes());
    out.extend_from_slice(&instance.place.change.to_le_bytes());
    append_stamp(instance.updated, out);
    if instance.ends != NO_ENDS {
        instance.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
    }
    if instance.header != PLAIN {
        out.extend_from_slice(&instance.header.0.to_le_bytes());
    }
    if is_later {
        for number in [instance.version, instance.versions, instance.base, instance.since_anchor] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&instance.created.micros.to_le_bytes());
        out.extend_from_slice(&instance.created.author.0.to_le_bytes());
        out.extend_from_slice(&instance.valid_from.to_le_bytes());
        out.extend_from_slice(&instance.live_from.to_le_bytes());
        out.extend_from_slice(&instance.changed.to_le_bytes());
        out.extend_from_slice(&extra.to_le_bytes());
    }
    if !append_properties(&instance.properties, packing, out) {
        return false;
    }
    instance.classifications.is_none() || append_classifications(instance.classifications(), packing, out)
}

fn append_stamp(stamp: Stamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&stamp.author.0.to_le_bytes());
    out.extend_from_slice(&stamp.micros.to_le_bytes());
}

fn append_classifications(
    classifications: &[Classification],
    packing: &mut Packing,
    out: &mut Vec<u8>,
) -> bool {
    let Ok(count) = u8::try_from(classifications.len()) else { return false };
    out.push(count);
    classifications.iter().all(|known| {
        let Ok(count) = u8::try_from(known.properties.len()) else { return false };
        out.extend_from_slice(&known.name.0.to_le_bytes());
        let flag = if known.header == PLAIN { 0 } else { CLASSIFICATION_HAS_HEADER };
        out.extend_from_slice(&(known.version | flag).to_le_bytes());
        append_stamp(known.created, out);
        append_stamp(known.updated, out);
        out.push(count);
        if known.header != PLAIN {
            out.extend_from_slice(&known.header.0.to_le_bytes());
        }
        append_properties(&known.properties, packing, out)
    })
}

impl Instance {
    /// True for a first version that nothing has touched: most of its head follows from the rest.
    fn is_untouched(&self) -> bool {
        (self.version, self.versions, self.base, self.since_anchor) == (1, 1, 0, 0)
            && self.created == self.updated
            && self.valid_from == self.updated.micros
            && self.live_from == self.updated.micros
            && self.changed == self.place.position
            && self.past.is_none()
    }
}

impl<'g> Packed<'g> {
    /// The row in these bytes, which [`pack`] or [`pack_whole`] made. An empty one stands for nothing.
    pub(crate) fn new(bytes: &'g [u8]) -> Packed<'g> {
        Packed(bytes)
    }

    /// Units: bytes.
    pub(crate) fn bytes_count(self) -> usize {
        self.0.len()
    }

    /// Where the graph keeps what is not in the bytes: the past, or the whole instance.
    pub(crate) fn extra(self) -> Option<u32> {
        let extra = match self.0[0] {
            flags if flags & IS_WHOLE != 0 => self.u32(EXTRA_OF_WHOLE),
            flags if flags & IS_LATER != 0 => self.u32(self.later() + EXTRA),
            _ => NO_EXTRA,
        };
        (extra != NO_EXTRA).then_some(extra)
    }

    pub(crate) fn is_whole(self) -> bool {
        self.0[0] & IS_WHOLE != 0
    }

    #[inline]
    pub(crate) fn has(self, flag: u8) -> bool {
        self.0[0] & flag != 0
    }

    #[inline]
    pub(crate) fn u32(self, at: usize) -> u32 {
        row_value::u32_at(self.0, at)
    }

    fn i64(self, at: usize) -> i64 {
        row_value::u64_at(self.0, at).cast_signed()
    }

    pub(crate) fn stamp(self, at: usize) -> Stamp {
        Stamp { author: Symbol(self.u32(at)), micros: self.i64(at + 4) }
    }

    /// Where the head of a row that is not an untouched first version goes on.
    #[inline]
    pub(crate) fn later(self) -> usize {
        self.header_at() + if self.has(HAS_HEADER) { HEADER_BYTES } else { 0 }
    }

    #[inline]
    fn header_at(self) -> usize {
        HEAD_BYTES + if self.has(HAS_ENDS) { ENDS_BYTES } else { 0 }
    }

    /// Length of the head of a classification that starts here.
    pub(crate) fn classification_head_bytes(self) -> usize {
        let has_header = self.u32(4) & CLASSIFICATION_HAS_HEADER != 0;
        CLASSIFICATION_HEAD_BYTES + if has_header { HEADER_BYTES } else { 0 }
    }

    /// The header of the classification that starts here.
    pub(crate) fn classification_header(self) -> HeaderNumber {
        if self.u32(4) & CLASSIFICATION_HAS_HEADER == 0 {
            return PLAIN;
        }
        HeaderNumber(self.u32(CLASSIFICATION_HEAD_BYTES))
    }

    #[inline]
    fn properties(self) -> Bytes<'g> {
        let at = self.later() + if self.has(IS_LATER) { LATER_BYTES } else { 0 };
        Bytes::new(&self.0[at..], self.0[PROPERTIES_COUNT])
    }

    fn later_u32(self, at: usize, untouched: u32) -> u32 {
        if self.has(IS_LATER) { self.u32(self.later() + at) } else { untouched }
    }

    pub(crate) fn has_spilled(self) -> bool {
        self.0[0] & HAS_SPILLED != 0
    }

    /// Where its spilled values are, in the order of the row.
    pub(crate) fn places(self) -> Vec<SpillPlace> {
        if !self.has_spilled() || self.is_whole() {
            return Vec::new();
        }
        self.places_from_end().map(|(_, place)| place).collect()
    }

    fn places_from_end(self) -> impl Iterator<Item = (usize, SpillPlace)> {
        let classified = self.classified().flat_map(|(_, properties)| properties.places());
        self.properties().places().chain(classified)
    }

    /// True if it has a value, not spilled, of at least so many bytes.
    pub(crate) fn has_longer(self, bytes: usize) -> bool {
        self.properties().has_longer(bytes)
            || self.classified().any(|(_, properties)| properties.has_longer(bytes))
    }

    // The head of each classification, and its properties.
    fn classified(self) -> impl Iterator<Item = (Packed<'g>, Bytes<'g>)> {
        let (mut rest, mut count): (&[u8], u8) = (&[], 0);
        if self.has(IS_CLASSIFIED) {
            rest = skip_properties(self.properties());
            (count, rest) = (rest[0], &rest[1..]);
        }
        std::iter::from_fn(move || {
            count = count.checked_sub(1)?;
            let head = Packed(rest);
            let properties =
                Bytes::new(&rest[head.classification_head_bytes()..], rest[CLASSIFICATION_HEAD_BYTES - 1]);
            rest = skip_properties(properties);
            Some((head, properties))
        })
    }

    fn read_classifications(self, read: Reader) -> Result<Vec<Classification>> {
        let read_one = |(head, properties): (Packed<'g>, Bytes<'g>)| {
            Ok(Classified::Packed(head, properties).taken_apart(properties.read(&mut *read)?))
        };
        self.classified().map(read_one).collect()
    }
}

// Name (4), version (4), two stamps (12 each), number of properties (1).
pub(crate) const CLASSIFICATION_HEAD_BYTES: usize = 33;

impl<'g> Row<'g> {
    #[inline]
    pub(crate) fn type_name(self) -> Symbol {
        match self {
            Row::Packed(packed) => Symbol(packed.u32(TYPE)),
            Row::Whole(instance) => instance.type_name,
        }
    }

    #[inline]
    pub(crate) fn status(self) -> Status {
        match self {
            Row::Packed(packed) if packed.has(DELETED) => Status::Deleted,
            Row::Packed(_) => Status::Active,
            Row::Whole(instance) => instance.status,
        }
    }

    #[inline]
    pub(crate) fn is_live(self) -> bool {
        self.status() != Status::Deleted
    }

    /// The number of its header.
    #[inline]
    pub(crate) fn header(self) -> HeaderNumber {
        match self {
            Row::Packed(packed) if packed.has(HAS_HEADER) => HeaderNumber(packed.u32(packed.header_at())),
            Row::Packed(_) => PLAIN,
            Row::Whole(instance) => instance.header,
        }
    }

    pub(crate) fn version(self) -> u32 {
        match self {
            Row::Packed(packed) => packed.later_u32(VERSION, 1),
            Row::Whole(instance) => instance.version,
        }
    }

    /// Number of the version written last.
    pub(crate) fn versions(self) -> u32 {
        match self {
            Row::Packed(packed) => packed.later_u32(VERSIONS, 1),
            Row::Whole(instance) => instance.versions,
        }
    }

    pub(crate) fn place(self) -> Place {
        match self {
            Row::Packed(packed) => {
                Place { position: row_value::u64_at(packed.0, POSITION), change: packed.u32(CHANGE) }
            }
            Row::Whole(instance) => instance.place,
        }
    }

    pub(crate) fn updated(self) -> Stamp {
        match self {
            Row::Packed(packed) => packed.stamp(AUTHOR),
            Row::Whole(instance) => instance.updated,
        }
    }

    pub(crate) fn created(self) -> Stamp {
        match self {
            Row::Packed(packed) if packed.has(IS_LATER) => {
                let at = packed.later();
                Stamp {
                    micros: packed.i64(at + CREATED_MICROS),
                    author: Symbol(packed.u32(at + CREATED_AUTHOR)),
                }
            }
            Row::Packed(packed) => packed.stamp(AUTHOR),
            Row::Whole(instance) => instance.created,
        }
    }

    fn later_i64(self, at: usize, whole: impl Fn(&Instance) -> i64) -> i64 {
        match self {
            Row::Packed(packed) if packed.has(IS_LATER) => packed.i64(packed.later() + at),
            Row::Packed(packed) => packed.i64(MICROS),
            Row::Whole(instance) => whole(instance),
        }
    }

    pub(crate) fn valid_from(self) -> i64 {
        self.later_i64(VALID_FROM, |instance| instance.valid_from)
    }

    pub(crate) fn live_from(self) -> i64 {
        self.later_i64(LIVE_FROM, |instance| instance.live_from)
    }

    /// Record that wrote the latest version.
    pub(crate) fn changed(self) -> u64 {
        match self {
            Row::Packed(packed) if packed.has(IS_LATER) => {
                row_value::u64_at(packed.0, packed.later() + CHANGED)
            }
            Row::Packed(_) => self.place().position,
            Row::Whole(instance) => instance.changed,
        }
    }

    pub(crate) fn ends(self) -> [u32; 2] {
        match self {
            Row::Packed(packed) if packed.has(HAS_ENDS) => {
                [packed.u32(HEAD_BYTES), packed.u32(HEAD_BYTES + 4)]
            }
            Row::Packed(_) => NO_ENDS,
            Row::Whole(instance) => instance.ends,
        }
    }

    /// The version in force, described as a past one.
    pub(crate) fn in_force(self) -> PastVersion {
        let base = match self {
            Row::Packed(packed) => packed.later_u32(BASE, 0),
            Row::Whole(instance) => instance.base,
        };
        PastVersion {
            version: self.version(),
            base,
            status: self.status(),
            header: self.header(),
            place: self.place(),
            valid_from: self.valid_from(),
        }
    }

    #[inline]
    pub(crate) fn property(self, name: Symbol) -> Option<Value> {
        match self {
            Row::Packed(packed) => packed.properties().find(name),
            Row::Whole(instance) => instance.properties.get(name).cloned(),
        }
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    #[inline]
    pub(crate) fn text(self, name: Symbol) -> Option<&'g str> {
        match self {
            Row::Packed(packed) => packed.properties().text(name),
            Row::Whole(instance) => instance.properties.text(name),
        }
    }

    /// True if `admits` holds for a text of a property. Spilled values must have been read.
    pub(crate) fn any_text(self, admits: &mut dyn FnMut(&str) -> bool) -> bool {
        match self {
            Row::Packed(packed) => packed.properties().any_text(admits),
            Row::Whole(instance) => instance.properties.any_text(admits),
        }
    }

    /// The same, also of a row with spilled values.
    pub(crate) fn read_property(self, name: Symbol, read: Reader) -> Result<Option<Value>> {
        match self {
            Row::Packed(packed) if packed.has_spilled() => packed.properties().read_one(name, read),
            row => Ok(row.property(name)),
        }
    }

    /// The properties one by one, with their names.
    pub(crate) fn each_property(self) -> EachProperty<'g> {
        match self {
            Row::Packed(packed) => EachProperty::Packed(packed.properties()),
            Row::Whole(instance) => EachProperty::Whole(instance.properties.iter()),
        }
    }

    /// The names of all properties.
    pub(crate) fn names(self) -> Vec<Symbol> {
        match self {
            Row::Packed(packed) => packed.properties().names().collect(),
            Row::Whole(instance) => instance.properties.iter().map(|(name, _)| name).collect(),
        }
    }

    /// The properties whose values are in no need of memory of their own.
    pub(crate) fn short_properties(self) -> Vec<(Symbol, Value)> {
        match self {
            Row::Packed(packed) => packed.properties().short().collect(),
            Row::Whole(instance) => instance.properties.clone().into_entries().collect(),
        }
    }

    pub(crate) fn classifications(self) -> impl Iterator<Item = Classified<'g>> {
        let (packed, whole) = match self {
            Row::Packed(packed) => (Some(packed.classified()), &[][..]),
            Row::Whole(instance) => (None, instance.classifications()),
        };
        let packed =
            packed.into_iter().flatten().map(|(head, properties)| Classified::Packed(head, properties));
        packed.chain(whole.iter().map(Classified::Whole))
    }

    /// Everything about the instance, taken apart. Spilled values come through `read`.
    pub(crate) fn unpack(self, id: &Id, past: Option<Arc<Past>>, read: Reader) -> Result<Instance> {
        let packed = match self {
            Row::Whole(instance) => return Ok(instance.clone()),
            Row::Packed(packed) => packed,
        };
        let mut instance = Instance {
            properties: packed.properties().read(&mut *read)?,
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
            base: packed.later_u32(BASE, 0),
            since_anchor: packed.later_u32(SINCE_ANCHOR, 0),
        };
        instance.set_classifications(packed.read_classifications(read)?);
        Ok(instance)
    }
}
