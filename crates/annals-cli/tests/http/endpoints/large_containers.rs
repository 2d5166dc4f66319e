//! Containers that are deleted and purged in steps.

use serde_json::{Value as Json, json};

use crate::support::Server;

/// More than two steps.
const ITEMS: usize = 2_300;

fn commit(server: &Server, operations: &[Json]) {
    let answer = server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A box with items, each second one in the item before it.
fn filled(server: &Server) {
    let types = json!({"types": [{"kind": "relationship", "name": "contains", "containment": {}}]});
    assert_eq!(server.send("POST", "/v1/types", &types).status, 200);
    let entity = |id: &str| json!({"action": "create", "kind": "entity", "id": id, "type": "item"});
    let mut operations = vec![entity("box")];
    for number in 0..ITEMS {
        let id = format!("i{number}");
        let parent = if number % 2 == 0 { "box".to_owned() } else { format!("i{}", number - 1) };
        operations.push(entity(&id));
        operations.push(
            json!({"action": "create", "kind": "relationship", "type": "contains", "from": parent, "to": id,
                               "properties": {"name": id}}),
        );
    }
    operations.chunks(500).for_each(|part| commit(server, part));
}

fn position(server: &Server) -> u64 {
    server.get("/health/ready").json()["position"].as_u64().unwrap()
}

#[test]
fn a_large_container_is_deleted_in_steps_of_which_each_is_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    filled(&server);
    let before = position(&server);
    let wrong = server.request("DELETE", "/v1/entities/box?inSteps=true", &[("if-match", "\"9.9\"")], None);
    assert_eq!(wrong.status, 412, "{wrong:?}");
    assert_eq!(position(&server), before);
    let answer = server.request("DELETE", "/v1/entities/box?inSteps=true", &[], None);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["position"], before + 3);
    assert_eq!([server.get("/v1/entities/box").status, server.get("/v1/entities/i7").status], [410, 410]);
    let again = server.request("DELETE", "/v1/entities/box?inSteps=true", &[], None);
    assert_eq!(again.problem(), "deleted");
}

#[test]
fn a_container_that_was_deleted_whole_is_purged_in_steps() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    filled(&server);
    assert_eq!(server.request("DELETE", "/v1/entities/box", &[], None).status, 200);
    let before = position(&server);
    let answer = server.request("DELETE", "/v1/entities/box?inSteps=true&purge=true", &[], None);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(position(&server) > before + 2);
    for id in ["box", "i0", "i1", "i2299"] {
        assert_eq!(server.get(&format!("/v1/entities/{id}/history")).status, 404, "{id}");
    }
}
