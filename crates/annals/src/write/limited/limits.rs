//! Transactions of writers with rights: they read what the grants show, and change what the grants allow.

use std::sync::Arc;

use crate::graph::kind_of;
use crate::model::{Action, Id, InstanceId, TypeKind};
use crate::read::{Rights, hidden};
use crate::write::build::transaction::Transaction;
use crate::write::commit::expectations::Expected;
use crate::{Error, ErrorKind, Result};

impl Transaction {
    /// Limits this transaction to what a writer with these rights may do: everything hidden is as if it were absent, but for
    /// ids and unique values that are taken. Call it before the first change, and
    /// [`check_rights`](Transaction::check_rights) after the last.
    ///
    /// Of changes it takes those that create, update, replace, delete, restore, classify and link instances, and set their
    /// status, type and provenance, from now on, also by path; none with another
    /// [valid time](Transaction::valid_from), and none that takes records back. A change of a tree leaves hidden items where
    /// they are, and is refused if they would have to move or go along.
    ///
    /// Errors: those of reading long values.
    pub fn limit_to(&mut self, rights: &Arc<Rights>) -> Result<()> {
        self.base = self.base.seen_by(rights.sight())?;
        (self.own, self.view, self.typed) = (None, None, None);
        self.rights = Some(Arc::clone(rights));
        Ok(())
    }

    /// Refuses the transaction if it has changes that the rights of its writer do not cover. Without
    /// [`limit_to`](Transaction::limit_to) it may do everything.
    ///
    /// Errors: `Refused`, naming the right that is missing; those of the changes; those of reading long values.
    pub fn check_rights(&mut self) -> Result<()> {
        let Some(rights) = self.rights.clone() else { return Ok(()) };
        if self.record.changes.is_empty() {
            return Ok(());
        }
        let after = self.current()?.unsighted();
        let before = self.base.unsighted();
        let position = after.pending().map_or(after.position(), |pending| crate::Position(pending.position));
        let touched = after.touched_by(position, &self.record)?;
        rights.check(&before, &after, &touched)?;
        self.check_contents()?;
        // Others may put something into a container before it is deleted.
        let record = Arc::clone(&self.record);
        let along = record.changes.iter().map(|change| &change.action).filter(|action| action.writes_along());
        along.into_iter().try_for_each(|action| self.expect_taken_along(action))
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
