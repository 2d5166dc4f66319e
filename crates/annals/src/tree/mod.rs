//! The language of trees: paths, and items with their subtrees.

mod item;
mod declared_text;
mod path;

pub(crate) use declared_text::{coerced, coerced_leaf};
pub use item::{Branch, Item};
pub(crate) use path::PathSteps;
pub use path::{Axis, NameTest, PlaceTest, TreePath, TreeStep};
