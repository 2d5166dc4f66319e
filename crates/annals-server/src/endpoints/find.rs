//! Searches by type, classification and property.

use std::sync::Arc;

use annals::{Expression, Find, Snapshot, TypeKind};
use annals_json::{
    AS_OF, GROUPING, Members, Object, ObjectOf, Seen, as_of_from_json, deleted_from_text,
    explanation_to_json, find_from_json, grouping_from_json, object, optional_text, order_from_text,
    proxies_from_text,
};
use http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use super::groups::{Grouped, grouping_of};
use super::instances::{Collection, ENTITIES, RELATIONSHIPS};
use crate::answer;
use crate::answer::lines;
use crate::bounds::heavy::heavy_answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::names::{CSV, WAIT_POSITION};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight, check_limit, check_lines_limit};

/// Kinds of errors of a search.
const PROBLEMS: &[&str] =
    &["invalid-expression", "invalid-page", "not-found", "too-large", "cancelled", "future-instant"];

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let find = |of: Collection, schema, own: Vec<_>| {
        Endpoint::new(Method::GET, of.path, "Find with a search", move |call| find(of, call))
            .tag("search")
            .describe(
                "With `groupBy` or `aggregate` it answers with groups instead of instances, the largest first: `limit` counts groups, \
                 and there is no order and no next page. In lines there is a line for each group, and a last one with the totals. \
                 CSV has a row for each group, and is only for groups.",
            )
            .takes(parameters::finding())
            .takes(own)
            .takes(parameters::grouping())
            .takes(parameters::paging())
            .takes(parameters::reading())
            .answers(200, "A page; `Link: …; rel=\"next\"` leads to the next one.", schema)
            .answers_lines("InstanceLine")
            .answers_as(200, "", CSV, "Csv")
            .fails(PROBLEMS)
    };
    let beside = ["candidate", WAIT_POSITION.as_str()];
    let reads = || parameters::reading().into_iter().filter(|known| beside.contains(&known.name));
    vec![
        find(ENTITIES, "EntityPage", parameters::finding_entities()),
        find(RELATIONSHIPS, "RelationshipPage", Vec::new()),
        Endpoint::new(Method::POST, "/v1/find", "Find with a search in JSON", find_json)
            .tag("search")
            .describe("Like the search of a query string, but for values of any kind and names with any character.")
            .takes(reads())
            .body("Find")
            .answers(200, "A page. For the next one, send the same body with `after`.", "InstancePage")
            .answers_lines("InstanceLine")
            .fails(PROBLEMS),
        Endpoint::new(Method::POST, "/v1/count", "Count the instances that a search finds", count)
            .tag("search")
            .describe("The count of all pages.")
            .takes(reads())
            .body("Find")
            .answers(200, "The number.", "Count")
            .fails(PROBLEMS),
        Endpoint::new(Method::POST, "/v1/groups", "Group the instances that a search finds", groups)
            .tag("search")
            .describe(
                "Counts the instances by their values, on all pages, and computes sums, least and greatest values of each group. An \
                 instance with a set counts in the group of each member. More than 10,000 groups are the error too-large.",
            )
            .takes(reads())
            .body("GroupedFind")
            .answers(200, "The largest groups first; `rest` counts those beyond `limit`.", "FoundGroups")
            .answers_lines("FoundGroupLine")
            .answers_as(200, "", CSV, "Csv")
            .fails(PROBLEMS),
        Endpoint::new(Method::POST, "/v1/explain", "Explain how a search is answered", explain)
            .tag("search")
            .describe(
                "Finds the page, and reports which indexes the search used and how many candidates it checked.",
            )
            .takes(reads())
            .body("Find")
            .answers(200, "The steps of the search.", "Explanation")
            .fails(PROBLEMS),
    ]
}

