//! The suite `members`: the scripts of a published page on repositories with many members, against any LDP server.

// In the order a newcomer should read them.
mod script;
mod count;
mod measure;
mod suite;
#[cfg(test)]
mod tests;

pub use suite::SUITE;
