//! Parameters of every write: author, reason, valid time, candidate, condition, and the position to wait for.

use serde_json::{Value as Json, json};

use super::door::{Door, Request, items, lists};

/// Makes what a write needs under a new id, and gives its request.
pub type Prepare<'p> = &'p dyn Fn(&mut Door, &str) -> Request;

type Check = fn(&mut Door, Prepare);

/// Checks those of these parameters that the operation lists.
pub fn check_write(door: &mut Door, prepare: Prepare) {
    let checks: [(&str, Check); 8] = [
        ("annals-author", author),
        ("annals-message", message),
        ("annals-wait-position", wait),
        ("validFrom", valid_from),
        ("always", always),
        ("candidate", candidate),
        ("if-match", if_match),
        ("idempotency-key", idempotency_key),
    ];
    let operation = new(door, prepare).operation();
    for (name, check) in checks {
        if lists(&operation, name) {
            check(door, prepare);
        }
    }
}

fn new(door: &mut Door, prepare: Prepare) -> Request {
    let id = door.id();
    prepare(door, &id)
}

/// The records that a request makes, without a parameter or with it.
fn records(door: &mut Door, request: &Request, parameter: Option<(&str, &str)>) -> Vec<Json> {
    let before = door.position();
    let answer = match parameter {
        Some((name, value)) => door.send_with(request, name, value),
        None => door.ask(request),
    };
    let name = parameter.map_or("no parameter", |(name, _)| name);
    door.note(request, name, answer.status < 300, &[&answer]);
    door.records_after(before)
}

/// Compares the records without a parameter and with it.
fn compare_records(
    door: &mut Door,
    prepare: Prepare,
    [name, value]: [&str; 2],
    differs: impl Fn(&[Json], &[Json]) -> bool,
) {
    let request = new(door, prepare);
    let without = records(door, &request, None);
    let request = new(door, prepare);
    let with = records(door, &request, Some((name, value)));
    if !differs(&without, &with) {
        door.wrong.push(format!("{name} of {request:?}: {} and {}", json!(without), json!(with)));
    }
}

/// A repeat with the same key makes no record, and gets the receipt of the first.
fn idempotency_key(door: &mut Door, prepare: Prepare) {
    let request = new(door, prepare);
    let name = "idempotency-key";
    let key = door.id();
    let before = door.position();
    let first = door.send_with(&request, name, &key);
    let has_record = door.position() > before;
    let after = door.position();
    let again = door.send_with(&request, name, &key);
    let is_replayed = again.header("idempotent-replayed") == Some("true");
    let is_same = again.header("annals-position") == Some(&*after.to_string());
    let is_as_stated = first.status < 300
        && has_record
        && again.status == 200
        && is_replayed
        && is_same
        && door.position() == after;
    door.note(&request, name, is_as_stated, &[&first, &again]);
}

fn author(door: &mut Door, prepare: Prepare) {
    compare_records(door, prepare, ["annals-author", "ada"], |without, with| {
        !without.is_empty()
            && without.iter().all(|record| record["author"] == "")
            && !with.is_empty()
            && with.iter().all(|record| record["author"] == "ada")
    });
}

fn message(door: &mut Door, prepare: Prepare) {
    compare_records(door, prepare, ["annals-message", "a reason"], |without, with| {
        // An import adds its own note.
        let has_it = |record: &Json| record["message"].as_str().unwrap().contains("a reason");
        !without.is_empty() && !without.iter().any(has_it) && !with.is_empty() && with.iter().all(has_it)
    });
}

fn wait(door: &mut Door, prepare: Prepare) {
    let request = new(door, prepare);
    door.waits(&request);
}

fn valid_from(door: &mut Door, prepare: Prepare) {
    let changes = |records: Vec<Json>| -> Vec<Json> {
        records.iter().flat_map(|record| record["changes"].as_array().unwrap().clone()).collect()
    };
    let request = new(door, prepare);
    let without = changes(records(door, &request, None));
    let request = new(door, prepare);
    // Everything that the write needs is true at this instant.
    let instant = door.records_after(door.position() - 1)[0]["instant"].as_str().unwrap().to_owned();
    let with = changes(records(door, &request, Some(("validFrom", &instant))));
    let has_it = |change: &Json| change["validFrom"] == *instant;
    if without.is_empty() || without.iter().any(has_it) || with.is_empty() || !with.iter().all(has_it) {
        door.wrong.push(format!("validFrom of {request:?}: {} and {}", json!(without), json!(with)));
    }
}

/// The same write again changes nothing, and makes a version all the same.
fn always(door: &mut Door, prepare: Prepare) {
    let request = new(door, prepare);
    records(door, &request, None);
    let without = records(door, &request, None);
    let with = records(door, &request, Some(("always", "true")));
    if !without.is_empty() || with.len() != 1 {
        door.wrong.push(format!("always of {request:?}: {} and {}", json!(without), json!(with)));
    }
}

/// The write is an edit of the candidate, and the repository stays as it is.
fn candidate(door: &mut Door, prepare: Prepare) {
    let name = door.id();
    door.tell("POST", "/v1/candidates", json!({ "name": name }));
    let edits = |door: &Door| items(&door.server.get(&format!("/v1/candidates/{name}/edits"))).len();
    // The candidates themselves are in an export, too.
    let state = |door: &Door| -> Vec<String> {
        let lines = door.server.get("/v1/export").body;
        lines.lines().filter(|line| !line.contains("annals-candidate")).map(str::to_owned).collect()
    };
    let mut outcomes = Vec::new();
    for parameter in [None, Some(("candidate", &*name))] {
        let request = new(door, prepare);
        let before = state(door);
        let made = records(door, &request, parameter);
        outcomes.push((made.len(), edits(door) > 0, state(door) != before));
    }
    if outcomes != [(1, false, true), (1, true, false)] {
        let request = new(door, prepare);
        door.wrong.push(format!("candidate of {request:?}: (records, is edited, is changed): {outcomes:?}"));
    }
    door.tell("DELETE", &format!("/v1/candidates/{name}"), Json::Null);
}

fn if_match(door: &mut Door, prepare: Prepare) {
    let request = new(door, prepare);
    let refused = door.send_with(&request, "if-match", "\"999.9\"");
    let accepted = door.ask(&request);
    door.note(&request, "if-match", refused.status == 412 && accepted.status < 300, &[&refused, &accepted]);
}
