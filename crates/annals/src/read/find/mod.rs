//! Finds instances: plans a search, walks indexes, verifies what they lead to, page by page.

// In the order a newcomer should read them.
#[rustfmt::skip]
mod value_test;
mod subject;
mod test;
mod resolve;
mod properties;
mod domain;
mod order;
mod sort_key;
mod bounds;
mod trigram;
mod access;
mod ever;
mod plan;
mod stamped;
mod walk;
mod run;
mod filling;
mod gather;
mod listing;
mod explain;
mod page;
mod filter;

use super::cursor;

pub use explain::Explanation;
pub(super) use filter::Filter;
pub(super) use order::Sorting;
pub use page::Page;
pub(super) use properties::check_order;
