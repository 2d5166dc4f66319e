//! Sets instances back to an earlier state, in new versions: one by one, and all of a record.

mod last_change;
mod sides;
pub(super) mod taken_back;
mod built_on;
pub(super) mod found;
mod homeless;
