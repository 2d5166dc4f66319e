//! Parameters of walks: from `s` to `t` there is a short road over `x`, and a longer railway over `y` and `z`.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, count, items, lists};
use crate::support::Answer;

pub fn check(door: &mut Door) {
    build(door);
    for walk in &WALKS {
        filter(door, walk);
        bound(door, walk);
    }
    counted(door);
    let between = ["linking", "path", "paths", "shared"].map(|name| format!("/v1/{name}"));
    for target in &between {
        for (name, value, other) in [("from", "s", "to=t"), ("to", "t", "from=s")] {
            let request = Request::get(&format!("{target}?{other}&depthMax=3"));
            door.compare(&request, name, value, |without, with| without.status == 400 && has(with, "x"));
        }
    }
    for target in
        ["entities/s/neighborhood?depthMax=9", "entities/s/reach", "linking?from=s&to=t", "path?from=s&to=t"]
            .into_iter()
            .chain(["paths?from=s&to=t"])
    {
        let request = Request::get(&format!("/v1/{target}"));
        door.compare(&request, "format", "dot", |without, with| {
            without.body.starts_with('{') && with.body.starts_with("digraph")
        });
    }
    for target in ["entities/s/neighborhood?depthMax=9", "entities/s/reach", "entities/s/related"]
        .into_iter()
        .chain(["linking?from=s&to=t", "shared?from=s&to=t&depthMax=3"])
    {
        door.pages(&Request::get(&format!("/v1/{target}")));
    }
    arrange(door);
}

/// One walk: its request, and the most steps, with an entity that is seen or not seen
/// without and with them.
struct Walk {
    target: &'static str,
    depth_max: (&'static str, &'static str, [bool; 2]),
}

const WALKS: [Walk; 8] = [
    walk("entities/s/reach", ("1", "z", [true, false])),
    walk("entities/s/reach/groups?groupBy=name", ("1", "z", [true, false])),
    walk("entities/s/related", ("1", "z", [true, false])),
    walk("entities/s/neighborhood", ("9", "z", [false, true])),
    walk("linking?from=s&to=t", ("2", "z", [true, false])),
    walk("path?from=s&to=t", ("1", "x", [true, false])),
    walk("paths?from=s&to=t", ("2", "z", [true, false])),
    walk("shared?from=s&to=t", ("3", "z", [false, true])),
];

const fn walk(target: &'static str, depth_max: (&'static str, &'static str, [bool; 2])) -> Walk {
    Walk { target, depth_max }
}

/// Entities of one colour, classification and status, and their relationships; only `x` and its roads differ.
pub fn build(door: &Door) {
    let seal = json!([{ "name": "seal" }]);
    for (id, kind, colour, status, classifications) in [
        ("s", "stop", "blue", "active", seal.clone()),
        ("x", "site", "red", "stable", json!([])),
        ("t", "stop", "blue", "active", seal.clone()),
        ("y", "stop", "blue", "active", seal.clone()),
        ("z", "stop", "blue", "active", seal),
    ] {
        let properties = json!({ "name": id, "colour": colour });
        let entity = json!({
            "id": id, "type": kind, "status": status, "properties": properties, "classifications": classifications,
        });
        door.tell("POST", "/v1/entities", entity);
    }
    for (id, kind, from, to, km, status) in [
        ("r1", "road", "s", "x", 9, "stable"),
        ("r2", "road", "x", "t", 9, "stable"),
        ("q1", "rail", "s", "y", 1, "active"),
        ("q2", "rail", "y", "z", 1, "active"),
        ("q3", "rail", "z", "t", 1, "active"),
    ] {
        let relationship = json!({
            "id": id, "type": kind, "from": from, "to": to, "status": status, "properties": { "km": km },
        });
        door.tell("POST", "/v1/relationships", relationship);
    }
}

/// True if an answer shows this entity, or a group of its name.
pub fn has(answer: &Answer, id: &str) -> bool {
    let forms = [format!("\"id\":\"{id}\""), format!("\"value\":\"{id}\"")];
    answer.status == 200 && forms.iter().any(|form| answer.body.contains(form))
}

