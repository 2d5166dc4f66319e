//! A graph with its indexes, which may be a little behind it.

use std::sync::Arc;

use super::Graph;
use super::index::event::{Event, MADE_TOGETHER, Told};
#[cfg(doc)]
use super::index::late_indexes::LateIndexes;
use super::index::{Indexes, TableIndexes};
use super::put::EventBatch;
use crate::Result;
use crate::model::TypeKind;

/// A graph, and indexes to find its instances: the indexes of this graph or of an earlier one, and the events since
/// then.
///
/// A search uses the indexes for untouched instances, and reads each touched instance directly.
#[derive(Clone)]
pub(crate) struct Indexed {
    pub(crate) graph: Graph,
    pub(crate) indexes: Arc<Indexes>,
    /// The events after the position of the indexes, the oldest first.
    tail: Arc<[Arc<EventBatch>]>,
    /// True for the empty graph in the place of one that is read anew: nothing may be read from it.
    pub(crate) is_vacant: bool,
}

impl Indexed {
    /// A graph whose indexes have all records.
    pub(crate) fn new(graph: Graph, indexes: Arc<Indexes>) -> Indexed {
        Indexed { graph, indexes, tail: Arc::default(), is_vacant: false }
    }

    /// Takes the place of a graph like `like`, which is read anew.
    pub(crate) fn vacant(like: &Graph) -> Indexed {
        Indexed { is_vacant: true, ..Indexed::new(like.rebuilt_from_nothing(), Arc::default()) }
    }

    /// The same with one more batch, which leads to `graph`.
    pub(crate) fn with(&self, graph: Graph, batch: Arc<EventBatch>) -> Indexed {
        let tail = self.tail.iter().cloned().chain([batch]).collect();
        Indexed { graph, tail, ..self.clone() }
    }

    /// Gives the indexes these batches, which lead from their position to the graph.
    pub(crate) fn put_tail(&mut self, tail: Vec<Arc<EventBatch>>) {
        self.tail = tail.into();
    }

    /// The same with indexes that have all events of `taken`, an earlier state of this.
    pub(crate) fn with_indexes(&self, indexes: Arc<Indexes>, taken: &Indexed) -> Indexed {
        let tail = self.tail.iter().skip(taken.tail.len()).cloned().collect();
        Indexed { indexes, tail, ..self.clone() }
    }

    /// The indexes with all records. Errors: as [`LateIndexes::get`].
    pub(crate) fn settled_indexes(&self) -> Result<Indexes> {
        let mut indexes = Indexes::clone(&self.indexes);
        indexes.update(&self.tail)?;
        Ok(indexes)
    }

    /// The same with indexes that have all records. Errors: as [`LateIndexes::get`].
    pub(crate) fn settled(&self) -> Result<Indexed> {
        Ok(match self.tail.is_empty() {
            true => self.clone(),
            false => Indexed::new(self.graph.clone(), Arc::new(self.settled_indexes()?)),
        })
    }

    /// Adds the events since the last call to the tail; if the tail then has more than `tail_len_max` events, the
    /// indexes are updated with them, unless they cannot be made. The events of one position, that of a transaction, stay
    /// in one batch.
    pub(crate) fn pass_events(&mut self, tail_len_max: usize) {
        let batch = self.graph.take_events();
        if batch.events_count == 0 {
            return;
        }
        match self.tail.last() {
            Some(last) if last.position == batch.position => {
                let last = Arc::make_mut(&mut self.tail).last_mut();
                last.into_iter().for_each(|last| Arc::make_mut(last).append(&batch));
            }
            _ => self.tail = self.tail.iter().cloned().chain([Arc::new(batch)]).collect(),
        }
        if self.tail_len() > tail_len_max && Arc::make_mut(&mut self.indexes).update(&self.tail).is_ok() {
            self.tail = Arc::default();
        }
    }

    /// A copy for trial changes, which are dropped later: it spills nothing.
    pub(crate) fn speculative(&self) -> Indexed {
        Indexed { graph: self.graph.speculative(), ..self.clone() }
    }

    /// The indexes of a table. Errors: as [`LateIndexes::get`].
    pub(crate) fn indexes(&self, kind: TypeKind) -> Result<&TableIndexes> {
        match kind {
            TypeKind::Relationship => self.indexes.relationships.get(),
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => self.indexes.entities.get(),
        }
    }

    /// Number of events that the indexes lack.
    pub(crate) fn tail_len(&self) -> usize {
        self.tail.iter().map(|batch| batch.events_count).sum()
    }

    /// Bytes of the records that they lack.
    pub(crate) fn tail_bytes(&self) -> usize {
        self.tail.iter().map(|batch| batch.bytes).sum()
    }

    /// Slots of the instances of a table that were touched since the position of the indexes: ascending, each once.
    pub(crate) fn touched(&self, kind: TypeKind) -> Vec<u32> {
        let events = self.tail.iter().flat_map(|batch| batch.events(kind).iter());
        let mut slots: Vec<u32> = events.flat_map(Told::slots).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

impl Indexes {
    /// Applies batches, the oldest first. Indexes without events are not made.
    ///
    /// Errors: as [`LateIndexes::get`], and then nothing is applied.
    pub(crate) fn update(&mut self, batches: &[Arc<EventBatch>]) -> Result<()> {
        let has_events = |kind| batches.iter().any(|batch| batch.events(kind).len() > 0);
        let tables =
            [(TypeKind::Entity, &mut self.entities), (TypeKind::Relationship, &mut self.relationships)];
        let mut touched = Vec::new();
        for (kind, indexes) in tables {
            if has_events(kind) {
                touched.push((kind, indexes.get_mut()?));
            }
        }
        for (kind, indexes) in touched {
            let mut waiting = Waiting::default();
            for told in batches.iter().flat_map(|batch| batch.events(kind).iter()) {
                match told {
                    Told::One(event) => waiting.in_order.push(Some(event)),
                    Told::Created(together)
                    | Told::Deleted(together)
                    | Told::Restored(together)
                    | Told::Purged(together) => {
                        for event in together.slots.iter().filter_map(|slot| together.event(*slot)) {
                            waiting.in_order.push(None);
                            waiting.made.push(event);
                            if waiting.made.len() == MADE_TOGETHER {
                                indexes.update(&waiting.all());
                                waiting = Waiting::default();
                            }
                        }
                    }
                }
            }
            indexes.update(&waiting.all());
        }
        if let Some(last) = batches.last() {
            self.position = last.position;
        }
        Ok(())
    }
}

/// Events that the indexes take together, so that many small commits cost them one pass.
#[derive(Default)]
struct Waiting<'b> {
    /// `None`: the next one that was made.
    in_order: Vec<Option<&'b Event>>,
    made: Vec<Event>,
}

impl Waiting<'_> {
    fn all(&self) -> Vec<&Event> {
        let mut made = self.made.iter();
        self.in_order.iter().filter_map(|event| event.or_else(|| made.next())).collect()
    }
}

impl EventBatch {
    /// The events of the instances of a table, in order.
    pub(crate) fn events(&self, kind: TypeKind) -> &crate::structures::vector::Vector<Told> {
        match kind {
            TypeKind::Relationship => &self.relationships,
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => &self.entities,
        }
    }

    /// Adds the events of `later`, of the same position.
    fn append(&mut self, later: &EventBatch) {
        later.entities.iter().for_each(|event| self.entities.push(event.clone()));
        later.relationships.iter().for_each(|event| self.relationships.push(event.clone()));
        self.events_count += later.events_count;
    }
}
