//! Sets instances back to an earlier state, in new versions: one by one, and all of a record.

mod last_change;
pub(super) mod taken_back;
pub(super) mod built_on;
