//! The links of 32 neighbouring entities in one block of memory.
//!
//! Shape, in words of 32 bits: where the links of each entity end (two to a word); the type of all links, or `MIXED`;
//! which entities have many links (a bit each); the other ends; the relationships; and if types are mixed, the types.
//! An entity with many links has one pseudo link instead, whose other end is the number under which they are kept.

use std::sync::{Arc, OnceLock};

use super::adjacency::{Bounds, Link, Narrow, NarrowTypes};
use super::symbols::Symbol;

/// Entities of one page.
pub(super) const PAGE_ENTITIES: usize = 32;
const ENDS_WORDS: usize = PAGE_ENTITIES / 2;
const TYPE: usize = ENDS_WORDS;
const WIDE: usize = ENDS_WORDS + 1;
const LINKS: usize = ENDS_WORDS + 2;
// No type has this number.
const MIXED: u32 = u32::MAX;

/// What a page holds of one entity.
pub(super) enum Entry {
    /// Its links, in order.
    Narrow(Vec<Link>),
    /// The number under which they are kept elsewhere.
    Wide(u32),
}

/// A page of entities without links; all of them share one.
pub(super) fn empty_page() -> Arc<[u32]> {
    static EMPTY: OnceLock<Arc<[u32]>> = OnceLock::new();
    Arc::clone(EMPTY.get_or_init(|| Arc::from([0; LINKS])))
}

#[inline]
fn end(page: &[u32], place: usize) -> usize {
    (page[place / 2] >> (16 * (place % 2)) & 0xFFFF) as usize
}

fn start(page: &[u32], place: usize) -> usize {
    if place == 0 { 0 } else { end(page, place - 1) }
}

/// The links of the entity at `place`, or the number under which they are kept elsewhere.
#[inline]
pub(super) fn entry_of(page: &[u32], place: usize) -> Result<Narrow<'_>, u32> {
    let count = end(page, PAGE_ENTITIES - 1);
    let (start, end) = (start(page, place), end(page, place));
    let others = &page[LINKS + start..LINKS + end];
    if page[WIDE] >> place & 1 == 1 {
        return Err(others[0]);
    }
    let relationships = &page[LINKS + count + start..LINKS + count + end];
    let types = match page[TYPE] {
        MIXED => NarrowTypes::Each(&page[LINKS + 2 * count + start..LINKS + 2 * count + end]),
        only => NarrowTypes::One(Symbol(only)),
    };
    Ok(Narrow { others, relationships, types })
}

/// A copy of `page` with another entry at `place`.
pub(super) fn replaced(page: &[u32], place: usize, entry: &Entry) -> Arc<[u32]> {
    let pseudo;
    let links = match entry {
        Entry::Narrow(links) => &links[..],
        Entry::Wide(number) => {
            pseudo = [pseudo_link(*number, Symbol(page[TYPE]))];
            &pseudo[..]
        }
    };
    let (start, end, count) = (start(page, place), end(page, place), self::end(page, PAGE_ENTITIES - 1));
    // A page that had no links takes the type of its first.
    let only = match links.first() {
        Some(first) if count == end - start => first.type_name,
        _ => Symbol(page[TYPE]),
    };
    let is_mixed = only.0 == MIXED || links.iter().any(|link| link.type_name != only);
    let new_count = count - (end - start) + links.len();
    let mut copy = Vec::with_capacity(LINKS + new_count * if is_mixed { 3 } else { 2 });
    copy.extend_from_slice(&page[..ENDS_WORDS]);
    for following in place..PAGE_ENTITIES {
        let moved = self::end(page, following) - (end - start) + links.len();
        set_end(&mut copy, following, moved);
    }
    copy.push(if is_mixed { MIXED } else { only.0 });
    let is_wide = u32::from(matches!(entry, Entry::Wide(_)));
    copy.push(page[WIDE] & !(1 << place) | is_wide << place);
    let column = |number: usize| &page[LINKS + number * count..LINKS + (number + 1) * count];
    for (number, of_link) in [(0, other as fn(&Link) -> u32), (1, relationship)] {
        copy.extend_from_slice(&column(number)[..start]);
        copy.extend(links.iter().map(of_link));
        copy.extend_from_slice(&column(number)[end..]);
    }
    if is_mixed {
        let known = |copy: &mut Vec<u32>, from: usize, to: usize| match page[TYPE] {
            MIXED => copy.extend_from_slice(&column(2)[from..to]),
            only => copy.extend(std::iter::repeat_n(only, to - from)),
        };
        known(&mut copy, 0, start);
        copy.extend(links.iter().map(|link| link.type_name.0));
        known(&mut copy, end, count);
    }
    copy.into()
}

fn other(link: &Link) -> u32 {
    link.other
}

fn relationship(link: &Link) -> u32 {
    link.relationship
}

// Its type is never asked for; any that keeps the page uniform will do.
fn pseudo_link(number: u32, type_name: Symbol) -> Link {
    Link { type_name, relationship: 0, other: number }
}

/// True if reading this page, which somebody else wrote, stays within it and within `bounds`.
pub(super) fn is_sound(page: &[u32], bounds: Bounds, is_wide: impl Fn(u32) -> bool) -> bool {
    if page.len() < LINKS {
        return false;
    }
    let ends: Vec<usize> = (0..PAGE_ENTITIES).map(|place| end(page, place)).collect();
    let columns = if page[TYPE] == MIXED { 3 } else { 2 };
    if ends.windows(2).any(|pair| pair[0] > pair[1])
        || page.len() != LINKS + columns * ends[PAGE_ENTITIES - 1]
    {
        return false;
    }
    // Without its pseudo link a wide entity would lead nowhere.
    let has_pseudo_link = |place: usize| start(page, place) < end(page, place);
    (0..PAGE_ENTITIES).all(|place| page[WIDE] >> place & 1 == 0 || has_pseudo_link(place))
        && (0..PAGE_ENTITIES).all(|place| match entry_of(page, place) {
            Err(number) => is_wide(number),
            Ok(narrow) => narrow.iter().all(|link| bounds.admit(&link)),
        })
}

fn set_end(page: &mut [u32], place: usize, end: usize) {
    let shift = 16 * (place % 2);
    page[place / 2] = page[place / 2] & !(0xFFFF << shift) | (end as u32) << shift;
}
