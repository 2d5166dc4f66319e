//! The instances found on which later records built, and what that means for them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::instance::unpacked::Instance;
use crate::graph::instance_id;
use crate::model::{InstanceId, TypeKind};
use crate::read::taken_along::Slot;
use crate::{Error, ErrorKind};

/// An instance on which later records built.
#[derive(Debug)]
pub struct BuiltOn {
    /// The instance.
    pub instance: InstanceId,
    /// How: a later record changed the same of it, or put something into an instance that is to be deleted, or linked to it.
    pub reason: Error,
    pub(super) slot: Slot,
}

impl BuiltOn {
    pub(super) fn new(graph: &Graph, slot: Slot, how: &str) -> BuiltOn {
        let instance = instance_id(slot.0, graph.table(slot.0).id(slot.1).clone());
        let reason = Error::new(ErrorKind::Conflict, format!("{instance}: {how}"));
        BuiltOn { instance, reason, slot }
    }
}

/// The side whose changes stay in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The edits of the candidate.
    Mine,
    /// The other transactions: the edits in conflict are dropped.
    Theirs,
}

/// How much of an instance is in conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    Whole,
    /// The place of an entity: its container, and its name and position there.
    Place,
    /// Units of its content.
    Units,
}

/// The instances found so far.
pub(super) struct Found<'g> {
    pub(super) graph: &'g Graph,
    pub(super) keep: Option<Keep>,
    /// Those that the records touched.
    pub(super) known: HashSet<Slot>,
    /// In the order of discovery, each extent once.
    pub(super) all: Vec<BuiltOn>,
    named: HashSet<(Slot, Extent)>,
    /// Instances that are not taken back.
    pub(super) stay: HashSet<Slot>,
    /// Entities that keep their places.
    pub(super) placed: HashSet<u32>,
    /// The content for instances that later records changed, too.
    pub(super) merged: HashMap<Slot, Arc<Instance>>,
}

impl<'g> Found<'g> {
    pub(super) fn new(graph: &'g Graph, known: &[Slot], keep: Option<Keep>) -> Found<'g> {
        Found {
            graph,
            keep,
            known: known.iter().copied().collect(),
            all: Vec::new(),
            named: HashSet::new(),
            stay: HashSet::new(),
            placed: HashSet::new(),
            merged: HashMap::new(),
        }
    }

    /// Notes a conflict. With [`Keep::Mine`] nothing stays because of it.
    pub(super) fn add(&mut self, slot: Slot, extent: Extent, how: &str) {
        if self.named.insert((slot, extent)) {
            self.all.push(BuiltOn::new(self.graph, slot, how));
        }
        if self.keep != Some(Keep::Mine) {
            match extent {
                Extent::Whole => drop(self.stay.insert(slot)),
                Extent::Place => drop(self.placed.insert(slot.1)),
                Extent::Units => {}
            }
        }
    }

    /// True if an instance, or its place, stays.
    pub(super) fn keeps_place(&self, (kind, slot): Slot) -> bool {
        self.stay.contains(&(kind, slot)) || kind != TypeKind::Relationship && self.placed.contains(&slot)
    }
}
