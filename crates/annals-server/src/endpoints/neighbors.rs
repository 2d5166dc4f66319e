//! Neighbours of an entity, page by page, and their count.

use annals::{Direction, Id, Neighbors};
use annals_json::NeighborForm;
use http::{Method, StatusCode};
use serde_json::json;

use crate::answer;
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, query, text};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let reads = |endpoint: Endpoint| {
        endpoint
            .tag("graph")
            .takes(parameters::reading())
            .takes([
                query(
                    "direction",
                    json!({ "type": "string", "enum": ["out", "in"], "default": "out" }),
                    "out",
                )
                .says("Relationships that start at the entity, or that end at it."),
                query("type", text(), "depends").says("Only this relationship type and its subtypes."),
            ])
            .fails(&["not-found", "future-instant"])
    };
    vec![
        reads(Endpoint::new(Method::GET, "/v1/entities/{id}/neighbors", "List neighbours", neighbors))
            .describe("Ordered by relationship type and then by age. A page costs the same at any depth.")
            .takes(parameters::paging())
            .answers(200, "A page of relationships, each with the entity at its other end.", "NeighborPage")
            .answers_lines("NeighborLine"),
        reads(Endpoint::new(Method::GET, "/v1/entities/{id}/degree", "Count neighbours", degree)).answers(
            200,
            "The count of relationships.",
            "Degree",
        ),
    ]
}

/// A direction from its name.
pub fn direction_of(text: Option<&str>) -> Result<Direction, Problem> {
    match text {
        None | Some("out") => Ok(Direction::Out),
        Some("in") => Ok(Direction::In),
        Some(other) => Err(Problem::invalid(format!("direction: expected out or in, found {other:?}"))
            .with("parameter", "direction")),
    }
}

async fn neighbors(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let direction = direction_of(call.query.get("direction"))?;
    let after = call.query.get("after").map(Id::new).transpose()?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = call.snapshot().await?;
        return lines::send(call, snapshot, move |call, snapshot, lines| {
            let found = snapshot.neighbors_after(&id, direction, call.query.get("type"), after.as_ref())?;
            let next = take(found, limit, |form| lines.line(&form))?;
            lines.next(next)
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let mut found = snapshot.neighbors_after(&id, direction, call.query.get("type"), after.as_ref())?;
        let form = |neighbor| NeighborForm { neighbor, direction: None };
        let items = call.room().take(found.by_ref().take(limit).map(|neighbor| neighbor.map(form)))?;
        let last = items.last().map(|last| last.neighbor.relationship.id().to_string());
        let next = found.next().transpose()?.and(last);
        Ok(answer::page(call, &items, None, next, snapshot.position()))
    })
    .await
}

/// Shows at most `limit` neighbours; if there are more, returns the relationship after which they continue.
fn take<'s>(
    mut found: Neighbors<'s>,
    limit: usize,
    mut show: impl FnMut(NeighborForm<'s>) -> Result<(), Problem>,
) -> Result<Option<String>, Problem> {
    let mut last = None;
    for neighbor in found.by_ref().take(limit) {
        let neighbor = neighbor?;
        last = Some(neighbor.relationship.id().to_string());
        show(NeighborForm { neighbor, direction: None })?;
    }
    Ok(found.next().transpose()?.and(last))
}

async fn degree(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let direction = direction_of(call.query.get("direction"))?;
    call.read(Weight::Light, move |call, snapshot| {
        let degree = snapshot.degree(&id, direction, call.query.get("type"))?;
        Ok(answer::json(StatusCode::OK, &json!({ "degree": degree }), snapshot.position()))
    })
    .await
}
