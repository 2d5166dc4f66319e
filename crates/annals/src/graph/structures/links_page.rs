//! The links of 32 adjacent entities in one block of memory.
//!
//! Shape, in words of 32 bits: the end of each entity's links (two per word); the type of all links, or `MIXED`; which
//! entities have many links (one bit each); the capacity in links; then, each with that capacity, the other ends, the
//! relationships, and if types are mixed, the types. An entity with many links has one pseudo link instead; its other
//! end is the number of the links stored elsewhere.
#![expect(clippy::expect_used, reason = "every page begins with its head")]

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::link::{Bounds, Link, Narrow, NarrowTypes};
use super::symbols::Symbol;
use crate::structures::number::narrow;

/// Entities of one page.
pub(crate) const PAGE_ENTITIES: usize = 32;
const ENDS_WORDS: usize = PAGE_ENTITIES / 2;
const TYPE: usize = ENDS_WORDS;
const WIDE: usize = ENDS_WORDS + 1;
const ROOM: usize = ENDS_WORDS + 2;
const LINKS: usize = ENDS_WORDS + 3;
// No type has this number.
const MIXED: u32 = u32::MAX;
// Pages grow in steps of this many links, so that most links find room.
const ROOM_STEP: usize = 16;

/// A page of entities without links; all of them share one.
pub(crate) fn empty_page() -> Arc<[u32]> {
    static EMPTY: OnceLock<Arc<[u32]>> = OnceLock::new();
    Arc::clone(EMPTY.get_or_init(|| Arc::from([0; LINKS])))
}

#[inline]
fn end(page: &[u32], place: usize) -> usize {
    debug_assert!(place < PAGE_ENTITIES, "a page has no place {place}");
    // One check of the length covers all places.
    let ends: &[u32; ENDS_WORDS] = page.first_chunk().expect("a page begins with a head");
    (ends[place / 2 % ENDS_WORDS] >> (16 * (place % 2)) & 0xFFFF) as usize
}

#[inline]
fn start(page: &[u32], place: usize) -> usize {
    if place == 0 { 0 } else { end(page, place - 1) }
}

fn count(page: &[u32]) -> usize {
    end(page, PAGE_ENTITIES - 1)
}

#[inline]
fn room(page: &[u32]) -> usize {
    page[ROOM] as usize
}

/// The links of the entity at `place`, or their number elsewhere.
#[inline(always)] // As `Adjacency::get`.
pub(crate) fn entry_of(page: &[u32], place: usize) -> Result<Narrow<'_>, u32> {
    let (start, end, room) = (start(page, place), end(page, place), room(page));
    let others = &page[LINKS + start..LINKS + end];
    if page[WIDE] >> place & 1 == 1 {
        return Err(others[0]);
    }
    let relationships = &page[LINKS + room + start..LINKS + room + end];
    let types = match page[TYPE] {
        MIXED => NarrowTypes::Each(&page[LINKS + 2 * room + start..LINKS + 2 * room + end]),
        only => NarrowTypes::One(Symbol(only)),
    };
    Ok(Narrow { others, relationships, types })
}

/// Replaces the links in `range` of the entity at `place` by `links`; the entity has few links before and after.
pub(crate) fn splice(page: &mut Arc<[u32]>, place: usize, range: Range<usize>, links: &[Link]) {
    let only = match links.first() {
        // A page without links gets the type of its first link.
        Some(first) if count(page) == 0 => first.type_name.0,
        _ => page[TYPE],
    };
    let is_mixed = only == MIXED || links.iter().any(|link| link.type_name.0 != only);
    let needed = count(page) - range.len() + links.len();
    if needed > room(page) || is_mixed != (page[TYPE] == MIXED) {
        *page = grown(page, needed.next_multiple_of(ROOM_STEP), is_mixed);
    }
    let page = Arc::make_mut(page);
    if !is_mixed {
        page[TYPE] = only;
    }
    let (count, room) = (count(page), room(page));
    let from = start(page, place) + range.start;
    let behind = from + range.len();
    let columns: [fn(&Link) -> u32; 3] =
        [|link| link.other, |link| link.relationship, |link| link.type_name.0];
    for (number, of_link) in columns.into_iter().take(if is_mixed { 3 } else { 2 }).enumerate() {
        let column = &mut page[LINKS + number * room..LINKS + (number + 1) * room];
        column.copy_within(behind..count, from + links.len());
        column[from..from + links.len()].iter_mut().zip(links).for_each(|(word, link)| *word = of_link(link));
    }
    move_ends(page, place, range.len(), links.len());
}

