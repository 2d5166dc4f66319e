//! Parameters of every read: it shows an earlier position or instant, an earlier truth, or a candidate.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, lists};
use crate::support::Answer;

/// The reads. Where an edit of the candidate does not concern the first target, the second one shows the edit.
const READS: [(&str, &str); 36] = [
    ("entities/a", ""),
    ("entities/a/summary", ""),
    ("entities/a/classifications/mark", ""),
    ("entities/a/history", ""),
    ("entities/a/versions/3", "entities/a/versions/7"),
    ("entities/a/diff?from=1&to=3", "entities/a/diff?from=1&to=7"),
    ("entities/a/neighbors", ""),
    ("entities/a/degree", ""),
    ("entities/a/relationships", ""),
    ("entities/a/neighborhood", ""),
    ("entities/a/related", ""),
    ("entities/a/reach", ""),
    ("entities/a/reach/count", ""),
    ("entities/a/reach/groups?groupBy=n", ""),
    ("relationships/r", ""),
    ("relationships/r/history", ""),
    ("relationships/r/versions/3", "relationships/r/versions/4"),
    ("relationships/r/diff?from=1&to=3", "relationships/r/diff?from=1&to=4"),
    ("linking?from=a&to=b", ""),
    ("path?from=a&to=b", ""),
    ("paths?from=a&to=b", ""),
    ("shared?from=a&to=b", ""),
    ("entities", ""),
    ("entities?groupBy=n", ""),
    ("relationships", ""),
    ("complete?q=n%20%3D%20", ""),
    ("content/a", ""),
    ("types", ""),
    ("types/entity/thing", ""),
    ("types/verify", ""),
    ("tree/config", ""),
    ("tree-list/config", ""),
    ("tree-find//n", ""),
    ("tree-explain/config/other[name='x']", ""),
    ("export", ""),
    ("export?history=true", ""),
];

pub fn check(door: &mut Door) {
    door.walk(BEGINNING, &[]);
    let [position, instant] = ["{position}", "{instant}"].map(|name| door.filled(name));
    let past: Vec<Answer> = READS.iter().map(|(target, _)| door.ask(&read(target))).collect();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let [before, after] = ATTRIBUTES;
    let change = [
        ("query", "?validFrom=2020"),
        ("timeless", ""),
        ("n", "3"),
        ("list", "entry"),
        ("attributes", before),
    ];
    door.walk(CHANGES, &change);
    door.walk("for name: empty | night\nPOST /v1/candidates {\"name\": \"{name}\"}", &[]);
    let [query, timeless] = ["query", "timeless"].map(|name| (name, "?candidate=night"));
    door.walk(CHANGES, &[query, timeless, ("n", "5"), ("list", "other"), ("attributes", after)]);
    for ((target, edited), past) in READS.into_iter().zip(past) {
        let request = read(target);
        let operation = request.operation();
        let is_history = target.contains("history=true");
        for (name, value) in [("atPosition", &position), ("at", &instant)] {
            // The history of all records has no other instant.
            if lists(&operation, name) && !(is_history && name == "at") {
                door.compare(&request, name, value, |present, found| {
                    !is_equal(present, &past) && is_equal(found, &past)
                });
            }
        }
        if lists(&operation, "validAt") && !is_history {
            door.compare(&request, "validAt", "2010", |present, found| {
                then_true(present) != then_true(&past) && then_true(found) == then_true(&past)
            });
        }
        if lists(&operation, "candidate") && !is_history {
            let request = if edited.is_empty() { request.clone() } else { read(edited) };
            let empty = door.send_with(&request, "candidate", "empty");
            door.compare(&request, "candidate", "night", |present, edited| {
                is_equal(present, &empty) && edited.status == 200 && !is_equal(present, edited)
            });
        }
        door.waits(&request);
    }
    // The size of the log is always that of now.
    let stats = Request::get("/v1/stats");
    let total = |answer: &Answer| answer.json()["entities"]["total"].as_u64().unwrap();
    for (name, value) in [("atPosition", "1"), ("at", "2001-01-01"), ("validAt", "2001-01-01")] {
        door.compare(&stats, name, value, |without, with| total(without) > total(with));
    }
    door.compare(&stats, "candidate", "night", |without, with| total(without) < total(with));
    door.waits(&stats);
    for target in ["entities/a", "relationships/r", "content/a"] {
        let request = read(target);
        let tag = door.send(&request).header("etag").unwrap().to_owned();
        door.statuses(&request, "if-none-match", &tag, [200, 304]);
    }
}

