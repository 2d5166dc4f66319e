//! Which version of an instance a handle holds.

use super::version::Version;

/// Which version of an instance a handle holds.
#[derive(Clone)]
pub(crate) enum Held {
    /// The one in force, which the graph has in memory. Made by [`Snapshot::in_force`], or where nothing is spilled.
    InForce,
    /// One that was read from the log or, in part, from a spill file.
    Read(Version),
}
