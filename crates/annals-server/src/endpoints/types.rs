//! Declared types: list, read, verify, declare, extend.

use annals::{Transaction, TypeKind};
use annals_json::schema::type_kinds;
use annals_json::wire::Types;
use annals_json::{
    Object, object, read as read_form, type_from_form, type_from_json, type_patch_from_json, type_to_json,
    verification_to_json,
};
use http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, query, text};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/types/{kind}/{name}";
    vec![
        Endpoint::new(Method::GET, "/v1/types", "List the declared types", list)
            .tag("types")
            .takes(parameters::reading_timeless())
            .takes([query("kind", type_kinds(), "entity").says("Only types of this kind.")])
            .takes([query("externalId", text(), "283a127d").says("Only the type with this id of another system.")])
            .answers(200, "The types, by kind and name.", "TypePage")
            .fails(&["not-found", "future-instant"]),
        Endpoint::new(Method::POST, "/v1/types", "Declare or extend many types", declare)
            .describe("All or none, in any order: the server declares supertypes and enums before the types that need them.")
            .tag("types")
            .takes(parameters::writing_timeless())
            .takes([parameters::always()])
            .body("Types")
            .answers(200, "Done.", "TypesReceipt")
            .commits()
            .fails(&DECLARING),
        Endpoint::new(Method::POST, "/v1/types/verify", "Compare a type with the declared one", verify)
            .tag("types")
            .takes(parameters::reading_timeless())
            .body("Type")
            .answers(200, "Whether they are equal, compatible or conflicting, and where they differ.", "TypeVerification")
            .fails(&["not-found", "future-instant"]),
        Endpoint::new(Method::GET, one, "Read a declared type", read)
            .tag("types")
            .takes(parameters::reading_timeless())
            .answers(200, "The type.", "Type")
            .fails(&["not-found", "future-instant"]),
        Endpoint::new(Method::PUT, one, "Declare a type, or extend it", put)
            .describe("You can add attributes and supertypes to a declared type, but not remove them.")
            .tag("types")
            .takes(parameters::writing_timeless())
            .takes([parameters::always()])
            .body("Type")
            .answers(200, "The type after it.", "Type")
            .commits()
            .fails(&DECLARING)
            .fails(&["not-found"]),
        Endpoint::new(Method::PATCH, one, "Add to a declared type", patch)
            .describe(
                "Attributes, supertypes, statuses, elements; a description, a deprecation. Instances keep working. An \
                 attribute that is there already may become deprecated.",
            )
            .tag("types")
            .takes(parameters::writing_timeless())
            .body("TypePatch")
            .answers(200, "The type after it.", "Type")
            .commits()
            .fails(&DECLARING)
            .fails(&["not-found"]),
    ]
}

/// Kinds of errors of every declaration of types.
const DECLARING: [&str; 6] = [
    "type-violation",
    "invalid-classification",
    "invalid-ends",
    "status-not-allowed",
    "not-unique",
    "cardinality",
];

async fn list(call: Box<Call>) -> Outcome {
    let kind = call.query.get("kind").map(kind_named).transpose()?;
    let external_id = call.query.get("externalId").map(str::to_owned);
    call.read(Weight::Heavy, move |call, snapshot| {
        let mut types = kind.map_or_else(|| snapshot.types(), |kind| snapshot.types_of(kind));
        types.retain(|known| external_id.is_none() || known.external_id.as_deref() == external_id.as_deref());
        let items: Vec<Json> = types.iter().map(|known| type_to_json(known)).collect();
        Ok(answer::page(call, &items, None, None, snapshot.position()))
    })
    .await
}

fn kind_of(call: &Call) -> Result<TypeKind, Problem> {
    kind_named(call.path("kind"))
}

fn kind_named(text: &str) -> Result<TypeKind, Problem> {
    TypeKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
        let known = TypeKind::ALL.map(TypeKind::name).join(", ");
        Problem::not_found(format!("kind of types {text:?}: expected one of {known}"))
    })
}

async fn declare(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    call.wait_visible().await?;
    let Types { types } = read_form(&body, "body")?;
    let definitions = types.into_iter().map(type_from_form).collect::<annals::Result<Vec<_>>>()?;
    let signature = Signature::of(&call)?;
    let target = signature.target.clone();
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        transaction.define_types(definitions.clone())?;
        Ok(transaction.changes_count())
    };
    let (changes_count, receipt) = commit(&call.door, Weight::Heavy, target, Box::new(build)).await?;
    let mut json = answer::receipt_to_json(&receipt);
    json["changes"] = changes_count.into();
    Ok(answer::json(StatusCode::OK, &json, receipt.position))
}

async fn verify(mut call: Box<Call>) -> Outcome {
    let given = type_from_json(&call.receive().await?)?;
    call.read(Weight::Light, move |_, snapshot| {
        let (outcome, differences) = snapshot.verify_type(&given);
        let json = verification_to_json(outcome, &differences);
        Ok(answer::json(StatusCode::OK, &json, snapshot.position()))
    })
    .await
}

async fn patch(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    let patch = type_patch_from_json(&Json::Object(named_in_path(&call, &body)?))?;
    let work = move |transaction: &mut Transaction| Ok(transaction.patch_type(&patch)?);
    change(call, work).await
}

async fn read(call: Box<Call>) -> Outcome {
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

async fn put(mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    let definition = type_from_json(&Json::Object(named_in_path(&call, &body)?))?;
    let work = move |transaction: &mut Transaction| Ok(transaction.define_type(definition.clone())?);
    change(call, work).await
}

/// The members of a body, with the kind and the name from the path; the body may repeat these.
fn named_in_path(call: &Call, body: &Json) -> Result<Object, Problem> {
    let mut fields = object(body, "type")?.clone();
    for (key, expected) in [("kind", kind_of(call)?.name()), ("name", call.path("name"))] {
        let found = fields.entry(key).or_insert_with(|| expected.into());
        if found != expected {
            let text = format!("{key}: expected {expected:?} as in the path, found {found}");
            return Err(Problem::invalid(text));
        }
    }
    Ok(fields)
}

/// Commits a change of the type that the path names, and answers with the type after the change.
async fn change(
    call: Box<Call>,
    mut work: impl FnMut(&mut Transaction) -> Result<(), Problem> + Send + 'static,
) -> Outcome {
    call.wait_visible().await?;
    let (kind, name) = (kind_of(&call)?, call.path("name").to_owned());
    let signature = Signature::of(&call)?;
    let target = signature.target.clone();
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        work(transaction)
    };
    let ((), receipt) = commit(&call.door, Weight::Light, target, Box::new(build)).await?;
    let as_of = annals::AsOf { position: Some(receipt.position), ..annals::AsOf::default() };
    let found = call.door.snapshot()?.as_of(as_of)?.type_definition(kind, &name);
    let json = found.map_or_else(|| json!({}), |found| type_to_json(&found));
    Ok(answer::written(answer::json(StatusCode::OK, &json, receipt.position), &receipt))
}
