//! The short values of one property by slot: what a walk or a scan reads without looking at whole rows.

use std::sync::Arc;

use super::symbols::Symbol;
use super::vector::Vector;
use crate::model::{Instant, Value};

const PAGE_SLOTS: usize = 64;
/// How many pages are looked up at once.
const AHEAD: usize = 32;
/// Stands where a page holds no value. The value that this word would be is only in its row: the least integer but one,
/// the largest negative float.
const ABSENT: u64 = 1 << 63 | 1;

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
struct Page {
    // Of nothing while there are no words.
    kind: Kind,
    words: Option<Arc<[u64; PAGE_SLOTS]>>,
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

impl Page {
    // True if it holds a value at another place than this.
    fn holds_beside(&self, place: usize) -> bool {
        let mut words = self.words.iter().flat_map(|words| words.iter().enumerate());
        words.any(|(at, word)| at != place && *word != ABSENT)
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
        match self.columns.get(name.index()).and_then(|column| column.words(slot)) {
            Some((kind, words)) => (kind, words[slot as usize % PAGE_SLOTS]),
            None => (Kind::Boolean, ABSENT),
        }
    }

    /// The same at each of `slots`, in order.
    pub(crate) fn get_all(&self, name: Symbol, slots: &[u32]) -> Vec<Option<Value>> {
        let mut values = Vec::with_capacity(slots.len());
        match self.columns.get(name.index()) {
            Some(column) => column.get_all(slots, &mut values),
            None => values.resize(slots.len(), None),
        }
        values
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
    fn words(&self, slot: u32) -> Option<(Kind, &[u64; PAGE_SLOTS])> {
        let page = self.pages.get(slot as usize / PAGE_SLOTS)?;
        Some((page.kind, page.words.as_deref()?))
    }

    // Appends the value at each of `slots`. All pages of some slots are looked up before the first is read, so that the
    // processor waits for their memory together.
    fn get_all(&self, slots: &[u32], values: &mut Vec<Option<Value>>) {
        for slots in slots.chunks(AHEAD) {
            let mut pages = [None; AHEAD];
            for (page, slot) in pages.iter_mut().zip(slots) {
                *page = self.words(*slot);
            }
            values.extend(pages.iter().zip(slots).map(|(page, slot)| {
                page.and_then(|(kind, words)| value_of(kind, words[*slot as usize % PAGE_SLOTS]))
            }));
        }
    }

    fn put(&mut self, slot: u32, value: Option<&Value>) {
        let (at, place) = (slot as usize / PAGE_SLOTS, slot as usize % PAGE_SLOTS);
        let known = self.pages.get(at);
        // A page of another kind keeps its kind as long as it holds another value.
        let is_kept = |kind| known.is_none_or(|page| page.kind == kind || !page.holds_beside(place));
        let word = value.and_then(word_of).filter(|(kind, _)| is_kept(*kind));
        let holds = || known.and_then(|page| page.words.as_ref()).is_some_and(|words| words[place] != ABSENT);
        if word.is_none() && !holds() {
            return;
        }
        while self.pages.len() <= at {
            self.pages.push(Page { kind: Kind::Boolean, words: None });
        }
        let page = self.pages.get_mut(at).expect("grown above");
        match word {
            Some((kind, word)) => {
                page.kind = kind;
                let words = page.words.get_or_insert_with(|| Arc::new([ABSENT; PAGE_SLOTS]));
                Arc::make_mut(words)[place] = word;
            }
            None if page.holds_beside(place) => {
                Arc::make_mut(page.words.as_mut().expect("it holds the slot"))[place] = ABSENT;
            }
            None => page.words = None,
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
