//! Changes of an instance beyond its content, and copies of instances of other collections.

use std::sync::Arc;

use super::transaction::{Transaction, check_properties};
use crate::graph::actions as action;
use crate::graph::{instance_id, kind_of};
use crate::model::{
    Action, Change, ClassificationCopy, EntityCopy, EntityProxy, Id, InstanceId, Patch, Provenance,
    RelationshipCopy, Revision, Value, check_name,
};
use crate::write::commit::expectations::Expected;
use crate::write::commit::request::OwnStamps;
use crate::{Error, ErrorKind, Position, Result};

impl Transaction {
    /// Sets the status of an instance.
    ///
    /// Errors, at commit: `StatusNotAllowed` if its type does not have it.
    pub fn set_status(&mut self, instance: &InstanceId, status: &str) -> Result<()> {
        self.push(action::SetStatus { instance: instance.clone(), status: status.into() })
    }

    /// Replaces the provenance of an instance, except its home.
    pub fn set_provenance(&mut self, instance: &InstanceId, provenance: Provenance) -> Result<()> {
        self.push(action::SetProvenance { instance: instance.clone(), provenance: Box::new(provenance) })
    }

    /// Moves an instance of `home` to this repository, which may write it from then on.
    ///
    /// Errors, at commit: `HomeConflict` if it belongs to another home or to this repository; `ProxyOnly`.
    pub fn rehome(&mut self, instance: &InstanceId, home: &str) -> Result<()> {
        self.push(action::Rehome { instance: instance.clone(), home: home.into() })
    }

    /// Changes the id of an instance. Its history continues under the new id, and its relationships are found there.
    /// The old id is valid only for reads as of an earlier time.
    pub fn reidentify(&mut self, instance: &InstanceId, id: &Id) -> Result<()> {
        self.push(action::Reidentify { instance: instance.clone(), id: id.clone() })
    }

    /// Changes some properties, and replaces the provenance except the home, in one version.
    ///
    /// Errors: at commit, `InvalidArgument` for another home, and for a valid time before the present version's: a
    /// correction of the past changes only properties.
    pub fn update_with_provenance(
        &mut self,
        instance: &InstanceId,
        patch: Patch,
        provenance: Provenance,
    ) -> Result<()> {
        let provenance = Some(Arc::new(provenance));
        self.push(action::Update { instance: instance.clone(), patch, provenance })
    }

    /// Replaces all properties, and the provenance except the home, in one version.
    ///
    /// Errors: as [`Transaction::update_with_provenance`].
    pub fn replace_with_provenance(
        &mut self,
        instance: &InstanceId,
        properties: Vec<(Arc<str>, Value)>,
        provenance: Provenance,
    ) -> Result<()> {
        check_properties(&properties)?;
        let (instance, provenance) = (instance.clone(), Some(Arc::new(provenance)));
        self.push(action::Replace { instance, properties, classifications: None, provenance })
    }

    /// Changes some properties of a classification, and replaces its provenance, in one version.
    ///
    /// Errors: as [`Transaction::update_with_provenance`].
    pub fn reclassify_with_provenance(
        &mut self,
        entity: &Id,
        classification: &str,
        patch: Patch,
        provenance: Provenance,
    ) -> Result<()> {
        let (name, provenance) = (classification.into(), Some(Arc::new(provenance)));
        self.push(action::Reclassify { entity: entity.clone(), name, patch, provenance })
    }

    /// Changes the type of an instance, if its properties, classifications and relationships fit that type.
    pub fn retype(&mut self, instance: &InstanceId, type_name: &str) -> Result<()> {
        check_name("type", type_name)?;
        self.push(action::Retype { instance: instance.clone(), type_name: type_name.into() })
    }

    /// Moves the start, the end, or both, of a relationship to other entities.
    pub fn relink(&mut self, relationship: &Id, from: Option<&Id>, to: Option<&Id>) -> Result<()> {
        self.push(action::Relink { id: relationship.clone(), from: from.cloned(), to: to.cloned() })
    }

