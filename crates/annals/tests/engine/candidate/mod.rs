//! Candidates.

mod along;
mod candidates;
mod checked;
