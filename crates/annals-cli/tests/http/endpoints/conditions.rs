//! Versions as entity tags, and writes that depend on them.

use std::io::Write;

use serde_json::json;

use crate::support::{Server, read_answer, server, tag_beside};

fn server_with_bash() -> (tempfile::TempDir, Server) {
    let (folder, server) = server(&[]);
    let created = server.send(
        "POST",
        "/v1/entities",
        &json!({"id": "bash", "type": "package", "properties": {"size": 7}}),
    );
    assert_eq!(created.status, 201, "{created:?}");
    (folder, server)
}

/// The tag of `bash`, or of another revision such as `3.1`.
fn tag(server: &Server, revision: &str) -> String {
    tag_beside(server.get("/v1/entities/bash").header("etag").expect("it has a tag"), revision)
}

#[test]
fn a_new_instance_tells_its_place_version_and_position() {
    let (_folder, server) = server_with_bash();
    let created = server.send("POST", "/v1/entities", &json!({"id": "a/b ü", "type": "package"}));
    assert_eq!(created.status, 201);
    assert_eq!(created.header("location"), Some("/v1/entities/a%2Fb%20%C3%BC"));
    assert_eq!(created.header("etag"), Some(&*tag(&server, "2.1")), "born at position 2, version 1");
    assert_eq!(created.header("annals-position"), Some("2"));
    assert_eq!(server.get(created.header("location").unwrap()).json()["id"], "a/b ü");
}

/// A client that folds paths would ask for `/v1/`.
#[test]
fn an_instance_whose_place_would_fold_is_not_made() {
    let (_folder, server) = server_with_bash();
    for id in [".", ".."] {
        let created = server.send("POST", "/v1/entities", &json!({"id": id, "type": "package"}));
        assert_eq!((created.status, created.problem().as_str()), (400, "invalid-argument"), "{id}");
        let renamed = server.send("PUT", "/v1/entities/bash/id", &json!({"newId": id}));
        assert_eq!((renamed.status, renamed.problem().as_str()), (400, "invalid-argument"), "{id}");
        let put = server.send(
            "PUT",
            &format!("/v1/entities/{}", id.replace('.', "%2E")),
            &json!({"type": "package"}),
        );
        assert_eq!((put.status, put.problem().as_str()), (400, "invalid-argument"), "{id}");
    }
}

#[test]
fn a_read_of_a_known_version_is_not_modified() {
    let (_folder, server) = server_with_bash();
    let read = |tag: &str| server.request("GET", "/v1/entities/bash", &[("if-none-match", tag)], None);
    let tag = |revision| tag(&server, revision);
    assert_eq!(server.get("/v1/entities/bash").header("etag"), Some(&*tag("1.1")));
    assert_eq!(read(&tag("1.1")).status, 304);
    assert_eq!(read(&format!("{}, W/{}", tag("1.7"), tag("1.1"))).status, 304);
    assert_eq!(read("*").status, 304);
    assert_eq!(read(&tag("1.2")).status, 200);
    assert_eq!(read("2").problem(), "invalid-argument");
}

