//! The relationships of one entity in one direction, ordered by type and then by age.

use std::sync::Arc;

use super::key_set::{KeySet, Range};
use super::symbols::Symbol;

/// Most links kept as one block; more go into a tree, so that the millionth costs what the tenth did.
const BLOCK_LINKS_MAX: usize = 64;

/// One relationship as seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) type_name: Symbol,
    /// Slot of the relationship.
    pub(crate) relationship: u32,
    /// Slot of the entity at the other end.
    pub(crate) other: u32,
}

/// The links of one entity in one direction.
#[derive(Clone, Default)]
pub(crate) enum Neighbors {
    #[default]
    Empty,
    Block(Arc<[Link]>),
    Wide(Arc<Wide>),
}

#[derive(Clone)]
pub(crate) struct Wide {
    // Shape of a key: type, relationship, other end; four bytes each, big endian.
    links: KeySet,
    // Number of links by type: degree is one look-up.
    counts: Vec<(Symbol, u32)>,
}

const LINK_BYTES: usize = 12;

fn key(link: Link) -> [u8; LINK_BYTES] {
    let mut key = [0; LINK_BYTES];
    key[..4].copy_from_slice(&link.type_name.0.to_be_bytes());
    key[4..8].copy_from_slice(&link.relationship.to_be_bytes());
    key[8..].copy_from_slice(&link.other.to_be_bytes());
    key
}

fn word(key: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(key[at..at + 4].try_into().expect("a link key has twelve bytes"))
}

/// The link of the last twelve bytes of `key`.
pub(crate) fn link_of_key(key: &[u8]) -> Link {
    let key = &key[key.len() - LINK_BYTES..];
    Link { type_name: Symbol(word(key, 0)), relationship: word(key, 4), other: word(key, 8) }
}

/// Appends the key of `link`, from which [`link_of_key`] restores it.
pub(crate) fn append_link_key(link: Link, out: &mut Vec<u8>) {
    out.extend_from_slice(&key(link));
}

impl Neighbors {
    pub(crate) fn from_sorted(links: Vec<Link>) -> Neighbors {
        if links.is_empty() {
            return Neighbors::Empty;
        }
        if links.len() <= BLOCK_LINKS_MAX {
            return Neighbors::Block(links.into());
        }
        let mut counts: Vec<(Symbol, u32)> = Vec::new();
        for link in &links {
            match counts.last_mut() {
                Some((type_name, count)) if *type_name == link.type_name => *count += 1,
                _ => counts.push((link.type_name, 1)),
            }
        }
        let links = KeySet::from_sorted(links.into_iter().map(key));
        Neighbors::Wide(Arc::new(Wide { links, counts }))
    }

