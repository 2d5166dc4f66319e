//! The forms of the feed as schemas.

use serde_json::{Value as Json, json};

use super::schema::{instant, list, number, object, partial, reference, text};

/// The stream, its events and the records in them, each with an example.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let record_example = json!({
        "position": 42, "instant": "2025-08-09T10:00:00Z", "author": "ada", "message": "",
        "changes": [{ "action": "delete", "kind": "entity", "id": "bash" }],
    });
    let event_example = json!({
        "specversion": "1.0", "id": "42", "source": "urn:annals:library", "type": "annals.record",
        "time": "2025-08-09T10:00:00Z", "datacontenttype": "application/json", "data": record_example,
    });
    let changes_example = json!({
        "from": 41, "position": 42, "records": 1,
        "changes": [{ "path": "/interfaces/interface[name = 'eth1']", "id": "eth1", "change": "deleted" }],
    });
    let mut change_event_example = event_example.clone();
    change_event_example["type"] = "annals.change".into();
    change_event_example["data"] = changes_example.clone();
    let feed_example = format!("id: 42\ndata: {event_example}\n\n");
    vec![
        ("Record", record(), record_example),
        ("FeedEvent", event("annals.record", "Record"), event_example),
        ("WatchedChanges", changes(), changes_example),
        ("ChangeEvent", event("annals.change", "WatchedChanges"), change_event_example),
        ("Feed", feed(), feed_example.into()),
    ]
}

/// The stream is a text; `contentSchema` says what it is once its media type is decoded (JSON Schema 2020-12, section 8).
fn feed() -> Json {
    let data = json!({
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": { "anyOf": [reference("FeedEvent"), reference("ChangeEvent"), reference("Problem")] },
    });
    json!({
        "description": "Server-sent events; comments and `retry` between them. An event `error` is the last one; its \
            `data` is a problem document.",
        "type": "string",
        "contentMediaType": "text/event-stream",
        "contentSchema": list(partial(&["data"], json!({
            "id": { "type": "string", "description": "The position of the record, of several the last." },
            "event": { "type": "string", "enum": ["message", "error"] },
            "data": data,
        }))),
    })
}

/// Source: <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md>.
fn event(kind: &str, data: &str) -> Json {
    object(json!({
        "specversion": { "const": "1.0" },
        "id": text(),
        "source": { "type": "string", "format": "uri-reference" },
        "type": { "const": kind },
        "time": instant(),
        "datacontenttype": { "const": "application/json" },
        "data": reference(data),
    }))
}

/// What became of what is watched: of a tree in its order.
fn changes() -> Json {
    let change = json!({ "anyOf": [reference("TreeChange"), reference("InstanceChange")] });
    object(json!({ "from": number(), "position": number(), "records": number(), "changes": list(change) }))
}

fn record() -> Json {
    let change = json!({
        "description": "An operation in the form that docs/json.md describes, as it was done.",
        "type": "object",
        "properties": { "action": text(), "kind": { "type": "string", "enum": ["entity", "relationship"] }, "id": text(), "validFrom": instant() },
        "required": ["action"],
        "additionalProperties": true,
    });
    object(json!({
        "position": number(),
        "instant": instant(),
        "author": text(),
        "message": text(),
        "changes": list(change),
    }))
}
