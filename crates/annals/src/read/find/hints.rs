//! Why a search may have found nothing: an unknown type or property, or values of another kind than the search has.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Result;
use crate::model::{TypeKind, Value, ValueType};
use crate::read::nearest;
use crate::read::snapshot::Snapshot;
use crate::search::{Condition, Expression, Field, Find, Operator};

/// So many instances show which properties there are.
const SAMPLE_MAX: usize = 100;
/// Most properties of a search that are looked at.
const PROPERTIES_MAX: usize = 8;
/// A property with its value is cut here. Units: characters.
const SHOWN_MAX: usize = 80;

/// How a hint names the kind of a value.
fn kind_of(value: &Value) -> &'static str {
    match value.value_type() {
        ValueType::String => "text",
        value_type => value_type.name(),
    }
}

impl Snapshot {
    /// Why a search that found nothing may have found nothing, for people.
    ///
    /// Errors: those of searches.
    pub(super) fn hints(&self, kind: TypeKind, find: &Find) -> Result<Vec<String>> {
        let unknown: Vec<String> =
            find.types.iter().filter_map(|name| self.hint_of_type(kind, name)).collect();
        if !unknown.is_empty() {
            return Ok(unknown);
        }
        let mut conditions = Vec::new();
        each_condition(&find.filter, &mut |condition| conditions.push(condition));
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut hints = Vec::new();
        for condition in conditions {
            let Field::Property(name) = &condition.field else { continue };
            if seen.len() < PROPERTIES_MAX && seen.insert(name) {
                hints.extend(self.hint_of_property(kind, find, name, condition)?);
            }
        }
        Ok(hints)
    }

    fn hint_of_type(&self, kind: TypeKind, name: &str) -> Option<String> {
        let error = self.check_type_known(kind, name).err()?;
        let (other, advice) = match kind {
            TypeKind::Entity => {
                (TypeKind::Relationship, "it is a type of relationships: add --relationships")
            }
            _ => (TypeKind::Entity, "it is a type of entities: leave --relationships out"),
        };
        let is_other = self.check_type_known(other, name).is_ok();
        Some(if is_other { format!("type {name}: {advice}") } else { error.text().to_owned() })
    }

    fn hint_of_property(
        &self,
        kind: TypeKind,
        find: &Find,
        name: &Arc<str>,
        condition: &Condition,
    ) -> Result<Option<String>> {
        let condition_on = |operator, values| {
            let field = Field::Property(Arc::clone(name));
            Expression::Condition(Condition { field, operator, values, ignores_case: false })
        };
        let exists = condition_on(Operator::Exists, Vec::new());
        let Some(there) = self.first_value(kind, find, exists, name)? else {
            if condition.operator == Operator::Missing {
                return Ok(None);
            }
            let names = self.names_of_properties(kind, find)?;
            let hint =
                nearest::hint(name, names.iter().map(String::as_str), "nothing can fulfil the condition");
            return Ok(Some(format!("property {name}: no instance of the searched types has it{hint}")));
        };
        let Some(asked) = condition.values.first().filter(|asked| is_compared(asked)) else {
            return Ok(None);
        };
        let comparable = match asked {
            Value::Boolean(_) => vec![(Operator::Equal, true.into()), (Operator::Equal, false.into())],
            asked => vec![(Operator::Less, asked.clone()), (Operator::GreaterOrEqual, asked.clone())],
        };
        let comparable = comparable.into_iter().map(|(operator, value)| condition_on(operator, vec![value]));
        if self.first_value(kind, find, Expression::Any(comparable.collect()), name)?.is_some() {
            return Ok(None);
        }
        let asked = kind_of(asked);
        let there_is = kind_of(&there);
        let shown = condition_on(Operator::Equal, vec![there]).to_string();
        let shown: String = shown.chars().take(SHOWN_MAX).collect();
        let advice = match (there_is, find.types.first()) {
            ("text", Some(type_name)) => format!("; annals types convert {type_name} {name} {asked}"),
            _ => String::new(),
        };
        Ok(Some(format!(
            "property {name}: the search compares it with a value of kind {asked}, and no instance of the searched types has \
             such a value; one has {shown} ({there_is}){advice}"
        )))
    }

    /// The property of the first instance of the searched types that fulfils the filter.
    fn first_value(
        &self,
        kind: TypeKind,
        find: &Find,
        filter: Expression,
        name: &str,
    ) -> Result<Option<Value>> {
        let find = Find { filter, limit: 1, ..whole(find) };
        Ok(match kind {
            TypeKind::Relationship => {
                self.find_relationships(&find)?.items.first().and_then(|found| found.property(name))
            }
            _ => self.find_entities(&find)?.items.first().and_then(|found| found.property(name)),
        })
    }

    fn names_of_properties(&self, kind: TypeKind, find: &Find) -> Result<BTreeSet<String>> {
        let find = Find { filter: Expression::everything(), limit: SAMPLE_MAX, ..whole(find) };
        let mut names = BTreeSet::new();
        if kind == TypeKind::Relationship {
            let page = self.find_relationships(&find)?;
            names.extend(
                page.items.iter().flat_map(|found| found.properties()).map(|(name, _)| name.to_owned()),
            );
        } else {
            let page = self.find_entities(&find)?;
            names.extend(
                page.items.iter().flat_map(|found| found.properties()).map(|(name, _)| name.to_owned()),
            );
        }
        Ok(names)
    }
}

/// The same search from its beginning, in any order.
fn whole(find: &Find) -> Find {
    Find { order: Vec::new(), after: None, offset: 0, ..find.clone() }
}

/// True for kinds whose values are compared among themselves only.
fn is_compared(value: &Value) -> bool {
    matches!(
        value.value_type(),
        ValueType::Boolean
            | ValueType::Integer
            | ValueType::Float
            | ValueType::Decimal
            | ValueType::String
            | ValueType::Date
            | ValueType::Timestamp
    )
}

/// Calls `take` with each condition on the instance itself that must hold, or one of which must.
fn each_condition<'e>(expression: &'e Expression, take: &mut dyn FnMut(&'e Condition)) {
    match expression {
        Expression::All(all) | Expression::Any(all) => all.iter().for_each(|one| each_condition(one, take)),
        Expression::Condition(condition) => take(condition),
        _ => {}
    }
}
