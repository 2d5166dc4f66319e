//! Finds instances by type, classification and property, in order, page by page.

use std::borrow::Cow;
use std::sync::Arc;

use super::instance::{Entity, Held, Relationship};
use super::plan::Plan;
use super::snapshot::Snapshot;
use crate::graph::instance::Instance;
use crate::graph::row::Row;
use crate::graph::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::{TypeKind, Value};
use crate::{Error, ErrorKind, Result};

/// Most instances on one page.
const LIMIT_MAX: usize = 100_000;
/// Pages of more instances make room as they find them.
const ITEMS_RESERVED_MAX: usize = 1_000;
/// Most conditions of one search.
const CONDITIONS_MAX: usize = 64;
/// Whether a search was called off is looked at once in so many candidates.
const CANDIDATES_UNCHECKED: usize = 1_024;

/// How a property is compared with a value.
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
    /// A string that starts with the string, or an IRI that starts with the IRI.
    Prefix,
    /// A string that contains the value.
    Contains,
    /// Present; the value does not matter.
    Exists,
    /// Absent; the value does not matter.
    Missing,
}

/// A condition on one property. Of a multi-valued property one value has to fulfil it.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the property.
    pub property: Arc<str>,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub value: Value,
}

/// The order of the found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// A search: instances that fulfil every condition.
///
/// ```
/// use annals::{Find, NewEntity, Operator, Repository};
/// let repository = Repository::in_memory();
/// repository.transact(|t| {
///     for (name, size) in [("bash", 7), ("dash", 1), ("zsh", 3)] {
///         t.create_entity(NewEntity::new("package").property("name", name).property("size", size))?;
///     }
///     Ok(())
/// })?;
/// let snapshot = repository.snapshot();
/// let page = snapshot.find_entities(&Find::of("package").matching("size", Operator::Less, 5).order_by("size"))?;
/// let names: Vec<_> = page.items.iter().map(|found| found.property("name").unwrap()).collect();
/// assert_eq!(names, ["dash".into(), "zsh".into()]);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Find {
    /// Only this type and its subtypes.
    pub type_name: Option<Arc<str>>,
    /// Only entities that carry this classification (or a subtype of it).
    pub classification: Option<Arc<str>>,
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// Ordered by this property, leaving out instances that lack it; by type and age if `None`.
    pub order: Option<(Arc<str>, Order)>,
    /// Only what follows the page that ended with this cursor.
    pub after: Option<String>,
    /// Page size. Units: instances.
    pub limit: usize,
}

/// A page of what was found.
#[derive(Debug)]
pub struct Page<T> {
    /// The found, in order.
    pub items: Vec<T>,
    /// Where the next page starts; `None` on the last page.
    pub next: Option<String>,
}

impl Default for Find {
    fn default() -> Find {
        Find {
            type_name: None,
            classification: None,
            conditions: Vec::new(),
            order: None,
            after: None,
            limit: 100,
        }
    }
}

impl Find {
    /// All instances.
    pub fn all() -> Find {
        Find::default()
    }

    /// All instances of a type and its subtypes.
    pub fn of(type_name: &str) -> Find {
        Find { type_name: Some(type_name.into()), ..Find::default() }
    }

    /// The same, only entities with this classification.
    #[must_use]
    pub fn classified(mut self, classification: &str) -> Find {
        self.classification = Some(classification.into());
        self
    }

    /// The same with one condition more.
    #[must_use]
    pub fn matching(mut self, property: &str, operator: Operator, value: impl Into<Value>) -> Find {
        self.conditions.push(Condition { property: property.into(), operator, value: value.into() });
        self
    }

    /// The same, ordered by a property, smallest first.
    #[must_use]
    pub fn order_by(mut self, property: &str) -> Find {
        self.order = Some((property.into(), Order::Ascending));
        self
    }

    /// The same, ordered by a property, largest first.
    #[must_use]
    pub fn order_by_descending(mut self, property: &str) -> Find {
        self.order = Some((property.into(), Order::Descending));
        self
    }

