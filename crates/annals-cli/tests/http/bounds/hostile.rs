//! Whatever comes in, the server answers what it means, and lives on.

use serde_json::{Value as Json, json};

use crate::support::{Server, server, try_request};

/// A small generator of numbers that look random; the seed is printed when a test fails.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Source: splitmix64, <https://prng.di.unimi.it/splitmix64.c>.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn pick<'p, T: ?Sized>(&mut self, items: &[&'p T]) -> &'p T {
        items[self.below(items.len())]
    }
}

fn seed() -> u64 {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    println!("seed {seed}");
    seed
}

const PIECES: &[&str] = &[
    "v1",
    "entities",
    "relationships",
    "a",
    "b",
    "r",
    "history",
    "versions",
    "1",
    "0",
    "-1",
    "99999999999999999999",
    "diff",
    "neighbors",
    "degree",
    "reach",
    "relationships",
    "neighborhood",
    "related",
    "linking",
    "paths",
    "shared",
    "path",
    "find",
    "feed",
    "types",
    "entity",
    "transactions",
    "restore",
    "undo",
    "classifications",
    "c",
    "%00",
    "%ff",
    "%2F",
    "..",
    "%25",
    "ü",
    "x",
    "%0a",
    "%F0%9F%A7%80",
    "",
];
const QUERIES: &[&str] = &[
    "limit=1",
    "limit=99999",
    "limit=-1",
    "limit=",
    "after=1",
    "after=zz",
    "after=00",
    "after=0100ff",
    "atPosition=0",
    "atPosition=18446744073709551615",
    "atPosition=18446744073709551616",
    "at=2020-01-01",
    "at=-009999-01-01T00:00:00Z",
    "at=x",
    "validAt=9999-12-31",
    "validAt=0000-01-01",
    "type=t",
    "type=%00",
    "where=n%3E%3D1",
    "where=",
    "where=n",
    "where=n?",
    "where=!",
    "where=n%3D%7B%22%24set%22%3A%5B1%5D%7D",
    "where=n~%3D",
    "where=n%3D1e999",
    "where=n%3DNaN",
    "orderBy=n",
    "orderBy=-",
    "orderBy=",
    "direction=in",
    "direction=sideways",
    "from=1",
    "to=2",
    "from=a",
    "to=b",
    "from=0",
    "to=0",
    "depthMax=0",
    "depthMax=18446744073709551615",
    "visitedMax=0",
    "direction=both",
    "entityType=t",
    "status=deleted",
    "status=x",
    "depthMin=1",
    "skip=18446744073709551615",
    "count",
    "weight=n",
    "orderBy=-@createdAt",
    "orderBy=@",
    "after=1f0000000000000000",
    "after=2201ff00000000",
    "purge",
    "purge=maybe",
    "validFrom=2020-01-01",
    "validFrom=9999-12-31",
    "validFrom=-1",
    "alone",
    "classified=c",
    "&&&",
    "=",
    "%",
    "%zz",
    "after=1-0",
    "after=0-18446744073709551615",
    "after=18446744073709551615-1",
];

#[test]
fn random_paths_and_queries_never_break_the_server() {
    let (_folder, server) = server(&["--request-time-ms", "5000"]);
    let mut random = Random(seed());
    for number in 0..3_000 {
        if number % 100 == 0 {
            fill(&server);
        }
        let pieces = 1 + random.below(6);
        let mut path = if random.below(4) == 0 { String::new() } else { "/v1".to_owned() };
        for _ in 0..pieces {
            path.push('/');
            path.push_str(random.pick(PIECES));
        }
        path.push('?');
        for _ in 0..random.below(4) {
            path.push_str(random.pick(QUERIES));
            path.push('&');
        }
        // A feed does not end by itself.
        if path.contains("feed") {
            path.push_str("limit=0");
        }
        let method = random.pick(&["GET", "GET", "GET", "POST", "PUT", "PATCH", "DELETE"]);
        let body = (method != "GET").then(|| random_json(&mut random, 3).to_string());
        assert_harmless(&server, method, &path, &[], body.as_deref());
    }
    assert_alive(&server);
}

