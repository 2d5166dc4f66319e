//! Changes of trees of containers by path: put, merge, create, delete, move, copy, revert and restore items.

use std::sync::Arc;

use annals::{Id, InstanceId, Snapshot, Transaction};
use annals_json::{
    TreeChange, TreeContent, TreeOperation, insert_from_texts, tree_content_from_json, tree_of,
};
use http::{Method, StatusCode};

use super::tree::Spot;
use crate::answer;
use crate::bounds::heavy::heavy;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit};
use crate::request::conditions::Conditions;
use crate::request::etag::Tag;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let writes = |endpoint: Endpoint| {
        endpoint
            .tag("trees")
            .takes(parameters::writing())
            .changes_instances()
            .fails(&["already-exists", "not-home", "proxy-only"])
            .fails(&["not-found"])
            .commits()
    };
    let at_path = |endpoint: Endpoint| {
        writes(endpoint)
            .takes(parameters::in_tree())
            .takes([parameters::if_match()])
            .fails(&["precondition-failed"])
    };
    vec![
        at_path(Endpoint::new(Method::PUT, "/v1/tree/{steps}", "Put an item in place, or set a property", put))
            .describe(
                "Makes the item and its subtree equal to the body. Creates the item, and missing items on the path to it. Changes only \
                 differences. A value, or an array of scalars, sets the property that the path names.",
            )
            .takes([parameters::if_none_match(), parameters::missing("refuse")])
            .body("TreeContent")
            .answers(200, "Changed.", "TreeReceipt")
            .answers(201, "Created.", "TreeReceipt"),
        at_path(Endpoint::new(Method::PATCH, "/v1/tree/{steps}", "Merge an item, or set a property", patch))
            .describe("Keeps properties and children that the body does not name. Creates the item if it is missing.")
            .body("TreeContent")
            .answers(200, "Changed.", "TreeReceipt")
            .answers(201, "Created.", "TreeReceipt"),
        at_path(Endpoint::new(Method::POST, "/v1/tree/{steps}", "Create an item or a property, or insert an item", post))
            .describe(
                "With `insert` the item gets that place in an ordered list. An existing item is merged and moved.",
            )
            .takes(parameters::insert())
            .body("TreeContent")
            .answers(200, "Inserted; the item existed already.", "TreeReceipt")
            .answers(201, "Created.", "TreeReceipt"),
        at_path(Endpoint::new(Method::DELETE, "/v1/tree/{steps}", "Delete the item or the property at a path", delete))
            .describe("An item with its subtree, all items of a list, or a property.")
            .takes([parameters::missing("ok")])
            .answers(200, "Done.", "TreeReceipt"),
        writes(Endpoint::new(Method::POST, "/v1/tree-move", "Move an item with its subtree", move_to))
            .describe("Its history continues. The parent at the new path must exist; `insert` gives the item a place in an ordered list.")
            .body("TreeMove")
            .answers(200, "Moved.", "TreeReceipt"),
        writes(Endpoint::new(Method::POST, "/v1/tree-copy", "Copy an item with its subtree", copy))
            .describe("All entities of the copy are new.")
            .body("TreeCopy")
            .answers(201, "Copied; `id` is that of the copy.", "TreeReceipt"),
        writes(Endpoint::new(Method::POST, "/v1/tree-revert", "Set the item or the property at a path back to an earlier time", revert))
            .describe(
                "Sets the item and its subtree to their state at the time, in new versions: items deleted since are restored, items \
                 created since are deleted, and items moved since return.",
            )
            .body("TreePast")
            .answers(200, "Done.", "TreeReceipt")
            .fails(&["future-instant"]),
        writes(Endpoint::new(Method::POST, "/v1/tree-restore", "Restore a deleted item at its path", restore))
            .describe("Restores the item that was at the path at the time, with the subtree that was deleted with it.")
            .body("TreePast")
            .answers(200, "Restored; `id` is that of the item.", "TreeReceipt")
            .fails(&["not-deleted", "future-instant"]),
    ]
}

async fn put(mut call: Box<Call>) -> Outcome {
    let must_be_there = missing(&call, "create", "refuse")?;
    let (spot, content) = receive(&mut call).await?;
    let change = if must_be_there { TreeChange::Replace } else { TreeChange::Put };
    write_at(call, spot.root, change(spot.path, content)).await
}

async fn patch(mut call: Box<Call>) -> Outcome {
    let (spot, content) = receive(&mut call).await?;
    write_at(call, spot.root, TreeChange::Merge(spot.path, content)).await
}

async fn post(mut call: Box<Call>) -> Outcome {
    let place = insert_from_texts(call.query.get("insert"), call.query.get("sibling"))?;
    let (spot, content) = receive(&mut call).await?;
    write_at(call, spot.root, TreeChange::creation(spot.path, content, place)?).await
}

async fn delete(call: Box<Call>) -> Outcome {
    let may_be_missing = missing(&call, "refuse", "ok")?;
    let spot = Spot::of(&call)?;
    let change = if may_be_missing { TreeChange::Remove } else { TreeChange::Delete };
    write_at(call, spot.root, change(spot.path)).await
}

async fn move_to(call: Box<Call>) -> Outcome {
    write_body(call, "move-tree").await
}

async fn copy(call: Box<Call>) -> Outcome {
    write_body(call, "copy-tree").await
}