    /// Stores a copy of an entity of another collection, with its state there. The copy replaces an older copy from the
    /// same home, or a proxy; classifications of other homes stay, and those of this repository, which the copy does not
    /// change.
    ///
    /// Errors, at commit: `HomeConflict` if the stored entity belongs to another home, or to this repository.
    pub fn save_entity_copy(&mut self, mut copy: EntityCopy) -> Result<()> {
        let home = copy.header.provenance.home.clone();
        let collection = self.base.graph().collection.clone();
        let is_ours =
            |given: &ClassificationCopy| collection.is_some() && given.provenance.home == collection;
        let mut ours = copy.classifications.iter().map(is_ours).collect::<Vec<bool>>().into_iter();
        for known in &mut copy.classifications {
            known.provenance.home = known.provenance.home.take().or_else(|| home.clone());
        }
        self.reads.instance(InstanceId::Entity(copy.id.clone()));
        let instance = InstanceId::Entity(copy.id.clone());
        let is_changed = self.touched.is_changed(&self.record.changes, &instance);
        let snapshot = if is_changed { self.current()? } else { &self.base };
        let kept: Vec<ClassificationCopy> = match snapshot.entity_summary(&copy.id)? {
            Some(known) => {
                // This repository is the home of its own classifications, so the copy may have old ones.
                copy.classifications.retain(|_| ours.next() != Some(true));
                known.classifications().map(|known| known.to_copy()).collect()
            }
            None => Vec::new(),
        };
        let mut stamped = Vec::new();
        for known in kept {
            let is_given = copy.classifications.iter().any(|given| given.name == known.name);
            if !is_given && known.provenance.home != home {
                // A classification that this transaction itself writes gets its stamps at commit.
                if is_changed && let Some(is_new) = self.written_here(&instance, &known)? {
                    let (change, name) = (self.record.changes.len(), Arc::clone(&known.name));
                    stamped.push(OwnStamps { change, name, is_new });
                }
                copy.classifications.push(known);
            }
        }
        let before = self.record.changes.len();
        self.push(Box::new(copy))?;
        if self.record.changes.len() > before {
            self.stamped.extend(stamped);
        }
        Ok(())
    }

    /// Whether this transaction attached the classification (true), or only changed it (false); `None` if it did neither. A
    /// stamp does not tell: the last record before may have the same instant and author.
    fn written_here(&self, entity: &InstanceId, known: &ClassificationCopy) -> Result<Option<bool>> {
        let before = self.base.entity_summary(entity.id())?;
        let before =
            before.as_ref().and_then(|before| before.classification(&known.name)).map(|it| it.to_copy());
        let (mut is_written, mut is_new) = (false, before.is_none());
        for Change { action, .. } in &self.record.changes {
            if action.instance().as_ref() != Some(entity) {
                continue;
            }
            is_new |= matches!(action, Action::Purge(_) | Action::PurgeCopy(_))
                || matches!(action, Action::Declassify(gone) if gone.name == known.name);
            is_written |= action.classification() == Some(&*known.name)
                || action.given_classifications().iter().any(|given| given.name == known.name);
        }
        let stamps =
            |known: &ClassificationCopy| (known.version, known.created.clone(), known.updated.clone());
        let is_other = is_new || before.is_none_or(|before| stamps(&before) != stamps(known));
        // An earlier copy in this transaction may have it from an earlier change.
        let is_kept = self.stamped.iter().any(|own| own.name == known.name && is_other);
        Ok(((is_written || is_kept) && is_other).then_some(is_new))
    }

    /// Stores what is known of an entity of another collection, so that relationships can lead to it. Its
    /// classifications are of its home unless they state another one.
    ///
    /// Errors, at commit: `AlreadyExists` if the entity is here; `HomeConflict` if it belongs to this repository.
    pub fn save_proxy(&mut self, mut proxy: EntityProxy) -> Result<()> {
        let home = &proxy.provenance.home;
        for known in &mut proxy.classifications {
            known.provenance.home = known.provenance.home.take().or_else(|| home.clone());
        }
        self.push(Box::new(proxy))
    }

