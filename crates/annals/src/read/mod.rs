//! Reading: snapshots and what can be asked of them.

// In the order a newcomer should read them.
#[rustfmt::skip]
mod snapshot;
mod compare;
mod cursor;
mod find;
mod instance;
mod many;
mod neighbors;
mod plan;
mod source;
mod traverse;
mod versions;

pub use compare::{ClassificationDifference, Difference, InstanceChange, PropertyDifference};
pub use find::{Condition, Find, Operator, Order, Page};
pub use instance::{ClassificationRef, Entity, Name, Relationship};
pub use neighbors::{Entities, Neighbor, Neighbors};
pub use snapshot::{AsOf, Snapshot};
pub(crate) use source::{Pending, Source};
pub use traverse::{Path, PathStep, Reach, Reached, VISITED_MAX};
pub use versions::VersionInfo;
