//! The operational view and its leases: state with its origin, which is gone with its lease, also after a stop and a crash.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Answer, Server};

fn server(arguments: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder, arguments);
    let key = json!([{"name": "name", "type": "string", "key": true}, {"name": "mtu", "type": "integer"}]);
    let list = json!({"kind": "entity", "name": "interface", "attributes": key});
    assert_eq!(told(&server, "POST /v1/types", "", json!({"types": [list]}), 200)["position"], 1);
    let items = json!({"hostname": "r1", "interface": [{"name": "eth0", "mtu": 1500}, {"name": "eth2"}]});
    told(&server, "PUT /v1/tree/{steps}", "c", items, 201);
    (folder, server)
}

fn start(folder: &tempfile::TempDir, arguments: &[&str]) -> Server {
    Server::start(&folder.path().join("repository"), arguments)
}

/// The answer of an operation, with `name` as its parameter. It must have this status and be as described.
fn told(server: &Server, operation: &str, name: &str, body: Json, status: u16) -> Json {
    let answer = send(server, operation, name, body);
    assert_eq!(answer.status, status, "{operation} {name}: {answer:?}");
    answer.json()
}

fn send(server: &Server, operation: &str, name: &str, body: Json) -> Answer {
    let (method, path) = operation.split_once(' ').unwrap();
    let path = path.replace("{lease}", name).replace("{steps}", name);
    let body = (!body.is_null()).then(|| body.to_string());
    let headers = [("content-type", "application/json"), ("annals-author", "driver")];
    server.request(method, &path, &headers, body.as_deref())
}

fn open(server: &Server, name: &str) {
    let lease = json!({"name": name, "seconds": 600});
    let opened = told(server, "POST /v1/leases", "", lease, 201);
    assert_eq!((&opened["name"], &opened["recorded"]), (&json!(name), &Json::Null));
    assert!(opened["seconds"].as_f64().unwrap() > 590.0);
}

fn push(server: &Server, lease: &str, operations: Json, status: u16) -> Json {
    told(server, "POST /v1/leases/{lease}/changes", lease, json!({ "operations": operations }), status)
}

fn view(server: &Server, path: &str) -> Json {
    told(server, "GET /v1/operational/{steps}", path, Json::Null, 200)
}

fn merge(path: &str, item: Json) -> Json {
    json!({"action": "merge-tree", "path": path, "item": item})
}

#[test]
fn pushed_state_is_shown_with_its_origin_and_gone_with_its_lease() {
    let (_folder, server) = server(&[]);
    let before = server.get("/health/ready").json()["position"].clone();
    let plain = json!({
        "@origin": "running", "hostname": "r1", "interface": [{"name": "eth0", "mtu": 1500}, {"name": "eth2"}],
    });
    assert_eq!(view(&server, "c"), plain);
    open(&server, "driver");
    let state = json!({
        "celsius": 40, "interface": [{"name": "eth0", "is-up": true}, {"name": "eth1", "is-up": false}],
        "sensors": {"fan": "ok"}, "@properties": {"@odd": 1},
    });
    let operations = json!([merge("/c", state), {"action": "merge-tree", "path": "/c/interface[name='eth2']/mtu", "value": 68}]);
    assert_eq!(push(&server, "driver", operations, 200)["name"], "driver");
    let expected = json!({
        "@origin": "running", "@origins": {"@odd": "lease:driver", "celsius": "lease:driver"},
        "@properties": {"@odd": 1}, "hostname": "r1", "celsius": 40,
        "sensors": {"@origin": "lease:driver", "fan": "ok"},
        "interface": [
            {"name": "eth0", "mtu": 1500, "is-up": true, "@origins": {"is-up": "lease:driver"}},
            {"@origin": "lease:driver", "name": "eth1", "is-up": false},
            {"name": "eth2", "mtu": 68, "@origins": {"mtu": "lease:driver"}},
        ],
    });
    assert_eq!(view(&server, "c"), expected);
    assert_eq!(view(&server, "%2Fc%2Fsensors"), json!({"@origin": "lease:driver", "fan": "ok"}));
    assert_eq!(view(&server, "c/interface[name='eth1']")["@origin"], "lease:driver");
    let flat = told(&server, "GET /v1/operational/{steps}", "?path=/c&depth=0", Json::Null, 200);
    assert_eq!((flat.get("interface"), &flat["celsius"]), (None, &json!(40)));
    // Nothing of it is in the running tree, nor in the history.
    assert_eq!(server.get("/v1/tree/c/sensors").status, 404);
    assert_eq!(server.get("/health/ready").json()["position"], before);
    let ended = send(&server, "DELETE /v1/leases/{lease}", "driver", Json::Null);
    assert_eq!((ended.status, &*ended.body), (204, ""), "{ended:?}");
    assert_eq!(view(&server, "c"), plain);
    assert_eq!(told(&server, "GET /v1/leases", "", Json::Null, 200), json!({"items": []}));
}

