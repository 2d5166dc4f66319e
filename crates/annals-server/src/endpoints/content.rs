//! Binaries of entities: write, read and remove the content that a property holds.

use std::sync::Arc;

use annals::{Content, Id, InstanceId, NewEntity, Patch, Right, Snapshot, Transaction, Value};
use annals_json::Seen;
use http::{Method, StatusCode};

use super::instances::unseen;
use crate::answer;
use crate::bounds::heavy::heavy;
use crate::content::receive::{about, receive};
use crate::content::send::{Wanted, send};
use crate::content::validators::{Validators, tag_of};
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, query, text};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit};
use crate::request::conditions::Conditions;
use crate::request::granted::Granted;
use crate::wire::content::ContentReceipt;

/// The property that holds the content, if a request names none.
const PROPERTY: &str = "content";
const PATH: &str = "/v1/content/{id}";

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, PATH, "Read the content of an entity", get)
            .describe(
                "The bytes, with media type, file name and digests. `ETag` is their SHA-256. One range is answered with 206.",
            )
            .tag("contents")
            .takes(parameters::reading())
            .takes(parameters::content())
            .takes([parameters::if_none_match()])
            .streaming()
            .answers_bytes(200, "The bytes.")
            .answers_bytes(206, "The bytes of the range.")
            .answers_as(304, "The client has these bytes.", "", "")
            .fails(&["precondition-failed", "not-found", "deleted", "proxy-only", "future-instant", "range-not-satisfiable"]),
        Endpoint::new(Method::PUT, PATH, "Write the content of an entity", put)
            .describe(
                "The body may have any length; it is stored and synced while it arrives, and then a version names it. Give its \
                 media type in Content-Type, its file name in Content-Disposition, and its digests in Repr-Digest, \
                 Content-Digest or Digest: other bytes are refused. With `type`, a missing entity is created.",
            )
            .tag("contents")
            .takes(parameters::writing())
            .takes(parameters::content())
            .takes([query("type", text(), "scan").says("Create the entity with this type if it does not exist.")])
            .takes([parameters::always()])
            .takes([parameters::if_match(), parameters::if_none_match()])
            .takes_bytes()
            .streaming()
            .answers(200, "A version names the bytes.", "ContentReceipt")
            .answers(201, "The entity is new.", "ContentReceipt")
            .fails(&[
                "precondition-failed", "not-found", "deleted", "invalid-property", "type-violation", "not-home",
                "digest-mismatch", "stopping",
            ])
            .commits(),
        Endpoint::new(Method::DELETE, PATH, "Remove the content of an entity", delete)
            .describe("Earlier versions keep it; a purge of the entity and a compaction remove its bytes.")
            .tag("contents")
            .takes(parameters::writing())
            .takes(parameters::content())
            .takes([parameters::if_match()])
            .answers(200, "The latest version has none.", "Receipt")
            .fails(&["precondition-failed", "not-found", "deleted", "invalid-property", "not-home"])
            .commits(),
    ]
}

fn property_of(call: &Call) -> Result<String, Problem> {
    let property = call.query.get("property").unwrap_or(PROPERTY);
    if property.is_empty() {
        return Err(Problem::invalid("property: expected a name, found none").with("parameter", "property"));
    }
    Ok(property.to_owned())
}

/// The content in a property.
fn found(seen: &Seen, property: &str) -> Option<Arc<Content>> {
    let Seen::Entity(entity) = seen else { return None };
    match entity.property(property) {
        Some(Value::Content(content)) => Some(content),
        _ => None,
    }
}

/// Shape: the content, and when the version was written that has it.
fn look_up(
    snapshot: &Snapshot,
    id: &InstanceId,
    property: &str,
) -> Result<(Arc<Content>, Validators), Problem> {
    let Some(seen) = Seen::find(snapshot, id)? else { return Err(unseen(snapshot, id)) };
    let content = found(&seen, property).ok_or_else(|| none(id, property))?;
    let written = match &seen {
        Seen::Entity(entity) => entity.updated().instant,
        Seen::Relationship(relationship) => relationship.updated().instant,
    };
    let validators = Validators::new(&content, written);
    Ok((content, validators))
}

fn none(id: &InstanceId, property: &str) -> Problem {
    Problem::not_found(format!("{id}: expected a content in the property {property}, found none"))
        .with("property", property)
}

async fn get(call: Box<Call>) -> Outcome {
    let id = InstanceId::Entity(call.id()?);
    let property = property_of(&call)?;
    let conditions = Conditions::of(&call)?;
    let snapshot = call.snapshot().await?;
    let position = snapshot.position();
    let (content, validators) = look_up(&snapshot, &id, &property)?;
    let (method, headers, peer) = (&call.method, &call.headers, &call.peer);
    let wanted = Wanted { method, headers, conditions: &conditions, peer };
    let response = send(&call.door, content, &validators, wanted).await?;
    Ok(answer::with_position(response, position))
}

