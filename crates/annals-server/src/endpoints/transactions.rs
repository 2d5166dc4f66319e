//! Transactions: many operations, all or none.

use std::sync::{Arc, Mutex, PoisonError};

use annals::{Action, Id, Position, Receipt, TakenBack, Transaction};
use annals_json::{
    Operation, add_taken_back, array, boolean, object, only, operation_from_json, optional_text,
};
use http::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::access::may_commit;
use crate::answer;
use crate::bounds::heavy::heavy;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit};
use crate::request::door::Door;

/// The threads for searches build transactions with more operations. Units: operations.
const SMALL_OPERATIONS_MAX: usize = 64;

/// The path of transactions.
pub const PATH: &str = "/v1/transactions";

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, PATH, "Commit many operations, all or none", post)
            .describe(
                "Operations run in order and see each other. `dryRun` checks everything and writes nothing. `ifVersion` of \
                 an operation is the version that its instance must have before the transaction (0: it must not exist); \
                 `expect` only checks this. `upsert` creates an instance, or replaces its content. Operations that change nothing \
                 make no version, unless you set `always`. If all operations change nothing, the server writes no record, and the \
                 receipt names the last record that the transaction saw. Headers may also give author and message.",
            )
            .tag("transactions")
            .takes(parameters::writing())
            .takes([parameters::always()])
            .body("Transaction")
            .answers(200, "Durable (or, for a dry run, possible).", "TransactionReceipt")
            .changes_instances()
            .fails(&["invalid-classification", "status-not-allowed", "proxy-only", "not-home", "home-conflict"])
            .fails(&["not-found", "already-exists", "not-deleted", "precondition-failed"])
            .commits(),
    ]
}

/// A transaction as its JSON form describes it.
#[derive(Clone)]
struct Described {
    signature: Signature,
    is_serializable: bool,
    is_dry_run: bool,
    operations: Vec<Operation>,
    /// For each operation, once they are built, the number of the changes before it.
    starts: Arc<Mutex<Vec<usize>>>,
}

impl Described {
    fn from_json(json: &Json, headers: Signature) -> Result<Described, Problem> {
        let what = "transaction";
        let fields = object(json, what)?;
        only(
            fields,
            what,
            &["author", "message", "validFrom", "always", "serializable", "dryRun", "operations"],
        )?;
        let valid_from = optional_text(fields, what, "validFrom")?.map(str::parse).transpose()?;
        let signature = Signature {
            author: match optional_text(fields, what, "author")? {
                Some(author) => headers.target.principal.author(Some(author.to_owned()))?,
                None => headers.author,
            },
            message: optional_text(fields, what, "message")?.map_or(headers.message, str::to_owned),
            valid_from: valid_from.or(headers.valid_from),
            is_always: boolean(fields, what, "always", headers.is_always)?,
            target: headers.target,
        };
        let mut operations = Vec::new();
        for (index, operation) in array(fields, what, "operations")?.iter().enumerate() {
            let operation = operation_from_json(operation);
            operations.push(operation.map_err(|error| Problem::from(error).with("operation", index))?);
        }
        Ok(Described {
            signature,
            is_serializable: boolean(fields, what, "serializable", false)?,
            is_dry_run: boolean(fields, what, "dryRun", false)?,
            operations,
            starts: Arc::default(),
        })
    }

    /// Puts the operations into a transaction. Gives the ids of created instances, in order, and those that later
    /// commits built on if records are taken back.
    fn build(&self, transaction: &mut Transaction) -> Result<Built, Problem> {
        self.signature.sign(transaction);
        if self.is_serializable {
            transaction.serializable();
        }
        let before = transaction.changes_count();
        let mut starts = Vec::with_capacity(self.operations.len());
        let mut built = Built::default();
        for (index, operation) in self.operations.iter().enumerate() {
            starts.push(transaction.changes_count());
            let added = operation.add_to(transaction, self.signature.valid_from);
            let added = added.map_err(|error| Problem::from(error).with("operation", index))?;
            built.ids.extend(added.created);
            if let Some(taken) = added.taken_back {
                let all = built.taken_back.get_or_insert_default();
                all.stays.extend(taken.stays);
                all.undone.extend(taken.undone);
            }
        }
        built.changes_count = transaction.changes_count() - before;
        *self.starts.lock().unwrap_or_else(PoisonError::into_inner) = starts;
        Ok(built)
    }

