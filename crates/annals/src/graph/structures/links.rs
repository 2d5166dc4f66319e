//! The live relationships of all entities, in both directions.

use super::adjacency::Adjacency;
use super::link::Link;
use super::symbols::Symbol;
use crate::model::Direction;

/// The links by start entity, and the links by end entity.
#[derive(Clone)]
pub(crate) struct Links([Adjacency; 2]);

impl Default for Links {
    fn default() -> Links {
        Links([Adjacency::new(), Adjacency::new()])
    }
}

impl Links {
    /// Links from a file: by start entity, and by end entity.
    pub(crate) fn of(both: [Adjacency; 2]) -> Links {
        Links(both)
    }

    #[inline]
    pub(crate) fn in_direction(&self, direction: Direction) -> &Adjacency {
        &self.0[direction as usize]
    }

    /// The links by start entity, and the links by end entity.
    pub(crate) fn both(&self) -> &[Adjacency; 2] {
        &self.0
    }

    /// Makes room for one more entity, without links.
    pub(crate) fn push(&mut self) {
        self.0.iter_mut().for_each(Adjacency::push);
    }

    /// Adds the links of a new relationship.
    pub(crate) fn insert(&mut self, relationship: u32, type_name: Symbol, ends: [u32; 2]) {
        for (adjacency, own, other) in self.sides(ends) {
            adjacency.insert(own, Link { type_name, relationship, other });
        }
    }

    /// Adds the links of new relationships, each with its type and ends.
    pub(crate) fn insert_together(&mut self, relationships: &[(u32, Symbol, [u32; 2])]) {
        for (side, adjacency) in self.0.iter_mut().enumerate() {
            let link = |&(relationship, type_name, ends): &(u32, Symbol, [u32; 2])| {
                (ends[side], Link { type_name, relationship, other: ends[1 - side] })
            };
            let mut links: Vec<(u32, Link)> = relationships.iter().map(link).collect();
            links.sort_unstable();
            for of_one in links.chunk_by(|(own, _), (next, _)| own == next) {
                adjacency.insert_sorted(of_one);
            }
        }
    }

    /// Removes the links of a relationship.
    pub(crate) fn remove(&mut self, relationship: u32, type_name: Symbol, ends: [u32; 2]) {
        for (adjacency, own, other) in self.sides(ends) {
            adjacency.remove(own, Link { type_name, relationship, other });
        }
    }

    /// Removes the links of these relationships, each with its type and ends, and all links of `entities`.
    ///
    /// Shape: `entities` ascending; the relationships include all those of the entities.
    pub(crate) fn remove_with(
        &mut self,
        entities: &[u32],
        relationships: impl Iterator<Item = (u32, Symbol, [u32; 2])>,
    ) {
        let mut others = [Vec::new(), Vec::new()];
        for (relationship, type_name, [from, to]) in relationships {
            for (side, own, other) in [(0, from, to), (1, to, from)] {
                if entities.binary_search(&own).is_err() {
                    others[side].push((own, Link { type_name, relationship, other }));
                }
            }
        }
        for (adjacency, mut others) in self.0.iter_mut().zip(others) {
            entities.iter().for_each(|entity| adjacency.clear(*entity));
            others.sort_unstable();
            for of_one in others.chunk_by(|(own, _), (next, _)| own == next) {
                let links: Vec<Link> = of_one.iter().map(|(_, link)| *link).collect();
                adjacency.remove_sorted(of_one[0].0, &links);
            }
        }
    }

    fn sides(&mut self, [from, to]: [u32; 2]) -> [(&mut Adjacency, u32, u32); 2] {
        let [out, into] = &mut self.0;
        [(out, from, to), (into, to, from)]
    }
}
