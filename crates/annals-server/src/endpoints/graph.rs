//! Graph queries: relationships of an entity, neighbourhoods, related and linking entities, paths, shared entities.

use annals::{Id, Reach, Related, RelationshipsOf, Snapshot, Subgraph};
use annals_json::{CrossedForm, Members, ObjectOf, ReachedForm, SubgraphPage, order_from_text};
use http::{Method, StatusCode};

use super::graph_files::{self, with_graph_files};
use super::walk_query::{directions_of, reach_of, walks};
use crate::answer;
use crate::answer::lines::{self, Lines};
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, count, query, text};
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight, check_limit, check_lines_limit};
use crate::request::cursors::Cursors;
use crate::request::offset::Offset;

/// Paths found by default.
const PATHS_DEFAULT: usize = 10;
/// Relationships read together in an order that reads all of them each time.
const ORDERED_ITEMS_MAX: usize = 10_000;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    of_one_entity().into_iter().chain(between_two()).collect()
}

fn of_one_entity() -> [Endpoint; 3] {
    [
        Endpoint::new(
            Method::GET,
            "/v1/entities/{id}/relationships",
            "List relationships of an entity",
            relationships,
        )
        .describe(
            "Each once, also a loop. By type and age a page costs the same at any depth; with \
                 `orderBy` every page reads all relationships of the entity.",
        )
        .tag("graph")
        .takes([
            parameters::directions("both"),
            query("type", text(), "depends")
                .many()
                .says("Only relationships of this type and its subtypes; repeatable."),
            parameters::status(),
        ])
        .takes([
            parameters::order(),
            query("skip", count(), 0).says("Skip this many items, counted from `after` if it is given."),
            parameters::counted(),
        ])
        .takes(parameters::paging())
        .takes(parameters::reading())
        .answers(
            200,
            "A page of relationships; `count` is the number of all, if asked for.",
            "RelationshipsOfPage",
        )
        .answers_lines("RelationshipLine")
        .fails(&["not-found", "too-large", "future-instant"]),
        with_graph_files(
            walks(
                Endpoint::new(
                    Method::GET,
                    "/v1/entities/{id}/neighborhood",
                    "Read a neighbourhood",
                    neighborhood,
                ),
                parameters::walking("both"),
            )
            .describe(
                "The entity, every entity at most `depthMax` steps away (default 1), \
                     and every relationship on such a walk, each once: first the entities, \
                     nearest first, then the relationships.",
            )
            .takes(parameters::paging())
            .answers(200, "A page of the neighbourhood.", "SubgraphPage")
            .answers_lines("SubgraphLine"),
        ),
        walks(
            Endpoint::new(Method::GET, "/v1/entities/{id}/related", "List related entities", related),
            parameters::walking("both"),
        )
        .describe(
            "Every entity that a walk of any length reaches, each once: nearest first, or in \
                     another order. All pages together cost one walk.",
        )
        .takes([parameters::order(), parameters::counted()])
        .takes(parameters::paging())
        .answers(200, "A page of entities; `count` is the number of all, if asked for.", "RelatedPage")
        .answers_lines("ReachedLine"),
    ]
}

