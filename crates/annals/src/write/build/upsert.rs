//! Upserts: create an instance, or replace the content of the existing one.

use crate::graph::actions as action;
use std::sync::Arc;

use super::transaction::Transaction;
use crate::graph::Graph;
use crate::graph::instance::unpacked::Instance;
use crate::model::{Action, Id, InstanceId, NewEntity, NewRelationship};
use crate::{Error, ErrorKind, Result};

impl Transaction {
    /// Creates an entity, or replaces all properties of the live one with this id; true if it is created.
    /// Classifications, status and provenance change only if `entity` states some. Attributes of its type without a
    /// value get their default, as in [`Transaction::create_entity`]. Equal content makes no version.
    ///
    /// Errors: `WrongType` if the existing entity has another type; `ProxyOnly`; those of the view if an earlier change
    /// of this transaction fails. At commit those of creations and replacements: `AlreadyExists` if the entity is
    /// deleted (restore it first), `NotHome`.
    ///
    /// ```
    /// # use annals::*;
    /// # fn main() -> Result<()> {
    /// # let repository = Repository::in_memory();
    /// let crawled = || Ok(NewEntity::new("table").id("orders")?.property("rows", 10));
    /// assert!(repository.transact(|t| t.upsert_entity(crawled()?))?.0);
    /// let (is_created, receipt) = repository.transact(|t| t.upsert_entity(crawled()?))?;
    /// assert!(!is_created);
    /// assert_eq!(receipt.position, Position(1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn upsert_entity(&mut self, entity: NewEntity) -> Result<bool> {
        let states_classifications = !entity.classifications.is_empty();
        self.upsert(entity, states_classifications)
    }

    /// The same, but afterwards the entity has exactly the classifications of `entity`, also if there are none.
    ///
    /// Errors: as [`Transaction::upsert_entity`].
    pub fn upsert_whole_entity(&mut self, entity: NewEntity) -> Result<bool> {
        self.upsert(entity, true)
    }

    fn upsert(&mut self, mut entity: NewEntity, states_classifications: bool) -> Result<bool> {
        let instance = InstanceId::Entity(entity.id.clone());
        let Some(known) = self.live_instance(&instance)? else {
            return self.create_entity(entity).map(|_| true);
        };
        check_type(self.graph_of(&instance)?, &instance, &known, &entity.type_name)?;
        self.complete_entity(&mut entity)?;
        let classifications = states_classifications.then_some(entity.classifications);
        let content = Action::Replace(action::Replace {
            instance: instance.clone(),
            properties: entity.properties,
            classifications,
            provenance: entity.provenance,
        });
        self.put(&instance, content, entity.status)?;
        Ok(false)
    }

    /// Creates a relationship, or replaces the properties of the live one with this id, as
    /// [`Transaction::upsert_entity`] does with entities; true if it is created.
    ///
    /// Errors: as there; `InvalidArgument` if the existing relationship has other ends (relink it).
    pub fn upsert_relationship(&mut self, mut relationship: NewRelationship) -> Result<bool> {
        let instance = InstanceId::Relationship(relationship.id.clone());
        let Some(known) = self.live_instance(&instance)? else {
            return self.create_relationship(relationship).map(|_| true);
        };
        let graph = self.graph_of(&instance)?;
        check_type(graph, &instance, &known, &relationship.type_name)?;
        check_ends(graph, &instance, &known, [&relationship.from, &relationship.to])?;
        self.complete_relationship(&mut relationship)?;
        let content = Action::Replace(action::Replace {
            instance: instance.clone(),
            properties: relationship.properties,
            classifications: None,
            provenance: relationship.provenance,
        });
        self.put(&instance, content, relationship.status)?;
        Ok(false)
    }

    /// Replaces the content of a live instance; its status, if stated and different, changes in a version of its own.
    fn put(&mut self, instance: &InstanceId, content: Action, status: Option<Arc<str>>) -> Result<()> {
        let status = status.map(|status| action::SetStatus { instance: instance.clone(), status }.into());
        // With `always`, an upsert makes one version if nothing differs. Order: the provenance in `content` may be one
        // that only its source may change.
        if let Some(status) = status.filter(|status| !self.changes_nothing(status)) {
            self.push_always(status)?;
        }
        self.push(content)
    }

    /// The live instance with this id, after the changes so far. Whether it exists counts as a read.
    ///
    /// Errors: `AlreadyExists` if it is hidden from the writer.
    fn live_instance(&mut self, instance: &InstanceId) -> Result<Option<Arc<Instance>>> {
        self.check_may_change()?;
        self.check_free(instance)?;
        self.reads.instance(instance.clone());
        self.graph_of(instance)?.live_instance(instance)
    }

    /// The graph for looking an instance up: the base, unless the changes so far may have changed the instance.
    pub(super) fn graph_of(&mut self, instance: &InstanceId) -> Result<&Graph> {
        if self.touched.is_changed(&self.record.changes, instance) {
            return Ok(self.own_graph()?.graph());
        }
        Ok(self.base.graph())
    }
}

fn check_type(graph: &Graph, instance: &InstanceId, known: &Instance, given: &str) -> Result<()> {
    let expected = graph.names.name(known.type_name);
    if **expected == *given {
        return Ok(());
    }
    let text =
        format!("{instance}: expected the type {expected} that it has, found {given}; retype it first");
    Err(Error::new(ErrorKind::WrongType, text))
}

fn check_ends(graph: &Graph, instance: &InstanceId, known: &Instance, given: [&Id; 2]) -> Result<()> {
    let [from, to] = known.ends.map(|end| graph.entities.id(end));
    if [from, to] == given {
        return Ok(());
    }
    let text = format!(
        "{instance}: expected the ends {from} and {to} that it has, found {} and {}; relink it first",
        given[0], given[1]
    );
    Err(Error::new(ErrorKind::InvalidArgument, text))
}
