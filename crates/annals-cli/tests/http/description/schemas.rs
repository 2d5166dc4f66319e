//! Answers are what `/openapi.json` says of them.

use serde_json::{Value as Json, json};

use crate::http::protocol::server;
use crate::support::Answer;
use crate::support::described::DESCRIPTION;

/// Checks JSON against a schema of the description, as far as its schemas go.
fn fits(description: &Json, schema: &Json, found: &Json) -> bool {
    let fits = |schema: &Json, found: &Json| fits(description, schema, found);
    let all = |key: &str, holds: &dyn Fn(&Json) -> bool| schema.get(key).is_none_or(holds);
    let is_of_type = |name: &str| match name {
        "integer" => found.is_u64() || found.is_i64(),
        "number" => found.is_number(),
        "string" => found.is_string(),
        "boolean" => found.is_boolean(),
        "null" => found.is_null(),
        "array" => found.is_array(),
        "object" => found.is_object(),
        other => panic!("type {other}"),
    };
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let members = found.as_object();
    all("$ref", &|name| fits(description.pointer(&text(name)[1..]).unwrap(), found))
        && all("const", &|constant| constant == found)
        && all("enum", &|known| known.as_array().unwrap().contains(found))
        && all("oneOf", &|any| any.as_array().unwrap().iter().filter(|one| fits(one, found)).count() == 1)
        && all("anyOf", &|any| any.as_array().unwrap().iter().any(|one| fits(one, found)))
        && all("type", &|names| match names {
            Json::Array(names) => names.iter().any(|name| is_of_type(name.as_str().unwrap())),
            name => is_of_type(&text(name)),
        })
        && all("required", &|names| {
            names.as_array().unwrap().iter().all(|name| found.get(name.as_str().unwrap()).is_some())
        })
        && all("propertyNames", &|_| members.is_none_or(|all| all.keys().all(|name| !name.starts_with('$'))))
        && all("items", &|items| found.as_array().is_none_or(|all| all.iter().all(|one| fits(items, one))))
        && members.into_iter().flatten().all(|(name, member)| {
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(known), _) => fits(known, member),
                (None, Some(Json::Bool(is_allowed))) => *is_allowed,
                (None, Some(others)) => fits(others, member),
                (None, None) => true,
            }
        })
}

/// Checks an answer against the description of its operation, and gives it back.
pub fn described(operation: &str, answer: Answer) -> Answer {
    let description = &*DESCRIPTION;
    let (method, path) = operation.split_once(' ').unwrap();
    let responses = &description["paths"][path][method]["responses"];
    let content = &responses[answer.status.to_string()]["content"];
    let media_type = answer.header("content-type").unwrap();
    let schema = &content[media_type]["schema"];
    assert!(schema.is_object(), "{operation}: {answer:?} is not described: {responses}");
    if media_type == "application/problem+json" {
        let kind = answer.problem();
        assert!(content[media_type]["examples"][&kind].is_object(), "{operation}: {kind} is not described");
    }
    if media_type == "application/x-ndjson" {
        let line_schema = &schema["contentSchema"]["items"];
        assert!(line_schema.is_object(), "{operation}: lines are not described: {schema}");
        for line in answer.body.lines() {
            let found = serde_json::from_str(line).unwrap();
            assert!(fits(description, line_schema, &found), "{operation}: {line} is no {line_schema}");
        }
        return answer;
    }
    assert!(fits(description, schema, &answer.json()), "{operation}: {} is no {schema}", answer.body);
    answer
}

#[test]
fn what_has_another_id_or_is_gone_is_answered_by_the_receipt_that_is_described() {
    let (_folder, server) = server();
    for (plural, more) in [("entities", json!({})), ("relationships", json!({"from": "x", "to": "y"}))] {
        for id in ["x", "y", "a", "b"] {
            let mut new = json!({"id": id, "type": "t"});
            new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(server.send("POST", &format!("/v1/{plural}"), &new).status, 201);
        }
        let path = |rest: &str| format!("/v1/{plural}/{rest}");
        let said = |method: &str, rest: &str| format!("{method} /v1/{plural}/{{id}}{rest}");
        let renamed = server.send("PUT", &path("a/id"), &json!({"newId": "c"}));
        assert_eq!(renamed.status, 200, "{renamed:?}");
        let renamed = described(&said("put", "/id"), renamed);
        assert!(renamed.json()["position"].is_number());
        let status = server.send("PUT", &path("c/status"), &json!({"status": "stable"}));
        described(&said("put", "/status"), status);
        for _ in 0..2 {
            let undone = server.request("POST", &path("c/undo"), &[], None);
            assert_eq!(undone.status, 200, "{undone:?}");
            described(&said("post", "/undo"), undone);
        }
        let stamp = json!({"instant": "2020-01-01T00:00:00Z", "author": "bob"});
        let mut copy =
            json!({"type": "t", "home": "there", "version": 7, "created": stamp, "updated": stamp});
        copy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let saved = server.send("PUT", &path("z/copy"), &copy);
        assert_eq!(saved.status, 200, "{saved:?}");
        described(&said("put", "/copy"), saved);
        let purged = server.request("DELETE", &path("z/copy?home=there"), &[], None);
        assert_eq!(purged.status, 200, "{purged:?}");
        described(&said("delete", "/copy"), purged);
        let deleted = server.request("DELETE", &path("b"), &[], None);
        described(&said("delete", ""), deleted);
    }
}

