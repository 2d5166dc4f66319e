//! Methods, media types, HTTP/2, and the description of the interface.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::access::hosts::over_http2;
use crate::support::server;

#[test]
fn what_is_not_there_is_a_problem() {
    let (_folder, server) = server(&[]);
    for path in
        ["/nothing", "/v1", "/v1/entities/", "/v1/entities/a/b", "/v1/types/entity", "//", "/v1/../v1/types"]
    {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.problem().as_str()), (404, "not-found"), "{path}");
    }
    let answer = server.request("PUT", "/v1/entities", &[], None);
    assert_eq!((answer.status, answer.problem().as_str()), (405, "method-not-allowed"));
    let allowed: BTreeSet<&str> = answer.header("allow").unwrap().split(',').map(str::trim).collect();
    assert_eq!(allowed, BTreeSet::from(["GET", "HEAD", "POST"]));
    assert_eq!(server.request("BREW", "/v1/entities", &[], None).status, 405);
}

#[test]
fn bodies_must_be_declared_and_well_formed() {
    let (_folder, server) = server(&[]);
    let post = |headers: &[(&str, &str)], body| server.request("POST", "/v1/entities", headers, Some(body));
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"] {
        let answer = post(&[("content-type", media_type)], "{}");
        assert_eq!((answer.status, answer.problem().as_str()), (415, "unsupported-media-type"));
    }
    assert_eq!(post(&[("content-type", "application/json; charset=utf-8")], r#"{"type":"t"}"#).status, 201);
    let broken = post(&[], "{\n  \"type\": \"t\",\n  oops\n}");
    assert_eq!((broken.status, broken.problem().as_str()), (400, "invalid-argument"));
    assert_eq!((&broken.json()["line"], &broken.json()["column"]), (&json!(3), &json!(3)));
    let operations =
        json!({"operations": [{"action": "delete", "kind": "entity", "id": "a"}, {"action": "?"}]});
    let wrong = server.send("POST", "/v1/transactions", &operations);
    assert_eq!((wrong.problem().as_str(), &wrong.json()["operation"]), ("invalid-argument", &json!(1)));
}

/// Readers of JSON disagree on which of two equal keys counts, so a proxy that checks bodies may have seen another one.
#[test]
fn a_key_that_comes_twice_in_a_body_is_refused_and_named() {
    let (_folder, server) = server(&[]);
    for (method, path, body) in [
        ("POST", "/v1/entities", r#"{"type": "t", "id": "a", "type": "u"}"#),
        (
            "POST",
            "/v1/entities",
            r#"{"type": "t", "properties": {"type": 1, "n": [{"type": 1, "\u0074ype": 2}]}}"#,
        ),
        ("POST", "/v1/transactions", r#"{"operations": [{"type": "t", "action": "create", "type": "t"}]}"#),
        ("POST", "/v1/find", r#"{"type": null, "type": null}"#),
    ] {
        let answer = server.request(method, path, &[], Some(body));
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"), "{body}");
        let json = answer.json();
        assert!(json["detail"].as_str().unwrap().contains("\"type\""), "{json}");
        assert_eq!(json["line"], 1, "{json}");
    }
    let same_in_others =
        r#"{"type": "t", "id": "a", "properties": {"type": {"$set": [1, 2.5]}, "id": -1e3}}"#;
    let created = server.request("POST", "/v1/entities", &[], Some(same_in_others));
    assert_eq!(created.status, 201, "{created:?}");
    assert_eq!(created.json()["properties"], json!({"type": {"$set": [1, 2.5]}, "id": -1000.0}));
    // A large body is read elsewhere.
    let long = format!(r#"{{"type": "t", "type": "t", "x": "{}"}}"#, "x".repeat(100_000));
    assert_eq!(server.request("POST", "/v1/entities", &[], Some(&long)).problem(), "invalid-argument");
}

#[test]
fn a_page_of_another_origin_cannot_write() {
    let (_folder, server) = server(&[]);
    let post =
        |origin: &str| server.request("POST", "/v1/entities", &[("origin", origin)], Some(r#"{"type":"t"}"#));
    assert_eq!(post("https://example.org").problem(), "cross-origin");
    assert_eq!(post("null").problem(), "cross-origin");
    assert_eq!(post(&format!("http://{}", server.address)).status, 201);
    assert_eq!(server.request("GET", "/v1/types", &[("origin", "https://example.org")], None).status, 200);
}

#[test]
fn head_answers_like_get_without_body() {
    let (_folder, server) = server(&[]);
    server.send("POST", "/v1/entities", &json!({"id": "a", "type": "t"}));
    let (get, head) = (server.get("/v1/entities/a"), server.request("HEAD", "/v1/entities/a", &[], None));
    assert_eq!((head.status, head.header("etag")), (200, get.header("etag")));
    assert!(head.header("etag").is_some());
    assert_eq!(head.header("content-length"), get.header("content-length"));
}

#[test]
fn several_requests_go_over_one_http2_connection() {
    let (_folder, server) = server(&[]);
    server.send("POST", "/v1/entities", &json!({"id": "a", "type": "t"}));
    let entity = format!("http://{}/v1/entities/a", server.address);
    let request = || hyper::Request::get(&entity).body(Default::default()).unwrap();
    let answers = over_http2(&server, (0..20).map(|_| request()).collect());
    assert_eq!(answers.len(), 20);
    assert!(answers.iter().all(|(status, body)| *status == 200 && body["id"] == "a"), "{answers:?}");
}

#[test]
fn metrics_count_what_happens() {
    let (_folder, server) = server(&[]);
    server.send("POST", "/v1/entities", &json!({"id": "a", "type": "t"}));
    server.get("/v1/entities/a");
    server.get("/v1/entities/b");
    server.get("/nothing/else");
    let text = server.get("/metrics").body;
    for line in [
        "annals_ready 1",
        "annals_position 1",
        "annals_entities 1",
        "annals_commits_total 1",
        "annals_http_requests_total{method=\"GET\",route=\"/v1/entities/{id}\",status=\"200\"} 1",
        "annals_http_requests_total{method=\"GET\",route=\"/v1/entities/{id}\",status=\"404\"} 1",
        "annals_http_requests_total{method=\"GET\",route=\"unknown\",status=\"404\"} 1",
        "annals_http_request_duration_seconds_count{method=\"POST\",route=\"/v1/entities\",status=\"201\"} 1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is missing in {text}");
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("annals_") && value.parse::<f64>().is_ok(), "{line}");
    }
}

/// A path of the description with examples in the place of its parameters, and the required query parameters.
fn example_of(path: &str, operation: &Json) -> String {
    let mut path = path.to_owned();
    let mut query = Vec::new();
    for parameter in operation["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        let example = parameter["example"].to_string().replace('"', "");
        match parameter["in"].as_str().unwrap() {
            "path" => path = path.replace(&format!("{{{name}}}"), &example),
            "query" if parameter["required"] == true => query.push(format!("{name}={example}")),
            _ => {}
        }
    }
    if path == "/v1/feed" {
        query.push("limit=0".into());
    }
    // One of several is required.
    if path.starts_with("/v1/tree-diff/") {
        query.push("fromPosition=0".into());
    }
    format!("{path}?{}", query.join("&"))
}

#[test]
fn everything_described_is_there_and_its_examples_are_understood() {
    let (_folder, server) = server(&[]);
    let description = server.get("/openapi.json").json();
    assert_eq!(description["openapi"], "3.1.0");
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            let body =
                operation.pointer("/requestBody/content/application~1json/example").map(Json::to_string);
            let answer =
                server.request(&method.to_uppercase(), &example_of(path, operation), &[], body.as_deref());
            let described = &operation["responses"][answer.status.to_string()];
            assert!(described.is_object(), "{place} answers {answer:?}, which is not described");
            assert_ne!(answer.status, 400, "{place}: the example is not understood: {answer:?}");
            assert_ne!(answer.status, 405, "{place} is not there");
            if answer.status >= 400 {
                let kind = answer.problem();
                let examples = &described["content"]["application/problem+json"]["examples"];
                assert!(examples[&kind].is_object(), "{place} fails with {kind}, which is not described");
                assert!(!answer.body.contains("see /openapi.json"), "{place} is not there");
            }
        }
    }
}
