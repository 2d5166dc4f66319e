//! Rows of bytes by number, 32 to a page, so that a million of them are a few ten thousand blocks of memory.

use std::ops::Range;
use std::sync::Arc;

use crate::structures::number::narrow;
use crate::structures::vector::Vector;

/// Rows of one page.
pub(crate) const PAGE_ROWS: usize = 32;
const END_BYTES: usize = 2;
const ENDS_BYTES: usize = PAGE_ROWS * END_BYTES;
/// Longest row: two bytes must hold the end of every row of a page.
pub(crate) const ROW_BYTES_MAX: usize = u16::MAX as usize / PAGE_ROWS;

/// Free room in a copy of the tail, and the step in which it grows: with few different sizes the allocator reuses
/// blocks.
/// Units: bytes.
const ROOM_BYTES: usize = 1 << 10;
const ROOM_STEP: usize = 1 << 12;

/// A persistent vector of rows. A clone costs a few reference counts; the first replacement of a row after it copies
/// the page. Further rows of the page are replaced in place, unless their length changes.
///
/// Shape of a page: the end of each row (2 bytes each, little endian, counted from the end of this table), then the
/// rows side by side.
/// Units: a row has at most 2,047 bytes.
#[derive(Clone)]
pub(crate) struct Rows {
    pages: Vector<Arc<[u8]>>,
    // Invariant: holds fewer than PAGE_ROWS rows, which come after the last page.
    tail: Arc<Tail>,
}

struct Tail {
    ends: Vec<u16>,
    bytes: Vec<u8>,
}

impl Rows {
    pub(crate) fn new() -> Rows {
        Rows { pages: Vector::new(), tail: Arc::new(Tail::new()) }
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len() * PAGE_ROWS + self.tail.ends.len()
    }

    /// The row at `index`; `None` from `len` on.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let place = index % PAGE_ROWS;
        match self.pages.get(index / PAGE_ROWS) {
            Some(page) => Some(row_of(page, place)),
            None if index / PAGE_ROWS > self.pages.len() => None,
            None => self.tail.get(place),
        }
    }

    /// Adds a row at the end.
    pub(crate) fn push(&mut self, row: &[u8]) {
        assert_bounded(row);
        let tail = Arc::make_mut(&mut self.tail);
        tail.bytes.extend_from_slice(row);
        tail.ends.push(narrow(tail.bytes.len()));
        if tail.ends.len() == PAGE_ROWS {
            self.pages.push(page_from(&tail.ends, &tail.bytes));
            tail.ends.clear();
            tail.bytes.clear();
        }
    }

    /// Replaces the row at `index`, which must exist.
    pub(crate) fn set(&mut self, index: usize, row: &[u8]) {
        assert_bounded(row);
        let place = index % PAGE_ROWS;
        match self.pages.get_mut(index / PAGE_ROWS) {
            Some(page) => replace(page, place, row),
            None => Arc::make_mut(&mut self.tail).set(place, row),
        }
    }

    /// Replaces the rows at these indexes, which must exist: each page is copied once.
    ///
    /// Shape: indexes ascending, each once.
    pub(crate) fn set_sorted<R: AsRef<[u8]>>(&mut self, rows: &[(u32, R)]) {
        for of_page in
            rows.chunk_by(|(one, _), (next, _)| *one as usize / PAGE_ROWS == *next as usize / PAGE_ROWS)
        {
            let page_index = of_page[0].0 as usize / PAGE_ROWS;
            let Some(page) = self.pages.get_mut(page_index).filter(|_| of_page.len() > 1) else {
                of_page.iter().for_each(|(index, row)| self.set(*index as usize, row.as_ref()));
                continue;
            };
            let mut others = of_page.iter().peekable();
            let changed = rows_of(page).zip(page_index * PAGE_ROWS..).map(|(row, index)| {
                let other = others.next_if(|(other, _)| *other as usize == index);
                other.map_or(row, |(_, other)| other.as_ref())
            });
            *page = page_of(changed).into();
        }
    }

    /// All rows in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let of_tail = (0..self.tail.ends.len()).filter_map(|place| self.tail.get(place));
        self.pages.iter().flat_map(|page| rows_of(page)).chain(of_tail)
    }

    /// The whole pages, then a page with the rest, if there is any. [`Rows::push_page`] reads them.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Arc<[u8]>> {
        let rest = (!self.tail.ends.is_empty()).then(|| {
            let mut ends = self.tail.ends.clone();
            ends.resize(PAGE_ROWS, narrow(self.tail.bytes.len()));
            page_from(&ends, &self.tail.bytes)
        });
        self.pages.iter().cloned().chain(rest)
    }

    /// Adds the first `count` rows of a page from a file after whole pages; `None` if it is malformed or does not
    /// belong there. It does not check the rows themselves.
    pub(crate) fn push_page(&mut self, page: Arc<[u8]>, count: usize) -> Option<()> {
        if !is_page(&page) || !self.tail.ends.is_empty() || count > PAGE_ROWS {
            return None;
        }
        if count == PAGE_ROWS {
            self.pages.push(page);
            return Some(());
        }
        let ends: Vec<u16> = (0..count).map(|place| narrow(end_of(&page, place))).collect();
        let bytes = page[ENDS_BYTES..ENDS_BYTES + usize::from(*ends.last()?)].to_vec();
        self.tail = Arc::new(Tail { ends, bytes });
        Some(())
    }
}

