//! Writes the row of an instance.

use super::classified::append_head;
use super::headers::PLAIN;
use super::row::{
    DELETED, HAS_ENDS, HAS_HEADER, HAS_SPILLED, IS_CLASSIFIED, IS_LATER, NO_EXTRA, OwnRow, Row,
};
use super::row_list::append_list;
use super::row_value::{
    FALSE, FLOAT, INTEGER, LARGE_SET, OTHER, SMALL_INTEGER, SPILLED_OTHER, SPILLED_STRING, STRING, TIMESTAMP,
    TRUE, append_length,
};
use super::unpacked::{Instance, NO_ENDS, RowStamp};
use crate::graph::structures::spill_file::SpillPlace;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Status, Value};
use crate::record::encode_value_into;
use crate::structures::number::narrow;

/// Stores the bytes of a long value and returns their place; `None` if they stay in the row.
pub(crate) type Spiller<'p> = &'p mut dyn FnMut(&[u8]) -> Option<SpillPlace>;

/// How the values of a row are written, and which of them are outside its bytes.
pub(crate) struct Packing<'p> {
    /// Values from this length on are offered to `spill`. Units: bytes.
    value_bytes_min: usize,
    spill: Spiller<'p>,
    pub(super) has_spilled: bool,
    /// The large sets so far, which are beside the bytes.
    pub(super) sets: Vec<Value>,
}

/// Appends the row of `instance`, and returns the large sets beside its bytes. `extra` is the number of the extra with
/// its past.
pub(crate) fn pack(instance: &Instance, extra: u32, mut packing: Packing, out: &mut Vec<u8>) -> Vec<Value> {
    let start = out.len();
    append_row_head(instance, extra, out);
    packing.append_properties(instance.properties.len(), instance.properties.iter(), out);
    if instance.classifications.is_some() {
        append_length(instance.classifications().len(), out);
        for known in instance.classifications() {
            append_head(known, out);
            packing.append_properties(known.properties.len(), known.properties.iter(), out);
        }
    }
    out[start] |= packing.flags();
    packing.sets
}

/// The same for an instance with the head of `instance`, which has no properties, and with these, ordered by symbol.
pub(crate) fn pack_with(
    instance: &Instance,
    properties: &[(Symbol, &Value)],
    mut packing: Packing,
    out: &mut Vec<u8>,
) -> Vec<Value> {
    let start = out.len();
    append_row_head(instance, NO_EXTRA, out);
    packing.append_properties(properties.len(), properties.iter().copied(), out);
    out[start] |= packing.flags();
    packing.sets
}

/// Appends the row of an instance with the head of `instance`, which has no properties, and with the properties of `row`,
/// none of them spilled; and returns the large sets beside its bytes.
pub(crate) fn pack_again(instance: &Instance, extra: u32, row: Row<'_>, out: &mut Vec<u8>) -> Vec<Value> {
    append_row_head(instance, extra, out);
    out.extend_from_slice(&row.bytes[row.properties_at()..]);
    row.sets.to_vec()
}

impl OwnRow {
    /// The row of an instance without spilled values, without its past.
    pub(crate) fn of(instance: &Instance) -> OwnRow {
        let mut bytes = Vec::new();
        let sets = pack(instance, NO_EXTRA, Packing::new(usize::MAX, &mut |_| None), &mut bytes);
        OwnRow::new(bytes, sets)
    }

    pub(crate) fn new(bytes: Vec<u8>, sets: Vec<Value>) -> OwnRow {
        OwnRow { bytes: bytes.into(), sets: sets.into() }
    }
}

fn append_row_head(instance: &Instance, extra: u32, out: &mut Vec<u8>) {
    let is_later = !instance.is_untouched() || extra != NO_EXTRA;
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(
        flag(instance.status == Status::Deleted, DELETED)
            | flag(instance.ends != NO_ENDS, HAS_ENDS)
            | flag(is_later, IS_LATER)
            | flag(instance.header != PLAIN, HAS_HEADER)
            | flag(instance.classifications.is_some(), IS_CLASSIFIED),
    );
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
}

