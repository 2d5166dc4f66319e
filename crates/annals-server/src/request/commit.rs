//! Commits writes: builds a transaction, submits it, and waits for it without holding a thread.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use annals::{
    Candidate, Candidates, ErrorKind, IdempotencyKey, Position, RETRIES_MAX, Receipt, Ticket, Transaction,
};

use super::call::{Call, Weight};
use super::door::Door;
use super::prepared::prepare;
use crate::access::{Principal, Verb, limit, may_commit, told_to};
use crate::bounds::heavy::heavy;
use crate::protocol::names::{AUTHOR, MESSAGE};
use crate::protocol::problem::Problem;

/// Longest time that a transaction waits to see the transaction that conflicted with it, before it is tried again.
const WINNER_WAIT: Duration = Duration::from_secs(1);

/// Author, message and valid time of a write, from the headers and the query of a request.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The author.
    pub author: String,
    /// Why.
    pub message: String,
    /// From when the changes are true.
    pub valid_from: Option<annals::Instant>,
    /// True if a change that changes nothing also makes a version.
    pub is_always: bool,
    /// Where the changes go.
    pub target: Target,
}

/// Where changes go, and on whose behalf.
#[derive(Clone, Debug)]
pub struct Target {
    /// The client whose roles the changes must fit.
    pub principal: Arc<Principal>,
    /// The candidate that gets the changes as edits; `None` for the repository.
    pub candidate: Option<Arc<str>>,
    /// The key of the request, if its client may send it again.
    pub key: Option<IdempotencyKey>,
}

impl Signature {
    /// The signature of a request.
    ///
    /// Errors: `InvalidArgument` without an author, if the server requires one; `forbidden` for the name of another one.
    pub fn of(call: &Call) -> Result<Signature, Problem> {
        let named = call.header(&AUTHOR)?.filter(|named| !named.is_empty());
        let author = call.principal.author(named)?;
        if call.door.bounds.limits.is_author_required && author.trim().is_empty() {
            let text = "header Annals-Author: expected the author, found none; send it, or let the proxy in front set it";
            return Err(Problem::invalid(text));
        }
        Ok(Signature {
            author,
            message: call.header(&MESSAGE)?.unwrap_or_default(),
            valid_from: call.query.instant("validFrom")?,
            is_always: call.query.flag("always")?,
            target: Target {
                principal: Arc::clone(&call.principal),
                candidate: call.query.get("candidate").map(Into::into),
                key: call.key,
            },
        })
    }

    /// Signs a transaction.
    pub fn sign(&self, transaction: &mut Transaction) {
        transaction
            .author(&self.author)
            .message(&self.message)
            .valid_from(self.valid_from)
            .always(self.is_always);
    }
}

/// Puts changes into a transaction. It runs again if the transaction conflicts with another one. In a box, because each
/// function that passes it on would otherwise make room for all of it.
pub type Build<T> = Box<dyn FnMut(&mut Transaction) -> Result<T, Problem> + Send>;

/// Commits the changes that `build` puts into a transaction, or adds them to the candidate of the request as edits, if the
/// roles of the client allow each of them.
///
/// Errors: `unauthenticated` if the client does not stand any more; `forbidden`; those of `build`; those of the commit.
pub async fn commit<T: Send + 'static>(
    door: &Arc<Door>,
    weight: Weight,
    target: Target,
    mut build: Build<T>,
) -> Result<(T, Receipt), Problem> {
    let Target { principal, candidate, key } = target;
    if let Some(name) = candidate {
        return Box::pin(edit(door, principal, name, build)).await;
    }
    let (by, shared) = (Arc::clone(&principal), Arc::clone(door));
    let checked: Build<T> = Box::new(move |transaction| {
        // The body, or a turn, may have taken long.
        shared.access.check_standing(&by)?;
        limit(&shared.grants, &by, transaction)?;
        if let Some(key) = key {
            transaction.idempotency_key(key);
        }
        let result = build(transaction)?;
        may_commit(&by, transaction, None)?;
        Ok(result)
    });
    if !principal.is_granted() {
        return commit_now(door, weight, checked).await;
    }
    // The grants may have to be asked of every instance.
    Box::pin(prepare(door, &principal)).await?;
    let outcome = Box::pin(commit_now(door, Weight::Heavy, checked)).await;
    outcome.map_err(|problem| told_to(&principal, problem))
}

