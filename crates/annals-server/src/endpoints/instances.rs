//! Entities and relationships: create, read, replace, update, delete, purge, restore, undo.

use std::sync::Arc;

use annals::{Action, ErrorKind, Id, InstanceId, Receipt, Snapshot, Status, Transaction, TypeKind};
use annals_json::{
    Object, PROVENANCE_FIELDS, Seen, creation_from_json, object, only, patch_from_json, states_provenance,
    undo_from_text, upsert,
};
use axum::body::Body;
use http::{Method, Response, StatusCode};

use super::delete_in_steps::delete_in_steps;
use crate::answer;
use crate::bounds::heavy::heavy;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, flag, query};
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Build, Signature, commit};
use crate::request::conditions::Conditions;
use crate::request::door::Door;
use crate::request::etag::Tag;

/// Entities, or relationships: the door writes and reads both in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Entities or relationships.
    pub kind: TypeKind,
    /// Its path.
    pub path: &'static str,
    /// Name of the schema of its members.
    pub schema: &'static str,
}

/// All entities.
pub const ENTITIES: Collection =
    Collection { kind: TypeKind::Entity, path: "/v1/entities", schema: "Entity" };
/// All relationships.
pub const RELATIONSHIPS: Collection =
    Collection { kind: TypeKind::Relationship, path: "/v1/relationships", schema: "Relationship" };

/// The paths of one instance, of either kind, and of its actions.
const PATHS: [[&str; 4]; 2] = [
    ["/v1/entities", "/v1/entities/{id}", "/v1/entities/{id}/restore", "/v1/entities/{id}/undo"],
    [
        "/v1/relationships",
        "/v1/relationships/{id}",
        "/v1/relationships/{id}/restore",
        "/v1/relationships/{id}/undo",
    ],
];