    /// The same with pages of this size.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Find {
        self.limit = limit;
        self
    }

    /// The same, following the page that ended with `cursor`.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> Find {
        self.after = Some(cursor.into());
        self
    }

    fn check(&self) -> Result<()> {
        if self.limit == 0 || self.limit > LIMIT_MAX {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("limit: expected 1 to {LIMIT_MAX}, found {}", self.limit),
            ));
        }
        if self.conditions.len() > CONDITIONS_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "search: expected at most {CONDITIONS_MAX} conditions, found {}",
                    self.conditions.len()
                ),
            ));
        }
        for condition in &self.conditions {
            let is_text = condition.value.as_str().is_some();
            if matches!(condition.operator, Operator::Prefix | Operator::Contains) && !is_text {
                return Err(Error::new(
                    ErrorKind::InvalidArgument,
                    format!(
                        "condition on {}: expected a string to search for, found a {}",
                        condition.property,
                        condition.value.value_type().name()
                    ),
                ));
            }
        }
        Ok(())
    }
}

impl Condition {
    /// True if a value of the property fulfils the condition.
    pub(super) fn holds(&self, held: Option<&Value>) -> bool {
        match (self.operator, held) {
            (Operator::Missing, held) => held.is_none(),
            (_, None) => false,
            (Operator::Exists, Some(_)) => true,
            (Operator::NotEqual, Some(Value::Set(values))) => {
                !values.iter().any(|value| is_equal(&value, &self.value))
            }
            (_, Some(Value::Set(values))) => values.iter().any(|value| self.holds_for(&value)),
            (_, Some(value)) => self.holds_for(value),
        }
    }

    /// True if one scalar fulfils the condition.
    pub(super) fn holds_for(&self, value: &Value) -> bool {
        let order = || value.compare(&self.value);
        let texts = || value.as_str().zip(self.value.as_str());
        match self.operator {
            Operator::Equal => is_equal(value, &self.value),
            Operator::NotEqual => !is_equal(value, &self.value),
            Operator::Less => order().is_some_and(std::cmp::Ordering::is_lt),
            Operator::LessOrEqual => order().is_some_and(std::cmp::Ordering::is_le),
            Operator::Greater => order().is_some_and(std::cmp::Ordering::is_gt),
            Operator::GreaterOrEqual => order().is_some_and(std::cmp::Ordering::is_ge),
            Operator::Prefix => {
                value.value_type() == self.value.value_type()
                    && texts().is_some_and(|(text, prefix)| text.starts_with(prefix))
            }
            Operator::Contains => texts().is_some_and(|(text, part)| text.contains(part)),
            Operator::Exists => true,
            Operator::Missing => false,
        }
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    a.compare(b).is_some_and(std::cmp::Ordering::is_eq)
}

/// What every found instance must be, with names turned into symbols.
pub(super) struct Filter<'f> {
    pub(super) kind: TypeKind,
    /// Ascending; `None` for any type.
    pub(super) types: Option<Vec<Symbol>>,
    /// Ascending; `None` for any or no classification.
    pub(super) classifications: Option<Vec<Symbol>>,
    pub(super) conditions: Vec<(Option<Symbol>, &'f Condition)>,
}

impl<'f> Filter<'f> {
    fn new(snapshot: &Snapshot, kind: TypeKind, find: &'f Find) -> Filter<'f> {
        let names = &snapshot.graph().names;
        Filter {
            kind,
            types: find.type_name.as_deref().map(|name| snapshot.types_named(kind, name)),
            classifications: find
                .classification
                .as_deref()
                .map(|name| snapshot.types_named(TypeKind::Classification, name)),
            conditions: find
                .conditions
                .iter()
                .map(|condition| (names.find(&condition.property), condition))
                .collect(),
        }
    }

    pub(super) fn admits(&self, candidate: Candidate) -> bool {
        self.admits_kind(candidate)
            && self.conditions.iter().all(|(name, condition)| {
                condition.holds(name.and_then(|name| candidate.property(name)).as_ref())
            })
    }

    /// False if an instance in force cannot be admitted whatever its spilled values are: they need not be read then.
    fn may_admit(&self, candidate: Candidate, row: Row) -> bool {
        self.admits_kind(candidate)
            && self.conditions.iter().all(|(name, condition)| {
                let held = name.map_or(Ok(None), |name| row.property_here(name));
                held.map_or(true, |held| condition.holds(held.as_ref()))
            })
    }

    fn admits_kind(&self, candidate: Candidate) -> bool {
        self.types.as_ref().is_none_or(|types| candidate.is_of(types))
            && self
                .classifications
                .as_ref()
                .is_none_or(|names| names.iter().any(|name| candidate.is_classified(*name)))
    }
}

/// An instance that may be one of the found, in the version that the snapshot sees.
#[derive(Clone, Copy)]
pub(super) enum Candidate<'s> {
    /// In the version in force: indexes answer most questions without a look at its row.
    InForce(&'s Table, u32),
    Read(&'s Instance),
}

impl Candidate<'_> {
    #[inline]
    fn is_of(self, types: &[Symbol]) -> bool {
        match self {
            Candidate::InForce(table, slot) => types.iter().any(|name| table.extents.contains(*name, slot)),
            Candidate::Read(instance) => types.binary_search(&instance.type_name).is_ok(),
        }
    }

    pub(super) fn is_classified(self, name: Symbol) -> bool {
        match self {
            Candidate::InForce(table, slot) => table.classified.contains(name, slot),
            Candidate::Read(instance) => instance.classification(name).is_some(),
        }
    }

    #[inline]
    pub(super) fn property(self, name: Symbol) -> Option<Value> {
        match self {
            Candidate::InForce(table, slot) => table.value(slot, name),
            Candidate::Read(instance) => instance.properties.get(name).cloned(),
        }
    }
}

impl Snapshot {
    /// One page of the entities that a search finds.
    ///
    /// Errors: `InvalidArgument` for a foreign cursor, a limit of 0 or over 100,000, or an order by a property that
    /// some type keeps out of the index.
    pub fn find_entities(&self, find: &Find) -> Result<Page<Entity<'_>>> {
        self.find(TypeKind::Entity, find, |slot, held| Entity { snapshot: self, slot, held })
    }

