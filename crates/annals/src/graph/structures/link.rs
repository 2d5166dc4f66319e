//! A relationship as seen from one of its ends.

use super::symbols::Symbol;

/// One relationship as seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) type_name: Symbol,
    /// Slot of the relationship.
    pub(crate) relationship: u32,
    /// Slot of the entity at the other end.
    pub(crate) other: u32,
}

impl Link {
    /// The same link, read field by field from where a call left it. The processor waits when it reads fields together
    /// that were written one by one, as those of links in a page are.
    #[inline]
    pub(crate) fn in_registers(self) -> Link {
        let Link { type_name, relationship, other } = self;
        Link { type_name, relationship, other }
    }
}

/// The bounds of references in links: numbers must be below these.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) types: usize,
    pub(crate) relationships: usize,
    pub(crate) entities: usize,
}

impl Bounds {
    pub(crate) fn contain(self, link: &Link) -> bool {
        link.type_name.index() < self.types
            && (link.relationship as usize) < self.relationships
            && (link.other as usize) < self.entities
    }
}

/// Few links: the slices have equal lengths and the same order.
#[derive(Clone, Copy)]
pub(crate) struct Narrow<'g> {
    pub(crate) others: &'g [u32],
    pub(crate) relationships: &'g [u32],
    pub(crate) types: NarrowTypes<'g>,
}

/// The types of few links.
#[derive(Clone, Copy)]
pub(crate) enum NarrowTypes<'g> {
    /// All of one type.
    One(Symbol),
    /// Symbols, ascending.
    Each(&'g [u32]),
}

impl<'g> Narrow<'g> {
    #[inline]
    pub(crate) fn of_type(self, type_name: Option<Symbol>) -> Narrow<'g> {
        match (self.types, type_name) {
            (_, None) => self,
            (NarrowTypes::One(only), Some(wanted)) if only == wanted => self,
            (NarrowTypes::One(_), Some(_)) => self.from(self.others.len()),
            (NarrowTypes::Each(types), Some(wanted)) => {
                let (start, end) = range_of(types, wanted);
                Narrow {
                    others: &self.others[start..end],
                    relationships: &self.relationships[start..end],
                    types: NarrowTypes::One(wanted),
                }
            }
        }
    }

    #[inline]
    pub(crate) fn from(self, first: usize) -> Narrow<'g> {
        let types = match self.types {
            NarrowTypes::One(only) => NarrowTypes::One(only),
            NarrowTypes::Each(types) => NarrowTypes::Each(&types[first..]),
        };
        Narrow { others: &self.others[first..], relationships: &self.relationships[first..], types }
    }

    pub(crate) fn count_before(self, link: Link) -> usize {
        // New links are the youngest, so most belong at the end.
        self.others.len() - (0..self.others.len()).rev().take_while(|at| self.link(*at) >= link).count()
    }

    #[inline]
    pub(crate) fn link(self, at: usize) -> Link {
        let type_name = match self.types {
            NarrowTypes::One(only) => only,
            NarrowTypes::Each(types) => Symbol(types[at]),
        };
        Link { type_name, relationship: self.relationships[at], other: self.others[at] }
    }
}

fn range_of(types: &[u32], wanted: Symbol) -> (usize, usize) {
    let start = types.partition_point(|&known| known < wanted.0);
    (start, start + types[start..].partition_point(|&known| known == wanted.0))
}
