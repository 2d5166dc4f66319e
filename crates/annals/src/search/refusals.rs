//! Refuses searches that exceed a bound, or compare values that cannot be compared.

use super::expression::{Condition, Expression, Field, Operator};
use super::find::{Find, OrderBy};
use crate::model::Value;
use crate::{Error, ErrorKind, Result};

/// Most instances on one page.
pub const LIMIT_MAX: usize = 100_000;
/// Most conditions of one search.
pub const CONDITIONS_MAX: usize = 256;
/// Deepest nesting of a search.
pub const DEPTH_MAX: usize = 16;
/// Most values of one `in`.
pub const VALUES_MAX: usize = 10_000;
/// Most keys of an order.
pub const SORTS_MAX: usize = 8;
/// Most types that a search names.
const TYPES_MAX: usize = 10_000;

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidExpression, text)
}

fn too_large(what: &str, most: usize, found: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("search: expected at most {most} {what}, found {found}"))
}

impl Find {
    /// Checks everything except regular expressions, which are checked when they are compiled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.limit == 0 || self.limit > LIMIT_MAX {
            let text = format!("limit: expected 1 to {LIMIT_MAX}, found {}", self.limit);
            return Err(Error::new(ErrorKind::InvalidPage, text));
        }
        if self.after.is_some() && self.offset > 0 {
            let text = "page: expected after or offset, found both; give one";
            return Err(Error::new(ErrorKind::InvalidPage, text));
        }
        let types_count = self.types.len() + self.subtypes.len();
        if types_count > TYPES_MAX {
            return Err(too_large("types", TYPES_MAX, types_count));
        }
        check_order(&self.order)?;
        self.filter.check_bounds()
    }
}

/// Errors: `TooLarge` for too many keys; `InvalidExpression` for free text, which has no order.
pub(crate) fn check_order(order: &[OrderBy]) -> Result<()> {
    if order.len() > SORTS_MAX {
        return Err(too_large("keys of an order", SORTS_MAX, order.len()));
    }
    if order.iter().any(|sort| sort.field == Field::AnyText) {
        return Err(invalid("order by @text: expected one property, or a header such as @createdAt".into()));
    }
    Ok(())
}

/// The place of an expression.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Instance,
    Classification,
    Link,
}

impl Expression {
    /// Errors: `TooLarge` over a bound; `InvalidExpression` for values that cannot be compared.
    pub(crate) fn check_bounds(&self) -> Result<()> {
        let mut left = CONDITIONS_MAX;
        self.check(0, Within::Instance, &mut left)
    }

    fn check(&self, depth: usize, within: Within, left: &mut usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Err(too_large("levels", DEPTH_MAX, depth));
        }
        *left =
            left.checked_sub(1).ok_or_else(|| too_large("conditions", CONDITIONS_MAX, CONDITIONS_MAX + 1))?;
        let inner = |expression: &Option<Box<Expression>>, within, left: &mut usize| match expression {
            Some(inner) => inner.check(depth + 1, within, left),
            None => Ok(()),
        };
        match self {
            Expression::All(parts) | Expression::Any(parts) | Expression::None(parts) => {
                parts.iter().try_for_each(|part| part.check(depth + 1, within, left))
            }
            Expression::Condition(condition) => condition.check(),
            Expression::Type(_) | Expression::Classified { .. } | Expression::Linked { .. }
                if within == Within::Classification =>
            {
                Err(invalid(format!(
                    "search: expected conditions on the properties and the header of a classification, found {self}"
                )))
            }
            Expression::Type(_) => Ok(()),
            Expression::Classified { matching, .. } => inner(matching, Within::Classification, left),
            Expression::Linked { .. } if within == Within::Link => Err(invalid(format!(
                "search: expected relationships one level deep, found one more in {self}"
            ))),
            Expression::Linked { matching, other, .. } => {
                inner(matching, Within::Link, left)?;
                inner(other, Within::Link, left)
            }
        }
    }
}

impl Condition {
    fn check(&self) -> Result<()> {
        let found = self.values.len();
        if self.operator.values_count().is_some_and(|count| count != found) {
            let count = self.operator.values_count().unwrap_or_default();
            return Err(invalid(format!(
                "{self}: expected {count} values for {}, found {found}",
                self.operator.sign()
            )));
        }
        if found > VALUES_MAX {
            return Err(too_large("values of one condition", VALUES_MAX, found));
        }
        let needs_text = self.operator.is_textual() || self.ignores_case || self.field == Field::AnyText;
        let is_list = |value: &&Value| value.as_str().is_none();
        if needs_text && let Some(other) = self.values.iter().find(is_list) {
            return Err(invalid(format!(
                "condition {self}: expected a string to search for, found a {}",
                other.value_type().name()
            )));
        }
        let is_text_operator =
            self.operator.is_textual() || matches!(self.operator, Operator::Equal | Operator::In);
        if self.field == Field::AnyText && !is_text_operator {
            return Err(invalid(format!("condition {self}: expected =, in, ^=, $=, ~= or =~ for @text")));
        }
        if self.ignores_case && !is_text_operator && self.operator != Operator::NotEqual {
            return Err(invalid(format!(
                "condition {self}: expected =, !=, in, ^=, $=, ~= or =~ with nocase"
            )));
        }
        Ok(())
    }
}
