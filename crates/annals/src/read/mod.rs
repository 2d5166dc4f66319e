//! Reading: snapshots and their methods.

// In the order a newcomer should read them.
mod lookup;
mod snapshot;
mod compare;
mod content;
mod cursor;
mod entities_of;
mod find;
mod instance;
mod nearest;
mod operators;
mod neighbors;
mod past;
mod recent;
mod relationships;
mod source;
mod stored;
mod types;
mod declared;
mod version;
mod walk;
pub(crate) mod tree;
mod versions;
mod held;
pub(crate) mod taken_along;
mod logged;
mod touched;
mod watch;

pub use compare::{Changes, ClassificationDifference, Difference, InstanceChange, PropertyDifference};
pub use entities_of::EntitiesOf;
pub use find::Explanation;
pub use instance::{ClassificationRef, Entity, Name, Relationship};
pub use logged::query::{LogPlace, LogQuery};
pub use logged::{LogPage, LoggedChange, LoggedInstance, LoggedRecord};
pub use neighbors::{Entities, Neighbor, Neighbors};
pub use operators::page::Page;
pub use relationships::RelationshipsOf;
pub use snapshot::{AsOf, Snapshot};
pub(crate) use source::{Pending, Source};
pub(crate) use tree::{ChildName, ChildSlot, ItemsRoom, Target};
pub use tree::{ListOptions, PathPlan, Tree, TreeChange, TreeChangeKind, TreeItem, TreeVisitor};
pub use types::{TypeDifference, TypeMatch};
pub use versions::{History, VersionInfo};
pub use walk::*;
pub use watch::{Watch, WatchedChange};
