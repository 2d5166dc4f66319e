//! Declared types: list, read, declare or extend.

use annals::{Transaction, TypeKind};
use axum::http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use super::answer;
use super::call::{Call, Weight};
use super::commit::{Signature, commit};
use super::endpoint::{Endpoint, Outcome};
use super::parameters;
use super::problem::Problem;
use crate::wire::{object, type_from_json, type_to_json};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/types/{kind}/{name}";
    vec![
        Endpoint::new(Method::GET, "/v1/types", "List the declared types", list)
            .tag("types")
            .takes(parameters::reading())
            .answers(200, "All types, by kind and name.", "TypePage")
            .fails(&["not-found", "future-instant"]),
        Endpoint::new(Method::GET, one, "Read a declared type", read)
            .tag("types")
            .takes(parameters::reading())
            .answers(200, "The type.", "Type")
            .fails(&["not-found", "future-instant"]),
        Endpoint::new(Method::PUT, one, "Declare a type, or extend it", put)
            .describe("Attributes and supertypes may be added to a declared type, not taken away.")
            .tag("types")
            .takes(parameters::writing())
            .body("Type")
            .answers(200, "The type after it.", "Type")
            .fails(&["type-violation", "not-unique", "read-only", "conflict", "busy", "unavailable"]),
    ]
}

async fn list(call: Call) -> Outcome {
    call.read(Weight::Heavy, |call, snapshot| {
        let items: Vec<Json> = snapshot.types().iter().map(|known| type_to_json(known)).collect();
        Ok(answer::page(call, items, None, Json::Null, snapshot.position()))
    })
    .await
}

fn kind_of(call: &Call) -> Result<TypeKind, Problem> {
    let kinds = [TypeKind::Entity, TypeKind::Relationship, TypeKind::Classification];
    let text = call.path("kind");
    kinds.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
        Problem::not_found(format!("kind of types {text:?}: expected entity, relationship or classification"))
    })
}

async fn read(call: Call) -> Outcome {
    let kind = kind_of(&call)?;
    call.read(Weight::Light, move |call, snapshot| {
        let name = call.path("name");
        let found = snapshot.type_definition(kind, name);
        let found = found
            .ok_or_else(|| Problem::not_found(format!("{} type {name} is not declared", kind.name())))?;
        Ok(answer::json(StatusCode::OK, &type_to_json(&found), snapshot.position()))
    })
    .await
}

async fn put(mut call: Call) -> Outcome {
    let body = call.receive().await?;
    call.wait_visible().await?;
    let (kind, name) = (kind_of(&call)?, call.path("name").to_owned());
    let mut fields = object(&body, "type")?.clone();
    for (key, expected) in [("kind", kind.name()), ("name", &name)] {
        let found = fields.entry(key).or_insert_with(|| expected.into());
        if found != expected {
            let text = format!("{key}: expected {expected:?} as in the path, found {found}");
            return Err(Problem::invalid(text));
        }
    }
    let definition = type_from_json(&Json::Object(fields))?;
    let signature = Signature::of(&call)?;
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        Ok(transaction.define_type(definition.clone())?)
    };
    let ((), receipt) = commit(&call.door, Weight::Light, build).await?;
    let found = call.door.repository()?.snapshot().type_definition(kind, &name);
    let json = found.map_or_else(|| json!({}), |found| type_to_json(&found));
    Ok(answer::json(StatusCode::OK, &json, receipt.position))
}
