//! Looks up the names of a search.

use std::sync::Arc;

use crate::graph::integrity::types::TypeNames;
use crate::model::{Direction, Instant, Status, TypeKind, Value};
use crate::read::operators::filter::status::check_statuses;
use crate::read::operators::filter::test::{LinkTest, Test};
use crate::read::operators::filter::value_test::ValueTest;
use crate::read::snapshot::Snapshot;
use crate::search::{Condition, Deleted, Expression, Field, Find, Header, LinkDirection, Operator, Pattern};
use crate::{Error, ErrorKind, Result};

/// The types of a search, ascending; `None` for all.
///
/// Errors: `NotFound` for a type that is neither declared nor used, if types are declared; `InvalidExpression` for a
/// type in `only` that is not a subtype.
pub(in crate::read) fn types(snapshot: &Snapshot, kind: TypeKind, find: &Find) -> Result<Option<TypeNames>> {
    if find.types.is_empty() && find.subtypes.is_empty() {
        return Ok(None);
    }
    let types = match &find.types[..] {
        [name] => known_types(snapshot, kind, name)?,
        names => {
            let mut types = TypeNames::new();
            for name in names {
                types.extend(known_types(snapshot, kind, name)?);
            }
            types.sort_unstable();
            types.dedup();
            types
        }
    };
    if find.subtypes.is_empty() {
        return Ok(Some(types));
    }
    let mut subtypes = TypeNames::new();
    for name in &find.subtypes {
        known_types(snapshot, kind, name)?;
        let symbol = snapshot.graph().names.find(name);
        let is_allowed =
            find.types.is_empty() || symbol.is_none_or(|symbol| types.binary_search(&symbol).is_ok());
        if !is_allowed {
            let of: Vec<&str> = find.types.iter().map(|name| &**name).collect();
            return Err(Error::new(
                ErrorKind::InvalidExpression,
                format!("only {name}: expected a subtype of {}; leave it out", of.join(", ")),
            ));
        }
        subtypes.extend(symbol);
    }
    subtypes.sort_unstable();
    subtypes.dedup();
    Ok(Some(subtypes))
}

/// Whether the search finds deleted instances: also if it asks for the status deleted.
///
/// Errors: `InvalidArgument` for too many statuses, or an unknown one.
pub(in crate::read) fn deleted(snapshot: &Snapshot, find: &Find) -> Result<Deleted> {
    if find.statuses.is_empty() {
        return Ok(find.deleted);
    }
    check_statuses(snapshot, &find.statuses)?;
    let is_deleted = |name: &Arc<str>| **name == *Status::Deleted.name();
    Ok(match find.deleted {
        Deleted::Without if !find.statuses.iter().any(is_deleted) => Deleted::Without,
        Deleted::Without if find.statuses.iter().all(is_deleted) => Deleted::Only,
        Deleted::Without => Deleted::With,
        told => told,
    })
}

/// The test for the statuses of a search.
pub(in crate::read) fn statuses(find: &Find) -> Result<Option<Test>> {
    if find.statuses.is_empty() {
        return Ok(None);
    }
    let values: Vec<Value> = find.statuses.iter().cloned().map(Value::String).collect();
    let condition = Condition {
        field: Field::Header(Header::Status),
        operator: Operator::In,
        values: values.clone(),
        ignores_case: false,
    };
    Ok(Some(Test::Header(Header::Status, ValueTest::new(&condition, values)?)))
}

/// A type and its subtypes, ascending.
fn known_types(snapshot: &Snapshot, kind: TypeKind, name: &str) -> Result<TypeNames> {
    let types = snapshot.types_named(kind, name);
    let graph = snapshot.graph();
    // A name of a type of another kind finds nothing: an export of types searches both kinds.
    let kinds = [TypeKind::Entity, TypeKind::Relationship, TypeKind::Classification];
    let is_open = || !graph.type_changes.iter().any(|(_, definition)| definition.kind == kind);
    if types.iter().any(|name| kinds.iter().any(|kind| graph.is_type_known(*kind, *name)))
        || is_open()
        || snapshot.sight().is_some()
    {
        return Ok(types);
    }
    Err(Error::new(
        ErrorKind::NotFound,
        format!(
            "{} type {name:?} is not declared, and nothing is of it{}",
            kind.name(),
            snapshot.type_hint(kind, name)
        ),
    ))
}