async fn revert(call: Box<Call>) -> Outcome {
    write_body(call, "revert-tree").await
}

async fn restore(call: Box<Call>) -> Outcome {
    write_body(call, "restore-tree").await
}

/// Commits the change that the body describes.
async fn write_body(mut call: Box<Call>, action: &str) -> Outcome {
    let TreeOperation { root, change } = TreeOperation::from_body(action, &call.receive().await?)?;
    write(call, Conditions::default(), root, change).await
}

/// The parameter `missing`: true for the second of its two values.
fn missing(call: &Call, usual: &str, other: &str) -> Result<bool, Problem> {
    match call.query.get("missing") {
        None => Ok(false),
        Some(told) if told == usual => Ok(false),
        Some(told) if told == other => Ok(true),
        Some(told) => {
            let text = format!("parameter missing: expected {usual} or {other}, found {told:?}");
            Err(Problem::invalid(text).with("parameter", "missing"))
        }
    }
}

/// The spot that a call names, and the new content for it.
async fn receive(call: &mut Call) -> Result<(Spot, TreeContent), Problem> {
    let spot = Spot::of(call)?;
    let body = call.receive().await?;
    if call.has_small_body() {
        return Ok((spot, tree_content_from_json(&body)?));
    }
    let content = heavy(&call.door.bounds, move || Ok(tree_content_from_json(&body)?)).await?;
    Ok((spot, content))
}

/// Commits a change at the path of the request, under its conditions.
async fn write_at(call: Box<Call>, root: Option<Id>, change: TreeChange) -> Outcome {
    let conditions = Conditions::of(&call)?;
    write(call, conditions, root, change).await
}

async fn write(call: Box<Call>, conditions: Conditions, root: Option<Id>, change: TreeChange) -> Outcome {
    call.wait_visible().await?;
    let signature = Signature::of(&call)?;
    let target = signature.target.clone();
    let door = Arc::clone(&call.door);
    // The parsed body uses the room of the body.
    let body_room = call.body_room.clone();
    drop(call);
    let operation = TreeOperation { root, change };
    let is_light = operation.change.is_short() && conditions.name_no_tag();
    let weight = if is_light { Weight::Light } else { Weight::Heavy };
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        // A candidate may hold earlier edits.
        let before = transaction.view()?.clone();
        if !conditions.are_empty() {
            check(&conditions, &before, &operation, transaction)?;
        }
        let id = operation.add_to(transaction)?;
        // Order: only after the change is the path known to lead to one item.
        let status = match &operation.change {
            TreeChange::Copy { .. } => StatusCode::CREATED,
            TreeChange::Move { .. } | TreeChange::Delete(_) | TreeChange::Remove(_) => StatusCode::OK,
            TreeChange::Revert(..) | TreeChange::Restore(..) => StatusCode::OK,
            _ if tag(&before, &operation)?.is_some() => StatusCode::OK,
            _ => StatusCode::CREATED,
        };
        Ok((id, status))
    };
    let ((id, status), receipt) = commit(&door, weight, target, Box::new(build)).await?;
    drop(body_room);
    let mut body = answer::receipt_to_json(&receipt);
    if let Some(id) = id {
        body["id"] = id.to_string().into();
    }
    Ok(answer::written(answer::json(status, &body, receipt.position), &receipt))
}

/// Checks the conditions of a change. A change that replaces, or deletes, an item with everything below it needs the tag of
/// all that; the transaction then relies on it. Any other change takes that, or the tag of the entity.
///
/// Errors: `precondition-failed`.
fn check(
    conditions: &Conditions,
    before: &Snapshot,
    operation: &TreeOperation,
    transaction: &mut Transaction,
) -> Result<(), Problem> {
    let path = operation.change.path();
    let tree = tree_of(before, operation.root.as_ref());
    let Some(found) = tree.item(path)? else { return conditions.check(None) };
    if found.only_leads() {
        return conditions.check_untagged();
    }
    let entity = Tag::of_entity(&found.entity);
    if found.property_name().is_some() || conditions.name_no_tag() {
        return conditions.check(Some(&entity));
    }
    let is_whole = matches!(
        operation.change,
        TreeChange::Put(..) | TreeChange::Replace(..) | TreeChange::Delete(_) | TreeChange::Remove(_)
    );
    let mut below = Vec::new();
    let state = tree.state(&found.path()?, |id| below.push(id.clone()))?;
    let whole = state.map(|state| Tag::of_subtree(&found.entity, &state));
    let check_whole =
        || whole.as_ref().map_or_else(|| conditions.check_untagged(), |tag| conditions.check(Some(tag)));
    if !is_whole {
        return conditions.check(Some(&entity)).or_else(|problem| check_whole().map_err(|_| problem));
    }
    check_whole()?;
    for id in below {
        transaction.rely_on_relationships(&id);
        transaction.rely_on(&InstanceId::Entity(id));
    }
    Ok(())
}

/// The tag of the entity at the path of a change, or of the entity with the property there; `None` if the path leads to
/// nothing.
fn tag(snapshot: &Snapshot, operation: &TreeOperation) -> Result<Option<Tag>, Problem> {
    let found = tree_of(snapshot, operation.root.as_ref()).item(operation.change.path())?;
    Ok(found.map(|found| Tag::of_entity(&found.entity)))
}
