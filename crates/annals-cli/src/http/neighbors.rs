//! Neighbours of an entity, page by page, and how many there are.

use annals::{Direction, Id};
use axum::http::{Method, StatusCode};
use serde_json::json;

use super::answer;
use super::call::{Call, Weight};
use super::endpoint::{Endpoint, Outcome};
use super::parameters;
use super::problem::Problem;
use crate::wire::NeighborForm;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let reads = |endpoint: Endpoint| {
        endpoint
            .tag("graph")
            .takes(parameters::reading())
            .takes([parameters::direction(), parameters::relationship_type()])
            .fails(&["not-found", "future-instant"])
    };
    vec![
        reads(Endpoint::new(Method::GET, "/v1/entities/{id}/neighbors", "List neighbours", neighbors))
            .describe("Ordered by relationship type and then by age. A page costs the same at any depth.")
            .takes(parameters::paging())
            .answers(200, "A page of relationships, each with the entity at its other end.", "NeighborPage"),
        reads(Endpoint::new(Method::GET, "/v1/entities/{id}/degree", "Count neighbours", degree)).answers(
            200,
            "How many relationships there are.",
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

async fn neighbors(call: Call) -> Outcome {
    let id = call.id()?;
    let direction = direction_of(call.query.get("direction"))?;
    let after = call.query.get("after").map(Id::new).transpose()?;
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let type_name = call.query.get("type");
        let mut items: Vec<NeighborForm> = Vec::new();
        let (mut last, mut next) = (None, None);
        for neighbor in snapshot.neighbors_after(&id, direction, type_name, after.as_ref())? {
            if items.len() == limit {
                next = last;
                break;
            }
            let neighbor = neighbor?;
            last = Some(neighbor.relationship.id().to_string());
            items.push(NeighborForm { neighbor, direction: None });
        }
        Ok(answer::page(call, &items, None, next, snapshot.position()))
    })
    .await
}

async fn degree(call: Call) -> Outcome {
    let id = call.id()?;
    let direction = direction_of(call.query.get("direction"))?;
    call.read(Weight::Light, move |call, snapshot| {
        let degree = snapshot.degree(&id, direction, call.query.get("type"))?;
        Ok(answer::json(StatusCode::OK, &json!({ "degree": degree }), snapshot.position()))
    })
    .await
}
