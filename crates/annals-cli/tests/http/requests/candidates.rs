//! Parameters of candidates, and of taking records back.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, ids};
use super::writing::check_write;
use crate::support::Answer;

pub fn check(door: &mut Door) {
    let at = |id: &str, rest: &str| format!("/v1/candidates/{id}{rest}");
    check_write(door, &|_, id| Request::tell("POST", "/v1/candidates", json!({ "name": id })));
    check_write(door, &|door, id| {
        open(door, id);
        Request::tell("DELETE", &at(id, ""), Json::Null)
    });
    check_write(door, &|door, id| {
        open(door, id);
        Request::tell("POST", &at(id, "/commit"), json!({}))
    });
    check_write(door, &|door, id| {
        open(door, id);
        door.tell("PATCH", &format!("/v1/entities/{id}"), json!({ "n": 3 }));
        Request::tell("POST", &at(id, "/rebase"), json!({ "keep": "mine" }))
    });
    for verb in ["confirm", "take-back"] {
        check_write(door, &|door, id| {
            commit(door, id);
            Request::tell("POST", &at(id, &format!("/{verb}")), Json::Null)
        });
    }
    check_write(door, &|door, id| {
        let position = written(door, id, 2);
        Request::tell("POST", &format!("/v1/records/{position}/take-back"), Json::Null)
    });
    edits(door);
    keep(door);
}

/// A candidate with an edit of an entity of the same name.
fn open(door: &Door, id: &str) {
    door.tell("POST", "/v1/entities", json!({ "id": id, "type": "t", "properties": { "n": 1 } }));
    door.tell("POST", "/v1/candidates", json!({ "name": id }));
    door.tell("PATCH", &format!("/v1/entities/{id}?candidate={id}"), json!({ "n": 2 }));
}

/// The same, committed until it is confirmed.
fn commit(door: &Door, id: &str) {
    open(door, id);
    door.tell("POST", &format!("/v1/candidates/{id}/commit"), json!({ "confirmWithin": "PT1H" }));
}

/// The position of the last change of a new entity.
fn written(door: &Door, id: &str, n: u32) -> String {
    door.tell("POST", "/v1/entities", json!({ "id": id, "type": "t", "properties": { "n": 1 } }));
    let changed = door.tell("PATCH", &format!("/v1/entities/{id}"), json!({ "n": n }));
    changed.json()["position"].to_string()
}

fn edits(door: &mut Door) {
    let id = door.id();
    open(door, &id);
    door.tell("PATCH", &format!("/v1/entities/{id}?candidate={id}"), json!({ "n": 3 }));
    for rest in ["", "/edits", "/conflicts", "/check"] {
        door.waits(&Request::get(&format!("/v1/candidates/{id}{rest}")));
    }
    door.waits(&Request::get("/v1/candidates"));
    door.pages(&Request::get(&format!("/v1/candidates/{id}/edits")));
    assert_eq!(ids(&door.server.get(&format!("/v1/candidates/{id}/edits"))), [&*id, &id]);
}

/// The side that stays where a later change built on the commit, or on the record.
fn keep(door: &mut Door) {
    for is_candidate in [true, false] {
        for (side, n) in [("mine", 1), ("theirs", 3)] {
            let id = door.id();
            let target = if is_candidate {
                commit(door, &id);
                format!("/v1/candidates/{id}/take-back")
            } else {
                format!("/v1/records/{}/take-back", written(door, &id, 2))
            };
            door.tell("PATCH", &format!("/v1/entities/{id}"), json!({ "n": 3 }));
            let request = Request::tell("POST", &target, Json::Null);
            door.statuses(&request, "keep", side, [412, 200]);
            let left = door.server.get(&format!("/v1/entities/{id}"));
            door.note(&request, "keep", left.json()["properties"]["n"] == n, &[&left]);
        }
    }
    let present = |door: &Door, id: &str| -> Answer { door.server.get(&format!("/v1/entities/{id}")) };
    let mut left = Vec::new();
    for is_range in [false, true] {
        let id = door.id();
        let first = written(door, &id, 2);
        let last = door.tell("PATCH", &format!("/v1/entities/{id}"), json!({ "m": 1 }));
        let last = last.json()["position"].to_string();
        let request =
            Request::tell("POST", &format!("/v1/records/{first}/take-back?keep=theirs"), Json::Null);
        if is_range {
            door.send_with(&request, "toPosition", &last)
        } else {
            door.send(&request)
        };
        left.push(present(door, &id));
        let has = |answer: &Answer| answer.json()["properties"].clone();
        if is_range {
            let is_as_stated = has(&left[0])["m"] == 1 && has(&left[1]) == json!({ "n": 1 });
            door.note(&request, "toPosition", is_as_stated, &[&left[0], &left[1]]);
        }
    }
}
