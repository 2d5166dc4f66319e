//! The short values of one property by slot: walks and scans read these without reading whole rows.

mod page;

use std::sync::Arc;

use super::symbols::Symbol;
use crate::model::Value;
use crate::structures::vector::Vector;
use page::{ABSENT, ColumnPage, NumberKind, PAGE_SLOTS, value_of, word_of};

/// The result for a missing page.
const NOWHERE: (NumberKind, i64) = (NumberKind::Boolean, ABSENT);

/// The present booleans, integers, floats and timestamps of the instances of one table.
///
/// Rows have the same values, but columns are dense: the value of a slot is a few words away.
#[derive(Clone)]
pub(crate) struct Columns {
    // By property.
    columns: Vector<Column>,
}

/// Most values of a column without pages. There may be as many columns as names of properties, most of them with few
/// values, and the list of pages is as long as the greatest slot with a value requires.
const FEW_MAX: usize = 64;

/// The values of one property.
#[derive(Clone)]
pub(crate) struct Column(Form);

#[derive(Clone)]
enum Form {
    // Shape: slot, kind, word; in the order of slots. `None` for no values, which then take no memory.
    Few(Option<Arc<[Entry]>>),
    // A persistent vector of pages; a column that lost its values keeps this form.
    Many(Vector<ColumnPage>),
}

type Entry = (u32, NumberKind, i64);

impl Columns {
    pub(crate) fn new() -> Columns {
        Columns { columns: Vector::new() }
    }

    /// The value of a property at `slot`; `None` also if only the row has it.
    #[inline]
    pub(crate) fn get(&self, name: Symbol, slot: u32) -> Option<Value> {
        self.of(name)?.get(slot)
    }

    /// The values of a property; `None` if there never were any.
    #[inline]
    pub(crate) fn of(&self, name: Symbol) -> Option<&Column> {
        self.columns.get(name.index())
    }

    /// Sets the present value of a property at `slot`.
    pub(crate) fn put(&mut self, name: Symbol, slot: u32, value: Option<&Value>) {
        self.columns.grown_to(name.index(), || Column(Form::Few(None))).put(slot, value);
    }
}

impl Column {
    /// The value at `slot`; `None` also if only the row has it.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<Value> {
        let (kind, word) = match &self.0 {
            Form::Many(pages) => find_in(pages, slot),
            Form::Few(few) => find_among(few.as_deref().unwrap_or_default(), slot),
        };
        value_of(kind, word)
    }

    fn put(&mut self, slot: u32, value: Option<&Value>) {
        let word = value.and_then(word_of);
        match &mut self.0 {
            Form::Many(pages) => put_in(pages, slot, word),
            Form::Few(few) => {
                let entries = few.as_deref().unwrap_or_default();
                let Some(changed) = with_put(entries, slot, word) else { return };
                self.0 = if changed.len() <= FEW_MAX {
                    Form::Few((!changed.is_empty()).then(|| changed.into()))
                } else {
                    let mut pages = Vector::new();
                    changed
                        .iter()
                        .for_each(|(slot, kind, word)| put_in(&mut pages, *slot, Some((*kind, *word))));
                    Form::Many(pages)
                };
            }
        }
    }
}

#[inline]
fn find_in(pages: &Vector<ColumnPage>, slot: u32) -> (NumberKind, i64) {
    let (at, place) = at(slot);
    pages.get(at).map_or(NOWHERE, |page| page.find(place))
}

fn put_in(pages: &mut Vector<ColumnPage>, slot: u32, word: Option<(NumberKind, i64)>) {
    let (at, place) = at(slot);
    let can_hold = |kind| pages.get(at).is_none_or(|page| page.can_hold(kind, place));
    let word = word.filter(|(kind, _)| can_hold(*kind));
    if word.is_none() && find_in(pages, slot).1 == ABSENT {
        return;
    }
    let page = pages.grown_to(at, || ColumnPage::Empty);
    match word {
        Some((kind, word)) => page.hold(kind, place, word),
        None => page.drop_at(place),
    }
}

#[inline(never)]
fn find_among(few: &[Entry], slot: u32) -> (NumberKind, i64) {
    let found = few.binary_search_by_key(&slot, |(slot, ..)| *slot).map(|at| &few[at]);
    found.map_or(NOWHERE, |(_, kind, word)| (*kind, *word))
}

