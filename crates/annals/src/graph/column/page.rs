//! The values of one property at neighbouring slots, each in as many bits as the widest of them takes.

use std::sync::Arc;

use crate::model::{Instant, Value};

/// So many that the list of all pages stays in the cache of a processor. Few where columns are tested, so that there are many.
pub(super) const PAGE_SLOTS: usize = if cfg!(test) { 64 } else { 1024 };
/// So many values of a page stand with their places; more get the room of all.
const FEW_MAX: usize = PAGE_SLOTS / 8;
/// Stands where a page holds no value. The value that this word would be is only in its row: the least integer but one,
/// the largest negative float.
pub(super) const ABSENT: i64 = i64::MIN + 1;

/// The values of neighbouring slots that are of one kind; those of other kinds are only in the rows. What is asked of
/// every page stands here, beside the pointer, so that a value takes one line of the memory behind it.
#[derive(Clone)]
pub(super) enum Page {
    Empty,
    // Instances of many types by turns: each property is of few of them. Shape: place, word; in the order of places.
    Few(Kind, Arc<Vec<(u16, i64)>>),
    Bits8(Kind, Arc<All<i8>>),
    Bits16(Kind, Arc<All<i16>>),
    Bits32(Kind, Arc<All<i32>>),
    Bits64(Kind, Arc<All<i64>>),
}

// With room for a value at every place.
type All<B> = [B; PAGE_SLOTS];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Float,
    Timestamp,
}