/// The rules that the content of an instance can break.
const BROKEN: [&str; 8] = [
    "invalid-property",
    "missing-end",
    "not-unique",
    "cardinality",
    "invalid-classification",
    "invalid-ends",
    "status-not-allowed",
    "not-home",
];

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let of = |(collection, paths): (Collection, [&'static str; 4])| endpoints_of(collection, paths);
    [ENTITIES, RELATIONSHIPS].into_iter().zip(PATHS).flat_map(of).collect()
}

fn endpoints_of(of: Collection, [all, one, restored, undone]: [&'static str; 4]) -> Vec<Endpoint> {
    let tag = if of == ENTITIES { "entities" } else { "relationships" };
    let (new, content, undone_schema) = if of == ENTITIES {
        ("NewEntity", "EntityContent", "UndoneEntity")
    } else {
        ("NewRelationship", "RelationshipContent", "UndoneRelationship")
    };
    let writes = |endpoint: Endpoint| {
        endpoint
            .tag(tag)
            .takes(parameters::writing())
            .takes([parameters::if_match()])
            .fails(&["precondition-failed"])
            .commits()
    };
    let alone = query("alone", flag(), false)
        .says("Restore the entity without the relationships that were deleted with it.");
    let alone = (of == ENTITIES).then_some(alone);
    let undone_part = query(
        "of",
        serde_json::json!({ "type": "string", "enum": ["version", "content"], "default": "version" }),
        "version",
    )
    .says("The last version, whatever it changed, or the last change of properties.");
    vec![
        writes(Endpoint::new(Method::POST, all, "Create an instance", move |call| create(of, call)))
            .body(new)
            .answers(201, "Created; `Location` is its address.", of.schema)
            .fails(&BROKEN)
            .fails(&["already-exists"]),
        Endpoint::new(Method::GET, one, "Read one instance", move |call| read(of, call))
            .tag(tag)
            .takes(parameters::reading())
            .takes([parameters::if_none_match()])
            .answers(200, "The instance; `ETag` is its latest version.", of.schema)
            .answers_as(304, "The client has this version.", "", "")
            .fails(&["not-found", "deleted", "proxy-only", "future-instant"]),
        writes(Endpoint::new(Method::PUT, one, "Replace, or create", move |call| put(of, call)))
            .describe(
                "Replaces all properties and, if given, all classifications; creates the instance if it does not exist. \
                 Attributes without a value get their default. Equal content makes no version. You can send the answer \
                 of a GET back: the server checks or ignores header fields.",
            )
            .takes([parameters::always(), parameters::if_none_match()])
            .body(content)
            .answers(200, "Replaced.", of.schema)
            .answers(201, "Created.", of.schema)
            .fails(&BROKEN)
            .fails(&["deleted", "already-exists"]),
        writes(Endpoint::new(Method::PATCH, one, "Change some properties", move |call| patch(of, call)))
            .takes([parameters::always()])
            .body("Patch")
            .answers(200, "The instance after the change.", of.schema)
            .fails(&["not-found", "deleted", "invalid-property", "not-unique", "not-home"]),
        writes(Endpoint::new(Method::DELETE, one, "Delete, or purge", move |call| delete(of, call)))
            .describe("The relationships of an entity are deleted with it. A deleted instance can be restored, a purged one cannot.")
            .takes([query("purge", flag(), false).says("Delete permanently, with the whole history.")])
            .takes(in_steps(of))
            .answers(200, "Done.", "Receipt")
            .fails(&["not-found", "deleted", "not-home"])
            .fails(if of == ENTITIES { &["partly-written"] } else { &[] }),
        writes(Endpoint::new(Method::POST, restored, "Restore a deleted instance", move |call| restore(of, call)))
            .takes(alone)
            .answers(200, "The instance, live again.", of.schema)
            .fails(&BROKEN)
            .fails(&["not-found", "not-deleted", "deleted"]),
        writes(Endpoint::new(Method::POST, undone, "Undo the last change", move |call| undo(of, call)))
            .describe(
                "Makes a new version equal to the one before: with its content, status, type, ends, id and home. \
                 Also undoes a deletion.",
            )
            .takes([undone_part])
            .answers(200, "The instance after the change; only the receipt if it is deleted or has another id now.", undone_schema)
            .fails(&BROKEN)
            .fails(&["not-found", "deleted", "wrong-type"]),
    ]
}

/// The parameter by which large containers are deleted; relationships have none.
fn in_steps(of: Collection) -> Option<Parameter> {
    let in_steps = query("inSteps", flag(), false).says(
        "Delete everything that the entity contains first, in many small commits. If it takes long, the answer is 504 `partly-written`, \
         with how many are `left`: the same request goes on. For containers that are too large for one commit.",
    );
    (of == ENTITIES).then_some(in_steps)
}

impl Collection {
    fn instance(self, id: Id) -> InstanceId {
        if self == ENTITIES { InstanceId::Entity(id) } else { InstanceId::Relationship(id) }
    }

    /// The instance that a call names.
    pub fn named(self, call: &Call) -> Result<InstanceId, Problem> {
        Ok(self.instance(call.id()?))
    }
}

/// Why a snapshot does not show an instance: it never existed, or it is deleted.
pub fn unseen(snapshot: &Snapshot, id: &InstanceId) -> Problem {
    if let Err(error) = snapshot.check_present_id(id) {
        return error.into();
    }
    let is_deleted = |last: &annals::VersionInfo| last.is_in_force && last.status == Status::Deleted;
    match snapshot.versions(id, 0, 1) {
        Err(error) => error.into(),
        Ok(versions) if versions.first().is_some_and(is_deleted) => {
            let text = format!("{id} is deleted; read its history, or restore it");
            annals::Error::new(ErrorKind::Deleted, text).into()
        }
        Ok(_) => Problem::not_found(format!("{id} does not exist at this time")),
    }
}

async fn read(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let conditions = Conditions::of(&call)?;
    call.read(Weight::Light, move |_, snapshot| {
        let Some(found) = Seen::find(&snapshot, &id)? else { return Err(unseen(&snapshot, &id)) };
        let tag = Tag::of_seen(&found)?;
        if conditions.is_known(&tag) {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            let response = answer::with_etag(response, &tag);
            return Ok(answer::with_position(response, snapshot.position()));
        }
        let response = answer::json(StatusCode::OK, &found, snapshot.position());
        Ok(answer::with_etag(response, &tag))
    })
    .await
}

async fn create(of: Collection, mut call: Box<Call>) -> Outcome {
    // The body is dropped before the log syncs.
    let action = {
        let body = call.receive().await?;
        let fields = object(&body, "body")?;
        only(fields, "body", &[known_fields(of), &["status"], PROVENANCE_FIELDS].concat())?;
        creation_from_json(of.kind, fields)?
    };
    let id = action.instance().expect("a creation names its instance");
    let work = move |transaction: &mut Transaction| {
        push_creation(transaction, action.clone()).map(|()| StatusCode::CREATED)
    };
    write_with_status(of, call, Weight::Light, id, Box::new(work)).await
}

async fn put(of: Collection, mut call: Box<Call>) -> Outcome {
    let body = call.receive().await?;
    let id = of.named(&call)?;
    let fields = object(&body, "body")?;
    let header_fields = ["version", "latestVersion", "status", "created", "updated", "validFrom", "position"];
    let extra = ["homeVersion", "contentVersion", "reidentifiedFrom"];
    only(fields, "body", &[known_fields(of), &header_fields, &extra, PROVENANCE_FIELDS].concat())?;
    check_same(fields, "id", &id.id().to_string())?;
    let states_classifications = fields.contains_key("classifications");
    let is_stated = states_provenance(fields);
    let mut new = fields.clone();
    new.insert("id".into(), id.id().to_string().into());
    let instance = id.clone();
    let work = move |transaction: &mut Transaction| {
        let mut new = new.clone();
        if let Some(found) = Seen::find(transaction.view()?, &instance)? {
            check_header(&new, &found)?;
            keep_header(&mut new, &found);
        }
        let mut creation = creation_from_json(of.kind, &new)?;
        if is_stated {
            state_provenance(&mut creation);
        }
        let is_created = upsert(transaction, creation, states_classifications)?;
        Ok(if is_created { StatusCode::CREATED } else { StatusCode::OK })
    };
    write_with_status(of, call, Weight::Light, id, Box::new(work)).await
}

async fn patch(of: Collection, mut call: Box<Call>) -> Outcome {
    let patch = patch_from_json(&call.receive().await?)?;
    let id = of.named(&call)?;
    let instance = id.clone();
    let work = move |transaction: &mut Transaction| Ok(transaction.update(&instance, patch.clone())?);
    write(of, call, Weight::Light, id, Box::new(work)).await
}

async fn delete(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let is_purge = call.query.flag("purge")?;
    if of == ENTITIES && call.query.flag("inSteps")? {
        return delete_in_steps(call, id, is_purge).await;
    }
    let instance = id.clone();
    let work = move |transaction: &mut Transaction| {
        let pushed = if is_purge { transaction.purge(&instance) } else { transaction.delete(&instance) };
        pushed.map_err(Problem::from)
    };
    // With a memory budget the engine counts what goes along first, which takes long for a large container.
    let weight = if of == ENTITIES { Weight::Heavy } else { Weight::Light };
    let ((), receipt, ..) = write_only(call, weight, id, Box::new(work)).await?;
    Ok(answer::json(StatusCode::OK, &answer::receipt_to_json(&receipt), receipt.position))
}

async fn restore(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let is_alone = of == ENTITIES && call.query.flag("alone")?;
    let instance = id.clone();
    let work = move |transaction: &mut Transaction| {
        let pushed =
            if is_alone { transaction.restore_alone(instance.id()) } else { transaction.restore(&instance) };
        pushed.map_err(Problem::from)
    };
    write(of, call, Weight::Light, id, Box::new(work)).await
}

async fn undo(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let instance = id.clone();
    let undo = call.query.get("of").map(undo_from_text).transpose()?.unwrap_or_default();
    let work = move |transaction: &mut Transaction| Ok(undo.add_to(transaction, &instance)?);
    // The version before may have to be read from the log.
    write(of, call, Weight::Heavy, id, Box::new(work)).await
}

/// Commits one change of one instance and answers with the instance as of that commit.
pub async fn write(
    of: Collection,
    call: Box<Call>,
    weight: Weight,
    id: InstanceId,
    mut work: Build<()>,
) -> Outcome {
    let work = move |transaction: &mut Transaction| work(transaction).map(|()| StatusCode::OK);
    write_with_status(of, call, weight, id, Box::new(work)).await
}

async fn write_with_status(
    of: Collection,
    call: Box<Call>,
    weight: Weight,
    id: InstanceId,
    work: Build<StatusCode>,
) -> Outcome {
    let door = Arc::clone(&call.door);
    let is_edit = call.query.get("candidate").is_some();
    let (status, receipt, id, unchanged) = write_only(call, weight, id, work).await?;
    if is_edit {
        // The repository and the candidate hold different states, so the receipt is the answer.
        return Ok(answer::json(status, &answer::receipt_to_json(&receipt), receipt.position));
    }
    // It is written: an error, such as `busy`, would let the client write it again.
    let shown = show_as_written(&door, of, &id, unchanged, (status, receipt)).await;
    Ok(shown.unwrap_or_else(|_| tell(of, &id, status, &receipt)))
}

/// The instance as of the commit that wrote it; only the receipt if it is not there then.
///
/// Errors: those of reading it.
async fn show_as_written(
    door: &Door,
    of: Collection,
    id: &InstanceId,
    unchanged: Option<Snapshot>,
    (status, receipt): (StatusCode, Receipt),
) -> Outcome {
    // The answer to a change that changes nothing shows the snapshot that the transaction read.
    let is_unchanged = unchanged.is_some();
    let snapshot = unchanged.map_or_else(|| door.snapshot(), Ok::<_, Problem>)?;
    let is_of_this = |found: &Seen| is_unchanged || found.is_latest_of(receipt.position);
    if let Some(found) = Seen::find(&snapshot, id)?.filter(is_of_this) {
        return show(of, &found, id, status, &receipt);
    }
    // Everything in the answer, its tag included, is of the state that this commit made: another one may have changed
    // the instance since, and its tag would let the client overwrite that change.
    let id = id.clone();
    Box::pin(heavy(&door.bounds, move || {
        let as_of = annals::AsOf { position: Some(receipt.position), ..annals::AsOf::default() };
        match Seen::find(&snapshot.as_of(as_of)?, &id)? {
            Some(found) => show(of, &found, &id, status, &receipt),
            None => Ok(tell(of, &id, status, &receipt)),
        }
    }))
    .await
}

/// Commits one change of one instance. Shape: with the receipt, the snapshot in which the change changes nothing, if
/// so.
async fn write_only<T: Send + 'static>(
    call: Box<Call>,
    weight: Weight,
    id: InstanceId,
    mut work: Build<T>,
) -> Result<(T, Receipt, InstanceId, Option<Snapshot>), Problem> {
    call.wait_visible().await?;
    let signature = Signature::of(&call)?;
    let target = signature.target.clone();
    let conditions = Conditions::of(&call)?;
    // The request is dropped before the log syncs: many requests wait there, and less memory stays in the core's cache.
    let door = Arc::clone(&call.door);
    drop(call);
    let instance = id.clone();
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        transaction.as_declared(true);
        conditions.check_in(transaction.view()?, &instance)?;
        let result = work(transaction)?;
        let unchanged = (transaction.changes_count() == 0).then(|| transaction.base().clone());
        Ok((result, unchanged))
    };
    let ((result, unchanged), receipt) = commit(&door, weight, target, Box::new(build)).await?;
    Ok((result, receipt, id, unchanged))
}

