//! Every write of instances, their contents and types, with the parameters that it lists.

use serde_json::{Value as Json, json};

use super::door::{Door, Request};
use super::writing::{Prepare, check_write};
use crate::support::Answer;

pub fn check(door: &mut Door) {
    for id in ["a", "b", "c"] {
        door.tell("POST", "/v1/entities", json!({ "id": id, "type": "t" }));
    }
    // Possible once for a repository.
    let name: Prepare = &|_, _| Request::tell("PUT", "/v1/collection", json!({ "collection": "here" }));
    for parameter in ["annals-author", "annals-message", "annals-wait-position", "candidate"] {
        door.on_another(&[], |door| name_collection(door, name, parameter));
    }
    door.tell("PUT", "/v1/collection", json!({ "collection": "here" }));
    for of in [ENTITIES, RELATIONSHIPS] {
        instances(door, of);
        copies(door, of);
        with_own_parameters(door, of);
    }
    classifications(door);
    contents(door);
    types(door);
    check_write(door, &|door, id| {
        create(door, ENTITIES, id);
        let update = json!({ "action": "update", "kind": "entity", "id": id, "patch": { "n": 2 } });
        Request::tell("POST", "/v1/transactions", json!({ "operations": [update] }))
    });
}

#[derive(Clone, Copy, PartialEq)]
struct Of {
    plural: &'static str,
    /// Further members of a new instance.
    ends: Option<[&'static str; 2]>,
}

const ENTITIES: Of = Of { plural: "entities", ends: None };
const RELATIONSHIPS: Of = Of { plural: "relationships", ends: Some(["a", "b"]) };

impl Of {
    fn body(self, mut body: Json) -> Json {
        for (name, id) in ["from", "to"].into_iter().zip(self.ends.into_iter().flatten()) {
            body[name] = id.into();
        }
        body
    }

