//! The parts of a log that its tasks on its thread share with the handle.

use super::lanes::Lanes;
use super::seen::Seen;
use super::sql::Sql;

/// The parts of a log.
pub(super) struct Shared {
    pub lanes: Lanes,
    pub sql: Sql,
    pub seen: Seen,
}
