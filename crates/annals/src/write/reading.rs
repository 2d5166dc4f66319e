//! Reads of a transaction: of its base snapshot with its own changes. Each read is noted for serializable transactions.

use std::sync::Arc;

use super::transaction::Transaction;
use crate::model::{Id, InstanceId, TypeKind};
use crate::read::{Entity, Neighbors, Page, Relationship, Snapshot};
use crate::search::Find;
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
