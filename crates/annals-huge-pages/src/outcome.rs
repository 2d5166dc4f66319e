//! What a call comes to.

/// What was done with the memory of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collapsed {
    /// What was moved onto huge pages. Units: bytes.
    pub huge_bytes: u64,
    /// What the system could not move now, for want of a free huge page or because it was being changed. Units: bytes.
    pub refused_bytes: u64,
}

pub(crate) fn unsupported(why: &str) -> std::io::Error {
    std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        format!("huge pages: {why}; memory stays on pages as they are"),
    )
}