    /// Stores a copy of a relationship of another collection, with its state there. It first stores those `proxies`
    /// whose entities are not known here, so that the relationship can lead to them.
    ///
    /// Errors: as [`Transaction::save_entity_copy`]; `MissingEnd` for an end that is not here; `InvalidEnds`.
    pub fn save_relationship_copy(
        &mut self,
        copy: RelationshipCopy,
        proxies: impl IntoIterator<Item = EntityProxy>,
    ) -> Result<()> {
        for proxy in proxies {
            if !self.knows_entity(&proxy.id) {
                self.save_proxy(proxy)?;
            }
        }
        self.push(Box::new(copy))
    }

    // True if the base has this entity, or a change of this transaction names it.
    fn knows_entity(&mut self, id: &Id) -> bool {
        let table = &self.base.graph().entities;
        table.slot(id).is_some()
            || table.former_ids.slot(id).is_some()
            || self.touched.names(&self.record.changes, &InstanceId::Entity(id.clone()))
    }

    /// Stores a copy of a classification of another collection on an entity, or on a proxy.
    pub fn save_classification_copy(&mut self, entity: &Id, copy: ClassificationCopy) -> Result<()> {
        self.push(action::SaveClassification { entity: entity.clone(), copy: Box::new(copy) })
    }

    /// Removes the copy of an instance of `home`, with its history and, for an entity, its relationships.
    ///
    /// Errors, at commit: `HomeConflict` if it belongs to another home or to this repository.
    pub fn purge_copy(&mut self, instance: &InstanceId, home: &str) -> Result<()> {
        self.push(action::PurgeCopy { instance: instance.clone(), home: home.into() })
    }

    /// Removes a classification of `home` from an entity. Errors: as [`Transaction::purge_copy`].
    pub fn purge_classification_copy(&mut self, entity: &Id, name: &str, home: &str) -> Result<()> {
        self.push(action::PurgeClassificationCopy {
            entity: entity.clone(),
            name: name.into(),
            home: home.into(),
        })
    }

    /// Names the collection of this repository, permanently.
    ///
    /// Errors, at commit: `AlreadyExists` if it has another name; `HomeConflict` if the repository holds or held copies
    /// of a collection of this name, including copies of classifications.
    pub fn name_collection(&mut self, name: &str) -> Result<()> {
        self.push(action::NameCollection { name: name.into() })
    }

