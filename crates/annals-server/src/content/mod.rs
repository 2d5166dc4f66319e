//! Binaries over HTTP, for every door: digests in headers, receiving and sending in constant memory, conditions and
//! ranges. Must not know which door asks.

pub mod validators;
pub mod digests;
pub mod receive;
pub mod part;
pub mod send;
