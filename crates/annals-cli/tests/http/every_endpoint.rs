//! Every endpoint gives each answer that it declares, and the types of `wire` read all of it.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::protocol::server;
use crate::support::Server;
use crate::support::described::{answers, check_described};

const LINES: (&str, &str) = ("accept", "application/x-ndjson");

/// A server, the answers that it gave, and the requests that it refused.
struct Door {
    server: Server,
    seen: BTreeSet<(String, u16, String)>,
    refused: Vec<String>,
}

impl Door {
    /// Sends a request without body.
    fn call(&mut self, method: &str, path: &str) {
        self.send(method, path, &[], None);
    }

    /// Sends a request with JSON.
    fn tell(&mut self, method: &str, path: &str, body: Json) {
        self.send(method, path, &[], Some(&body.to_string()));
    }

    /// Reads as JSON, and as lines.
    fn read_both(&mut self, path: &str) {
        self.call("GET", path);
        self.send("GET", path, &[LINES], None);
    }

    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) {
        let answer = self.server.request(method, path, headers, body);
        if answer.status >= 300 {
            self.refused.push(format!("{method} {path}: {} {}", answer.status, answer.body));
        }
        self.seen.extend(check_described(method, path, body, &answer));
    }
}

#[test]
fn every_answer_that_is_declared_is_given_and_its_type_reads_it() {
    let (_folder, server) = server();
    let mut door = Door { server, seen: BTreeSet::new(), refused: Vec::new() };
    tell_of_the_server(&mut door);
    declare_types(&mut door);
    write_instances(&mut door);
    read_the_graph(&mut door);
    search(&mut door);
    change_headers(&mut door);
    save_copies(&mut door);
    change_a_tree(&mut door);
    edit_a_candidate(&mut door);
    lease(&mut door);
    store_contents(&mut door);
    compact(&mut door);
    exchange(&mut door);
    follow(&mut door);
    assert!(door.refused.is_empty(), "these requests were refused: {:#?}", door.refused);
    let missing: Vec<_> = answers().into_iter().filter(|known| !door.seen.contains(known)).collect();
    assert!(missing.is_empty(), "these answers were not seen: {missing:#?}");
}

fn tell_of_the_server(door: &mut Door) {
    for path in ["/", "/health/live", "/health/ready", "/metrics", "/openapi.json", "/v1/whoami"] {
        door.call("GET", path);
    }
    door.tell("PUT", "/v1/collection", json!({ "collection": "here" }));
}

fn declare_types(door: &mut Door) {
    let many = json!({ "type": "integer", "many": true, "name": "sizes" });
    let attributes = json!([{ "name": "n", "type": "integer", "indexed": true, "minimum": 0, "maximum": 9, "default": 1 }, many]);
    let thing = json!({
        "kind": "entity", "name": "thing", "attributes": attributes, "statuses": ["active", "stable"],
        "uniqueTogether": [["n"]], "externalId": "x", "description": "A thing.",
    });
    door.tell("POST", "/v1/types/verify", thing.clone());
    door.tell("POST", "/v1/types", json!({ "types": [thing] }));
    let end = json!({ "type": "thing", "many": false, "name": "other" });
    door.tell("PUT", "/v1/types/relationship/link", json!({ "from": end, "to": { "type": null } }));
    door.tell(
        "PUT",
        "/v1/types/classification/mark",
        json!({ "appliesTo": ["thing"], "propagatable": true }),
    );
    let red = json!({ "ordinal": 0, "name": "red", "description": "Like a rose." });
    door.tell("PUT", "/v1/types/enum/colour", json!({ "elements": [red] }));
    let colour = json!({ "name": "colour", "enum": "colour", "deprecated": true, "replacedBy": "n" });
    door.tell("PATCH", "/v1/types/entity/thing", json!({ "attributes": [colour] }));
    let other =
        json!({ "kind": "entity", "name": "thing", "attributes": [{ "name": "n", "type": "string" }] });
    door.tell("POST", "/v1/types/verify", other);
    door.call("GET", "/v1/types?kind=enum");
    door.call("GET", "/v1/types");
    door.call("GET", "/v1/types/entity/thing");
}

