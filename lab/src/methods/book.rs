//! The created instances, for comparing every search with a full scan.

use std::sync::Arc;

use annals::{Id, Value};

use super::values::Properties;

/// All instances of both kinds in the order of their creation, with their first content.
#[derive(Default)]
pub struct Book {
    pub entities: Vec<Kept>,
    pub relationships: Vec<Kept>,
}

/// One instance with its first content.
pub struct Kept {
    pub id: Id,
    /// Number of its type.
    pub type_number: usize,
    pub properties: Properties,
    /// The classifications of an entity, by name.
    pub classifications: Vec<(Arc<str>, Properties)>,
}

impl Kept {
    /// The value of a property.
    pub fn value(&self, name: &str) -> Option<&Value> {
        value(&self.properties, name)
    }
}

/// The value of a property among these.
pub fn value<'p>(properties: &'p Properties, name: &str) -> Option<&'p Value> {
    properties.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
}
