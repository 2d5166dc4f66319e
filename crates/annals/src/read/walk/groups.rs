//! Counts of the entities that a walk reaches, by the value of a field.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::reach::Reach;
use super::steps::Steps;
use super::walked::Breadth;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, TypeKind, Value};
use crate::read::operators::filter::properties::check_order;
use crate::read::operators::filter::subject::Subject;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::stored::value_bytes;
use crate::search::{Field, Header, OrderBy};
use crate::{Error, ErrorKind, Result};

/// Most different values of one answer.
pub const GROUPS_MAX: usize = 10_000;
/// Greatest total size of the different values of one answer. Units: bytes, approximate.
const VALUES_BYTES_MAX: usize = 16 << 20;
/// Number of entities between two checks for cancellation.
const COUNTED_UNCHECKED: usize = 256;

/// Counts of the entities that a walk reaches, by the value of a field. Made by [`Snapshot::groups`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// One group for each value, the largest first; equally large ones by value.
    pub groups: Vec<Group>,
    /// Number of entities in all groups.
    pub count: usize,
}

/// The entities with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The value; `None` for entities without one.
    pub value: Option<Value>,
    /// Their number.
    pub count: usize,
}

/// The field of each entity.
enum Read {
    /// `None` if no instance ever had a property of this name.
    Property(Option<Symbol>),
    Header(Header),
}

impl Snapshot {
    /// Counts the entities of [`Snapshot::reachable`] by the value of a property or of a header field, such as `@type`.
    ///
    /// An entity with a set counts in the group of each member, so the sum of the counts may exceed [`Groups::count`].
    /// Values of different kinds are different, also numbers.
    ///
    /// ```
    /// use annals::{Field, Header, NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (raw, _) = repository.transact(|t| {
    ///     let raw = t.create_entity(NewEntity::new("table"))?;
    ///     for owner in ["sales", "finance", "sales"] {
    ///         let copy = t.create_entity(NewEntity::new("table").property("owner", owner))?;
    ///         t.create_relationship(NewRelationship::new("feeds", raw.clone(), copy))?;
    ///     }
    ///     Ok(raw)
    /// })?;
    /// let found = repository.snapshot().groups(&raw, &Reach::out(), &"owner".into())?;
    /// let counts: Vec<_> = found.groups.iter().map(|group| (group.value.clone(), group.count)).collect();
    /// assert_eq!(counts, [(Some("sales".into()), 2), (Some("finance".into()), 1)]);
    /// assert_eq!(repository.snapshot().groups(&raw, &Reach::out(), &Header::Type.into())?.groups.len(), 1);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Snapshot::neighborhood`]; `NotFound` for a property that no instance can have; `InvalidExpression`
    /// for `@text`; `TooLarge` for more than [`GROUPS_MAX`] values, or 16 MiB of them.
    pub fn groups(&self, start: &Id, reach: &Reach, by: &Field) -> Result<Groups> {
        let read = match by {
            Field::Property(name) => Read::Property(self.graph().names.find(name)),
            Field::Header(header) => Read::Header(*header),
            Field::AnyText => {
                let text = "group by @text: expected one property, or a header such as @type";
                return Err(Error::new(ErrorKind::InvalidExpression, text));
            }
        };
        let types = self.known_types(TypeKind::Entity, &reach.entity_types)?;
        check_order(self, TypeKind::Entity, types.as_deref(), &[OrderBy::ascending(by.clone())])?;
        let steps = Steps::new(self, reach)?;
        let mut breadth = Breadth::new(&steps, steps.slot(start)?, reach)?;
        while !breadth.is_done() {
            breadth.advance(&steps, None)?;
        }
        let listed = breadth.listed(reach.depth_min.max(1));
        let mut counted = Counted { by, groups: BTreeMap::new(), bytes: 0 };
        for (number, (slot, _)) in listed.iter().enumerate() {
            if number.is_multiple_of(COUNTED_UNCHECKED) {
                self.check_cancelled()?;
            }
            match self.value_to_group(*slot, &read)? {
                Some(Value::Set(values)) if values.iter().next().is_some() => {
                    values.iter().try_for_each(|value| counted.add(Some(value)))?
                }
                value => counted.add(value)?,
            }
        }
        let groups = counted.groups.into_iter();
        let mut groups: Vec<Group> = groups.map(|(value, count)| Group { value, count }).collect();
        // The group without a value comes after equally large groups.
        groups.sort_by_key(|group| (Reverse(group.count), group.value.is_none()));
        Ok(Groups { groups, count: listed.len() })
    }

    fn value_to_group(&self, slot: u32, read: &Read) -> Result<Option<Value>> {
        let held = self.fetch(TypeKind::Entity, slot)?;
        Ok(match read {
            Read::Property(None) => None,
            Read::Property(Some(name)) => self.value(TypeKind::Entity, slot, &held, *name),
            Read::Header(header) => {
                let subject = match &held {
                    Held::InForce => Subject::InForce(TypeKind::Entity, slot),
                    Held::Read(version) => Subject::Read(TypeKind::Entity, slot, version.row()),
                };
                subject.header(self, *header)
            }
        })
    }
}

struct Counted<'f> {
    by: &'f Field,
    groups: BTreeMap<Option<Value>, usize>,
    /// Size of the values.
    bytes: usize,
}

impl Counted<'_> {
    fn add(&mut self, value: Option<Value>) -> Result<()> {
        if let Some(count) = self.groups.get_mut(&value) {
            *count += 1;
            return Ok(());
        }
        self.bytes += value.as_ref().map_or(0, value_bytes);
        if self.groups.len() == GROUPS_MAX || self.bytes > VALUES_BYTES_MAX {
            let text = format!(
                "group by {}: expected at most {GROUPS_MAX} different values of together {VALUES_BYTES_MAX} bytes, found \
                 more; narrow the walk, or group by something that more entities share",
                self.by
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        self.groups.insert(value, 1);
        Ok(())
    }
}
