//! Mistakes that would pass unnoticed: misspelt names, a patch of the wrong shape, a time before anything was known.

use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, server};

/// A table `t` with the classification `pii`, read by a job `j`; their types are declared.
fn catalogue() -> (tempfile::TempDir, Server) {
    let (folder, server) = server(&[]);
    let attribute = |name: &str, kind: &str| json!({"name": name, "type": kind});
    let types = [
        json!({"kind": "entity", "name": "table", "attributes": [attribute("name", "string")]}),
        json!({"kind": "entity", "name": "job", "attributes": [attribute("schedule", "string")]}),
        json!({"kind": "relationship", "name": "reads", "attributes": [attribute("since", "integer")]}),
        json!({"kind": "classification", "name": "pii", "attributes": [attribute("level", "integer")]}),
    ];
    let declared = server.send("POST", "/v1/types", &json!({ "types": types }));
    assert_eq!(declared.status, 200, "{declared:?}");
    let operations = json!([
        {"action": "create", "kind": "entity", "id": "t", "type": "table", "properties": {"name": "orders"},
         "classifications": [{"name": "pii", "properties": {"level": 1}}], "validFrom": "2020-05-05"},
        {"action": "create", "kind": "entity", "id": "j", "type": "job", "validFrom": "2020-05-05"},
        {"action": "create", "kind": "relationship", "id": "r", "type": "reads", "from": "j", "to": "t"},
    ]);
    let written = server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    assert_eq!(written.status, 200, "{written:?}");
    (folder, server)
}

fn told(answer: &Answer, status: u16, kind: &str, part: &str) {
    assert_eq!((answer.status, answer.problem().as_str()), (status, kind), "{answer:?}");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(part), "{part} in {detail}");
}

#[test]
fn a_property_that_no_searched_type_declares_and_nothing_ever_had_is_not_found() {
    let (_folder, server) = catalogue();
    for path in [
        "/v1/entities?type=table&where=nme%3Dx",
        "/v1/entities?q=table%20where%20nme%20%3D%20x",
        "/v1/entities?type=table&orderBy=-nme",
        "/v1/entities?type=table&groupBy=nme",
        "/v1/entities?type=table&aggregate=max(nme)",
        "/v1/entities/t/related?orderBy=nme",
    ] {
        told(&server.get(path), 404, "not-found", "did you mean name?");
    }
    told(
        &server.get("/v1/relationships?type=reads&where=sinse%3D1"),
        404,
        "not-found",
        "did you mean since?",
    );
    let search = json!({"type": "table", "where": {"property": "nme", "value": "x"}});
    for path in ["/v1/find", "/v1/count", "/v1/groups", "/v1/explain"] {
        told(&server.send("POST", path, &search), 404, "not-found", "did you mean name?");
    }
    let optional = server.get("/v1/entities?type=job&where=schedule%3Dx");
    assert_eq!((optional.status, &optional.json()["items"]), (200, &json!([])));
}

#[test]
fn an_unknown_relationship_type_is_not_found_whatever_is_asked_of_it() {
    let (_folder, server) = catalogue();
    for what in ["neighbors", "degree", "relationships", "reach"] {
        let answer = server.get(&format!("/v1/entities/t/{what}?type=raeds"));
        told(&answer, 404, "not-found", "did you mean reads?");
    }
    let lines = server.request(
        "GET",
        "/v1/entities/t/neighbors?type=raeds",
        &[("accept", "application/x-ndjson")],
        None,
    );
    told(&lines, 404, "not-found", "did you mean reads?");
    assert_eq!(server.get("/v1/entities/t/degree?type=reads&direction=in").json()["degree"], 1);
}

#[test]
fn a_classification_that_differs_from_a_declared_one_in_case_only_is_refused() {
    let (_folder, server) = catalogue();
    let put = server.send("PUT", "/v1/entities/j/classifications/Pii", &json!({}));
    told(&put, 422, "invalid-classification", "declared classification pii");
    let body = json!({"type": "table", "classifications": [{"name": "PII"}]});
    for (method, path) in [("POST", "/v1/entities"), ("PUT", "/v1/entities/t"), ("PUT", "/v1/entities/new")] {
        told(&server.send(method, path, &body), 422, "invalid-classification", "declared classification pii");
    }
    assert_eq!(server.send("PUT", "/v1/entities/j/classifications/pii", &json!({})).status, 200);
}

