//! Conditions, and their combinations.

use std::sync::Arc;

use crate::model::Value;

/// The conditions that an instance must fulfil to be found: a tree.
///
/// ```
/// use annals::{Expression, Operator};
/// let small = Expression::property("size", Operator::Less, 5);
/// let shell = Expression::property("section", Operator::Equal, "shells");
/// let wanted = Expression::All(vec![small, Expression::None(vec![shell])]);
/// assert_eq!(wanted.to_string(), "size < 5 and none(section = 'shells')");
/// assert_eq!(wanted, "size<5 and not section = shells".parse()?);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// All hold. Empty: everything.
    All(Vec<Expression>),
    /// At least one holds. Empty: nothing.
    Any(Vec<Expression>),
    /// None holds: an instance without a property fulfils a negated condition on it.
    None(Vec<Expression>),
    /// One condition.
    Condition(Condition),
    /// The instance has this type or one of its subtypes.
    Type(Arc<str>),
    /// The instance has this classification, or one of its subtypes, and the classification fulfils `matching`.
    Classified {
        /// Name of the classification.
        name: Arc<str>,
        /// The expression that its properties and its header must fulfil.
        matching: Option<Box<Expression>>,
    },
    /// The instance has a relationship that fulfils `matching`, and the entity at its other end fulfils `other`.
    Linked {
        /// Direction of the relationship, seen from the instance.
        direction: LinkDirection,
        /// Type of the relationship, subtypes included; any if `None`.
        type_name: Option<Arc<str>>,
        /// The expression for the relationship.
        matching: Option<Box<Expression>>,
        /// The expression for the entity at its other end.
        other: Option<Box<Expression>>,
    },
}

/// Direction of a relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkDirection {
    /// It starts at the instance.
    Out,
    /// It ends at the instance.
    In,
    /// Either.
    Any,
}

/// A condition on one field. One value of a multi-valued property must fulfil it.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The compared field.
    pub field: Field,
    /// The comparison.
    pub operator: Operator,
    /// The values to compare with. Shape: one value; two for [`Operator::Between`]; any number for [`Operator::In`];
    /// none for [`Operator::Exists`] and [`Operator::Missing`].
    pub values: Vec<Value>,
    /// True if upper and lower case of texts are equal.
    pub ignores_case: bool,
}

/// The field of a condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// A property.
    Property(Arc<str>),
    /// A header field.
    Header(Header),
    /// Every property that is a string or a literal with a language: the text of one of them must fulfil the condition.
    AnyText,
}

impl From<&str> for Field {
    /// The property of this name.
    fn from(name: &str) -> Field {
        Field::Property(name.into())
    }
}

impl From<Header> for Field {
    fn from(header: Header) -> Field {
        Field::Header(header)
    }
}

/// Header fields of an instance, or of a classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Header {
    /// Its id, as text.
    Id,
    /// Name of its type.
    Type,
    /// Name of its status: `deleted`, or a status of its type, by default `active`.
    Status,
    /// The status that a deleted instance had before.
    StatusOnDelete,
    /// Name of the collection that it belongs to, if it is not this repository's own.
    Home,
    /// The kind of its provenance, such as `local` or `content-pack`.
    Provenance,
    /// Name of the collection that replicates it.
    ReplicatedBy,
    /// Its license.
    License,
    /// Its maintainers: a set.
    MaintainedBy,
    /// The start of its effective time, as its owner declares it.
    EffectiveFrom,
    /// The end of its effective time.
    EffectiveTo,
    /// The id it had before.
    ReidentifiedFrom,
    /// Number of the version.
    Version,
    /// Number of the version without those that changed only classifications.
    ContentVersion,
    /// When it was created.
    CreatedAt,
    /// The author of its first version.
    CreatedBy,
    /// When this version was written.
    UpdatedAt,
    /// The author of this version.
    UpdatedBy,
    /// The start of the valid time of this version.
    ValidFrom,
    /// Id of the entity that a relationship starts at.
    From,
    /// Id of the entity that a relationship ends at.
    To,
}

impl Header {
    /// All, in the order in which documents list them.
    pub const ALL: [Header; 21] = [
        Header::Id,
        Header::Type,
        Header::Status,
        Header::StatusOnDelete,
        Header::Home,
        Header::Provenance,
        Header::ReplicatedBy,
        Header::License,
        Header::MaintainedBy,
        Header::EffectiveFrom,
        Header::EffectiveTo,
        Header::ReidentifiedFrom,
        Header::Version,
        Header::ContentVersion,
        Header::CreatedAt,
        Header::CreatedBy,
        Header::UpdatedAt,
        Header::UpdatedBy,
        Header::ValidFrom,
        Header::From,
        Header::To,
    ];

    /// Its name in every door, such as `createdAt`; the text form writes `@createdAt`.
    pub fn name(self) -> &'static str {
        match self {
            Header::Id => "id",
            Header::Type => "type",
            Header::Status => "status",
            Header::StatusOnDelete => "statusOnDelete",
            Header::Home => "home",
            Header::Provenance => "provenance",
            Header::ReplicatedBy => "replicatedBy",
            Header::License => "license",
            Header::MaintainedBy => "maintainedBy",
            Header::EffectiveFrom => "effectiveFrom",
            Header::EffectiveTo => "effectiveTo",
            Header::ReidentifiedFrom => "reidentifiedFrom",
            Header::Version => "version",
            Header::ContentVersion => "contentVersion",
            Header::CreatedAt => "createdAt",
            Header::CreatedBy => "createdBy",
            Header::UpdatedAt => "updatedAt",
            Header::UpdatedBy => "updatedBy",
            Header::ValidFrom => "validFrom",
            Header::From => "from",
            Header::To => "to",
        }
    }

    /// The field with this name.
    pub fn named(name: &str) -> Option<Header> {
        Header::ALL.into_iter().find(|header| header.name() == name)
    }

    pub(crate) fn is_instant(self) -> bool {
        matches!(
            self,
            Header::CreatedAt
                | Header::UpdatedAt
                | Header::ValidFrom
                | Header::EffectiveFrom
                | Header::EffectiveTo
        )
    }
}

