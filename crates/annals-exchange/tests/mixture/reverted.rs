//! Subtrees that are set back to their state at an earlier time: they are as they were, and nothing else changes.

use std::collections::{BTreeMap, BTreeSet};

use annals::*;

use crate::edit::{Path, path_of};
use crate::see::{Name, Seen, id, of_snapshot};
use crate::world::World;

/// An item without its ids, which may have changed since.
pub(crate) fn plain(mut item: Item) -> Item {
    item.id = None;
    item.properties.sort_by(|one, other| one.0.cmp(&other.0));
    item.children.iter_mut().for_each(|child| child.item = plain(std::mem::take(&mut child.item)));
    item
}

/// The births of an item and everything below it.
fn births(snapshot: &Snapshot, item: &Item, found: &mut BTreeSet<u64>) {
    let id = item.id.as_ref().expect("an item that is read has an id");
    let entity = snapshot.entity(id).expect("it can be read").expect("it is there");
    found.insert(entity.birth().0);
    item.children.iter().for_each(|child| births(snapshot, &child.item, found));
}

/// Adds everything that the entities contain.
fn with_contents(entities: &mut BTreeSet<u64>, all: &BTreeMap<Name, Seen>) {
    loop {
        let count = entities.len();
        for seen in all.values().filter(|seen| seen.type_name == "contains") {
            let [from, to] = seen.ends.as_ref().expect("it has ends");
            if entities.contains(&from.0) {
                entities.insert(to.0);
            }
        }
        if entities.len() == count {
            return;
        }
    }
}

impl World {
    /// A root, a path to an item below it, and one of the latest positions.
    pub(crate) fn any_past_place(&mut self) -> (Id, Path, u64) {
        let edit = self.any_edit();
        let path = self.any_path(&edit.root, true);
        let past: Vec<u64> = self.past.keys().copied().collect();
        let recent = past.len().saturating_sub(12);
        (id(&edit.root), path, *self.random.choose(&past[recent..]))
    }

    /// Sets a subtree back.
    pub(crate) fn revert(&mut self) {
        let (root, path, position) = self.any_past_place();
        let at = path_of(&path);
        let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
        let snapshot = self.repository().snapshot();
        let then = snapshot.as_of(as_of).expect("a position that there was");
        let item_at = |snapshot: &Snapshot| snapshot.tree_below(&root).get(&at, None).expect("a look-up");
        let (was, is) = (item_at(&then), item_at(&snapshot));
        let mut concerned = BTreeSet::new();
        was.iter().for_each(|item| births(&then, item, &mut concerned));
        is.iter().for_each(|item| births(&snapshot, item, &mut concerned));
        let before = of_snapshot(self.repository(), &snapshot);
        with_contents(&mut concerned, &before);
        let outcome = self.repository().transact(|t| t.tree_below(root.clone()).revert(&at, as_of)).map(drop);
        let told = outcome.as_ref().map_err(Error::kind);
        self.history
            .push(format!("{}: revert {path:?} below {root} to {position}: {told:?}", self.position()));
        let after = of_snapshot(self.repository(), &self.repository().snapshot());
        let Ok(()) = outcome else {
            let kind = told.expect_err("it is refused");
            // A copy belongs to its home, a value may be taken, and an end or the parent may be gone.
            let is_allowed = match kind {
                ErrorKind::NotFound => was.is_none() && is.is_none() || !self.has_parent(&root, &path),
                ErrorKind::NotHome | ErrorKind::NotUnique | ErrorKind::MissingEnd => true,
                ErrorKind::Cardinality | ErrorKind::InvalidEnds => true,
                _ => false,
            };
            assert!(is_allowed, "{outcome:?}: {}", self.what());
            assert_eq!(after, before, "{}", self.what());
            return;
        };
        let found = item_at(&self.repository().snapshot());
        assert_eq!(found.map(plain), was.map(plain), "the subtree: {}", self.what());
        let is_concerned = |(name, seen): &(&Name, &Seen)| {
            let ends = seen.ends.iter().flatten();
            !name.0 && concerned.contains(&name.1) || ends.into_iter().any(|end| concerned.contains(&end.0))
        };
        let others = |all: &BTreeMap<Name, Seen>| -> BTreeMap<Name, Seen> {
            let others = all.iter().filter(|entry| !is_concerned(entry));
            others.map(|(name, seen)| (name.clone(), seen.clone())).collect()
        };
        assert_eq!(others(&after), others(&before), "the rest: {}", self.what());
        let position = self.position();
        self.model.take(&after, position);
        self.vague.insert(position);
        self.accepted += 1;
        self.note();
    }

    /// True if the item above a path is there.
    fn has_parent(&self, root: &Id, path: &[String]) -> bool {
        let (_, above) = path.split_last().expect("a step");
        let snapshot = self.repository().snapshot();
        let found = snapshot.tree_below(root).get(&path_of(above), Some(0)).expect("a look-up");
        found.is_some()
    }
}
