//! The values of one property at adjacent slots, each in as many bits as the widest of them takes.
#![expect(clippy::expect_used, reason = "every word fits the widest form of a page")]

use std::sync::Arc;

use crate::model::{Instant, Value};
use crate::structures::number::narrow;

/// A size at which the list of all pages stays in the cache of a core.
pub(crate) const PAGE_SLOTS: usize = 1024;
const _: () = assert!(PAGE_SLOTS <= u16::MAX as usize, "a place and a count have 16 bits");
/// A page with at most this many values stores them with their places; a page that had more keeps room for all until it
/// is empty.
const FEW_MAX: usize = PAGE_SLOTS / 8;
/// The word for no value. Values with this word are only in their rows: the least integer but one, the largest negative
/// float.
pub(crate) const ABSENT: i64 = i64::MIN + 1;

/// The values of adjacent slots that have one kind; values of other kinds are only in the rows. Fields that every read
/// needs are here, beside the pointer, so that a value takes one line of the memory behind it.
///
/// Invariant: a page that is not empty has a value.
#[derive(Clone)]
pub(crate) enum ColumnPage {
    Empty,
    // For instances of many types in turn, each property has few values. Shape: place, word; in the order of places.
    Few(NumberKind, Arc<Vec<(u16, i64)>>),
    Bits8(Head, Arc<All<i8>>),
    Bits16(Head, Arc<All<i16>>),
    Bits32(Head, Arc<All<i32>>),
    Bits64(Head, Arc<All<i64>>),
}

#[derive(Clone, Copy)]
pub(crate) struct Head {
    kind: NumberKind,
    // The number of values.
    count: u16,
}

// With room for a value at every place.
type All<B> = [B; PAGE_SLOTS];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Boolean,
    Integer,
    Float,
    Timestamp,
}

// A word without the high bits that repeat its sign.
trait Bits: Copy + Eq + TryFrom<i64> + Into<i64> {
    // Marks a missing value: the least number, except for 64 bits.
    const ABSENT: Self;

    // `None` if the word needs more bits.
    fn of(word: i64) -> Option<Self> {
        Self::try_from(word).ok().filter(|bits| !bits.is_absent())
    }

    #[inline]
    fn word(self) -> i64 {
        if self.is_absent() { ABSENT } else { self.into() }
    }

    #[inline]
    fn is_absent(self) -> bool {
        self == Self::ABSENT
    }
}

impl Bits for i8 {
    const ABSENT: i8 = i8::MIN;
}

impl Bits for i16 {
    const ABSENT: i16 = i16::MIN;
}

impl Bits for i32 {
    const ABSENT: i32 = i32::MIN;
}

impl Bits for i64 {
    const ABSENT: i64 = ABSENT;
}

/// `None` for values that are only in rows.
pub(crate) fn word_of(value: &Value) -> Option<(NumberKind, i64)> {
    let (kind, word) = match value {
        Value::Boolean(boolean) => (NumberKind::Boolean, i64::from(*boolean)),
        Value::Integer(number) => (NumberKind::Integer, *number),
        Value::Float(number) => (NumberKind::Float, number.to_bits().cast_signed()),
        Value::Timestamp(instant) => (NumberKind::Timestamp, instant.micros()),
        _ => return None,
    };
    (word != ABSENT).then_some((kind, word))
}

/// The value for a word of a page.
#[inline]
pub(crate) fn value_of(kind: NumberKind, word: i64) -> Option<Value> {
    if word == ABSENT {
        return None;
    }
    Some(match kind {
        NumberKind::Integer => Value::Integer(word),
        NumberKind::Float => Value::Float(f64::from_bits(word.cast_unsigned())),
        NumberKind::Boolean => Value::Boolean(word != 0),
        NumberKind::Timestamp => Value::Timestamp(Instant::from_checked_micros(word)),
    })
}

