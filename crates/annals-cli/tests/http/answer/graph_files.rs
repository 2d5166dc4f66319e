//! Graphs in formats that other programs read: asked for by `format` or by `Accept`, whole, as of any time.

use serde_json::json;

use crate::http::endpoints::importing::annals;
use crate::support::Server;

const GRAPHML: &str = "application/graphml+xml";
const DOT: &str = "text/vnd.graphviz";

/// A server with a table that a job reads, and the table that it writes.
fn server() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("repository"), &[]);
    let entity = |id: &str, kind: &str| json!({"action": "create", "kind": "entity", "id": id, "type": kind});
    let link = |id: &str, from: &str, to: &str| json!({"action": "create", "kind": "relationship", "id": id, "type": id, "from": from, "to": to});
    let operations = [
        entity("raw", "table"),
        entity("job", "job"),
        entity("clean", "table"),
        link("reads", "job", "raw"),
        link("writes", "job", "clean"),
    ];
    let answer = server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    assert_eq!(answer.status, 200, "{answer:?}");
    (folder, server)
}

#[test]
fn a_graph_is_sent_in_the_format_that_is_asked_for_and_is_that_of_the_command() {
    let (folder, server) = server();
    server.send("DELETE", "/v1/relationships/writes", &json!({}));
    let repository = folder.path().join("repository");
    let down = "type=reads:in&type=writes:out&atPosition=1";
    let arguments = ["--type=reads:in", "--type=writes:out", "--at-position=1"];
    for (path, command) in [
        ("/v1/entities/raw/reach?", &["reach", "raw"][..]),
        ("/v1/entities/raw/neighborhood?depthMax=4&", &["neighborhood", "raw", "--depth-max=4"]),
        ("/v1/linking?from=raw&to=clean&", &["linking", "raw", "clean"]),
        ("/v1/path?from=raw&to=clean&", &["path", "raw", "clean"]),
        ("/v1/paths?from=raw&to=clean&limit=3&", &["path", "raw", "clean", "--count=3"]),
    ] {
        for (media_type, format) in [(GRAPHML, "graphml"), (DOT, "dot")] {
            let path = format!("{path}{down}");
            let accept = format!("text/html, {media_type};q=0.9");
            let answer = server.request("GET", &path, &[("accept", &accept)], None);
            assert_eq!((answer.status, answer.header("content-type")), (200, Some(media_type)), "{answer:?}");
            assert_eq!(answer.header("annals-position"), Some("1"), "{path}");
            let command = [command, &arguments, &["--format", format]].concat();
            assert_eq!(answer.body, annals(&repository, &command), "{path}");
            // The parameter `format` counts more than the header `Accept`.
            let named = format!("{path}&format={format}");
            let named = server.request("GET", &named, &[("accept", "application/x-ndjson")], None);
            assert_eq!((named.header("content-type"), &named.body), (Some(media_type), &answer.body));
        }
        let json = server.request("GET", &format!("{path}{down}&format=json"), &[("accept", DOT)], None);
        assert_eq!(json.header("content-type"), Some("application/json"), "{json:?}");
    }
    let all = server.get("/v1/export?format=graphml&atPosition=1");
    assert_eq!((all.body.matches("<node ").count(), all.body.matches("<edge ").count()), (3, 2), "{all:?}");
    let tables = server.request("GET", "/v1/export?type=table", &[("accept", DOT)], None);
    assert_eq!(tables.body.matches("label=").count(), 2, "{tables:?}");
    let none = server.get("/v1/path?from=clean&to=raw&type=reads:in&format=dot");
    assert_eq!(none.body, "digraph annals {\n}\n");
}

#[test]
fn what_a_graph_has_no_place_for_is_refused() {
    let (_folder, server) = server();
    for (path, status, kind) in [
        ("/v1/entities/raw/reach?format=svg", 400, "invalid-argument"),
        ("/v1/entities/raw/reach?format=dot&limit=3", 400, "invalid-argument"),
        ("/v1/entities/raw/neighborhood?format=dot&after=1-1", 400, "invalid-argument"),
        ("/v1/entities/raw/related?format=dot", 400, "invalid-argument"),
        ("/v1/export?format=dot&history", 400, "invalid-argument"),
        ("/v1/entities/nobody/reach?format=dot", 404, "not-found"),
        ("/v1/entities/raw/reach/groups", 400, "invalid-argument"),
        ("/v1/entities/raw/reach/groups?groupBy=owner&limit=0", 400, "invalid-page"),
        ("/v1/entities/raw/reach?type=reads:up", 400, "invalid-argument"),
        ("/v1/entities/raw/reach?entityWhere=owner%20=", 400, "invalid-expression"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.problem()), (status, kind.to_owned()), "{path}: {answer:?}");
    }
}
