//! Candidates as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schema::{instant, list, number, object, page_of, partial, reference, text};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let stamp = object(json!({ "instant": instant(), "author": text() }));
    let unconfirmed = partial(
        &["position", "confirmBefore"],
        json!({ "position": number(), "confirmBefore": instant(), "failure": text() }),
    );
    let candidate = partial(
        &["name", "base", "changes", "created", "updated"],
        json!({
            "name": text(), "base": number(), "changes": number(), "created": stamp.clone(), "updated": stamp,
            "unconfirmed": unconfirmed,
        }),
    );
    let written = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    let candidate_example =
        json!({ "name": "maintenance", "base": 17, "changes": 3, "created": written, "updated": written });
    let conflict = partial(
        &["edit", "action", "reason", "detail"],
        json!({
            "edit": number(), "action": text(), "kind": text(), "id": text(), "reason": text(), "detail": text(),
        }),
    );
    let conflict_example = json!({
        "edit": 0, "action": "update", "kind": "entity", "id": "eth0", "reason": "conflict",
        "detail": "entity eth0 was changed at position 18, after the base 17",
    });
    let keep = json!({ "type": "string", "enum": ["mine", "theirs"] });
    vec![
        ("Candidate", candidate, candidate_example.clone()),
        (
            "CandidateList",
            object(json!({ "items": list(reference("Candidate")) })),
            json!({ "items": [candidate_example] }),
        ),
        ("CandidateName", object(json!({ "name": text() })), json!({ "name": "maintenance" })),
        (
            "CandidateEdits",
            page_of(reference("Operation"), false),
            json!({ "items": [{ "action": "delete", "kind": "entity", "id": "dash" }], "next": null }),
        ),
        (
            "CandidateConflicts",
            object(json!({ "items": list(conflict), "count": number() })),
            json!({ "items": [conflict_example], "count": 1 }),
        ),
        ("CandidateRebase", partial(&[], json!({ "keep": keep })), json!({ "keep": "mine" })),
        (
            "CandidateCommit",
            partial(&[], json!({ "confirmWithin": { "type": "string", "format": "duration" } })),
            json!({ "confirmWithin": "PT10M" }),
        ),
    ]
}