/// The walk, deep enough to come to `y` and to `z`.
fn deep(walk: &Walk) -> Request {
    let request = Request::get(&format!("/v1/{}", walk.target));
    if walk.depth_max.2[1] { request.query("depthMax", walk.depth_max.0) } else { request }
}

/// The number has no names, so that the walk leaves out as many as the parameter says.
fn counted(door: &mut Door) {
    let request = Request::get("/v1/entities/s/reach/count");
    let counts = |answer: &Answer| answer.json()["count"].as_u64();
    for (name, value, expected) in [
        ("type", "rail", 3),
        ("entityType", "stop", 3),
        ("classified", "seal", 3),
        ("entityWhere", "colour != red", 3),
        ("relationshipWhere", "{\"property\": \"km\", \"operator\": \"<\", \"value\": 5}", 3),
        ("status", "active", 3),
        ("direction", "in", 0),
        ("depthMax", "1", 2),
        ("depthMin", "2", 2),
    ] {
        door.compare(&request, name, value, |without, with| {
            counts(without) == Some(4) && counts(with) == Some(expected)
        });
    }
    door.statuses(&request, "visitedMax", "2", [200, 413]);
}

fn filter(door: &mut Door, walk: &Walk) {
    for (name, value) in [
        ("type", "rail"),
        ("entityType", "stop"),
        ("classified", "seal"),
        ("entityWhere", "colour != red"),
        ("relationshipWhere", "km < 5"),
        ("status", "active"),
    ] {
        let leaves_out =
            |without: &Answer, with: &Answer| has(without, "x") && !has(with, "x") && has(with, "y");
        door.compare(&deep(walk), name, value, leaves_out);
    }
    door.compare(&deep(walk), "direction", "in", |without, with| {
        has(without, "x") && with.status == 200 && !has(with, "x")
    });
}

fn bound(door: &mut Door, walk: &Walk) {
    let nearer = |without: &Answer, with: &Answer| has(without, "x") && with.status == 200 && !has(with, "x");
    // Between two entities, none is too near to the start.
    if lists(&deep(walk).operation(), "depthMin") {
        door.compare(&deep(walk), "depthMin", "2", nearer);
    }
    let (depth, id, expected) = walk.depth_max;
    let request = Request::get(&format!("/v1/{}", walk.target));
    door.compare(&request, "depthMax", depth, |without, with| {
        with.status == 200 && [has(without, id), has(with, id)] == expected
    });
    door.compare(&deep(walk), "visitedMax", "1", |without, with| {
        without.status == 200 && with.status >= 400 && with.problem() == "too-large"
    });
}

/// The first item of an answer.
fn first(answer: &Answer) -> String {
    items(answer).first().map(Json::to_string).unwrap_or_default()
}

fn arrange(door: &mut Door) {
    let groups = Request::get("/v1/entities/s/reach/groups?groupBy=name");
    door.compare(&groups, "limit", "1", |without, with| {
        let shown = |answer: &Answer| ["x", "y", "z"].iter().filter(|id| has(answer, id)).count();
        with.status == 200 && shown(without) == 3 && shown(with) < 3
    });
    let groups = Request::get("/v1/entities/s/reach/groups");
    door.compare(&groups, "groupBy", "name", |without, with| without.status == 400 && has(with, "x"));
    let paths = Request::get("/v1/paths?from=s&to=t");
    door.compare(&paths, "limit", "1", |without, with| [count(without), count(with)] == [2, 1]);
    door.compare(&paths, "weight", "km", |without, with| {
        first(without).contains("\"id\":\"x\"") && first(with).contains("\"id\":\"y\"")
    });
    let related = Request::get("/v1/entities/s/related");
    door.compare(&related, "orderBy", "-name", |without, with| {
        first(without).contains("\"id\":\"x\"") && first(with).contains("\"id\":\"z\"")
    });
    door.compare(&related, "count", "true", |without, with| {
        without.json().get("count").is_none_or(Json::is_null) && with.json()["count"] == 4
    });
}
