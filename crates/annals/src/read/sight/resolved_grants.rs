//! The grants of a sight with their names looked up in one snapshot: which instances they admit.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{InSight, Sight, Ways, next_number};
use crate::graph::integrity::types::TypeNames;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, TypeKind};
use crate::read::operators::filter::condition::Filter;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::taken_along::Slot;
use crate::structures::number::narrow;
use crate::{ErrorKind, Position, Result};

/// How many instances are asked between two checks for cancellation.
const ASKED_UNCHECKED: u32 = 4_096;

/// A grant with its names looked up.
struct ResolvedGrant {
    types: Option<Vec<Symbol>>,
    filter: Filter,
    under: Option<Under>,
}

/// Containers and everything below them.
enum Under {
    /// All of it, for questions about many entities.
    All(SlotSet),
    /// The containers, for questions about a few.
    Roots(BTreeSet<u32>),
}

pub(super) struct ResolvedGrants {
    grants: Vec<ResolvedGrant>,
    /// The containers that each grant names, if it may admit something.
    pub(super) roots: Vec<Vec<u32>>,
    /// The numbers of the grants, as merged, with a name in their conditions that is unknown: they admit nothing.
    unknown: Vec<usize>,
    /// Types of what the repository stores about itself, ascending: no grant admits it.
    internal_types: Vec<Symbol>,
    /// `None`: all types of relationships.
    links: Option<TypeNames>,
}

impl ResolvedGrants {
    /// The grants in the view of `snapshot`, which has no sight, for questions about all instances.
    pub(super) fn for_all(snapshot: &Snapshot, sight: &Sight) -> Result<ResolvedGrants> {
        ResolvedGrants::of(snapshot, sight, |roots| Ok(Under::All(below(snapshot, roots)?)))
    }

    /// The same for questions about a few instances.
    pub(super) fn for_few(snapshot: &Snapshot, sight: &Sight) -> Result<ResolvedGrants> {
        ResolvedGrants::of(snapshot, sight, |roots| Ok(Under::Roots(roots.into_iter().collect())))
    }

