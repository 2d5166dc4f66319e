//! The state of the server.

use annals_json::named_forms;
use annals_json::wire::{ByName, NamedForm, True};
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![Index, Live, Ready, Metrics, OpenApi]
}

/// The addresses to start from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = json!({ "name": "annals", "openapi": "/openapi.json" }))]
pub struct Index(pub ByName<TextOrFlag>);

// A text or a boolean.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = text_or_flag)]
pub enum TextOrFlag {
    Text(String),
    Flag(bool),
}

fn text_or_flag(schema: &mut Schema) {
    *schema = json_schema!({ "type": ["string", "boolean"] });
}

/// The process runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "live": true }))]
pub struct Live {
    pub live: True,
}

/// The server answers reads and writes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "ready": true, "position": 42, "readOnly": false, "writeFailure": null, "warnings": [],
}))]
pub struct Ready {
    pub ready: bool,
    pub position: u64,
    /// True if writes go to another server.
    pub read_only: bool,
    pub write_failure: Option<String>,
    pub warnings: Vec<String>,
}

/// Lines of the text format of Prometheus.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = &"annals_position 42\n")]
pub struct Metrics(pub String);

/// An OpenAPI document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = json!({ "openapi": "3.1.0" }))]
pub struct OpenApi(pub Map<String, Json>);
