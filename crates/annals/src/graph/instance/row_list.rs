//! Properties in the bytes of a row, of the instance or of one of its classifications.
//!
//! Shape: their number (a length). If there are many: the bytes per offset (1), and the end of each, counted from the
//! first. Then for each, ordered by symbol: symbol (4), value.

use super::properties::Properties;
use super::row_value::{
    Reader, STRING, Tagged, append_length, checked_length, checked_value, length_at, u32_at, value_bytes,
};
use crate::Result;
use crate::graph::structures::spill_file::SpillPlace;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, ValueRef};
use crate::structures::number::narrow;

/// From this number of properties on, a table has the end of each, so that one of thousands is found without reading
/// the others.
const MANY_MIN: usize = 32;
const SYMBOL_BYTES: usize = 4;

/// The properties of a row, with the bytes after them.
#[derive(Clone, Copy)]
pub(crate) struct List<'g> {
    // The bytes from the first property on.
    bytes: &'g [u8],
    count: usize,
    // Empty if there are few.
    ends: Ends<'g>,
    sets: &'g [Value],
}

/// The ends of many properties.
#[derive(Clone, Copy)]
struct Ends<'g> {
    bytes: &'g [u8],
    width: usize,
}

impl Ends<'_> {
    fn get(self, index: usize) -> usize {
        let mut end = [0; size_of::<usize>()];
        end[..self.width].copy_from_slice(&self.bytes[index * self.width..][..self.width]);
        usize::from_le_bytes(end)
    }

    /// The start of the property at `index`.
    fn start(self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.get(before))
    }
}

impl<'g> List<'g> {
    /// The list at the start of these bytes. `sets` are the large sets of the row.
    #[inline]
    pub(super) fn new(bytes: &'g [u8], sets: &'g [Value]) -> List<'g> {
        let (count, head) = length_at(bytes);
        let bytes = &bytes[head..];
        if count < MANY_MIN {
            return List { bytes, count, ends: Ends { bytes: &[], width: 0 }, sets };
        }
        let width = usize::from(bytes[0]);
        let (ends, bytes) = bytes[1..].split_at(count * width);
        List { bytes, count, ends: Ends { bytes: ends, width }, sets }
    }

    #[inline]
    fn found(self, name: Symbol) -> Option<Tagged<'g>> {
        if self.count >= MANY_MIN {
            return self.found_among_many(name);
        }
        let mut rest = self.bytes;
        for _ in 0..self.count {
            let found = u32_at(rest, 0);
            let tagged = &rest[SYMBOL_BYTES..];
            if found >= name.0 {
                return (found == name.0).then_some(Tagged { bytes: tagged, sets: self.sets });
            }
            rest = &tagged[value_bytes(tagged)..];
        }
        None
    }

    #[inline(never)]
    fn found_among_many(self, name: Symbol) -> Option<Tagged<'g>> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let bytes = &self.bytes[self.ends.start(middle)..];
            match u32_at(bytes, 0).cmp(&name.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return Some(Tagged { bytes: &bytes[SYMBOL_BYTES..], sets: self.sets });
                }
            }
        }
        None
    }

    pub(super) fn len(self) -> usize {
        self.count
    }

    /// Each property as its symbol and its encoded value.
    #[inline]
    pub(super) fn each(self) -> impl Iterator<Item = (Symbol, Tagged<'g>)> {
        let (mut rest, sets) = (self.bytes, self.sets);
        (0..self.count).map(move |_| {
            let (name, bytes) = (Symbol(u32_at(rest, 0)), &rest[SYMBOL_BYTES..]);
            rest = &bytes[value_bytes(bytes)..];
            (name, Tagged { bytes, sets })
        })
    }

    #[inline]
    pub(crate) fn find(self, name: Symbol) -> Option<Value> {
        self.found(name).map(Tagged::value)
    }

    /// The properties one by one, with their names.
    #[inline]
    pub(crate) fn each_value(self) -> impl Iterator<Item = (Symbol, ValueRef<'g>)> {
        self.each().map(|(name, tagged)| (name, tagged.value_ref()))
    }

    /// Each value; `Err` for a spilled one, which is not read.
    pub(super) fn each_here(self) -> impl Iterator<Item = std::result::Result<ValueRef<'g>, SpillPlace>> {
        self.each().map(|(_, tagged)| tagged.place().map_or_else(|| Ok(tagged.value_ref()), Err))
    }

    pub(crate) fn names(self) -> impl Iterator<Item = Symbol> {
        self.each().map(|(name, _)| name)
    }

    /// The places of its spilled values.
    pub(super) fn places(self) -> impl Iterator<Item = SpillPlace> {
        self.each().filter_map(|(_, tagged)| tagged.place())
    }

    /// The value of one property, even a spilled one.
    pub(super) fn read_one(self, name: Symbol, read: Reader) -> Result<Option<Value>> {
        self.found(name).map(|tagged| tagged.read(read)).transpose()
    }

    /// All properties, including spilled ones.
    pub(super) fn read(self, read: Reader) -> Result<Properties> {
        let mut entries = Vec::with_capacity(self.count);
        for (name, tagged) in self.each() {
            entries.push((name, tagged.read(&mut *read)?));
        }
        Ok(Properties::from_sorted(entries))
    }

    /// True if a value takes at least this many bytes in the row.
    pub(super) fn has_longer(self, bytes: usize) -> bool {
        self.each().any(|(_, tagged)| tagged.is_longer(bytes))
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    #[inline]
    pub(crate) fn text(self, name: Symbol) -> Option<&'g str> {
        self.found(name)?.text()
    }

    /// True if `matches` holds for a text of a property: a string, or a string in a set.
    pub(crate) fn any_text(self, matches: &mut dyn FnMut(&str) -> bool) -> bool {
        self.each().any(|(_, tagged)| tagged.any_text(matches))
    }

    /// The properties whose values need no memory of their own.
    pub(super) fn short(self) -> impl Iterator<Item = (Symbol, Value)> {
        self.each().filter(|(_, tagged)| tagged.tag() < STRING).map(|(name, tagged)| (name, tagged.value()))
    }

    /// The bytes after the properties.
    pub(super) fn rest(self) -> &'g [u8] {
        match self.count {
            count if count >= MANY_MIN => &self.bytes[self.ends.get(count - 1)..],
            count => (0..count)
                .fold(self.bytes, |rest, _| &rest[SYMBOL_BYTES + value_bytes(&rest[SYMBOL_BYTES..])..]),
        }
    }
}

