//! Snapshots under a sight: which of their instances it shows.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::operators::filter::condition::Filter;
use super::sight::{Kept, Seen, Sight, Visible};
use super::snapshot::Snapshot;
use crate::graph::instance::past::{PastVersion, View};
use crate::graph::integrity::types::TypeNames;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, TypeKind};
use crate::read::held::Held;
use crate::structures::number::narrow;
use crate::{ErrorKind, Result};

/// How many instances are asked between two checks for cancellation.
const ASKED_UNCHECKED: u32 = 4_096;
/// Beginnings of the names of types of what the repository stores about itself, such as candidates and grants.
const OWN_TYPES: [&str; 2] = ["annals.", "annals-"];
/// Over this count of records a sight is made anew. Units: records.
const RECORDS_BEHIND_MAX: u64 = 1_000;

/// A grant with its names looked up in one graph.
struct Rule {
    types: Option<Vec<Symbol>>,
    filter: Filter,
    under: Option<SlotSet>,
}

struct Rules {
    rules: Vec<Rule>,
    /// Types of what the repository stores about itself, ascending: no grant admits it.
    own_types: Vec<Symbol>,
    /// `None`: all types of relationships.
    links: Option<TypeNames>,
}

impl Sight {
    /// True if seeing this snapshot takes no longer than a look-up.
    pub fn is_ready_for(&self, snapshot: &Snapshot) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().is_some_and(|kept| {
            kept.generation == snapshot.graph().generation
                && kept.position == snapshot.position()
                && kept.source.ptr_eq(&Arc::downgrade(snapshot.source()))
        })
    }
}

impl Snapshot {
    /// The same snapshot as a reader with the grants of `sight` sees it: everything hidden is as if it were absent.
    ///
    /// Errors: those of reading long values; `Cancelled`.
    pub fn seen_by(&self, sight: &Arc<Sight>) -> Result<Snapshot> {
        let whole = self.unsighted();
        let now = whole.with_view(None);
        let present = now.visible_by(sight)?;
        let visible = match self.view() {
            None => Arc::clone(&present),
            Some(_) => Arc::new(Rules::of(&whole, sight)?.visible(&whole, Some(&present))?),
        };
        Ok(whole.with_sight(Arc::new(Seen { sight: Arc::clone(sight), present, visible })))
    }

    /// The sight of another view of the same graph.
    pub(super) fn sight_then(&self, view: Option<View>) -> Result<Option<Arc<Seen>>> {
        let Some(Seen { sight, present, .. }) = self.sight() else { return Ok(None) };
        let then = self.unsighted().with_view(view);
        let visible = match view {
            None => Arc::clone(present),
            Some(_) => Arc::new(Rules::of(&then, sight)?.visible(&then, Some(present))?),
        };
        Ok(Some(Arc::new(Seen { sight: Arc::clone(sight), present: Arc::clone(present), visible })))
    }

    /// True if this snapshot has no sight, or its sight shows the instance at `slot`.
    #[inline]
    pub(crate) fn in_sight(&self, kind: TypeKind, slot: u32) -> bool {
        self.sight_set(kind).is_none_or(|set| set.contains(slot))
    }

    /// The visible instances; `None` for all.
    #[inline]
    pub(super) fn sight_set(&self, kind: TypeKind) -> Option<&SlotSet> {
        let Seen { visible, .. } = self.sight()?;
        Some(if kind == TypeKind::Relationship { &visible.relationships } else { &visible.entities })
    }

    /// The number of the sight; `None` without one.
    pub(super) fn sight_number(&self) -> Option<u64> {
        self.sight().map(|seen| seen.visible.number)
    }

    /// Leaves out the versions of the instance at `slot` that the sight hides.
    pub(super) fn retain_seen(
        &self,
        kind: TypeKind,
        slot: u32,
        versions: &mut Vec<PastVersion>,
    ) -> Result<()> {
        let Some(Seen { sight, present, .. }) = self.sight() else { return Ok(()) };
        let whole = self.unsighted();
        let rules = Rules::of(&whole.with_view(None), sight)?;
        let mut kept = Vec::with_capacity(versions.len());
        for version in versions.drain(..) {
            let is_seen = if kind == TypeKind::Relationship {
                let row = whole.graph().relationships.known_row(slot);
                let shape = whole.graph().shape(kind, slot, version.header);
                let (ends, type_name) =
                    shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
                rules.admit_link(type_name) && ends.iter().all(|end| present.entities.contains(*end))
            } else {
                rules.admit(&whole, slot, &whole.content(kind, slot, version)?)?
            };
            if is_seen {
                kept.push(version);
            }
        }
        *versions = kept;
        Ok(())
    }

    /// The instances of the present that a sight shows; made from those of an earlier position, if they are kept.
    fn visible_by(&self, sight: &Sight) -> Result<Arc<Visible>> {
        let (generation, position) = (self.graph().generation, self.position());
        let known = sight.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let source = Arc::downgrade(self.source());
        let known = known.filter(|kept| kept.generation == generation && kept.source.ptr_eq(&source));
        if let Some(kept) =
            known.as_ref().filter(|kept| kept.position == position && self.pending().is_none())
        {
            return Ok(Arc::clone(&kept.sets));
        }
        let rules = Rules::of(self, sight)?;
        let newer = match known.filter(|kept| kept.position < position && self.pending().is_none()) {
            Some(kept) => rules.caught_up(self, &kept)?,
            None => None,
        };
        let sets = Arc::new(match newer {
            Some(sets) => sets,
            None => rules.visible(self, None)?,
        });
        if self.pending().is_none() {
            let mut kept = sight.kept.lock().unwrap_or_else(PoisonError::into_inner);
            // Another reader may have made those of a later position meanwhile.
            let is_older = |kept: &Kept| {
                !kept.source.ptr_eq(&source) || (kept.generation, kept.position) < (generation, position)
            };
            if kept.as_ref().is_none_or(is_older) {
                *kept = Some(Kept { source, generation, position, sets: Arc::clone(&sets) });
            }
        }
        Ok(sets)
    }
}

