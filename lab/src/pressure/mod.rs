//! The suite `pressure`: the page of a graph server under a load that rises until the first error.

// In the order a newcomer should read them.
mod graph;
mod dialect;
mod generator;
mod search;
mod system;
mod asking;
mod session;
mod reads;
mod writes;
mod overload;
mod disk;
mod syncs;
mod suite;

pub use suite::SUITE;