/// True if rows can be read from these bytes of a file.
pub(crate) fn is_page(page: &[u8]) -> bool {
    page.len() >= ENDS_BYTES
        && (1..PAGE_ROWS).all(|place| end_of(page, place - 1) <= end_of(page, place))
        && end_of(page, PAGE_ROWS - 1) == page.len() - ENDS_BYTES
}

/// The rows of a page.
pub(crate) fn rows_of(page: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..PAGE_ROWS).map(|place| row_of(page, place))
}

/// A page of these rows, at most [`PAGE_ROWS`], filled up with empty ones.
pub(crate) fn page_of<'r>(rows: impl Iterator<Item = &'r [u8]>) -> Vec<u8> {
    let mut page = vec![0; ENDS_BYTES];
    let mut count = 0;
    for row in rows.take(PAGE_ROWS) {
        assert_bounded(row);
        page.extend_from_slice(row);
        let end: u16 = narrow(page.len() - ENDS_BYTES);
        page[END_BYTES * count..END_BYTES * (count + 1)].copy_from_slice(&end.to_le_bytes());
        count += 1;
    }
    let end: u16 = narrow(page.len() - ENDS_BYTES);
    for place in count..PAGE_ROWS {
        page[END_BYTES * place..END_BYTES * (place + 1)].copy_from_slice(&end.to_le_bytes());
    }
    page
}

fn page_from(ends: &[u16], rows: &[u8]) -> Arc<[u8]> {
    let mut page = Vec::with_capacity(ENDS_BYTES + rows.len());
    page.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    page.extend_from_slice(rows);
    page.into()
}

fn assert_bounded(row: &[u8]) {
    assert!(row.len() <= ROW_BYTES_MAX, "a row has {} bytes, at most {ROW_BYTES_MAX} are allowed", row.len());
}

#[inline]
fn end_of(page: &[u8], place: usize) -> usize {
    usize::from(u16::from_le_bytes([page[END_BYTES * place], page[END_BYTES * place + 1]]))
}

/// The range of the row at `place` in its page.
#[inline]
fn range_of(page: &[u8], place: usize) -> Range<usize> {
    let start = if place == 0 { 0 } else { end_of(page, place - 1) };
    ENDS_BYTES + start..ENDS_BYTES + end_of(page, place)
}

#[inline]
fn row_of(page: &[u8], place: usize) -> &[u8] {
    &page[range_of(page, place)]
}

/// Replaces the row at `place`.
fn replace(page: &mut Arc<[u8]>, place: usize, row: &[u8]) {
    let range = range_of(page, place);
    if range.len() == row.len() {
        Arc::make_mut(page)[range].copy_from_slice(row);
        return;
    }
    let mut copy = Vec::with_capacity(page.len() + row.len() - range.len());
    copy.extend_from_slice(&page[..END_BYTES * place]);
    for following in place..PAGE_ROWS {
        let moved = end_of(page, following) + row.len() - range.len();
        copy.extend_from_slice(&narrow::<u16, usize>(moved).to_le_bytes());
    }
    copy.extend_from_slice(&page[ENDS_BYTES..range.start]);
    copy.extend_from_slice(row);
    copy.extend_from_slice(&page[range.end..]);
    *page = copy.into();
}

