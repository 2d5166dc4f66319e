//! Status, type, ends, id, home and provenance of instances; copies of instances of other collections.

use annals::{Id, InstanceId, Transaction};
use annals_json::{Operation, object, operation_from_json};
use http::{Method, StatusCode};
use serde_json::Value as Json;

use super::instances::{Collection, ENTITIES, RELATIONSHIPS, unseen, write};
use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit};
use crate::request::etag::Tag;

/// An action on one instance: its path, its name in operations, the schema of its body, its summary.
type Step = (&'static str, &'static str, &'static str, &'static str);

const ENTITY_STEPS: [Step; 6] = [
    ("/v1/entities/{id}/status", "set-status", "StatusChange", "Change the status"),
    ("/v1/entities/{id}/type", "retype", "TypeChange", "Change the type"),
    ("/v1/entities/{id}/id", "reidentify", "IdChange", "Change the id"),
    ("/v1/entities/{id}/home", "rehome", "HomeChange", "Make it this repository's own"),
    ("/v1/entities/{id}/provenance", "set-provenance", "Provenance", "Replace the provenance"),
    ("/v1/entities/{id}/copy", "save-copy", "EntityCopy", "Save a copy of an entity of another collection"),
];

const RELATIONSHIP_STEPS: [Step; 7] = [
    ("/v1/relationships/{id}/status", "set-status", "StatusChange", "Change the status"),
    ("/v1/relationships/{id}/type", "retype", "TypeChange", "Change the type"),
    ("/v1/relationships/{id}/id", "reidentify", "IdChange", "Change the id"),
    ("/v1/relationships/{id}/home", "rehome", "HomeChange", "Make it this repository's own"),
    ("/v1/relationships/{id}/provenance", "set-provenance", "Provenance", "Replace the provenance"),
    ("/v1/relationships/{id}/ends", "relink", "EndsChange", "Move its start, its end, or both"),
    (
        "/v1/relationships/{id}/copy",
        "save-copy",
        "RelationshipCopy",
        "Save a copy of a relationship of another collection",
    ),
];

const CLASSIFICATION_COPY: &str = "/v1/entities/{id}/classifications/{name}/copy";

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let steps = |of: Collection, steps: &[Step]| -> Vec<Endpoint> {
        steps.iter().map(|step| step_endpoint(of, *step)).collect()
    };
    let mut endpoints = steps(ENTITIES, &ENTITY_STEPS);
    endpoints.extend(steps(RELATIONSHIPS, &RELATIONSHIP_STEPS));
    endpoints.push(purge_endpoint(ENTITIES, "/v1/entities/{id}/copy"));
    endpoints.push(purge_endpoint(RELATIONSHIPS, "/v1/relationships/{id}/copy"));
    endpoints.extend([
        writing(Endpoint::new(Method::PUT, CLASSIFICATION_COPY, "Save a copy of a classification", |call| {
            classification(call, "save-classification-copy")
        }))
        .tag("copies")
        .body("ClassificationCopy")
        .answers(200, "The entity after it.", "Entity"),
        writing(Endpoint::new(
            Method::DELETE,
            CLASSIFICATION_COPY,
            "Remove the copy of a classification",
            |call| classification(call, "purge-classification-copy"),
        ))
        .tag("copies")
        .takes([parameters::home()])
        .answers(200, "The entity after it.", "Entity"),
        Endpoint::new(Method::GET, "/v1/entities/{id}/summary", "Read a summary of an entity", summary)
            .describe(
                "Also of an entity that the repository holds only as a proxy: id, type, unique properties, classifications.",
            )
            .tag("entities")
            .takes(parameters::reading())
            .answers(200, "The entity.", "Entity")
            .fails(&["not-found", "deleted", "future-instant"]),
        Endpoint::new(Method::PUT, "/v1/collection", "Name the collection of this repository", name)
            .describe("Possible once: the repository keeps the name permanently.")
            .tag("copies")
            .takes(parameters::writing_timeless())
            .body("CollectionName")
            .answers(200, "Done.", "Receipt")
            .fails(&["already-exists", "home-conflict"])
            .commits(),
    ]);
    endpoints
}

fn writing(endpoint: Endpoint) -> Endpoint {
    endpoint
        .takes(parameters::writing())
        .takes([parameters::if_match()])
        .fails(&["not-found", "deleted", "invalid-property", "not-home", "home-conflict", "wrong-type"])
        .fails(&[
            "invalid-classification",
            "invalid-ends",
            "status-not-allowed",
            "proxy-only",
            "already-exists",
        ])
        .fails(&["missing-end", "not-unique", "cardinality"])
        .fails(&["precondition-failed"])
        .commits()
}

