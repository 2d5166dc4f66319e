//! Differences: between two versions of an instance, and between two positions of the repository.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::snapshot::{AsOf, Snapshot};
use crate::graph::instance::{Classification, Instance};
use crate::graph::properties::Properties;
use crate::graph::wide::link_of_key;
use crate::graph::{kind_of, past_link_prefix};
use crate::log::ReadLimit;
use crate::model::{Action, ClassificationContent, Direction, InstanceId, Status, Value};
use crate::record::decode_record;
use crate::{Error, ErrorKind, Position, Result};

/// Most instances a difference of two positions lists.
const INSTANCES_MAX: usize = 1_000_000;

/// What differs between two versions of one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The status before and after, if it changed.
    pub status: Option<(Status, Status)>,
    /// Properties that differ, by name.
    pub properties: Vec<PropertyDifference>,
    /// Classifications that differ: name, and the differing properties; a missing side means "not classified".
    pub classifications: Vec<ClassificationDifference>,
}

/// A classification that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassificationDifference {
    /// Its name.
    pub name: Arc<str>,
    /// True if the entity carried it before.
    pub was_there: bool,
    /// True if the entity carries it after.
    pub is_there: bool,
    /// Its properties that differ.
    pub properties: Vec<PropertyDifference>,
}

/// A property that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyDifference {
    /// Its name.
    pub name: Arc<str>,
    /// Its value before; `None` if it had none.
    pub before: Option<Value>,
    /// Its value after; `None` if it has none.
    pub after: Option<Value>,
}

/// What became of one instance between two positions.
#[derive(Clone, Debug, PartialEq)]
pub enum InstanceChange {
    /// It is live now and was not.
    Appeared(InstanceId),
    /// It was live and is not now.
    Disappeared(InstanceId),
    /// It was and is live, with these differences.
    Changed(InstanceId, Difference),
}

impl Difference {
    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Difference::default()
    }
}

impl Snapshot {
    /// What differs between two versions of an instance.
    ///
    /// Errors: `NotFound` if the instance or one of the versions does not exist.
    pub fn difference(&self, id: &InstanceId, before: u32, after: u32) -> Result<Difference> {
        let version = |number: u32| match self.instance_version(id, number)? {
            Some((slot, held)) => self.instance(kind_of(id), slot, held),
            None => Err(Error::new(
                ErrorKind::NotFound,
                format!("{id} has no version {number}; list its versions"),
            )),
        };
        let (before, after) = (version(before)?, version(after)?);
        Ok(self.compare(&before, &after))
    }