fn show(of: Collection, found: &Seen, id: &InstanceId, status: StatusCode, receipt: &Receipt) -> Outcome {
    let response = answer::written(answer::json(status, found, receipt.position), receipt);
    let response = answer::with_etag(response, &Tag::of_seen(found)?);
    Ok(located(of, response, id, status))
}

/// The answer that does not show the instance.
fn tell(of: Collection, id: &InstanceId, status: StatusCode, receipt: &Receipt) -> Response<Body> {
    let response = answer::json(status, &answer::receipt_to_json(receipt), receipt.position);
    located(of, response, id, status)
}

fn located(of: Collection, response: Response<Body>, id: &InstanceId, status: StatusCode) -> Response<Body> {
    if status == StatusCode::CREATED { answer::with_location(response, of.path, id.id()) } else { response }
}

fn known_fields(of: Collection) -> &'static [&'static str] {
    if of == ENTITIES {
        &["id", "type", "properties", "classifications"]
    } else {
        &["id", "type", "from", "to", "properties"]
    }
}

fn push_creation(transaction: &mut Transaction, action: Action) -> Result<(), Problem> {
    match action {
        Action::CreateEntity(new) => transaction.create_entity(new)?,
        Action::CreateRelationship(new) => transaction.create_relationship(new)?,
        other => unreachable!("{} is no creation", other.verb()),
    };
    Ok(())
}

