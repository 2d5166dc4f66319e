//! The links of one entity with many links in one direction.

use std::ops::Bound::{Excluded, Included, Unbounded};

use super::late::Late;
use super::link::Link;
use super::symbols::Symbol;
use crate::structures::key_set::{Key, KeySet, Range};
use crate::structures::number::narrow;

/// Length of the key of a link.
pub(crate) const LINK_BYTES: usize = 12;

/// Many links, ordered by type and then by age.
#[derive(Clone)]
pub(crate) struct Wide {
    // Shape of a key: type, relationship, other end; four bytes each, big endian.
    links: Late<KeySet>,
    // Number of links by type, so that a degree is one look-up.
    counts: Vec<(Symbol, u32)>,
}

/// Iterates over many links.
pub(crate) struct WideLinks<'g>(Range<'g>);

fn keys_of(links: &[Link]) -> KeySet {
    KeySet::from_sorted(links.iter().map(|link| key_of_link(*link)))
}

fn counts_of(links: &[Link]) -> Vec<(Symbol, u32)> {
    let mut counts: Vec<(Symbol, u32)> = Vec::new();
    for link in links {
        match counts.last_mut() {
            Some((type_name, count)) if *type_name == link.type_name => *count += 1,
            _ => counts.push((link.type_name, 1)),
        }
    }
    counts
}

/// The key of `link`, from which [`link_of_key`] restores it.
pub(crate) fn key_of_link(link: Link) -> [u8; LINK_BYTES] {
    let mut key = [0; LINK_BYTES];
    key[..4].copy_from_slice(&link.type_name.0.to_be_bytes());
    key[4..8].copy_from_slice(&link.relationship.to_be_bytes());
    key[8..].copy_from_slice(&link.other.to_be_bytes());
    key
}

/// The link of the last twelve bytes of `key`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each part of a link is one word")]
pub(crate) fn link_of_key(key: Key) -> Link {
    let link = key.last_u128();
    Link { type_name: Symbol((link >> 64) as u32), relationship: (link >> 32) as u32, other: link as u32 }
}

impl Wide {
    pub(crate) fn from_sorted(links: &[Link]) -> Wide {
        Wide { links: Late::Made(keys_of(links)), counts: counts_of(links) }
    }

    /// The same, whose keys are made when somebody first asks for them.
    pub(crate) fn late(links: Vec<Link>) -> Wide {
        let counts = counts_of(&links);
        Wide { links: Late::waiting(move || keys_of(&links)), counts }
    }

    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    pub(crate) fn insert(&mut self, link: Link) {
        if self.links.insert(&key_of_link(link)) {
            match self.counts.binary_search_by_key(&link.type_name, |count| count.0) {
                Ok(at) => self.counts[at].1 += 1,
                Err(at) => self.counts.insert(at, (link.type_name, 1)),
            }
        }
    }

    /// Adds links that are missing. Shape: ascending, each once.
    pub(crate) fn insert_sorted(&mut self, links: &[Link]) {
        let keys: Vec<[u8; LINK_BYTES]> = links.iter().map(|link| key_of_link(*link)).collect();
        self.links.insert_sorted(&keys, &mut |_| {});
        for of_type in links.chunk_by(|one, next| one.type_name == next.type_name) {
            let (type_name, count) = (of_type[0].type_name, narrow::<u32, usize>(of_type.len()));
            match self.counts.binary_search_by_key(&type_name, |count| count.0) {
                Ok(at) => self.counts[at].1 += count,
                Err(at) => self.counts.insert(at, (type_name, count)),
            }
        }
    }

    pub(crate) fn remove(&mut self, link: Link) {
        if self.links.remove(&key_of_link(link))
            && let Ok(at) = self.counts.binary_search_by_key(&link.type_name, |count| count.0)
        {
            self.counts[at].1 -= 1;
            if self.counts[at].1 == 0 {
                self.counts.remove(at);
            }
        }
    }

    /// Removes links that are there. Shape: ascending.
    pub(crate) fn remove_sorted(&mut self, links: &[Link]) {
        let keys: Vec<[u8; LINK_BYTES]> = links.iter().map(|link| key_of_link(*link)).collect();
        self.links.remove_sorted(&keys);
        for of_type in links.chunk_by(|one, next| one.type_name == next.type_name) {
            if let Ok(at) = self.counts.binary_search_by_key(&of_type[0].type_name, |count| count.0) {
                self.counts[at].1 -= narrow::<u32, usize>(of_type.len());
            }
        }
        self.counts.retain(|(_, count)| *count > 0);
    }

    pub(crate) fn degree(&self, type_name: Option<Symbol>) -> usize {
        let Some(type_name) = type_name else { return self.links.len() };
        let found = self.counts.binary_search_by_key(&type_name, |count| count.0);
        found.map_or(0, |at| self.counts[at].1 as usize)
    }

    /// The links of one type or of all that come after `after`, in order.
    pub(crate) fn iter(&self, type_name: Option<Symbol>, after: Option<Link>) -> WideLinks<'_> {
        WideLinks(self.keys(type_name, after))
    }

    fn keys(&self, type_name: Option<Symbol>, after: Option<Link>) -> Range<'_> {
        let first = type_name.map(|type_name| type_name.0.to_be_bytes());
        let end = type_name.and_then(|type_name| type_name.0.checked_add(1)).map(u32::to_be_bytes);
        let after = after.map(key_of_link);
        let from = match (&after, &first) {
            (Some(after), Some(first)) if after[..] < first[..] => Included(&first[..]),
            (Some(after), _) => Excluded(&after[..]),
            (None, Some(first)) => Included(&first[..]),
            (None, None) => Unbounded,
        };
        self.links.range(from, end.as_ref().map_or(Unbounded, |end| Excluded(&end[..])))
    }
}

impl Iterator for WideLinks<'_> {
    type Item = Link;

    fn next(&mut self) -> Option<Link> {
        self.0.next().map(link_of_key)
    }

    #[inline]
    fn fold<B, F: FnMut(B, Link) -> B>(self, init: B, take: F) -> B {
        self.0.map(link_of_key).fold(init, take)
    }
}