async fn put(mut call: Box<Call>) -> Outcome {
    let body = call.take_body();
    call.wait_visible().await?;
    let order = Order::of(&call)?;
    let about = about(&call.headers)?;
    // Before the bytes arrive: a client learns at once that they would be refused.
    let is_new = order.check(&call.sighted().await?)?;
    may_send(&call, &order.id, is_new).await?;
    let stored = Arc::new(receive(&call.door, &call.headers, body, about, &call.peer).await?);
    let (id, property, signature) = (order.id.clone(), order.property.clone(), order.signature.clone());
    let target = signature.target.clone();
    let (sent, is_granted) = (Arc::clone(&stored), call.principal.is_granted());
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        // The store has the contents of hidden instances, too.
        let are_new = match is_granted {
            true => !transaction.base().holds_content(sent.sha256)?,
            false => sent.is_new(),
        };
        transaction.allow_content(&sent);
        let is_new = order.check(transaction.view()?)?;
        order.push(transaction, &sent.value(), is_new)?;
        Ok((is_new, are_new))
    };
    let ((is_new, are_new), receipt) = commit(&call.door, Weight::Light, target, Box::new(build)).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let answered = ContentReceipt::json(&id, &property, &stored, are_new, &receipt);
    let mut response = answer::json(status, &answered, receipt.position);
    response.headers_mut().insert(http::header::ETAG, tag_of(&stored));
    Ok(if is_new { answer::with_location(response, "/v1/content", &id) } else { response })
}

/// Refuses bytes of a client whose grants cannot let it write them: they would take room until a compaction.
///
/// Errors: `forbidden`.
async fn may_send(call: &Call, id: &Id, is_new: bool) -> Result<(), Problem> {
    let Some(granted) = Granted::of(&call.door, &call.principal) else { return Ok(()) };
    let right = if is_new { Right::Create } else { Right::Update };
    let entity = Some(id.clone()).filter(|_| !is_new);
    // The grants may have to be read again.
    match heavy(&call.door.bounds, move || granted.may(right, entity.as_ref())).await? {
        true => Ok(()),
        false => {
            let text =
                format!("entity {id}: expected a grant to {} it, found none; ask for one", right.name());
            Err(Problem::door("forbidden", text))
        }
    }
}

async fn delete(call: Box<Call>) -> Outcome {
    call.wait_visible().await?;
    let order = Order::of(&call)?;
    let signature = order.signature.clone();
    let target = signature.target.clone();
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        let instance = InstanceId::Entity(order.id.clone());
        order.check(transaction.view()?)?;
        if order.present(transaction.view()?)?.is_none() {
            return Err(none(&instance, &order.property));
        }
        Ok(transaction.update(&instance, Patch::new().unset(&order.property))?)
    };
    let ((), receipt) = commit(&call.door, Weight::Light, target, Box::new(build)).await?;
    Ok(answer::json(StatusCode::OK, &answer::receipt_to_json(&receipt), receipt.position))
}

/// The target of a write, and its conditions.
struct Order {
    id: Id,
    property: String,
    new_type: Option<String>,
    conditions: Conditions,
    signature: Signature,
}

impl Order {
    fn of(call: &Call) -> Result<Order, Problem> {
        Ok(Order {
            id: call.id()?,
            property: property_of(call)?,
            new_type: call.query.get("type").map(str::to_owned),
            conditions: Conditions::of(call)?,
            signature: Signature::of(call)?,
        })
    }

    /// The present content.
    fn present(&self, snapshot: &Snapshot) -> Result<Option<Arc<Content>>, Problem> {
        let seen = Seen::find(snapshot, &InstanceId::Entity(self.id.clone()))?;
        Ok(seen.and_then(|seen| found(&seen, &self.property)))
    }

    /// Checks the conditions; true if the entity must be created.
    fn check(&self, snapshot: &Snapshot) -> Result<bool, Problem> {
        let instance = InstanceId::Entity(self.id.clone());
        let is_there = Seen::find(snapshot, &instance)?.is_some();
        if !is_there {
            let is_known = snapshot.versions(&instance, 0, 1).is_ok();
            if is_known || self.new_type.is_none() {
                return Err(unseen(snapshot, &instance));
            }
        }
        let tag = self.present(snapshot)?.map(|content| tag_of(&content));
        let tag = tag.as_ref().and_then(|tag| tag.to_str().ok());
        let found = || tag.map_or("there is no content".to_owned(), |tag| format!("the content is {tag}"));
        self.conditions.check_by(|condition, weakly| condition.holds_tag(tag, weakly), found)?;
        Ok(!is_there)
    }

    fn push(&self, transaction: &mut Transaction, value: &Value, is_new: bool) -> Result<(), Problem> {
        match (&self.new_type, is_new) {
            (Some(name), true) => {
                let entity = NewEntity::new(name).id(&self.id.to_string())?;
                transaction.create_entity(entity.property(&self.property, value.clone()))?;
            }
            _ => {
                let patch = Patch::new().set(&self.property, value.clone());
                transaction.update(&InstanceId::Entity(self.id.clone()), patch)?;
            }
        }
        Ok(())
    }
}