/// Where a value stands. Nobody waits for the value itself yet.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Nowhere,
    Bits8(&'p i8),
    Bits16(&'p i16),
    Bits32(&'p i32),
    Bits64(&'p i64),
}

// A word without the high bits that repeat its sign.
trait Bits: Copy + Eq + TryFrom<i64> + Into<i64> {
    // Stands where there is no value.
    const ABSENT: Self;

    // `None` if the word takes more.
    fn of(word: i64) -> Option<Self> {
        Self::try_from(word).ok().filter(|bits| !bits.is_absent())
    }

    #[inline(always)]
    fn word(self) -> i64 {
        if self.is_absent() { ABSENT } else { self.into() }
    }

    #[inline(always)]
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

/// `None` for what is only in rows.
pub(super) fn word_of(value: &Value) -> Option<(Kind, i64)> {
    let (kind, word) = match value {
        Value::Boolean(boolean) => (Kind::Boolean, i64::from(*boolean)),
        Value::Integer(number) => (Kind::Integer, *number),
        Value::Float(number) => (Kind::Float, number.to_bits().cast_signed()),
        Value::Timestamp(instant) => (Kind::Timestamp, instant.micros()),
        _ => return None,
    };
    (word != ABSENT).then_some((kind, word))
}

/// The value that a word of a page stands for.
#[inline]
pub(super) fn value_of(kind: Kind, word: i64) -> Option<Value> {
    if word == ABSENT {
        return None;
    }
    Some(match kind {
        Kind::Integer => Value::Integer(word),
        Kind::Float => Value::Float(f64::from_bits(word.cast_unsigned())),
        Kind::Boolean => Value::Boolean(word != 0),
        Kind::Timestamp => Value::Timestamp(Instant::from_checked_micros(word)),
    })
}

impl Place<'_> {
    /// `ABSENT` if there is no value.
    #[inline(always)]
    pub(super) fn word(self) -> i64 {
        match self {
            Place::Nowhere => ABSENT,
            Place::Bits8(bits) => bits.word(),
            Place::Bits16(bits) => bits.word(),
            Place::Bits32(bits) => bits.word(),
            Place::Bits64(bits) => bits.word(),
        }
    }
}

// Does the same with a page that has room for all values, whatever their width.
macro_rules! match_page {
    ($page:expr, $kind:pat, $all:pat => $result:expr, $($others:tt)*) => {
        match $page {
            Page::Bits8($kind, $all) => $result,
            Page::Bits16($kind, $all) => $result,
            Page::Bits32($kind, $all) => $result,
            Page::Bits64($kind, $all) => $result,
            $($others)*
        }
    };
}

impl Page {
    /// Where the value at a place stands.
    #[inline(always)]
    pub(super) fn find(&self, place: usize) -> (Kind, Place<'_>) {
        match self {
            Page::Bits8(kind, all) => (*kind, Place::Bits8(&all[place])),
            Page::Bits16(kind, all) => (*kind, Place::Bits16(&all[place])),
            Page::Bits32(kind, all) => (*kind, Place::Bits32(&all[place])),
            Page::Bits64(kind, all) => (*kind, Place::Bits64(&all[place])),
            Page::Few(kind, few) => {
                (*kind, find(few, place).map_or(Place::Nowhere, |at| Place::Bits64(&few[at].1)))
            }
            Page::Empty => (Kind::Boolean, Place::Nowhere),
        }
    }

    /// True if it can hold a value of this kind at this place: it keeps its kind as long as it holds another value.
    pub(super) fn admits(&self, kind: Kind, place: usize) -> bool {
        let is_its_kind = match_page!(self, known, _ => *known == kind,
            Page::Few(known, _) => *known == kind,
            Page::Empty => true,
        );
        is_its_kind || self.holds_none_but(place)
    }

    fn holds_none_but(&self, place: usize) -> bool {
        match_page!(self, _, all => all.iter().enumerate().all(|(at, bits)| at == place || bits.is_absent()),
            Page::Few(_, few) => few.iter().all(|(at, _)| usize::from(*at) == place),
            Page::Empty => true,
        )
    }

    /// Holds a value that it admits.
    pub(super) fn hold(&mut self, kind: Kind, place: usize, word: i64) {
        self.drop_at(place);
        let value = (place as u16, word);
        match self {
            Page::Empty => *self = Page::Few(kind, Arc::new(vec![value])),
            Page::Few(_, few) if few.len() < FEW_MAX => {
                let at = few.partition_point(|(at, _)| *at < value.0);
                Arc::make_mut(few).insert(at, value);
            }
            page => {
                if !match_page!(page, _, all => put(all, place, word), _ => false) {
                    let mut values = page.values();
                    values.push(value);
                    *page = Page::of_all(kind, &values);
                }
            }
        }
    }

    /// Holds nothing at this place any more.
    pub(super) fn drop_at(&mut self, place: usize) {
        if self.find(place).1.word() == ABSENT {
            return;
        }
        if self.holds_none_but(place) {
            *self = Page::Empty;
        }
        match_page!(self, _, all => Arc::make_mut(all)[place] = Bits::ABSENT,
            Page::Few(_, few) => Arc::make_mut(few).retain(|(at, _)| usize::from(*at) != place),
            Page::Empty => {}
        );
    }

    // Shape: place, word.
    fn values(&self) -> Vec<(u16, i64)> {
        let places = 0..PAGE_SLOTS;
        let held = places.map(|place| (place as u16, self.find(place).1.word()));
        held.filter(|(_, word)| *word != ABSENT).collect()
    }

    // With room for all, in as many bits as the widest of these values takes.
    fn of_all(kind: Kind, values: &[(u16, i64)]) -> Page {
        let in_8 = all(values).map(|all| Page::Bits8(kind, all));
        in_8.or_else(|| all(values).map(|all| Page::Bits16(kind, all)))
            .or_else(|| all(values).map(|all| Page::Bits32(kind, all)))
            .or_else(|| all(values).map(|all| Page::Bits64(kind, all)))
            .expect("a word has 64 bits")
    }
}

// `None` if one of them takes more bits.
fn all<B: Bits>(values: &[(u16, i64)]) -> Option<Arc<All<B>>> {
    let mut all = [B::ABSENT; PAGE_SLOTS];
    for (place, word) in values {
        all[usize::from(*place)] = B::of(*word)?;
    }
    Some(Arc::new(all))
}

// False, and nothing changes, if the word takes more bits.
fn put<B: Bits>(all: &mut Arc<All<B>>, place: usize, word: i64) -> bool {
    B::of(word).map(|bits| Arc::make_mut(all)[place] = bits).is_some()
}

// Where the value of a place stands among few.
fn find(few: &[(u16, i64)], place: usize) -> Option<usize> {
    few.binary_search_by_key(&place, |(at, _)| usize::from(*at)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(words: impl Iterator<Item = i64>) -> Page {
        let mut page = Page::Empty;
        words.enumerate().for_each(|(place, word)| page.hold(Kind::Integer, place, word));
        page
    }

    #[test]
    fn a_page_takes_the_bits_of_its_widest_value() {
        let count = FEW_MAX as i64 + 1;
        let bits = |page: &Page| match page {
            Page::Empty => 0,
            Page::Few(..) => 1,
            Page::Bits8(..) => 8,
            Page::Bits16(..) => 16,
            Page::Bits32(..) => 32,
            Page::Bits64(..) => 64,
        };
        assert_eq!(bits(&filled(1..count)), 1);
        for (word, expected) in [
            (127, 8),
            (-127, 8),
            (128, 16),
            (-128, 16),
            (i16::MIN.into(), 32),
            (i32::MAX.into(), 32),
            (i32::MIN.into(), 64),
            (i64::MIN, 64),
        ] {
            let narrow = filled(0..count);
            let mut wider = narrow.clone();
            wider.hold(Kind::Integer, 3, word);
            assert_eq!((bits(&narrow), bits(&wider)), (8, expected), "{word}");
            let words = |page: &Page| [3, 4, PAGE_SLOTS - 1].map(|place| page.find(place).1.word());
            assert_eq!((words(&narrow), words(&wider)), ([3, 4, ABSENT], [word, 4, ABSENT]));
        }
    }

    #[test]
    fn a_page_that_lost_all_values_takes_another_kind() {
        let mut page = filled(0..PAGE_SLOTS as i64);
        (1..PAGE_SLOTS).for_each(|place| page.drop_at(place));
        assert!(page.admits(Kind::Float, 0) && !page.admits(Kind::Float, 1));
        page.drop_at(0);
        assert!(matches!(page, Page::Empty) && page.admits(Kind::Float, 1));
    }
}
