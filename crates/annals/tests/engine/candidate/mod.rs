//! Candidates.

mod along;
mod candidates;
mod checked;
mod full_log;
mod feeds;
