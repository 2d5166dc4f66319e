//! Undoes a whole record: sets its instances back to their state before it, in new versions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::built_on::Taken;
use super::found::{BuiltOn, Found, Keep};
use crate::graph::actions as action;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::link::Link;
use crate::graph::{instance_id, kind_of};
use crate::log::ReadLimit;
use crate::model::{Action, Change, InstanceId, TypeKind};
use crate::read::taken_along::Slot;
use crate::read::{AsOf, Snapshot};
use crate::record::decode_record;
use crate::write::build::internal::is_candidate;
use crate::write::build::transaction::Transaction;
use crate::write::tree::then::{Then, Was, restoring};
use crate::{Error, ErrorKind, Position, Result};

/// Most instances that the records of one take-back may have changed: it is one transaction. An import of more is taken back
/// in several.
pub const TAKEN_BACK_MAX: usize = if cfg!(test) { 100 } else { 1_000_000 };

/// The instances of a take-back on which later records built.
#[derive(Debug, Default)]
pub struct TakenBack {
    /// With [`Keep::Theirs`]: the instances that stay, or of which a part stays, because later records built on them.
    pub stays: Vec<BuiltOn>,
    /// With [`Keep::Mine`]: the instances whose later changes are undone, too.
    pub undone: Vec<BuiltOn>,
}

/// The instances that a record changed: slots of those that were live before it, and of those that were not.
#[derive(Default)]
struct Changed {
    /// Entities whose content changed.
    entities: BTreeSet<u32>,
    /// Entities whose place changed: a relationship that contained them, or does now.
    placed: BTreeSet<u32>,
    /// Relationships that contained.
    containing: BTreeSet<u32>,
    /// Relationships that did not contain.
    relationships: BTreeSet<u32>,
    new_entities: Vec<u32>,
    new_relationships: Vec<u32>,
}

impl Transaction {
    /// Sets everything that the record at `position` changed back to its state before the record, in new versions:
    /// instances that it created are deleted, instances that it deleted are restored, and content, types, ends, names
    /// and places are as before. All other instances stay. Types that it declared stay declared, and instances purged
    /// since stay purged, also if another instance has the id of one now.
    ///
    /// Units that only later records changed stay: a property, a classification, the provenance, the ends of a
    /// relationship, and the place of an item (its container, its name and its position there) are units. The content of an
    /// instance whose type a record changed, and the existence of an instance, are one unit.
    ///
    /// Errors: `PreconditionFailed` if later records built on it: they changed the same unit to something else, or linked or
    /// placed others to, or in, an instance that it created ([`take_back_all`](Transaction::take_back_all) can do it all the
    /// same); `NotFound` if there is no such record; `InvalidArgument` if it has a change that cannot be undone, such
    /// as purging; those of the changes; those of reading history.
    pub fn take_back(&mut self, position: Position) -> Result<()> {
        self.take_back_all(position..=position, None).map(drop)
    }

    /// As [`take_back`](Transaction::take_back) for a range of records at once, as if they were one. With
    /// [`Keep::Mine`] later changes of the same units are undone, too, and instances that the records created are
    /// deleted with everything that was put into them since; with [`Keep::Theirs`] units that both changed, and instances
    /// that others need, stay as they are, and the rest is taken back.
    ///
    /// The message of the record names the records, as [`takes_back`](crate::takes_back) reads it. If everything is as it was
    /// before them already, the transaction gets no change.
    ///
    /// Errors: as [`take_back`](Transaction::take_back).
    pub fn take_back_all(
        &mut self,
        positions: RangeInclusive<Position>,
        keep: Option<Keep>,
    ) -> Result<TakenBack> {
        self.take_back_except(positions, keep, None)
    }

