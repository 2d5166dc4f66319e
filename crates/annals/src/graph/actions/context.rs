//! The data that all changes of one record have in common.

use crate::graph::instance::past::ChangePlace;
use crate::graph::instance::unpacked::RowStamp;

/// The data that all changes of one record have in common, and the number of the present change.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) place: ChangePlace,
    pub(crate) stamp: RowStamp,
    /// The valid time of the change.
    pub(crate) valid_from: i64,
    /// True if the log has the whole content after the change.
    pub(crate) is_anchored: bool,
    /// True if the change belongs to the version that an earlier change of the record, at `place`, made.
    pub(crate) is_amending: bool,
}
