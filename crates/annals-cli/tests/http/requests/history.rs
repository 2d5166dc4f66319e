//! Parameters of the past: versions and their differences, positions compared, trees compared, and the feed.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, count, items};
use crate::support::Answer;

pub fn check(door: &mut Door) {
    for (plural, more) in [("entities", json!({})), ("relationships", json!({ "from": "a", "to": "a" }))] {
        let mut new = json!({ "id": "a", "type": "t", "properties": { "n": 1 } });
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        door.tell("POST", &format!("/v1/{plural}"), new);
        for n in [2, 3] {
            std::thread::sleep(std::time::Duration::from_millis(2));
            door.tell("PATCH", &format!("/v1/{plural}/a"), json!({ "n": n }));
        }
        versions(door, plural);
    }
    positions(door);
    times(door);
    feed(door);
}

fn numbers(answer: &Answer) -> Vec<u64> {
    items(answer).iter().map(|version| version["version"].as_u64().unwrap()).collect()
}

fn versions(door: &mut Door, plural: &str) {
    let one = format!("/v1/{plural}/a");
    let history = Request::get(&format!("{one}/history"));
    let written = door.server.get(&format!("{one}/versions/2")).json();
    let second = written["updated"]["instant"].as_str().unwrap().to_owned();
    for (name, value, expected) in
        [("from", &*second, &[3, 2][..]), ("to", &second, &[1]), ("oldestFirst", "true", &[1, 2, 3])]
    {
        door.compare(&history, name, value, |without, with| {
            numbers(without) == [3, 2, 1] && numbers(with) == expected
        });
    }
    door.compare(&history, "content", "true", |without, with| {
        let content = |answer: &Answer| items(answer)[0]["content"]["properties"]["n"].clone();
        content(without) == Json::Null && content(with) == 3
    });
    door.pages(&history);
    for (name, value, other) in [("from", "1", "to=3"), ("to", "3", "from=1")] {
        let difference = Request::get(&format!("{one}/diff?{other}"));
        door.compare(&difference, name, value, |without, with| {
            without.status == 400 && with.json()["properties"]["n"] == json!({ "before": 1, "after": 3 })
        });
    }
}

fn positions(door: &mut Door) {
    for (name, value, other) in [("from", "1", "to=6"), ("to", "6", "from=1")] {
        let difference = Request::get(&format!("/v1/diff?{other}"));
        door.compare(&difference, name, value, |without, with| without.status == 400 && count(with) == 2);
    }
    let difference = Request::get("/v1/diff?from=0&to=6");
    door.pages(&difference);
    door.waits(&difference);
    door.waits(&Request::get("/v1/log"));
}

/// A tree at three times, each with another number of items.
fn times(door: &mut Door) {
    let put = |door: &Door, path: &str, valid_from: &str| {
        let answer = door.tell("PUT", &format!("/v1/tree/{path}?validFrom={valid_from}"), json!({ "n": 1 }));
        std::thread::sleep(std::time::Duration::from_millis(2));
        (answer.json()["position"].to_string(), answer.json()["instant"].as_str().unwrap().to_owned())
    };
    let first = put(door, "c/one", "2001");
    let second = put(door, "c/two", "2011");
    let third = put(door, "c/three", "2021");
    for (name, value) in [("from", &*second.1), ("fromPosition", &second.0), ("fromValidAt", "2015")] {
        let difference = Request::get("/v1/tree-diff/c");
        door.compare(&difference, name, value, |without, with| without.status == 400 && count(with) == 1);
    }
    for (name, value) in [("to", &*second.1), ("toPosition", &second.0), ("toValidAt", "2015")] {
        let from =
            if name == "toValidAt" { "fromValidAt=2005".into() } else { format!("fromPosition={}", first.0) };
        let difference = Request::get(&format!("/v1/tree-diff/c?{from}"));
        door.compare(&difference, name, value, |without, with| [count(without), count(with)] == [2, 1]);
    }
    let difference = Request::get(&format!("/v1/tree-diff/c?fromPosition={}", first.0));
    door.pages(&difference);
    door.waits(&difference);
    assert!(first.0 < third.0);
    door.tell("POST", "/v1/candidates", json!({ "name": "draft" }));
    door.tell("PUT", "/v1/tree/c/four?candidate=draft", json!({ "n": 1 }));
    door.compare(&difference, "candidate", "draft", |without, with| [count(without), count(with)] == [2, 3]);
    door.tell("DELETE", "/v1/candidates/draft", Json::Null);
    let below = Request::get(&format!("/v1/tree-diff/?fromPosition={}", first.0));
    door.compare(&below, "path", "/c/two", |without, with| [count(without), count(with)] == [2, 1]);
    let top = door.server.get("/v1/tree/c?ids&depth=0").json()["@id"].as_str().unwrap().to_owned();
    let from = Request::get(&format!("/v1/tree-diff/two?fromPosition={}", first.0));
    door.compare(&from, "root", &top, |without, with| without.status == 404 && count(with) == 1);
}

/// The positions of the events of a feed.
fn events(answer: &Answer) -> Vec<u64> {
    answer.body.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

fn feed(door: &mut Door) {
    let one = Request::get("/v1/feed?limit=1");
    door.compare(&one, "after", "3", |without, with| events(without) == [1] && events(with) == [4]);
    door.compare(&one, "last-event-id", "4", |without, with| events(without) == [1] && events(with) == [5]);
    door.compare(&one, "limit", "2", |first, second| events(first) == [1] && events(second) == [1, 2]);
    let kinds = |answer: &Answer| answer.body.matches("annals.record").count();
    door.compare(&one, "tree", "/c", |without, with| {
        kinds(without) == 1 && kinds(with) == 0 && with.status == 200
    });
    door.compare(&one, "search", "t where n = 3", |without, with| {
        kinds(without) == 1 && kinds(with) == 0 && with.body.contains("annals.change")
    });
    let search = Request::get("/v1/feed?limit=1&search=t");
    door.compare(&search, "kind", "relationship", |entities, relationships| {
        let is_of = |answer: &Answer, kind: &str| answer.body.contains(&format!("\"kind\":\"{kind}\""));
        is_of(entities, "entity") && is_of(relationships, "relationship") && !is_of(relationships, "entity")
    });
    let top = door.server.get("/v1/tree/c?ids&depth=0").json()["@id"].as_str().unwrap().to_owned();
    door.tell("PUT", "/v1/tree/c/c/inner", json!({ "n": 1 }));
    let tree = Request::get("/v1/feed?limit=1&tree=/c");
    door.compare(&tree, "root", &top, |without, with| {
        without.body.contains("one") && with.body.contains("inner") && !with.body.contains("one")
    });
}