fn append_stamp(stamp: RowStamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&stamp.author.0.to_le_bytes());
    out.extend_from_slice(&stamp.micros.to_le_bytes());
}

impl Instance {
    /// True for an unchanged first version: most of its head follows from the rest.
    fn is_untouched(&self) -> bool {
        (self.version, self.versions, self.base, self.since_anchor) == (1, 1, 0, 0)
            && self.created == self.updated
            && self.valid_from == self.updated.micros
            && self.live_from == self.updated.micros
            && self.changed == self.place.position
    }
}

impl<'p> Packing<'p> {
    /// Offers values of at least `value_bytes_min` to `spill`; `usize::MAX` means none.
    pub(crate) fn new(value_bytes_min: usize, spill: Spiller<'p>) -> Packing<'p> {
        Packing { value_bytes_min, spill, has_spilled: false, sets: Vec::new() }
    }

    /// The flags for the values of the row.
    pub(super) fn flags(&self) -> u8 {
        if self.has_spilled { HAS_SPILLED } else { 0 }
    }

    fn append_properties<'v>(
        &mut self,
        count: usize,
        properties: impl Iterator<Item = (Symbol, &'v Value)>,
        out: &mut Vec<u8>,
    ) {
        append_list(count, properties, out, |value, out| self.append_value(value, out));
    }

    fn append_value(&mut self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Boolean(boolean) => out.push(if *boolean { TRUE } else { FALSE }),
            Value::Integer(number) => match i32::try_from(*number) {
                Ok(small) => {
                    out.push(SMALL_INTEGER);
                    out.extend_from_slice(&small.to_le_bytes());
                }
                Err(_) => append_word(INTEGER, number.cast_unsigned(), out),
            },
            Value::Float(number) => append_word(FLOAT, number.to_bits(), out),
            Value::Timestamp(instant) => append_word(TIMESTAMP, instant.micros().cast_unsigned(), out),
            Value::String(text) => self.append_text(text, out),
            value if self.puts_beside(value, out) => {}
            value => {
                let mut content = Vec::new();
                encode_value_into(value, &mut content);
                self.append_other(&content, out);
            }
        }
    }

    /// Appends a string.
    pub(super) fn append_text(&mut self, text: &str, out: &mut Vec<u8>) {
        if !self.spills(SPILLED_STRING, text.as_bytes(), out) {
            append_content(STRING, text.as_bytes(), out);
        }
    }

    /// Appends a value that `content` encodes; not a large set.
    pub(super) fn append_other(&mut self, content: &[u8], out: &mut Vec<u8>) {
        if !self.spills(SPILLED_OTHER, content, out) {
            append_content(OTHER, content, out);
        }
    }

    // True if a long value was spilled, and its place appended.
    fn spills(&mut self, tag: u8, content: &[u8], out: &mut Vec<u8>) -> bool {
        if content.len() < self.value_bytes_min {
            return false;
        }
        let Some(place) = (self.spill)(content) else { return false };
        self.append_place(tag, place, out);
        true
    }

    pub(super) fn append_place(&mut self, tag: u8, place: SpillPlace, out: &mut Vec<u8>) {
        self.has_spilled = true;
        out.push(tag);
        out.extend_from_slice(&place.to_bytes());
    }

    /// True if a large set was put beside the bytes, and its number appended. Its values are neither read nor spilled,
    /// so that adding one value to thousands costs as much as adding one to ten.
    pub(super) fn puts_beside(&mut self, value: &Value, out: &mut Vec<u8>) -> bool {
        let is_large = matches!(value, Value::Set(values) if !values.is_few());
        if is_large {
            out.push(LARGE_SET);
            out.extend_from_slice(&narrow::<u32, usize>(self.sets.len()).to_le_bytes());
            self.sets.push(value.clone());
        }
        is_large
    }
}

fn append_word(tag: u8, word: u64, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&word.to_le_bytes());
}

/// Appends a string, or another value as the record encodes it.
pub(super) fn append_content(tag: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    append_length(content.len(), out);
    out.extend_from_slice(content);
}
