//! The language of trees: paths, and items with their subtrees.

mod item;
mod literal;
mod path;

pub use item::{Branch, Item};
pub(crate) use literal::{coerced, coerced_leaf};
pub use path::{Axis, NameTest, PlaceTest, TreePath, TreeStep};
