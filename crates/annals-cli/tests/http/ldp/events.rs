//! Notifications of the LDP door: one message in Activity Streams 2.0 for each changed resource and commit.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value as Json, json};

use super::resources::Door;

/// The notifications, from after a position if one is given.
struct Events(BufReader<TcpStream>);

impl Events {
    fn of(door: &Door, after: Option<&str>) -> Events {
        let mut stream = door.server.connect();
        let after = after.map(|after| format!("last-event-id: {after}\r\n")).unwrap_or_default();
        let head = format!("GET /rest/fcr:events HTTP/1.1\r\nhost: {}\r\n{after}\r\n", door.server.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Events(BufReader::new(stream));
        events.line("retry:");
        // It can come back before the first message.
        assert_ne!(events.line("id: "), "");
        events
    }

    fn line(&mut self, start: &str) -> String {
        let mut line = String::new();
        while !line.starts_with(start) {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended before {start}");
        }
        line[start.len()..].trim().to_owned()
    }

    /// The messages of the next commit, and its position.
    fn commit(&mut self) -> (Vec<Json>, String) {
        let mut messages = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ") {
                messages.push(serde_json::from_str(data).unwrap());
            }
            // The last message of a commit has its position.
            if let Some(position) = line.strip_prefix("id: ") {
                messages.push(serde_json::from_str(&self.line("data: ")).unwrap());
                return (messages, position.trim().to_owned());
            }
        }
    }

    /// The same, short.
    fn changes(&mut self, door: &Door) -> Vec<String> {
        let text = |message: &Json| {
            let iri = message["object"]["id"].as_str().unwrap().strip_prefix(&door.root).unwrap();
            format!("{} {iri}", message["type"].as_str().unwrap())
        };
        let mut changes: Vec<String> = self.commit().0.iter().map(text).collect();
        changes.sort();
        changes
    }
}

#[test]
fn each_changed_resource_has_a_message() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    let mut events = Events::of(&door, None);
    let body = "<> a <http://example.org/Book> ; ldp:inbox <http://example.org/inbox> .";
    let headers =
        [("content-type", "text/turtle"), ("annals-author", "ada"), ("annals-message", "new books")];
    let body = format!("@prefix ldp: <http://www.w3.org/ns/ldp#> . {body}");
    assert_eq!(door.request("PUT", "/a/b", &headers, Some(&body)).status, 201);
    let (messages, position) = events.commit();
    let created = messages.iter().find(|message| message["type"] == "Create").unwrap();
    assert_eq!(created["@context"], "https://www.w3.org/ns/activitystreams");
    assert!(created["id"].as_str().unwrap().starts_with("urn:uuid:"), "{created}");
    assert_eq!(created["actor"], json!({"type": "Person", "name": "ada"}));
    assert_eq!(created["summary"], "new books");
    assert!(created["published"].as_str().unwrap().ends_with('Z'));
    let object = &created["object"];
    assert_eq!(object["id"], format!("{}/a/b", door.root));
    assert_eq!(object["inbox"], "http://example.org/inbox");
    let types = object["type"].as_array().unwrap();
    for class in ["http://www.w3.org/ns/ldp#BasicContainer", "http://example.org/Book"] {
        assert!(types.contains(&json!(class)), "{object}");
    }
    // The container has another child.
    let updated = messages.iter().find(|message| message["type"] == "Update").unwrap();
    assert_eq!(updated["object"]["id"], format!("{}/a", door.root));
    assert_eq!(messages.len(), 2);
    // A reader that comes back with its last event id gets the events after it; with 0 it gets all events.
    door.update("PATCH", "/a/b", "INSERT DATA { <> dc:title 'x' }");
    assert_eq!(events.changes(&door), ["Update /a/b"]);
    assert_eq!(Events::of(&door, Some(&position)).changes(&door), ["Update /a/b"]);
    let first = Events::of(&door, Some("0")).changes(&door);
    assert_eq!(first, ["Create /", "Create /a"]);
    let wrong = door.request("GET", "/fcr:events", &[("last-event-id", "99")], None);
    assert_eq!(wrong.status, 404);
    assert_eq!(door.request("POST", "/fcr:events", &[], None).status, 405);
}

#[test]
fn links_parts_members_binaries_and_deletions_have_messages() {
    let door = Door::open();
    door.turtle("PUT", "/b", "");
    door.turtle("PUT", "/a", "");
    door.turtle("PUT", "/members", "<> a ldp:DirectContainer ; ldp:membershipResource </rest/a> ; ldp:hasMemberRelation pcdm:hasMember .");
    let mut events = Events::of(&door, None);
    door.update("PATCH", "/a", "INSERT DATA { <> dc:relation </rest/b> }");
    assert_eq!(events.changes(&door), ["Update /a"]);
    door.update("PATCH", "/a", "INSERT DATA { <#part> dc:title 'part' }");
    assert_eq!(events.changes(&door), ["Update /a"]);
    door.request("PUT", "/members/one", &[], None);
    assert_eq!(events.changes(&door), ["Create /members/one", "Update /a", "Update /members"]);
    door.request("PUT", "/b/file", &[("content-type", "text/plain")], Some("x"));
    assert_eq!(events.changes(&door), ["Create /b/file", "Create /b/file/fcr:metadata", "Update /b"]);
    door.request("PUT", "/b/file", &[("content-type", "text/plain")], Some("y"));
    assert_eq!(events.changes(&door), ["Update /b/file", "Update /b/file/fcr:metadata"]);
    door.update("PATCH", "/b/file/fcr:metadata", "INSERT DATA { <> dc:title 'x' }");
    let changes = events.changes(&door);
    assert_eq!(changes, ["Update /b/file/fcr:metadata"]);
    // Others refer to `/b`, so a placeholder stays; the binary in it is deleted along.
    assert_eq!(door.request("DELETE", "/b", &[], None).status, 204);
    assert_eq!(
        events.changes(&door),
        ["Delete /b", "Delete /b/file", "Delete /b/file/fcr:metadata", "Update /"]
    );
    // A commit of another door that touches no resource has no message.
    let other = r#"{"id":"x","type":"thing"}"#;
    let answer = door.server.request("POST", "/v1/entities", &[], Some(other));
    assert_eq!(answer.status, 201, "{answer:?}");
    door.request("DELETE", "/members", &[], None);
    assert_eq!(events.changes(&door), ["Delete /members", "Delete /members/one", "Update /", "Update /a"]);
}
