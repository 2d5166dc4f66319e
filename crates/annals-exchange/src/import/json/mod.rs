//! Reads JSON that is not one object on each line: an array, whose elements are cut out, and an object around one, which is
//! recognised.

// In the order a newcomer should read them.
mod elements;
pub mod wrapped;

pub use elements::{Element, Elements};
