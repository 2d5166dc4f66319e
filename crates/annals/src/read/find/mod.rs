//! Finds instances: plans a search, walks indexes, checks candidates, page by page.
#![expect(clippy::expect_used, reason = "a plan names what exists, and there is always a plan")]

// In the order a newcomer should read them.
mod trigram;
mod access;
mod ever;
mod plan;
mod in_place;
mod walk;
mod by_plan;
mod gather;
mod many_at_once;
mod listing;
mod explain;
mod hints;
mod page;
mod grouped;
mod completing;

pub use completing::{CompletionKind, Completions};
pub use explain::Explanation;
