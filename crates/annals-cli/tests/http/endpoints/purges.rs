//! Doors answer nothing of a purged instance, from the moment of the purge; and after a compaction no file holds it.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::{Server, server};

/// In every value of what is purged.
const SECRET: &str = "geheim-4711";
/// In the last record: feeds have no end.
const END: &str = "the-end-of-the-feed";

fn commit(server: &Server, operations: Json) {
    let answer = server.send("POST", "/v1/transactions", &json!({"operations": operations}));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A feed up to the last record.
fn feed(server: &Server, query: &str) -> String {
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = server.address;
    write!(stream, "GET /v1/feed?after=0{query} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&text).contains(END) {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..count]);
    }
    String::from_utf8(text).unwrap()
}

/// The answers that hold the secret, in plain or as the base64 of edits.
fn telling(server: &Server) -> Vec<String> {
    let description = server.get("/openapi.json").json();
    let mut paths: Vec<String> = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        if methods.get("get").is_some() && path != "/v1/feed" && path != "/v1/backup" {
            let names = [
                ("{id}", "x"),
                ("{kind}", "entity"),
                ("{candidate}", "c"),
                ("{name}", "c"),
                ("{steps}", "x"),
            ];
            paths.push(names.iter().fold(path.clone(), |path, (name, value)| path.replace(name, value)));
        }
    }
    paths.extend(
        [
            "/v1/entities/x?atPosition=2",
            "/v1/entities?q=*",
            "/v1/entities?q=*&atPosition=2",
            "/v1/entities/x/history?content=true",
            "/v1/entities/annals-candidate:c/history?content=true",
            "/v1/entities/annals-candidate:c?atPosition=6",
            "/v1/entities/hub/related?direction=both&limit=1&count=true",
            "/v1/diff?from=0&to=4",
            "/v1/tree/x",
            "/v1/tree-diff/?from=1&to=4",
            "/v1/content/x",
            "/v1/export",
            "/v1/export?history=true",
            "/v1/export?atPosition=4",
            "/v1/log?limit=100",
        ]
        .map(str::to_owned),
    );
    let encoded = base64_of(SECRET);
    let holds =
        |text: &str| text.contains(SECRET) || encoded.iter().any(|piece| text.contains(piece.as_str()));
    let mut found: Vec<String> = paths.into_iter().filter(|path| holds(&server.get(path).body)).collect();
    for query in ["", "&search=*", "&search=page", "&tree=/"] {
        found.extend(holds(&feed(server, query)).then(|| format!("/v1/feed{query}")));
    }
    found
}

/// The part of the base64 of a text that does not depend on its neighbours, at each of the three offsets.
fn base64_of(text: &str) -> Vec<String> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..3)
        .map(|offset| {
            let bytes = [vec![0; offset], text.as_bytes().to_vec()].concat();
            let digits = bytes.chunks_exact(3).flat_map(|chunk| {
                let bits = chunk.iter().fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
                [18, 12, 6, 0].map(|shift| char::from(DIGITS[bits >> shift & 63]))
            });
            digits.skip(if offset == 0 { 0 } else { 4 }).collect()
        })
        .collect()
}

fn files_with_secret(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with_secret(&path));
        } else if std::fs::read(&path)
            .unwrap_or_default()
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Story: after a purge the log, reads and histories showed nothing, and the feed and the export of the history showed all
/// its values; the feed of a search showed them to a client that asked what another one had asked before the purge.
#[test]
fn no_answer_holds_what_was_purged_and_after_a_compaction_no_file_does() {
    let (folder, server) = server(&[]);
    let page = |id: &str, text: &str| json!({"action": "create", "kind": "entity", "id": id, "type": "page", "properties": {"text": text}});
    let contains = json!({"kind": "relationship", "name": "contains", "containment": {}});
    commit(&server, json!([{"action": "define-type", "type": contains}]));
    commit(
        &server,
        json!([
            {"action": "create", "kind": "entity", "id": "root", "type": "node"},
            {"action": "create", "kind": "entity", "id": "hub", "type": "node"},
            page("x", SECRET),
            page("y", "plain"),
            {"action": "create", "kind": "relationship", "type": "contains", "from": "root", "to": "x", "properties": {"name": "x"}},
            {"action": "create", "kind": "relationship", "type": "to", "from": "hub", "to": "x"},
            {"action": "create", "kind": "relationship", "type": "to", "from": "hub", "to": "y"},
        ]),
    );
    let content = server.request("PUT", "/v1/content/x", &[("content-type", "text/plain")], Some(SECRET));
    assert_eq!(content.status, 200, "{content:?}");
    let update = |text: &str| {
        let patch = json!({"text": format!("{SECRET} {text}")});
        json!({"operations": [{"action": "update", "kind": "entity", "id": "x", "patch": patch}]})
    };
    assert_eq!(server.send("POST", "/v1/transactions", &update("again")).status, 200);
    assert_eq!(server.send("POST", "/v1/candidates", &json!({"name": "c"})).status, 201);
    assert_eq!(server.send("POST", "/v1/transactions?candidate=c", &update("mine")).status, 200);
    let place = json!({"action": "create", "kind": "relationship", "type": "contains", "from": "root", "to": END, "properties": {"name": END}});
    commit(&server, json!([page(END, END), place]));
    let before = telling(&server);
    for path in [
        "/v1/entities/x",
        "/v1/export?history=true",
        "/v1/log?limit=100",
        "/v1/feed",
        "/v1/feed&search=page",
        "/v1/candidates/c/edits",
        "/v1/content/x",
        "/v1/tree/x",
    ] {
        assert!(before.iter().any(|found| found == path), "{path} is not among {before:?}");
    }
    assert_eq!(server.request("DELETE", "/v1/entities/x?purge=true", &[], None).status, 200);
    assert_eq!(telling(&server), Vec::<String>::new());
    let edits = server.get("/v1/candidates/c/edits").json();
    assert_eq!(edits["items"].as_array().unwrap().len(), 1, "{edits}");
    assert_eq!(edits["items"][0]["action"], "void", "{edits}");
    let conflicts = server.get("/v1/candidates/c/conflicts").json();
    assert_eq!(conflicts["items"].as_array().unwrap().len(), 1, "{conflicts}");
    let place = folder.path().join("repository");
    assert!(!files_with_secret(&place).is_empty());
    assert_eq!(server.request("POST", "/v1/compactions", &[], None).status, 200);
    assert_eq!(telling(&server), Vec::<String>::new());
    assert_eq!(files_with_secret(&place), Vec::<String>::new());
    drop(server);
    let server = Server::start(&place, &[]);
    assert_eq!(telling(&server), Vec::<String>::new());
}
