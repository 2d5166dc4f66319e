//! Endpoints that walk, and the walk that a request asks for.

use annals::{Direction, Expression, Reach};
use annals_json::condition_from_text;

use super::neighbors::direction_of;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::Problem;
use crate::request::call::Call;

/// Most entities that a walk visits by default.
const VISITED_DEFAULT: usize = 100_000;

/// An endpoint that walks.
pub fn walks(endpoint: Endpoint, parameters: Vec<Parameter>) -> Endpoint {
    let problems = ["not-found", "too-large", "future-instant", "invalid-expression"];
    endpoint.tag("graph").takes(parameters).takes(parameters::reading()).fails(&problems)
}

/// The directions of the request.
pub fn directions_of(call: &Call, default: &str) -> Result<Vec<Direction>, Problem> {
    match call.query.get("direction").unwrap_or(default) {
        "both" => Ok(vec![Direction::Out, Direction::In]),
        text => Ok(vec![direction_of(Some(text))?]),
    }
}

/// The walk of the request.
pub fn reach_of(call: &Call, default: &str) -> Result<Reach, Problem> {
    let directions = directions_of(call, default)?;
    let visited_max = call.query.number("visitedMax")?.unwrap_or(VISITED_DEFAULT);
    if visited_max > annals::VISITED_MAX {
        let text = format!("visitedMax: expected at most {}, found {visited_max}", annals::VISITED_MAX);
        return Err(Problem::invalid(text).with("parameter", "visitedMax"));
    }
    let all = |name: &str| call.query.all(name).map(str::to_owned).collect();
    let condition = |name: &str| -> annals::Result<Expression> {
        Ok(Expression::All(call.query.all(name).map(condition_from_text).collect::<annals::Result<_>>()?))
    };
    Ok(Reach {
        directions,
        types: call.query.all("type").map(str::parse).collect::<annals::Result<_>>()?,
        entity_types: all("entityType"),
        classifications: all("classified"),
        entity_where: condition("entityWhere")?,
        relationship_where: condition("relationshipWhere")?,
        statuses: all("status"),
        depth_min: call.query.number("depthMin")?.unwrap_or_default(),
        depth_max: call.query.number("depthMax")?,
        visited_max,
    })
}