    fn of(
        snapshot: &Snapshot,
        sight: &Sight,
        under: impl Fn(Vec<u32>) -> Result<Under>,
    ) -> Result<ResolvedGrants> {
        let root = |id: &Id| {
            snapshot.slot_of(TypeKind::Entity, id).filter(|slot| snapshot.sees(TypeKind::Entity, *slot))
        };
        let mut grants = Vec::with_capacity(sight.merged.len());
        let (mut all_roots, mut unknown) = (Vec::new(), Vec::new());
        for (number, merged) in sight.merged.iter().enumerate() {
            let named = |names: &Vec<Arc<str>>| {
                let mut types: Vec<Symbol> =
                    names.iter().flat_map(|name| snapshot.types_named(TypeKind::Entity, name)).collect();
                types.sort_unstable();
                types.dedup();
                types
            };
            let filter = match Filter::new(snapshot, TypeKind::Entity, &merged.filter) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    unknown.push(number);
                    continue;
                }
                filter => filter?,
            };
            let roots: Option<Vec<u32>> =
                merged.under.as_ref().map(|roots| roots.iter().filter_map(root).collect());
            let types = merged.types.as_ref().map(named);
            all_roots.extend(roots.clone().filter(|_| types.as_ref().is_none_or(|types| !types.is_empty())));
            let under = roots.map(&under).transpose()?;
            grants.push(ResolvedGrant { types, filter, under });
        }
        let links = sight.grants.iter().all(|grant| !grant.relationships.is_empty()).then(|| {
            let names: BTreeSet<&Arc<str>> =
                sight.grants.iter().flat_map(|grant| &grant.relationships).collect();
            let of = |name: &Arc<str>| snapshot.types_named(TypeKind::Relationship, name);
            let mut types: TypeNames = names.into_iter().flat_map(of).collect();
            types.sort_unstable();
            types.dedup();
            types
        });
        let internal_types = snapshot.graph().internal_types();
        Ok(ResolvedGrants { grants, roots: all_roots, unknown, internal_types, links })
    }

    /// True for a type of what the repository stores about itself.
    pub(super) fn is_internal(&self, type_name: Symbol) -> bool {
        self.internal_types.binary_search(&type_name).is_ok()
    }

    pub(super) fn admit_link(&self, type_name: Symbol) -> bool {
        !self.is_internal(type_name)
            && self.links.as_ref().is_none_or(|types| types.binary_search(&type_name).is_ok())
    }

    /// True if a grant admits this version of the entity at `slot`.
    pub(super) fn admit(&self, snapshot: &Snapshot, slot: u32, held: &Held) -> Result<bool> {
        let row = snapshot.row(TypeKind::Entity, slot, held);
        if self.is_internal(row.type_name()) {
            return Ok(false);
        }
        for grant in &self.grants {
            let is_of_type =
                grant.types.as_ref().is_none_or(|types| types.binary_search(&row.type_name()).is_ok());
            let is_there = |under: &Under| match under {
                Under::All(below) => Ok(below.contains(slot)),
                Under::Roots(roots) => is_below(snapshot, slot, roots),
            };
            if is_of_type
                && grant.under.as_ref().map_or(Ok(true), is_there)?
                && grant.filter.holds(snapshot, slot, held)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if a grant admits the version of the entity at `slot` that `snapshot` sees, deleted or not.
    pub(super) fn admit_entity(&self, snapshot: &Snapshot, slot: u32) -> Result<bool> {
        match snapshot.seen(TypeKind::Entity, slot, true)? {
            Some(held) => self.admit(snapshot, slot, &held),
            None => Ok(false),
        }
    }

    /// True if a grant admits the type of the relationship at `slot`, and both its ends are in `entities`.
    fn admit_relationship(&self, snapshot: &Snapshot, slot: u32, entities: &SlotSet) -> bool {
        let kind = TypeKind::Relationship;
        let Some(row) = snapshot.graph().relationships.row(slot) else { return false };
        let shape = snapshot.shape_seen(kind, slot);
        let (ends, type_name) =
            shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
        self.admit_link(type_name) && ends.iter().all(|end| entities.contains(*end))
    }

    fn made(&self, entities: SlotSet, relationships: SlotSet, ways: Ways) -> InSight {
        let (roots, unknown) = (self.roots.clone(), self.unknown.clone());
        InSight {
            number: next_number(),
            roots,
            unknown,
            entities,
            relationships,
            ways,
            purged: Arc::default(),
        }
    }

    /// The instances in sight in `snapshot`, among those in sight in the present.
    pub(super) fn all_in_sight(&self, snapshot: &Snapshot, present: Option<&InSight>) -> Result<InSight> {
        let graph = snapshot.graph();
        let mut entities = SlotSet::new();
        for slot in 0..narrow::<u32, usize>(graph.entities.slots_count()) {
            if slot.is_multiple_of(ASKED_UNCHECKED) {
                snapshot.check_cancelled()?;
            }
            if present.is_none_or(|present| present.entities.contains(slot))
                && self.admit_entity(snapshot, slot)?
            {
                entities.insert(slot);
            }
        }
        let relationships = self.links(snapshot, &entities)?;
        let ways = self.ways(snapshot, present.map(|present| &present.ways))?;
        Ok(self.made(entities, relationships, ways))
    }

    /// The ones in sight among some instances of `snapshot`, and among the ends of relationships among them; no ways.
    pub(super) fn few_in_sight(
        &self,
        snapshot: &Snapshot,
        present: &InSight,
        instances: &[Slot],
    ) -> Result<InSight> {
        let (mut entities, mut relationships) = (SlotSet::new(), SlotSet::new());
        let add = |slot: u32, entities: &mut SlotSet| {
            if present.entities.contains(slot) && self.admit_entity(snapshot, slot)? {
                entities.insert(slot);
            }
            Ok::<(), crate::Error>(())
        };
        for &(kind, slot) in instances {
            snapshot.check_cancelled()?;
            if kind != TypeKind::Relationship {
                add(slot, &mut entities)?;
                continue;
            }
            let Some(row) = snapshot.graph().relationships.row(slot) else { continue };
            let shape = snapshot.shape_seen(kind, slot);
            shape
                .map_or(row.ends(), |shape| shape.ends)
                .iter()
                .try_for_each(|end| add(*end, &mut entities))?;
            if self.admit_relationship(snapshot, slot, &entities) {
                relationships.insert(slot);
            }
        }
        Ok(self.made(entities, relationships, Ways::default()))
    }

    fn links(&self, snapshot: &Snapshot, entities: &SlotSet) -> Result<SlotSet> {
        let mut relationships = SlotSet::new();
        for slot in 0..narrow::<u32, usize>(snapshot.graph().relationships.slots_count()) {
            if slot.is_multiple_of(ASKED_UNCHECKED) {
                snapshot.check_cancelled()?;
            }
            if self.admit_relationship(snapshot, slot, entities) {
                relationships.insert(slot);
            }
        }
        Ok(relationships)
    }

    /// The instances in sight in the present, from those as of `from`, after which records wrote the instances `touched`;
    /// `None` if all must be asked again.
    pub(super) fn updated(
        &self,
        snapshot: &Snapshot,
        known: &InSight,
        from: Position,
        touched: Vec<Slot>,
    ) -> Result<Option<InSight>> {
        let graph = snapshot.graph();
        let changes = &graph.type_changes;
        let last = changes.len().checked_sub(1).and_then(|last| changes.get(last));
        if last.is_some_and(|(position, _)| *position > from.0) {
            return Ok(None);
        }
        // A name that gets its first instance may admit any entity, or none any more.
        if self.unknown != known.unknown {
            return Ok(None);
        }
        let InSight { mut entities, mut relationships, .. } = InSight::clone(known);
        let mut has_flipped = false;
        let (links, mut changed): (Vec<_>, Vec<_>) =
            touched.into_iter().partition(|(kind, _)| *kind == TypeKind::Relationship);
        if self.grants.iter().any(|grant| grant.under.is_some()) {
            // Ids are names: another entity may have that of a container now. A purged relationship is not among those touched.
            if self.roots != known.roots || graph.has_purged_containment_since(from.next().0) {
                return Ok(None);
            }
            let Some(placed) = placed(snapshot, from, &links)? else { return Ok(None) };
            changed.extend(placed);
        }
        for (_, slot) in changed {
            let is_in_sight = self.admit_entity(snapshot, slot)?;
            let is_new = graph.entities.birth(slot).is_some_and(|birth| birth > from.0);
            let has_changed = if is_in_sight { entities.insert(slot) } else { entities.remove(slot) };
            has_flipped |= has_changed && !is_new;
        }
        if has_flipped {
            relationships = self.links(snapshot, &entities)?;
        } else {
            for (_, slot) in links {
                match self.admit_relationship(snapshot, slot, &entities) {
                    true => relationships.insert(slot),
                    false => relationships.remove(slot),
                };
            }
        }
        Ok(Some(self.made(entities, relationships, self.ways(snapshot, None)?)))
    }
}

/// The entities that got another place by these relationships, with all below them; `None` if they may have had more places
/// between.
fn placed(snapshot: &Snapshot, from: Position, links: &[Slot]) -> Result<Option<Vec<Slot>>> {
    let graph = snapshot.graph();
    let mut children = Vec::new();
    for &(_, slot) in links {
        let Some(row) = graph.relationships.row(slot) else { return Ok(None) };
        let is_containing = graph.containment(row.type_name()).is_some();
        let is_new = graph.relationships.birth(slot).is_some_and(|birth| birth > from.0);
        // It may have contained something under another type.
        if !is_containing && (is_new || graph.has_one_shape(TypeKind::Relationship, slot)) {
            continue;
        }
        // Its ends are those that it always had.
        let is_deleted = !row.is_live() && row.versions() == 2;
        if !is_new && !is_deleted {
            return Ok(None);
        }
        children.push(row.ends()[1]);
    }
    let below = below(snapshot, children)?;
    Ok(Some(below.iter().map(|slot| (TypeKind::Entity, slot)).collect()))
}

/// Entities and everything that they contain in the view of `snapshot`.
pub(in crate::read) fn below(snapshot: &Snapshot, roots: Vec<u32>) -> Result<SlotSet> {
    let mut found = SlotSet::new();
    let mut open = roots;
    while let Some(slot) = open.pop() {
        snapshot.check_cancelled()?;
        if found.insert(slot) {
            open.extend(snapshot.children_of(slot)?.into_iter().map(|child| child.entity));
        }
    }
    Ok(found)
}

/// True if one of `roots` is, or contains, the entity at `slot`.
fn is_below(snapshot: &Snapshot, slot: u32, roots: &BTreeSet<u32>) -> Result<bool> {
    // As of a valid time an entity may have several containers, and be below itself: each is passed once.
    let (mut open, mut passed) = (vec![slot], BTreeSet::new());
    while let Some(at) = open.pop() {
        snapshot.check_cancelled()?;
        if roots.contains(&at) {
            return Ok(true);
        }
        if snapshot.is_plain() || passed.insert(at) {
            open.extend(snapshot.containers_seen(at).map(|link| link.other));
        }
    }
    Ok(false)
}