/// Runs `work` on the candidates as a client may use them: each write asks whether the candidate is its own, and whether it
/// may commit what the write would commit, both by what is true then.
///
/// Errors: `unauthenticated` if the client does not stand any more; `forbidden`; those of `work`.
pub fn with_candidates<T>(
    door: &Door,
    principal: &Arc<Principal>,
    work: impl FnOnce(&Candidates, &KeptProblem) -> annals::Result<T>,
) -> Result<T, Problem> {
    if principal.is_granted() {
        let text =
            "candidate: expected a client that reads everything, found one with grants; write without it";
        return Err(Problem::door("forbidden", text));
    }
    // A turn may have taken long.
    door.access.check_standing(principal)?;
    let (kept, by) = (KeptProblem::default(), Arc::clone(principal));
    let keep = kept.clone();
    let candidates = door.repository()?.candidates().checked(move |candidate, transaction| {
        let own = candidate.instance()?;
        keep.keep(check_owner(&by, candidate).and_then(|()| may_commit(&by, transaction, Some(&own))))
    });
    work(&candidates, &kept).map_err(|error| kept.take().unwrap_or_else(|| error.into()))
}

/// A problem of the door, kept while an error of the engine stands for it.
#[derive(Clone, Default)]
pub struct KeptProblem(Arc<Mutex<Option<Problem>>>);

impl KeptProblem {
    /// Errors: one that stands for the problem.
    pub fn keep<T>(&self, outcome: Result<T, Problem>) -> annals::Result<T> {
        outcome.map_err(|problem| {
            let error = annals::Error::new(ErrorKind::Refused, problem.detail());
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
            error
        })
    }

    fn take(&self) -> Option<Problem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Refuses a change of a candidate that belongs to another client.
///
/// Errors: `forbidden`.
fn check_owner(principal: &Principal, candidate: &Candidate) -> Result<(), Problem> {
    let owner = &*candidate.created.author;
    if !principal.is_named() || principal.may(Verb::Administer) || *owner == *principal.name {
        return Ok(());
    }
    let text = format!(
        "candidate {}: expected {owner:?}, who opened it, found {:?}; open one of your own",
        candidate.name, principal.name
    );
    Err(Problem::door("forbidden", text))
}

/// Adds the changes that `build` puts into a transaction to a candidate as edits.
async fn edit<T: Send + 'static>(
    door: &Arc<Door>,
    principal: Arc<Principal>,
    name: Arc<str>,
    mut build: Build<T>,
) -> Result<(T, Receipt), Problem> {
    let shared = Arc::clone(door);
    heavy(&door.bounds, move || {
        with_candidates(&shared, &principal, |candidates, kept| {
            let outcome = candidates.edit(&name, |transaction| kept.keep(build(transaction)));
            let known = outcome.as_ref().map(|(_, receipt)| *receipt);
            shared.metrics.count_commit(&known.map_err(annals::Error::duplicate));
            outcome
        })
    })
    .await
}

/// Commits the changes that `build` puts into a transaction. After a conflict it builds them again on a fresh snapshot,
/// as [`annals::Repository::transact`] does, but holds no thread while the log syncs.
async fn commit_now<T: Send + 'static>(
    door: &Arc<Door>,
    weight: Weight,
    mut build: Build<T>,
) -> Result<(T, Receipt), Problem> {
    for retry in 0.. {
        let base = door.snapshot()?.position();
        let (result, ticket);
        (result, ticket, build) = match weight {
            Weight::Light => submit(door, build)?,
            Weight::Heavy => {
                let shared = Arc::clone(door);
                Box::pin(heavy(&door.bounds, move || submit(&shared, build))).await?
            }
        };
        let outcome = settle(door, ticket).await;
        match outcome {
            Ok(receipt) => return Ok((result, receipt)),
            Err(error) if error.kind() == ErrorKind::Conflict => {
                if retry >= RETRIES_MAX {
                    return Err(error.into());
                }
                wait_for_winner(door, base).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    unreachable!("the loop returns when its retries are used up")
}

/// Waits, within a bound, until a position after `base` is visible: a snapshot without the transaction that won would lose
/// against it again.
pub async fn wait_for_winner(door: &Door, base: Position) {
    let _ = tokio::time::timeout(WINNER_WAIT, door.visible().wait_for(|known| *known > base)).await;
}

fn submit<T>(door: &Door, mut build: Build<T>) -> Result<(T, Ticket, Build<T>), Problem> {
    let mut transaction = door.repository()?.transaction();
    let result = build(&mut transaction)?;
    Ok((result, transaction.try_submit()?, build))
}

async fn settle(door: &Arc<Door>, ticket: Ticket) -> annals::Result<Receipt> {
    let mut counted = Counted { door, ticket };
    (&mut counted.ticket).await
}

/// Counts a commit when its outcome is known, even if the client has gone by then.
struct Counted<'d> {
    door: &'d Arc<Door>,
    ticket: Ticket,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let door = Arc::clone(self.door);
        self.ticket.on_done(move |outcome| door.metrics.count_commit(&outcome));
    }
}
