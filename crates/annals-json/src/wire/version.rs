//! Versions and their differences.

use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::{ByName, Instance, Instant, OrNull, ProvenanceKindName, Sides, Value};

named_forms![Version, Difference, TextDifference];

/// An entry of a history.
#[form]
#[schemars(example = version_example())]
pub struct Version {
    /// Its number, from 1.
    pub version: u64,
    /// Its number without the versions that changed only classifications, if it differs.
    pub content_version: Option<u64>,
    /// Number of the version it is based on; 0 for the first.
    pub base: u64,
    /// Position of the record that wrote it.
    pub position: u64,
    pub instant: Instant,
    pub author: String,
    pub message: String,
    pub valid_from: Instant,
    pub status: String,
    /// The verb of the change that made it.
    pub action: String,
    /// True if this is the version that the read sees.
    pub in_force: bool,
    /// The instance in this version, if requested.
    pub content: Option<Instance>,
    pub home: Option<String>,
    /// Its id then, if it has another one now.
    pub former_id: Option<String>,
    pub is_proxy: Option<bool>,
}

/// The differences between two versions. A missing side is null.
#[form]
#[schemars(example = json!({
    "status": { "before": "active", "after": "stable" },
    "type": { "before": "package", "after": "library" },
    "properties": { "size": { "before": 7, "after": 8 } },
    "classifications": [],
}))]
pub struct Difference {
    /// Null if both are equal.
    pub status: OrNull<TextDifference>,
    /// The different ones, by name.
    pub properties: ByName<Sides<Option<Value>>>,
    pub classifications: Vec<ClassificationDifference>,
    pub id: Option<TextDifference>,
    pub r#type: Option<TextDifference>,
    pub from: Option<TextDifference>,
    pub to: Option<TextDifference>,
    pub is_proxy: Option<Sides<bool>>,
    #[serde(flatten)]
    pub provenance: ProvenanceDifference,
}

// A different classification.
#[form(inline)]
pub struct ClassificationDifference {
    pub name: String,
    pub was_there: bool,
    pub is_there: bool,
    pub properties: ByName<Sides<Option<Value>>>,
    #[serde(flatten)]
    pub provenance: ProvenanceDifference,
}

// The different members of a provenance.
#[form(part)]
pub struct ProvenanceDifference {
    pub home: Option<Sides<Option<String>>>,
    pub provenance: Option<Sides<Option<ProvenanceKindName>>>,
    pub replicated_by: Option<Sides<Option<String>>>,
    pub license: Option<Sides<Option<String>>>,
    pub maintained_by: Option<Sides<Option<Vec<String>>>>,
    pub mappings: Option<Sides<Option<ByName<String>>>>,
    pub effective_from: Option<Sides<Option<Instant>>>,
    pub effective_to: Option<Sides<Option<Instant>>>,
    pub propagated_from: Option<Sides<Option<String>>>,
}

/// A text before and after.
#[form]
#[schemars(example = json!({ "before": "package", "after": "library" }))]
pub struct TextDifference {
    pub before: String,
    pub after: String,
}

/// A version.
pub fn version_example() -> Json {
    json!({
        "version": 2, "base": 1, "position": 43, "instant": "2025-08-10T10:00:00Z", "author": "ada",
        "message": "new release", "validFrom": "2025-08-10T10:00:00Z", "status": "active", "action": "update",
        "inForce": true,
    })
}