#[test]
fn random_bodies_never_break_the_server() {
    let (_folder, server) = server(&["--request-time-ms", "5000"]);
    let mut random = Random(seed());
    let places = [
        ("POST", "/v1/entities"),
        ("PUT", "/v1/entities/a"),
        ("PATCH", "/v1/entities/a"),
        ("POST", "/v1/relationships"),
        ("PUT", "/v1/relationships/r"),
        ("PATCH", "/v1/relationships/r"),
        ("PUT", "/v1/entities/a/classifications/c"),
        ("PUT", "/v1/types/entity/t"),
        ("PUT", "/v1/types/relationship/t"),
        ("POST", "/v1/find"),
        ("POST", "/v1/transactions"),
    ];
    for number in 0..3_000 {
        if number % 100 == 0 {
            fill(&server);
        }
        let (method, path) = places[random.below(places.len())];
        let mut body = random_json(&mut random, 5).to_string();
        if random.below(4) == 0 && !body.is_empty() {
            let mut cut = random.below(body.len());
            while !body.is_char_boundary(cut) {
                cut -= 1;
            }
            body.truncate(cut);
        }
        assert_harmless(&server, method, path, &[], Some(&body));
    }
    assert_alive(&server);
}

#[test]
fn odd_headers_never_break_the_server() {
    let (_folder, server) = server(&["--visible-time-ms", "1"]);
    fill(&server);
    let mut random = Random(seed());
    let names = [
        "if-match",
        "if-none-match",
        "annals-author",
        "annals-message",
        "annals-wait-position",
        "last-event-id",
        "content-type",
        "origin",
        "accept",
        "range",
        "expect",
        "content-encoding",
    ];
    let values = [
        "*",
        "\"1\"",
        "W/\"1\"",
        "\"",
        ",",
        "%ff",
        "%00",
        "-1",
        "18446744073709551616",
        "",
        "\u{fc}",
        "\"1\",,",
        "0",
        "application/json",
        "a\tb",
    ];
    for _ in 0..1_000 {
        let headers =
            [(random.pick(&names), random.pick(&values)), (random.pick(&names), random.pick(&values))];
        let headers: Vec<(&str, &str)> =
            headers.into_iter().filter(|(name, value)| (*name, *value) != ("expect", "")).collect();
        let (method, path, body) = match random.below(3) {
            0 => ("GET", "/v1/entities/a", None),
            1 => ("PATCH", "/v1/entities/a", Some("{\"n\":1}")),
            _ => ("GET", "/v1/feed?limit=0", None),
        };
        assert_harmless(&server, method, path, &headers, body);
    }
    assert_alive(&server);
}

