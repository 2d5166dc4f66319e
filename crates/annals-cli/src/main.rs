//! The command line of Annals.
#![forbid(unsafe_code)]

// TODO(#2): the import command calls this module; until it does, nothing here is reached from `main`.
#[allow(dead_code, unused_imports)]
mod import;
#[allow(dead_code, unused_imports)]
mod wire;

fn main() {}
