//! The whole content of an instance after a change.

use std::sync::Arc;

use super::stamp::Stamp;
use super::{ClassificationContent, Value};

/// The whole content of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anchor {
    /// All properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// All classifications (entities only).
    pub classifications: Vec<AnchoredClassification>,
}

/// A classification with its whole header.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchoredClassification {
    /// Name and properties.
    pub content: ClassificationContent,
    /// Its version number.
    pub version: u32,
    /// Instant and author of its first version.
    pub created: Stamp,
    /// Instant and author of its latest version.
    pub updated: Stamp,
}