fn between_two() -> [Endpoint; 3] {
    [
        with_graph_files(
            walks(
                Endpoint::new(Method::GET, "/v1/linking", "Read all paths between two entities", linking),
                parameters::walking_between("both"),
            )
            .describe(
                "Every entity and relationship on a path of at most `depthMax` steps from one to the \
                     other, each once. No path visits an entity twice. Empty if there is no path.",
            )
            .takes(ends())
            .takes(parameters::paging())
            .answers(200, "A page of the entities and relationships that link them.", "SubgraphPage")
            .answers_lines("SubgraphLine"),
        ),
        with_graph_files(
            walks(
                Endpoint::new(Method::GET, "/v1/paths", "Find the shortest paths", paths),
                parameters::walking_between("out"),
            )
            .describe(
                "The `limit` shortest paths (default 10), shortest first, by steps or by the sum of a \
                     weight. No path visits an entity twice. Fewer paths if no more exist.",
            )
            .takes(ends())
            .takes([
                query("weight", text(), "km")
                    .says("A numeric property of relationships to sum up instead of counting steps."),
                parameters::limit(),
            ])
            .answers(200, "The paths.", "PathList")
            .answers_lines("PathLine"),
        ),
        walks(
            Endpoint::new(Method::GET, "/v1/shared", "List the entities that two entities share", shared),
            parameters::walking("both"),
        )
        .describe(
            "Every entity that walks from both reach, nearest to both first: common neighbours \
                     with a `depthMax` of 1, the default.",
        )
        .takes(ends())
        .takes(parameters::paging())
        .answers(200, "A page of entities with their distances; `count` is the number of all.", "SharedPage")
        .answers_lines("SharedLine"),
    ]
}

fn ends() -> [Parameter; 2] {
    let end = |name| parameters::required(name, parameters::text(), "bash");
    [end("from").says("Id of one entity."), end("to").says("Id of the other entity.")]
}

fn ends_of(call: &Call) -> Result<(Id, Id), Problem> {
    Ok((Id::new(call.query.required("from")?)?, Id::new(call.query.required("to")?)?))
}

/// The walk of the request, by default one step deep.
fn near(call: &Call) -> Result<Reach, Problem> {
    let reach = reach_of(call, "both")?;
    Ok(Reach { depth_max: reach.depth_max.or(Some(1)), ..reach })
}

async fn relationships(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let all = |name: &str| call.query.all(name).map(str::to_owned).collect();
    let mut of = RelationshipsOf {
        directions: directions_of(&call, "both")?,
        types: all("type"),
        statuses: all("status"),
        order: call.query.all("orderBy").map(order_from_text).collect::<annals::Result<_>>()?,
        after: call.after()?,
        skip: call.query.number("skip")?.unwrap_or_default(),
        ..RelationshipsOf::both()
    };
    let is_counted = call.query.flag("count")?;
    call.wait_for_page(of.after.as_deref()).await?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = call.snapshot().await?;
        return lines::send(call, snapshot, move |call, snapshot, lines| {
            relationship_lines(lines, &id, of, (limit, call.cursors()), snapshot)
        })
        .await;
    }
    of.limit = call.limit()?;
    of.bytes_max = call.door.bounds.limits.page_bytes_max;
    let all = RelationshipsOf { after: None, ..of.clone() };
    call.read(Weight::Heavy, move |call, snapshot| {
        let page = snapshot.relationships_of(&id, &of)?;
        let count = is_counted.then(|| snapshot.relationships_of_count(&id, &all)).transpose()?;
        Ok(answer::page(call, &page.items, count, call.cursors().seal(page.next), snapshot.position()))
    })
    .await
}

/// Sends relationships of an entity as lines, page by page of one snapshot.
fn relationship_lines(
    lines: &mut Lines,
    id: &Id,
    mut of: RelationshipsOf,
    (limit, cursors): (usize, Cursors),
    snapshot: &Snapshot,
) -> Result<(), Problem> {
    // By type and age a page continues after the one before; in another order each page reads all relationships again.
    let batch_max = if of.order.is_empty() { lines::BATCH_ITEMS_MAX } else { ORDERED_ITEMS_MAX };
    let mut left = limit;
    of.bytes_max = lines.batch_bytes();
    loop {
        of.limit = left.min(batch_max);
        let page = snapshot.relationships_of(id, &of)?;
        left -= page.items.len();
        page.items.iter().try_for_each(|one| lines.line(one))?;
        match page.next {
            Some(next) if left > 0 => (of.after, of.skip) = (Some(next), 0),
            next => return lines.next(cursors.seal(next)),
        }
    }
}

