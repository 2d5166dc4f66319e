//! Trees of containers over HTTP: paths in URLs, long answers, conditions, and what the description says of them.

use serde_json::{Value as Json, json};

use crate::support::{Server, server};

fn filled() -> (tempfile::TempDir, Server) {
    let (folder, server) = server(&[]);
    let key = json!([{"name": "name", "type": "string", "key": true}]);
    let list = json!({"kind": "entity", "name": "interface", "attributes": key});
    assert_eq!(server.send("POST", "/v1/types", &json!({"types": [list]})).status, 200);
    let item = json!({
        "interface": [{"name": "eth0", "mtu": 1500}, {"name": "a/b", "mtu": 68}],
        "deep": {"leaf": {"n": 1}},
    });
    assert_eq!(server.send("PUT", "/v1/tree/c", &item).status, 201);
    (folder, server)
}

#[test]
fn a_path_stands_in_the_url_as_it_is_or_encoded_or_in_the_query() {
    let (_folder, server) = filled();
    for path in [
        "/v1/tree/c/interface[name='eth0']/mtu",
        "/v1/tree/c/interface%5Bname%3D%27eth0%27%5D/mtu",
        "/v1/tree/%2Fc%2Finterface%5Bname%3D%27eth0%27%5D%2Fmtu",
        "/v1/tree//interface[name='eth0']/mtu",
        "/v1/tree/%2f%2Finterface%5Bmtu%20%3E%20100%5D%2Fmtu",
        "/v1/tree/?path=/c/interface[name='eth0']/mtu",
        "/v1/tree?path=%2F%2Finterface%5Bmtu%3E100%5D%2Fmtu",
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, &*answer.body), (200, "1500"), "{path}: {answer:?}");
    }
    let slash = server.get("/v1/tree/c/interface[name='a%2Fb']/mtu");
    assert_eq!((slash.status, &*slash.body), (200, "68"));
    for path in ["/v1/tree/", "/v1/tree", "/v1/tree/%2F", "/v1/tree?path=/"] {
        assert_eq!(server.get(path).json()["c"]["deep"], json!({"leaf": {"n": 1}}), "{path}");
    }
    for path in ["/v1/tree/c/", "/v1/tree/c?path=/c", "/v1/tree/c/%FF", "/v1/tree?path=c", "/v1/tree/c?root="]
    {
        let answer = server.get(path);
        assert_eq!((answer.status, &*answer.problem()), (400, "invalid-argument"), "{path}: {answer:?}");
    }
}

#[test]
fn a_long_tree_is_sent_whole() {
    let (_folder, server) = filled();
    let name = |number: usize| format!("{number:06}");
    let interfaces: Vec<Json> =
        (0..20_000).map(|number| json!({"name": name(number), "text": "x".repeat(20)})).collect();
    let whole = json!({"interface": interfaces, "n": 1});
    assert_eq!(server.send("PATCH", "/v1/tree/long", &whole).status, 201);
    let answer = server.get("/v1/tree/long");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("content-length"), None, "it is sent while it is made");
    assert_eq!(answer.json(), whole);
    let short = server.get("/v1/tree/long?depth=0");
    assert_eq!((short.json(), short.header("content-length")), (json!({"n": 1}), Some("7")));
    // Pages are bounded, lines are not.
    let refused = server.get("/v1/tree-list/long?limit=20000");
    assert_eq!(refused.problem(), "invalid-page");
    let headers = [("accept", "application/x-ndjson")];
    let lines = server.request("GET", "/v1/tree-list/long/interface?limit=10001&back", &headers, None);
    let lines: Vec<Json> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["value"]["name"]), (10_002, &json!("019999")));
    let next = lines[10_001]["next"].as_str().unwrap();
    let page = server.get(&format!("/v1/tree-list/long/interface?limit=1&back&count&after={next}")).json();
    assert_eq!((&page["items"][0]["value"]["name"], &page["count"]), (&json!("009998"), &json!(20_000)));
    let found = server.request("GET", "/v1/tree-find/long/interface?limit=3", &headers, None);
    assert_eq!(found.body.lines().count(), 3);
}

