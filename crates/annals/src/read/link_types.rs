//! Which types of relationships to follow.

use crate::graph::structures::symbols::Symbol;

/// Which types of relationships to follow.
#[derive(Clone)]
pub(crate) enum LinkTypes {
    All,
    One(Symbol),
    /// Ascending; none of them if empty.
    Several(Vec<Symbol>),
}