fn write_instances(door: &mut Door) {
    let values = json!({
        "n": 1, "name": "a", "sizes": { "$set": [1, 2] }, "price": { "$decimal": "1.20" }, "odd": { "$float": "NaN" },
        "raw": { "$bytes": "AAE=" }, "day": { "$date": "2025-08-09" }, "at": { "$timestamp": "2025-08-09T12:00:00Z" },
        "within": { "$duration": "PT5M" }, "uuid": { "$uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8" },
        "iri": { "$iri": "urn:x" }, "map": { "$map": { "$odd": 1 } }, "list": [1, "b", [true, 1.5]],
        "title": { "$literal": "chat", "language": "fr" }, "year": { "$literal": "1789", "datatype": "urn:year" },
        "plain": { "a": { "b": { "$decimal": "2" } } },
    });
    let mark = json!({ "name": "mark", "properties": { "level": 1 }, "license": "MIT" });
    let a = json!({ "id": "a", "type": "thing", "properties": values, "classifications": [mark], "status": "active" });
    door.tell("POST", "/v1/entities", a);
    door.tell(
        "PUT",
        "/v1/entities/b",
        json!({ "type": "thing", "properties": { "n": 2 }, "license": "CC0-1.0" }),
    );
    door.tell(
        "PUT",
        "/v1/entities/b",
        json!({ "properties": { "n": 3 }, "classifications": { "mark": {} } }),
    );
    door.tell("PATCH", "/v1/entities/b", json!({ "n": 4, "name": null }));
    let steps = json!([
        { "set": "name", "value": "b" }, { "add": "sizes", "value": 3 }, { "remove": "sizes", "value": 3 }, { "unset": "name" },
    ]);
    door.tell("PATCH", "/v1/entities/b", steps);
    door.tell("POST", "/v1/relationships", json!({ "id": "r", "type": "link", "from": "a", "to": "b" }));
    let s =
        json!({ "type": "joins", "from": "a", "to": "b", "mappings": { "k": "v" }, "maintainedBy": ["ada"] });
    door.tell("PUT", "/v1/relationships/s", s);
    door.tell(
        "PUT",
        "/v1/relationships/s",
        json!({ "properties": { "km": 5 }, "effectiveFrom": "2025-01-01T00:00:00Z" }),
    );
    door.tell("PATCH", "/v1/relationships/s", json!({ "km": 6 }));
    let operations = json!([
        { "action": "create", "kind": "entity", "id": "c", "type": "thing", "properties": { "n": 7 } },
        { "action": "create", "kind": "relationship", "type": "joins", "from": "b", "to": "c" },
        { "action": "update", "kind": "entity", "id": "b", "patch": { "n": 5 }, "ifVersion": 3 },
        { "action": "patch-type", "type": { "kind": "enum", "name": "colour", "elements": [{ "ordinal": 1, "name": "blue" }] } },
    ]);
    let transaction = |is_dry: bool| json!({ "author": "ada", "dryRun": is_dry, "operations": operations });
    door.tell("POST", "/v1/transactions", transaction(true));
    door.tell("POST", "/v1/transactions", transaction(false));
    for path in [
        "entities/a",
        "entities/a/summary",
        "entities/b/versions/1",
        "relationships/s",
        "relationships/s/versions/2",
    ] {
        door.call("GET", &format!("/v1/{path}"));
    }
    for path in ["entities/b", "relationships/s"] {
        door.read_both(&format!("/v1/{path}/history"));
        door.read_both(&format!("/v1/{path}/history?content&limit=1"));
        door.call("GET", &format!("/v1/{path}/diff?from=1&to=2"));
    }
    door.tell("PUT", "/v1/entities/c/classifications/mark", json!({ "properties": { "level": 2 } }));
    door.call("GET", "/v1/entities/c/classifications/mark");
    door.tell("PATCH", "/v1/entities/c/classifications/mark", json!({ "level": 3 }));
    door.call("GET", "/v1/entities/c/diff?from=1&to=2");
    door.call("DELETE", "/v1/entities/c/classifications/mark");
}

