//! Readers with grants: their sights live as long as the history, across compactions, kills, backups and other places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::{Grant, Item, Sight, Snapshot, TreePath};

use crate::grouped::check_groups;
use crate::see::{Name, Seen, id, of_snapshot};
use crate::world::World;

/// A reader of some nodes, one of everything below the root, and one of everything below another container, to which paths
/// lead from the root.
pub struct Sights {
    nodes: Arc<Sight>,
    below: Arc<Sight>,
    deep: Arc<Sight>,
}

/// The container of the third reader.
const DEEP: &str = "e0";

/// A live entity by birth and id.
type Entity = (u64, String);

impl Default for Sights {
    fn default() -> Sights {
        let nodes = Grant { entities: "node where n <= 1".parse().expect("a search"), ..Grant::default() };
        let under = |container| Grant { under: Some(id(container)), ..Grant::default() };
        let of = |grant| Arc::new(Sight::new(vec![grant]).expect("grants"));
        Sights { nodes: of(nodes), below: of(under("root")), deep: of(under(DEEP)) }
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
        self.check_sight(&self.sights.below, snapshot, found, &below(found, "root"));
        let deep = below(found, DEEP);
        self.check_sight(&self.sights.deep, snapshot, found, &deep);
        self.check_ways(snapshot, found, &deep);
    }

    /// Paths lead from the root to the container of a grant, through entities of which nothing else shows.
    fn check_ways(&self, snapshot: &Snapshot, found: &BTreeMap<Name, Seen>, deep: &BTreeSet<Entity>) {
        // An item of a list has the name of its type, and its key is `n`.
        let name = |seen: &Seen, (birth, id): &Entity| match &found[&(false, *birth, id.clone())] {
            child if child.type_name == "item" => child.fields.n.map(|_| "item".to_owned()),
            _ => seen.name.clone(),
        };
        let placed = found.values().filter(|seen| seen.type_name == "contains");
        let places: Vec<(Entity, String, Entity)> = placed
            .filter_map(|seen| {
                let [parent, child] = seen.ends.clone()?;
                Some((parent, name(seen, &child)?, child))
            })
            .collect();
        let mut ways: BTreeSet<Entity> = deep.iter().filter(|(_, id)| id == DEEP).cloned().collect();
        while let Some((parent, ..)) =
            places.iter().find(|(parent, _, child)| ways.contains(child) && !ways.contains(parent))
        {
            ways.insert(parent.clone());
        }
        // The root may also be below that container.
        let is_shown = |entity: &Entity| ways.contains(entity) || deep.contains(entity);
        let root = ways.iter().chain(deep).find(|(_, id)| id == "root");
        let (mut expected, mut open) = (BTreeSet::new(), Vec::from_iter(root.cloned()));
        while let Some(at) = open.pop() {
            for (_, name, child) in
                places.iter().filter(|(parent, _, child)| *parent == at && is_shown(child))
            {
                expected.insert((at.1.clone(), name.clone(), child.1.clone()));
                open.push(child.clone());
            }
        }
        let seen = snapshot.seen_by(&self.sights.deep).expect("a sight");
        let mut shown = BTreeSet::new();
        let mut open: Vec<Item> =
            seen.tree_below(&id("root")).get(&TreePath::root(), None).expect("a tree").into_iter().collect();
        while let Some(item) = open.pop() {
            let own = item.id.expect("an item has an id").to_string();
            if !deep.iter().any(|(_, id)| *id == own) {
                let is_key = |name: &str| item.type_name.as_deref() == Some("item") && name == "n";
                let is_bare = item.properties.iter().all(|(name, _)| is_key(name));
                assert!(is_bare, "{own} {:?}: {}", item.properties, self.what());
            }
            for branch in item.children {
                let child = branch.item.id.as_ref().expect("an item has an id").to_string();
                shown.insert((own.clone(), branch.name.to_string(), child));
                open.push(branch.item);
            }
        }
        assert_eq!(shown, expected, "ways to {DEEP}: {}", self.what());
    }

    fn check_sight(
        &self,
        sight: &Arc<Sight>,
        snapshot: &Snapshot,
        found: &BTreeMap<Name, Seen>,
        visible: &BTreeSet<Entity>,
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
        check_groups(&seen, &expected, || self.what());
        let counted = expected.keys().filter(|(is_link, ..)| !is_link).count() as u64;
        assert_eq!(seen.entities_count(), counted, "{sight:?}: {}", self.what());
    }
}

/// A container with this id, and everything below it.
fn below(found: &BTreeMap<Name, Seen>, container: &str) -> BTreeSet<Entity> {
    let top = found.keys().filter(|(is_link, _, id)| !is_link && id == container);
    let mut below: BTreeSet<Entity> = top.map(|(_, birth, id)| (*birth, id.clone())).collect();
    loop {
        let placed = found.values().filter(|seen| seen.type_name == "contains");
        let ends = placed.filter_map(|seen| seen.ends.clone());
        let new: Vec<Entity> = ends
            .filter(|[parent, child]| below.contains(parent) && !below.contains(child))
            .map(|[_, child]| child)
            .collect();
        if new.is_empty() {
            return below;
        }
        below.extend(new);
    }
}
