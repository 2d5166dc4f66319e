//! The bounds of the server as a value: sizes, counts and times, the places that hold them, and the share of each
//! client. Must not know the door, or what the bounded requests do.

// In the order a newcomer should read them.
pub mod limits;
pub mod rate;
pub mod peers;
pub mod value;
pub mod patience;
pub mod heavy;
pub mod sending;

pub use value::Bounds;
