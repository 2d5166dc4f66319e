//! The first screen of a page: its finding, where other systems are faster, and the lines that others quote.

mod finding;
mod faster;
mod unlike;
pub mod quotes;

pub use faster::faster;
pub use finding::{findings, keeping, place};
pub use unlike::unlike;