async fn neighborhood(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let reach = near(&call)?;
    subgraph(call, move |snapshot| snapshot.neighborhood(&id, &reach)).await
}

async fn related(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    let related = Related {
        order: call.query.all("orderBy").map(order_from_text).collect::<annals::Result<_>>()?,
        is_counted: call.query.flag("count")?,
        ..Related::by(reach_of(&call, "both")?)
    };
    reached(call, id, related).await
}

/// Answers with the entities that a walk reaches, in lines or page by page.
pub(super) async fn reached(call: Box<Call>, id: Id, mut related: Related) -> Outcome {
    let offset = Offset::of(&call)?;
    if lines::are_wanted(&call) {
        return related_lines(call, id, related, offset).await;
    }
    (related.skip, related.limit) = (offset.skipped, call.limit()?);
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        let page = snapshot.related(&id, &related)?;
        let items = call.room().take(page.items.iter().map(ReachedForm::of))?;
        let has_more = page.has_more || items.len() < page.items.len();
        let next = offset.next(has_more, items.len(), &snapshot);
        let count = page.count.filter(|_| related.is_counted);
        Ok(answer::page(call, &items, count, next, snapshot.position()))
    })
    .await
}

/// Answers in lines with all entities that a walk reaches: while it runs, or in another order when it is done.
async fn related_lines(call: Box<Call>, id: Id, mut related: Related, offset: Offset) -> Outcome {
    let limit = call.lines_limit()?;
    let snapshot = offset.pin(call.snapshot().await?)?;
    related.is_counted = false;
    lines::send(call, snapshot, move |_, snapshot, lines| {
        if related.order.is_empty() {
            let is_elsewhere = |reached: &annals::Result<annals::Reached>| {
                !matches!(reached, Ok(reached) if reached.distance == 0)
            };
            let found = snapshot.walk(&id, &related.reach)?.entities().filter(is_elsewhere);
            let mut found = found.skip(offset.skipped);
            found.by_ref().take(limit).try_for_each(|reached| lines.line(&ReachedForm::of(&reached?)?))?;
            let has_more = found.next().transpose()?.is_some();
            return lines.next(offset.next(has_more, limit, snapshot));
        }
        lines::batches(lines, offset, limit, snapshot, |lines, skip, count| {
            (related.skip, related.limit) = (skip, count);
            let page = snapshot.related(&id, &related)?;
            page.items.iter().try_for_each(|reached| lines.line(&ReachedForm::of(reached)?))?;
            Ok((page.items.len(), page.has_more))
        })
    })
    .await
}

/// Answers with a part of the graph, in lines or page by page.
async fn subgraph(
    call: Box<Call>,
    query: impl for<'s> Fn(&'s Snapshot) -> annals::Result<Subgraph<'s>> + Send + 'static,
) -> Outcome {
    if let Some(format) = graph_files::whole_format_of(&call)? {
        return graph_files::send(call, format, move |snapshot, writer| {
            format.write(&query(snapshot)?, writer)
        })
        .await;
    }
    let offset = Offset::of(&call)?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = offset.pin(call.snapshot().await?)?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            subgraph_lines(lines, &query(snapshot)?, offset, limit, snapshot)
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        subgraph_page(call, &query(&snapshot)?, offset, limit, &snapshot)
    })
    .await
}

/// Answers with a page of a part of the graph.
fn subgraph_page(
    call: &Call,
    found: &Subgraph,
    offset: Offset,
    limit: usize,
    snapshot: &Snapshot,
) -> Outcome {
    let page = SubgraphPage::of(found, offset.skipped, limit, call.room())?;
    let add = |members: &mut Members| {
        members.add("entities", &page.entities);
        members.add("entitiesCount", found.entities().len());
        members.add("relationships", &page.relationships);
        members.add("relationshipsCount", found.relationships().len());
    };
    Ok(answer::parts(call, add, offset.next(page.has_more, page.count, snapshot), snapshot.position()))
}

