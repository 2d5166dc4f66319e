//! The state of the server.

use annals_json::named_forms;
use annals_json::wire::{ByName, Instant, OrNull, True, form};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value as Json, json};

named_forms![Index, Live, Ready, Metrics, OpenApi, Stats, CheckReport, Compaction, Whoami];

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
#[schemars(example = json!({ "live": true, "id": "01890a5d-ac96-774b-bcce-b302099a8057" }))]
pub struct Live {
    pub live: True,
    /// The id of this run of the server.
    pub id: String,
    /// The answer to the challenge.
    pub proof: Option<String>,
}

/// The server answers reads and writes.
#[form]
#[schemars(example = json!({
    "ready": true, "position": 42, "readOnly": false, "writeFailure": null, "warnings": [],
}))]
pub struct Ready {
    pub ready: bool,
    pub position: Option<u64>,
    /// True if writes go to another server.
    pub read_only: Option<bool>,
    pub write_failure: OrNull<String>,
    pub warnings: Option<Vec<String>>,
    /// While another one writes to its log: the seconds since it showed every record of the log.
    pub age_seconds: Option<f64>,
    /// While another one writes to its log: why it cannot read on.
    pub problem: Option<String>,
    /// On a log in a store: `writer`, `standby` or `follower`.
    pub role: Option<String>,
    /// The term of the writer.
    pub term: Option<u64>,
    /// The address of the writer, if it tells one.
    pub writer: Option<String>,
    /// Records that the writer has told of, and that are not visible here.
    pub lag: Option<u64>,
    /// Why the lease cannot be read or renewed.
    pub lease_problem: Option<String>,
}

/// The counts of the repository, by type without subtypes, and its size.
#[form]
#[schemars(example = json!({
    "position": 42, "instant": "2025-08-09T10:00:00Z", "types": 1, "logBytes": 4096,
    "entities": { "total": 2, "byType": { "package": 2 } },
    "relationships": { "total": 1, "byType": { "depends": 1 } },
    "classifications": { "total": 0, "byType": {} },
}))]
pub struct Stats {
    pub position: u64,
    /// When its record was committed; null before the first one.
    pub instant: OrNull<Instant>,
    /// Number of declared types.
    pub types: u64,
    /// Size of the log now.
    pub log_bytes: u64,
    pub entities: CountsByType,
    pub relationships: CountsByType,
    pub classifications: CountsByType,
}

// A number, and its parts by type.
#[form(inline)]
pub struct CountsByType {
    pub total: u64,
    pub by_type: ByName<u64>,
}

/// A comparison of the graph with its log.
#[form]
#[schemars(example = json!({
    "position": 42, "records": 42, "entities": 2, "relationships": 1, "differences": [], "warnings": [],
}))]
pub struct CheckReport {
    pub position: u64,
    /// Number of records in the log.
    pub records: u64,
    /// Number of entities compared, deleted ones too.
    pub entities: u64,
    /// Number of relationships compared, deleted ones too.
    pub relationships: u64,
    /// Each difference between the graph in use and the one from the log.
    pub differences: Vec<String>,
    /// Repairs, and missing parts, that were found when the repository was opened.
    pub warnings: Vec<String>,
}

/// The client of a request, as the server knows it.
#[form]
#[schemars(example = json!({
    "name": "ada", "roles": ["write"], "verbs": ["read", "create"], "proof": "token", "until": "2027-01-01T00:00:00Z",
}))]
pub struct Whoami {
    /// The author of all that the client writes; empty for anyone.
    pub name: String,
    pub roles: Vec<String>,
    /// The verbs that the roles give.
    pub verbs: Vec<String>,
    /// How the name was proven: `token`, `certificate`, `oidc`, `proxy`; `anyone` if the server asks for no credentials.
    pub proof: String,
    /// From when on the credential does not count.
    pub until: Option<String>,
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
