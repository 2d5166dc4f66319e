//! Reads foreign files as plain structs, one at a time, and says for every bad part of them where it is and why.
//!
//! Every reader is an iterator over `Result<Checked<T>>`: the outer error (disk, broken gzip) ends the reading, the
//! inner one refuses a single stanza or row, and reading goes on behind it.

pub mod csv;
pub mod debian;
mod refused;
mod source;

pub use refused::{Checked, Refused};
pub use source::Source;
