//! Binaries: contents that are stored here, and contents that are elsewhere.

// In the order a newcomer should read them.
pub mod bytes;
pub mod external;
pub mod source_url;
pub mod sources;
pub mod external_binary;
pub mod stored_binary;