    /// The same; changes of the instance `own` since are no conflict, and other instances in conflict stay as a whole.
    pub(in crate::write) fn take_back_except(
        &mut self,
        positions: RangeInclusive<Position>,
        keep: Option<Keep>,
        own: Option<&InstanceId>,
    ) -> Result<TakenBack> {
        self.check_unlimited("take back")?;
        self.reads.everything();
        let (first, last) = positions.into_inner();
        let before = first.0.checked_sub(1).filter(|_| first <= last && last <= self.base.position());
        let Some(before) = before.map(Position) else {
            let newest = self.base.position();
            if newest == Position::ZERO {
                let text = "take back: expected a record, found none: the log is empty";
                return Err(Error::new(ErrorKind::NotFound, text));
            }
            let found = if first == last { first.to_string() } else { format!("{first} to {last}") };
            let text = format!("take back: expected positions of records, 1 to {newest}, found {found}");
            return Err(Error::new(ErrorKind::NotFound, text));
        };
        self.check_all_can_be_taken_back(first, last)?;
        let as_of = |position| self.base.as_of(AsOf { position: Some(position), ..AsOf::default() });
        let (snapshot, after) = (as_of(before)?, as_of(last)?);
        let Some(touched) = self.base.touched(before, last, TAKEN_BACK_MAX)? else {
            let text = format!(
                "take back: expected at most {TAKEN_BACK_MAX} changed instances; take fewer records back at once, \
                 the latest first"
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        };
        let base = self.base.clone();
        let own_slot =
            own.and_then(|own| Some((kind_of(own), base.graph().table(kind_of(own)).slot(own.id())?)));
        let taken = Taken {
            now: &base,
            then: &snapshot,
            after: &after,
            touched: &touched,
            own: own_slot,
            keep,
            is_whole: own.is_some(),
        };
        let mut found = taken.built_on()?;
        if let (None, Some(first)) = (keep, found.all.first()) {
            let text = format!(
                "take back: later records built on {} of its instances, the first: {}; keep mine or theirs",
                found.all.len(),
                first.reason.text()
            );
            return Err(Error::new(ErrorKind::PreconditionFailed, text));
        }
        let changed = changed(&self.base, &snapshot, &touched, &found)?;
        let along = match keep {
            Some(Keep::Mine) => self.strangers(&changed.new_entities, &found),
            _ => self.expect_nothing_new_in(&changed.new_entities).map(|()| Vec::new())?,
        };
        let merged = std::mem::take(&mut found.merged);
        self.returning(|t| t.set_back(snapshot.clone(), changed, merged))?;
        self.taken_back.push(first..=last);
        let mut all = found.all;
        let after = self.own_graph()?.graph();
        all.extend(along.into_iter().filter(|built| !after.table(built.slot.0).is_live(built.slot.1)));
        Ok(match keep {
            Some(Keep::Mine) => TakenBack { undone: all, ..TakenBack::default() },
            _ => TakenBack { stays: all, ..TakenBack::default() },
        })
    }

    /// The instances that later records linked to new entities, or put into them: they are deleted with these.
    fn strangers(&self, new_entities: &[u32], found: &Found<'_>) -> Vec<BuiltOn> {
        let graph = self.base.graph();
        let mut strangers = Vec::new();
        let mut seen: HashSet<Slot> = HashSet::new();
        for action in self.outermost(new_entities) {
            let named = action.instance();
            for slot in graph.taken_along(&action).slots() {
                if !found.known.contains(&slot) && seen.insert(slot) {
                    let with = named.as_ref().map(ToString::to_string).unwrap_or_default();
                    strangers.push(BuiltOn::new(graph, slot, &format!("it is deleted with {with}")));
                }
            }
        }
        strangers
    }

    fn check_all_can_be_taken_back(&self, first: Position, last: Position) -> Result<()> {
        let mut next = first;
        while next <= last {
            self.base.check_cancelled()?;
            for bytes in self.base.source().log().read(next, ReadLimit::default())? {
                if next <= last {
                    check_can_be_taken_back(&decode_record(next, &bytes)?.changes)?;
                }
                next = next.next();
            }
        }
        Ok(())
    }

    /// Lets the commit conflict with a transaction that puts something into new entities, or links to them, before they
    /// are deleted.
    fn expect_nothing_new_in(&mut self, new_entities: &[u32]) -> Result<()> {
        self.outermost(new_entities).iter().try_for_each(|action| self.expect_taken_along(action))
    }

    /// The deletions of the outermost of these entities: a deletion takes along all that a container has below it.
    fn outermost(&self, new_entities: &[u32]) -> Vec<Action> {
        let new: HashSet<u32> = new_entities.iter().copied().collect();
        let graph = self.base.graph();
        let is_outermost =
            |slot: &u32| graph.container_link(*slot).is_none_or(|link| !new.contains(&link.other));
        let delete = |slot| {
            let instance = InstanceId::Entity(graph.entities.id(slot).clone());
            action::Delete { instance }.into()
        };
        let live = new_entities.iter().copied().filter(|slot| graph.entities.is_live(*slot));
        live.filter(is_outermost).map(delete).collect()
    }

    /// Sets the instances back to their state in `snapshot`, or to the merged one.
    fn set_back(
        &mut self,
        snapshot: Snapshot,
        changed: Changed,
        merged: HashMap<Slot, Arc<Instance>>,
    ) -> Result<()> {
        let mut items = Vec::new();
        for &entity in changed.entities.union(&changed.placed) {
            let (then, now) = (snapshot.container_seen(entity)?, self.base.graph().container_link(entity));
            let link_of =
                |link: Option<Link>| link.map(|link| (link.relationship, link.other, link.type_name));
            // A later record moved it, if these records did not: it stays there.
            let has_place = changed.placed.contains(&entity);
            let is_moved = self.base.graph().entities.is_live(entity) && link_of(then) != link_of(now);
            let then = then.filter(|_| has_place || !is_moved);
            let (parent, relationship) = (then.map(|link| link.other), then.map(|link| link.relationship));
            let has_content = changed.entities.contains(&entity);
            items.push(Was { entity, parent, relationship, has_content, has_place });
        }
        let entities = changed.entities.union(&changed.placed).copied().collect();
        let then = Then { snapshot, items, entities, merged };
        self.delete_new(&then, &changed)?;
        self.put_back_places(&then, &changed)?;
        self.take_out_misplaced(&then)?;
        self.restore_entities(&changed)?;
        // A container brings back the items that these records created in it before they deleted it.
        self.delete_new(&then, &changed)?;
        self.put_back_places(&then, &changed)?;
        // Restored instances return in the state in which they were deleted.
        self.take_out_misplaced(&then)?;
        let actions = then.contents(self.own_graph()?.graph())?;
        self.push_each(actions)?;
        self.put_into_places(&then)?;
        self.restore_lost(TypeKind::Relationship, &changed.relationships)?;
        self.put_back_relationships(&then, &changed.relationships)
    }

    /// Gives relationships that have others now their types and ends back, as far as their places are free: they stay the same,
    /// and items that they contain now leave their places.
    fn put_back_places(&mut self, then: &Then, changed: &Changed) -> Result<()> {
        let mut open: Vec<u32> = changed.containing.union(&changed.relationships).copied().collect();
        loop {
            let mut left = Vec::with_capacity(open.len());
            for &slot in &open {
                let actions = then.earlier_place(self.own_graph()?.graph(), slot)?;
                if actions.is_empty() {
                    left.push(slot);
                }
                self.push_each(actions)?;
            }
            if left.len() == open.len() {
                return Ok(());
            }
            // Each may have freed the place of one before it.
            left.reverse();
            open = left;
        }
    }

    /// Deletes what the records created. A copy of another collection is deleted with its container, or its end, only; so
    /// the relationship that contains a copy stays until then.
    fn delete_new(&mut self, then: &Then, changed: &Changed) -> Result<()> {
        let graph = self.base.graph();
        let is_copy =
            |(kind, slot): Slot| graph.table(kind).row(slot).is_some_and(|row| !graph.is_own(row.header()));
        let new: HashSet<u32> = changed.new_entities.iter().copied().collect();
        let goes_along = |&slot: &Slot| {
            let row = graph.table(slot.0).row(slot.1).filter(|_| slot.0 == TypeKind::Relationship);
            let child =
                row.filter(|row| graph.containment(row.type_name()).is_some()).map(|row| row.ends()[1]);
            is_copy(slot)
                || child.is_some_and(|child| new.contains(&child) && is_copy((TypeKind::Entity, child)))
        };
        let relationships = changed.new_relationships.iter().map(|slot| (TypeKind::Relationship, *slot));
        let entities = changed.new_entities.iter().map(|slot| (TypeKind::Entity, *slot));
        let (late_links, links): (Vec<Slot>, Vec<Slot>) = relationships.partition(goes_along);
        let (late_entities, entities): (Vec<Slot>, Vec<Slot>) = entities.partition(goes_along);
        self.delete_each(links)?;
        // Order: before the entities, which take along the relationships that lead to them, and the items that they contain.
        self.put_back_places(then, changed)?;
        self.take_out_where(then, |link| new.contains(&link.other))?;
        self.delete_each(entities)?;
        self.delete_each(late_links.into_iter().chain(late_entities).rev())
    }

    fn delete_each(&mut self, slots: impl IntoIterator<Item = Slot>) -> Result<()> {
        for (kind, slot) in slots {
            // Deleting one may have deleted the next.
            let table = self.own_graph()?.graph().table(kind);
            if table.is_live(slot) {
                let instance = instance_id(kind, table.id(slot).clone());
                self.push(action::Delete { instance })?;
            }
        }
        Ok(())
    }

    /// Restores entities that these records deleted. A container brings back all that its latest deletion took along, which
    /// may be a later one: of that, the rest is deleted again.
    fn restore_entities(&mut self, changed: &Changed) -> Result<()> {
        let is_wanted = |slot: &u32| changed.entities.contains(slot) || changed.placed.contains(slot);
        let mut others = BTreeSet::new();
        for &slot in &changed.entities {
            let graph = self.own_graph()?.graph();
            if graph.entities.is_live(slot) {
                continue;
            }
            let along = graph.taken_along(&restoring(graph, TypeKind::Entity, slot));
            let entities = along.slots().filter(|(kind, _)| *kind == TypeKind::Entity).map(|(_, slot)| slot);
            others.extend(entities.filter(|slot| !is_wanted(slot)));
            self.restore_lost(TypeKind::Entity, &BTreeSet::from([slot]))?;
        }
        if others.is_empty() {
            return Ok(());
        }
        self.delete_each(others.into_iter().map(|slot| (TypeKind::Entity, slot)))?;
        // One of the others may have taken along an entity that is to be there.
        self.restore_lost(TypeKind::Entity, &changed.entities)
    }

    fn restore_lost(&mut self, kind: TypeKind, slots: &BTreeSet<u32>) -> Result<()> {
        for &slot in slots {
            let graph = self.own_graph()?.graph();
            let table = graph.table(kind);
            if table.row(slot).is_some_and(|row| !row.is_live()) {
                let action = restoring(graph, kind, slot);
                self.push(action)?;
            }
        }
        Ok(())
    }

    /// Sets ends and content of relationships that do not contain back.
    fn put_back_relationships(&mut self, then: &Then, slots: &BTreeSet<u32>) -> Result<()> {
        for &slot in slots {
            let graph = self.own_graph()?.graph();
            let mut actions = Vec::new();
            then.ends(graph, slot, &mut actions)?;
            then.content(graph, (TypeKind::Relationship, slot), slot, &mut actions)?;
            self.push_each(actions)?;
        }
        Ok(())
    }

    fn push_each(&mut self, actions: Vec<Action>) -> Result<()> {
        actions.into_iter().try_for_each(|action| self.push(action))
    }
}

/// Refuses changes that [`Transaction::take_back`] cannot undo.
///
/// Errors: `InvalidArgument`.
pub(in crate::write) fn check_can_be_taken_back(changes: &[Change]) -> Result<()> {
    // The end of a candidate is no work of its commit.
    let is_end = |action: &Action| matches!(action, Action::Purge(action::Purge { instance }) if is_candidate(instance));
    let refused = |change: &&Change| !change.action.can_be_taken_back() && !is_end(&change.action);
    let Some(change) = changes.iter().find(refused) else {
        return Ok(());
    };
    let verb = change.action.verb();
    let text = format!("{verb}: expected changes that can be taken back, which this one cannot");
    Err(Error::new(ErrorKind::InvalidArgument, text))
}

/// The changed instances in groups, without those that stay. `then` is the snapshot before the records.
fn changed(now: &Snapshot, then: &Snapshot, touched: &[Slot], found: &Found<'_>) -> Result<Changed> {
    let (stay, placed) = (&found.stay, &found.placed);
    let touched: BTreeSet<Slot> = touched.iter().copied().collect();
    let mut changed = Changed::default();
    let graph = now.graph();
    for &(kind, slot) in touched.iter().filter(|slot| !stay.contains(slot)) {
        let is_new = !then.sees(kind, slot);
        let held = if is_new { now.in_force(kind, slot)? } else { then.fetch(kind, slot)? };
        let row = if is_new { now.row(kind, slot, &held) } else { then.row(kind, slot, &held) };
        if graph.containment(row.type_name()).is_some() && kind == TypeKind::Relationship {
            let child = row.ends()[1];
            let child = (TypeKind::Entity, child);
            // A later record may have deleted the relationship, or the child: then the place is theirs.
            let is_in_force = graph.relationships.is_live(slot) || !is_new;
            let returns = graph.entities.is_live(child.1) || touched.contains(&child);
            if then.sees(child.0, child.1)
                && is_in_force
                && returns
                && !stay.contains(&child)
                && !placed.contains(&child.1)
            {
                changed.placed.insert(child.1);
                if !is_new {
                    changed.containing.insert(slot);
                }
            }
        }
        match (kind, is_new) {
            (TypeKind::Relationship, true) => changed.new_relationships.push(slot),
            (TypeKind::Relationship, false) if graph.containment(row.type_name()).is_some() => {}
            (TypeKind::Relationship, false) => drop(changed.relationships.insert(slot)),
            (_, true) => changed.new_entities.push(slot),
            (_, false) => drop(changed.entities.insert(slot)),
        }
    }
    Ok(changed)
}