impl Rules {
    /// The grants in the view of `snapshot`, which has no sight.
    fn of(snapshot: &Snapshot, sight: &Sight) -> Result<Rules> {
        let mut rules = Vec::with_capacity(sight.merged.len());
        for merged in &sight.merged {
            let named = |names: &Vec<Arc<str>>| {
                let mut types: Vec<Symbol> =
                    names.iter().flat_map(|name| snapshot.types_named(TypeKind::Entity, name)).collect();
                types.sort_unstable();
                types.dedup();
                types
            };
            let filter = match Filter::new(snapshot, TypeKind::Entity, &merged.filter) {
                // An unknown name admits nothing.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                filter => filter?,
            };
            let under = merged.under.as_ref().map(|roots| below(snapshot, roots)).transpose()?;
            rules.push(Rule { types: merged.types.as_ref().map(named), filter, under });
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
        let names = snapshot.graph().names.iter().enumerate();
        let own = names.filter(|(_, name)| OWN_TYPES.iter().any(|start| name.starts_with(start)));
        let own_types = own.map(|(number, _)| Symbol(narrow(number))).collect();
        Ok(Rules { rules, own_types, links })
    }

    fn admit_link(&self, type_name: Symbol) -> bool {
        self.links.as_ref().is_none_or(|types| types.binary_search(&type_name).is_ok())
    }

    /// True if a grant admits this version of the entity at `slot`.
    fn admit(&self, snapshot: &Snapshot, slot: u32, held: &Held) -> Result<bool> {
        let row = snapshot.row(TypeKind::Entity, slot, held);
        if self.own_types.binary_search(&row.type_name()).is_ok() {
            return Ok(false);
        }
        for rule in &self.rules {
            let is_of_type =
                rule.types.as_ref().is_none_or(|types| types.binary_search(&row.type_name()).is_ok());
            if is_of_type
                && rule.under.as_ref().is_none_or(|below| below.contains(slot))
                && rule.filter.holds(snapshot, slot, held)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if a grant admits the version of the entity at `slot` that `snapshot` sees, deleted or not.
    fn admit_entity(&self, snapshot: &Snapshot, slot: u32) -> Result<bool> {
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

    /// The visible instances of `snapshot`, among those visible in the present.
    fn visible(&self, snapshot: &Snapshot, present: Option<&Visible>) -> Result<Visible> {
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
        Ok(Visible { number: next_number(), entities, relationships })
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

    /// The visible instances of the present, from those of an earlier position; `None` if all must be asked again.
    fn caught_up(&self, snapshot: &Snapshot, kept: &Kept) -> Result<Option<Visible>> {
        let graph = snapshot.graph();
        let (from, to) = (kept.position, snapshot.position());
        let changes = &graph.type_changes;
        let last = changes.len().checked_sub(1).and_then(|last| changes.get(last));
        let has_new_types = last.is_some_and(|(position, _)| *position > from.0);
        if has_new_types || to.0 - from.0 > RECORDS_BEHIND_MAX {
            return Ok(None);
        }
        let touched = snapshot.touched(from, to)?;
        let is_placed = |(kind, slot): &(TypeKind, u32)| {
            let row = graph.relationships.row(*slot).filter(|_| *kind == TypeKind::Relationship);
            row.is_some_and(|row| graph.containment(row.type_name()).is_some())
        };
        // The places of a whole subtree may have changed.
        if self.rules.iter().any(|rule| rule.under.is_some()) && touched.iter().any(is_placed) {
            return Ok(None);
        }
        let Visible { mut entities, mut relationships, .. } = Visible::clone(&kept.sets);
        let mut has_flipped = false;
        let (links, changed): (Vec<_>, Vec<_>) =
            touched.into_iter().partition(|(kind, _)| *kind == TypeKind::Relationship);
        for (_, slot) in changed {
            let is_visible = self.admit_entity(snapshot, slot)?;
            let is_new = graph.entities.birth(slot).is_some_and(|birth| birth > from.0);
            let has_changed = if is_visible { entities.insert(slot) } else { entities.remove(slot) };
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
        Ok(Some(Visible { number: next_number(), entities, relationships }))
    }
}

/// Entities and everything that they contain in the view of `snapshot`.
fn below(snapshot: &Snapshot, roots: &[Id]) -> Result<SlotSet> {
    let mut found = SlotSet::new();
    let root =
        |id| snapshot.slot_of(TypeKind::Entity, id).filter(|slot| snapshot.sees(TypeKind::Entity, *slot));
    let mut open: Vec<u32> = roots.iter().filter_map(root).collect();
    while let Some(slot) = open.pop() {
        snapshot.check_cancelled()?;
        if found.insert(slot) {
            open.extend(snapshot.children_of(slot)?.into_iter().map(|child| child.entity));
        }
    }
    Ok(found)
}

fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
