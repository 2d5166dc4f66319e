//! The protections of commits and takeovers. A debug build can leave one of them out, so that the suite of takeovers proves
//! that it misses it, and can shorten the grace of removals, so that the suite sees them.

#[cfg(debug_assertions)]
use std::sync::OnceLock;

/// A protection without which a commit or a content is lost, or a commit is doubled or shown too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// A call that is sent again has the same token.
    Token,
    /// A writer that reads the record of a higher term ends writing.
    Term,
    /// Records are published after they are durable.
    Durable,
    /// An unknown outcome is not told as a refusal.
    Unknown,
    /// A value of the register is replaced only if it is the one that was seen.
    Swap,
    /// An instant is told as settled only if no record before it may come.
    Settled,
    /// A content that no version names leaves a shared store after the grace, and is marked before that. Without this it is
    /// removed as soon as it is found.
    Grace,
    /// A standby waits until the lease has ended. Nothing is lost without this: the lease only decides which standby tries.
    Lease,
}

impl Protection {
    /// True, unless a debug build was told to leave it out.
    #[cfg(not(debug_assertions))]
    pub(crate) const fn is_kept(self) -> bool {
        true
    }

    /// True, unless the variable `ANNALS_LEAVE_OUT` names it.
    #[cfg(debug_assertions)]
    pub(crate) fn is_kept(self) -> bool {
        static LEFT_OUT: OnceLock<Option<String>> = OnceLock::new();
        let left_out = LEFT_OUT.get_or_init(|| std::env::var("ANNALS_LEAVE_OUT").ok());
        left_out.as_deref().is_none_or(|name| name != self.name())
    }

    #[cfg(debug_assertions)]
    const fn name(self) -> &'static str {
        match self {
            Protection::Token => "token",
            Protection::Term => "term",
            Protection::Durable => "durable",
            Protection::Unknown => "unknown",
            Protection::Swap => "swap",
            Protection::Settled => "settled",
            Protection::Grace => "grace",
            Protection::Lease => "lease",
        }
    }
}

/// An hour. Units: milliseconds.
const REMOVAL_GRACE_MS: u64 = 3_600_000;

/// The usual grace of removals from shared stores. Units: milliseconds.
#[cfg(not(debug_assertions))]
pub(crate) const fn removal_grace_ms() -> u64 {
    REMOVAL_GRACE_MS
}

/// The usual grace of removals from shared stores, or what the variable `ANNALS_REMOVAL_GRACE_MS` says. Units: milliseconds.
#[cfg(debug_assertions)]
pub(crate) fn removal_grace_ms() -> u64 {
    let asked = std::env::var("ANNALS_REMOVAL_GRACE_MS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(REMOVAL_GRACE_MS)
}
