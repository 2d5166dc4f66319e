//! Tags of a repository in one that was restored from its backup: there they name nothing, whatever is at their positions.

use annals::{Repository, restore};
use serde_json::json;

use crate::support::{Answer, Server, try_request};

const MERGE: (&str, &str) = ("content-type", "application/merge-patch+json");
const TURTLE: (&str, &str) = ("content-type", "text/turtle");

/// A repository that went on after its backup, and the one that was restored from that backup and went on, too.
struct Twins {
    _folder: tempfile::TempDir,
    original: Server,
    restored: Server,
}

impl Twins {
    fn new() -> Twins {
        let folder = tempfile::tempdir().unwrap();
        let [original, backup, restored] =
            ["original", "backup", "restored"].map(|name| folder.path().join(name));
        let server = start(&original);
        server.commit(&[json!({"action": "define-type", "type": {"kind": "relationship", "name": "contains", "containment": {}}})]);
        let item = json!({"$type": "config", "deep": {"n": 1}});
        assert_eq!(server.send("PUT", "/v1/tree/c", &item).status, 201);
        for (id, name) in [("box", "c"), ("bash", "d")] {
            let entity = json!({"id": id, "type": "package", "properties": {"name": name, "size": 7}});
            assert_eq!(server.send("POST", "/v1/entities", &entity).status, 201);
        }
        let link = json!({"id": "r", "type": "knows", "from": "box", "to": "bash"});
        assert_eq!(server.send("POST", "/v1/relationships", &link).status, 201);
        let classified =
            server.send("PUT", "/v1/entities/bash/classifications/seal", &json!({"properties": {}}));
        assert_eq!(classified.status, 200, "{classified:?}");
        assert_eq!(ask(&server, "PUT", "/rest/z", &[TURTLE], Some("<> <urn:n> 0 .")).status, 201);
        server.terminate();
        assert!(server.ended_well());
        Repository::open(&original).unwrap().backup(&backup).unwrap();
        restore(&backup, &restored).unwrap();
        let twins = Twins { _folder: folder, original: start(&original), restored: start(&restored) };
        for (server, size) in [(&twins.original, 8), (&twins.restored, 9)] {
            let change = json!({ "size": size }).to_string();
            for path in ["/v1/entities/bash", "/v1/relationships/r"] {
                let changed = server.request("PATCH", path, &[MERGE], Some(&change));
                assert_eq!(changed.status, 200, "{changed:?}");
            }
            assert_eq!(server.send("PUT", "/v1/tree/c/deep/n", &json!(size)).status, 200);
            let turtle = format!("<> <urn:n> {size} .");
            let tag = ask(server, "GET", "/rest/z", &[], None).header("etag").unwrap().to_owned();
            let put = ask(server, "PUT", "/rest/z", &[TURTLE, ("if-match", &tag)], Some(&turtle));
            assert_eq!(put.status, 204, "{put:?}");
        }
        twins
    }

    /// The tag at a path in the original.
    fn tag(&self, path: &str) -> String {
        let tags = [&self.original, &self.restored].map(|server| {
            let read = ask(server, "GET", path, &[], None);
            assert_eq!(read.status, 200, "{path}: {read:?}");
            read.header("etag").expect("it has a tag").to_owned()
        });
        // The same position, and another state.
        let [own, other] = &tags;
        assert_ne!(own, other, "{path}");
        own.clone()
    }
}

fn start(folder: &std::path::Path) -> Server {
    Server::start(folder, &["--ldp-root", "/rest"])
}

/// Asks either door: the OpenAPI document describes one of them.
fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
    match path.starts_with("/rest") {
        true => try_request(server.address, method, path, headers, body).expect("the server answers"),
        false => server.request(method, path, headers, body),
    }
}

fn check_refused(answer: &Answer) {
    assert_eq!((answer.status, answer.problem().as_str()), (412, "precondition-failed"), "{answer:?}");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("another log: a copy, or a restored backup"), "{detail}");
}

#[test]
fn a_restored_backup_takes_no_tag_of_the_original() {
    let twins = Twins::new();
    let restored = &twins.restored;
    for (path, method, body) in [
        ("/v1/entities/bash", "PATCH", Some(r#"{"size":10}"#)),
        ("/v1/entities/bash", "DELETE", None),
        ("/v1/relationships/r", "PATCH", Some(r#"{"size":10}"#)),
        ("/v1/entities/bash/classifications/seal", "DELETE", None),
        ("/v1/tree/c", "DELETE", None),
        ("/v1/tree/c/deep", "PUT", Some(r#"{"n":10}"#)),
        ("/v1/tree/c/deep/n", "PUT", Some("10")),
        ("/rest/z", "PUT", Some("<> <urn:n> 10 .")),
        ("/rest/z", "DELETE", None),
    ] {
        let tag = twins.tag(path);
        let read = ask(restored, "GET", path, &[("if-none-match", &tag)], None);
        assert_eq!(read.status, 200, "{path}: {read:?}");
        let media_type = if path.starts_with("/rest") { TURTLE } else { MERGE };
        check_refused(&ask(restored, method, path, &[("if-match", &tag), media_type], body));
        // The original takes it. Reads of classifications and of trees have no conditions.
        let read = ask(&twins.original, "GET", path, &[("if-none-match", &tag)], None);
        let has_none = path.contains("/classifications/") || path.starts_with("/v1/tree");
        let status = if has_none { 200 } else { 304 };
        assert_eq!(read.status, status, "{path}: {read:?}");
    }
}

#[test]
fn a_transaction_in_a_restored_backup_takes_no_tag_of_the_original() {
    let twins = Twins::new();
    let tag = twins.tag("/v1/entities/bash").replace('"', "");
    let update = json!({"operations": [
        {"action": "update", "kind": "entity", "id": "bash", "patch": {"size": 10}, "ifVersion": tag}
    ]});
    check_refused(&twins.restored.send("POST", "/v1/transactions", &update));
    assert_eq!(twins.original.send("POST", "/v1/transactions", &update).status, 200);
    // Numbers of versions are of no log.
    let update = json!({"operations": [
        {"action": "update", "kind": "entity", "id": "bash", "patch": {"size": 10}, "ifVersion": 3}
    ]});
    assert_eq!(twins.restored.send("POST", "/v1/transactions", &update).status, 200);
}

#[test]
fn a_tag_that_names_no_log_is_refused_with_the_remedy() {
    let twins = Twins::new();
    for path in ["/v1/entities/bash", "/rest/z"] {
        let tag = twins.tag(path);
        let at = tag.find('@').expect("it names the log");
        let old = tag[..at].to_owned() + &tag[at + 9..];
        let media_type = if path.starts_with("/rest") { TURTLE } else { MERGE };
        let method = if path.starts_with("/rest") { "PUT" } else { "PATCH" };
        let refused = ask(&twins.original, method, path, &[("if-match", &old), media_type], Some("{}"));
        assert_eq!(refused.status, 412, "{refused:?}");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("names no log") && detail.contains("read it again"), "{detail}");
    }
}
