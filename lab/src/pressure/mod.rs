//! The suite `pressure`: the page of a graph server under a load that rises until the first error.

// In the order a newcomer should read them.
mod graph;
mod dialect;
mod generator;
mod bisection;
mod system;
mod asking;
mod session;
mod two_loops;
mod read_rows;
mod write_rows;
mod overload;
mod disk;
mod syncs;
mod suite;

pub use suite::SUITE;
