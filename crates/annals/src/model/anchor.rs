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
    /// The version number it has reached.
    pub version: u32,
    /// When and by whom it was attached.
    pub created: Stamp,
    /// When and by whom it was changed last.
    pub updated: Stamp,
}
