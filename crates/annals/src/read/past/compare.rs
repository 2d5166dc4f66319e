//! Differences: between two versions of an instance, and between two positions of the repository.

use std::sync::Arc;

use super::held::Held;
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Classification, Instance, NO_ENDS};
use crate::graph::kind_of;
use crate::model::{ClassificationContent, Id, InstanceId, Provenance, TypeKind, Value};
use crate::read::snapshot::{AsOf, Snapshot};
use crate::{Error, ErrorKind, Position, Result};

/// Most instances in a difference of two positions.
pub(in crate::read) const INSTANCES_MAX: usize = if cfg!(test) { 100 } else { 1_000_000 };

/// The differences between two versions of one instance. A pair is the state before and after.
///
/// ```
/// use annals::{InstanceId, NewEntity, Repository};
/// let repository = Repository::in_memory();
/// let (id, _) = repository.transact(|t| t.create_entity(NewEntity::new("package")))?;
/// let package = InstanceId::Entity(id);
/// repository.transact(|t| t.set_status(&package, "stable"))?;
/// let difference = repository.snapshot().difference(&package, 1, 2)?;
/// assert_eq!(difference.status, Some(("active".into(), "stable".into())));
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Names of the statuses, if it got another one, was deleted or restored.
    pub status: Option<(Arc<str>, Arc<str>)>,
    /// Its ids, if it got another one.
    pub id: Option<(Id, Id)>,
    /// Names of its types, if it got another one.
    pub type_name: Option<(Arc<str>, Arc<str>)>,
    /// Ids of its start entities, if it was moved; not if only the id of the entity changed.
    pub from: Option<(Id, Id)>,
    /// The same for its end entities.
    pub to: Option<(Id, Id)>,
    /// Its provenances with homes, if they differ; [`Provenance::default`] if there is none.
    pub provenance: Option<(Arc<Provenance>, Arc<Provenance>)>,
    /// Whether it was and is a proxy, if that changed.
    pub is_proxy: Option<(bool, bool)>,
    /// Different properties, by name.
    pub properties: Vec<PropertyDifference>,
    /// Different classifications.
    pub classifications: Vec<ClassificationDifference>,
}

/// A classification that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassificationDifference {
    /// Its name.
    pub name: Arc<str>,
    /// True if the entity had it before.
    pub was_there: bool,
    /// True if the entity has it after.
    pub is_there: bool,
    /// Its provenances, if they differ; [`Provenance::default`] if there is none, also for a missing classification.
    pub provenance: Option<(Arc<Provenance>, Arc<Provenance>)>,
    /// Its different properties.
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

/// The change of one instance between two positions. The id is that at the later position; for an instance that
/// disappeared, that at the earlier position.
#[derive(Clone, Debug, PartialEq)]
pub enum InstanceChange {
    /// It is live at the later position only.
    Appeared(InstanceId),
    /// It is live at the earlier position only.
    Disappeared(InstanceId),
    /// It is live at both, with these differences.
    Changed(InstanceId, Box<Difference>),
}

/// Iterates over the changes of instances in the order of first change; it compares each instance when it is reached.
/// Made by [`Snapshot::changes`].
pub struct Changes<'s> {
    snapshot: &'s Snapshot,
    before: Snapshot,
    after: Snapshot,
    touched: std::vec::IntoIter<(TypeKind, u32)>,
}

impl Changes<'_> {
    /// `None` if the instance has no difference in the end.
    fn compare(&self, kind: TypeKind, slot: u32) -> Result<Option<InstanceChange>> {
        self.snapshot.check_cancelled()?;
        Ok(match (self.before.side(kind, slot)?, self.after.side(kind, slot)?) {
            (None, Some(new)) => Some(InstanceChange::Appeared(new.instance_id(kind))),
            (Some(old), None) => Some(InstanceChange::Disappeared(old.instance_id(kind))),
            (Some(old), Some(new)) => {
                let difference = self.snapshot.compare(kind, &old, &new);
                let id = new.instance_id(kind);
                (!difference.is_empty()).then(|| InstanceChange::Changed(id, Box::new(difference)))
            }
            (None, None) => None,
        })
    }
}

