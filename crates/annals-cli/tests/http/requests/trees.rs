//! Parameters of trees and of the operational view.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, count, items, list_type};
use super::writing::check_write;
use crate::support::Answer;

pub fn check(door: &mut Door) {
    let ordered = json!({
        "kind": "relationship", "name": "orders", "to": { "type": "rule", "many": true }, "containment": { "ordered": true },
    });
    let contains = json!({ "kind": "relationship", "name": "contains", "containment": {} });
    door.tell("POST", "/v1/types", json!({ "types": [list_type("rule"), contains, ordered] }));
    door.tell("PUT", "/v1/tree/config", json!({ "n": 1, "a": { "n": 1 }, "b": { "n": 1 } }));
    writes(door);
    extents(door);
    pages(door);
    places(door);
    missing_items(door);
    paths_and_roots(door);
    door.waits(&Request::get("/v1/operational/config"));
}

fn put(door: &Door, path: &str) {
    door.tell("PUT", &format!("/v1/tree/{path}"), json!({ "n": 1, "below": { "n": 1 } }));
}

fn writes(door: &mut Door) {
    for method in ["PUT", "PATCH", "POST"] {
        check_write(door, &|_, id| Request::tell(method, &format!("/v1/tree/{id}"), json!({ "n": 1 })));
    }
    check_write(door, &|door, id| {
        put(door, id);
        Request::tell("DELETE", &format!("/v1/tree/{id}"), Json::Null)
    });
    for (verb, other) in [("copy", "twin"), ("move", "place")] {
        check_write(door, &|door, id| {
            put(door, id);
            let body = json!({ "from": format!("/{id}/below"), "to": format!("/{id}/{other}") });
            Request::tell("POST", &format!("/v1/tree-{verb}"), body)
        });
    }
    for (verb, method) in [("revert", "PATCH"), ("restore", "DELETE")] {
        check_write(door, &|door, id| {
            put(door, id);
            let before = door.position();
            let body = if method == "PATCH" { json!({ "n": 2 }) } else { Json::Null };
            door.tell(method, &format!("/v1/tree/{id}"), body);
            Request::tell(
                "POST",
                &format!("/v1/tree-{verb}"),
                json!({ "path": format!("/{id}"), "atPosition": before }),
            )
        });
    }
    put(door, "known");
    let known = Request::tell("PUT", "/v1/tree/known", json!({ "n": 5 }));
    door.statuses(&known, "if-none-match", "*", [200, 412]);
}

fn extents(door: &mut Door) {
    let has_below = |answer: &Answer| answer.json().get("below").is_some();
    put(door, "deep");
    for read in ["tree", "operational"] {
        let request = Request::get(&format!("/v1/{read}/deep"));
        door.compare(&request, "depth", "0", |all, flat| {
            has_below(all) && flat.status == 200 && !has_below(flat)
        });
    }
    let request = Request::get("/v1/tree/deep");
    door.compare(&request, "ids", "true", |without, with| {
        without.json().get("@id").is_none() && with.json()["@id"].is_string()
    });
}

fn pages(door: &mut Door) {
    let list = Request::get("/v1/tree-list/config");
    door.pages(&list);
    door.compare(&list, "back", "true", |forth, back| {
        let mut turned = items(back);
        turned.reverse();
        count(forth) == 2 && items(forth) == turned
    });
    door.compare(&list, "count", "true", |without, with| {
        without.json().get("count").is_none_or(Json::is_null) && with.json()["count"] == 2
    });
    let many = json!([{ "name": "codes", "type": "integer", "many": true }]);
    door.tell(
        "POST",
        "/v1/types",
        json!({ "types": [{ "kind": "entity", "name": "coded", "attributes": many }] }),
    );
    door.tell("PUT", "/v1/tree/typed/item", json!({ "@type": "coded", "codes": [1, 2] }));
    for target in ["tree-list/typed", "tree-find/typed/item"] {
        let request = Request::get(&format!("/v1/{target}"));
        door.compare(&request, "typed", "true", |without, with| {
            let codes = |answer: &Answer| items(answer)[0]["value"]["codes"].clone();
            codes(without) == json!([1, 2]) && codes(with) == json!({ "$set": [1, 2] })
        });
    }
    let find = Request::get("/v1/tree-find/config//n");
    door.compare(&find, "limit", "1", |all, one| {
        count(all) == 3 && count(one) == 1 && one.json()["hasMore"] == true
    });
}

