//! The words of HTTP that all doors and their clients share: names and values of headers, queries, parameters and
//! problems. Must not know who asks, what a request is about, or the repository behind the door.

// In the order a newcomer should read them.
pub mod machine;
pub mod masking;
pub mod problem;
pub mod names;
pub mod header_text;
pub mod parameter;
pub mod query;
