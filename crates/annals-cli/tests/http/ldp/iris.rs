//! RDF of the LDP door says only what was said: texts that are no IRIs, from other doors, never become part of it.

use serde_json::{Value as Json, json};

use super::resources::Door;

const FORMATS: [&str; 4] =
    ["text/turtle", "application/n-triples", "application/ld+json", "application/rdf+xml"];
/// A text that would end an IRI and begin another statement.
const FORGED: &str = "http://x/a> <http://x/forged> <http://evil/c> .\u{20}<http://evil/d";

fn commit(door: &Door, operations: &Json) {
    let answer = door.server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn names_of_other_doors_that_are_no_iris_are_in_no_format() {
    let door = Door::open();
    assert_eq!(door.turtle("PUT", "/x", "<> dc:title \"kept\" .").status, 201);
    door.request("PUT", "/y", &[], None);
    commit(
        &door,
        &json!([
            {"action": "update", "kind": "entity", "id": "ldp:/x",
             "patch": {FORGED: 1, "http://x/a b": 2, "a:\"b\"": 3, "no:%zz": 4, "http://x/good": 5}},
            {"action": "create", "kind": "relationship", "type": FORGED, "from": "ldp:/x", "to": "ldp:/y"},
            {"action": "create", "kind": "relationship", "type": FORGED, "from": "ldp:/y", "to": "ldp:/x"},
            {"action": "create", "kind": "entity", "id": "part", "type": "ldp.Node",
             "properties": {"ldp.subject": FORGED, "http://x/hidden": "hidden"}},
            {"action": "create", "kind": "relationship", "type": "ldp.part", "from": "ldp:/x", "to": "part",
             "properties": {"name": "/part"}},
            {"action": "create", "kind": "entity", "id": "blank> <http://evil/e", "type": "ldp.Node",
             "properties": {"http://x/blank": "shown"}},
            {"action": "create", "kind": "relationship", "type": "ldp.part", "from": "ldp:/x", "to": "blank> <http://evil/e",
             "properties": {"name": "/blank"}},
        ]),
    );
    let inbound =
        "return=representation; include=\"http://fedora.info/definitions/fcrepo#PreferInboundReferences\"";
    for format in FORMATS {
        let answer = door.request("GET", "/x", &[("accept", format), ("prefer", inbound)], None);
        assert_eq!(answer.status, 200, "{format}: {answer:?}");
        for part in ["kept", "good", "shown"] {
            assert!(answer.body.contains(part), "{format}: {part} in {}", answer.body);
        }
        for part in ["evil", "http://x/forged", "a b", "%zz", "hidden"] {
            assert!(!answer.body.contains(part), "{format}: {part} in {}", answer.body);
        }
    }
    let lines = door.get("/x").body;
    assert!(lines.lines().all(|line| line.ends_with(" .") && line.matches(" .").count() == 1), "{lines}");
    // A client that puts back what it read removes nothing that it did not see.
    let read = door.request("GET", "/x", &[], None).body;
    let without_blank: String =
        read.lines().filter(|line| !line.contains("shown")).collect::<Vec<_>>().join("\n");
    let put = door.request("PUT", "/x", &[("content-type", "text/turtle")], Some(&without_blank));
    assert_eq!(put.status, 204, "{put:?} {without_blank}");
    let stored = door.server.get("/v1/entities/ldp:%2Fx").json();
    assert_eq!(stored["properties"][FORGED], 1, "{stored}");
    assert_eq!(stored["properties"]["http://x/good"], 5, "{stored}");
    assert_eq!(door.server.get("/v1/entities/part").status, 200);
}

#[test]
fn an_iri_that_is_none_is_refused_at_the_json_door() {
    let door = Door::open();
    door.request("PUT", "/x", &[], None);
    for text in [FORGED, "http://x/a>\n<b", "x", "http://x/%"] {
        let patch = json!({"http://x/p": {"$iri": text}});
        let answer = door.server.send("PATCH", "/v1/entities/ldp:%2Fx", &patch);
        assert_eq!((answer.status, &*answer.problem()), (400, "invalid-argument"), "{answer:?}");
        assert!(answer.body.contains("RFC 3987"), "{answer:?}");
    }
    let patch = json!({"http://x/p": {"$iri": "http://x/é"}});
    assert_eq!(door.server.send("PATCH", "/v1/entities/ldp:%2Fx", &patch).status, 200);
    assert!(door.get("/x").body.contains("<http://x/p> <http://x/é> ."));
}