/// Marks the links of the entity at `place` as stored elsewhere, with the number and the type of one of them, or (with
/// `None`) as empty.
pub(crate) fn set_wide(page: &mut Arc<[u32]>, place: usize, elsewhere: Option<(u32, Symbol)>) {
    let known = end(page, place) - start(page, place);
    let of_page = (count(page) > 0).then(|| Symbol(page[TYPE]));
    let pseudo = elsewhere.map(|(other, type_name)| {
        let type_name = of_page.unwrap_or(type_name);
        Link { type_name, relationship: 0, other }
    });
    splice(page, place, 0..known, pseudo.as_slice());
    let wide = &mut Arc::make_mut(page)[WIDE];
    *wide = *wide & !(1 << place) | u32::from(elsewhere.is_some()) << place;
}

// A copy with room for this many links.
fn grown(page: &[u32], new_room: usize, is_mixed: bool) -> Arc<[u32]> {
    let (count, room) = (count(page), room(page));
    let mut copy = Vec::with_capacity(LINKS + new_room * if is_mixed { 3 } else { 2 });
    copy.extend_from_slice(&page[..LINKS]);
    copy[ROOM] = narrow(new_room);
    for number in 0..2 {
        copy.extend_from_slice(&page[LINKS + number * room..][..count]);
        copy.resize(LINKS + (number + 1) * new_room, 0);
    }
    if is_mixed {
        match page[TYPE] {
            MIXED => copy.extend_from_slice(&page[LINKS + 2 * room..][..count]),
            only => copy.extend(std::iter::repeat_n(only, count)),
        }
        copy.resize(LINKS + 3 * new_room, 0);
        copy[TYPE] = MIXED;
    }
    copy.into()
}

/// True if reading this page from a file stays within it and within `bounds`.
pub(crate) fn is_sound(page: &[u32], bounds: Bounds, is_wide: impl Fn(u32) -> bool) -> bool {
    if page.len() < LINKS {
        return false;
    }
    let ends: Vec<usize> = (0..PAGE_ENTITIES).map(|place| end(page, place)).collect();
    let columns = if page[TYPE] == MIXED { 3 } else { 2 };
    if ends.windows(2).any(|pair| pair[0] > pair[1])
        || ends[PAGE_ENTITIES - 1] > room(page)
        || Some(page.len() - LINKS) != room(page).checked_mul(columns)
    {
        return false;
    }
    // Without its pseudo link an entity with many links would have none.
    let has_pseudo_link = |place: usize| start(page, place) < end(page, place);
    (0..PAGE_ENTITIES).all(|place| page[WIDE] >> place & 1 == 0 || has_pseudo_link(place))
        && (0..PAGE_ENTITIES).all(|place| match entry_of(page, place) {
            Err(number) => is_wide(number),
            Ok(narrow) => narrow.iter().all(|link| bounds.contain(&link)),
        })
}

// Moves the ends: the entity at `place` has `more` links instead of `fewer`.
fn move_ends(page: &mut [u32], place: usize, fewer: usize, more: usize) {
    let moved = narrow::<u32, usize>(more).wrapping_sub(narrow(fewer));
    if place % 2 == 1 {
        page[place / 2] = page[place / 2].wrapping_add(moved << 16);
    }
    // Two ends in a word are moved together: neither leaves its 16 bits, so neither carries into the other.
    let both = moved.wrapping_mul(0x1_0001);
    page[place.div_ceil(2)..ENDS_WORDS].iter_mut().for_each(|ends| *ends = ends.wrapping_add(both));
}