// Does the same for a page with room for all values, of any width.
macro_rules! match_page {
    ($page:expr, $head:pat, $all:pat => $result:expr, $($others:tt)*) => {
        match $page {
            ColumnPage::Bits8($head, $all) => $result,
            ColumnPage::Bits16($head, $all) => $result,
            ColumnPage::Bits32($head, $all) => $result,
            ColumnPage::Bits64($head, $all) => $result,
            $($others)*
        }
    };
}

impl ColumnPage {
    /// The word of the value at a place, with its kind; `ABSENT` if there is no value.
    #[inline]
    pub(crate) fn find(&self, place: usize) -> (NumberKind, i64) {
        match_page!(self, head, all => (head.kind, all[place].word()),
            ColumnPage::Few(kind, few) => (*kind, search(few, place).map_or(ABSENT, |at| few[at].1)),
            ColumnPage::Empty => (NumberKind::Boolean, ABSENT),
        )
    }

    /// True if it can store a value of this kind at this place: a page keeps its kind while it has another value.
    pub(crate) fn can_hold(&self, kind: NumberKind, place: usize) -> bool {
        self.is_of(kind) || self.count() == usize::from(self.holds(place))
    }

    fn is_of(&self, kind: NumberKind) -> bool {
        match_page!(self, head, _ => head.kind == kind,
            ColumnPage::Few(known, _) => *known == kind,
            ColumnPage::Empty => false,
        )
    }

    fn count(&self) -> usize {
        match_page!(self, head, _ => head.count.into(), ColumnPage::Few(_, few) => few.len(), ColumnPage::Empty => 0)
    }

    fn holds(&self, place: usize) -> bool {
        self.find(place).1.word() != ABSENT
    }

    /// Stores a value that it can hold.
    pub(crate) fn hold(&mut self, kind: NumberKind, place: usize, word: i64) {
        debug_assert!(self.can_hold(kind, place), "a page has values of one kind");
        if !self.is_of(kind) {
            *self = ColumnPage::Few(kind, Arc::default());
        }
        let is_held = match_page!(self, head, all => put(head, all, place, word),
            ColumnPage::Few(_, few) => put_among_few(few, place, word),
            ColumnPage::Empty => unreachable!("it is of this kind"),
        );
        if !is_held {
            // If two are at one place, the second counts, and the first is no wider than the page was.
            let held = (0..PAGE_SLOTS).map(|at| (at, self.find(at).1.word()));
            let values: Vec<_> = held.filter(|(_, word)| *word != ABSENT).chain([(place, word)]).collect();
            *self = ColumnPage::of_all(kind, &values);
        }
    }

    /// Removes the value at this place.
    pub(crate) fn drop_at(&mut self, place: usize) {
        if !self.holds(place) {
            return;
        }
        if self.count() == 1 {
            *self = ColumnPage::Empty;
            return;
        }
        match_page!(self, head, all => {
                head.count -= 1;
                Arc::make_mut(all)[place] = Bits::ABSENT;
            },
            ColumnPage::Few(_, few) => Arc::make_mut(few).retain(|(at, _)| usize::from(*at) != place),
            ColumnPage::Empty => unreachable!("it holds two values"),
        );
    }

    // A page with room for all, in as many bits as the widest of these values takes. Shape: place, word.
    fn of_all(kind: NumberKind, values: &[(usize, i64)]) -> ColumnPage {
        let page = in_bits(kind, values).map(|(head, all)| ColumnPage::Bits8(head, all));
        page.or_else(|| in_bits(kind, values).map(|(head, all)| ColumnPage::Bits16(head, all)))
            .or_else(|| in_bits(kind, values).map(|(head, all)| ColumnPage::Bits32(head, all)))
            .or_else(|| in_bits(kind, values).map(|(head, all)| ColumnPage::Bits64(head, all)))
            .expect("a word has 64 bits")
    }
}

// `None` if one of them takes more bits.
fn in_bits<B: Bits>(kind: NumberKind, values: &[(usize, i64)]) -> Option<(Head, Arc<All<B>>)> {
    let mut head = Head { kind, count: 0 };
    let mut all = Arc::new([B::ABSENT; PAGE_SLOTS]);
    let has_room = values.iter().all(|(place, word)| put(&mut head, &mut all, *place, *word));
    has_room.then_some((head, all))
}

