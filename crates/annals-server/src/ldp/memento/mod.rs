//! Versions of resources (RFC 7089): mementos, the time gate and time maps.

// In the order a newcomer should read them.
pub mod second;
pub mod mementos;
pub mod at_second;
pub mod time_gate;
pub mod time_map;
