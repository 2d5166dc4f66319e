//! The further instances of a change: those deleted or restored with the named entity, its relationships and everything
//! it contains.

use std::collections::BTreeSet;

use foldhash::{HashSet, HashSetExt};

use super::snapshot::Snapshot;
use crate::Result;
use crate::graph::instance::past::ChangePlace;
use crate::graph::past_link_prefix;
use crate::graph::structures::wide::link_of_key;
use crate::model::{Direction, TypeKind};

/// An instance: the kind of its table, and its slot.
pub(crate) type Slot = (TypeKind, u32);

impl Snapshot {
    /// The instances that the change at `place` wrote in addition to the named entity at `slot`, as far as relationships that
    /// still exist contained them. If the container has or had more than `most` relationships below it, only that many are
    /// checked.
    pub(super) fn taken_along(&self, slot: u32, place: ChangePlace, most: usize) -> Result<Vec<Slot>> {
        let graph = self.graph();
        let (mut found, mut looked_at) = (Vec::new(), 0);
        let (mut entities, mut relationships) = (HashSet::from_iter([slot]), HashSet::new());
        let mut open = vec![slot];
        while let Some(entity) = open.pop() {
            for relationship in self.links_ever(entity) {
                self.check_cancelled()?;
                looked_at += 1;
                if looked_at > most {
                    return Ok(found);
                }
                let Some(known) = graph.relationships.get(relationship)? else { continue };
                let Some(version) = known.written_at(place) else { continue };
                let shape = graph.shape_of(&known, version.header);
                // It may have had this end at another time.
                if !shape.ends.contains(&entity) {
                    continue;
                }
                if relationships.insert(relationship) {
                    found.push((TypeKind::Relationship, relationship));
                }
                let [container, child] = shape.ends;
                // Another relationship may link two instances that were taken along; it took none of them.
                if container == entity
                    && graph.containment(shape.type_name).is_some()
                    && !entities.contains(&child)
                    && self.is_written_at(TypeKind::Entity, child, place)?
                {
                    entities.insert(child);
                    found.push((TypeKind::Entity, child));
                    open.push(child);
                }
            }
        }
        Ok(found)
    }

    /// All instances that the changes at `places` wrote, found by checking every instance that was changed since the
    /// first of them: for changes whose named instance was purged.
    pub(super) fn written_by(&self, places: &BTreeSet<ChangePlace>) -> Result<Vec<Slot>> {
        let mut found = Vec::new();
        let Some(first) = places.first() else { return Ok(found) };
        for kind in [TypeKind::Relationship, TypeKind::Entity] {
            let table = self.graph().table(kind);
            for slot in 0..u32::try_from(table.slots_count()).unwrap_or(u32::MAX) {
                self.check_cancelled()?;
                if table.row(slot).is_none_or(|row| row.changed() < first.position) {
                    continue;
                }
                let versions = table.get(slot)?.map(|known| known.all_versions()).unwrap_or_default();
                if versions.iter().any(|version| places.contains(&version.place)) {
                    found.push((kind, slot));
                }
            }
        }
        Ok(found)
    }

    /// True if the change at `place` wrote a version of this instance.
    pub(super) fn is_written_at(&self, kind: TypeKind, slot: u32, place: ChangePlace) -> Result<bool> {
        let known = self.graph().table(kind).get(slot)?;
        Ok(known.is_some_and(|known| known.written_at(place).is_some()))
    }

    /// Relationships that the entity at `slot` has or had; possibly repeated.
    fn links_ever(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let graph = self.graph();
        [Direction::Out, Direction::In].into_iter().flat_map(move |direction| {
            let current = graph.neighbors(slot, direction).iter(None);
            let past = graph.past_links.prefix(&past_link_prefix(slot, direction)).map(link_of_key);
            current.chain(past).map(|link| link.relationship)
        })
    }
}