/// Sent members of a provenance replace all of it, also if they are those of a new instance.
fn state_provenance(creation: &mut Action) {
    let provenance = match creation {
        Action::CreateEntity(new) => &mut new.provenance,
        Action::CreateRelationship(new) => &mut new.provenance,
        _ => return,
    };
    provenance.get_or_insert_default();
}

/// Header fields that a replacement cannot change must be equal if they are sent.
fn check_header(fields: &Object, found: &Seen) -> Result<(), Problem> {
    match found {
        Seen::Entity(entity) => {
            check_same(fields, "status", entity.status_name())?;
            check_same(fields, "type", entity.type_name())
        }
        Seen::Relationship(relationship) => {
            check_same(fields, "status", relationship.status_name())?;
            check_same(fields, "type", relationship.type_name())?;
            check_same(fields, "from", &relationship.from().to_string())?;
            check_same(fields, "to", &relationship.to().to_string())
        }
    }
}

/// Sets the header fields that a replacement does not change to those of the instance.
fn keep_header(fields: &mut Object, found: &Seen) {
    fields.remove("status");
    match found {
        Seen::Entity(entity) => {
            fields.insert("type".into(), entity.type_name().into());
        }
        Seen::Relationship(relationship) => {
            fields.insert("type".into(), relationship.type_name().into());
            fields.insert("from".into(), relationship.from().to_string().into());
            fields.insert("to".into(), relationship.to().to_string().into());
        }
    }
}

fn check_same(fields: &Object, name: &str, expected: &str) -> Result<(), Problem> {
    match fields.get(name) {
        None => Ok(()),
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(Problem::invalid(format!("{name}: expected {expected:?}, found {found}"))),
    }
}
