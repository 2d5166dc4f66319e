//! Takes records back.

use std::sync::Arc;

use annals::{Position, Transaction};
use annals_json::{keep_from_text, taken_back_to_json};
use http::{Method, StatusCode};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, count, query};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/records/{position}/take-back", "Take a record back", take_back)
            .describe(
                "Sets everything that the record changed back to its state before it, in one new record. With `toPosition`, takes \
                 a range of records back as if they were one. What only later records changed stays: each property is a \
                 unit. If later records changed the same unit, or built on new instances, the server refuses \
                 (`precondition-failed`): `keep=mine` undoes these changes, too, and `keep=theirs` leaves them. If everything is \
                 as it was before them already, there are no `changes`, and no new record.",
            )
            .tag("history")
            .takes([query("toPosition", count(), 91).says("Position of the last record to take back.")])
            .takes([parameters::keep()])
            .takes(parameters::signing())
            .takes([parameters::idempotency_key()])
            .answers(200, "Taken back.", "TakenBack")
            .fails(&["not-found", "precondition-failed"])
            .changes_instances()
            .fails(&["status-not-allowed", "not-home"])
            .commits(),
    ]
}

async fn take_back(call: Box<Call>) -> Outcome {
    call.wait_visible().await?;
    let text = call.path("position");
    let first = text.parse::<u64>().map(Position).map_err(|_| {
        Problem::invalid(format!("position: expected the position of a record, found {text:?}"))
    })?;
    let last = call.query.number("toPosition")?.map_or(first, Position);
    let keep = call.query.get("keep").map(keep_from_text).transpose()?;
    let signature = Signature::of(&call)?;
    let target = signature.target.clone();
    let door = Arc::clone(&call.door);
    let build = move |transaction: &mut Transaction| {
        signature.sign(transaction);
        let taken = transaction.take_back_all(first..=last, keep)?;
        Ok((taken, transaction.changes_count()))
    };
    let ((taken, changes_count), receipt) = commit(&door, Weight::Heavy, target, Box::new(build)).await?;
    let mut json = taken_back_to_json(&taken, &receipt);
    json["changes"] = changes_count.into();
    Ok(answer::written(answer::json(StatusCode::OK, &json, receipt.position), &receipt))
}