impl Iterator for Changes<'_> {
    type Item = Result<InstanceChange>;

    fn next(&mut self) -> Option<Result<InstanceChange>> {
        loop {
            let (kind, slot) = self.touched.next()?;
            if let Some(change) = self.compare(kind, slot).transpose() {
                return Some(change);
            }
        }
    }
}

impl Difference {
    /// True if there is no difference.
    pub fn is_empty(&self) -> bool {
        *self == Difference::default()
    }
}

/// One of the two compared versions, and the snapshot that has the ids of its ends.
struct Side<'s> {
    snapshot: &'s Snapshot,
    slot: u32,
    instance: Arc<Instance>,
}

impl Side<'_> {
    fn id(&self, kind: TypeKind) -> &Id {
        self.snapshot.graph().id_in(kind, self.slot, self.instance.header)
    }

    fn instance_id(&self, kind: TypeKind) -> InstanceId {
        let id = self.id(kind).clone();
        if kind == TypeKind::Relationship { InstanceId::Relationship(id) } else { InstanceId::Entity(id) }
    }
}

fn pair<T: PartialEq>(before: T, after: T) -> Option<(T, T)> {
    (before != after).then_some((before, after))
}

impl Snapshot {
    /// The differences between two versions of an instance.
    ///
    /// Errors: `NotFound` if the instance or one of the versions does not exist.
    pub fn difference(&self, id: &InstanceId, before: u32, after: u32) -> Result<Difference> {
        let kind = kind_of(id);
        let version = |number: u32| match self.instance_version(id, number)? {
            Some((slot, held)) => {
                Ok(Side { snapshot: self, slot, instance: self.instance(kind, slot, held)? })
            }
            None => Err(Error::new(
                ErrorKind::NotFound,
                format!("{id} has no version {number}; list its versions"),
            )),
        };
        Ok(self.compare(kind, &version(before)?, &version(after)?))
    }

