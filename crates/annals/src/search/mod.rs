//! The search language: searches as a tree and as a text. It does not contain how they are executed.

// In the order a newcomer should read them.
mod expression;
mod find;
mod grouping;
mod pattern;
mod matcher;
mod refusals;
mod lex;
mod parse;
mod completion;
mod parse_value;
mod print;

#[cfg(test)]
mod tests;

pub use completion::{Completion, Expected};
pub use expression::{Condition, Expression, Field, Header, LinkDirection, Operator};
pub use find::{Deleted, FIND_VISITED_MAX, Find, Order, OrderBy, PAGE_BYTES_MAX};
pub use grouping::{Aggregate, AggregateFunction, GROUPING_FIELDS_MAX, Grouping};
pub use parse::TEXT_BYTES_MAX;
pub(crate) use parse::is_keyword;
pub use pattern::PATTERN_BYTES_MAX;
pub(crate) use pattern::Pattern;
pub(crate) use print::{name_text, value_text};
pub(crate) use refusals::check_order;
pub use refusals::{CONDITIONS_MAX, DEPTH_MAX, LIMIT_MAX, SORTS_MAX, VALUES_MAX};
