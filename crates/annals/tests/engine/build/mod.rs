//! Transactions until they are committed: their own changes, what they leave out, and retries.

mod own_changes;
mod unchanged;
mod retry;