fn read_the_graph(door: &mut Door) {
    door.call("GET", "/v1/entities/a/degree");
    for read in ["neighbors", "relationships", "neighborhood", "related", "reach"] {
        door.read_both(&format!("/v1/entities/a/{read}"));
        door.read_both(&format!("/v1/entities/a/{read}?limit=1"));
    }
    for read in ["relationships", "related"] {
        door.call("GET", &format!("/v1/entities/a/{read}?count"));
    }
    for read in ["linking", "paths", "shared"] {
        door.read_both(&format!("/v1/{read}?from=a&to=c"));
    }
    door.call("GET", "/v1/paths?from=a&to=b&weight=km");
    for read in [
        "entities/a/neighborhood?",
        "entities/a/reach?",
        "linking?from=a&to=c&",
        "paths?from=a&to=c&",
        "path?from=a&to=c&",
    ] {
        for format in ["graphml", "dot"] {
            door.call("GET", &format!("/v1/{read}format={format}"));
        }
    }
    door.read_both("/v1/entities/a/reach/groups?groupBy=n&limit=1");
    door.read_both("/v1/entities/a/reach/groups?groupBy=name");
    door.call("GET", "/v1/entities/a/reach/count");
    door.call("GET", "/v1/path?from=a&to=c");
    door.call("GET", "/v1/path?from=c&to=a");
}

fn search(door: &mut Door) {
    door.read_both("/v1/entities?limit=1");
    door.read_both("/v1/relationships");
    let by = json!(["-n", { "header": "createdAt", "descending": true }]);
    let all = json!({ "all": [
        { "property": "n", "operator": ">=", "value": 1 }, { "any": ["n >= 1", { "is": "thing" }] }, { "none": ["n = 8"] },
        { "property": "n", "operator": "between", "values": [0, 9] },
    ] });
    let find = json!({ "type": "thing", "where": all, "orderBy": by, "deleted": "with", "proxies": "with", "limit": 5 });
    let linked = json!({ "where": [{ "has": "out", "to": { "classified": "mark" } }], "status": ["active"] });
    for body in [find, linked, json!({ "kind": "relationship", "q": "where @type = link" }), json!({})] {
        for path in ["find", "count", "explain"] {
            door.tell("POST", &format!("/v1/{path}"), body.clone());
        }
        door.send("POST", "/v1/find", &[LINES], Some(&body.to_string()));
    }
}

fn change_headers(door: &mut Door) {
    for (plural, more) in [("entities", json!({})), ("relationships", json!({ "from": "a", "to": "b" }))] {
        let at = |rest: &str| format!("/v1/{plural}/{rest}");
        let mut new = json!({ "id": "x", "type": "t" });
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        door.tell("POST", &format!("/v1/{plural}"), new);
        door.tell("PUT", &at("x/status"), json!({ "status": "stable" }));
        door.tell("PUT", &at("x/type"), json!({ "type": "u" }));
        door.tell(
            "PUT",
            &at("x/provenance"),
            json!({ "license": "MIT", "provenance": "unknown", "mappings": { "k": "v" } }),
        );
        door.call("GET", &at("x/diff?from=1&to=4"));
        door.call("POST", &at("x/undo"));
        door.tell("PUT", &at("x/id"), json!({ "newId": "y" }));
        door.call("GET", &at("y/history"));
        door.call("GET", &at("y"));
        door.call("POST", &at("y/undo"));
        door.call("DELETE", &at("x"));
        door.call("POST", &at("x/restore"));
        door.call("DELETE", &at("x"));
        door.call("GET", &format!("/v1/{plural}?deleted=only"));
    }
    door.tell("PUT", "/v1/relationships/s/ends", json!({ "to": "c" }));
    door.call("GET", "/v1/relationships/s/diff?from=3&to=4");
}

