//! The parts of a checkpoint that the rows of both tables refer to.

use crate::graph::structures::symbols::Symbols;
use crate::graph::table::Meanings;

/// The data that both tables refer to. In the file it comes before them.
#[derive(Clone)]
pub(crate) struct TableBasis {
    pub(crate) meanings: Meanings,
    pub(crate) authors: Symbols,
    /// How many entities and relationships there are, purged ones included.
    pub(crate) slots: [usize; 2],
}
