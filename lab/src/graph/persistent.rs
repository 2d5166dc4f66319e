//! The same graph in persistent structures of a library: the form of a program that only hands out snapshots.

use std::sync::Arc;

use foldhash::fast::FixedState;
use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, OrdSet, Vector};

use super::packed::{Packed, Plain, Uuid, edge_ids, uuid};
use super::standard::{size, vertex_id, weight};

/// A map that can be shared at any time, with a fast hash function.
pub type SharedMap<K, V> = GenericHashMap<K, V, FixedState, DefaultSharedPtr>;

/// A map from the ids of entities to values made from their numbers.
pub fn shared_map_of_numbers<V: Clone>(entities: usize, value: impl Fn(usize) -> V) -> SharedMap<Uuid, V> {
    (0..entities).map(|number| (uuid(&vertex_id(number)), value(number))).collect()
}

/// A graph that can be shared at any time.
pub struct Persistent {
    pub numbers: SharedMap<Uuid, u32>,
    /// Relationships by the number of their start entity, with their end entities.
    pub links: Vector<Arc<[(u32, u32)]>>,
    pub records: Vector<Plain>,
    pub vertices: Vector<Uuid>,
    pub edges: Vector<Uuid>,
}

impl Persistent {
    pub fn new(entities: usize, edges: &[(u32, u32)]) -> Persistent {
        let packed = Packed::new(entities, edges);
        Persistent {
            numbers: shared_map_of_numbers(entities, |number| number as u32),
            links: (0..entities as u32).map(|entity| packed.links(entity).collect()).collect(),
            records: (0..entities).map(Plain::new).collect(),
            vertices: (0..entities).map(|number| uuid(&vertex_id(number))).collect(),
            edges: edge_ids(edges.len()).into_iter().collect(),
        }
    }

    #[inline]
    pub fn out(&self, entity: u32) -> &[(u32, u32)] {
        &self.links[entity as usize]
    }
}

/// Indexes of two properties that can be shared at any time; they lead to the numbers of entities.
pub struct PersistentIndexes {
    pub sizes: OrdSet<(i64, u32)>,
    /// By the bits of the value.
    pub weights: OrdSet<(u64, u32)>,
    pub ids: Vector<Uuid>,
}

impl PersistentIndexes {
    pub fn new(entities: usize) -> PersistentIndexes {
        PersistentIndexes {
            sizes: (0..entities).map(|number| (size(number), number as u32)).collect(),
            weights: (0..entities).map(|number| (weight(number).to_bits(), number as u32)).collect(),
            ids: (0..entities).map(|number| uuid(&vertex_id(number))).collect(),
        }
    }
}