#[test]
fn a_write_with_an_old_tag_changes_nothing() {
    let (_folder, server) = server_with_bash();
    let tag = |revision| tag(&server, revision);
    let patch = |tag: &str| {
        let headers = [("if-match", tag), ("content-type", "application/merge-patch+json")];
        server.request("PATCH", "/v1/entities/bash", &headers, Some(r#"{"size":8}"#))
    };
    let changed = patch(&tag("1.1"));
    assert_eq!((changed.status, changed.header("etag")), (200, Some(&*tag("1.2"))));
    let refused = patch(&tag("1.1"));
    assert_eq!((refused.status, refused.problem().as_str()), (412, "precondition-failed"));
    assert_eq!(refused.json()["latestVersion"], 2);
    assert_eq!(server.get("/v1/entities/bash").json()["version"], 2);
    assert_eq!(patch("*").status, 200);
    // A weak tag never matches strongly (RFC 9110, section 8.8.3.2).
    assert_eq!(patch(&format!("W/{}", tag("1.2"))).status, 412);
    let deleted = server.request("DELETE", "/v1/entities/bash", &[("if-match", &tag("1.1"))], None);
    assert_eq!(deleted.status, 412);
}

/// An instance was purged, and another one got its id: a client with the old tag read 304, and overwrote the stranger.
#[test]
fn an_instance_with_the_id_of_a_purged_one_has_other_tags() {
    let (_folder, server) = server_with_bash();
    let tag = server.get("/v1/entities/bash").header("etag").unwrap().to_owned();
    assert_eq!(server.request("DELETE", "/v1/entities/bash?purge=true", &[], None).status, 200);
    let stranger = json!({"id": "bash", "type": "book", "properties": {"pages": 7}});
    let created = server.send("POST", "/v1/entities", &stranger);
    let own = tag_beside(&tag, "3.1");
    assert_eq!((created.status, created.header("etag")), (201, Some(&*own)));
    let read = server.request("GET", "/v1/entities/bash", &[("if-none-match", &tag)], None);
    assert_eq!((read.status, read.json()["type"].as_str()), (200, Some("book")));
    let patch = server.request("PATCH", "/v1/entities/bash", &[("if-match", &tag)], Some(r#"{"pages":8}"#));
    assert_eq!((patch.status, patch.problem().as_str()), (412, "precondition-failed"));
    let update = |version: &str| json!({"operations": [{"action": "update", "kind": "entity", "id": "bash", "patch": {"pages": 8}, "ifVersion": version}]});
    let refused = server.send("POST", "/v1/transactions", &update(tag.trim_matches('"')));
    assert_eq!((refused.status, &refused.json()["revision"]), (412, &json!(own.trim_matches('"'))));
    assert_eq!(server.send("POST", "/v1/transactions", &update(own.trim_matches('"'))).status, 200);
}

/// A relationship shows the ids of its ends.
#[test]
fn another_id_of_an_end_gives_a_relationship_another_tag() {
    let (_folder, server) = server_with_bash();
    let knows = json!({"id": "r", "type": "knows", "from": "bash", "to": "bash"});
    assert_eq!(server.send("POST", "/v1/relationships", &knows).status, 201);
    let tag = server.get("/v1/relationships/r").header("etag").unwrap().to_owned();
    assert_eq!(server.send("PUT", "/v1/entities/bash/id", &json!({"newId": "sh"})).status, 200);
    let read = server.request("GET", "/v1/relationships/r", &[("if-none-match", &tag)], None);
    assert_eq!((read.status, read.json()["from"].as_str()), (200, Some("sh")));
    let kept = read.header("etag").unwrap().to_owned();
    assert_eq!(server.request("GET", "/v1/relationships/r", &[("if-none-match", &kept)], None).status, 304);
    let patch = server.request("PATCH", "/v1/relationships/r", &[("if-match", &kept)], Some(r#"{"n":8}"#));
    assert_eq!(patch.status, 200);
}

/// Two writes that were sequenced together: the answer to the first had the tag of the second, and a client that wrote
/// with it as its condition overwrote an acknowledged value.
#[test]
fn an_answer_has_the_tag_of_the_version_that_its_write_made() {
    const CLIENTS: usize = 8;
    // The race was lost once in so many rounds.
    let rounds = if std::env::var_os("ANNALS_TEST_ALL").is_some() { 11_420 } else { 800 };
    let (_folder, server) = server_with_bash();
    let known = &tag(&server, "1.1");
    let patch_often = &|client: usize| {
        let mut stream = std::io::BufReader::new(server.connect());
        let (mut wrong, mut answers) = (Vec::new(), 0);
        for round in 0..rounds / CLIENTS {
            let body = json!({ format!("n{client}"): round }).to_string();
            let head = format!(
                "PATCH /v1/entities/bash HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                server.address,
                body.len()
            );
            stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
            let answer = read_answer(&mut stream, false).expect("the server answers");
            // So many writers of one instance use up the retries of a few.
            if answer.status == 409 {
                continue;
            }
            assert_eq!(answer.status, 200, "{answer:?}");
            answers += 1;
            let json = answer.json();
            let own = tag_beside(known, &format!("1.{}", json["version"]));
            let position = answer.header("annals-position").map(str::to_owned);
            let is_own = answer.header("etag") == Some(&own)
                && json["latestVersion"] == json["version"]
                && position == Some(json["position"].to_string());
            if !is_own {
                wrong.push(format!("{json} with {:?} at {position:?}", answer.header("etag")));
            }
        }
        (wrong, answers)
    };
    let outcomes: Vec<(Vec<String>, usize)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || patch_often(client))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let (wrong, answers): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
    assert_eq!(wrong.concat(), Vec::<String>::new());
    assert!(answers.iter().sum::<usize>() > rounds / 2, "{answers:?}");
}

#[test]
fn of_many_writers_with_one_tag_one_wins() {
    let (_folder, server) = server_with_bash();
    let tag = &tag(&server, "1.1");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let patch = |number: usize| {
            // None of them is the size it has: that would change nothing, and leave the tag to another.
            let body = json!({ "size": 100 + number }).to_string();
            server.request("PATCH", "/v1/entities/bash", &[("if-match", tag)], Some(&body)).status
        };
        let threads: Vec<_> = (0..16).map(|number| scope.spawn(move || patch(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 15, "{statuses:?}");
}

#[test]
fn writers_without_tags_all_get_their_turn() {
    let (_folder, server) = server_with_bash();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let server = &server;
            scope.spawn(move || {
                let steps = json!([{ "add": "seen", "value": number }]);
                assert_eq!(server.send("PATCH", "/v1/entities/bash", &steps).status, 200);
            });
        }
    });
    let bash = server.get("/v1/entities/bash").json();
    assert_eq!(bash["version"], 17);
    assert_eq!(bash["properties"]["seen"]["$set"].as_array().unwrap().len(), 16);
}

#[test]
fn put_creates_or_replaces_as_asked() {
    let (_folder, server) = server_with_bash();
    let put = |path: &str, headers: &[(&str, &str)], body: serde_json::Value| {
        server.request("PUT", path, headers, Some(&body.to_string()))
    };
    let only_new = [("if-none-match", "*")];
    assert_eq!(put("/v1/entities/zsh", &only_new, json!({"type": "package"})).status, 201);
    assert_eq!(put("/v1/entities/zsh", &only_new, json!({"type": "package"})).status, 412);
    assert_eq!(put("/v1/entities/dash", &[], json!({"type": "package"})).status, 201);
    assert_eq!(put("/v1/entities/ksh", &[("if-match", "*")], json!({"type": "package"})).status, 412);
    assert_eq!(put("/v1/entities/ksh", &[], json!({})).problem(), "invalid-argument");
    assert_eq!(put("/v1/entities/bash", &[], json!({"type": "other"})).problem(), "invalid-argument");
    assert_eq!(put("/v1/entities/bash", &[], json!({"id": "zsh"})).problem(), "invalid-argument");
    let replaced = put("/v1/entities/bash", &[], json!({"properties": {"name": "bash"}}));
    assert_eq!((replaced.status, &replaced.json()["properties"]), (200, &json!({"name": "bash"})));
}

#[test]
fn what_a_get_gave_can_be_put_back() {
    let (_folder, server) = server_with_bash();
    server.send(
        "PUT",
        "/v1/entities/bash/classifications/essential",
        &json!({"properties": {"since": 1996}}),
    );
    server.send(
        "POST",
        "/v1/relationships",
        &json!({"id": "r", "type": "knows", "from": "bash", "to": "bash"}),
    );
    for path in ["/v1/entities/bash", "/v1/relationships/r"] {
        let mut read = server.get(path).json();
        read["properties"]["size"] = 8.into();
        let written = server.send("PUT", path, &read);
        assert_eq!(written.status, 200, "{written:?}");
        for name in ["type", "from", "to", "properties", "id", "created"] {
            assert_eq!(written.json()[name], read[name]);
        }
    }
    let bash = server.get("/v1/entities/bash").json();
    assert_eq!(bash["classifications"]["essential"]["properties"], json!({"since": 1996}));
}

#[test]
fn every_endpoint_of_an_instance_does_what_it_says() {
    let (_folder, server) = server_with_bash();
    let classification = "/v1/entities/bash/classifications/essential";
    assert_eq!(server.get(classification).status, 404);
    assert_eq!(server.send("PUT", classification, &json!({"properties": {"since": 1996}})).status, 200);
    assert_eq!(server.get(classification).json()["properties"], json!({"since": 1996}));
    assert_eq!(server.send("PUT", classification, &json!({"properties": {"by": "x"}})).status, 200);
    assert_eq!(server.send("PATCH", classification, &json!({"since": 1})).status, 200);
    let read = server.get(classification).json();
    assert_eq!((&read["version"], &read["properties"]), (&json!(3), &json!({"by": "x", "since": 1})));
    assert_eq!(server.request("DELETE", classification, &[], None).status, 200);
    assert_eq!(server.get(classification).problem(), "not-found");
    assert_eq!(server.request("POST", "/v1/entities/bash/undo", &[], None).status, 200);
    assert_eq!(server.get(classification).status, 200);

    assert_eq!(server.request("DELETE", "/v1/entities/bash", &[], None).status, 200);
    assert_eq!(server.get("/v1/entities/bash").problem(), "deleted");
    assert_eq!(server.get(classification).problem(), "deleted");
    assert_eq!(server.request("POST", "/v1/entities/bash/restore?alone", &[], None).status, 200);
    assert_eq!(server.request("POST", "/v1/entities/bash/restore", &[], None).problem(), "not-deleted");
    assert_eq!(server.request("DELETE", "/v1/entities/bash?purge=true", &[], None).status, 200);
    assert_eq!(server.get("/v1/entities/bash").problem(), "not-found");
    assert_eq!(server.get("/v1/entities/bash/history").problem(), "not-found");

    let package =
        json!({"closed": true, "attributes": [{"name": "name", "type": "string", "required": true}]});
    assert_eq!(server.send("PUT", "/v1/types/entity/package", &package).status, 200);
    assert_eq!(server.get("/v1/types/entity/package").json()["attributes"][0]["name"], "name");
    assert_eq!(server.get("/v1/types").json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(server.get("/v1/types/entity/other").problem(), "not-found");
    assert_eq!(server.get("/v1/types/thing/other").problem(), "not-found");
    assert_eq!(
        server.send("PUT", "/v1/types/entity/package", &json!({"name": "x"})).problem(),
        "invalid-argument"
    );
    assert_eq!(
        server.send("POST", "/v1/entities", &json!({"type": "package"})).problem(),
        "invalid-property"
    );
}

#[test]
fn who_why_and_since_when_are_recorded() {
    let (_folder, server) = server_with_bash();
    let created =
        server.send("POST", "/v1/entities?validFrom=2019-01-01", &json!({"id": "zsh", "type": "package"}));
    assert_eq!(created.json()["validFrom"], "2019-01-01T00:00:00Z");
    let headers = [("annals-author", "J%C3%BCrgen"), ("annals-message", "a correction")];
    let path = "/v1/entities/zsh?validFrom=2020-01-01";
    assert_eq!(server.request("PATCH", path, &headers, Some(r#"{"size":1}"#)).status, 200);
    let history = server.get("/v1/entities/zsh/history").json();
    let last = &history["items"][0];
    assert_eq!((&last["author"], &last["message"]), (&json!("Jürgen"), &json!("a correction")));
    assert_eq!(last["validFrom"], "2020-01-01T00:00:00Z");
    let at = |instant: &str| {
        server.get(&format!("/v1/entities/zsh?validAt={instant}")).json()["properties"].clone()
    };
    assert_eq!((at("2021-01-01"), at("2019-06-01")), (json!({"size": 1}), json!({})));
}

#[test]
fn an_operation_whose_version_is_another_one_refuses_the_whole_transaction() {
    let (_folder, server) = server_with_bash();
    let commit = |operations: serde_json::Value| {
        server.send("POST", "/v1/transactions", &json!({"operations": operations}))
    };
    let update = |version: u32| json!({"action": "update", "kind": "entity", "id": "bash", "patch": {"size": 8}, "ifVersion": version});
    assert_eq!(commit(json!([update(1)])).status, 200);
    let zsh = json!({"action": "create", "kind": "entity", "id": "zsh", "type": "package", "ifVersion": 0});
    let refused = commit(json!([zsh, update(1)]));
    assert_eq!((refused.status, refused.problem().as_str()), (412, "precondition-failed"));
    assert_eq!(refused.json()["latestVersion"], 2);
    assert_eq!(server.get("/v1/entities/zsh").status, 404);
    let nobody = commit(json!([zsh, {"action": "expect", "kind": "entity", "id": "nobody", "ifVersion": 1}]));
    assert_eq!((nobody.status, nobody.json().get("latestVersion")), (412, None));
    assert_eq!(commit(json!([zsh, update(2)])).status, 200);
}

/// Each reads two accounts and moves some of the balance, with what it read as a condition.
#[test]
fn transfers_between_accounts_that_were_read_lose_nothing() {
    const ACCOUNTS: usize = 3;
    let (_folder, server) = server_with_bash();
    for number in 0..ACCOUNTS {
        let account = json!({"id": format!("a{number}"), "type": "account", "properties": {"balance": 100}});
        assert_eq!(server.send("POST", "/v1/entities", &account).status, 201);
    }
    let read = |number: usize| {
        let account = server.get(&format!("/v1/entities/a{number}")).json();
        (account["latestVersion"].clone(), account["properties"]["balance"].as_i64().unwrap())
    };
    let transfer = |from: usize, to: usize, amount: i64| {
        loop {
            let ((from_version, from_balance), (to_version, to_balance)) = (read(from), read(to));
            let set = |number: usize, balance: i64, version| {
                let patch = json!({"balance": balance});
                json!({"action": "update", "kind": "entity", "id": format!("a{number}"), "patch": patch, "ifVersion": version})
            };
            let operations =
                [set(from, from_balance - amount, from_version), set(to, to_balance + amount, to_version)];
            match server.send("POST", "/v1/transactions", &json!({"operations": operations})).status {
                200 => return,
                412 => {}
                other => panic!("status {other}"),
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let transfer = &transfer;
            scope.spawn(move || {
                for step in 0..10 {
                    transfer(thread % ACCOUNTS, (thread + 1 + step % 2) % ACCOUNTS, (step + 1) as i64);
                }
            });
        }
    });
    let accounts: Vec<_> = (0..ACCOUNTS).map(read).collect();
    assert_eq!(accounts.iter().map(|(_, balance)| balance).sum::<i64>(), 300, "{accounts:?}");
    let versions: u64 = accounts.iter().map(|(version, _)| version.as_u64().unwrap()).sum();
    assert_eq!(versions, (ACCOUNTS + 2 * 6 * 10) as u64);
}
