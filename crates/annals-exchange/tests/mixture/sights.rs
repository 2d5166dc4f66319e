//! Readers with grants: their sights live as long as the history, across compactions, kills, backups and other places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::{Grant, Sight, Snapshot};

use crate::see::{Name, Seen, id, of_snapshot};
use crate::world::World;

/// A reader of some nodes, and one of everything below the root.
pub struct Sights {
    nodes: Arc<Sight>,
    below: Arc<Sight>,
}

impl Default for Sights {
    fn default() -> Sights {
        let nodes = Grant { entities: "node where n <= 1".parse().expect("a search"), ..Grant::default() };
        let below = Grant { under: Some(id("root")), ..Grant::default() };
        let of = |grant| Arc::new(Sight::new(vec![grant]).expect("grants"));
        Sights { nodes: of(nodes), below: of(below) }
    }
}

impl World {
    /// `found` is all that the snapshot has.
    pub(crate) fn check_sights(&self, snapshot: &Snapshot, found: &BTreeMap<Name, Seen>) {
        let entities = found.iter().filter(|((is_link, ..), _)| !is_link);
        let is_node = |seen: &Seen| seen.type_name == "node" && seen.fields.n.is_some_and(|n| n <= 1);
        let nodes =
            entities.filter(|(_, seen)| is_node(seen)).map(|((_, birth, id), _)| (*birth, id.clone()));
        self.check_sight(&self.sights.nodes, snapshot, found, &nodes.collect());
        let mut below: BTreeSet<(u64, String)> = found
            .keys()
            .filter(|(is_link, _, id)| !is_link && id == "root")
            .map(|(_, birth, id)| (*birth, id.clone()))
            .collect();
        loop {
            let placed = found.values().filter(|seen| seen.type_name == "contains");
            let ends = placed.filter_map(|seen| seen.ends.clone());
            let new: Vec<_> = ends
                .filter(|[parent, child]| below.contains(parent) && !below.contains(child))
                .map(|[_, child]| child)
                .collect();
            if new.is_empty() {
                break;
            }
            below.extend(new);
        }
        self.check_sight(&self.sights.below, snapshot, found, &below);
    }

    fn check_sight(
        &self,
        sight: &Arc<Sight>,
        snapshot: &Snapshot,
        found: &BTreeMap<Name, Seen>,
        visible: &BTreeSet<(u64, String)>,
    ) {
        let seen = snapshot.seen_by(sight).expect("a sight");
        let is_visible = |(is_link, birth, id): &Name, seen: &Seen| match (&seen.ends, is_link) {
            (Some(ends), true) => ends.iter().all(|end| visible.contains(end)),
            _ => visible.contains(&(*birth, id.clone())),
        };
        let expected = found.iter().filter(|(name, seen)| is_visible(name, seen));
        let expected: BTreeMap<Name, Seen> =
            expected.map(|(name, seen)| (name.clone(), seen.clone())).collect();
        assert_eq!(of_snapshot(self.repository(), &seen), expected, "{sight:?}: {}", self.what());
        let counted = expected.keys().filter(|(is_link, ..)| !is_link).count() as u64;
        assert_eq!(seen.entities_count(), counted, "{sight:?}: {}", self.what());
    }
}