#[test]
fn conditions_hold_for_the_item_at_the_path() {
    let (_folder, server) = filled();
    let leaf = "/v1/tree/c/deep/leaf";
    let with = |method: &str, path: &str, header: (&str, &str), body: Option<&str>| {
        server.request(method, path, &[header, ("content-type", "application/json")], body)
    };
    let short = server.get(&format!("{leaf}?depth=0"));
    let first = short.header("etag").expect("it shows one entity");
    assert_eq!(server.get(leaf).header("etag"), Some(first), "nothing is below it");
    let (birth, log) = first.split_once(".1@").expect("its first version");
    let second = format!("{birth}.2@{log}");
    assert_eq!(server.get(&format!("{leaf}/n")).header("etag"), Some(first));
    let set = with("PUT", &format!("{leaf}/n"), ("if-match", first), Some("2"));
    assert_eq!(set.status, 200, "{set:?}");
    for (method, body) in [("PUT", Some("{}")), ("PATCH", Some("{}")), ("POST", Some("{}")), ("DELETE", None)]
    {
        let refused = with(method, leaf, ("if-match", first), body);
        assert_eq!((refused.status, &*refused.problem()), (412, "precondition-failed"), "{method}");
    }
    assert_eq!(with("PUT", leaf, ("if-none-match", "*"), Some("{}")).status, 412);
    assert_eq!(with("PUT", "/v1/tree/c/fresh", ("if-none-match", "*"), Some("{}")).status, 201);
    assert_eq!(with("PUT", "/v1/tree/c/none", ("if-match", "*"), Some("{}")).status, 412);
    assert_eq!(with("DELETE", leaf, ("if-match", &second), None).status, 200);
    assert_eq!(server.get(leaf).status, 404);
}

/// Story: a client replaced a container by the tag that it had read, and another client's item in it was gone.
#[test]
fn the_tag_of_what_is_replaced_or_deleted_whole_covers_what_is_below() {
    let (_folder, server) = filled();
    let deep = "/v1/tree/c/deep";
    let tag = |path: &str| server.get(path).header("etag").map(str::to_owned);
    let with = |method: &str, path: &str, tag: &str, body: Option<&str>| {
        let headers = [("if-match", tag), ("content-type", "application/json")];
        server.request(method, path, &headers, body).status
    };
    let writes = [("PUT", Some("{}")), ("DELETE", None)];
    assert_eq!(tag(&format!("{deep}?depth=1")), None, "it shows a part");
    assert_eq!(tag(&format!("{deep}?atPosition=1")), None, "it shows the past");
    // Each change below the item changes its tag, and not that of the item alone.
    let changes = [
        ("PUT", "/v1/tree/c/deep/theirs", Some("{\"n\":1}")),
        ("PUT", "/v1/tree/c/deep/theirs/n", Some("2")),
        ("PUT", "/v1/tree/c/deep/theirs/below", Some("{}")),
        ("DELETE", "/v1/tree/c/deep/theirs/below", None),
        ("DELETE", "/v1/tree/c/deep/theirs", None),
    ];
    let alone = tag(&format!("{deep}?depth=0")).unwrap();
    for (method, path, body) in changes {
        let known = tag(deep).unwrap();
        let done = server.request(method, path, &[("content-type", "application/json")], body);
        assert!(done.status < 300, "{done:?}");
        assert_ne!(tag(deep).unwrap(), known);
        for (method, body) in writes {
            assert_eq!(with(method, deep, &known, body), 412, "{method} by the tag before");
            assert_eq!(with(method, deep, &alone, body), 412, "{method} by the tag of the item");
        }
    }
    assert_eq!(tag(&format!("{deep}?depth=0")).unwrap(), alone);
    // A change that leaves what it does not name takes either.
    assert_eq!(with("PATCH", deep, &alone, Some("{\"a\":1}")), 200);
    let known = tag(deep).unwrap();
    assert_eq!(with("PATCH", deep, &known, Some("{\"a\":2}")), 200);
    assert_eq!(with("PATCH", deep, &known, Some("{\"a\":3}")), 412);
    let known = tag(deep).unwrap();
    assert_eq!(with("PUT", deep, &known, Some("{\"b\":1}")), 200);
    assert_eq!(with("DELETE", deep, &known, None), 412);
    assert_eq!(with("DELETE", deep, &tag(deep).unwrap(), None), 200);
}

