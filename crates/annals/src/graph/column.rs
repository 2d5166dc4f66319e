//! The short values of one property by slot: what a walk or a scan reads without looking at whole rows.

use std::sync::Arc;

use super::symbols::Symbol;
use super::vector::Vector;
use crate::model::{Instant, Value};

/// So many that the list of all pages stays in the cache of a processor.
const PAGE_SLOTS: usize = 256;
/// So many values of a page stand with their places; more get the room of all.
const FEW_MAX: usize = 32;
/// How many pages are looked up at once.
const AHEAD: usize = 32;
/// Stands where a page holds no value. The value that this word would be is only in its row: the least integer but one,
/// the largest negative float.
const ABSENT: u64 = 1 << 63 | 1;
/// Where a column has no page.
const NOWHERE: (Kind, &u64) = (Kind::Boolean, &ABSENT);

/// The booleans, integers, floats and timestamps that the instances of one table hold now.
///
/// They are no more than rows hold, but densely: a value by its slot is a few words away.
#[derive(Clone)]
pub(crate) struct Columns {
    // By property.
    columns: Vector<Column>,
}

// A persistent vector of the values of one property.
#[derive(Clone)]
struct Column {
    pages: Vector<Page>,
}

// The values of neighbouring slots that are of one kind; those of other kinds are only in the rows. What is asked of
// every page stands here, beside the pointer, so that a value takes one line of the memory behind it.
#[derive(Clone)]
enum Page {
    Empty,
    // Instances of many types by turns: each property is of few of them. Shape: place, word; in the order of places.
    Few(Kind, Arc<Vec<(u8, u64)>>),
    All(Kind, Arc<[u64; PAGE_SLOTS]>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    Float,
    Timestamp,
}

// `None` for what is only in rows.
fn word_of(value: &Value) -> Option<(Kind, u64)> {
    let (kind, word) = match value {
        Value::Boolean(boolean) => (Kind::Boolean, u64::from(*boolean)),
        Value::Integer(number) => (Kind::Integer, number.cast_unsigned()),
        Value::Float(number) => (Kind::Float, number.to_bits()),
        Value::Timestamp(instant) => (Kind::Timestamp, instant.micros().cast_unsigned()),
        _ => return None,
    };
    (word != ABSENT).then_some((kind, word))
}

// The value that a word of a page stands for.
#[inline]
fn value_of(kind: Kind, word: u64) -> Option<Value> {
    if word == ABSENT {
        return None;
    }
    Some(match kind {
        Kind::Integer => Value::Integer(word.cast_signed()),
        Kind::Float => Value::Float(f64::from_bits(word)),
        Kind::Boolean => Value::Boolean(word != 0),
        Kind::Timestamp => Value::Timestamp(Instant::from_checked_micros(word.cast_signed())),
    })
}

// Where the value of a place stands among few.
fn find(few: &[(u8, u64)], place: usize) -> Option<usize> {
    few.binary_search_by_key(&place, |(at, _)| usize::from(*at)).ok()
}

impl Page {
    // Where the value at a slot stands: `ABSENT` if there is none. Nobody waits for the value itself yet.
    #[inline]
    fn find(&self, slot: u32) -> (Kind, &u64) {
        let place = slot as usize % PAGE_SLOTS;
        match self {
            Page::All(kind, all) => (*kind, &all[place]),
            Page::Few(kind, few) => (*kind, find(few, place).map_or(&ABSENT, |found| &few[found].1)),
            Page::Empty => (Kind::Boolean, &ABSENT),
        }
    }

    // True if it can hold a value of this kind at this place: it keeps its kind as long as it holds another value.
    fn admits(&self, kind: Kind, place: usize) -> bool {
        match self {
            Page::Empty => true,
            Page::Few(known, _) | Page::All(known, _) if *known == kind => true,
            Page::Few(_, few) => few.iter().all(|(at, _)| usize::from(*at) == place),
            Page::All(_, all) => all.iter().enumerate().all(|(at, word)| at == place || *word == ABSENT),
        }
    }

    // Holds a value that it admits.
    fn hold(&mut self, kind: Kind, place: usize, word: u64) {
        self.drop_at(place);
        match self {
            Page::Empty => *self = Page::Few(kind, Arc::new(vec![(place as u8, word)])),
            Page::Few(_, few) if few.len() < FEW_MAX => {
                let at = few.partition_point(|(at, _)| usize::from(*at) < place);
                Arc::make_mut(few).insert(at, (place as u8, word));
            }
            Page::Few(_, few) => {
                let mut all = [ABSENT; PAGE_SLOTS];
                few.iter().for_each(|(at, word)| all[usize::from(*at)] = *word);
                all[place] = word;
                *self = Page::All(kind, Arc::new(all));
            }
            Page::All(_, all) => Arc::make_mut(all)[place] = word,
        }
    }

    // Holds nothing at this place any more.
    fn drop_at(&mut self, place: usize) {
        match self {
            Page::Empty => {}
            Page::Few(_, few) => {
                if let Some(found) = find(few, place) {
                    Arc::make_mut(few).remove(found);
                }
                if few.is_empty() {
                    *self = Page::Empty;
                }
            }
            Page::All(_, all) if all[place] == ABSENT => {}
            Page::All(_, all) if all.iter().enumerate().all(|(at, word)| at == place || *word == ABSENT) => {
                *self = Page::Empty;
            }
            Page::All(_, all) => Arc::make_mut(all)[place] = ABSENT,
        }
    }
}

impl Columns {
    pub(crate) fn new() -> Columns {
        Columns { columns: Vector::new() }
    }

