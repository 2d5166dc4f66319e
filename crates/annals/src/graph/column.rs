//! The short values of one property by slot: what a walk or a scan reads without looking at whole rows.

use std::sync::Arc;

use super::vector::Vector;
use crate::model::{Instant, Value};

const PAGE_SLOTS: usize = 64;
/// How many pages are looked up at once.
const AHEAD: usize = 32;

/// A persistent vector of the booleans, integers, floats and timestamps of one property.
///
/// It holds no more than rows do, but densely: a value by its slot is a few words away.
#[derive(Clone)]
pub(crate) struct Column {
    pages: Vector<Option<Arc<Page>>>,
}

// The values of neighbouring slots that are of one kind; those of other kinds are only in the rows.
#[derive(Clone)]
struct Page {
    kind: Kind,
    // Bit `n` is set when the page holds the value of its slot `n`.
    present: u64,
    words: [u64; PAGE_SLOTS],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    Float,
    Timestamp,
}

fn word_of(value: &Value) -> Option<(Kind, u64)> {
    Some(match value {
        Value::Boolean(boolean) => (Kind::Boolean, u64::from(*boolean)),
        Value::Integer(number) => (Kind::Integer, number.cast_unsigned()),
        Value::Float(number) => (Kind::Float, number.to_bits()),
        Value::Timestamp(instant) => (Kind::Timestamp, instant.micros().cast_unsigned()),
        _ => return None,
    })
}

impl Page {
    #[inline]
    fn get(&self, slot: u32) -> Option<Value> {
        let place = slot as usize % PAGE_SLOTS;
        let word = self.words[place];
        if self.present >> place & 1 == 0 {
            return None;
        }
        Some(match self.kind {
            Kind::Integer => Value::Integer(word.cast_signed()),
            Kind::Float => Value::Float(f64::from_bits(word)),
            Kind::Boolean => Value::Boolean(word != 0),
            Kind::Timestamp => Value::Timestamp(Instant::from_checked_micros(word.cast_signed())),
        })
    }
}

impl Column {
    pub(crate) fn new() -> Column {
        Column { pages: Vector::new() }
    }

    /// The value at `slot`; `None` also if only the row has it.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<Value> {
        self.page(slot)?.get(slot)
    }

    #[inline]
    fn page(&self, slot: u32) -> Option<&Page> {
        self.pages.get(slot as usize / PAGE_SLOTS)?.as_deref()
    }

    /// Appends the value at each of `slots`, as [`Column::get`] has it. All pages of some slots are looked up before
    /// the first is read, so that the processor waits for their memory together.
    pub(crate) fn get_all(&self, slots: &[u32], values: &mut Vec<Option<Value>>) {
        for slots in slots.chunks(AHEAD) {
            let mut pages = [None; AHEAD];
            for (page, slot) in pages.iter_mut().zip(slots) {
                *page = self.page(*slot);
            }
            values.extend(pages.iter().zip(slots).map(|(page, slot)| page.and_then(|page| page.get(*slot))));
        }
    }

    /// Says which value is held at `slot` now.
    pub(crate) fn put(&mut self, slot: u32, value: Option<&Value>) {
        let (at, place) = (slot as usize / PAGE_SLOTS, slot as usize % PAGE_SLOTS);
        let word = value.and_then(word_of);
        let known = self.pages.get(at).and_then(Option::as_ref);
        // A page of another kind keeps its kind as long as it holds another value.
        let is_kept = |kind| known.is_none_or(|page| page.kind == kind || page.present & !(1 << place) == 0);
        let word = word.filter(|(kind, _)| is_kept(*kind));
        if word.is_none() && known.is_none_or(|page| page.present >> place & 1 == 0) {
            return;
        }
        while self.pages.len() <= at {
            self.pages.push(None);
        }
        let page = self.pages.get_mut(at).expect("grown above");
        match word {
            Some((kind, word)) => {
                let empty = || Arc::new(Page { kind, present: 0, words: [0; PAGE_SLOTS] });
                let page = Arc::make_mut(page.get_or_insert_with(empty));
                page.kind = kind;
                page.present |= 1 << place;
                page.words[place] = word;
            }
            None => {
                let held = Arc::make_mut(page.as_mut().expect("it holds the slot"));
                held.present &= !(1 << place);
                if held.present == 0 {
                    *page = None;
                }
            }
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
            let mut column = Column::new();
            let mut model: HashMap<u32, Option<Value>> = HashMap::new();
            let mut earlier = Vec::new();
            for (slot, value) in steps {
                column.put(slot, value.as_ref());
                model.insert(slot, value);
                earlier.push((column.clone(), model.clone()));
            }
            for (column, model) in &earlier {
                for slot in 0..200 {
                    let found = column.get(slot);
                    prop_assert!(found.is_none() || Some(&found) == model.get(&slot), "slot {}", slot);
                }
            }
        }
    }

    #[test]
    fn values_of_one_kind_are_all_held() {
        let mut column = Column::new();
        for slot in 0..300 {
            column.put(slot, Some(&Value::Integer(i64::from(slot))));
        }
        assert!((0..300).all(|slot| column.get(slot) == Some(Value::Integer(i64::from(slot)))));
    }
}
