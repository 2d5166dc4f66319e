//! The same graph packed into vectors: the most compact form that a program can keep.

use std::collections::HashMap;
use std::hash::Hash;

use annals::Id;
use foldhash::fast::FixedState;

use super::standard::{edge_id, is_even, name, size, vertex_id, weight};

/// Sixteen bytes of an id.
pub type Uuid = [u8; 16];

/// An entity in the form of a program that needs only its four properties.
#[expect(dead_code, reason = "the lines read one property; the others take the room they would take")]
#[derive(Clone)]
pub struct Plain {
    pub name: Box<str>,
    pub size: i64,
    pub weight: f64,
    pub is_even: bool,
}

impl Plain {
    /// The entity with this number.
    pub fn new(number: usize) -> Plain {
        let name = name(number).into_boxed_str();
        Plain { name, size: size(number), weight: weight(number), is_even: is_even(number) }
    }
}

/// Out-neighbours in two vectors (compressed sparse rows).
pub struct Packed {
    starts: Vec<u32>,
    targets: Vec<u32>,
    numbers: Vec<u32>,
}

impl Packed {
    /// Shape: `edges` are pairs of entity numbers below `entities`, in any order.
    pub fn new(entities: usize, edges: &[(u32, u32)]) -> Packed {
        let mut starts = vec![0u32; entities + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let (mut targets, mut numbers) = (vec![0; edges.len()], vec![0; edges.len()]);
        for ((from, to), number) in edges.iter().zip(0..) {
            let place = &mut next[*from as usize];
            targets[*place as usize] = *to;
            numbers[*place as usize] = number;
            *place += 1;
        }
        Packed { starts, targets, numbers }
    }

    /// Numbers of the out-neighbours of an entity.
    #[inline]
    pub fn out(&self, entity: u32) -> &[u32] {
        &self.targets[self.range(entity)]
    }

    /// Numbers of the relationships of an entity, with their end entities.
    #[inline]
    pub fn links(&self, entity: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.range(entity);
        self.numbers[range.clone()].iter().copied().zip(self.targets[range].iter().copied())
    }

    #[inline]
    fn range(&self, entity: u32) -> std::ops::Range<usize> {
        self.starts[entity as usize] as usize..self.starts[entity as usize + 1] as usize
    }

    /// Bytes of the standard graph in packed vectors: ids, properties, out- and in-neighbours with the
    /// relationships that lead to them.
    pub fn bytes(entities: usize, relationships: usize) -> usize {
        let names: usize = (0..entities).map(|number| name(number).len()).sum();
        let entity =
            size_of::<Uuid>() + size_of::<u32>() + size_of::<i64>() + size_of::<f64>() + size_of::<bool>();
        let relationship = size_of::<Uuid>() + size_of::<i64>();
        let link = 2 * size_of::<u32>();
        names + entities * (entity + 2 * size_of::<u32>()) + relationships * (relationship + 2 * link)
    }
}

/// A map with a fast hash function.
pub type FastMap<K, V> = HashMap<K, V, FixedState>;

/// A map from the ids of entities to values made from their numbers.
pub fn map_of_numbers<V>(entities: usize, value: impl Fn(usize) -> V) -> FastMap<Uuid, V>
where
    Uuid: Hash,
{
    let mut map = FastMap::with_capacity_and_hasher(entities, FixedState::default());
    map.extend((0..entities).map(|number| (uuid(&vertex_id(number)), value(number))));
    map
}

/// The bytes of an id of the standard graph.
pub fn uuid(id: &Id) -> Uuid {
    *id.uuid_bytes().expect("ids of the standard graph are UUIDs")
}

/// Ids of all relationships.
pub fn edge_ids(relationships: usize) -> Vec<Uuid> {
    (0..relationships).map(|number| uuid(&edge_id(number))).collect()
}
