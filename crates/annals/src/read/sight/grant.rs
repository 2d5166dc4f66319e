//! Grants: which entities and relationships a reader may see, and the fewest conditions that admit the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Id, Value};
use crate::search::{Condition, Expression, Find, Operator};
use crate::{Error, ErrorKind, Result};

/// Entities that a reader may see, and relationships between them.
///
/// A grant that names a type, a classification or a container that does not exist admits nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grant {
    /// The entities: by types and conditions, without conditions on relationships. Its order and page are ignored.
    pub entities: Find,
    /// Id of a container: only this entity and those below it. `None`: anywhere.
    pub under: Option<Id>,
    /// The types of relationships, with their subtypes; empty for all.
    pub relationships: Vec<Arc<str>>,
}

impl Grant {
    /// Errors: `InvalidArgument` if it cannot be a grant.
    pub fn check(&self) -> Result<()> {
        let Find { filter, subtypes, statuses, with_proxies, deleted, .. } = &self.entities;
        let plain = Find::all();
        let is_more = !subtypes.is_empty()
            || !statuses.is_empty()
            || *with_proxies != plain.with_proxies
            || *deleted != plain.deleted;
        if is_more {
            let text = "grant: expected a search by types and conditions, found one that picks subtypes, statuses, \
                        deleted ones or proxies; say it as a condition, such as @status = draft";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        if filter.asks_for_links() {
            let text =
                "grant: expected conditions on the entity itself, found one on relationships; leave it out";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        filter.check_bounds()
    }
}

/// Several grants in one.
pub(super) struct Merged {
    /// Types of entities, with their subtypes; `None` for all.
    pub(super) types: Option<Vec<Arc<str>>>,
    pub(super) filter: Expression,
    /// Containers; `None` for anywhere.
    pub(super) under: Option<Vec<Id>>,
}

/// The fewest conditions that admit what the grants admit: grants that differ in one value of one condition, only in
/// their types, or only in their containers, become one.
pub(super) fn merged(grants: &[Grant]) -> Vec<Merged> {
    let all = grants.iter().map(|grant| Merged {
        types: (!grant.entities.types.is_empty()).then(|| grant.entities.types.clone()),
        filter: grant.entities.filter.clone(),
        under: grant.under.clone().map(|id| vec![id]),
    });
    let all = joined(all.collect(), shape, |known, one| {
        match (condition(&mut known.filter), condition(&mut { one.filter })) {
            (Some(known), Some(one))
                if known.operator == Operator::Equal || known.operator == Operator::In =>
            {
                known.operator = Operator::In;
                known.values.append(&mut one.values);
            }
            // Their shapes are equal only if they are.
            _ => {}
        }
    });
    let of_types = |one: &Merged| format!("{} {:?}", one.filter, one.under);
    let all = joined(all, of_types, |known, one| match (&mut known.types, one.types) {
        (Some(known), Some(mut types)) => known.append(&mut types),
        (types, _) => *types = None,
    });
    let of_containers = |one: &Merged| format!("{} {:?} {}", one.filter, one.types, one.under.is_some());
    joined(all, of_containers, |known, one| {
        if let (Some(known), Some(mut under)) = (&mut known.under, one.under) {
            known.append(&mut under);
        }
    })
}

/// Joins those with the same key.
fn joined(
    all: Vec<Merged>,
    key: impl Fn(&Merged) -> String,
    join: impl Fn(&mut Merged, Merged),
) -> Vec<Merged> {
    let mut found: BTreeMap<String, Merged> = BTreeMap::new();
    for one in all {
        match found.entry(key(&one)) {
            std::collections::btree_map::Entry::Occupied(mut known) => join(known.get_mut(), one),
            std::collections::btree_map::Entry::Vacant(room) => drop(room.insert(one)),
        }
    }
    found.into_values().collect()
}

/// The condition, if the filter is a single one that compares with one value.
fn condition(filter: &mut Expression) -> Option<&mut Condition> {
    match filter {
        Expression::All(parts) if parts.len() == 1 => condition(&mut parts[0]),
        Expression::Condition(condition) if [Operator::Equal, Operator::In].contains(&condition.operator) => {
            Some(condition)
        }
        _ => None,
    }
}

/// Grants of one shape differ at most in the value of their condition.
fn shape(one: &Merged) -> String {
    let mut filter = one.filter.clone();
    match condition(&mut filter) {
        Some(Condition { field, ignores_case, values, .. }) => {
            // Values of different kinds are compared in different ways.
            let kinds: Vec<&str> = values.iter().map(Value::value_type).map(|kind| kind.name()).collect();
            format!("{field:?} {ignores_case} {:?} {:?} {:?}", kinds.first(), one.types, one.under)
        }
        None => format!("{filter} {:?} {:?}", one.types, one.under),
    }
}
