//! Trees of containers: items by path, by name and by place, lists of children, and items with their subtrees.

// In the order a newcomer should read them.
mod children;
mod names;
mod item;
mod look_up;
mod listing;
mod matching;
mod whole;
mod state;
mod difference;

use crate::model::{Id, TypeKind};
use crate::read::snapshot::Snapshot;

pub(crate) use children::ChildSlot;
pub use difference::{TreeChange, TreeChangeKind};
pub use item::TreeItem;
pub use listing::ListOptions;
pub use matching::PathPlan;
pub(crate) use names::{ChildName, PathTarget};
pub use state::SubtreeState;
pub(crate) use whole::ItemsRoom;
pub use whole::TreeVisitor;

/// A tree of containers in a snapshot. Made by [`Snapshot::tree`].
///
/// ```
/// use annals::{Item, Repository, TreePath};
/// # fn main() -> annals::Result<()> {
/// let repository = Repository::in_memory();
/// let path = TreePath::parse("/system/clock")?;
/// repository.transact(|t| t.tree().merge(&path, &Item::new().property("zone", "UTC")))?;
/// let snapshot = repository.snapshot();
/// let zone = snapshot.tree().item(&TreePath::parse("/system/clock/zone")?)?.unwrap();
/// assert_eq!(zone.value().unwrap().as_str(), Some("UTC"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Tree<'s> {
    snapshot: &'s Snapshot,
    /// Slot of the entity that paths start from; `None` if the snapshot sees none.
    root: Option<u32>,
}

impl Snapshot {
    /// The tree below the entity with the id `root`.
    pub fn tree(&self) -> Tree<'_> {
        self.tree_below(&Id::root())
    }

    /// The tree below another entity. Shape: without items if this snapshot does not see the entity.
    pub fn tree_below(&self, root: &Id) -> Tree<'_> {
        let root = self.slot_known(TypeKind::Entity, root);
        let root = root.filter(|slot| self.walks_live(TypeKind::Entity, *slot));
        Tree { snapshot: self, root }
    }

    /// The tree below an entity that exists or existed, at any time.
    pub(super) fn tree_ever(&self, root: &Id) -> Tree<'_> {
        let table = &self.graph().entities;
        let root = table.slot(root).or_else(|| table.former_ids.slot(root));
        Tree { snapshot: self, root: root.filter(|slot| self.walks(TypeKind::Entity, *slot)) }
    }
}