/// The test for an expression.
pub(in crate::read) fn test(snapshot: &Snapshot, kind: TypeKind, expression: &Expression) -> Result<Test> {
    let tests =
        |parts: &[Expression]| parts.iter().map(|part| test(snapshot, kind, part)).collect::<Result<_>>();
    Ok(match expression {
        Expression::All(parts) if parts.is_empty() => Test::All(Vec::new()),
        Expression::All(parts) => Test::All(tests(parts)?),
        Expression::Any(parts) => Test::Any(tests(parts)?),
        Expression::None(parts) => Test::None(tests(parts)?),
        Expression::Condition(condition) => self::condition(snapshot, condition)?,
        Expression::Type(name) => Test::Type(known_types(snapshot, kind, name)?.into_vec()),
        Expression::Classified { name, matching } => {
            let names = known_types(snapshot, TypeKind::Classification, name)?;
            let matching = matching.as_deref();
            let matching =
                matching.map(|matching| test(snapshot, TypeKind::Classification, matching)).transpose()?;
            Test::Classified(names.into_vec(), matching.map(Box::new))
        }
        Expression::Linked { .. } if kind != TypeKind::Entity => {
            return Err(Error::new(
                ErrorKind::InvalidExpression,
                format!(
                    "{expression}: expected conditions on a relationship, which has no relationships itself"
                ),
            ));
        }
        Expression::Linked { direction, type_name, matching, other } => {
            if let Some(name) = type_name {
                known_types(snapshot, TypeKind::Relationship, name)?;
            }
            let inner = |kind, inner: &Option<Box<Expression>>| {
                inner.as_deref().map(|inner| test(snapshot, kind, inner)).transpose()
            };
            Test::Linked(Box::new(LinkTest {
                directions: match direction {
                    LinkDirection::Out => &[Direction::Out],
                    LinkDirection::In => &[Direction::In],
                    LinkDirection::Any => &[Direction::Out, Direction::In],
                },
                types: snapshot.relationship_types(type_name.as_deref()),
                matching: inner(TypeKind::Relationship, matching)?,
                other: inner(TypeKind::Entity, other)?,
            }))
        }
    })
}

fn condition(snapshot: &Snapshot, condition: &Condition) -> Result<Test> {
    // Compiling an expression may take longer than checking many instances.
    snapshot.check_cancelled()?;
    let mut test = tested(snapshot, condition)?;
    test.watch(snapshot.cancel());
    Ok(test)
}

fn tested(snapshot: &Snapshot, condition: &Condition) -> Result<Test> {
    Ok(match &condition.field {
        Field::Property(name) => {
            let values = condition.values.clone();
            Test::Property(snapshot.graph().names.find(name), ValueTest::new(condition, values)?)
        }
        Field::Header(header) => {
            let mut values = condition.values.clone();
            if header.is_instant() && !condition.operator.is_textual() {
                for value in &mut values {
                    *value = instant(condition, value)?;
                }
            }
            Test::Header(*header, ValueTest::new(condition, values)?)
        }
        Field::AnyText => match Pattern::of(condition)? {
            Some(pattern) => Test::AnyText(pattern),
            // An empty `in`.
            None => Test::Any(Vec::new()),
        },
    })
}

// Times are written as texts, dates or timestamps.
fn instant(condition: &Condition, value: &Value) -> Result<Value> {
    let parsed = match value {
        Value::Timestamp(_) => return Ok(value.clone()),
        Value::String(text) => text.parse::<Instant>().ok(),
        Value::Date(date) => date.to_string().parse::<Instant>().ok(),
        _ => None,
    };
    parsed.map(Value::Timestamp).ok_or_else(|| {
        let text =
            format!("condition {condition}: expected a time, such as 2025-08-09 or 2025-08-09T10:00:00Z");
        Error::new(ErrorKind::InvalidExpression, text)
    })
}
