//! Groups of what a search finds, in the forms of the door.

use serde_json::json;

use crate::support::{Answer, Server};

fn server() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("repository"), &[]);
    let table = |id: &str, owner: &str, rows: i64| {
        json!({
            "action": "create", "kind": "entity", "id": id, "type": "table",
            "properties": {"owner": owner, "rows": rows},
        })
    };
    let operations = json!([table("a", "s, \"x\"", 3), table("b", "=1+1", 5), table("c", "s, \"x\"", 4)]);
    let answer = server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    assert_eq!(answer.status, 200, "{answer:?}");
    (folder, server)
}

fn ask(server: &Server, query: &str, accept: &str) -> Answer {
    server.request("GET", &format!("/v1/entities?{query}"), &[("accept", accept)], None)
}

#[test]
fn groups_are_json_lines_and_csv() {
    let (_folder, server) = server();
    let query = "groupBy=owner&aggregate=sum(rows)&aggregate=count&type=table";
    let large = json!({"values": {"owner": "s, \"x\""}, "count": 2, "sum": {"rows": 7}});
    let small = json!({"values": {"owner": "=1+1"}, "count": 1, "sum": {"rows": 5}});
    let expected = json!({
        "groups": [large, small], "count": 3, "rest": {"groups": 0, "count": 0}, "items": [], "next": null,
    });
    assert_eq!(ask(&server, query, "application/json").json(), expected);
    let csv = ask(&server, query, "text/csv");
    assert_eq!(csv.body, "owner,count,sum(rows)\r\n\"s, \"\"x\"\"\",2,7\r\n=1+1,1,5\r\n");
    assert!(csv.header("content-type").is_some_and(|value| value.starts_with("text/csv")), "{csv:?}");
    let limited = ask(&server, &format!("{query}&limit=1"), "text/csv");
    assert_eq!(limited.body.lines().count(), 2);
    let lines = ask(&server, &format!("{query}&limit=1"), "application/x-ndjson");
    let lines: Vec<serde_json::Value> =
        lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, [large, json!({"count": 3, "rest": {"groups": 1, "count": 1}})]);
    let posted = server.send("POST", "/v1/groups", &json!({"type": "table", "aggregate": "max(rows)"}));
    let all = json!({"values": {}, "count": 3, "max": {"rows": 5}});
    assert_eq!(posted.json(), json!({"groups": [all], "count": 3, "rest": {"groups": 0, "count": 0}}));
}

#[test]
fn wrong_groupings_are_refused() {
    let (_folder, server) = server();
    for (query, status, kind) in [
        ("groupBy=owner&orderBy=owner", 400, "invalid-argument"),
        ("groupBy=owner&offset=1", 400, "invalid-argument"),
        ("groupBy=owner&limit=0", 400, "invalid-page"),
        ("groupBy=@nothing", 400, "invalid-argument"),
        ("groupBy=@text", 400, "invalid-expression"),
        ("groupBy=owner&groupBy=owner", 400, "invalid-argument"),
        ("aggregate=avg(rows)", 400, "invalid-argument"),
        ("aggregate=sum(owner)", 400, "invalid-expression"),
    ] {
        for accept in ["application/json", "application/x-ndjson", "text/csv"] {
            let answer = ask(&server, query, accept);
            assert_eq!(
                (answer.status, answer.problem()),
                (status, kind.to_owned()),
                "{query} as {accept}: {answer:?}"
            );
        }
    }
    let answer = server.send("POST", "/v1/groups", &json!({"groupBy": 7}));
    assert_eq!(answer.problem(), "invalid-argument", "{answer:?}");
    let answer = server.send("POST", "/v1/find", &json!({"groupBy": "owner"}));
    assert_eq!(answer.problem(), "invalid-argument", "{answer:?}");
}
