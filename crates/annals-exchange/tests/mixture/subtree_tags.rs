//! Tags of trees: one that was seen before stands for the same items with the same versions, in the same places.

use std::collections::BTreeMap;

use annals::*;

use crate::world::World;

const PATHS: [&str; 3] = ["/", "/a", "/b"];

/// A tag, with the path where it was seen, and the item that was there.
pub(crate) type SubtreeTag = (&'static str, Id, Option<Revision>, (u64, Position));

/// The version of each item, and its path.
pub(crate) type SubtreeContent = BTreeMap<Id, (Option<Revision>, Option<String>)>;

fn seen(snapshot: &Snapshot, path: &'static str) -> Option<(SubtreeTag, SubtreeContent)> {
    let mut ids = Vec::new();
    let parsed = TreePath::parse(path).expect("a path");
    let state = snapshot.tree().state(&parsed, |id| ids.push(id.clone())).expect("a visit")?;
    let revision = |instance: &InstanceId| snapshot.revision(instance);
    let top = ids.first()?.clone();
    let content = ids.into_iter().map(|id| {
        let path = snapshot.tree().path_of(&id).expect("a look-up").map(|path| path.to_string());
        (id.clone(), (revision(&InstanceId::Entity(id)), path))
    });
    let content = content.collect();
    let tag = (path, top.clone(), revision(&InstanceId::Entity(top)), (state.items_count, state.changed));
    Some((tag, content))
}

impl World {
    pub(crate) fn check_subtree_tags(&mut self, snapshot: &Snapshot) {
        for path in PATHS {
            let Some((tag, content)) = seen(snapshot, path) else { continue };
            let known = self.subtree_tags.entry(tag.clone()).or_insert_with(|| content.clone());
            let is_same = *known == content;
            assert!(
                is_same,
                "{path} had {:?} and has {content:?} with the tag {tag:?}: {}",
                self.subtree_tags[&tag],
                self.what()
            );
        }
    }
}