    pub(crate) fn insert(&mut self, link: Link) {
        match self {
            Neighbors::Empty => *self = Neighbors::Block([link].into()),
            Neighbors::Block(links) => {
                let at = links.partition_point(|known| *known < link);
                let mut longer = Vec::with_capacity(links.len() + 1);
                longer.extend_from_slice(&links[..at]);
                longer.push(link);
                longer.extend_from_slice(&links[at..]);
                *self = Neighbors::from_sorted(longer);
            }
            Neighbors::Wide(wide) => {
                let wide = Arc::make_mut(wide);
                if wide.links.insert(&key(link)) {
                    match wide.counts.binary_search_by_key(&link.type_name, |count| count.0) {
                        Ok(at) => wide.counts[at].1 += 1,
                        Err(at) => wide.counts.insert(at, (link.type_name, 1)),
                    }
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, link: Link) {
        match self {
            Neighbors::Empty => {}
            Neighbors::Block(links) => {
                let shorter: Vec<Link> = links.iter().copied().filter(|known| *known != link).collect();
                *self = Neighbors::from_sorted(shorter);
            }
            Neighbors::Wide(wide) => {
                let wide = Arc::make_mut(wide);
                if wide.links.remove(&key(link))
                    && let Ok(at) = wide.counts.binary_search_by_key(&link.type_name, |count| count.0)
                {
                    wide.counts[at].1 -= 1;
                    if wide.counts[at].1 == 0 {
                        wide.counts.remove(at);
                    }
                }
                // Half the limit, so that a degree around the limit does not change form at every step.
                if wide.links.len() <= BLOCK_LINKS_MAX / 2 {
                    let links = wide.links.iter().map(link_of_key).collect();
                    *self = Neighbors::from_sorted(links);
                }
            }
        }
    }

    /// Number of links, of one type or of all.
    pub(crate) fn degree(&self, type_name: Option<Symbol>) -> usize {
        match (self, type_name) {
            (Neighbors::Empty, _) => 0,
            (Neighbors::Block(links), None) => links.len(),
            (Neighbors::Block(links), Some(type_name)) => typed(links, type_name).len(),
            (Neighbors::Wide(wide), None) => wide.links.len(),
            (Neighbors::Wide(wide), Some(type_name)) => wide
                .counts
                .binary_search_by_key(&type_name, |count| count.0)
                .map_or(0, |at| wide.counts[at].1 as usize),
        }
    }

    /// The links of one type or of all, in order.
    #[inline]
    pub(crate) fn iter(&self, type_name: Option<Symbol>) -> Links<'_> {
        self.iter_after(type_name, None)
    }

    /// The links of one type or of all that come after `after`, in order.
    #[inline]
    pub(crate) fn iter_after(&self, type_name: Option<Symbol>, after: Option<Link>) -> Links<'_> {
        match self {
            Neighbors::Empty => Links::Block([].iter()),
            Neighbors::Block(links) => {
                let links = type_name.map_or(&**links, |type_name| typed(links, type_name));
                let from = after.map_or(0, |after| links.partition_point(|link| *link <= after));
                Links::Block(links[from..].iter())
            }
            Neighbors::Wide(wide) => Links::Wide(Box::new(wide_range(&wide.links, type_name, after))),
        }
    }
}

fn typed(links: &[Link], type_name: Symbol) -> &[Link] {
    let from = links.partition_point(|link| link.type_name < type_name);
    let count = links[from..].partition_point(|link| link.type_name == type_name);
    &links[from..from + count]
}

fn wide_range(links: &KeySet, type_name: Option<Symbol>, after: Option<Link>) -> Range<'_> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let first = type_name.map(|type_name| type_name.0.to_be_bytes());
    let end = type_name.and_then(|type_name| type_name.0.checked_add(1)).map(u32::to_be_bytes);
    let after = after.map(key);
    let from = match (&after, &first) {
        (Some(after), Some(first)) if after[..] < first[..] => Included(&first[..]),
        (Some(after), _) => Excluded(&after[..]),
        (None, Some(first)) => Included(&first[..]),
        (None, None) => Unbounded,
    };
    links.range(from, end.as_ref().map_or(Unbounded, |end| Excluded(&end[..])))
}

/// Iterates over links.
// One stands on the stack of a walk and is never stored, so a box would only cost time.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Links<'a> {
    Block(std::slice::Iter<'a, Link>),
    // Boxed: a range is large, few entities are wide, and iterators are moved about.
    Wide(Box<Range<'a>>),
}

impl Links<'_> {
    pub(crate) fn none() -> Self {
        Links::Block([].iter())
    }
}

impl Iterator for Links<'_> {
    type Item = Link;

    #[inline]
    fn next(&mut self) -> Option<Link> {
        match self {
            Links::Block(links) => links.next().copied(),
            Links::Wide(links) => links.next().map(link_of_key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn neighbors_behave_as_an_ordered_set(
            steps in proptest::collection::vec((any::<bool>(), 0u32..4, 0u32..80), 0..400),
        ) {
            let mut neighbors = Neighbors::default();
            let mut model = BTreeSet::new();
            for (is_insert, type_name, relationship) in steps {
                let link = Link { type_name: Symbol(type_name), relationship, other: relationship / 3 };
                if is_insert && model.insert(link) {
                    neighbors.insert(link);
                } else if !is_insert {
                    model.remove(&link);
                    neighbors.remove(link);
                }
                let of_type: Vec<Link> =
                    model.iter().copied().filter(|known| known.type_name == link.type_name).collect();
                prop_assert_eq!(neighbors.degree(Some(link.type_name)), of_type.len());
                prop_assert_eq!(neighbors.iter(Some(link.type_name)).collect::<Vec<_>>(), of_type);
                prop_assert_eq!(neighbors.degree(None), model.len());
                let rest: Vec<Link> = model.range(link..).skip_while(|known| **known == link).copied().collect();
                prop_assert_eq!(neighbors.iter_after(None, Some(link)).collect::<Vec<_>>(), rest);
            }
        }
    }
}