    /// The same problem, with the operation that made the change which was refused.
    fn naming(&self, problem: Problem) -> Problem {
        let starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_change = |change| starts.partition_point(|start| *start <= change).checked_sub(1);
        problem.of_change(|change| of_change(change).filter(|_| starts.len() > 1))
    }
}

/// The result of the operations, beside their changes.
#[derive(Default)]
struct Built {
    ids: Vec<Id>,
    changes_count: usize,
    taken_back: Option<TakenBack>,
}

impl Built {
    fn add_to(&self, receipt: &mut Json) {
        receipt["changes"] = self.changes_count.into();
        receipt["ids"] = self.ids.iter().map(|id| Json::from(id.to_string())).collect();
        if let Some(taken) = &self.taken_back {
            add_taken_back(receipt, taken);
        }
    }
}

async fn post(mut call: Box<Call>) -> Outcome {
    let json = call.receive().await?;
    call.wait_visible().await?;
    let signature = Signature::of(&call)?;
    // A proxy in front may have set the header; the body must not name another author.
    if call.door.bounds.limits.is_author_required
        && !call.principal.is_named()
        && let Some(author) = json.get("author").and_then(Json::as_str)
        && author != signature.author
    {
        let text =
            format!("author: expected that of the header Annals-Author, found {author:?}; leave it out");
        return Err(Problem::invalid(text));
    }
    // An item of a tree may be as large as many operations.
    let is_short = |operation: &Json| operation.get("item").is_none() || call.has_small_body();
    let is_small = json
        .get("operations")
        .and_then(Json::as_array)
        .is_some_and(|all| all.len() <= SMALL_OPERATIONS_MAX && all.iter().all(is_short));
    let described = if is_small {
        Described::from_json(&json, signature)?
    } else {
        heavy(&call.door.bounds, move || Described::from_json(&json, signature)).await?
    };
    if described.is_dry_run || !described.operations.iter().all(Operation::may_be_limited) {
        call.check_reads_all()?;
    }
    if described.is_dry_run {
        return dry_run(call, described).await;
    }
    // `undo` reads the transaction's own changes, so the transaction must apply them first.
    let is_light = is_small && described.operations.iter().all(Operation::is_short);
    let weight = if is_light { Weight::Light } else { Weight::Heavy };
    let target = described.signature.target.clone();
    let described = Arc::new(described);
    let building = Arc::clone(&described);
    let build = move |transaction: &mut Transaction| building.build(transaction);
    let outcome = commit(&call.door, weight, target, Box::new(build)).await;
    let (built, receipt) = outcome.map_err(|problem| described.naming(problem))?;
    let mut body = answer::receipt_to_json(&receipt);
    built.add_to(&mut body);
    Ok(answer::written(answer::json(StatusCode::OK, &body, receipt.position), &receipt))
}

/// The receipt of a transaction that was committed before, from its record: without what a take-back left out.
///
/// Errors: those of reading the log.
pub async fn repeated(door: &Arc<Door>, receipt: Receipt) -> Result<Json, Problem> {
    let shared = Arc::clone(door);
    heavy(&door.bounds, move || {
        let before = Position(receipt.position.0.saturating_sub(1));
        let mut body = answer::receipt_to_json(&receipt);
        let record = shared.repository()?.follow(before).poll()?.map(|(_, record)| record);
        let changes = record.map(|record| record.changes).unwrap_or_default();
        let is_create =
            |action: &&Action| matches!(action, Action::CreateEntity(_) | Action::CreateRelationship(_));
        let created = changes.iter().map(|change| &change.action).filter(is_create);
        let ids = created.filter_map(|action| Some(action.instance()?.id().clone())).collect();
        Built { ids, changes_count: changes.len(), taken_back: None }.add_to(&mut body);
        Ok(body)
    })
    .await
}

async fn dry_run(call: Box<Call>, described: Described) -> Outcome {
    let door = Arc::clone(&call.door);
    heavy(&call.door.bounds, move || {
        let mut transaction = door.repository()?.transaction();
        let built = described.build(&mut transaction)?;
        may_commit(&described.signature.target.principal, &transaction, None)?;
        let base = transaction.base().position();
        let snapshot = transaction.dry_run().map_err(|error| described.naming(error.into()))?;
        let mut body = json!({
            "dryRun": true,
            "entities": snapshot.entities_count(),
            "relationships": snapshot.relationships_count(),
        });
        built.add_to(&mut body);
        Ok(answer::json(StatusCode::OK, &body, base))
    })
    .await
}
