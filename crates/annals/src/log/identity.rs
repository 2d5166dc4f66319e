//! The identity of a log.

use std::fmt;

use super::bytes::take;

/// A random number that a log gets when it is created, and every copy of it newly. Segments, marks, manifests and
/// checkpoints carry it, so that a log does not accept those of another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LogId(pub [u8; 16]);

impl LogId {
    /// The id of a log that has none: one in memory, or one that a version before format 2 wrote.
    pub const NIL: LogId = LogId([0; 16]);

    /// A new id, different from all others.
    #[expect(clippy::expect_used, reason = "without random bytes, two logs could have one id")]
    pub fn random() -> LogId {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        LogId(bytes)
    }

    pub(super) fn take(bytes: &mut &[u8]) -> LogId {
        LogId(take(bytes))
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid::Uuid::from_bytes(self.0).fmt(f)
    }
}
