//! Walks over the graph: shortest paths, what is within reach; and what changed between two positions.

use annals::{Direction, Id, Position, Reach, Related};
use annals_json::{Members, ObjectOf, ReachedForm, add_path, instance_change_to_json, json_of};
use http::{Method, StatusCode};

use super::graph::related_lines;
use super::neighbors::direction_of;
use crate::answer;
use crate::call::{Call, Weight};
use crate::endpoint::Endpoint;
use crate::lines;
use crate::names::WAIT_POSITION;
use crate::offset::Offset;
use crate::parameters;
use crate::problem::{Outcome, Problem};

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
            .takes(parameters::walking("out"))
            .takes(parameters::reading())
            .answers(200, "The path; `found` is false if there is none.", "Path")
            .fails(&["not-found", "too-large", "future-instant"]),
        Endpoint::new(Method::GET, "/v1/entities/{id}/reach", "List what is within reach", reach)
            .describe("Every entity once, nearest first, with its distance; `count` counts all of them.")
            .tag("graph")
            .takes(parameters::walking("out"))
            .takes(parameters::paging())
            .takes(parameters::reading())
            .answers(200, "A page of entities.", "ReachPage")
            .answers_lines("ReachedLine")
            .fails(&["not-found", "too-large", "future-instant"]),
        Endpoint::new(Method::GET, "/v1/diff", "Compare two positions", diff)
            .describe(
                "What became of every instance, in the order of first change; `count` counts all of them.",
            )
            .tag("history")
            .takes([position("from", "The earlier position."), position("to", "The later position.")])
            .takes(parameters::paging())
            .takes(parameters::reading().into_iter().filter(|known| known.name == WAIT_POSITION.as_str()))
            .answers(200, "A page of changes.", "ChangePage")
            .answers_lines("ChangeLine")
            .fails(&["not-found", "too-large"]),
    ]
}

/// The directions asked for.
pub fn directions_of(call: &Call, default: &str) -> Result<Vec<Direction>, Problem> {
    match call.query.get("direction").unwrap_or(default) {
        "both" => Ok(vec![Direction::Out, Direction::In]),
        text => Ok(vec![direction_of(Some(text))?]),
    }
}

/// The walk asked for.
pub fn reach_of(call: &Call, default: &str) -> Result<Reach, Problem> {
    let directions = directions_of(call, default)?;
    let visited_max = call.query.number("visitedMax")?.unwrap_or(VISITED_DEFAULT);
    if visited_max > annals::VISITED_MAX {
        let text = format!("visitedMax: expected at most {}, found {visited_max}", annals::VISITED_MAX);
        return Err(Problem::invalid(text).with("parameter", "visitedMax"));
    }
    let all = |name: &str| call.query.all(name).map(str::to_owned).collect();
    Ok(Reach {
        directions,
        types: all("type"),
        entity_types: all("entityType"),
        classifications: all("classified"),
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
    let offset = Offset::of(&call)?;
    if lines::are_wanted(&call) {
        return related_lines(call, id, Related::by(reach), offset).await;
    }
    let limit = call.limit()?;
    let related = Related { skip: offset.skipped, limit, is_counted: true, ..Related::by(reach) };
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        let page = snapshot.related(&id, &related)?;
        let items = call.room().take(page.items.iter().map(ReachedForm::of))?;
        let has_more = page.has_more || items.len() < page.items.len();
        let next = offset.next(has_more, items.len(), &snapshot);
        Ok(answer::page(call, &items, page.count, next, snapshot.position()))
    })
    .await
}

async fn diff(call: Box<Call>) -> Outcome {
    let position = |name: &str| {
        call.query.required(name)?;
        Ok::<Position, Problem>(Position(call.query.number(name)?.expect("it is there")))
    };
    let (from, to) = (position("from")?, position("to")?);
    let offset = Offset::of(&call)?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = offset.pin(call.snapshot().await?)?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            let mut changes = snapshot.changes(from, to)?.skip(offset.skipped);
            changes
                .by_ref()
                .take(limit)
                .try_for_each(|change| lines.line(&instance_change_to_json(&change?)))?;
            let has_more = changes.next().transpose()?.is_some();
            lines.next(offset.next(has_more, limit, snapshot))
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let shown = offset.skipped..offset.skipped.saturating_add(limit);
        let (mut count, mut items, mut left) = (0, Vec::new(), call.door.limits.page_bytes_max.max(1));
        for change in snapshot.changes(from, to)? {
            let change = change?;
            if shown.contains(&count) && left > 0 {
                let item = instance_change_to_json(&change);
                left = left.saturating_sub(json_of(&item).len());
                items.push(item);
            }
            count += 1;
        }
        let has_more = count > offset.skipped.saturating_add(items.len());
        let next = offset.next(has_more, items.len(), &snapshot);
        Ok(answer::page(call, &items, Some(count), next, snapshot.position()))
    })
    .await
}
