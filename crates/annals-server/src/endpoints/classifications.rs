//! Classifications of an entity: read, add, replace, change, remove.

use annals::{ClassificationContent, InstanceId, Transaction};
use annals_json::{object, only, patch_from_json, properties_from_json};
use http::{Method, StatusCode};

use super::instances::{ENTITIES, unseen, write};
use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::etag::Tag;

const PATH: &str = "/v1/entities/{id}/classifications/{name}";

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let writes = |endpoint: Endpoint| {
        endpoint
            .tag("classifications")
            .takes(parameters::writing())
            .takes([parameters::if_match()])
            .fails(&["not-found", "deleted", "invalid-property", "invalid-classification"])
            .fails(&["proxy-only", "not-home"])
            .fails(&["precondition-failed"])
            .commits()
    };
    vec![
        Endpoint::new(Method::GET, PATH, "Read a classification", read)
            .tag("classifications")
            .takes(parameters::reading())
            .answers(200, "The classification; `ETag` is the latest version of the entity.", "Classification")
            .fails(&["not-found", "deleted", "future-instant"]),
        writes(Endpoint::new(Method::PUT, PATH, "Add a classification, or replace it", put))
            .takes([parameters::always()])
            .body("ClassificationContent")
            .answers(200, "The entity after it.", "Entity"),
        writes(Endpoint::new(Method::PATCH, PATH, "Change some properties of a classification", patch))
            .takes([parameters::always()])
            .body("Patch")
            .answers(200, "The entity after it.", "Entity"),
        writes(Endpoint::new(Method::DELETE, PATH, "Remove a classification", delete)).answers(
            200,
            "The entity after it.",
            "Entity",
        ),
    ]
}

async fn read(call: Box<Call>) -> Outcome {
    let id = call.id()?;
    call.read(Weight::Light, move |call, snapshot| {
        let instance = InstanceId::Entity(id.clone());
        let Some(entity) = snapshot.entity(&id)? else { return Err(unseen(&snapshot, &instance)) };
        let name = call.path("name");
        let found = entity
            .classification(name)
            .ok_or_else(|| Problem::not_found(format!("{instance} is not classified as {name}")))?;
        let response = answer::json(StatusCode::OK, &found, snapshot.position());
        Ok(answer::with_etag(response, &Tag::of_entity(&entity)))
    })
    .await
}

async fn put(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    let fields = object(&body, "body")?;
    only(fields, "body", &["properties", "version", "created", "updated"])?;
    let content = ClassificationContent {
        name: call.path("name").into(),
        properties: properties_from_json(fields.get("properties"), "properties")?,
        provenance: None,
    };
    let id = call.id()?;
    let entity = id.clone();
    let work = move |transaction: &mut Transaction| {
        let found = transaction.view()?.entity(&entity)?;
        if found.is_some_and(|found| found.classification(&content.name).is_some()) {
            let patch = content
                .properties
                .iter()
                .fold(annals::Patch::new().clear(), |patch, (name, value)| patch.set(name, value.clone()));
            return Ok(transaction.reclassify(&entity, &content.name, patch)?);
        }
        Ok(transaction.classify(&entity, content.clone())?)
    };
    write(ENTITIES, call, Weight::Light, InstanceId::Entity(id), Box::new(work)).await
}

async fn patch(mut call: Box<Call>) -> Outcome {
    let patch = patch_from_json(&call.receive().await?)?;
    let (id, name) = (call.id()?, call.path("name").to_owned());
    let entity = id.clone();
    let work =
        move |transaction: &mut Transaction| Ok(transaction.reclassify(&entity, &name, patch.clone())?);
    write(ENTITIES, call, Weight::Light, InstanceId::Entity(id), Box::new(work)).await
}

async fn delete(call: Box<Call>) -> Outcome {
    let (id, name) = (call.id()?, call.path("name").to_owned());
    let entity = id.clone();
    let work = move |transaction: &mut Transaction| Ok(transaction.declassify(&entity, &name)?);
    write(ENTITIES, call, Weight::Light, InstanceId::Entity(id), Box::new(work)).await
}
