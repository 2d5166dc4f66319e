//! Walks over the graph: shortest paths, and entities within reach.

use annals::{Direction, Expression, Id, Reach, Related};
use annals_json::{GroupsForm, Members, ObjectOf, add_path, condition_from_text, field_from_text};
use http::{Method, StatusCode};
use serde_json::json;

use super::graph::reached;
use super::graph_files::{self, with_graph_files};
use super::neighbors::direction_of;
use crate::answer;
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, query, required, text};
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// Most entities that a walk visits by default.
const VISITED_DEFAULT: usize = 100_000;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let end = |name| parameters::required(name, parameters::text(), "bash");
    let walks = |endpoint: Endpoint, parameters: Vec<Parameter>| {
        endpoint.tag("graph").takes(parameters).takes(parameters::reading()).fails(&[
            "not-found",
            "too-large",
            "future-instant",
            "invalid-expression",
        ])
    };
    let path = Endpoint::new(Method::GET, "/v1/path", "Find a shortest path", path)
        .takes([
            end("from").says("Id of the entity to start at."),
            end("to").says("Id of the entity to arrive at."),
        ])
        .answers(200, "The path; `found` is false if there is none.", "Path");
    let reach =
        Endpoint::new(Method::GET, "/v1/entities/{id}/reach", "List the entities within reach", reach)
            .describe(
                "Every entity once, nearest first, with its distance; `count` is the number of all. GraphML and DOT also \
                 have the start, and the relationships on the walk.",
            )
            .takes(parameters::paging())
            .answers(200, "A page of entities.", "ReachPage")
            .answers_lines("ReachedLine");
    let groups = Endpoint::new(
        Method::GET,
        "/v1/entities/{id}/reach/groups",
        "Count the entities within reach by value",
        groups,
    )
    .describe(
        "The largest groups first; `rest` counts the groups beyond `limit`. Each member of a set counts. More than 10,000 \
         different values are the error too-large.",
    )
    .takes([
        required("groupBy", text(), "owner")
            .says("Count by the values of this property, or of a header such as @type."),
        query("limit", json!({ "type": "integer", "minimum": 1, "default": 100 }), 100)
            .says("Groups to show; in lines all, if left out."),
    ])
    .answers(200, "The groups.", "Groups")
    .answers_lines("GroupLine")
    .fails(&["invalid-page"]);
    let counted =
        Endpoint::new(Method::GET, "/v1/entities/{id}/reach/count", "Count the entities within reach", count)
            .describe("The number of entities, without the start, and the distance of the farthest.")
            .answers(200, "The number.", "ReachCount");
    vec![
        walks(with_graph_files(path), parameters::walking_between("out")),
        walks(with_graph_files(reach), parameters::walking("out")),
        walks(counted, parameters::walking("out")),
        walks(groups, parameters::walking("out")),
    ]
}

/// An endpoint that walks.
pub(super) fn walks(endpoint: Endpoint, parameters: Vec<Parameter>) -> Endpoint {
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

async fn path(call: Box<Call>) -> Outcome {
    let from = Id::new(call.query.required("from")?)?;
    let to = Id::new(call.query.required("to")?)?;
    let reach = reach_of(&call, "out")?;
    if let Some(format) = graph_files::format_of(&call)? {
        return graph_files::send(call, format, move |snapshot, writer| {
            let found = snapshot.shortest_path(&from, &to, &reach)?;
            format.write(found.as_slice(), writer)
        })
        .await;
    }
    call.read(Weight::Heavy, move |_, snapshot| {
        let found = snapshot.shortest_path(&from, &to, &reach)?;
        let body = ObjectOf(|members: &mut Members| {
            members.add("found", found.is_some());
            match &found {
                Some(path) => add_path(members, path),
                None => {
                    members.add("length", 0.0);
                    members.add("start", None::<&str>);
                    members.add("steps", Vec::<&str>::new());
                }
            }
        });
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

async fn reach(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let reach = reach_of(&call, "out")?;
    if let Some(format) = graph_files::whole_format_of(&call)? {
        return graph_files::send(call, format, move |snapshot, writer| {
            format.write(&snapshot.neighborhood(&id, &reach)?, writer)
        })
        .await;
    }
    reached(call, id, Related { is_counted: true, ..Related::by(reach) }).await
}

async fn count(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let reach = reach_of(&call, "out")?;
    call.read(Weight::Heavy, move |_, snapshot| {
        let (mut count, mut distance_max) = (0_u64, 0);
        for reached in snapshot.walk(&id, &reach)?.entities() {
            let distance = reached?.distance;
            if distance > 0 {
                (count, distance_max) = (count + 1, distance);
            }
        }
        let body = json!({ "count": count, "distanceMax": distance_max });
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

async fn groups(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let reach = reach_of(&call, "out")?;
    let by = field_from_text(call.query.required("groupBy")?)?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = call.snapshot().await?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            let found = snapshot.groups(&id, &reach, &by)?;
            let form = GroupsForm::of(&found, limit);
            form.shown().iter().try_for_each(|group| lines.line(group))?;
            lines.line(&ObjectOf(|members: &mut Members| form.add_totals(members)))
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |_, snapshot| {
        let found = snapshot.groups(&id, &reach, &by)?;
        Ok(answer::json(StatusCode::OK, &GroupsForm::of(&found, limit), snapshot.position()))
    })
    .await
}