#[test]
fn bytes_that_are_no_http_never_break_the_server() {
    let (_folder, server) = server(&[]);
    for bytes in [
        &b"\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/find HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\xff\xff\xff\xff\xff\xff",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /v1/entities HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{",
    ] {
        let answer = server.raw(bytes);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
        assert_alive(&server);
    }
}

#[test]
fn deep_and_wide_json_is_refused_or_kept_whole() {
    let (_folder, server) = server(&[]);
    let nested = |depth: usize| {
        format!(
            r#"{{"id":"d{depth}","type":"t","properties":{{"p":{}1{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_eq!(server.request("POST", "/v1/entities", &[], Some(&nested(30))).status, 201);
    assert_eq!(server.request("POST", "/v1/entities", &[], Some(&nested(60))).problem(), "too-large");
    assert_eq!(
        server.request("POST", "/v1/entities", &[], Some(&nested(100_000))).problem(),
        "invalid-argument"
    );
    let members: serde_json::Map<String, Json> = (0..20_000).map(|n| (format!("p{n}"), n.into())).collect();
    let wide = server.send("POST", "/v1/entities", &json!({"id": "w", "type": "t", "properties": members}));
    assert_eq!(wide.status, 201);
    assert_eq!(server.get("/v1/entities/w").json()["properties"].as_object().unwrap().len(), 20_000);
}

fn fill(server: &Server) {
    let operations = [
        json!({"action": "create", "kind": "entity", "id": "a", "type": "t", "properties": {"n": 1}}),
        json!({"action": "create", "kind": "entity", "id": "b", "type": "t", "properties": {"n": "x"}}),
        json!({"action": "create", "kind": "relationship", "id": "r", "type": "t", "from": "a", "to": "b"}),
        json!({"action": "restore", "kind": "entity", "id": "a"}),
    ];
    for operation in operations {
        server.send("POST", "/v1/transactions", &json!({ "operations": [operation] }));
    }
}

fn assert_harmless(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) {
    let place = || format!("{method} {path} {headers:?} {body:?}");
    // Without an answer hyper closed the connection: no valid HTTP.
    let Some(answer) = try_request(server.address, method, path, headers, body) else {
        assert_alive(server);
        return;
    };
    assert!(answer.status < 500 || answer.status == 503, "{}: {answer:?}", place());
    // A refusal by hyper itself has no body.
    if answer.status >= 400 && !answer.body.is_empty() && method != "HEAD" {
        answer.problem();
    }
}

fn assert_alive(server: &Server) {
    assert_eq!(server.get("/health/ready").status, 200);
}

/// JSON made of the words of the interface, put together at random.
fn random_json(random: &mut Random, depth: usize) -> Json {
    const NAMES: &[&str] = &[
        "id",
        "type",
        "properties",
        "classifications",
        "from",
        "to",
        "action",
        "kind",
        "patch",
        "set",
        "unset",
        "add",
        "remove",
        "clear",
        "value",
        "operations",
        "where",
        "property",
        "operator",
        "orderBy",
        "limit",
        "after",
        "name",
        "attributes",
        "many",
        "unique",
        "required",
        "default",
        "closed",
        "supertypes",
        "appliesTo",
        "validFrom",
        "$set",
        "$date",
        "$decimal",
        "$bytes",
        "$timestamp",
        "$duration",
        "$uuid",
        "$map",
        "$float",
        "$iri",
        "$literal",
        "language",
        "datatype",
        "$content",
        "size",
        "digests",
        "n",
        "dryRun",
        "serializable",
        "withRelationships",
        "classification",
        "atPosition",
        "descending",
        "indexed",
    ];
    const TEXTS: &[&str] = &[
        "a",
        "b",
        "r",
        "c",
        "t",
        "",
        "entity",
        "relationship",
        "2020-01-01",
        "9999-12-31T23:59:59Z",
        ">=",
        "prefix",
        "contains",
        "string",
        "integer",
        "any",
        "NaN",
        "1e400",
        "\u{0}",
        "ü",
        "AAE=",
        "PT5S",
        "n>=1",
    ];
    match if depth == 0 { random.below(4) } else { random.below(12) } {
        0 if random.below(4) == 0 => random.pick(VERBS).into(),
        0 => random.pick(TEXTS).into(),
        1 => json!([0, 1, -1, i64::MAX, i64::MIN][random.below(5)]),
        2 => json!([0.5, -0.0, 1e308, 1e-308][random.below(4)]),
        3 => [Json::Null, true.into(), false.into(), u64::MAX.into()][random.below(4)].clone(),
        4 => (0..random.below(4)).map(|_| random_json(random, depth - 1)).collect(),
        5..8 => random_operation(random, depth),
        _ => {
            let count = random.below(5);
            let member =
                |random: &mut Random| (random.pick(NAMES).to_owned(), random_json(random, depth - 1));
            Json::Object((0..count).map(|_| member(random)).collect())
        }
    }
}

/// The verbs of operations.
const VERBS: &[&str] = &[
    "create",
    "update",
    "replace",
    "delete",
    "restore",
    "purge",
    "undo",
    "classify",
    "reclassify",
    "declassify",
    "define-type",
    "void",
];

/// Something near to an operation, so that random bodies come past the first check.
fn random_operation(random: &mut Random, depth: usize) -> Json {
    let mut operation = json!({
        "action": random.pick(VERBS),
        "kind": random.pick(&["entity", "relationship"]),
        "id": random.pick(&["a", "b", "r", "c"]),
        "type": "t",
    });
    match random.below(6) {
        0 => operation["properties"] = json!({ "n": random_json(random, depth - 1) }),
        1 => operation["patch"] = json!([{ "add": "n", "value": random_json(random, depth - 1) }]),
        2 => operation["classification"] = "c".into(),
        3 => operation["validFrom"] = random.pick(&["2020-01-01", "2030-01-01"]).into(),
        4 => {
            operation["from"] = "a".into();
            operation["to"] = random.pick(&["a", "b"]).into();
        }
        _ => operation["patch"] = json!({ "n": random_json(random, depth - 1) }),
    }
    if random.below(2) == 0 { json!({ "operations": [operation] }) } else { operation }
}
