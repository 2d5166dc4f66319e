//! A graph with its indexes, which may be a little behind it.

use std::sync::Arc;

use super::Graph;
use super::index::event::Event;
use super::index::{Indexes, TableIndexes};
use super::put::Batch;
use crate::model::TypeKind;

/// A graph, and what finds the instances in it: the indexes of this graph or an earlier one, and what became of instances since.
///
/// A search takes from the indexes what has not been touched since, and looks at each of the touched itself.
#[derive(Clone)]
pub(crate) struct Indexed {
    pub(crate) graph: Graph,
    pub(crate) indexes: Arc<Indexes>,
    /// What became of instances after the position of the indexes, the oldest first.
    tail: Arc<[Arc<Batch>]>,
}

impl Indexed {
    /// A graph whose indexes have all records.
    pub(crate) fn new(graph: Graph, indexes: Arc<Indexes>) -> Indexed {
        Indexed { graph, indexes, tail: Arc::default() }
    }

    /// The same with one batch more, for `graph`, which the batch makes of this one.
    pub(crate) fn with(&self, graph: Graph, batch: Arc<Batch>) -> Indexed {
        let tail = self.tail.iter().cloned().chain([batch]).collect();
        Indexed { graph, indexes: Arc::clone(&self.indexes), tail }
    }

    /// The same with indexes that have all of `taken`, which this goes on from.
    pub(crate) fn with_indexes(&self, indexes: Arc<Indexes>, taken: &Indexed) -> Indexed {
        let tail = self.tail.iter().skip(taken.tail.len()).cloned().collect();
        Indexed { graph: self.graph.clone(), indexes, tail }
    }

    /// The indexes with all records.
    pub(crate) fn settled_indexes(&self) -> Indexes {
        let mut indexes = Indexes::clone(&self.indexes);
        indexes.take(&self.tail);
        indexes
    }

    /// The same with indexes that have all records.
    pub(crate) fn settled(&self) -> Indexed {
        match self.tail.is_empty() {
            true => self.clone(),
            false => Indexed::new(self.graph.clone(), Arc::new(self.settled_indexes())),
        }
    }

    /// Adds what was applied to the graph since to the tail; has the indexes take it if it has more than `tail_len_max`
    /// events then.
    pub(crate) fn take_events(&mut self, tail_len_max: usize) {
        let batch = self.graph.take_events();
        if batch.len() > 0 {
            self.tail = self.tail.iter().cloned().chain([Arc::new(batch)]).collect();
        }
        if self.tail_len() > tail_len_max {
            let tail = std::mem::take(&mut self.tail);
            Arc::make_mut(&mut self.indexes).take(&tail);
        }
    }

    /// A copy to try changes on that are thrown away: it spills nothing.
    pub(crate) fn speculative(&self) -> Indexed {
        Indexed { graph: self.graph.speculative(), ..self.clone() }
    }

    /// The indexes of a table.
    pub(crate) fn indexes(&self, kind: TypeKind) -> &TableIndexes {
        match kind {
            TypeKind::Relationship => &self.indexes.relationships,
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => &self.indexes.entities,
        }
    }

    /// How many events the indexes lack.
    pub(crate) fn tail_len(&self) -> usize {
        self.tail.iter().map(|batch| batch.len()).sum()
    }

    /// How many bytes of records they lack.
    pub(crate) fn tail_bytes(&self) -> usize {
        self.tail.iter().map(|batch| batch.bytes).sum()
    }

    /// Slots of the instances of a table that were touched since the indexes are of: ascending, each once.
    pub(crate) fn touched(&self, kind: TypeKind) -> Vec<u32> {
        let events = self.tail.iter().flat_map(|batch| batch.events(kind).iter());
        let mut slots: Vec<u32> = events.map(Event::slot).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

impl Indexes {
    /// Takes batches, the oldest first.
    pub(crate) fn take(&mut self, batches: &[Arc<Batch>]) {
        for (kind, indexes) in
            [(TypeKind::Entity, &mut self.entities), (TypeKind::Relationship, &mut self.relationships)]
        {
            let events: Vec<&Event> = batches.iter().flat_map(|batch| batch.events(kind).iter()).collect();
            indexes.take(&events);
        }
        if let Some(last) = batches.last() {
            self.position = last.position;
        }
    }
}

impl Batch {
    /// What became of the instances of a table, in order.
    pub(crate) fn events(&self, kind: TypeKind) -> &crate::structures::vector::Vector<Event> {
        match kind {
            TypeKind::Relationship => &self.relationships,
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => &self.entities,
        }
    }

    /// How many events it has.
    pub(crate) fn len(&self) -> usize {
        self.entities.len() + self.relationships.len()
    }
}