impl Clone for Tail {
    // Leaves room for some rows, because a tail is copied to be extended.
    fn clone(&self) -> Tail {
        let mut tail = Tail::new();
        tail.ends.extend_from_slice(&self.ends);
        tail.bytes.reserve_exact((self.bytes.len() + ROOM_BYTES).next_multiple_of(ROOM_STEP));
        tail.bytes.extend_from_slice(&self.bytes);
        tail
    }
}

impl Tail {
    fn new() -> Tail {
        Tail { ends: Vec::with_capacity(PAGE_ROWS), bytes: Vec::new() }
    }

    fn start(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |before| self.ends[before].into())
    }

    #[inline]
    fn get(&self, place: usize) -> Option<&[u8]> {
        let end = usize::from(*self.ends.get(place)?);
        Some(&self.bytes[self.start(place)..end])
    }

    fn set(&mut self, place: usize, row: &[u8]) {
        let (start, end) = (self.start(place), usize::from(self.ends[place]));
        self.bytes.splice(start..end, row.iter().copied());
        let (before, after): (u16, u16) = (narrow(end - start), narrow(row.len()));
        self.ends[place..].iter_mut().for_each(|following| *following = *following - before + after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_behave_as_a_vector_and_clones_keep_what_they_had(
            // Short rows often have the length of those they replace.
            steps in proptest::collection::vec((0usize..300, prop_oneof![0usize..8, 0usize..70], any::<u8>()), 0..300),
        ) {
            let mut rows = Rows::new();
            let mut model: Vec<Vec<u8>> = Vec::new();
            let mut clones: Vec<(Rows, Vec<Vec<u8>>)> = Vec::new();
            for (index, length, byte) in steps {
                let row = vec![byte; length];
                if index < model.len() {
                    rows.set(index, &row);
                    model[index] = row;
                } else {
                    rows.push(&row);
                    model.push(row);
                }
                if byte % 16 == 0 {
                    clones.push((rows.clone(), model.clone()));
                }
            }
            clones.push((rows, model));
            for (rows, model) in &clones {
                prop_assert_eq!(rows.len(), model.len());
                prop_assert!(rows.iter().eq(model.iter().map(Vec::as_slice)));
                prop_assert!(rows.get(model.len()).is_none() && rows.get(model.len() + 64).is_none());
                let pages: Vec<Arc<[u8]>> = rows.pages().collect();
                let mut loaded = Rows::new();
                for page in &pages {
                    let made = page_of(rows_of(page));
                    prop_assert!(is_page(page) && *made == **page);
                    loaded.push_page(page.clone(), (model.len() - loaded.len()).min(PAGE_ROWS)).expect("pages it wrote");
                }
                prop_assert!(loaded.iter().eq(rows.iter()));
            }
        }

        #[test]
        fn rows_set_together_are_those_set_one_by_one(
            lengths in proptest::collection::vec(0usize..70, 1..300),
            others in proptest::collection::btree_map(0u32..300, 0usize..70, 0..100),
        ) {
            let mut rows = Rows::new();
            lengths.iter().for_each(|length| rows.push(&vec![1; *length]));
            let before = rows.clone();
            let others: Vec<(u32, Vec<u8>)> = others
                .into_iter()
                .filter(|(index, _)| (*index as usize) < lengths.len())
                .map(|(index, length)| (index, vec![2; length]))
                .collect();
            let mut one_by_one = rows.clone();
            others.iter().for_each(|(index, row)| one_by_one.set(*index as usize, row));
            rows.set_sorted(&others);
            prop_assert!(rows.pages().eq(one_by_one.pages()));
            prop_assert!(before.iter().map(<[u8]>::len).eq(lengths));
        }

        #[test]
        fn foreign_pages_never_panic(page in proptest::collection::vec(any::<u8>(), 0..200), len in 0usize..70) {
            let mut rows = Rows::new();
            let is_taken = rows.push_page(page.clone().into(), len).is_some();
            prop_assert!(!is_taken || is_page(&page));
            prop_assert!(!is_page(&page) || rows_of(&page).map(<[u8]>::len).sum::<usize>() + ENDS_BYTES == page.len());
        }
    }
}
