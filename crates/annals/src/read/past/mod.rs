//! Versions that are not in force: their content from the log, lists of them, and differences.

pub(super) mod held;
pub(super) mod version;
pub(super) mod recent;
pub(super) mod content;
pub(super) mod past_of;
pub(super) mod versions;
pub(super) mod compare;
pub(crate) mod earlier_edits;
pub(crate) mod without_purged;
pub(super) mod touched;