// `None` if nothing changes.
fn with_put(few: &[Entry], slot: u32, word: Option<(NumberKind, i64)>) -> Option<Vec<Entry>> {
    let (at, end) = match few.binary_search_by_key(&slot, |(slot, ..)| *slot) {
        Ok(at) => (at, at + 1),
        Err(at) => (at, at),
    };
    if word.is_none() && at == end {
        return None;
    }
    let own = word.map(|(kind, word)| (slot, kind, word));
    Some(few[..at].iter().copied().chain(own).chain(few[end..].iter().copied()).collect())
}

// The page of a slot, and the index in it.
#[inline]
fn at(slot: u32) -> (usize, usize) {
    (slot as usize / PAGE_SLOTS, slot as usize % PAGE_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Instant;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Number of slots in the test.
    const SLOTS: u32 = 400;
    /// This many of them are adjacent: with values at most of these, a page has room for all its places.
    const NEIGHBORS: u32 = 300;
    const _: () = assert!(NEIGHBORS > PAGE_SLOTS as u32 / 4 && NEIGHBORS < PAGE_SLOTS as u32);

    /// The slot with this number: many adjacent ones on one page, and a few on each of many others.
    fn slot(number: u32) -> u32 {
        if number < NEIGHBORS { number } else { number * (PAGE_SLOTS as u32 / 8) }
    }

    /// No number is wider than a width that is drawn first.
    fn numbers() -> impl Strategy<Value = Vec<(u32, Option<i64>)>> {
        let widths = [57, 49, 33, 1];
        (0..widths.len()).prop_flat_map(move |widest| {
            let shift = proptest::sample::select(widths[..=widest].to_vec());
            let number = (any::<i64>(), shift).prop_map(|(number, shift)| Some(number >> shift));
            let number = prop_oneof![8 => number, 1 => Just(None), 1 => Just(Some(ABSENT))];
            proptest::collection::vec((0..SLOTS, number), 0..1_200)
        })
    }

    fn value() -> impl Strategy<Value = Option<Value>> {
        let float =
            proptest::sample::select(vec![0.0, -0.0, 1.5, f64::NAN, f64::from_bits(ABSENT.cast_unsigned())]);
        prop_oneof![
            1 => Just(None),
            // Mostly one kind, because a page holds only one.
            12 => any::<i8>().prop_map(|number| Some(Value::Integer(number.into()))),
            1 => any::<bool>().prop_map(|boolean| Some(Value::Boolean(boolean))),
            1 => float.prop_map(|float| Some(Value::Float(float))),
            1 => Just(Some(Value::from("text"))),
            1 => any::<i32>()
                .prop_map(|micros| Some(Value::Timestamp(Instant::from_checked_micros(micros.into())))),
        ]
    }

    fn all(columns: &Columns) -> Vec<Option<Value>> {
        (0..SLOTS).map(|number| columns.get(Symbol(1), slot(number))).collect()
    }

    proptest! {
        #[test]
        fn a_column_gives_the_value_held_now_or_nothing(
            steps in proptest::collection::vec((0..SLOTS, value()), 0..1_000),
        ) {
            let mut columns = Columns::new();
            let mut model: HashMap<u32, Option<Value>> = HashMap::new();
            let mut earlier = Vec::new();
            for (step, (number, value)) in steps.into_iter().enumerate() {
                columns.put(Symbol(1), slot(number), value.as_ref());
                model.insert(number, value);
                if step % 20 == 0 {
                    earlier.push((columns.clone(), model.clone()));
                }
            }
            earlier.push((columns, model));
            for (columns, model) in &earlier {
                for (number, found) in (0..SLOTS).zip(all(columns)) {
                    prop_assert!(found.is_none() || Some(&found) == model.get(&number), "number {}", number);
                }
            }
        }

        #[test]
        fn values_of_one_kind_are_all_held(numbers in numbers(), is_float in any::<bool>()) {
            let mut columns = Columns::new();
            let mut model = vec![None; SLOTS as usize];
            for (at, number) in numbers {
                let float = |number: i64| Value::Float(f64::from_bits(number.cast_unsigned()));
                let value = number.map(|number| if is_float { float(number) } else { Value::Integer(number) });
                columns.put(Symbol(1), slot(at), value.as_ref());
                model[at as usize] = value.filter(|_| number != Some(ABSENT));
            }
            prop_assert_eq!(&all(&columns), &model);
        }
    }
}
