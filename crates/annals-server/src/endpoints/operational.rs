//! The operational view, and the leases under which clients push state into it.

use std::sync::Arc;

use annals::Operational;
use annals_json::{
    OperationalForm, TreeChange, array, lease_from_json, lease_time_from_json, lease_to_json, object, only,
};
use axum::body::Body;
use http::{Method, Response, StatusCode};
use serde_json::{Value as Json, json};

use super::tree::Spot;
use crate::answer;
use crate::bounds::heavy::heavy;
use crate::bounds::sending;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;
use crate::request::commit::Signature;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let of = |endpoint: Endpoint| {
        endpoint.tag("operational").fails(&[
            "read-only",
            "not-writer",
            "unavailable",
            "no-room",
            "io",
            "too-large",
        ])
    };
    let writes = |endpoint: Endpoint| of(endpoint).takes(parameters::signing_author()).fails(&["conflict"]);
    let pushes = [
        "invalid-property",
        "invalid-ends",
        "wrong-type",
        "not-unique",
        "cardinality",
        "already-exists",
        "deleted",
        "type-violation",
        "refused",
    ];
    let lease = "/v1/leases/{lease}";
    let shown = ["path", "depth"];
    let extent = parameters::in_tree().into_iter().chain(parameters::tree_extent());
    vec![
        of(Endpoint::new(Method::GET, "/v1/operational/{steps}", "Read an item with the state that clients pushed", view))
            .describe(
                "The item of the tree with its subtree, merged with the state that clients pushed under leases. `@origin` of an \
                 item names its source if that differs from the source of the item above; `@origins` names the sources of \
                 properties that differ from the source of their item. The path follows `/v1/operational` as it follows `/v1/tree`.",
            )
            .takes(extent.filter(|known| shown.contains(&known.name)))
            .takes([parameters::wait_position()])
            .answers(200, "The item.", "OperationalItem")
            .fails(&["not-found"]),
        of(Endpoint::new(Method::GET, "/v1/leases", "List the leases", list))
            .answers(200, "All leases, by name.", "LeaseList"),
        writes(Endpoint::new(Method::POST, "/v1/leases", "Open a lease", open))
            .describe(
                "When a lease ends, the server removes the state that was pushed under it. A lease ends after `seconds` unless the \
                 client renews it. The state is in the memory of the server and in no history.",
            )
            .body("NewLease")
            .answers(201, "Opened.", "Lease")
            .fails(&["already-exists"]),
        writes(Endpoint::new(Method::POST, "/v1/leases/{lease}/renew", "Renew a lease", renew))
            .body("LeaseTime")
            .answers(200, "The lease ends after this time from now.", "Lease")
            .fails(&["not-found"]),
        writes(Endpoint::new(Method::DELETE, lease, "End a lease", end))
            .describe("Removes the state that was pushed under it.")
            .answers_as(204, "The lease has ended.", "", "")
            .fails(&["not-found"]),
        writes(Endpoint::new(Method::POST, "/v1/leases/{lease}/changes", "Push changes under a lease", push))
            .describe(
                "All or none, in order. Operations that change trees, as in transactions, but without `root` and `validFrom`, \
                 and none that goes back to an earlier time. Their paths are paths of the running tree.",
            )
            .body("LeaseChanges")
            .answers(200, "Done.", "Lease")
            .fails(&pushes)
            .fails(&["not-found"]),
    ]
}

async fn view(call: Box<Call>) -> Outcome {
    call.door.check_has_leases()?;
    let path = Spot::of(&call)?.path;
    let depth = call.query.number("depth")?;
    call.wait_visible().await?;
    let door = Arc::clone(&call.door);
    heavy(&call.door.bounds, move || {
        // Order: snapshot first, then view, so that the view is not older than the position in the answer.
        let snapshot = door.snapshot()?;
        let item = door.operational()?.get(&path, depth)?.ok_or_else(|| {
            Problem::not_found(format!("path {path}: there is no item now; a property is read with its item"))
        })?;
        let form = OperationalForm::new(&item, &snapshot);
        sending::admit(&door.bounds, answer::json(StatusCode::OK, &form, snapshot.position()))
    })
    .await
}