    fn at(self, rest: &str) -> String {
        format!("/v1/{}/{rest}", self.plural)
    }
}

fn create(door: &Door, of: Of, id: &str) {
    let new = of.body(json!({ "id": id, "type": "t", "properties": { "n": 1 } }));
    door.tell("POST", &format!("/v1/{}", of.plural), new);
}

fn name_collection(door: &mut Door, name: Prepare, parameter: &str) {
    let request = name(door, "");
    let record = |door: &Door| door.records_after(0).first().cloned().unwrap_or_default();
    match parameter {
        "annals-wait-position" => door.waits(&request),
        "candidate" => {
            door.tell("POST", "/v1/candidates", json!({ "name": "night" }));
            let edited = door.send_with(&request, "candidate", "night");
            // It has no name yet.
            let other = Request::tell("PUT", "/v1/collection", json!({ "collection": "other" }));
            let [named, again] = [&other, &request].map(|request| request.send_to(&door.server));
            let statuses = [edited.status, named.status, again.status];
            door.note(&request, "candidate", statuses == [200, 200, 409], &[&edited, &named, &again]);
        }
        parameter => {
            let answer = door.send_with(&request, parameter, "ada");
            let member = parameter.trim_start_matches("annals-");
            let is_signed = record(door)[member] == "ada";
            door.note(&request, parameter, is_signed, &[&answer]);
        }
    }
}

fn instances(door: &mut Door, of: Of) {
    let post = format!("/v1/{}", of.plural);
    check_write(door, &|_, id| Request::tell("POST", &post, of.body(json!({ "id": id, "type": "t" }))));
    let mut steps = vec![
        ("PUT", "", json!({ "properties": { "n": 2 } })),
        ("PATCH", "", json!({ "n": 2 })),
        ("DELETE", "", Json::Null),
        ("PUT", "/status", json!({ "status": "stable" })),
        ("PUT", "/type", json!({ "type": "u" })),
        ("PUT", "/provenance", json!({ "license": "MIT" })),
    ];
    if of == RELATIONSHIPS {
        steps.push(("PUT", "/ends", json!({ "to": "c" })));
    }
    for (method, rest, body) in steps {
        check_write(door, &|door, id| {
            create(door, of, id);
            Request::tell(method, &of.at(&format!("{id}{rest}")), body.clone())
        });
    }
    check_write(door, &|door, id| {
        create(door, of, id);
        Request::tell("PUT", &of.at(&format!("{id}/id")), json!({ "newId": format!("new-{id}") }))
    });
    check_write(door, &|door, id| {
        create(door, of, id);
        door.tell("DELETE", &of.at(id), Json::Null);
        Request::tell("POST", &of.at(&format!("{id}/restore")), Json::Null)
    });
    check_write(door, &|door, id| {
        create(door, of, id);
        door.tell("PATCH", &of.at(id), json!({ "n": 2 }));
        Request::tell("POST", &of.at(&format!("{id}/undo")), Json::Null)
    });
}

fn copied(more: Json) -> Json {
    let stamp = json!({ "instant": "2020-01-01T00:00:00Z", "author": "bob" });
    let mut copy = json!({ "home": "there", "version": 7, "created": stamp, "updated": stamp });
    copy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    copy
}

fn copies(door: &mut Door, of: Of) {
    let save = |id: &str| {
        Request::tell("PUT", &of.at(&format!("{id}/copy")), copied(of.body(json!({ "type": "t" }))))
    };
    check_write(door, &|_, id| save(id));
    let purge = |door: &Door, id: &str| {
        door.send(&save(id));
        Request::tell("DELETE", &of.at(&format!("{id}/copy")), Json::Null)
    };
    check_write(door, &|door, id| purge(door, id).query("home", "there"));
    let request = purge(door, "copied");
    door.statuses(&request, "home", "there", [400, 200]);
    check_write(door, &|door, id| {
        door.send(&save(id));
        Request::tell("PUT", &of.at(&format!("{id}/home")), json!({ "home": "there" }))
    });
}

fn with_own_parameters(door: &mut Door, of: Of) {
    let id = door.id();
    create(door, of, &id);
    let put = Request::tell("PUT", &of.at(&id), json!({ "properties": { "n": 5 } }));
    door.statuses(&put, "if-none-match", "*", [200, 412]);
    let mut known = Vec::new();
    for is_purged in [false, true] {
        let id = door.id();
        create(door, of, &id);
        let delete = Request::tell("DELETE", &of.at(&id), Json::Null);
        if is_purged {
            door.send_with(&delete, "purge", "true")
        } else {
            door.send(&delete)
        };
        known.push(door.server.get(&of.at(&format!("{id}/history"))));
    }
    let request = Request::get(&of.at("purged"));
    door.note(&request, "purge", known[0].status == 200 && known[1].status == 404, &[&known[0], &known[1]]);
    let kind = if of == ENTITIES { "entity" } else { "relationship" };
    let mut undone = Vec::new();
    for part in ["version", "content"] {
        let id = door.id();
        create(door, of, &id);
        door.tell("PATCH", &of.at(&id), json!({ "n": 2 }));
        let draft = json!({ "action": "set-status", "kind": kind, "id": id, "status": "draft" });
        door.tell("POST", "/v1/transactions", json!({ "operations": [draft] }));
        let undo = Request::tell("POST", &of.at(&format!("{id}/undo")), Json::Null);
        undone.push(door.send_with(&undo, "of", part));
    }
    let has_two = |answer: &Answer| answer.json()["properties"]["n"] == json!(2);
    let is_as_stated = has_two(&undone[0]) && undone[1].status == 200 && !has_two(&undone[1]);
    let undo = Request::tell("POST", &of.at("undone/undo"), Json::Null);
    door.note(&undo, "of", is_as_stated, &[&undone[0], &undone[1]]);
    if of == ENTITIES {
        let mut with_it = Vec::new();
        for is_alone in [false, true] {
            let (id, edge) = (door.id(), door.id());
            create(door, of, &id);
            door.tell("POST", "/v1/relationships", json!({ "id": edge, "type": "t", "from": id, "to": "a" }));
            door.tell("DELETE", &of.at(&id), Json::Null);
            let restore = Request::tell("POST", &of.at(&format!("{id}/restore")), Json::Null);
            if is_alone {
                door.send_with(&restore, "alone", "true")
            } else {
                door.send(&restore)
            };
            with_it.push(door.server.get(&format!("/v1/relationships/{edge}")));
        }
        let is_as_stated = with_it[0].status == 200 && with_it[1].problem() == "deleted";
        door.note(&request, "alone", is_as_stated, &[&with_it[0], &with_it[1]]);
    }
}

fn classifications(door: &mut Door) {
    let at = |id: &str| format!("/v1/entities/{id}/classifications/mark");
    let put = |id: &str| Request::tell("PUT", &at(id), json!({ "properties": { "level": 2 } }));
    check_write(door, &|door, id| {
        create(door, ENTITIES, id);
        put(id)
    });
    for (method, body) in [("PATCH", json!({ "level": 3 })), ("DELETE", Json::Null)] {
        check_write(door, &|door, id| {
            create(door, ENTITIES, id);
            door.send(&put(id));
            Request::tell(method, &at(id), body.clone())
        });
    }
    let save = |id: &str| {
        Request::tell("PUT", &format!("{}/copy", at(id)), copied(json!({ "properties": { "level": 5 } })))
    };
    let copy = |door: &Door, id: &str| {
        door.tell("PUT", &format!("/v1/entities/{id}/copy"), copied(json!({ "type": "t" })));
    };
    check_write(door, &|door, id| {
        copy(door, id);
        save(id)
    });
    let purge = |door: &Door, id: &str| {
        copy(door, id);
        door.send(&save(id));
        Request::tell("DELETE", &format!("{}/copy", at(id)), Json::Null)
    };
    check_write(door, &|door, id| purge(door, id).query("home", "there"));
    let request = purge(door, "classified");
    door.statuses(&request, "home", "there", [400, 200]);
}

fn contents(door: &mut Door) {
    let put = |id: &str, bytes: &str| {
        let request = Request::new("PUT", &format!("/v1/content/{id}"), Some(bytes));
        request.header("content-type", "application/octet-stream")
    };
    let stored = |door: &Door, id: &str| {
        create(door, ENTITIES, id);
        door.send(&put(id, "bytes"));
    };
    let delete = |id: &str| Request::tell("DELETE", &format!("/v1/content/{id}"), Json::Null);
    check_write(door, &|door, id| {
        create(door, ENTITIES, id);
        put(id, "bytes")
    });
    check_write(door, &|door, id| {
        stored(door, id);
        delete(id)
    });
    let id = door.id();
    door.statuses(&put(&id, "bytes"), "type", "scan", [404, 201]);
    door.statuses(&put(&id, "others"), "if-none-match", "*", [200, 412]);
    let other = door.id();
    stored(door, &other);
    let get = Request::get(&format!("/v1/content/{other}"));
    let written = door.send_with(&put(&other, "of another"), "property", "other");
    door.note(&get, "property of PUT", written.status == 200, &[&written]);
    door.compare(&get, "property", "other", |usual, other| {
        usual.body == "bytes" && other.body == "of another"
    });
    let removed = door.send_with(&delete(&other), "property", "other");
    let left = [door.send(&get), get.clone().query("property", "other").send_to(&door.server)];
    let is_as_stated = removed.status == 200 && left[0].body == "bytes" && left[1].status == 404;
    door.note(&get, "property of DELETE", is_as_stated, &[&removed, &left[0], &left[1]]);
}

fn types(door: &mut Door) {
    let declared = |id: &str| json!({ "types": [{ "kind": "entity", "name": id }] });
    let at = |id: &str| format!("/v1/types/entity/{id}");
    check_write(door, &|_, id| Request::tell("POST", "/v1/types", declared(id)));
    check_write(door, &|_, id| Request::tell("PUT", &at(id), json!({})));
    check_write(door, &|door, id| {
        door.tell("POST", "/v1/types", declared(id));
        Request::tell("PATCH", &at(id), json!({ "description": "A new one." }))
    });
}
