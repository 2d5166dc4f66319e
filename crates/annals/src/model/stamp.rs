//! The instant and the author of an action.

use super::Instant;
use std::sync::Arc;

/// An instant and an author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The commit instant.
    pub instant: Instant,
    /// The author; may be empty.
    pub author: Arc<str>,
}

/// A stamp that borrows from the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampRef<'s> {
    /// The commit instant.
    pub instant: Instant,
    /// The author; may be empty.
    pub author: &'s str,
}

impl StampRef<'_> {
    /// An owned copy.
    pub fn to_stamp(self) -> Stamp {
        Stamp { instant: self.instant, author: self.author.into() }
    }
}