/// Sends the entities and then the relationships of a part of the graph as lines.
fn subgraph_lines(
    lines: &mut Lines,
    found: &Subgraph,
    offset: Offset,
    limit: usize,
    snapshot: &Snapshot,
) -> Result<(), Problem> {
    let (entities, relationships) = (found.entities(), found.relationships());
    let skip_relationships = offset.skipped.saturating_sub(entities.len());
    let rest = limit.saturating_sub(entities.len().saturating_sub(offset.skipped));
    let has_more = offset.skipped.saturating_add(limit) < entities.len() + relationships.len();
    for reached in entities.skip(offset.skipped).take(limit) {
        lines.line(&ReachedForm::of(&reached)?)?;
    }
    for crossed in relationships.skip(skip_relationships).take(rest) {
        lines.line(&CrossedForm::of(&crossed)?)?;
    }
    lines.next(offset.next(has_more, limit, snapshot))
}

async fn linking(call: Box<Call>) -> Outcome {
    let (from, to) = ends_of(&call)?;
    let reach = reach_of(&call, "both")?;
    subgraph(call, move |snapshot| snapshot.linking(&from, &to, &reach)).await
}

async fn paths(call: Box<Call>) -> Outcome {
    let (from, to) = ends_of(&call)?;
    let reach = reach_of(&call, "out")?;
    let asked = call.query.number("limit")?.or(Some(PATHS_DEFAULT));
    if let Some(format) = graph_files::format_of(&call)? {
        let limit = check_limit(&call.door.bounds.limits, asked)?;
        let weight = call.query.get("weight").map(str::to_owned);
        return graph_files::send(call, format, move |snapshot, writer| {
            let found = snapshot.shortest_paths(&from, &to, &reach, weight.as_deref())?.take(limit);
            format.write(&found.collect::<annals::Result<Vec<_>>>()?[..], writer)
        })
        .await;
    }
    if lines::are_wanted(&call) {
        let limit = check_lines_limit(asked)?;
        let snapshot = call.snapshot().await?;
        return lines::send(call, snapshot, move |call, snapshot, lines| {
            let mut found =
                snapshot.shortest_paths(&from, &to, &reach, call.query.get("weight"))?.take(limit);
            found.try_for_each(|path| lines.line(&path?))
        })
        .await;
    }
    let limit = check_limit(&call.door.bounds.limits, asked)?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let found = snapshot.shortest_paths(&from, &to, &reach, call.query.get("weight"))?;
        let mut found = found.take(limit);
        let items = call.room().take(&mut found)?;
        if found.next().transpose()?.is_some() {
            let text = "paths: their entities and relationships are too large for one page; ask for fewer, or for lines";
            return Err(Problem::too_large(text));
        }
        let body = ObjectOf(|members: &mut Members| {
            members.add("items", &items);
        });
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

async fn shared(call: Box<Call>) -> Outcome {
    let (from, to) = ends_of(&call)?;
    let reach = near(&call)?;
    let offset = Offset::of(&call)?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = offset.pin(call.snapshot().await?)?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            let found = snapshot.shared(&from, &to, &reach)?;
            let mut shown = found.iter().skip(offset.skipped).take(limit);
            shown.try_for_each(|shared| lines.line(&ReachedForm::of_shared(shared)?))?;
            let has_more = found.len() > offset.skipped.saturating_add(limit);
            lines.next(offset.next(has_more, limit, snapshot))
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        let found = snapshot.shared(&from, &to, &reach)?;
        let items =
            call.room().take(found.iter().skip(offset.skipped).take(limit).map(ReachedForm::of_shared))?;
        let has_more = found.len() > offset.skipped.saturating_add(items.len());
        let next = offset.next(has_more, items.len(), &snapshot);
        Ok(answer::page(call, &items, Some(found.len()), next, snapshot.position()))
    })
    .await
}