#[test]
fn a_type_of_an_unknown_kind_is_not_found_as_described() {
    let (_folder, server) = server();
    for (method, path) in [("GET", "get"), ("PUT", "put"), ("PATCH", "patch")] {
        let body = (method != "GET").then_some("{}");
        let answer = server.request(method, "/v1/types/thing/t", &[], body);
        assert_eq!(answer.status, 404, "{method}: {answer:?}");
        described(&format!("{path} /v1/types/{{kind}}/{{name}}"), answer);
    }
}

#[test]
fn every_event_of_the_feed_is_described() {
    let (_folder, server) = server();
    let operations = json!([
        {"action": "create", "kind": "entity", "id": "a", "type": "t", "properties": {"n": 1}, "classifications": [{"name": "c"}], "validFrom": "2020-01-01"},
        {"action": "create", "kind": "relationship", "id": "r", "type": "t", "from": "a", "to": "a"},
        {"action": "update", "kind": "entity", "id": "a", "patch": [{"add": "s", "value": 1}]},
        {"action": "define-type", "type": {"kind": "entity", "name": "t"}},
        {"action": "delete", "kind": "entity", "id": "a"},
    ]);
    assert_eq!(server.send("POST", "/v1/transactions", &json!({"operations": operations})).status, 200);
    let description = &*DESCRIPTION;
    let answer = &description["paths"]["/v1/feed"]["get"]["responses"]["200"]["content"]["text/event-stream"];
    let feed = description.pointer(&answer["schema"]["$ref"].as_str().unwrap()[1..]).unwrap();
    assert_eq!((&feed["type"], &feed["contentMediaType"]), (&json!("string"), &json!("text/event-stream")));
    let data = &feed["contentSchema"]["items"]["properties"]["data"];
    assert_eq!(data["contentMediaType"], "application/json");
    let events = server.get("/v1/feed?limit=1").body;
    let event = events.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let event: Json = serde_json::from_str(event).unwrap();
    assert_eq!(event["data"]["changes"].as_array().unwrap().len(), 5);
    assert!(fits(description, &data["contentSchema"], &event), "{event} is not {data}");
    assert!(!fits(description, &data["contentSchema"], &json!({"specversion": "1.0"})));
    assert_eq!(server.send("PUT", "/v1/tree/c/n", &json!(1)).status, 201);
    assert_eq!(server.send("PUT", "/v1/tree/c/n", &json!(2)).status, 200);
    assert_eq!(server.send("POST", "/v1/entities", &json!({"id": "b", "type": "t"})).status, 201);
    let edge = json!({"type": "t", "from": "b", "to": "b"});
    assert_eq!(server.send("POST", "/v1/relationships", &edge).status, 201);
    for path in ["tree=/c&limit=2", "search=t&limit=1", "search=t&kind=relationship&limit=1"] {
        let events = server.get(&format!("/v1/feed?{path}")).body;
        for event in events.lines().filter_map(|line| line.strip_prefix("data: ")) {
            let event: Json = serde_json::from_str(event).unwrap();
            assert_eq!(event["type"], "annals.change");
            assert!(fits(description, &data["contentSchema"], &event), "{event} is not {data}");
        }
    }
}

#[test]
fn what_is_refused_before_an_endpoint_is_asked_is_described() {
    let (_folder, server) = server();
    for (header, method, path, status) in [
        (("host", "evil.example"), "GET", "/v1/types", 421),
        (("host", "evil.example"), "GET", "/health/live", 421),
        (("origin", "http://evil.example"), "POST", "/v1/entities", 403),
        (("origin", "http://evil.example"), "POST", "/v1/transactions", 403),
    ] {
        let body = (method == "POST").then_some("{}");
        let answer = server.request(method, path, &[header], body);
        assert_eq!(answer.status, status, "{answer:?}");
        described(&format!("{} {path}", method.to_lowercase()), answer);
    }
}

#[test]
fn imports_and_exports_are_described() {
    let (_folder, server) = server();
    let import = |path: &str, lines: &str| {
        let headers = [("content-type", "application/x-ndjson")];
        described("post /v1/import", server.request("POST", path, &headers, Some(lines)))
    };
    let entity = "{\"entity\": {\"id\": \"a\", \"type\": \"t\", \"classifications\": [{\"name\": \"c\"}]}}\n";
    assert_eq!(import("/v1/import", &[entity, "x\n"].concat()).status, 200);
    assert_eq!(import("/v1/import?stopOnError", entity).status, 409);
    assert_eq!(import("/v1/import?key=x", entity).status, 400);
    let exported = described("get /v1/export", server.get("/v1/export"));
    assert_eq!((exported.status, exported.body.lines().count()), (200, 1));
}