    /// What became of every instance between two positions, in the order of first change.
    ///
    /// Errors: `NotFound` for a position beyond the snapshot; `InvalidArgument` if `from` is after `to`; `TooLarge`
    /// over a million changed instances.
    pub fn changes_between(&self, from: Position, to: Position) -> Result<Vec<InstanceChange>> {
        if from > to {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("difference: expected the earlier position first, found {from} and {to}; swap them"),
            ));
        }
        let before = self.as_of(AsOf { position: Some(from), ..AsOf::default() })?;
        let after = self.as_of(AsOf { position: Some(to), ..AsOf::default() })?;
        let mut changes = Vec::new();
        for id in self.touched(from, to)? {
            let kind = kind_of(&id);
            // Purged since: neither side knows it.
            let Some(slot) = self.graph().table(kind).slot(id.id()) else { continue };
            let seen = |snapshot: &Snapshot| -> Result<_> {
                let held = snapshot.seen(kind, slot, false)?;
                held.map(|held| snapshot.instance(kind, slot, held)).transpose()
            };
            let (old, new) = (seen(&before)?, seen(&after)?);
            match (old, new) {
                (None, Some(_)) => changes.push(InstanceChange::Appeared(id)),
                (Some(_), None) => changes.push(InstanceChange::Disappeared(id)),
                (Some(old), Some(new)) => {
                    let difference = self.compare(&old, &new);
                    if !difference.is_empty() {
                        changes.push(InstanceChange::Changed(id, difference));
                    }
                }
                (None, None) => {}
            }
        }
        Ok(changes)
    }

    /// Instances that records `from + 1 ..= to` wrote, in order of first change, each once.
    fn touched(&self, from: Position, to: Position) -> Result<Vec<InstanceId>> {
        let mut seen = BTreeSet::new();
        let mut touched = Vec::new();
        let mut take = |id: InstanceId| {
            if seen.insert(id.clone()) {
                touched.push(id);
            }
            if touched.len() > INSTANCES_MAX {
                return Err(Error::new(
                    ErrorKind::TooLarge,
                    format!(
                        "difference: expected at most {INSTANCES_MAX} changed instances; narrow the positions"
                    ),
                ));
            }
            Ok(())
        };
        let mut next = from.next();
        while next <= to {
            let records = self.source().log().read(next, ReadLimit::default())?;
            if records.is_empty() {
                break;
            }
            for bytes in records {
                if next > to {
                    break;
                }
                for change in decode_record(next, &bytes)?.changes {
                    let Some(id) = change.action.instance() else { continue };
                    // Only these actions write more than the instance they name.
                    if matches!(change.action, Action::Delete(_) | Action::Restore(_, true)) {
                        for relationship in self.taken_along(&id, next)? {
                            take(relationship)?;
                        }
                    }
                    take(id)?;
                }
                next = next.next();
            }
        }
        Ok(touched)
    }

    /// Relationships that were deleted or restored together with an entity by the record at `position`.
    fn taken_along(&self, id: &InstanceId, position: Position) -> Result<Vec<InstanceId>> {
        let InstanceId::Entity(id) = id else { return Ok(Vec::new()) };
        let graph = self.graph();
        let Some(slot) = graph.entities.slot(id) else { return Ok(Vec::new()) };
        let is_written_there = |instance: &Instance| {
            instance.all_versions().iter().any(|version| version.place.position == position.0)
        };
        let mut found = Vec::new();
        for direction in [Direction::Out, Direction::In] {
            let current = graph.neighbors(slot, direction).iter(None);
            let past = graph.past_links.prefix(&past_link_prefix(slot, direction)).map(link_of_key);
            for link in current.chain(past) {
                let relationship = graph.relationships.get(link.relationship)?;
                if let Some(relationship) = relationship.filter(|relationship| is_written_there(relationship))
                {
                    found.push(InstanceId::Relationship(relationship.id.clone()));
                }
            }
        }
        Ok(found)
    }

    fn compare(&self, before: &Instance, after: &Instance) -> Difference {
        let mut classifications = Vec::new();
        let mut names: Vec<_> =
            before.classifications().iter().chain(after.classifications()).map(|known| known.name).collect();
        names.sort_unstable();
        names.dedup();
        let empty = Properties::new();
        for name in names {
            let (old, new) = (before.classification(name), after.classification(name));
            let properties = self.compare_properties(
                old.map_or(&empty, |known| &known.properties),
                new.map_or(&empty, |known| &known.properties),
            );
            if old.is_some() != new.is_some() || !properties.is_empty() {
                classifications.push(ClassificationDifference {
                    name: Arc::clone(self.graph().names.name(name)),
                    was_there: old.is_some(),
                    is_there: new.is_some(),
                    properties,
                });
            }
        }
        Difference {
            status: (before.status != after.status).then_some((before.status, after.status)),
            properties: self.compare_properties(&before.properties, &after.properties),
            classifications,
        }
    }

    fn compare_properties(&self, before: &Properties, after: &Properties) -> Vec<PropertyDifference> {
        let mut names: Vec<_> = before.iter().chain(after.iter()).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        let mut differences: Vec<PropertyDifference> = names
            .into_iter()
            .filter(|name| before.get(*name) != after.get(*name))
            .map(|name| PropertyDifference {
                name: Arc::clone(self.graph().names.name(name)),
                before: before.get(name).cloned(),
                after: after.get(name).cloned(),
            })
            .collect();
        differences.sort_by(|a, b| a.name.cmp(&b.name));
        differences
    }

    /// All properties of an instance by name; used to write whole contents back.
    pub(crate) fn named_properties(&self, properties: &Properties) -> Vec<(Arc<str>, Value)> {
        properties
            .iter()
            .map(|(name, value)| (Arc::clone(self.graph().names.name(name)), value.clone()))
            .collect()
    }

    pub(crate) fn classification_content(&self, known: &Classification) -> ClassificationContent {
        ClassificationContent {
            name: Arc::clone(self.graph().names.name(known.name)),
            properties: self.named_properties(&known.properties),
            provenance: self.graph().headers.get(known.header).provenance.clone(),
        }
    }
}