    /// One page of the relationships that a search finds. Errors: as [`Snapshot::find_entities`].
    pub fn find_relationships(&self, find: &Find) -> Result<Page<Relationship<'_>>> {
        self.find(TypeKind::Relationship, find, |slot, held| Relationship { snapshot: self, slot, held })
    }

    fn find<T>(&self, kind: TypeKind, find: &Find, make: impl Fn(u32, Held) -> T) -> Result<Page<T>> {
        find.check()?;
        let filter = Filter::new(self, kind, find);
        let plan = Plan::choose(self, &filter, find)?;
        let after =
            find.after.as_deref().map(|cursor| super::cursor::decode(plan.number(), cursor)).transpose()?;
        let mut page = Page { items: Vec::with_capacity(find.limit.min(ITEMS_RESERVED_MAX)), next: None };
        let mut last_key = None;
        let mut candidates = plan.candidates(self, &filter, after.as_deref());
        let table = self.graph().table(kind);
        let mut unchecked = 0;
        while let Some((key, slot)) = candidates.next() {
            unchecked += 1;
            if unchecked == CANDIDATES_UNCHECKED {
                self.check_cancelled()?;
                unchecked = 0;
            }
            if self.view().is_none() && !self.may_find(&filter, slot) {
                continue;
            }
            let Some(held) = self.seen(kind, slot, false)? else { continue };
            let candidate = match &held {
                Held::InForce => Candidate::InForce(table, slot),
                Held::Read(instance) => Candidate::Read(instance),
            };
            let is_present = self.view().is_none();
            if !filter.admits(candidate) || !plan.is_first_key(candidate, slot, &key, is_present) {
                continue;
            }
            if page.items.len() == find.limit {
                page.next = last_key.map(|key: Cow<[u8]>| super::cursor::encode(plan.number(), &key));
                break;
            }
            page.items.push(make(slot, held));
            last_key = Some(key);
        }
        Ok(page)
    }

    /// False if what is in memory of the instance at `slot` tells that it is not searched for.
    #[inline]
    fn may_find(&self, filter: &Filter, slot: u32) -> bool {
        let table = self.graph().table(filter.kind);
        !table.has_spilled(slot)
            || table.row(slot).is_some_and(|row| filter.may_admit(Candidate::InForce(table, slot), row))
    }
}