fn save_copies(door: &mut Door) {
    let stamp = json!({ "instant": "2020-01-01T00:00:00Z", "author": "bob" });
    let copy = |more: Json| {
        let mut copy = json!({ "home": "there", "version": 7, "created": stamp, "updated": stamp });
        copy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        copy
    };
    door.tell("PUT", "/v1/entities/far/copy", copy(json!({ "type": "t", "properties": { "n": 1 } })));
    let proxies = json!([{ "id": "farther", "type": "t", "home": "there" }]);
    let between = copy(json!({ "type": "l", "from": "far", "to": "farther", "proxies": proxies }));
    door.tell("PUT", "/v1/relationships/way/copy", between);
    door.call("GET", "/v1/entities/farther/summary");
    door.call("GET", "/v1/entities/farther/history");
    door.tell(
        "PUT",
        "/v1/entities/far/classifications/seal/copy",
        copy(json!({ "properties": { "level": 5 } })),
    );
    door.call("GET", "/v1/entities/far/classifications/seal");
    door.call("DELETE", "/v1/entities/far/classifications/seal/copy?home=there");
    door.tell("PUT", "/v1/relationships/way/home", json!({ "home": "there" }));
    door.tell("PUT", "/v1/entities/far/home", json!({ "home": "there" }));
    door.tell(
        "PUT",
        "/v1/relationships/way2/copy",
        copy(json!({ "type": "l", "from": "far", "to": "farther" })),
    );
    door.call("DELETE", "/v1/relationships/way2/copy?home=there");
    door.tell("PUT", "/v1/entities/gone/copy", copy(json!({ "type": "t" })));
    door.call("DELETE", "/v1/entities/gone/copy?home=there");
}

fn change_a_tree(door: &mut Door) {
    let name = json!([{ "name": "name", "type": "string", "key": true }]);
    let types = json!([
        { "kind": "entity", "name": "entry", "attributes": name },
        { "kind": "relationship", "name": "contains", "containment": {} },
        { "kind": "relationship", "name": "orders", "to": { "type": "entry", "many": true }, "containment": { "ordered": true } },
    ]);
    door.tell("POST", "/v1/types", json!({ "types": types }));
    door.tell("PUT", "/v1/tree/config", json!({ "n": 1, "tags": ["a", "b"], "clock": { "zone": "UTC" } }));
    door.tell("PUT", "/v1/tree/config/n", json!(2));
    door.tell("PATCH", "/v1/tree/config", json!({ "clock": { "zone": "CET" } }));
    door.tell("PATCH", "/v1/tree/config/spare", json!({ "n": 1 }));
    door.tell("POST", "/v1/tree/config/entry[name='a']", json!({}));
    door.tell("POST", "/v1/tree/config/entry[name='b']?insert=before&sibling=entry[name='a']", json!({}));
    door.tell("POST", "/v1/tree/config/entry[name='b']?insert=last", json!({}));
    door.tell("POST", "/v1/tree/config/kept", json!(1));
    door.call("GET", "/v1/tree/config");
    door.call("GET", "/v1/tree/config/n");
    door.call("GET", "/v1/tree-explain/config/entry[name='a']");
    for read in [
        "tree-list/config",
        "tree-list/config?limit=1",
        "tree-list/config?count",
        "tree-find//n",
        "tree-find//n?limit=1",
    ] {
        door.read_both(&format!("/v1/{read}"));
    }
    let before = door.server.get("/health/ready").json()["position"].clone();
    door.tell(
        "POST",
        "/v1/tree-move",
        json!({ "from": "/config/entry[name='a']", "to": "/config/entry[name='a']", "insert": "first" }),
    );
    door.tell("POST", "/v1/tree-copy", json!({ "from": "/config/clock", "to": "/config/watch" }));
    door.tell("PUT", "/v1/tree/config/clock/zone", json!("UTC"));
    door.call("DELETE", "/v1/tree/config/spare");
    door.read_both(&format!("/v1/tree-diff/config?fromPosition={before}"));
    door.tell("POST", "/v1/tree-revert", json!({ "path": "/config/clock", "atPosition": before }));
    door.tell("POST", "/v1/tree-restore", json!({ "path": "/config/spare", "atPosition": before }));
    door.read_both("/v1/diff?from=1&to=20");
    door.call("GET", "/v1/log");
    door.call("GET", "/v1/log?limit=1");
}

