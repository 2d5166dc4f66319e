//! The feed: server-sent events.

use annals_json::named_forms;
use annals_json::wire::{ChangeEvent, FeedEvent, NamedForm, feed_event_example, one_of};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::Problem;

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![Feed]
}

/// Server-sent events, with comments and `retry` between them. An event `error` is the last one; its `data` is a
/// problem document.
// The stream is a text; `contentSchema` says what it is once its media type is decoded (JSON Schema 2020-12, section 8).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(schema_with = "feed", example = format!("id: 42\ndata: {}\n\n", feed_event_example()))]
pub struct Feed(pub String);

fn feed(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "contentMediaType": "text/event-stream",
        "contentSchema": generator.subschema_for::<Vec<Message>>(),
    })
}

// One event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Message {
    /// The position of the record; for several records, that of the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<MessageKind>,
    #[schemars(schema_with = "data")]
    pub data: String,
}

// The kind of an event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum MessageKind {
    Message,
    Error,
}

fn data(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": generator.subschema_for::<Data>(),
    })
}

// The data of an event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = one_of)]
pub enum Data {
    Record(Box<FeedEvent>),
    Change(Box<ChangeEvent>),
    Problem(Box<Problem>),
}