#[test]
fn a_patch_that_looks_like_a_whole_instance_is_refused() {
    let (_folder, server) = catalogue();
    let patch = |path: &str, body: &Json| server.send("PATCH", path, body);
    let trap = json!({"properties": {"rows": 9}});
    for path in ["/v1/entities/t", "/v1/relationships/r", "/v1/entities/t/classifications/pii"] {
        told(&patch(path, &trap), 400, "invalid-argument", r#"{"rows":9}"#);
    }
    let operations = json!([{"action": "update", "kind": "entity", "id": "t", "patch": trap}]);
    let refused = server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    told(&refused, 400, "invalid-argument", r#"{"rows":9}"#);
    assert_eq!(server.get("/v1/entities/t").json()["version"], 1);
    let steps = json!([{"set": "properties", "value": {"rows": 9}}]);
    assert_eq!(patch("/v1/entities/t", &steps).json()["properties"]["properties"], json!({"rows": 9}));
    assert_eq!(patch("/v1/entities/t", &json!({"properties": null})).status, 200);
}

#[test]
fn an_instance_that_became_known_later_says_since_when() {
    let (_folder, server) = catalogue();
    let since = server.get("/v1/entities/t").json()["created"]["instant"].as_str().unwrap().to_owned();
    for path in
        ["/v1/entities/t", "/v1/entities/t/history", "/v1/entities/t/neighbors", "/v1/entities/t/reach"]
    {
        for time in ["atPosition=1", "at=2021", "at=2021-03"] {
            let answer = server.get(&format!("{path}?{time}"));
            told(&answer, 404, "not-found", &format!("entity t is known since {since}"));
            told(&answer, 404, "not-found", "; try validAt=2020-05-05T00:00:00Z or later");
            assert_eq!(answer.json()["validAt"], "2020-05-05T00:00:00Z");
        }
    }
    assert_eq!(server.get("/v1/entities/t?validAt=2020-06").status, 200);
    assert_eq!(server.get("/v1/entities/t?validAt=2021").status, 200);
}

#[test]
fn what_is_no_instant_is_told_which_forms_there_are() {
    let (_folder, server) = catalogue();
    for text in ["yesterday", "now", "2026-13"] {
        let answer = server.get(&format!("/v1/entities/t?at={text}"));
        told(&answer, 400, "invalid-argument", "2025-08-09T12:00:00Z, 2025-08-09, 2025-08 or 2025");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(!detail.contains("failed to parse") && !detail.contains("yesterday,"), "{detail}");
        assert_eq!(answer.json()["parameter"], "at");
    }
}

#[test]
fn a_read_by_a_former_id_names_the_new_one() {
    let (_folder, server) = catalogue();
    assert_eq!(server.send("PUT", "/v1/entities/t/id", &json!({"newId": "orders"})).status, 200);
    for path in ["/v1/entities/t", "/v1/entities/t/summary"] {
        told(&server.get(path), 410, "deleted", "orders");
    }
    assert_eq!(server.get("/v1/entities/t/history").status, 200);
    assert_eq!(server.get("/v1/entities/t?atPosition=2").json()["id"], "t");
}

#[test]
fn a_replacement_changes_the_provenance_that_it_states_and_refuses_another_status() {
    let (_folder, server) = catalogue();
    let mut entity = server.get("/v1/entities/t").json();
    entity["effectiveTo"] = "2030-01-01T00:00:00Z".into();
    entity["license"] = "MIT".into();
    let put = |body: &Json| server.send("PUT", "/v1/entities/t", body);
    let replaced = put(&entity).json();
    assert_eq!(
        (&replaced["effectiveTo"], &replaced["license"]),
        (&entity["effectiveTo"], &entity["license"])
    );
    assert_eq!((&replaced["version"], &replaced["properties"]), (&json!(2), &entity["properties"]));
    // Members of a provenance replace all of it; a body without any leaves it.
    let body = json!({"type": "table", "properties": {"name": "sales"}});
    assert_eq!(put(&body).json()["license"], "MIT");
    let mut plain = body.clone();
    plain["provenance"] = "local".into();
    let replaced = put(&plain).json();
    assert_eq!((&replaced["license"], &replaced["effectiveTo"]), (&Json::Null, &Json::Null), "{replaced}");
    plain["status"] = "draft".into();
    told(&put(&plain), 400, "invalid-argument", "status");
}

/// Story: of 50 creations the 31st lacked an attribute, and the answer named neither its number nor its id.
#[test]
fn a_refused_commit_names_the_operation() {
    let (_folder, server) = catalogue();
    let types = json!({"types": [{"kind": "entity", "name": "u", "attributes": [
        {"name": "k", "type": "integer", "required": true, "unique": true}]}]});
    assert_eq!(server.send("POST", "/v1/types", &types).status, 200);
    let refused = |more: &dyn Fn(usize) -> Json| {
        let mut operations: Vec<Json> = (0..50)
            .map(|n| {
                let mut one =
                    json!({"action": "create", "kind": "entity", "id": format!("u{n}"), "type": "u"});
                one["properties"] = more(n);
                one
            })
            .collect();
        // Makes no change.
        operations.insert(0, json!({"action": "expect", "kind": "entity", "id": "u0", "ifVersion": 0}));
        let body = |is_dry: bool| json!({"operations": operations, "dryRun": is_dry});
        let both = [true, false].map(|is_dry| {
            let answer = server.send("POST", "/v1/transactions", &body(is_dry)).json();
            assert!(answer.get("change").is_none(), "{answer}");
            (answer["kind"].clone(), answer["operation"].clone(), answer["instance"].clone())
        });
        assert_eq!(both[0], both[1]);
        both[1].clone()
    };
    let lacking = refused(&|n| if n == 30 { json!({}) } else { json!({"k": n}) });
    assert_eq!(lacking, (json!("invalid-property"), json!(31), json!("entity u30")));
    let taken = refused(&|n| json!({"k": if n == 30 { 7 } else { n }}));
    assert_eq!(taken.0, json!("not-unique"));
    assert!([json!(8), json!(31)].contains(&taken.1), "{taken:?}");
}
