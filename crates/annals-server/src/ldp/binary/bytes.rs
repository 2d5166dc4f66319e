//! The content of a binary.

use std::sync::Arc;

use annals::{Content, Entity, Value};

/// The property that holds the content of a binary; the JSON door reads it under the same name.
pub const CONTENT: &str = "content";

/// The content of a binary.
pub fn content_of(entity: &Entity<'_>) -> Option<Arc<Content>> {
    match entity.property(CONTENT) {
        Some(Value::Content(content)) => Some(content),
        _ => None,
    }
}