#[test]
fn a_lease_ends_by_itself_unless_it_is_renewed() {
    let (_folder, server) = server(&[]);
    for name in ["short", "kept"] {
        told(&server, "POST /v1/leases", "", json!({"name": name, "seconds": 1.5}), 201);
        push(&server, name, json!([merge(&format!("/{name}"), json!({"n": 1}))]), 200);
    }
    let renewed = told(&server, "POST /v1/leases/{lease}/renew", "kept", json!({"seconds": 600}), 200);
    assert!(renewed["seconds"].as_f64().unwrap() > 590.0);
    let names = |leases: &Json| -> Vec<Json> {
        leases["items"].as_array().unwrap().iter().map(|lease| lease["name"].clone()).collect()
    };
    let start = std::time::Instant::now();
    while names(&told(&server, "GET /v1/leases", "", Json::Null, 200)) != ["kept"] {
        assert!(start.elapsed() < Duration::from_secs(20), "the lease does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    told(&server, "GET /v1/operational/{steps}", "short", Json::Null, 404);
    assert_eq!(view(&server, "kept")["n"], 1);
    told(&server, "POST /v1/leases/{lease}/renew", "short", json!({"seconds": 600}), 404);
    push(&server, "short", json!([]), 404);
}

#[test]
fn pushed_changes_are_done_all_or_none() {
    let (_folder, server) = server(&[]);
    open(&server, "a");
    for (wrong, status, kind) in [
        (json!({"action": "delete-tree", "path": "/none"}), 404, "not-found"),
        (json!({"action": "replace-tree", "path": "/x/n", "value": 1}), 404, "not-found"),
        (json!({"action": "create-tree", "path": "/first", "item": {}}), 409, "already-exists"),
        (merge("/c/interface[name='eth0']", json!({"name": "eth1"})), 400, "invalid-argument"),
    ] {
        let refused = push(&server, "a", json!([merge("/first", json!({"n": 1})), wrong]), status);
        assert_eq!(
            (&refused["kind"], &refused["operation"]),
            (&json!(kind), &json!(1)),
            "{wrong}: {refused}"
        );
        told(&server, "GET /v1/operational/{steps}", "first", Json::Null, 404);
    }
    // Some is known only when all is together.
    let wrong = merge("/c/interface[name='eth0']", json!({"mtu": "high"}));
    let refused = push(&server, "a", json!([merge("/first", json!({"n": 1})), wrong]), 422);
    assert_eq!(refused["kind"], "invalid-property");
    told(&server, "GET /v1/operational/{steps}", "first", Json::Null, 404);
    let all = json!([
        {"action": "create-tree", "path": "/x", "item": {"n": 1, "y": {}}},
        {"action": "replace-tree", "path": "/x/n", "value": 2},
        {"action": "move-tree", "from": "/x/y", "to": "/x/z"},
        {"action": "copy-tree", "from": "/x", "to": "/copy"},
        {"action": "put-tree", "path": "/x", "item": {"m": 3}},
        {"action": "remove-tree", "path": "/none"},
    ]);
    push(&server, "a", all, 200);
    assert_eq!(view(&server, "x"), json!({"@origin": "lease:a", "m": 3}));
    assert_eq!(view(&server, "copy"), json!({"@origin": "lease:a", "n": 2, "z": {}}));
}

#[test]
fn a_lease_writes_nothing_and_none_is_recorded() {
    let (_folder, server) = server(&["--require-author"]);
    let anonymous = server.send("POST", "/v1/leases", &json!({"name": "log", "seconds": 600}));
    assert_eq!((anonymous.status, anonymous.problem().as_str()), (400, "invalid-argument"));
    let position = server.get("/v1/log?limit=1").json()["items"][0]["position"].clone();
    for recorded in [true, false] {
        let lease = json!({"name": "log", "seconds": 600, "recorded": recorded});
        let refused = told(&server, "POST /v1/leases", "", lease, 400);
        assert!(refused["detail"].as_str().unwrap().contains("is removed"), "{refused}");
    }
    open(&server, "log");
    push(&server, "log", json!([merge("/c", json!({"celsius": 40}))]), 200);
    assert_eq!(view(&server, "c")["@origins"], json!({"celsius": "lease:log"}));
    assert_eq!(server.get("/v1/log?limit=1").json()["items"][0]["position"], position);
}

/// It took leases of its own, and its view lacked those of the writer.
#[test]
fn a_server_that_only_reads_has_no_leases_and_names_the_one_that_has() {
    let (folder, server) = server(&[]);
    let reading = start(&folder, &["--read-only"]);
    open(&server, "a");
    push(&server, "a", json!([merge("/c", json!({"celsius": 40}))]), 200);
    let refused = || {
        let seconds = json!({"seconds": 600});
        let lease = json!({"name": "b", "seconds": 600});
        let operations = json!({"operations": [merge("/c", json!({"celsius": 41}))]});
        [
            ("GET /v1/operational/{steps}", "c", Json::Null),
            ("GET /v1/leases", "", Json::Null),
            ("POST /v1/leases", "", lease),
            ("POST /v1/leases/{lease}/renew", "a", seconds),
            ("POST /v1/leases/{lease}/changes", "a", operations),
            ("DELETE /v1/leases/{lease}", "a", Json::Null),
        ]
        .map(|(operation, name, body)| {
            let told = told(&reading, operation, name, body, 403);
            assert_eq!(told["kind"], "read-only", "{operation}: {told}");
            told["detail"].as_str().unwrap().to_owned()
        })
    };
    let address = format!("http://{}", server.address);
    for detail in refused() {
        assert!(detail.ends_with(&format!("are at its writer, {address}")), "{detail}");
    }
    assert_eq!(view(&server, "c")["celsius"], 40);
    assert_eq!(told(&reading, "GET /v1/tree/{steps}", "c", Json::Null, 200)["hostname"], "r1");

    server.terminate();
    assert!(server.ended_well());
    for detail in refused() {
        assert!(detail.ends_with("are at its writer"), "{detail}");
    }
    // Clients open their leases again.
    let server = start(&folder, &[]);
    assert_eq!(told(&server, "GET /v1/leases", "", Json::Null, 200)["items"], json!([]));
    open(&server, "a");
}

#[test]
fn bad_input_is_refused() {
    let (_folder, server) = server(&[]);
    for lease in [
        json!({"name": "a"}),
        json!({"name": "a", "seconds": "60"}),
        json!({"name": "a", "seconds": 0}),
        json!({"name": "a", "seconds": -1}),
        json!({"name": "a", "seconds": 86_401}),
        json!({"name": "a", "seconds": 1e300}),
        json!({"name": "", "seconds": 1}),
        json!({"name": "a/b", "seconds": 1}),
        json!({"name": ".", "seconds": 1}),
        json!({"name": "..", "seconds": 1}),
        json!({"name": "x".repeat(300), "seconds": 1}),
        json!({"seconds": 1}),
        json!({"name": "a", "seconds": 1, "recorded": "yes"}),
        json!({"name": "a", "seconds": 1, "record": true}),
        json!([]),
    ] {
        assert_eq!(told(&server, "POST /v1/leases", "", lease, 400)["kind"], "invalid-argument");
    }
    open(&server, "a");
    let again = told(&server, "POST /v1/leases", "", json!({"name": "a", "seconds": 1}), 409);
    assert_eq!((&again["kind"], &again["lease"]), (&json!("already-exists"), &json!("a")));
    told(&server, "POST /v1/leases/{lease}/renew", "a", json!({}), 400);
    told(&server, "POST /v1/leases/{lease}/renew", "a", json!({"seconds": 1, "name": "a"}), 400);
    told(&server, "DELETE /v1/leases/{lease}", "none", Json::Null, 404);
    let past = json!({"action": "revert-tree", "path": "/c", "atPosition": 1});
    for operation in [
        past,
        json!({"action": "create", "kind": "entity", "type": "t"}),
        json!({"path": "/c"}),
        json!({"action": "merge-tree", "path": "/c", "item": {}, "root": "root"}),
        json!({"action": "merge-tree", "path": "/c", "item": {}, "validFrom": "2025"}),
        json!({"action": "merge-tree", "path": "/c", "item": {}, "ifVersion": 1}),
        json!({"action": "merge-tree", "path": "/c[", "item": {}}),
        json!({"action": "merge-tree", "path": "//c", "item": {}}),
        json!({"action": "merge-tree", "path": "/c"}),
        json!(7),
    ] {
        let refused = push(&server, "a", json!([operation]), 400);
        assert_eq!(
            (&refused["kind"], &refused["operation"]),
            (&json!("invalid-argument"), &json!(0)),
            "{refused}"
        );
    }
    let changes = "POST /v1/leases/{lease}/changes";
    for body in [json!({"changes": []}), json!({"operations": {}}), json!([])] {
        told(&server, changes, "a", body, 400);
    }
    for (path, status) in
        [("//c", 400), ("c/interface", 400), ("c/hostname", 404), ("c?depth=x", 400), ("c?root=root", 400)]
    {
        let path = if path == "//c" { "?path=//c" } else { path };
        told(&server, "GET /v1/operational/{steps}", path, Json::Null, status);
    }
    let answer = server.request("POST", "/v1/leases/a/changes", &[], Some("{"));
    assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"));
}

/// Each push waited for the lease on a thread for long work, until no other request got one.
#[test]
fn pushes_that_wait_for_one_lease_leave_threads_for_other_requests() {
    const PUSHES: usize = 16;
    let (_folder, server) = server(&["--heavy-max", "2"]);
    open(&server, "driver");
    let children: serde_json::Map<String, Json> =
        (0..3_000).map(|child| (format!("c{child}"), json!({"n": child}))).collect();
    let children = json!(children);
    let ready = &Barrier::new(PUSHES + 1);
    let done = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (server, children) = (&server, &children);
        for number in 0..PUSHES {
            scope.spawn(move || {
                let operations = json!({"operations": [merge(&format!("/p{number}"), children.clone())]});
                let body = operations.to_string();
                ready.wait();
                let headers = [("content-type", "application/json")];
                let answer = server.request("POST", "/v1/leases/driver/changes", &headers, Some(&body));
                assert_eq!(answer.status, 200, "{answer:?}");
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        ready.wait();
        // One of the requests in flight is the one for metrics, and one push has the lease.
        let deadline = Instant::now() + Duration::from_secs(10);
        while in_flight(server) < PUSHES / 2 + 2 {
            assert!(Instant::now() < deadline, "they do not wait for the lease");
        }
        let before = done.load(Ordering::SeqCst);
        assert_eq!(server.send("POST", "/v1/count", &json!({})).status, 200);
        let meanwhile = done.load(Ordering::SeqCst) - before;
        assert!(meanwhile < PUSHES / 4, "{meanwhile} pushes were done before the other request was answered");
    });
}

fn in_flight(server: &Server) -> usize {
    let metrics = server.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("annals_http_requests_in_flight "));
    line.expect("the number of requests in flight").parse().unwrap()
}
