//! Counts of the entities that a walk reaches, by the value of a field.

use super::reach::Reach;
use super::steps::Steps;
use super::walked::Breadth;
use crate::Result;
use crate::model::{Id, TypeKind, Value};
use crate::read::operators::filter::properties::check_order;
use crate::read::operators::grouper::Grouper;
use crate::read::snapshot::Snapshot;
use crate::search::{Field, Grouping, OrderBy};

/// The advice for a caller with too many groups.
const ADVICE: &str = "narrow the walk, or group by something that more entities share";

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
    /// for `@text`; `TooLarge` for more than [`GROUPS_MAX`](crate::GROUPS_MAX) values, or 16 MiB of them.
    pub fn groups(&self, start: &Id, reach: &Reach, by: &Field) -> Result<Groups> {
        let grouping = Grouping::default().by(by.clone());
        let mut grouper = Grouper::new(self, TypeKind::Entity, &grouping, ADVICE)?;
        let types = self.known_types(TypeKind::Entity, &reach.entity_types)?;
        check_order(self, TypeKind::Entity, types.as_deref(), &[OrderBy::ascending(by.clone())])?;
        let steps = Steps::new(self, reach)?;
        let mut breadth = Breadth::new(&steps, steps.slot(start)?, reach)?;
        while !breadth.is_done() {
            breadth.advance(&steps, None)?;
        }
        for (slot, _) in breadth.listed(reach.depth_min.max(1)) {
            grouper.add(slot, &self.fetch(TypeKind::Entity, slot)?)?;
        }
        let found = grouper.finish()?;
        let groups = found.groups.into_iter();
        let groups = groups
            .map(|group| Group { value: group.values.into_iter().next().flatten(), count: group.count });
        Ok(Groups { groups: groups.collect(), count: found.count })
    }
}