    /// The value of a property at `slot`; `None` also if only the row has it.
    #[inline]
    pub(crate) fn get(&self, name: Symbol, slot: u32) -> Option<Value> {
        let (kind, word) = self.word(name, slot);
        value_of(kind, word)
    }

    // Gives registers, and is not inlined, so that what makes values of them is: what goes through memory, written in
    // parts and read as a whole, is waited for.
    #[inline(never)]
    fn word(&self, name: Symbol, slot: u32) -> (Kind, u64) {
        let (kind, word) = self.columns.get(name.index()).map_or(NOWHERE, |column| column.find(slot));
        (kind, *word)
    }

    /// Calls `take` with the same at each of `slots`, in order.
    #[inline]
    pub(crate) fn each(&self, name: Symbol, slots: &[u32], mut take: impl FnMut(u32, Option<&Value>)) {
        match self.columns.get(name.index()) {
            Some(column) => column.each(slots, take),
            None => slots.iter().for_each(|slot| take(*slot, None)),
        }
    }

    /// Says which value of a property is held at `slot` now.
    pub(crate) fn put(&mut self, name: Symbol, slot: u32, value: Option<&Value>) {
        while self.columns.len() <= name.index() {
            self.columns.push(Column { pages: Vector::new() });
        }
        self.columns.get_mut(name.index()).expect("grown above").put(slot, value);
    }
}

impl Column {
    #[inline]
    fn find(&self, slot: u32) -> (Kind, &u64) {
        self.pages.get(slot as usize / PAGE_SLOTS).map_or(NOWHERE, |page| page.find(slot))
    }

    // First where the values stand, then the values, then what is done with them: the fewer instructions between two values,
    // the more of them the processor waits for together.
    #[inline]
    fn each(&self, slots: &[u32], mut take: impl FnMut(u32, Option<&Value>)) {
        for slots in slots.chunks(AHEAD) {
            let (mut kinds, mut places) = ([Kind::Boolean; AHEAD], [&ABSENT; AHEAD]);
            for ((kind, place), slot) in kinds.iter_mut().zip(&mut places).zip(slots) {
                (*kind, *place) = self.find(*slot);
            }
            let words = places.map(|place| *place);
            for ((kind, word), slot) in kinds.iter().zip(words).zip(slots) {
                // Whoever takes a value knows its kind at each place: then it stays in a register.
                match (kind, word) {
                    (_, ABSENT) => take(*slot, None),
                    (Kind::Integer, word) => take(*slot, Some(&Value::Integer(word.cast_signed()))),
                    (Kind::Float, word) => take(*slot, Some(&Value::Float(f64::from_bits(word)))),
                    (kind, word) => take(*slot, value_of(*kind, word).as_ref()),
                }
            }
        }
    }

    fn put(&mut self, slot: u32, value: Option<&Value>) {
        let (at, place) = (slot as usize / PAGE_SLOTS, slot as usize % PAGE_SLOTS);
        let admits = |kind| self.pages.get(at).is_none_or(|page| page.admits(kind, place));
        let word = value.and_then(word_of).filter(|(kind, _)| admits(*kind));
        if word.is_none() && *self.find(slot).1 == ABSENT {
            return;
        }
        while self.pages.len() <= at {
            self.pages.push(Page::Empty);
        }
        let page = self.pages.get_mut(at).expect("grown above");
        match word {
            Some((kind, word)) => page.hold(kind, place, word),
            None => page.drop_at(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn value() -> impl Strategy<Value = Option<Value>> {
        prop_oneof![
            Just(None),
            any::<i64>().prop_map(|n| Some(Value::Integer(n))),
            Just(Some(Value::Integer(ABSENT.cast_signed()))),
            any::<bool>().prop_map(|b| Some(Value::Boolean(b))),
            Just(Some(Value::Float(1.5))),
            Just(Some(Value::from("text"))),
            any::<i32>().prop_map(|n| Some(Value::Timestamp(Instant::from_checked_micros(n.into())))),
        ]
    }

    proptest! {
        #[test]
        fn a_column_gives_the_value_held_now_or_nothing(
            steps in proptest::collection::vec((0u32..200, value()), 0..300),
        ) {
            let mut columns = Columns::new();
            let mut model: HashMap<u32, Option<Value>> = HashMap::new();
            let mut earlier = Vec::new();
            for (slot, value) in steps {
                columns.put(Symbol(1), slot, value.as_ref());
                model.insert(slot, value);
                earlier.push((columns.clone(), model.clone()));
            }
            for (columns, model) in &earlier {
                for slot in 0..200 {
                    let found = columns.get(Symbol(1), slot);
                    prop_assert!(found.is_none() || Some(&found) == model.get(&slot), "slot {}", slot);
                }
            }
        }
    }

    #[test]
    fn values_of_one_kind_are_all_held() {
        let mut columns = Columns::new();
        for slot in 0..300 {
            columns.put(Symbol(0), slot, Some(&Value::Integer(i64::from(slot))));
        }
        assert!((0..300).all(|slot| columns.get(Symbol(0), slot) == Some(Value::Integer(i64::from(slot)))));
    }
}
