//! The layout of a row.

/// Longest packed form; a longer instance is kept whole. Units: bytes.
pub(crate) const PACKED_BYTES_MAX: usize = 1_024;
