//! The parts of a log that its tasks on its thread share with the handle.

use std::sync::atomic::AtomicBool;

use super::lanes::Lanes;
use super::seen::Seen;
use super::sql::Sql;

/// The parts of a log.
pub(super) struct SharedState {
    pub lanes: Lanes,
    pub sql: Sql,
    pub seen: Seen,
    /// True since a swap without an answer, until a value was read behind a synced write.
    pub is_swap_in_doubt: AtomicBool,
}
