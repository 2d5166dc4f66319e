//! The language of trees: paths, and items with their subtrees.

mod item;
mod literal;
mod path;

pub use item::{Branch, Item};
pub(crate) use literal::coerced;
pub use path::{Axis, NameTest, PlaceTest, TreePath, TreeStep};
