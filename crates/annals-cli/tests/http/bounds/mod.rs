//! Bounds of sizes, counts and times, and what the server does over them.

mod limits;
mod shares;
mod short_imports;
mod unread;
mod memory;
mod hostile;