/// True if both answers show the same, or neither shows anything.
fn is_equal(one: &Answer, other: &Answer) -> bool {
    one.status == other.status && (one.status != 200 || one.body == other.body)
}

/// The parts of an answer that a valid time concerns. A version knows that there are later ones, types are true at any
/// time, and a history shows which version is in force.
fn then_true(answer: &Answer) -> Vec<Json> {
    fn without_latest(json: &mut Json) {
        match json {
            Json::Object(members) => {
                members.remove("latestVersion");
                members.values_mut().for_each(without_latest);
            }
            Json::Array(parts) => parts.iter_mut().for_each(without_latest),
            _ => {}
        }
    }
    let parsed = answer.body.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| json!(line)));
    let of_instances = parsed.filter(|line: &Json| line.get("type").is_none_or(Json::is_string));
    let in_force = |line: Json| {
        let mut versions = line["items"].as_array().into_iter().flatten();
        versions.find(|version| version["inForce"] == true).cloned().unwrap_or(line)
    };
    let mut shown: Vec<Json> = of_instances.map(in_force).collect();
    shown.iter_mut().for_each(without_latest);
    shown
}

fn read(target: &str) -> Request {
    let target = format!("/v1/{target}");
    let verified =
        json!({ "kind": "entity", "name": "thing", "attributes": [{ "name": "m3", "type": "string" }] });
    if target.ends_with("verify") { Request::tell("POST", &target, verified) } else { Request::get(&target) }
}

/// A small graph, true since 2001.
const BEGINNING: &str = r#"
POST /v1/types {"types": [{"kind": "entity", "name": "thing"}]}

for one: a | b
POST /v1/entities?validFrom=2001 {"id": "{one}", "type": "thing", "properties": {"n": 1}, "classifications": [{"name": "mark", "properties": {"level": 1}}]}

PUT /v1/content/a?validFrom=2001 {octets} old
POST /v1/relationships?validFrom=2001 {"id": "r", "type": "link", "from": "a", "to": "b", "properties": {"n": 1}}
PATCH /v1/relationships/r?validFrom=2001 {"n": 2}
PUT /v1/tree/config?validFrom=2001 {"n": 1}
    position := /position
    instant := /instant
"#;

/// Changes of everything; with `n` they differ from others. Types are valid at any time.
const CHANGES: &str = r#"
PATCH /v1/entities/a{query} {"n": {n}}
PUT /v1/entities/a/classifications/mark{query} {"properties": {"level": {n}}}
PUT /v1/content/a{query} {octets} bytes {n}
PUT /v1/entities/a/classifications/seal{n}{query} {}
PATCH /v1/relationships/r{query} {"n": {n}}
POST /v1/entities{query} {"id": "d{n}", "type": "thing", "properties": {"n": {n}}}
POST /v1/relationships{query} {"type": "link", "from": "a", "to": "d{n}"}
POST /v1/relationships{query} {"type": "link", "from": "d{n}", "to": "b"}
PUT /v1/tree/config{query} {"n": {n}, "below": {"n": {n}}}
POST /v1/types{timeless} {"types": [{"kind": "entity", "name": "{list}", "attributes": [{"name": "name", "type": "string", "key": true}]}, \
    {"kind": "entity", "name": "thing", "attributes": [{attributes}]}]}
"#;

/// Attributes of the type after the changes. A declaration names the attributes that are there.
const ATTRIBUTES: [&str; 2] = [
    r#"{"name": "m3", "type": "string"}"#,
    r#"{"name": "m3", "type": "string"}, {"name": "m5", "type": "string"}"#,
];
