//! The feed: server-sent events.

use annals_json::named_forms;
use annals_json::wire::{ChangeEvent, FeedEvent, feed_event_example, form, one_of};
use schemars::{Schema, SchemaGenerator, json_schema};

use super::Problem;

named_forms![Feed];

/// Server-sent events, with comments and `retry` between them. An event `error` is the last one; its `data` is a
/// problem document.
// The stream is a text; `contentSchema` says what it is once its media type is decoded (JSON Schema 2020-12, section 8).
#[form]
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
#[form(inline)]
pub struct Message {
    /// The position of the record; for several records, that of the last.
    pub id: Option<String>,
    pub event: Option<MessageKind>,
    #[schemars(schema_with = "data")]
    pub data: String,
}

// The kind of an event.
#[form(inline)]
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
#[form(inline)]
#[schemars(transform = one_of)]
pub enum Data {
    Record(Box<FeedEvent>),
    Change(Box<ChangeEvent>),
    Problem(Box<Problem>),
}
