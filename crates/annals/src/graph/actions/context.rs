//! What all changes of one record have in common.

use crate::graph::instance::past::Place;
use crate::graph::instance::unpacked::Stamp;

/// What all changes of one record have in common, and which one is being applied.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) place: Place,
    pub(crate) stamp: Stamp,
    /// From when the change is true.
    pub(crate) valid_from: i64,
    /// True if the log holds the whole content after the change.
    pub(crate) is_anchored: bool,
}