/// The comparison of a field with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Equal; numbers by numeric value.
    Equal,
    /// Present, and not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Not less than the first value and not greater than the second.
    Between,
    /// Equal to one of the values.
    In,
    /// A string, or a text in a language, that starts with the string; or an IRI that starts with the IRI.
    Prefix,
    /// A string, an IRI or a text in a language that ends with the value.
    Suffix,
    /// A string, an IRI or a text in a language that contains the value.
    Contains,
    /// A string, an IRI or a text in a language that the regular expression matches from its beginning to its end.
    Matches,
    /// A list or a set with an element that equals the value.
    Has,
    /// Present; no value is given.
    Exists,
    /// Absent; no value is given.
    Missing,
}

impl Operator {
    /// All operators.
    pub const ALL: [Operator; 15] = [
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
        Operator::Between,
        Operator::In,
        Operator::Prefix,
        Operator::Suffix,
        Operator::Contains,
        Operator::Matches,
        Operator::Has,
        Operator::Exists,
        Operator::Missing,
    ];

    /// Its sign in the text form.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Between => "between",
            Operator::In => "in",
            Operator::Prefix => "^=",
            Operator::Suffix => "$=",
            Operator::Contains => "~=",
            Operator::Matches => "=~",
            Operator::Has => "has",
            Operator::Exists => "exists",
            Operator::Missing => "missing",
        }
    }

    /// Its name as a word, which the text form and JSON also accept.
    pub fn word(self) -> &'static str {
        match self {
            Operator::Equal => "equals",
            Operator::NotEqual => "not-equal",
            Operator::Less => "less",
            Operator::LessOrEqual => "less-or-equal",
            Operator::Greater => "greater",
            Operator::GreaterOrEqual => "greater-or-equal",
            Operator::Prefix => "prefix",
            Operator::Suffix => "suffix",
            Operator::Contains => "contains",
            Operator::Matches => "matches",
            other => other.sign(),
        }
    }

    /// The operator with this sign or word.
    pub fn named(name: &str) -> Option<Operator> {
        Operator::ALL.into_iter().find(|known| known.sign() == name || known.word() == name)
    }

    /// True if it compares texts, whose values must be texts too.
    pub fn is_textual(self) -> bool {
        matches!(self, Operator::Prefix | Operator::Suffix | Operator::Contains | Operator::Matches)
    }

    /// How many values it needs; `None` for any number.
    pub fn values_count(self) -> Option<usize> {
        match self {
            Operator::Exists | Operator::Missing => Some(0),
            Operator::Between => Some(2),
            Operator::In => None,
            _ => Some(1),
        }
    }
}

impl Condition {
    /// A condition with one value, which [`Operator::Exists`] and [`Operator::Missing`] ignore.
    pub fn new(field: Field, operator: Operator, value: impl Into<Value>) -> Condition {
        let values = if operator.values_count() == Some(0) { Vec::new() } else { vec![value.into()] };
        Condition { field, operator, values, ignores_case: false }
    }
}

impl Expression {
    /// Everything.
    pub fn everything() -> Expression {
        Expression::All(Vec::new())
    }

    /// A condition on a property.
    pub fn property(name: &str, operator: Operator, value: impl Into<Value>) -> Expression {
        Condition::new(Field::Property(name.into()), operator, value).into()
    }

    /// A condition on a header field.
    pub fn header(header: Header, operator: Operator, value: impl Into<Value>) -> Expression {
        Condition::new(Field::Header(header), operator, value).into()
    }

    /// A condition on the text of any property.
    ///
    /// ```
    /// use annals::{Expression, Find, NewEntity, Operator, Repository};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| {
    ///     t.create_entity(NewEntity::new("package").property("summary", "a small shell"))?;
    ///     t.create_entity(NewEntity::new("package").property("summary", "an editor"))
    /// })?;
    /// let shells = Find::of("package").filter(Expression::any_text(Operator::Matches, ".*shell"));
    /// assert_eq!(repository.snapshot().find_entities(&shells)?.items.len(), 1);
    /// # Ok::<(), annals::Error>(())
    /// ```
    pub fn any_text(operator: Operator, value: impl Into<Value>) -> Expression {
        Condition::new(Field::AnyText, operator, value).into()
    }

    /// The condition that an entity has a classification.
    pub fn classified(name: &str) -> Expression {
        Expression::Classified { name: name.into(), matching: None }
    }

    /// True if it depends on relationships and on the entities at their other ends.
    pub(crate) fn asks_for_links(&self) -> bool {
        match self {
            Expression::All(parts) | Expression::Any(parts) | Expression::None(parts) => {
                parts.iter().any(Expression::asks_for_links)
            }
            Expression::Linked { .. } => true,
            _ => false,
        }
    }

    /// Both expressions.
    #[must_use]
    pub fn and(self, other: Expression) -> Expression {
        match (self, other) {
            (Expression::All(mut all), Expression::All(others)) => {
                all.extend(others);
                Expression::All(all)
            }
            (Expression::All(all), other) if all.is_empty() => other,
            (one, Expression::All(others)) if others.is_empty() => one,
            (Expression::All(mut all), other) => {
                all.push(other);
                Expression::All(all)
            }
            (one, other) => Expression::All(vec![one, other]),
        }
    }
}

impl From<Condition> for Expression {
    fn from(condition: Condition) -> Expression {
        Expression::Condition(condition)
    }
}
