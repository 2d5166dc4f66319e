//! Parameters of searches, of the list of types and of the log.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, count, ids, items, shows};

pub fn check(door: &mut Door) {
    build(door);
    for plural in ["entities", "relationships"] {
        find(door, plural);
    }
    door.compare(&Request::get("/v1/entities"), "classified", "mark", |without, with| {
        ids(without) == ["a", "b", "c"] && ids(with) == ["b"]
    });
    door.compare(&Request::get("/v1/entities"), "proxies", "with", |without, with| {
        !shows(without, "far") && shows(with, "far")
    });
    door.tell("POST", "/v1/candidates", json!({ "name": "draft" }));
    door.tell("POST", "/v1/entities?candidate=draft", json!({ "id": "e", "type": "t" }));
    for path in ["find", "count", "explain"] {
        let request = Request::tell("POST", &format!("/v1/{path}"), json!({ "type": "t" }));
        door.waits(&request);
        door.compare(&request, "candidate", "draft", |without, with| {
            with.status == 200 && without.body != with.body
        });
    }
    types(door);
    log(door);
}

/// Three instances of each kind, and a deleted one, and a proxy.
fn build(door: &Door) {
    for (plural, more) in [("entities", json!({})), ("relationships", json!({ "from": "a", "to": "b" }))] {
        for (id, of, n, status) in [
            ("a", "t", 1, "active"),
            ("b", "t", 2, "active"),
            ("c", "u", 3, "stable"),
            ("d", "t", 4, "active"),
        ] {
            let mut new = json!({ "id": id, "type": of, "status": status, "properties": { "n": n } });
            new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            door.tell("POST", &format!("/v1/{plural}"), new);
        }
        door.tell("DELETE", &format!("/v1/{plural}/d"), Json::Null);
    }
    door.tell("PUT", "/v1/entities/b/classifications/mark", json!({}));
    let stamp = json!({ "instant": "2020-01-01T00:00:00Z", "author": "bob" });
    let copy = json!({
        "type": "t", "home": "there", "version": 1, "created": stamp, "updated": stamp, "from": "a", "to": "far",
        "proxies": [{ "id": "far", "type": "t", "home": "there" }],
    });
    door.tell("PUT", "/v1/collection", json!({ "collection": "here" }));
    door.tell("PUT", "/v1/relationships/way/copy", copy);
    door.tell("DELETE", "/v1/relationships/way/copy?home=there", Json::Null);
}

fn find(door: &mut Door, plural: &str) {
    let request = Request::get(&format!("/v1/{plural}"));
    for (name, value, expected) in [
        ("q", "t where n = 2", &["b"][..]),
        ("type", "u", &["c"]),
        ("where", "n > 1", &["b", "c"]),
        ("status", "stable", &["c"]),
        ("deleted", "only", &["d"]),
        ("orderBy", "-n", &["c", "b", "a"]),
        ("offset", "1", &["b", "c"]),
    ] {
        door.compare(&request, name, value, |without, with| {
            ids(without) == ["a", "b", "c"] && ids(with) == expected
        });
    }
    door.pages(&request);
}

fn types(door: &mut Door) {
    let types = json!([
        { "kind": "entity", "name": "thing", "externalId": "x7" },
        { "kind": "enum", "name": "colour", "elements": [{ "ordinal": 0, "name": "red" }] },
    ]);
    door.tell("POST", "/v1/types", json!({ "types": types }));
    for (name, value, expected) in [("kind", "enum", "colour"), ("externalId", "x7", "thing")] {
        door.compare(&Request::get("/v1/types"), name, value, |without, with| {
            count(without) == 2 && count(with) == 1 && items(with)[0]["name"] == expected
        });
    }
}

fn log(door: &mut Door) {
    let patch = Request::tell("PATCH", "/v1/entities/a", json!({ "n": 9 }));
    let signed = door.send(&patch.header("annals-author", "ada"));
    let log = Request::get("/v1/log");
    let written = signed.json()["updated"]["instant"].as_str().unwrap().to_owned();
    let changes = |answer: &crate::support::Answer| -> Vec<Json> {
        let all = items(answer).into_iter();
        all.flat_map(|record| record["changes"].as_array().cloned().unwrap_or_default()).collect()
    };
    for (name, value, member, expected) in [
        ("type", "u", "type", "u"),
        ("id", "b", "id", "b"),
        ("kind", "relationship", "kind", "relationship"),
        ("verb", "delete", "action", "delete"),
    ] {
        door.compare(&log, name, value, |without, with| {
            let is_it = |change: &Json| change[member] == expected;
            !changes(without).iter().all(is_it)
                && !changes(with).is_empty()
                && changes(with).iter().all(is_it)
        });
    }
    let authors = |answer: &crate::support::Answer| -> Vec<Json> {
        items(answer).iter().map(|record| record["author"].clone()).collect()
    };
    door.compare(&log, "author", "ada", |without, with| {
        authors(without).len() > 1 && authors(with) == ["ada"]
    });
    door.compare(&log, "since", &written, |without, with| {
        authors(without).len() > 1 && authors(with) == ["ada"]
    });
    door.compare(&log, "until", &written, |without, with| {
        authors(without).contains(&json!("ada")) && count(with) > 0 && !authors(with).contains(&json!("ada"))
    });
    door.compare(&log, "order", "oldest-first", |without, with| {
        let mut turned = items(without);
        turned.reverse();
        count(without) > 1 && items(with) == turned
    });
    door.pages(&log);
}
