//! The version that a handle holds.

use super::version::Version;

/// The version that a handle holds.
#[derive(Clone)]
pub(crate) enum Held {
    /// The one in force, in memory. Made by [`Snapshot::in_force`], or where nothing is spilled.
    InForce,
    /// A version read from the log or, in part, from a spill file.
    Read(Version),
}
