//! Transactions of writers with rights: they read what the grants show, and change what the grants allow.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::{instance_id, kind_of};
use crate::model::{Action, Id, InstanceId, TypeKind};
use crate::read::{Rights, Snapshot, hidden};
use crate::write::build::transaction::Transaction;
use crate::write::commit::expectations::Expected;
use crate::{Error, ErrorKind, Result};

/// Most entities on which a limited transaction relies one by one.
const ASKED_MAX: usize = 10_000;

impl Transaction {
    /// Limits this transaction to what a writer with these rights may do: everything hidden is as if it were absent, but for
    /// ids and unique values that are taken. The commit, and a dry run, refuse changes that the rights do not cover, and
    /// fail with `Conflict` if what they were decided by has changed meanwhile: an entity that was asked about, or its
    /// place.
    ///
    /// Of changes it takes those that create, update, replace, delete, restore, classify and link instances, and set their
    /// status, type and provenance, from now on, also by path; none with another
    /// [valid time](Transaction::valid_from), and none that takes records back. A change of a tree leaves hidden items where
    /// they are, and is refused if they would have to move or go along.
    ///
    /// Errors: `InvalidArgument` behind a change, or another limit; those of reading long values.
    pub fn limit_to(&mut self, rights: &Arc<Rights>) -> Result<()> {
        if self.rights.is_some() || !self.record.changes.is_empty() {
            let text = "limit: expected a transaction without changes and without a limit, found another; begin a new one";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        self.base = self.base.seen_by(rights.sight())?;
        (self.own, self.view, self.typed) = (None, None, None);
        self.rights = Some(Arc::clone(rights));
        Ok(())
    }

    /// Refuses changes that the rights of the writer do not cover, and relies on what this was decided by.
    ///
    /// Errors: `Refused`, naming the right that is missing; those of the changes; those of reading long values.
    pub(in crate::write) fn check_rights(&mut self) -> Result<()> {
        let Some(rights) = self.rights.clone() else { return Ok(()) };
        if self.record.changes.is_empty() {
            return Ok(());
        }
        let after = self.current()?.unsighted();
        let before = self.base.unsighted();
        let position = after.pending().map_or(after.position(), |pending| crate::Position(pending.position));
        let touched = after.touched_by(position, &self.record)?;
        let asked = rights.check(&before, &after, &touched)?;
        self.check_contents()?;
        self.rely_on_asked(&before, &after, asked);
        // Others may put something into a container before it is deleted.
        let record = Arc::clone(&self.record);
        let along = record.changes.iter().map(|change| &change.action).filter(|action| action.writes_along());
        along.into_iter().try_for_each(|action| self.expect_taken_along(action))
    }

    /// Relies on entities that grants were asked about, and on their places.
    fn rely_on_asked(&mut self, before: &Snapshot, after: &Snapshot, mut asked: BTreeSet<u32>) {
        if asked.len() > ASKED_MAX {
            // The content of a large container is expected as a whole.
            let table = &after.graph().entities;
            let named = self.record.changes.iter().flat_map(|change| change.action.named_instances());
            asked = named.filter_map(|instance| table.slot(instance.id())).collect();
        }
        for graph in [before.graph(), after.graph()] {
            let mut met = BTreeSet::new();
            for &slot in &asked {
                let mut next = Some(slot);
                while let Some(slot) = next.filter(|slot| met.insert(*slot)) {
                    if graph.entities.row(slot).is_none() {
                        break;
                    }
                    self.rely_on(&instance_id(TypeKind::Entity, graph.entities.id(slot).clone()));
                    let link = graph.container_link(slot);
                    if let Some(link) = link {
                        let id = graph.relationships.id(link.relationship).clone();
                        self.rely_on(&InstanceId::Relationship(id));
                    }
                    next = link.map(|link| link.other);
                }
            }
        }
    }

    /// Refuses an action of a limited transaction that names what its writer does not see, as if that were absent.
    pub(in crate::write) fn check_limits(&mut self, action: &Action) -> Result<()> {
        if self.rights.is_none() {
            return Ok(());
        }
        self.check_may_change()?;
        self.check_present()?;
        if action.bag().name.is_some_and(|name| self.base.is_internal(name)) {
            return Err(hidden());
        }
        match action {
            Action::CreateEntity(_) | Action::Void(_) => Ok(()),
            Action::CreateRelationship(new) => {
                [&new.from, &new.to].into_iter().try_for_each(|end| self.check_end(end))
            }
            Action::Relink(relink) => {
                self.check_named(&InstanceId::Relationship(relink.id.clone()))?;
                relink.from.iter().chain(&relink.to).try_for_each(|end| self.check_end(end))
            }
            Action::Update(_)
            | Action::Replace(_)
            | Action::Delete(_)
            | Action::Restore(_)
            | Action::SetStatus(_)
            | Action::SetProvenance(_)
            | Action::Retype(_)
            | Action::Reidentify(_)
            | Action::Classify(_)
            | Action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iter().try_for_each(|named| self.check_named(named)),
            _ => {
                let verb = action.verb();
                let text = format!(
                    "{verb}: expected a change that grants allow, found {verb}; ask somebody with a role for it"
                );
                Err(Error::new(ErrorKind::Refused, text))
            }
        }
    }

    /// Errors: `Refused` if no grant lets the writer change anything. Order: before any look-up, so that the refusals of a
    /// reader tell nothing about ids.
    pub(in crate::write) fn check_may_change(&self) -> Result<()> {
        if self.rights.as_ref().is_some_and(|rights| rights.are_none()) {
            let text = "change: expected a grant to change something, found none; ask for one";
            return Err(Error::new(ErrorKind::Refused, text));
        }
        Ok(())
    }

    /// Errors: `NotFound` if the writer does not see the instance.
    pub(super) fn check_named(&mut self, instance: &InstanceId) -> Result<()> {
        if self.rights.is_none() || self.knows(kind_of(instance), instance.id())? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, format!("{instance} does not exist")))
    }

    /// Adds what is expected of an instance. One that the writer does not see is as if it were absent.
    ///
    /// Errors: `PreconditionFailed`; `AlreadyExists` if its id is taken; `TooLarge`.
    pub(in crate::write) fn expect(&mut self, instance: &InstanceId, expected: Expected) -> Result<()> {
        if let Some(are_none) = self.rights.as_ref().map(|rights| rights.are_none())
            && !self.knows(kind_of(instance), instance.id())?
        {
            expected.check_absent(self.base.graph(), instance)?;
            if are_none {
                return Ok(());
            }
        }
        self.check_free(instance)?;
        self.expectations.add(instance, expected)
    }

    /// Errors: `AlreadyExists` if an instance that the writer does not see has the id, or had it.
    pub(in crate::write) fn check_free(&mut self, instance: &InstanceId) -> Result<()> {
        let kind = kind_of(instance);
        let is_hidden = self.rights.is_some() && !self.knows(kind, instance.id())?;
        let table = self.base.graph().table(kind);
        if is_hidden && table.slot(instance.id()).or_else(|| table.former_ids.slot(instance.id())).is_some() {
            return Err(Error::new(ErrorKind::AlreadyExists, format!("{instance}: its id is taken")));
        }
        Ok(())
    }

    /// Errors: `Refused` in a limited transaction with a valid time of its own.
    pub(in crate::write) fn check_present(&self) -> Result<()> {
        if self.own_valid_from().is_some() { self.check_unlimited("valid time") } else { Ok(()) }
    }

    /// Errors: `Refused` in a limited transaction.
    pub(in crate::write) fn check_unlimited(&self, what: &str) -> Result<()> {
        if self.rights.is_none() {
            return Ok(());
        }
        let text =
            format!("{what}: expected a writer that sees everything, found one with grants; ask for a role");
        Err(Error::new(ErrorKind::Refused, text))
    }

    /// True if the writer sees the instance, live or deleted, or has created it in this transaction.
    fn knows(&mut self, kind: TypeKind, id: &Id) -> Result<bool> {
        let writer = self.writer_graph()?;
        let table = writer.graph.table(kind);
        let slot = table.slot(id).or_else(|| table.former_ids.slot(id));
        Ok(slot.is_some_and(|slot| writer.sees(kind, slot)))
    }

    fn check_end(&mut self, end: &Id) -> Result<()> {
        if self.knows(TypeKind::Entity, end)? {
            return Ok(());
        }
        let text = format!("relationship end {end}: expected an entity, found none; create it first");
        Err(Error::new(ErrorKind::MissingEnd, text))
    }
}