fn step_endpoint(of: Collection, (path, action, schema, summary): Step) -> Endpoint {
    let tag = if of == ENTITIES { "entities" } else { "relationships" };
    let endpoint = writing(Endpoint::new(Method::PUT, path, summary, move |call| step(of, call, action)))
        .tag(if action == "save-copy" { "copies" } else { tag })
        .body(schema);
    if action == "reidentify" {
        return endpoint.answers(200, "Done; the instance has the new id now.", "Receipt");
    }
    let may_change_nothing = ["set-status", "retype", "set-provenance", "relink"].contains(&action);
    endpoint.takes(may_change_nothing.then(parameters::always)).answers(
        200,
        "The instance after it.",
        of.schema,
    )
}

fn purge_endpoint(of: Collection, path: &'static str) -> Endpoint {
    writing(Endpoint::new(Method::DELETE, path, "Remove the copy, with its history", move |call| {
        purge(of, call)
    }))
    .tag("copies")
    .takes([parameters::home()])
    .answers(200, "Done.", "Receipt")
}

/// The operation of a body; the path gives the other members.
fn operation(body: &Json, path: &[(&str, &str)]) -> Result<Operation, Problem> {
    let mut fields = object(body, "body")?.clone();
    for (name, expected) in path {
        let found = fields.entry(*name).or_insert_with(|| (*expected).into());
        if found != expected {
            let text = format!("{name}: expected {expected:?} as in the path, found {found}");
            return Err(Problem::invalid(text));
        }
    }
    Ok(operation_from_json(&Json::Object(fields))?)
}

async fn step(of: Collection, mut call: Box<Call>, action: &'static str) -> Outcome {
    let body = call.receive().await?;
    let id = of.named(&call)?;
    let text = id.id().to_string();
    let path = [("action", action), ("kind", of.kind.name()), ("id", &text)];
    apply(of, call, id, operation(&body, &path)?).await
}

async fn purge(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let text = id.id().to_string();
    let home = call.query.required("home")?.to_owned();
    let path = [("action", "purge-copy"), ("kind", of.kind.name()), ("id", &text), ("home", &home)];
    let operation = operation(&Json::Object(annals_json::Object::new()), &path)?;
    apply(of, call, id, operation).await
}

async fn classification(mut call: Box<Call>, action: &'static str) -> Outcome {
    let is_saved = action == "save-classification-copy";
    let body = if is_saved { call.receive().await? } else { Json::Object(annals_json::Object::new()) };
    let (id, name) = (call.id()?, call.path("name").to_owned());
    let text = id.to_string();
    let home = if is_saved { String::new() } else { call.query.required("home")?.to_owned() };
    let mut path = vec![("action", action), ("kind", "entity"), ("id", &text), ("classification", &name)];
    if !is_saved {
        path.push(("home", &home));
    }
    let operation = operation(&body, &path)?;
    apply(ENTITIES, call, InstanceId::Entity(id), operation).await
}

async fn apply(of: Collection, call: Box<Call>, id: InstanceId, operation: Operation) -> Outcome {
    let valid_from = call.query.instant("validFrom")?;
    let work = move |transaction: &mut Transaction| {
        operation.add_to(transaction, valid_from)?;
        Ok(())
    };
    write(of, call, Weight::Light, id, Box::new(work)).await
}

async fn summary(call: Box<Call>) -> Outcome {
    let id: Id = call.id()?;
    call.read(Weight::Light, move |_, snapshot| {
        let Some(found) = snapshot.entity_summary(&id)? else {
            return Err(unseen(&snapshot, &InstanceId::Entity(id.clone())));
        };
        let response = answer::json(StatusCode::OK, &found, snapshot.position());
        Ok(answer::with_etag(response, &Tag::of_entity(&found)))
    })
    .await
}

async fn name(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    call.wait_visible().await?;
    let operation = operation(&body, &[("action", "name-collection")])?;
    let signature = Signature::of(&call)?;
    let target = signature.target.clone();
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        operation.add_to(transaction, None)?;
        Ok(())
    };
    let ((), receipt) = commit(&call.door, Weight::Light, target, Box::new(build)).await?;
    Ok(answer::json(StatusCode::OK, &answer::receipt_to_json(&receipt), receipt.position))
}