async fn find(of: Collection, call: Box<Call>) -> Outcome {
    if let Some(grouping) = grouping_of(&call)? {
        let find = search(&call, is_of_lines(&call))?;
        let snapshot = call.snapshot().await?;
        return Grouped { kind: kind_of(of), find, grouping, is_page: true }.answer(call, snapshot).await;
    }
    let find = search(&call, lines::are_wanted(&call))?;
    call.wait_for_page(find.after.as_deref()).await?;
    if lines::are_wanted(&call) {
        let snapshot = call.snapshot().await?;
        return find_lines(call, of, find, snapshot).await;
    }
    call.read(Weight::Heavy, move |call, snapshot| {
        let (items, next) = page(of, &snapshot, &find)?;
        Ok(answer::page(call, &items, None, call.cursors().seal(next), snapshot.position()))
    })
    .await
}

// The search of a query string.
fn search(call: &Call, is_of_lines: bool) -> Result<Find, Problem> {
    let text = call.query.get("q");
    let mut find = text.map_or_else(|| Ok(Find::all()), Find::parse)?;
    let asked = call.query.number("limit")?.or((find.limit != Find::all().limit).then_some(find.limit));
    find.limit = limit_of(call, asked, is_of_lines)?;
    find.types.extend(call.query.all("type").map(Into::into));
    for name in call.query.all("classified") {
        find = find.classified(name);
    }
    for condition in call.query.all("where") {
        find = find.filter(Expression::parse(condition)?);
    }
    find.statuses.extend(call.query.all("status").map(Into::into));
    if let Some(deleted) = call.query.get("deleted") {
        find.deleted = deleted_from_text(deleted)?;
    }
    if let Some(proxies) = call.query.get("proxies") {
        find.with_proxies = proxies_from_text(proxies)?;
    }
    for key in call.query.all("orderBy") {
        find.order.push(order_from_text(key)?);
    }
    find.after = call.after()?.or(find.after);
    if let Some(offset) = call.query.get("offset") {
        let known = offset.parse().ok();
        find.offset = known
            .ok_or_else(|| Problem::invalid(format!("offset: expected a whole number, found {offset:?}")))?;
    }
    find.bytes_max = call.door.bounds.limits.page_bytes_max;
    Ok(find)
}

/// True if the client asks for groups as lines, or as rows.
fn is_of_lines(call: &Call) -> bool {
    lines::are_wanted(call) || lines::accepts(call, CSV)
}

fn kind_of(of: Collection) -> TypeKind {
    if of == ENTITIES { TypeKind::Entity } else { TypeKind::Relationship }
}

/// The page size of the request, or its number of lines.
fn limit_of(call: &Call, asked: Option<usize>, is_of_lines: bool) -> Result<usize, Problem> {
    if is_of_lines { check_lines_limit(asked) } else { check_limit(&call.door.bounds.limits, asked) }
}

/// Answers in lines with all instances that the search finds, page by page of one snapshot.
async fn find_lines(call: Box<Call>, of: Collection, mut find: Find, snapshot: Snapshot) -> Outcome {
    lines::send(call, snapshot, move |call, snapshot, lines| {
        let mut left = find.limit;
        loop {
            find.limit = left.min(lines::BATCH_ITEMS_MAX);
            let (items, next) = page(of, snapshot, &find)?;
            left -= items.len();
            items.iter().try_for_each(|item| lines.line(item))?;
            match next {
                Some(next) if left > 0 => (find.after, find.offset) = (Some(next), 0),
                next => return lines.next(call.cursors().seal(next)),
            }
        }
    })
    .await
}

fn page<'s>(
    of: Collection,
    snapshot: &'s Snapshot,
    find: &Find,
) -> annals::Result<(Vec<Seen<'s>>, Option<String>)> {
    if of == ENTITIES {
        let page = snapshot.find_entities(find)?;
        return Ok((page.items.into_iter().map(Seen::Entity).collect(), page.next));
    }
    let page = snapshot.find_relationships(find)?;
    Ok((page.items.into_iter().map(Seen::Relationship).collect(), page.next))
}