// False, and nothing changes, if the word takes more bits.
fn put<B: Bits>(head: &mut Head, all: &mut Arc<All<B>>, place: usize, word: i64) -> bool {
    let Some(bits) = B::of(word) else { return false };
    let old = std::mem::replace(&mut Arc::make_mut(all)[place], bits);
    head.count += u16::from(old.is_absent());
    true
}

// False, and nothing changes, if there are too many.
fn put_among_few(few: &mut Arc<Vec<(u16, i64)>>, place: usize, word: i64) -> bool {
    match search(few, place) {
        Ok(at) => Arc::make_mut(few)[at].1 = word,
        Err(_) if few.len() == FEW_MAX => return false,
        Err(at) => Arc::make_mut(few).insert(at, (narrow(place), word)),
    }
    true
}

// The index of the value at a place among few, or the index to insert it at.
fn search(few: &[(u16, i64)], place: usize) -> Result<usize, usize> {
    few.binary_search_by_key(&place, |(at, _)| usize::from(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(page: &ColumnPage) -> u32 {
        match page {
            ColumnPage::Empty => 0,
            ColumnPage::Few(..) => 1,
            ColumnPage::Bits8(..) => 8,
            ColumnPage::Bits16(..) => 16,
            ColumnPage::Bits32(..) => 32,
            ColumnPage::Bits64(..) => 64,
        }
    }

    #[test]
    fn a_page_takes_the_bits_of_its_widest_value() {
        let few = (0..FEW_MAX).fold(ColumnPage::Empty, |mut page, place| {
            page.hold(NumberKind::Integer, place, i64::MIN);
            page
        });
        assert_eq!(bits(&few), 1);
        let of_width = [
            (8, [127, -127]),
            (16, [128, -128]),
            (16, [i16::MAX.into(), -i64::from(i16::MAX)]),
            (32, [i64::from(i16::MAX) + 1, i16::MIN.into()]),
            (32, [i32::MAX.into(), -i64::from(i32::MAX)]),
            (64, [i64::from(i32::MAX) + 1, i32::MIN.into()]),
            (64, [i64::MAX, i64::MIN]),
        ];
        for (bits_before, [word, _]) in of_width {
            let mut page = ColumnPage::Empty;
            (0..=FEW_MAX).for_each(|place| page.hold(NumberKind::Integer, place, word - place as i64));
            assert_eq!(bits(&page), bits_before);
            for (bits_of, words) in of_width {
                for word_after in words {
                    let mut after = page.clone();
                    after.hold(NumberKind::Integer, 3, word_after);
                    assert_eq!((bits(&after), after.count()), (bits_before.max(bits_of), FEW_MAX + 1));
                    let words =
                        |page: &ColumnPage| [3, 4, PAGE_SLOTS - 1].map(|place| page.find(place).1.word());
                    assert_eq!(words(&page), [word - 3, word - 4, ABSENT]);
                    assert_eq!(words(&after), [word_after, word - 4, ABSENT]);
                }
            }
        }
    }

    #[test]
    fn a_page_that_lost_all_values_but_one_takes_another_kind_in_its_place() {
        let mut page = ColumnPage::Empty;
        (0..PAGE_SLOTS).for_each(|place| page.hold(NumberKind::Integer, place, 7));
        (1..PAGE_SLOTS).for_each(|place| page.drop_at(place));
        assert!(page.can_hold(NumberKind::Float, 0) && !page.can_hold(NumberKind::Float, 1));
        page.hold(NumberKind::Float, 0, 8);
        assert!(page.is_of(NumberKind::Float) && page.count() == 1 && page.find(0).1.word() == 8);
        page.drop_at(0);
        assert!(matches!(page, ColumnPage::Empty) && page.can_hold(NumberKind::Integer, 1));
    }
}
