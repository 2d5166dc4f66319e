//! Parameters of imports and exports.

use serde_json::{Value as Json, json};

use super::door::{Door, Request};
use super::writing::check_write;
use crate::support::Answer;

pub fn check(door: &mut Door) {
    check_write(door, &|_, id| import("", &[entity(id, "t", json!({}))]));
    merge(door);
    delete_missing(door);
    batches(door);
    resuming(door);
    plain_objects(door);
    export(door);
}

fn import(query: &str, lines: &[Json]) -> Request {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let request = Request::new("POST", &format!("/v1/import?{query}"), Some(&body));
    request.header("content-type", "application/x-ndjson")
}

fn entity(id: &str, of: &str, properties: Json) -> Json {
    json!({ "entity": { "id": id, "type": of, "properties": properties } })
}

fn create(door: &Door, id: &str, of: &str, properties: Json) {
    let new = json!({ "id": id, "type": of, "properties": properties });
    door.tell("POST", "/v1/entities?validFrom=2001", new);
}

/// Sends an import without a parameter and with it, each after `prepare` under a new id.
fn imports(
    door: &mut Door,
    [name, value]: [&str; 2],
    prepare: impl Fn(&Door, &str) -> Request,
    differs: impl Fn(&Door, [(&str, &Answer); 2]) -> bool,
) {
    let [one, other] = [door.id(), door.id()];
    let without = prepare(door, &one).send_to(&door.server);
    let request = prepare(door, &other);
    let with = door.send_with(&request, name, value);
    let is_as_stated = differs(door, [(&one, &without), (&other, &with)]);
    door.note(&request, name, is_as_stated, &[&without, &with]);
}

/// A number of the report of an import.
fn number(answer: &Answer, name: &str) -> u64 {
    answer.json()[name].as_u64().unwrap_or(u64::MAX)
}

fn merge(door: &mut Door) {
    imports(
        door,
        ["merge", "true"],
        |door, id| {
            create(door, id, "t", json!({ "n": 1 }));
            import("", &[entity(id, "t", json!({ "n": 2 }))])
        },
        |_, [without, with]| number(without.1, "refused") == 1 && number(with.1, "updated") == 1,
    );
    imports(
        door,
        ["key", "column"],
        |door, id| {
            create(door, id, "t", json!({}));
            let edge = json!({ "type": "k", "from": id, "to": id, "properties": { "column": "x", "n": 1 } });
            door.tell("POST", "/v1/relationships", edge);
            let line = json!({ "type": "k", "from": id, "to": id, "properties": { "column": "y", "n": 2 } });
            import("merge", &[json!({ "relationship": line })])
        },
        |_, [without, with]| number(without.1, "updated") == 1 && number(with.1, "created") == 1,
    );
    let changed = |door: &Door, id: &str, line: Json| {
        create(door, id, "t", json!({ "n": 1, "m": 1 }));
        import("merge", &[line])
    };
    let now = |door: &Door, id: &str| door.server.get(&format!("/v1/entities/{id}")).json();
    imports(
        door,
        ["replace", "true"],
        |door, id| changed(door, id, entity(id, "t", json!({ "n": 2 }))),
        |door, [without, with]| {
            now(door, without.0)["properties"] == json!({ "n": 2, "m": 1 })
                && now(door, with.0)["properties"] == json!({ "n": 2 })
        },
    );
    imports(
        door,
        ["mergeValidTimes", "true"],
        |door, id| {
            let mut line = entity(id, "t", json!({ "n": 2 }));
            line["entity"]["validFrom"] = "2010-01-01T00:00:00Z".into();
            changed(door, id, line)
        },
        |door, [without, with]| {
            let is_it = |id: &str| now(door, id)["validFrom"] == "2010-01-01T00:00:00Z";
            !is_it(without.0) && is_it(with.0)
        },
    );
}