/// Appends a list of this many properties, ordered by symbol, whose values `append` writes.
pub(super) fn append_list<V>(
    count: usize,
    properties: impl Iterator<Item = (Symbol, V)>,
    out: &mut Vec<u8>,
    mut append: impl FnMut(V, &mut Vec<u8>),
) {
    append_length(count, out);
    let start = out.len();
    let mut ends = Vec::with_capacity(if count < MANY_MIN { 0 } else { count });
    for (name, value) in properties {
        out.extend_from_slice(&name.0.to_le_bytes());
        append(value, out);
        if count >= MANY_MIN {
            ends.push(out.len() - start);
        }
    }
    let Some(last) = ends.last() else { return };
    let width = size_of::<usize>() - last.leading_zeros() as usize / 8;
    let table = ends.iter().flat_map(|end| end.to_le_bytes().into_iter().take(width));
    out.splice(start..start, std::iter::once(narrow(width)).chain(table));
}

/// Reads a list from bytes of a file. `None` if they are not properties in order, otherwise the bytes after them.
/// `names` is the number of symbols; `is_spilled` becomes true if a value is not in the bytes.
pub(super) fn checked_list<'b>(
    bytes: &'b [u8],
    names: usize,
    sets_count: usize,
    is_spilled: &mut bool,
) -> Option<&'b [u8]> {
    let (count, head) = checked_length(bytes)?;
    let mut bytes = &bytes[head..];
    let mut ends = None;
    if count >= MANY_MIN {
        let width = usize::from(*bytes.first()?);
        let table = bytes.get(1..)?.get(..count.checked_mul(width)?)?;
        ends = (1..=size_of::<usize>()).contains(&width).then_some(Ends { bytes: table, width });
        ends?;
        bytes = &bytes[1 + table.len()..];
    }
    let mut at = 0;
    let mut before = None;
    for index in 0..count {
        let name = u32::from_le_bytes(*bytes[at..].first_chunk()?);
        if name as usize >= names || before.is_some_and(|before| before >= name) {
            return None;
        }
        before = Some(name);
        let (length, is_elsewhere) = checked_value(&bytes[at + SYMBOL_BYTES..], sets_count)?;
        *is_spilled |= is_elsewhere;
        at += SYMBOL_BYTES + length;
        if ends.is_some_and(|ends| ends.get(index) != at) {
            return None;
        }
    }
    Some(&bytes[at..])
}
