//! When somebody did something, and who.

use super::Instant;
use std::sync::Arc;

/// When and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The commit instant.
    pub instant: Instant,
    /// The author; may be empty.
    pub author: Arc<str>,
}

/// When and by whom, read where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampRef<'s> {
    /// The commit instant.
    pub instant: Instant,
    /// The author; may be empty.
    pub author: &'s str,
}

impl StampRef<'_> {
    /// The stamp itself.
    pub fn to_stamp(self) -> Stamp {
        Stamp { instant: self.instant, author: self.author.into() }
    }
}