/// The names of the rules of a list, in order.
fn rules(door: &Door, list: &str) -> Vec<String> {
    let rules = door.server.get(&format!("/v1/tree/{list}")).json();
    rules["rule"].as_array().unwrap().iter().map(|rule| rule["name"].as_str().unwrap().to_owned()).collect()
}

fn places(door: &mut Door) {
    let new = |list: &str, name: &str| {
        Request::tell("POST", &format!("/v1/tree/{list}/rule[name='{name}']"), json!({}))
    };
    for list in ["first", "second"] {
        door.send(&new(list, "a"));
        door.send(&new(list, "b"));
    }
    let request = new("first", "c");
    let inserted = door.send_with(&request, "insert", "first");
    door.send(&new("first", "d"));
    let is_first = rules(door, "first") == ["c", "a", "b", "d"];
    door.note(&request, "insert", is_first, &[&inserted]);
    let request = new("second", "c").query("insert", "before");
    let refused = request.send_to(&door.server);
    let inserted = door.send_with(&request, "sibling", "rule[name='b']");
    let is_between = refused.status == 400 && rules(door, "second") == ["a", "c", "b"];
    door.note(&request, "sibling", is_between, &[&refused, &inserted]);
}

fn missing_items(door: &mut Door) {
    let put = Request::tell("PUT", "/v1/tree/absent", json!({ "n": 1 }));
    let refused = door.send_with(&put, "missing", "refuse");
    let created = put.send_to(&door.server);
    door.note(&put, "missing", [refused.status, created.status] == [404, 201], &[&refused, &created]);
    let delete = Request::tell("DELETE", "/v1/tree/never", Json::Null);
    door.statuses(&delete, "missing", "ok", [404, 200]);
}

/// A path as a parameter, and below another entity.
fn paths_and_roots(door: &mut Door) {
    put(door, "top/here");
    let root = door.server.get("/v1/tree/top?ids").json()["@id"].as_str().unwrap().to_owned();
    for (read, target) in
        [("tree", "here/n"), ("tree-list", "here"), ("tree-find", "here/n"), ("tree-explain", "here//n")]
    {
        let direct = door.send(&Request::get(&format!("/v1/{read}/top/{target}")));
        let without = Request::get(&format!("/v1/{read}/"));
        let is_same = |without: &Answer, with: &Answer| without.body != with.body && with.body == direct.body;
        door.compare(&without, "path", &format!("/top/{target}"), is_same);
        let below = Request::get(&format!("/v1/{read}/{target}"));
        let is_there = |answer: &Answer| answer.status == 200 && (answer.body == "1" || count(answer) > 0);
        if read != "tree-explain" {
            door.compare(&below, "root", &root, |without, with| !is_there(without) && is_there(with));
        }
    }
    let view = Request::get("/v1/operational/");
    door.compare(&view, "path", "/top/here", |whole, part| {
        whole.json().get("top").is_some() && part.json().get("below").is_some()
    });
    for method in ["PUT", "PATCH", "POST", "DELETE"] {
        let id = door.id();
        let [named, below] = [format!("/{id}"), format!("/below-{id}")];
        let body = if method == "DELETE" { Json::Null } else { json!({ "n": 2 }) };
        if method == "DELETE" {
            put(door, &id);
            put(door, &format!("top{below}"));
            put(door, &below[1..]);
        }
        let is_there = |door: &Door, path: &str| door.server.get(&format!("/v1/tree{path}")).status == 200;
        let request = Request::tell(method, "/v1/tree/", body.clone());
        let before = is_there(door, &named);
        let answer = door.send_with(&request, "path", &named);
        let is_changed = before != is_there(door, &named);
        door.note(&request, "path", answer.status < 300 && is_changed, &[&answer]);
        let request = Request::tell(method, &format!("/v1/tree{below}"), body);
        let state = |door: &Door| [is_there(door, &below), is_there(door, &format!("/top{below}"))];
        let before = state(door);
        let answer = door.send_with(&request, "root", &root);
        let after = state(door);
        let is_below_only = before[0] == after[0] && before[1] != after[1];
        door.note(&request, "root", answer.status < 300 && is_below_only, &[&answer]);
    }
}
