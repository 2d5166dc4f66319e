//! The types of relationships to follow.

use crate::graph::structures::adjacency::Neighbors;
use crate::graph::structures::symbols::Symbol;

/// The types of relationships to follow.
#[derive(Clone)]
pub(in crate::read) enum LinkTypes {
    All,
    One(Symbol),
    /// Ascending; no type if empty.
    Several(Vec<Symbol>),
}

impl LinkTypes {
    /// These types, ascending; all types for `None`.
    pub(in crate::read) fn of(types: Option<Vec<Symbol>>) -> LinkTypes {
        match types {
            None => LinkTypes::All,
            Some(types) if types.len() == 1 => LinkTypes::One(types[0]),
            Some(types) => LinkTypes::Several(types),
        }
    }

    /// Number of current links of these types.
    pub(in crate::read) fn degree(&self, neighbors: Neighbors) -> usize {
        match self {
            LinkTypes::All => neighbors.degree(None),
            LinkTypes::One(name) => neighbors.degree(Some(*name)),
            LinkTypes::Several(types) => types.iter().map(|name| neighbors.degree(Some(*name))).sum(),
        }
    }
}
