//! Subtrees that writers with grants set back, and items that they restore: what they do not see stays as it is.

use std::collections::BTreeMap;

use annals::*;

use crate::edit::path_of;
use crate::limited_writers::Writer;
use crate::reverted::plain;
use crate::see::{Name, Seen, of_snapshot};
use crate::world::World;

impl World {
    /// Sets a subtree back, or restores an item, as the writer may.
    pub(crate) fn revert_with_grants(&mut self, writer: &Writer) {
        let (root, path, position) = self.any_past_place();
        let at = path_of(&path);
        let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
        let is_revert = !self.random.one_in(4);
        let seen_now = |world: &World| {
            let snapshot = world.repository().snapshot();
            snapshot.seen_by(writer.rights.sight()).expect("a sight")
        };
        let item_at = |snapshot: &Snapshot| {
            let found = snapshot.tree_below(&root).get(&at, None).expect("a look-up");
            found.and_then(|item| without_ways(snapshot, item))
        };
        let saw = seen_now(self);
        let was = item_at(&saw.as_of(as_of).expect("a position that there was"));
        let before = of_snapshot(self.repository(), &self.repository().snapshot());
        let visible = of_snapshot(self.repository(), &saw);
        let outcome = self.repository().transact(|t| {
            t.limit_to(&writer.rights)?;
            let mut tree = t.tree_below(root.clone());
            match is_revert {
                true => tree.revert(&at, as_of)?,
                false => drop(tree.restore(&at, as_of)?),
            }
            Ok(())
        });
        let told = outcome.as_ref().map(drop).map_err(Error::kind);
        let verb = if is_revert { "revert" } else { "restore" };
        self.history.push(format!(
            "{}: {verb} {path:?} below {root} to {position} with {:?}: {told:?}",
            self.position(),
            writer.what()
        ));
        let after = of_snapshot(self.repository(), &self.repository().snapshot());
        if outcome.is_err() {
            assert_eq!(after, before, "{}", self.what());
            return;
        }
        let sees = seen_now(self);
        if is_revert {
            assert_eq!(item_at(&sees).map(plain), was.map(plain), "the subtree: {}", self.what());
        }
        // Hidden instances are there, as they were; and nothing hidden is new.
        let hidden = |all: &BTreeMap<Name, Seen>, visible: &BTreeMap<Name, Seen>| -> BTreeMap<Name, Seen> {
            let hidden = all.iter().filter(|(name, _)| !visible.contains_key(*name));
            hidden.map(|(name, seen)| (name.clone(), seen.clone())).collect()
        };
        let sees = of_snapshot(self.repository(), &sees);
        assert_eq!(hidden(&after, &sees), hidden(&before, &visible), "the rest: {}", self.what());
        let position = self.position();
        self.model.take(&after, position);
        self.vague.insert(position);
        self.accepted += 1;
        self.note();
    }
}

/// An item without those of which only shows that they lead to something: they stay as they are.
fn without_ways(snapshot: &Snapshot, item: Item) -> Option<Item> {
    snapshot.entity_summary(item.id.as_ref()?).expect("a look-up")?;
    let kept = |branch: Branch| Some(Branch { item: without_ways(snapshot, branch.item)?, ..branch });
    Some(Item { children: item.children.into_iter().filter_map(kept).collect(), ..item })
}