    /// Makes the commit fail unless `version` is the latest version of the instance at the moment of the commit,
    /// without the changes of this transaction; 0 if there must be no such instance, not even a deleted one.
    ///
    /// The transaction need not change the instance. For example, a transfer can expect the versions of two accounts
    /// that it has read: then it is safe, no matter how long ago it read them.
    ///
    /// Errors: `TooLarge`; at commit `PreconditionFailed`, with the version found as `latestVersion`. Trying again does
    /// not help: read again, and decide again.
    ///
    /// ```
    /// # use annals::*;
    /// # fn main() -> Result<()> {
    /// # let repository = Repository::in_memory();
    /// # repository.transact(|t| t.create_entity(NewEntity::new("account").id("a")?.property("balance", 10)))?;
    /// let account = InstanceId::Entity(Id::new("a")?);
    /// let read = repository.snapshot().entity(account.id())?.expect("it is there").latest_version();
    /// // Later, perhaps in another process:
    /// let mut transaction = repository.transaction();
    /// transaction.expect_version(&account, read)?;
    /// transaction.update(&account, Patch::new().set("balance", 7))?;
    /// transaction.commit()?;
    ///
    /// let mut again = repository.transaction();
    /// again.expect_version(&account, read)?;
    /// again.update(&account, Patch::new().set("balance", 4))?;
    /// assert_eq!(again.commit().unwrap_err().kind(), ErrorKind::PreconditionFailed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn expect_version(&mut self, instance: &InstanceId, version: u32) -> Result<()> {
        self.expect(instance, Expected::Version(version))
    }

    /// As [`expect_version`](Transaction::expect_version), and the commit also fails if another instance has the id by
    /// then: after a purge the versions of an id count from 1 again.
    ///
    /// Errors: as [`expect_version`](Transaction::expect_version).
    pub fn expect_revision(&mut self, instance: &InstanceId, revision: Revision) -> Result<()> {
        self.expect(instance, Expected::Revision(revision))
    }

    /// The further instances that an action would change, or remove, now, with the changes of this transaction so far: a
    /// deletion, restoration or purge of an entity takes everything that it contains along, and relationships. Other
    /// actions take nothing along.
    ///
    /// Shape: without the named instance, each once, relationships first; containers before their children.
    /// Errors: those of the changes so far; `Refused` in a limited transaction, because some may be hidden.
    pub fn taken_along(&mut self, action: &Action) -> Result<Vec<InstanceId>> {
        self.check_unlimited("taken along")?;
        self.reads.extend(action.instance());
        let graph = self.own_graph()?.graph();
        let along = graph.taken_along(action);
        Ok(along.slots().map(|(kind, slot)| instance_id(kind, graph.table(kind).id(slot).clone())).collect())
    }

    /// The first instance that an action would take along now, with the changes of this transaction so far, and that another
    /// transaction has written after `since`: its later work would be lost. With the position at which it was written.
    ///
    /// Errors: as [`taken_along`](Transaction::taken_along).
    pub fn built_on_along(
        &mut self,
        action: &Action,
        since: Position,
    ) -> Result<Option<(InstanceId, Position)>> {
        self.check_unlimited("taken along")?;
        if !action.takes_along() {
            return Ok(None);
        }
        self.reads.extend(action.instance());
        let along = self.own_graph()?.graph().taken_along(action);
        // Of the commits of others only: this transaction may have changed it, too.
        let graph = self.base.graph();
        Ok(along.slots().find_map(|(kind, slot)| {
            let changed = graph.table(kind).row(slot).map(|row| row.changed()).filter(|at| *at > since.0)?;
            Some((instance_id(kind, graph.table(kind).id(slot).clone()), Position(changed)))
        }))
    }

    /// Makes the commit fail with `Conflict` if another transaction commits first and `action` then takes other instances
    /// along than it does now, without the changes of this transaction: for callers that have decided by
    /// [`taken_along`](Transaction::taken_along).
    ///
    /// Errors: `TooLarge`.
    pub fn expect_taken_along(&mut self, action: &Action) -> Result<()> {
        let Some(instance) = action.instance() else { return Ok(()) };
        let along = self.base.graph().taken_along(action);
        self.expectations.add(&instance, Expected::Along(Box::new((action.clone(), along))))
    }

    /// Fails if the instance is not of this type or a subtype, so that a caller can check this before it deletes or
    /// changes the instance. The check holds until the commit, which fails if another transaction changed the instance
    /// first.
    ///
    /// Errors: `WrongType`; `NotFound`.
    pub fn expect_type(&mut self, instance: &InstanceId, type_name: &str) -> Result<()> {
        self.reads.instance(instance.clone());
        let snapshot = self.current()?;
        let (_, known) = snapshot.known(instance)?;
        let kind = kind_of(instance);
        let graph = snapshot.graph();
        let is_it =
            graph.names.find(type_name).is_some_and(|name| graph.types.is_a(kind, known.type_name, name));
        if is_it {
            return Ok(());
        }
        let found = graph.names.name(known.type_name);
        let text = format!("{instance}: expected the type {type_name} or a subtype, found {found}");
        Err(Error::new(ErrorKind::WrongType, text))
    }

    /// Fails unless the instance is deleted, for callers that purge only deleted instances.
    ///
    /// Errors: `NotDeleted`; `NotFound`.
    pub fn expect_deleted(&mut self, instance: &InstanceId) -> Result<()> {
        self.reads.instance(instance.clone());
        let (_, known) = self.current()?.known(instance)?;
        if !known.is_live() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotDeleted, format!("{instance} is not deleted; delete it first")))
    }
}
