//! The events of the feed, and the records in them.

use annals_json_form::form;
use serde_json::{Map, Value as Json, json};

use super::{InstanceChange, InstanceKind, Instant, TreeChange};

named_forms![Record, FeedEvent, WatchedChanges, ChangeEvent];

/// A committed record.
#[form]
#[schemars(example = record_example())]
pub struct Record {
    pub position: u64,
    pub instant: Instant,
    pub author: String,
    pub message: String,
    pub changes: Vec<RecordedChange>,
}

// The common members of operations in records; the other members depend on the action.
#[form(part)]
#[schemars(description = "An operation in the form that docs/json.md describes, as it was done.")]
pub struct RecordedChange {
    pub action: String,
    pub kind: Option<InstanceKind>,
    pub id: Option<String>,
    pub valid_from: Option<Instant>,
    #[serde(flatten)]
    pub more: Map<String, Json>,
}

// A CloudEvent.
// Source: <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md>.
#[form(inline)]
pub struct CloudEvent<Kind, Data> {
    pub specversion: SpecVersion,
    /// The position of the record; for several records, that of the last.
    pub id: String,
    #[schemars(extend("format" = "uri-reference"))]
    pub source: String,
    pub r#type: Kind,
    pub time: Instant,
    pub datacontenttype: JsonMediaType,
    pub data: Data,
}

word!(SpecVersion, "1.0");
word!(JsonMediaType, "application/json");
word!(RecordKind, "annals.record");
word!(ChangeKind, "annals.change");

/// An event with a record.
#[form]
#[schemars(example = event_example("annals.record", record_example()))]
pub struct FeedEvent(pub CloudEvent<RecordKind, Record>);

/// The changes of the watched part; for a tree, in its order.
#[form]
#[schemars(example = watched_example())]
pub struct WatchedChanges {
    /// The position before the first record.
    pub from: u64,
    /// The position of the last record.
    pub position: u64,
    /// Number of its records.
    pub records: u64,
    pub changes: Vec<WatchedChange>,
    /// True if the changes may not be all: read the watched part again, and go on from there.
    pub read_again: Option<bool>,
}

// The change of an item of a tree, or of an instance.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum WatchedChange {
    Tree(Box<TreeChange>),
    Instance(Box<InstanceChange>),
}

/// An event with the changes of the watched part.
#[form]
#[schemars(example = event_example("annals.change", watched_example()))]
pub struct ChangeEvent(pub CloudEvent<ChangeKind, WatchedChanges>);

/// An event with a record.
pub fn feed_event_example() -> Json {
    event_example("annals.record", record_example())
}

fn event_example(kind: &str, data: Json) -> Json {
    json!({
        "specversion": "1.0", "id": "42", "source": "urn:annals:2f1c3f0e-6d1b-4c38-9d5e-0a6f6c1b7d42", "type": kind,
        "time": "2025-08-09T10:00:00Z", "datacontenttype": "application/json", "data": data,
    })
}

fn record_example() -> Json {
    json!({
        "position": 42, "instant": "2025-08-09T10:00:00Z", "author": "ada", "message": "",
        "changes": [{ "action": "delete", "kind": "entity", "id": "bash" }],
    })
}

fn watched_example() -> Json {
    json!({
        "from": 41, "position": 42, "records": 1,
        "changes": [{ "path": "/interfaces/interface[name = 'eth1']", "id": "eth1", "change": "deleted" }],
    })
}