    /// The changes of every instance between two positions, in the order of first change. The call finds the written
    /// instances; the iterator compares each when it is reached.
    ///
    /// ```
    /// use annals::{InstanceChange, NewEntity, Position, Repository};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| t.create_entity(NewEntity::new("package")))?;
    /// let snapshot = repository.snapshot();
    /// let changes: Vec<_> = snapshot.changes(Position(0), Position(1))?.collect::<annals::Result<_>>()?;
    /// assert!(matches!(changes[..], [InstanceChange::Appeared(_)]));
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` for a position beyond the snapshot; `InvalidArgument` if `from` is after `to`; `TooLarge`
    /// over a million changed instances; `Cancelled`; those of reading history, also of each item.
    pub fn changes(&self, from: Position, to: Position) -> Result<Changes<'_>> {
        if from > to {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("difference: expected the earlier position first, found {from} and {to}; swap them"),
            ));
        }
        let before = self.as_of(AsOf { position: Some(from), ..AsOf::default() })?;
        let after = self.as_of(AsOf { position: Some(to), ..AsOf::default() })?;
        let Some(touched) = self.touched(from, to, INSTANCES_MAX)? else {
            let text = format!(
                "difference: expected at most {INSTANCES_MAX} changed instances; narrow the positions"
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        };
        let touched = touched.into_iter();
        Ok(Changes { snapshot: self, before, after, touched })
    }

    /// The same as a list.
    ///
    /// Errors: as [`Snapshot::changes`].
    pub fn changes_between(&self, from: Position, to: Position) -> Result<Vec<InstanceChange>> {
        self.changes(from, to)?.collect()
    }

    /// The differences of an instance that is live in this snapshot and in another one; `None` if there are none.
    pub(in crate::read) fn difference_to(
        &self,
        after: &Snapshot,
        kind: TypeKind,
        slot: u32,
    ) -> Result<Option<Difference>> {
        let (Some(before), Some(after)) = (self.seen(kind, slot, false)?, after.side(kind, slot)?) else {
            return Ok(None);
        };
        if self.row(kind, slot, &before).place() == after.instance.place {
            return Ok(None);
        }
        let before = Side { snapshot: self, slot, instance: self.instance(kind, slot, before)? };
        let difference = self.compare(kind, &before, &after);
        Ok(Some(difference).filter(|difference| !difference.is_empty()))
    }

    /// The live version that this snapshot sees.
    fn side(&self, kind: TypeKind, slot: u32) -> Result<Option<Side<'_>>> {
        let Some(held) = self.seen(kind, slot, false)? else { return Ok(None) };
        Ok(Some(Side { snapshot: self, slot, instance: self.instance(kind, slot, held)? }))
    }

    /// The slot of the instance that has, or had, this id.
    pub(crate) fn slot_ever(&self, kind: TypeKind, id: &Id) -> Option<u32> {
        let table = self.graph().table(kind);
        table.slot(id).or_else(|| table.former_ids.slot(id)).filter(|slot| self.in_sight(kind, *slot))
    }

    /// The differences between two versions that were read. `None` means a missing version, without content.
    pub(in crate::read) fn difference_held(
        &self,
        kind: TypeKind,
        slot: u32,
        before: Option<Held>,
        after: Held,
    ) -> Result<Difference> {
        let side =
            |held| Ok::<_, Error>(Side { snapshot: self, slot, instance: self.instance(kind, slot, held)? });
        let after = side(after)?;
        if let Some(before) = before {
            return Ok(self.compare(kind, &side(before)?, &after));
        }
        let new = &after.instance;
        Ok(Difference {
            provenance: self.compare_provenance(None, Some(new.header)),
            properties: self.compare_properties(&Properties::new(), &new.properties),
            classifications: self.compare_classifications(&[], new.classifications()),
            ..Difference::default()
        })
    }

    fn compare(&self, kind: TypeKind, before: &Side, after: &Side) -> Difference {
        let (old, new) = (&*before.instance, &*after.instance);
        let name = |symbol| Arc::clone(self.graph().names.name(symbol));
        let end = |at: usize| {
            // Slots are compared, so that an end with a changed id counts as equal.
            let is_moved = old.ends != NO_ENDS && old.ends[at] != new.ends[at];
            is_moved.then(|| {
                (before.snapshot.id_seen(old.ends[at]).clone(), after.snapshot.id_seen(new.ends[at]).clone())
            })
        };
        let is_proxy = |instance: &Instance| self.graph().headers.get(instance.header).is_proxy;
        Difference {
            status: pair(self.status_name(&old.in_force()), self.status_name(&new.in_force())),
            id: pair(before.id(kind).clone(), after.id(kind).clone()),
            type_name: pair(name(old.type_name), name(new.type_name)),
            from: end(0),
            to: end(1),
            provenance: self.compare_provenance(Some(old.header), Some(new.header)),
            is_proxy: pair(is_proxy(old), is_proxy(new)),
            properties: self.compare_properties(&old.properties, &new.properties),
            classifications: self.compare_classifications(old.classifications(), new.classifications()),
        }
    }

    /// `None` for a header means a missing one.
    fn compare_provenance(
        &self,
        before: Option<HeaderNumber>,
        after: Option<HeaderNumber>,
    ) -> Option<(Arc<Provenance>, Arc<Provenance>)> {
        if before == after {
            return None;
        }
        let side = |number: Option<HeaderNumber>| {
            number.and_then(|number| self.graph().headers.get(number).provenance.clone()).unwrap_or_default()
        };
        pair(side(before), side(after))
    }

    fn compare_classifications(
        &self,
        before: &[Classification],
        after: &[Classification],
    ) -> Vec<ClassificationDifference> {
        let mut differences = Vec::new();
        let mut names: Vec<_> = before.iter().chain(after).map(|known| known.name).collect();
        names.sort_unstable();
        names.dedup();
        let empty = Properties::new();
        for name in names {
            let named = |all: &[Classification]| all.iter().position(|known| known.name == name);
            let (old, new) = (named(before).map(|at| &before[at]), named(after).map(|at| &after[at]));
            let properties = self.compare_properties(
                old.map_or(&empty, |known| &known.properties),
                new.map_or(&empty, |known| &known.properties),
            );
            let provenance =
                self.compare_provenance(old.map(|known| known.header), new.map(|known| known.header));
            if old.is_some() != new.is_some() || !properties.is_empty() || provenance.is_some() {
                differences.push(ClassificationDifference {
                    name: Arc::clone(self.graph().names.name(name)),
                    was_there: old.is_some(),
                    is_there: new.is_some(),
                    provenance,
                    properties,
                });
            }
        }
        differences
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

    /// All properties of an instance by name, for writing whole contents.
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