fn compact(door: &mut Door) {
    door.call("GET", "/v1/stats");
    door.call("GET", "/v1/check");
    door.call("POST", "/v1/compactions");
    door.call("GET", "/v1/backup");
}

fn follow(door: &mut Door) {
    for path in ["tree=/config&after=0&limit=1", "limit=3&after=0", "search=thing&after=0&limit=1"] {
        // The feed would wait for records that were refused.
        if door.refused.is_empty() {
            door.call("GET", &format!("/v1/feed?{path}"));
        }
    }
}

fn edit_a_candidate(door: &mut Door) {
    door.tell("POST", "/v1/candidates", json!({ "name": "night" }));
    door.tell("PATCH", "/v1/entities/b?candidate=night", json!({ "n": 6 }));
    door.tell("PATCH", "/v1/entities/b", json!({ "n": 7 }));
    door.call("GET", "/v1/candidates");
    door.call("GET", "/v1/candidates/night");
    door.call("GET", "/v1/candidates/night/conflicts");
    door.tell("POST", "/v1/candidates/night/rebase", json!({ "keep": "mine" }));
    door.call("GET", "/v1/candidates/night/edits");
    door.call("GET", "/v1/candidates/night/check");
    door.tell("POST", "/v1/candidates/night/commit", json!({ "confirmWithin": "PT1H" }));
    door.call("GET", "/v1/candidates/night");
    door.call("POST", "/v1/candidates/night/confirm");
    door.tell("POST", "/v1/candidates", json!({ "name": "day" }));
    door.tell("PATCH", "/v1/entities/b?candidate=day", json!({ "n": 8 }));
    door.tell("POST", "/v1/candidates/day/commit", json!({ "confirmWithin": "PT1H" }));
    door.call("POST", "/v1/candidates/day/take-back");
    door.call("DELETE", "/v1/candidates/day");
    door.tell("PATCH", "/v1/entities/b", json!({ "n": 9 }));
    let position = door.server.get("/v1/entities/b").json()["position"].to_string();
    door.call("POST", &format!("/v1/records/{position}/take-back"));
}

fn lease(door: &mut Door) {
    door.tell("POST", "/v1/leases", json!({ "name": "driver", "seconds": 600 }));
    let operations = json!([{ "action": "merge-tree", "path": "/config", "item": { "celsius": 40 } }]);
    door.tell("POST", "/v1/leases/driver/changes", json!({ "operations": operations }));
    door.tell("POST", "/v1/leases/driver/renew", json!({ "seconds": 500.5 }));
    door.call("GET", "/v1/leases");
    door.call("GET", "/v1/operational/config");
    door.call("DELETE", "/v1/leases/driver");
}

fn store_contents(door: &mut Door) {
    let octets = [("content-type", "application/octet-stream")];
    for path in ["/v1/content/scan?type=scan", "/v1/content/scan"] {
        door.send("PUT", path, &octets, Some("bytes"));
    }
    door.call("GET", "/v1/content/scan");
    door.send("GET", "/v1/content/scan", &[("range", "bytes=1-2")], None);
    door.call("DELETE", "/v1/content/scan");
}

fn exchange(door: &mut Door) {
    let lines =
        "{\"entity\": {\"id\": \"i\", \"type\": \"t\", \"classifications\": [{\"name\": \"c\"}]}}\nx\n";
    door.send("POST", "/v1/import", &[("content-type", "application/x-ndjson")], Some(lines));
    door.call("GET", "/v1/export");
    for parameter in ["history", "format=graphml", "format=dot"] {
        door.call("GET", &format!("/v1/export?{parameter}"));
    }
}
