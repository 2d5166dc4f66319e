//! Reads of a transaction: of its base snapshot with its own changes. Each read is noted for serializable transactions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::transaction::Transaction;
use crate::model::{Id, InstanceId, TypeKind};
use crate::read::{Entity, Neighbors, Page, Relationship, Snapshot};
use crate::search::Find;
use crate::write::commit::reads::Reads;
use crate::{Direction, Result};

impl Transaction {
    /// The snapshot with this transaction's own changes.
    ///
    /// Errors: those of the changes.
    pub fn view(&mut self) -> Result<&Snapshot> {
        self.reads.everything();
        self.current()
    }

    /// An entity, with this transaction's own changes.
    pub fn entity(&mut self, id: &Id) -> Result<Option<Entity<'_>>> {
        self.reads.instance(InstanceId::Entity(id.clone()));
        // The handle also reads neighbours.
        self.reads.neighborhood(id);
        self.current()?.entity(id)
    }

    /// A relationship, with this transaction's own changes.
    pub fn relationship(&mut self, id: &Id) -> Result<Option<Relationship<'_>>> {
        self.reads.instance(InstanceId::Relationship(id.clone()));
        self.current()?.relationship(id)
    }

    /// The same entity for callers that read only its own fields, not its neighbours: after changes of other instances it
    /// costs as much as a read of the base.
    pub fn entity_alone(&mut self, id: &Id) -> Result<Option<Entity<'_>>> {
        let instance = InstanceId::Entity(id.clone());
        self.reads.instance(instance.clone());
        match self.is_left(&instance) {
            true => self.base().entity(id),
            false => self.current()?.entity(id),
        }
    }

    /// As [`Transaction::entity_alone`], for a relationship.
    pub fn relationship_alone(&mut self, id: &Id) -> Result<Option<Relationship<'_>>> {
        let instance = InstanceId::Relationship(id.clone());
        self.reads.instance(instance.clone());
        match self.is_left(&instance) {
            true => self.base().relationship(id),
            false => self.current()?.relationship(id),
        }
    }

    /// Makes the commit fail with `Conflict` if another transaction changes the instance first: for callers that decide by
    /// it whether this transaction is allowed.
    ///
    /// The first call in the life of a repository counts all commits since the snapshot as changes.
    pub fn rely_on(&mut self, instance: &InstanceId) {
        self.relied().instance(instance.clone());
    }

    /// The same for all instances of a type, and of its subtypes, also those that come and go.
    pub fn rely_on_type(&mut self, kind: TypeKind, type_name: &str) {
        self.relied().search(kind, Some(type_name.into()));
    }

    /// The same for the relationships of an entity, also those that come.
    pub fn rely_on_relationships(&mut self, entity: &Id) {
        self.relied().neighborhood(entity);
    }

    fn relied(&mut self) -> &mut Reads {
        self.committer.is_remembering.store(true, Ordering::Relaxed);
        &mut self.relied
    }

    /// True if the own changes leave the fields of an instance as they are in the base.
    fn is_left(&mut self, instance: &InstanceId) -> bool {
        // A view that is there already also tells the errors of the changes.
        self.edits.is_none() && !self.is_broken && self.touched.leaves(&self.record.changes, instance)
    }

    /// The neighbours of an entity, with this transaction's own changes.
    pub fn neighbors(
        &mut self,
        id: &Id,
        direction: Direction,
        type_name: Option<&str>,
    ) -> Result<Neighbors<'_>> {
        self.reads.neighborhood(id);
        // The handles lead from neighbour to neighbour.
        self.reads.search(TypeKind::Entity, None);
        self.reads.search(TypeKind::Relationship, None);
        self.current()?.neighbors(id, direction, type_name)
    }

    /// The number of neighbours of an entity, with this transaction's own changes.
    pub fn degree(&mut self, id: &Id, direction: Direction, type_name: Option<&str>) -> Result<usize> {
        self.reads.neighborhood(id);
        self.current()?.degree(id, direction, type_name)
    }

    /// Finds entities, with this transaction's own changes.
    pub fn find_entities(&mut self, find: &Find) -> Result<Page<Entity<'_>>> {
        self.note_search(TypeKind::Entity, find);
        self.current()?.find_entities(find)
    }

    /// Finds relationships, with this transaction's own changes.
    pub fn find_relationships(&mut self, find: &Find) -> Result<Page<Relationship<'_>>> {
        self.note_search(TypeKind::Relationship, find);
        self.current()?.find_relationships(find)
    }

    fn note_search(&mut self, kind: TypeKind, find: &Find) {
        if find.types.is_empty() {
            self.reads.search(kind, None);
        }
        for name in &find.types {
            self.reads.search(kind, Some(Arc::clone(name)));
        }
        if find.filter.asks_for_links() {
            self.reads.search(TypeKind::Entity, None);
            self.reads.search(TypeKind::Relationship, None);
        }
    }
}