async fn find_json(mut call: Box<Call>) -> Outcome {
    let (of, find, snapshot) = receive_search(&mut call).await?;
    if lines::are_wanted(&call) {
        return find_lines(call, of, find, snapshot).await;
    }
    let door = Arc::clone(&call.door);
    heavy_answer(&door.bounds, snapshot, move |snapshot| {
        let (items, next) = page(of, &snapshot, &find)?;
        let next = call.cursors().seal(next);
        let body = ObjectOf(|members: &mut Members| {
            members.add("items", &items);
            members.add("next", &next);
        });
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

async fn groups(mut call: Box<Call>) -> Outcome {
    let mut fields = receive_fields(&mut call).await?;
    let grouping = grouping_from_json(&fields)?;
    fields.retain(|name, _| !GROUPING.contains(&name.as_str()));
    let (of, find, snapshot) = search_of(&call, fields, is_of_lines(&call)).await?;
    Grouped { kind: kind_of(of), find, grouping, is_page: false }.answer(call, snapshot).await
}

async fn count(call: Box<Call>) -> Outcome {
    with_search(call, |of, find, snapshot| {
        let count = if of == ENTITIES {
            snapshot.count_entities(find)?
        } else {
            snapshot.count_relationships(find)?
        };
        Ok(json!({ "count": count }))
    })
    .await
}

async fn explain(call: Box<Call>) -> Outcome {
    with_search(call, |of, find, snapshot| {
        let told = if of == ENTITIES {
            snapshot.explain_entities(find)?
        } else {
            snapshot.explain_relationships(find)?
        };
        Ok(explanation_to_json(&told))
    })
    .await
}

/// Answers with the result of a search in the body.
async fn with_search(
    mut call: Box<Call>,
    work: impl Fn(Collection, &Find, &Snapshot) -> annals::Result<Json> + Send + 'static,
) -> Outcome {
    let (of, find, snapshot) = receive_search(&mut call).await?;
    heavy_answer(&call.door.bounds, snapshot, move |snapshot| {
        let body = work(of, &find, &snapshot)?;
        Ok(answer::json(StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

/// The search in the body, and the snapshot it asks for.
async fn receive_search(call: &mut Call) -> Result<(Collection, Find, Snapshot), Problem> {
    let fields = receive_fields(call).await?;
    search_of(call, fields, lines::are_wanted(call)).await
}

/// The members of the body.
async fn receive_fields(call: &mut Call) -> Result<Object, Problem> {
    let body = call.receive().await?;
    if let Some(entry) = &call.entry {
        entry.note_search(&body.to_string());
    }
    Ok(object(&body, "search")?.clone())
}

/// The search with these members, and the snapshot it asks for.
async fn search_of(
    call: &Call,
    mut fields: Object,
    is_of_lines: bool,
) -> Result<(Collection, Find, Snapshot), Problem> {
    let of = match optional_text(&fields, "search", "kind")? {
        None | Some("entity") => ENTITIES,
        Some("relationship") => RELATIONSHIPS,
        Some(other) => {
            return Err(Problem::invalid(format!("kind: expected entity or relationship, found {other:?}")));
        }
    };
    fields.remove("kind");
    let as_of = as_of_from_json(&fields, "search")?;
    fields.retain(|name, _| !AS_OF.contains(&name.as_str()));
    let mut find = find_from_json(&fields)?;
    let is_limited = fields.contains_key("limit") || find.limit != Find::all().limit;
    find.limit = limit_of(call, is_limited.then_some(find.limit), is_of_lines)?;
    find.bytes_max = call.door.bounds.limits.page_bytes_max;
    find.after = call.cursors().open(find.after)?;
    call.wait_for_page(find.after.as_deref()).await?;
    Ok((of, find, call.snapshot_as_of(as_of).await?))
}