fn delete_missing(door: &mut Door) {
    let one_of_two = |door: &Door, id: &str, query: &str| {
        create(door, id, &format!("of-{id}"), json!({}));
        create(door, &format!("other-{id}"), &format!("of-{id}"), json!({}));
        import(query, &[entity(id, &format!("of-{id}"), json!({}))])
    };
    let deletes = |_: &Door, [without, with]: [(&str, &Answer); 2]| {
        number(without.1, "deleted") == 0 && number(with.1, "deleted") == 1
    };
    let query = "merge&deleteMissingMax=100";
    imports(door, ["deleteMissing", "true"], |door, id| one_of_two(door, id, query), deletes);
    let query = "merge&deleteMissing";
    imports(door, ["deleteMissingMax", "100"], |door, id| one_of_two(door, id, query), deletes);
}

fn resuming(door: &mut Door) {
    let message = |door: &Door| {
        let log = door.server.get("/v1/log?limit=1").json();
        log["items"][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    imports(
        door,
        ["name", "crawl.jsonl"],
        |_, id| import("", &[entity(id, "t", json!({}))]),
        |door, _| message(door).contains("crawl.jsonl run"),
    );
    imports(
        door,
        ["resume", "true"],
        |door, id| {
            let request = import(&format!("name={id}.jsonl"), &[entity(id, "t", json!({}))]);
            request.send_to(&door.server);
            request
        },
        |_, [without, with]| {
            (number(without.1, "refused"), number(without.1, "skipped")) == (1, 0)
                && (number(with.1, "refused"), number(with.1, "skipped")) == (0, 1)
        },
    );
}

fn batches(door: &mut Door) {
    let two = |_: &Door, id: &str| {
        import("", &[entity(id, "t", json!({})), entity(&format!("second-{id}"), "t", json!({}))])
    };
    imports(door, ["batch", "1"], two, |_, [without, with]| {
        number(without.1, "records") == 1 && number(with.1, "records") == 2
    });
    let broken = |_: &Door, id: &str| import("", &[json!({ "entity": {} }), entity(id, "t", json!({}))]);
    imports(door, ["stopOnError", "true"], broken, |_, [without, with]| {
        number(without.1, "created") == 1 && with.1.status >= 400 && number(with.1, "created") == 0
    });
}

fn plain_objects(door: &mut Door) {
    let nodes = |query: &'static str| move |_: &Door, id: &str| import(query, &[json!({ "Name": id })]);
    let shows = |door: &Door, id: &str| door.server.get(&format!("/v1/entities/{id}")).json();
    for (name, value, query) in [("id", "Name", "type=car"), ("type", "car", "id=Name")] {
        imports(door, [name, value], nodes(query), |door, [without, with]| {
            shows(door, without.0)["type"] != "car" && shows(door, with.0)["type"] == "car"
        });
    }
    for (name, value, query) in
        [("from", "Job", "to=Table&type=reads"), ("to", "Table", "from=Job&type=reads")]
    {
        let edge = move |door: &Door, id: &str| {
            create(door, id, "t", json!({}));
            import(query, &[json!({ "Job": id, "Table": id })])
        };
        imports(door, [name, value], edge, |_, [without, with]| {
            without.1.status == 400 && number(with.1, "created") == 1
        });
    }
}

fn export(door: &mut Door) {
    create(door, "exported", "rare", json!({ "n": 1 }));
    let all = Request::get("/v1/export");
    let lines = |answer: &Answer| answer.body.lines().count();
    door.compare(&all, "type", "rare", |without, with| lines(without) > 1 && lines(with) == 1);
    door.compare(&all, "format", "dot", |_, with| with.body.starts_with("digraph"));
    door.compare(&all, "history", "true", |without, with| {
        with.status == 200 && !without.body.contains("\"position\"") && with.body != without.body
    });
    door.tell("POST", "/v1/candidates", json!({ "name": "night" }));
    let both = Request::get("/v1/export?history=true&candidate=night").send_to(&door.server);
    door.note(&all, "history beside candidate", both.status == 400, &[&both]);
}
