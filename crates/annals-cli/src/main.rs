//! The command line of Annals.
fn main() {}
