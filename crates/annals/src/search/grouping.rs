//! Groupings: the fields by which instances are counted, and the values that are computed of each group.

use std::fmt::{self, Display, Formatter};

use super::Field;
use crate::{Error, ErrorKind, Result};

/// Most fields of a grouping, and most aggregates.
pub const GROUPING_FIELDS_MAX: usize = 16;

/// How to group what a search finds, and what to compute of each group beside the number of its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Instances with equal values of all these fields are a group. Empty: all instances are one group.
    pub by: Vec<Field>,
    /// The values to compute of each group.
    pub aggregates: Vec<Aggregate>,
}

/// A value that is computed of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// How.
    pub function: AggregateFunction,
    /// Of the values of this field. Instances without one do not count.
    pub field: Field,
}

/// How a value is computed of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AggregateFunction {
    /// The sum of numbers.
    Sum,
    /// The least value, in the order of searches.
    Min,
    /// The greatest value.
    Max,
}

impl AggregateFunction {
    /// All of them.
    pub const ALL: [AggregateFunction; 3] =
        [AggregateFunction::Sum, AggregateFunction::Min, AggregateFunction::Max];

    /// Its name in every door.
    pub fn name(self) -> &'static str {
        match self {
            AggregateFunction::Sum => "sum",
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
        }
    }
}

impl Grouping {
    /// Groups by this field, too.
    #[must_use]
    pub fn by(mut self, field: impl Into<Field>) -> Grouping {
        self.by.push(field.into());
        self
    }

    /// Computes the sum of a field.
    #[must_use]
    pub fn sum(self, field: impl Into<Field>) -> Grouping {
        self.with(AggregateFunction::Sum, field.into())
    }

    /// Finds the least value of a field.
    #[must_use]
    pub fn min(self, field: impl Into<Field>) -> Grouping {
        self.with(AggregateFunction::Min, field.into())
    }

    /// Finds the greatest value of a field.
    #[must_use]
    pub fn max(self, field: impl Into<Field>) -> Grouping {
        self.with(AggregateFunction::Max, field.into())
    }

    fn with(mut self, function: AggregateFunction, field: Field) -> Grouping {
        self.aggregates.push(Aggregate { function, field });
        self
    }

    /// All its fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.by.iter().chain(self.aggregates.iter().map(|aggregate| &aggregate.field))
    }

    /// Checks its bounds.
    ///
    /// Errors: `InvalidExpression` for `@text`; `InvalidArgument` for a field or an aggregate that comes twice; `TooLarge` for
    /// more than [`GROUPING_FIELDS_MAX`] of them.
    pub(crate) fn check(&self) -> Result<()> {
        if self.fields().any(|field| *field == Field::AnyText) {
            let text = "group by @text: expected one property, or a header such as @type";
            return Err(Error::new(ErrorKind::InvalidExpression, text));
        }
        for (what, count) in [("fields", self.by.len()), ("aggregates", self.aggregates.len())] {
            if count > GROUPING_FIELDS_MAX {
                let text = format!("group: expected at most {GROUPING_FIELDS_MAX} {what}, found {count}");
                return Err(Error::new(ErrorKind::TooLarge, text));
            }
        }
        let twice = |what: String| {
            let text = format!("group: expected {what} once, found it twice; leave one out");
            Err(Error::new(ErrorKind::InvalidArgument, text))
        };
        if let Some(field) = repeated(&self.by) {
            return twice(field.to_string());
        }
        repeated(&self.aggregates).map_or(Ok(()), |aggregate| twice(aggregate.to_string()))
    }
}

fn repeated<T: PartialEq>(all: &[T]) -> Option<&T> {
    all.iter().enumerate().find(|(number, one)| all[..*number].contains(one)).map(|(_, one)| one)
}

impl Display for Aggregate {
    /// As `sum(size)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.function.name(), self.field)
    }
}