/// Others add items while a client replaces and deletes by tags: none goes that was acknowledged after the tag was read.
#[test]
fn nothing_comes_between_a_tag_and_its_write() {
    let (_folder, server) = filled();
    for round in 0..40 {
        let at = format!("/v1/tree/c/box{round}");
        assert_eq!(server.send("PUT", &at, &json!({"a": {}, "b": {"n": 1}})).status, 201);
        let tag = server.get(&at).header("etag").unwrap().to_owned();
        let (removed, added) = std::thread::scope(|scope| {
            let add = scope.spawn(|| match round % 2 {
                0 => server.send("POST", &format!("{at}/theirs"), &json!({})),
                _ => server.send("PUT", &format!("{at}/b/n"), &json!(2)),
            });
            let removed = server.request("DELETE", &at, &[("if-match", &tag)], None);
            (removed, add.join().unwrap())
        });
        let position = |answer: &crate::support::Answer| -> u64 {
            answer.header("annals-position").unwrap().parse().unwrap()
        };
        if removed.status == 200 && added.status < 300 {
            // The other one found nothing there, and made it anew.
            assert!(position(&removed) < position(&added), "round {round}: {removed:?} {added:?}");
        } else {
            assert!(removed.status == 412 || added.status >= 400, "round {round}: {removed:?} {added:?}");
        }
    }
}

#[test]
fn changes_of_trees_are_answered_as_described() {
    let (_folder, server) = filled();
    let told = |method: &str, path: &str, body: Option<Json>, status: u16| {
        let body = body.map(|body| body.to_string());
        let headers = [("content-type", "application/json"), ("annals-author", "ada")];
        let answer = server.request(method, path, &headers, body.as_deref());
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        answer
    };
    let id = told("PUT", "/v1/tree/new/x", Some(json!({"n": 1})), 201).json()["id"].clone();
    assert_eq!(told("PATCH", "/v1/tree/new/x", Some(json!({"m": [1, 2]})), 200).json()["id"], id);
    let unchanged = told("PUT", "/v1/tree/new/x/m", Some(json!([1, 2])), 200).json();
    assert_eq!(unchanged["position"], server.get("/health/ready").json()["position"]);
    told("POST", "/v1/tree/new/x", Some(json!({})), 409);
    told("POST", "/v1/tree/new/x/m", Some(json!(5)), 409);
    told("POST", "/v1/tree/new/x/k", Some(json!(5)), 201);
    told("POST", "/v1/tree/c/interface[name='z']?insert=first", Some(json!({})), 400);
    told("POST", "/v1/tree/new/x?insert=before", Some(json!({})), 400);
    told("POST", "/v1/tree/new/x?sibling=a", Some(json!({})), 400);
    told("PUT", "/v1/tree/none?missing=refuse", Some(json!({})), 404);
    told("PUT", "/v1/tree/none?missing=ok", Some(json!({})), 400);
    told("POST", "/v1/tree-copy", Some(json!({"from": "/new/x", "to": "/new/y"})), 201);
    told("POST", "/v1/tree-move", Some(json!({"from": "/new/x", "to": "/new/y/x"})), 200);
    told("POST", "/v1/tree-move", Some(json!({"from": "/new/y", "to": "/new/y/x/y"})), 422);
    told("POST", "/v1/tree-move", Some(json!({"from": "/new/y", "to": "/new/y", "insert": "first"})), 400);
    told("POST", "/v1/tree-move", Some(json!({"from": "/new/y", "to": "/z", "validFrom": "2024"})), 400);
    told("DELETE", "/v1/tree/new/none", None, 404);
    told("DELETE", "/v1/tree/new/none?missing=ok", None, 200);
    told("DELETE", "/v1/tree/c/interface", None, 200);
    told("DELETE", "/v1/tree/", None, 400);
    assert_eq!(
        server.get("/v1/tree/new").json(),
        json!({"y": {"n": 1, "m": [1, 2], "k": 5, "x": {"n": 1, "m": [1, 2], "k": 5}}})
    );
    let by_ada = server.get("/v1/log?author=ada").json();
    assert_eq!(by_ada["items"].as_array().unwrap().len(), 6);
    let plan = server.get("/v1/tree-explain/new/y");
    assert_eq!(plan.json()["isLookUp"], true);
    let none = server.get("/v1/tree/none");
    assert_eq!(none.status, 404);
}

