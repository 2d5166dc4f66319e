//! `/v1/log`: what was changed, by whom and when, with the values.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, server};

fn commit(server: &Server, author: &str, operations: Json) {
    let transaction = json!({ "author": author, "message": "m", "operations": operations });
    let answer = server.send("POST", "/v1/transactions", &transaction);
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A server with the changes of two authors.
fn server_with_changes() -> (tempfile::TempDir, Server) {
    let (folder, server) = server(&[]);
    commit(
        &server,
        "ann",
        json!([
            {"action": "define-type", "type": {"kind": "entity", "name": "person"}},
            {"action": "define-type", "type": {"kind": "entity", "name": "employee", "supertypes": ["person"]}},
        ]),
    );
    commit(
        &server,
        "ann",
        json!([
            {"action": "create", "kind": "entity", "id": "ada", "type": "employee", "properties": {"rows": 5}},
            {"action": "create", "kind": "entity", "id": "bin", "type": "table"},
            {"action": "create", "kind": "relationship", "id": "owns", "type": "owns", "from": "ada", "to": "bin"},
        ]),
    );
    commit(
        &server,
        "bob",
        json!([{"action": "update", "kind": "entity", "id": "ada", "patch": {"rows": 9}}]),
    );
    commit(
        &server,
        "bob",
        json!([
            {"action": "classify", "kind": "entity", "id": "bin", "classification": "gold"},
            {"action": "update", "kind": "relationship", "id": "owns", "patch": {"since": 2020}},
        ]),
    );
    commit(&server, "ann", json!([{"action": "delete", "kind": "entity", "id": "bin"}]));
    (folder, server)
}

fn positions(answer: &Answer) -> Vec<u64> {
    let json = answer.json();
    let items = json["items"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    items.iter().map(|record| record["position"].as_u64().unwrap()).collect()
}

#[test]
fn filters_find_their_changes_alone_and_together() {
    let (_folder, server) = server_with_changes();
    let found = |query: &str| {
        let answer = server.get(&format!("/v1/log{query}"));
        positions(&answer)
    };
    assert_eq!(found(""), [5, 4, 3, 2, 1]);
    assert_eq!(found("?order=oldest-first"), [1, 2, 3, 4, 5]);
    assert_eq!(found("?author=bob"), [4, 3]);
    assert_eq!(found("?type=person"), [3, 2, 1]);
    assert_eq!(found("?type=gold"), [4]);
    assert_eq!(found("?id=owns"), [5, 4, 2]);
    assert_eq!(found("?kind=relationship"), [4, 2]);
    assert_eq!(found("?kind=classification"), [4]);
    assert_eq!(found("?verb=update&author=bob&type=person"), [3]);
    assert_eq!(found("?verb=define-type"), [1]);
    let instant = |position: u64| {
        let records = server.get("/v1/log?order=oldest-first").json();
        records["items"][position as usize - 1]["instant"].as_str().unwrap().to_owned()
    };
    assert_eq!(found(&format!("?since={}&until={}", instant(3), instant(5))), [4, 3]);
    assert_eq!(found(&format!("?since={}&author=ann", instant(3))), [5]);
}

#[test]
fn a_change_has_the_values_before_and_after() {
    let (_folder, server) = server_with_changes();
    let change =
        |query: &str| server.get(&format!("/v1/log?{query}")).json()["items"][0]["changes"][0].clone();
    let mut updated = change("author=bob&id=ada");
    assert!(updated.as_object_mut().unwrap().remove("validFrom").is_some());
    let expected = json!({
        "action": "update", "kind": "entity", "id": "ada", "type": "employee", "version": 2, "base": 1, "status": "active",
        "difference": {
            "status": null, "properties": {"rows": {"before": 5, "after": 9}}, "classifications": [],
        },
    });
    assert_eq!(updated, expected);
    let created = change("verb=create&id=ada");
    assert_eq!(created["difference"]["properties"], json!({"rows": {"before": null, "after": 5}}));
    let linked = change("verb=create&id=owns");
    assert_eq!((&linked["from"], &linked["to"]), (&json!("ada"), &json!("bin")));
    let deleted = change("verb=delete");
    assert_eq!(deleted["relationshipsCount"], 1);
    assert_eq!(deleted["difference"]["status"], json!({"before": "active", "after": "deleted"}));
    assert_eq!(change("verb=classify")["classification"], "gold");
    assert_eq!(change("verb=define-type")["definition"]["name"], "person");
}

/// The path of the page after this one, as the header gives it.
fn next_path(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    Some(link.strip_prefix('<')?.split('>').next()?.to_owned())
}

/// All changes that pages show from a path on, as texts with the positions of their records.
fn all_changes(server: &Server, path: &str) -> Vec<(u64, String)> {
    let mut changes = Vec::new();
    let mut path = Some(path.to_owned());
    while let Some(here) = path {
        let answer = server.get(&here);
        let json = answer.json();
        for record in json["items"].as_array().unwrap() {
            let position = record["position"].as_u64().unwrap();
            let ids =
                record["changes"].as_array().unwrap().iter().map(|change| change["id"].as_str().unwrap());
            changes.extend(ids.map(|id| (position, id.to_owned())));
        }
        path = next_path(&answer);
        assert_eq!(path.is_some(), json["next"].is_string(), "{answer:?}");
    }
    changes
}

#[test]
fn pages_show_every_change_once_in_both_orders_while_writers_go_on() {
    let (_folder, server) = server(&[]);
    let create = |name: &str| {
        let two = [format!("{name}-1"), format!("{name}-2")];
        let one = |id: &String| json!({"action": "create", "kind": "entity", "id": id, "type": "thing"});
        commit(&server, "a", two.iter().map(one).collect());
    };
    (0..50).for_each(|number| create(&format!("before{number}")));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (create, is_over) = (&create, &is_over);
            scope.spawn(move || {
                for number in 0..300 {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    create(&format!("during{writer}-{number}"));
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        for (order, limit) in [("oldest-first", 7), ("newest-first", 3), ("newest-first", 1000)] {
            let changes = all_changes(&server, &format!("/v1/log?order={order}&limit={limit}"));
            let mut listed: Vec<u64> = changes.iter().map(|(position, _)| *position).collect();
            if order == "newest-first" {
                listed.reverse();
            }
            let count = listed.len() as u64 / 2;
            assert!(count >= 50, "{order}: {count}");
            let expected: Vec<u64> = (1..=count).flat_map(|position| [position, position]).collect();
            assert_eq!(listed, expected, "{order}, {limit}");
            let ids: std::collections::BTreeSet<&str> = changes.iter().map(|(_, id)| &**id).collect();
            assert_eq!(ids.len(), changes.len());
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn purged_instances_do_not_appear_before_and_after_a_compaction() {
    let (folder, server) = server_with_changes();
    let secret = json!([{"action": "create", "kind": "entity", "id": "s3cret", "type": "person", "properties": {"v": "s3cret"}}]);
    commit(&server, "ann", secret);
    assert!(server.get("/v1/log").body.contains("s3cret"));
    let purged = server.request("DELETE", "/v1/entities/s3cret?purge=true", &[], None);
    assert!(purged.status < 300, "{purged:?}");
    let before = server.get("/v1/log");
    assert_eq!(positions(&before), [7, 6, 5, 4, 3, 2, 1]);
    assert!(!before.body.contains("s3cret"), "{before:?}");
    assert_eq!(server.get("/v1/log?id=s3cret").problem(), "not-found");
    server.terminate();
    assert!(server.ended_well());
    let path = folder.path().join("repository");
    let repository = annals::Repository::open(&path).unwrap();
    assert_eq!(repository.compact().unwrap().changes_count, 2);
    repository.close().unwrap();
    let server = Server::start(&path, &[]);
    assert_eq!(server.get("/v1/log").body, before.body);
}

#[test]
fn a_page_ends_early_at_its_bytes_and_goes_on_within_a_record() {
    let (_folder, server) = server(&["--page-bytes-max", "10000"]);
    let text = "x".repeat(2_000);
    let one = |number: usize| json!({"action": "create", "kind": "entity", "id": format!("e{number}"), "type": "thing", "properties": {"text": text}});
    commit(&server, "a", (0..20).map(one).collect());
    let answer = server.get("/v1/log");
    let page = answer.json();
    assert!((1..5).contains(&page["items"][0]["changes"].as_array().unwrap().len()), "{page}");
    assert!(page["next"].as_str().unwrap().starts_with("1-"), "{page}");
    assert!(answer.body.len() < 30_000, "{}", answer.body.len());
    for order in ["newest-first", "oldest-first"] {
        let changes = all_changes(&server, &format!("/v1/log?order={order}"));
        let expected: Vec<(u64, String)> = (0..20).map(|number| (1, format!("e{number}"))).collect();
        assert_eq!(changes, expected, "{order}");
    }
}

#[test]
fn what_cannot_be_asked_for_is_refused_as_described() {
    let (_folder, server) = server_with_changes();
    for (query, kind) in [
        ("verb=fly", "invalid-argument"),
        ("kind=thing", "invalid-argument"),
        ("order=up", "invalid-argument"),
        ("since=soon", "invalid-argument"),
        ("since=2021-01-01&until=2020-01-01", "invalid-argument"),
        ("after=x", "invalid-page"),
        ("limit=0", "invalid-page"),
        ("id=nobody", "not-found"),
        ("user=bob", "invalid-argument"),
    ] {
        let answer = server.get(&format!("/v1/log?{query}"));
        assert_eq!(answer.problem(), kind, "{query}");
    }
}

/// The operation left instances as they were, and told nobody.
#[test]
fn a_transaction_that_takes_a_record_back_tells_what_stays_as_the_endpoint_does() {
    let (_folder, server) = server(&[]);
    let taken_back = |id: &str, answered: &dyn Fn(u64) -> crate::support::Answer| {
        let new = json!({"id": id, "type": "t", "properties": {"n": 1}});
        assert_eq!(server.send("POST", "/v1/entities", &new).status, 201);
        let patch = |n: u32| server.send("PATCH", &format!("/v1/entities/{id}"), &json!({"n": n})).json();
        let position = patch(2)["position"].as_u64().unwrap();
        patch(3);
        let answer = answered(position);
        assert_eq!(answer.status, 200, "{answer:?}");
        (answer.json()["stays"].clone(), answer.json()["staysCount"].clone())
    };
    let operation = |position: u64, is_dry_run: bool| {
        let take_back = json!({"action": "take-back", "position": position, "keep": "theirs"});
        let body = json!({"operations": [take_back], "dryRun": is_dry_run});
        server.send("POST", "/v1/transactions", &body)
    };
    let by_endpoint = taken_back("a", &|position| {
        server.request("POST", &format!("/v1/records/{position}/take-back?keep=theirs"), &[], None)
    });
    assert_eq!((&by_endpoint.0[0]["id"], &by_endpoint.1), (&json!("a"), &json!(1)));
    for is_dry_run in [true, false] {
        let id = if is_dry_run { "b" } else { "c" };
        let (stays, count) = taken_back(id, &|position| operation(position, is_dry_run));
        assert_eq!((&stays[0]["id"], &stays[0]["kind"], &count), (&json!(id), &json!("entity"), &json!(1)));
        let detail =
            |stays: &Json| stays[0]["detail"].as_str().unwrap().split(" position").next().unwrap().len();
        assert_eq!(detail(&stays), detail(&by_endpoint.0));
    }
    let other = server.send("POST", "/v1/transactions", &json!({"operations": []}));
    assert_eq!((other.status, other.json().get("stays")), (200, None));
}
