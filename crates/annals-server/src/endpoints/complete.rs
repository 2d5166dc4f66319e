//! Completes the text of a search while a user types it.

use annals::{Completions, TypeKind};
use http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, count, query, text};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// So many completions, unless the request asks for another number.
const LIMIT: usize = 20;
/// Most completions of one answer.
const LIMIT_MAX: usize = 100;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let of = json!({ "type": "string", "enum": ["entities", "relationships"], "default": "entities" });
    vec![
        Endpoint::new(Method::GET, "/v1/complete", "Complete the text of a search", complete)
            .describe(
                "The types, properties, headers, values, and words of the language that may come at the cursor, as they are \
                 written in a search. Names that are declared nowhere, and values, come from a sample of what the search would \
                 find, and only of what the client may see. Empty if the text before the cursor is no beginning of a search.",
            )
            .tag("search")
            .takes([
                query("q", text(), "package where sec").says("The text, as far as it is typed."),
                query("cursor", count(), 17).says("The cursor, in characters from the begin of the text; default: its end."),
                query("of", of, "entities").says("What the search is for."),
                query("limit", json!({ "type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT }), 10)
                    .says("At most so many completions."),
            ])
            .takes(parameters::reading())
            .answers(200, "The completions: names, then values, then words.", "Completions")
            .fails(&["too-large", "cancelled", "not-found", "future-instant"]),
    ]
}

async fn complete(call: Box<Call>) -> Outcome {
    let text = call.query.get("q").unwrap_or_default().to_owned();
    let cursor = cursor(&text, call.query.number("cursor")?)?;
    let limit = call.query.number("limit")?.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::invalid(format!("limit: expected 1 to {LIMIT_MAX}, found {limit}")));
    }
    let kind = match call.query.get("of") {
        None | Some("entities") => TypeKind::Entity,
        Some("relationships") => TypeKind::Relationship,
        Some(other) => {
            return Err(Problem::invalid(format!("of: expected entities or relationships, found {other:?}")));
        }
    };
    call.read(Weight::Heavy, move |_, snapshot| {
        let found = snapshot.complete(kind, &text, cursor, limit)?;
        Ok(answer::json(StatusCode::OK, &json_of(&text, cursor, &found), snapshot.position()))
    })
    .await
}

/// The offset of a cursor. Units: characters to bytes.
fn cursor(text: &str, asked: Option<usize>) -> Result<usize, Problem> {
    let Some(asked) = asked else { return Ok(text.len()) };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.skip(asked).next().ok_or_else(|| {
        let count = text.chars().count();
        Problem::invalid(format!("cursor: expected at most the {count} characters of `q`, found {asked}"))
    })
}

fn json_of(text: &str, cursor: usize, found: &Completions) -> Json {
    let characters = |bytes: usize| text.get(..bytes).map_or(0, |before| before.chars().count());
    let items: Vec<Json> =
        found.items.iter().map(|(kind, text)| json!({ "kind": kind.name(), "text": text })).collect();
    json!({
        "from": characters(found.from),
        "to": characters(cursor),
        "items": items,
        "hasMore": found.has_more,
    })
}
