//! Reading: snapshots and their methods.

// In the order a newcomer should read them. Each room, a folder, imports only the rooms before it.
mod snapshot;
mod lookup;
mod instance;
mod entities_of;
mod types;
mod source;
mod past;
mod operators;
mod sight;
mod find;
mod neighbors;
mod relationships;
mod walk;
pub(crate) mod tree;
mod logged;
mod watch;
mod cursor;
mod nearest;
mod stored;
mod declared;
mod held_contents;
pub(crate) mod taken_along;

#[cfg(test)]
mod tests;

pub use cursor::cursor_position;
pub use entities_of::EntitiesOf;
pub use find::{CompletionKind, Completions, Explanation};
pub use instance::{ClassificationRef, Entity, Name, Relationship};
pub use logged::query::{LogPlace, LogQuery};
pub use logged::{LogPage, LoggedChange, LoggedInstance, LoggedRecord};
pub use nearest::nearest as nearest_name;
pub use neighbors::{Entities, Neighbor, Neighbors};
pub use operators::grouper::{FoundGroup, FoundGroups, GROUPS_MAX};
pub use operators::page::Page;
pub use past::compare::{Changes, ClassificationDifference, Difference, InstanceChange, PropertyDifference};
pub(crate) use past::earlier_edits::without_earlier_edits;
pub use past::versions::{History, VersionInfo};
pub(crate) use past::without_purged::WithoutPurged;
pub use relationships::RelationshipsOf;
pub(crate) use sight::hidden;
pub use sight::{GRANTS_MAX, Grant, Right, Rights, Sight};
pub(crate) use snapshot::future_instant;
pub use snapshot::{AsOf, Snapshot};
pub(crate) use source::{Pending, Source};
pub(crate) use tree::{ChildName, ChildSlot, ItemsRoom, PathTarget};
pub use tree::{
    ListOptions, PathPlan, SubtreeState, Tree, TreeChange, TreeChangeKind, TreeItem, TreeVisitor,
};
pub use types::{TypeDifference, TypeMatch};
pub use walk::*;
pub(crate) use watch::WatchedChanges;
pub use watch::{Watch, WatchedChange};
