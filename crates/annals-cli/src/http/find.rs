//! Searches by type, classification and property.

use annals::{AsOf, Find, Snapshot};
use axum::http::Method;
use serde_json::{Value as Json, json};

use super::answer;
use super::call::{Call, Weight, check_limit, heavy_read};
use super::endpoint::{Endpoint, Outcome};
use super::instances::{Collection, ENTITIES, RELATIONSHIPS};
use super::parameters;
use super::problem::Problem;
use crate::condition::parse_condition;
use crate::wire::{
    Object, entity_to_json, find_from_json, object, optional_text, order_from_text, relationship_to_json,
};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let find = |of: Collection, schema, classified: Option<_>| {
        Endpoint::new(Method::GET, of.path, "Find by type and property", move |call| find(of, call))
            .tag("search")
            .takes(parameters::finding())
            .takes(classified)
            .takes(parameters::paging())
            .takes(parameters::reading())
            .answers(200, "A page; `Link: …; rel=\"next\"` leads to the next one.", schema)
            .fails(&["not-found", "too-large", "future-instant"])
    };
    let wait = parameters::reading().into_iter().filter(|known| known.name == parameters::WAIT_POSITION);
    vec![
        find(ENTITIES, "EntityPage", Some(parameters::classified())),
        find(RELATIONSHIPS, "RelationshipPage", None),
        Endpoint::new(Method::POST, "/v1/find", "Find with a search in JSON", find_json)
            .tag("search")
            .describe("The same search for values of any kind and names with any character.")
            .takes(wait)
            .body("Find")
            .answers(200, "A page. The next one: the same body with `after`.", "InstancePage")
            .fails(&["not-found", "too-large", "future-instant"]),
    ]
}

async fn find(of: Collection, call: Call) -> Outcome {
    let mut find = Find::all().limit(call.limit()?);
    find.type_name = call.query.get("type").map(Into::into);
    find.classification = call.query.get("classified").map(Into::into);
    find.conditions = call.query.all("where").map(parse_condition).collect::<annals::Result<_>>()?;
    find.order = call.query.get("orderBy").map(order_from_text);
    find.after = call.query.get("after").map(str::to_owned);
    call.read(Weight::Heavy, move |call, snapshot| {
        let (items, next) = page(of, &snapshot, &find)?;
        Ok(answer::page(call, items, next, Json::Null, snapshot.position()))
    })
    .await
}

fn page(of: Collection, snapshot: &Snapshot, find: &Find) -> annals::Result<(Vec<Json>, Option<String>)> {
    if of == ENTITIES {
        let page = snapshot.find_entities(find)?;
        return Ok((page.items.iter().map(entity_to_json).collect(), page.next));
    }
    let page = snapshot.find_relationships(find)?;
    Ok((page.items.iter().map(relationship_to_json).collect(), page.next))
}

async fn find_json(mut call: Call) -> Outcome {
    let body = call.receive().await?;
    call.wait_visible().await?;
    let mut fields = object(&body, "search")?.clone();
    let of = match optional_text(&fields, "search", "kind")? {
        None | Some("entity") => ENTITIES,
        Some("relationship") => RELATIONSHIPS,
        Some(other) => {
            return Err(Problem::invalid(format!("kind: expected entity or relationship, found {other:?}")));
        }
    };
    fields.remove("kind");
    let as_of = take_as_of(&mut fields)?;
    let is_limited = fields.contains_key("limit");
    let mut find = find_from_json(&fields)?;
    find.limit = check_limit(&call.door, is_limited.then_some(find.limit))?;
    let snapshot = call.door.repository()?.snapshot().as_of(as_of)?;
    heavy_read(&call.door, snapshot, move |snapshot| {
        let (items, next) = page(of, &snapshot, &find)?;
        let body = json!({ "items": items, "next": next });
        Ok(answer::json(axum::http::StatusCode::OK, &body, snapshot.position()))
    })
    .await
}

fn take_as_of(fields: &mut Object) -> Result<AsOf, Problem> {
    let position = fields.remove("atPosition").filter(|position| !position.is_null());
    let position = position.map(|position| {
        position
            .as_u64()
            .map(annals::Position)
            .ok_or_else(|| Problem::invalid(format!("atPosition: expected a whole number, found {position}")))
    });
    let instant =
        |name| Ok::<_, Problem>(optional_text(fields, "search", name)?.map(str::parse).transpose()?);
    let as_of = AsOf { position: position.transpose()?, instant: instant("at")?, valid: instant("validAt")? };
    fields.remove("at");
    fields.remove("validAt");
    Ok(as_of)
}
