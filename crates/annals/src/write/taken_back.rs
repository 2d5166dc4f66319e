//! Undoes a whole record: sets its instances back to their state before it, in new versions.

use std::collections::BTreeSet;

use super::transaction::Transaction;
use super::tree::then::{Then, Was};
use crate::graph::actions as action;
use crate::graph::instance_id;
use crate::log::ReadLimit;
use crate::model::{Action, Change, TypeKind};
use crate::read::{AsOf, Snapshot};
use crate::record::decode_record;
use crate::{Error, ErrorKind, Position, Result};

/// The instances that a record changed: slots of those that were live before it, and of those that were not.
#[derive(Default)]
struct Changed {
    /// Entities, including children whose containment changed.
    entities: BTreeSet<u32>,
    /// Relationships that do not contain.
    relationships: BTreeSet<u32>,
    new_entities: Vec<u32>,
    new_relationships: Vec<u32>,
}

impl Transaction {
    /// Sets everything that the record at `position` changed back to its state before the record, in new versions:
    /// instances that it created are deleted, instances that it deleted are restored, and content, types, ends, names
    /// and places are as before. Later changes of these instances are undone, too; all other instances stay. Types that
    /// it declared stay declared, and instances purged since stay purged.
    ///
    /// Errors: `NotFound` if there is no such record; `InvalidArgument` if it has a change that cannot be undone, such
    /// as purging; those of the changes; those of reading history.
    pub fn take_back(&mut self, position: Position) -> Result<()> {
        self.reads.everything();
        let before = position.0.checked_sub(1).filter(|_| position <= self.base.position());
        let Some(before) = before.map(Position) else {
            let last = self.base.position();
            let text = format!("take back: expected the position of a record, 1 to {last}, found {position}");
            return Err(Error::new(ErrorKind::NotFound, text));
        };
        let record = ReadLimit { records: 1, ..ReadLimit::default() };
        for bytes in self.base.source().log().read(position, record)? {
            check_can_be_taken_back(&decode_record(position, &bytes)?.changes)?;
        }
        let snapshot = self.base.as_of(AsOf { position: Some(before), ..AsOf::default() })?;
        let changed = changed_between(&self.base, &snapshot, before, position)?;
        self.delete_new(TypeKind::Relationship, changed.new_relationships)?;
        self.delete_new(TypeKind::Entity, changed.new_entities)?;
        let mut items = Vec::new();
        for &entity in &changed.entities {
            let link = snapshot.container_seen(entity)?;
            let (parent, relationship) = (link.map(|link| link.other), link.map(|link| link.relationship));
            items.push(Was { entity, parent, relationship });
        }
        let then = Then { snapshot, items, entities: changed.entities.iter().copied().collect() };
        self.take_out_misplaced(&then)?;
        self.restore_lost(TypeKind::Entity, &changed.entities)?;
        // Restored instances return in the state in which they were deleted.
        self.take_out_misplaced(&then)?;
        let actions = then.contents(self.own_graph()?.graph())?;
        self.push_each(actions)?;
        let actions = then.links(self.own_graph()?.graph())?;
        self.push_each(actions)?;
        self.restore_lost(TypeKind::Relationship, &changed.relationships)?;
        self.put_back_relationships(&then, &changed.relationships)
    }

    fn delete_new(&mut self, kind: TypeKind, slots: Vec<u32>) -> Result<()> {
        for slot in slots {
            // Deleting one may have deleted the next.
            let table = self.own_graph()?.graph().table(kind);
            if table.is_live(slot) {
                let instance = instance_id(kind, table.id(slot).clone());
                self.push(action::Delete { instance })?;
            }
        }
        Ok(())
    }

    fn restore_lost(&mut self, kind: TypeKind, slots: &BTreeSet<u32>) -> Result<()> {
        for &slot in slots {
            let table = self.own_graph()?.graph().table(kind);
            if table.row(slot).is_some_and(|row| !row.is_live()) {
                let instance = instance_id(kind, table.id(slot).clone());
                self.push(action::Restore { instance, with_relationships: false })?;
            }
        }
        Ok(())
    }

    fn take_out_misplaced(&mut self, then: &Then) -> Result<()> {
        let graph = self.own_graph()?.graph();
        let actions = then.take_out_misplaced(graph)?;
        self.push_each(actions)
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
pub(super) fn check_can_be_taken_back(changes: &[Change]) -> Result<()> {
    let Some(change) = changes.iter().find(|change| !change.action.can_be_taken_back()) else {
        return Ok(());
    };
    let verb = change.action.verb();
    let text = format!("{verb}: expected changes that can be taken back, which this one cannot");
    Err(Error::new(ErrorKind::InvalidArgument, text))
}

/// The instances that records after `before`, up to `last`, changed. `then` is the snapshot before them.
fn changed_between(now: &Snapshot, then: &Snapshot, before: Position, last: Position) -> Result<Changed> {
    let mut changed = Changed::default();
    for (kind, slot) in now.touched(before, last)? {
        let graph = now.graph();
        let is_new = !then.sees(kind, slot);
        let held = now.in_force(kind, slot)?;
        let row = now.row(kind, slot, &held);
        match (kind, is_new) {
            (TypeKind::Relationship, true) => {
                changed.new_relationships.push(slot);
                // It may contain an instance that was elsewhere.
                let child = graph.containment(row.type_name()).map(|_| row.ends()[1]);
                changed.entities.extend(child.filter(|child| then.sees(TypeKind::Entity, *child)));
            }
            (TypeKind::Relationship, false) => {
                let then_held = then.seen(kind, slot, false)?.expect("it is seen");
                let row = then.row(kind, slot, &then_held);
                match graph.containment(row.type_name()) {
                    Some(_) => drop(changed.entities.insert(row.ends()[1])),
                    None => drop(changed.relationships.insert(slot)),
                }
            }
            (_, true) => changed.new_entities.push(slot),
            (_, false) => drop(changed.entities.insert(slot)),
        }
    }
    Ok(changed)
}
