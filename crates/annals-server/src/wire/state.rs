//! The state of the server.

use annals_json::named_forms;
use annals_json::wire::{ByName, OrNull, True, form};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value as Json, json};

named_forms![Index, Live, Ready, Metrics, OpenApi, Compaction];

/// The addresses to start from.
#[form]
#[schemars(example = json!({ "name": "annals", "openapi": "/openapi.json" }))]
pub struct Index(pub ByName<TextOrFlag>);

// A text or a boolean.
#[form(inline)]
#[schemars(transform = text_or_flag)]
pub enum TextOrFlag {
    Text(String),
    Flag(bool),
}

fn text_or_flag(schema: &mut Schema) {
    *schema = json_schema!({ "type": ["string", "boolean"] });
}

/// The process runs.
#[form]
#[schemars(example = json!({ "live": true }))]
pub struct Live {
    pub live: True,
}

/// The server answers reads and writes.
#[form]
#[schemars(example = json!({
    "ready": true, "position": 42, "readOnly": false, "writeFailure": null, "warnings": [],
}))]
pub struct Ready {
    pub ready: bool,
    pub position: u64,
    /// True if writes go to another server.
    pub read_only: bool,
    pub write_failure: OrNull<String>,
    pub warnings: Vec<String>,
}

/// The amounts that a compaction removed.
#[form]
#[schemars(example = json!({
    "segments": 1, "records": 2, "changes": 3, "contents": 1, "contentsBytes": 10_000, "bytesBefore": 5_000,
    "bytesAfter": 4_000,
}))]
pub struct Compaction {
    /// Number of rewritten segments of the log.
    pub segments: u64,
    /// Number of rewritten records.
    pub records: u64,
    /// Number of removed changes of purged instances.
    pub changes: u64,
    /// Number of removed contents, which no version names.
    pub contents: u64,
    pub contents_bytes: u64,
    /// Size of the log before.
    pub bytes_before: u64,
    /// Size of the log after.
    pub bytes_after: u64,
}

/// Lines of the text format of Prometheus.
#[form]
#[schemars(example = &"annals_position 42\n")]
pub struct Metrics(pub String);

/// An OpenAPI document.
#[form]
#[schemars(example = json!({ "openapi": "3.1.0" }))]
pub struct OpenApi(pub Map<String, Json>);