#[test]
fn what_became_of_a_tree_is_told_in_pages_and_lines_and_taken_back() {
    let (_folder, server) = filled();
    let before = server.get("/v1/tree/c?ids").json();
    let interfaces: Vec<Json> = (0..5).map(|number| json!({"name": format!("new{number}")})).collect();
    let merged = json!({"interface": interfaces, "deep": {"leaf": {"n": 2}}});
    assert_eq!(server.send("PATCH", "/v1/tree/c", &merged).status, 200);
    assert_eq!(server.request("DELETE", "/v1/tree/c/interface[name='eth0']", &[], None).status, 200);
    let told = |path: &str| server.get(path);
    let since = "/v1/tree-diff/c?fromPosition=2";
    let whole = told(since).json();
    assert_eq!((&whole["count"], &whole["next"]), (&json!(7), &Json::Null));
    let changed: Vec<&str> =
        whole["items"].as_array().unwrap().iter().map(|item| item["change"].as_str().unwrap()).collect();
    assert_eq!(changed, ["modified", "deleted", "created", "created", "created", "created", "created"]);
    let leaf = json!({"before": 1, "after": 2});
    assert_eq!(whole["items"][0]["difference"]["properties"]["n"], leaf);
    // Later pages show what the first one did.
    let page = told(&format!("{since}&limit=3")).json();
    server.send("PUT", "/v1/tree/c/late", &json!({}));
    let after = page["next"].as_str().unwrap();
    let rest = told(&format!("{since}&limit=9&after={after}")).json();
    let paged =
        [page["items"].as_array().unwrap().clone(), rest["items"].as_array().unwrap().clone()].concat();
    assert_eq!((Json::from(paged), &rest["next"]), (whole["items"].clone(), &Json::Null));
    let lines = server.request(
        "GET",
        &format!("{since}&toPosition=4&limit=6"),
        &[("accept", "application/x-ndjson")],
        None,
    );
    let lines: Vec<Json> = lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[..6], lines.len()), (&whole["items"].as_array().unwrap()[..6], 7));
    for (query, status, kind) in [
        ("c", 400, "invalid-argument"),
        ("c?to=2001", 400, "invalid-argument"),
        ("c?from=then", 400, "invalid-argument"),
        ("c?from=2999-01-01", 400, "future-instant"),
        ("c?fromPosition=9", 404, "not-found"),
        ("none?fromPosition=1", 404, "not-found"),
        ("c/interface?fromPosition=1", 400, "invalid-argument"),
        ("c?fromPosition=1&at=2001", 400, "invalid-argument"),
    ] {
        let answer = told(&format!("/v1/tree-diff/{query}"));
        assert_eq!((answer.status, &*answer.problem()), (status, kind), "{query}: {answer:?}");
    }
    let change = |verb: &str, body: Json, status: u16| {
        let answer = server.send("POST", &format!("/v1/tree-{verb}"), &body);
        assert_eq!(answer.status, status, "{verb} {body}: {answer:?}");
        answer
    };
    let eth0 = "/c/interface[name='eth0']";
    change("revert", json!({"path": "/c"}), 400);
    change("revert", json!({"path": "/c", "to": 2}), 400);
    change("revert", json!({"path": "/c", "atPosition": "2"}), 400);
    change("revert", json!({"path": "/c", "at": "2999-01-01"}), 400);
    change("revert", json!({"path": "/none", "atPosition": 2}), 404);
    change("restore", json!({"atPosition": 2}), 400);
    change("restore", json!({"path": "/c/deep", "atPosition": 2}), 409);
    let restored = change("restore", json!({"path": eth0, "atPosition": 2}), 200).json();
    assert_eq!(restored["id"], before["interface"][1]["@id"]);
    change("revert", json!({"path": "/c", "atPosition": 2}), 200);
    assert_eq!(server.get("/v1/tree/c?ids").json(), before);
    let unchanged = change("revert", json!({"path": "/c", "atPosition": 2}), 200).json();
    assert_eq!(unchanged["position"], server.get("/health/ready").json()["position"]);
    // The log counts the instances that a deletion took along.
    assert_eq!(server.request("DELETE", "/v1/tree/c", &[], None).status, 200);
    let log = server.get("/v1/log?limit=1").json();
    let deleted = &log["items"][0]["changes"][0];
    assert_eq!((&deleted["containedCount"], &deleted["relationshipsCount"]), (&json!(4), &json!(5)));
}
