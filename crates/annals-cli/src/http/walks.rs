//! Walks over the graph: shortest paths, what is within reach; and what changed between two positions.

use annals::{Direction, Id, Position, Reach};
use axum::http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use super::answer;
use super::call::{Call, Weight};
use super::endpoint::{Endpoint, Outcome};
use super::neighbors::direction_of;
use super::offset::Offset;
use super::parameters;
use super::problem::Problem;
use crate::wire::{entity_to_json, instance_change_to_json, relationship_to_json};

/// Most entities a walk visits unless told otherwise.
const VISITED_DEFAULT: usize = 100_000;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let end = |name, description| parameters::required(name, parameters::text(), "bash", description);
    let position = |name, description| parameters::required(name, parameters::count(), 1, description);
    vec![
        Endpoint::new(Method::GET, "/v1/path", "Find a shortest path", path)
            .tag("graph")
            .takes([
                end("from", "Id of the entity to start at."),
                end("to", "Id of the entity to arrive at."),
            ])
            .takes(parameters::walking())
            .takes(parameters::reading())
            .answers(200, "The path; `found` is false if there is none.", "Path")
            .fails(&["not-found", "too-large", "future-instant"]),
        Endpoint::new(Method::GET, "/v1/entities/{id}/reach", "List what is within reach", reach)
            .describe("Every entity once, nearest first, with its distance; `count` counts all of them.")
            .tag("graph")
            .takes(parameters::walking())
            .takes(parameters::paging())
            .takes(parameters::reading())
            .answers(200, "A page of entities.", "ReachPage")
            .fails(&["not-found", "too-large", "future-instant"]),
        Endpoint::new(Method::GET, "/v1/diff", "Compare two positions", diff)
            .describe(
                "What became of every instance, in the order of first change; `count` counts all of them.",
            )
            .tag("history")
            .takes([position("from", "The earlier position."), position("to", "The later position.")])
            .takes(parameters::paging())
            .takes(parameters::reading().into_iter().filter(|known| known.name == parameters::WAIT_POSITION))
            .answers(200, "A page of changes.", "ChangePage")
            .fails(&["not-found", "too-large"]),
    ]
}

fn reach_of(call: &Call) -> Result<Reach, Problem> {
    let directions = match call.query.get("direction") {
        Some("both") => vec![Direction::Out, Direction::In],
        text => vec![direction_of(text)?],
    };
    let visited_max = call.query.number("visitedMax")?.unwrap_or(VISITED_DEFAULT);
    if visited_max > annals::VISITED_MAX {
        let text = format!("visitedMax: expected at most {}, found {visited_max}", annals::VISITED_MAX);
        return Err(Problem::invalid(text).with("parameter", "visitedMax"));
    }
    Ok(Reach {
        directions,
        types: call.query.all("type").map(str::to_owned).collect(),
        depth_max: call.query.number("depthMax")?,
        visited_max,
        ..Reach::out()
    })
}

async fn path(call: Call) -> Outcome {
    let from = Id::new(call.query.required("from")?)?;
    let to = Id::new(call.query.required("to")?)?;
    let reach = reach_of(&call)?;
    call.read(Weight::Heavy, move |_, snapshot| {
        let body = match snapshot.shortest_path(&from, &to, &reach)? {
            None => json!({ "found": false, "start": null, "steps": [] }),
            Some(path) => {
                let step = |step: &annals::PathStep| {
                    json!({
                        "direction": if step.direction == Direction::Out { "out" } else { "in" },
                        "relationship": relationship_to_json(&step.relationship),
                        "entity": entity_to_json(&step.entity),
                    })
                };
                let steps: Vec<Json> = path.steps.iter().map(step).collect();
                json!({ "found": true, "start": entity_to_json(&path.start), "steps": steps })
            }
        };
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

async fn reach(call: Call) -> Outcome {
    let id = call.id()?;
    let reach = reach_of(&call)?;
    let limit = call.limit()?;
    let offset = Offset::of(&call)?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        let found = snapshot.reachable(&id, &reach)?;
        let items = found.iter().skip(offset.skipped).take(limit).map(|reached| {
            Ok(json!({ "distance": reached.distance, "entity": entity_to_json(&reached.entity()?) }))
        });
        let items: Vec<Json> = items.collect::<annals::Result<_>>()?;
        let next = offset.next(found.len() > offset.skipped + items.len(), limit, &snapshot);
        Ok(answer::page(call, items, next, json!({ "count": found.len() }), snapshot.position()))
    })
    .await
}

async fn diff(call: Call) -> Outcome {
    let position = |name: &str| {
        call.query.required(name)?;
        Ok::<Position, Problem>(Position(call.query.number(name)?.expect("it is there")))
    };
    let (from, to) = (position("from")?, position("to")?);
    let limit = call.limit()?;
    let offset = Offset::of(&call)?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let changes = snapshot.changes_between(from, to)?;
        let items: Vec<Json> =
            changes.iter().skip(offset.skipped).take(limit).map(instance_change_to_json).collect();
        let next = offset.next(changes.len() > offset.skipped + items.len(), limit, &snapshot);
        Ok(answer::page(call, items, next, json!({ "count": changes.len() }), snapshot.position()))
    })
    .await
}