async fn list(call: Box<Call>) -> Outcome {
    call.door.check_has_leases()?;
    told(call, StatusCode::OK, |operational, _| {
        let leases: Vec<Json> = operational.leases()?.iter().map(lease_to_json).collect();
        Ok(json!({ "items": leases }))
    })
    .await
}

async fn open(mut call: Box<Call>) -> Outcome {
    call.door.check_has_leases()?;
    let (name, lasts) = lease_from_json(&receive(&mut call).await?.0)?;
    let (door, owner) = (Arc::clone(&call.door), Arc::clone(&call.principal.name));
    told(call, StatusCode::CREATED, move |operational, _| {
        operational.open_lease(&name, lasts)?;
        let leases = operational.leases()?;
        door.leases.note(&name, owner, |known| leases.iter().any(|lease| *lease.name == *known));
        Ok(lease_to_json(&operational.lease(&name)?))
    })
    .await
}

async fn renew(mut call: Box<Call>) -> Outcome {
    check_owner(&call)?;
    let lasts = lease_time_from_json(&receive(&mut call).await?.0)?;
    told(call, StatusCode::OK, move |operational, name| {
        operational.renew(name, lasts)?;
        Ok(lease_to_json(&operational.lease(name)?))
    })
    .await
}

async fn end(call: Box<Call>) -> Outcome {
    check_owner(&call)?;
    Signature::of(&call)?;
    call.wait_visible().await?;
    let door = Arc::clone(&call.door);
    heavy(&call.door.bounds.clone(), move || {
        door.operational()?.end_lease(call.path("lease"))?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(answer::with_position(response, door.snapshot()?.position()))
    })
    .await
}

async fn push(mut call: Box<Call>) -> Outcome {
    check_owner(&call)?;
    let (body, signature) = receive(&mut call).await?;
    let turn = call.door.push_turn(call.path("lease")).await;
    told(call, StatusCode::OK, move |operational, name| {
        // Work that nobody waits for any more still has the turn.
        let _turn = turn;
        let fields = object(&body, "changes")?;
        only(fields, "changes", &["operations"])?;
        let operations = array(fields, "changes", "operations")?.iter().enumerate();
        let changes = operations.map(|(index, operation)| {
            TreeChange::pushed_from_json(operation).map_err(|error| error.with("operation", index))
        });
        let changes: Vec<TreeChange> = changes.collect::<annals::Result<_>>()?;
        operational.push(name, |tree| {
            tree.sign(&signature.author, &signature.message);
            changes.iter().enumerate().try_for_each(|(index, change)| {
                change.add_to(tree).map(drop).map_err(|error| error.with("operation", index))
            })
        })?;
        Ok(lease_to_json(&operational.lease(name)?))
    })
    .await
}

/// Refuses a client that may not change the lease, and a server that has none.
fn check_owner(call: &Call) -> Result<(), Problem> {
    call.door.check_has_leases()?;
    call.door.leases.check(&call.principal, call.path("lease"))
}

/// Receives the body of a write, and its signature.
async fn receive(call: &mut Call) -> Result<(Json, Signature), Problem> {
    let body = call.receive().await?;
    let signature = Signature::of(call)?;
    call.wait_visible().await?;
    Ok((body, signature))
}

/// Answers with the result of work on leases.
async fn told(
    call: Box<Call>,
    status: StatusCode,
    work: impl FnOnce(&Operational, &str) -> annals::Result<Json> + Send + 'static,
) -> Outcome {
    let door = Arc::clone(&call.door);
    heavy(&call.door.bounds.clone(), move || {
        let body = work(&door.operational()?, call.path("lease"))?;
        Ok(answer::json(status, &body, door.snapshot()?.position()))
    })
    .await
}
