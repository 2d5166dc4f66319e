//! Walks over the graph: shortest paths, and entities within reach.

use annals::{Id, Related};
use annals_json::{GroupsForm, Members, ObjectOf, add_path, field_from_text};
use http::{Method, StatusCode};
use serde_json::json;

use super::graph::reached;
use super::graph_files::{self, with_graph_files};
use super::walk_query::{reach_of, walks};
use crate::answer;
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, query, required, text};
use crate::protocol::problem::Outcome;
use crate::request::call::{Call, Weight};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let end = |name| parameters::required(name, parameters::text(), "bash");
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
    .answers_lines("GroupLine");
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
