//! Deletions and purges of large containers in steps: many small transactions instead of one that holds up all others, or that
//! the memory budget refuses.

use std::sync::Arc;
use std::time::Instant as Clock;

use annals::{Action, IdempotencyKey, InstanceId, Receipt, Transaction, action};
use http::StatusCode;

use crate::answer;
use crate::bounds::heavy::heavy;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, Target, commit};
use crate::request::conditions::Conditions;
use crate::request::door::Door;

/// The fact of a problem: how many entities are left.
const LEFT: &str = "left";
/// Entities of one step.
const STEP_ENTITIES: usize = 1_000;

/// A deletion, or a purge, in steps.
struct Steps {
    door: Arc<Door>,
    signature: Signature,
    conditions: Conditions,
    container: InstanceId,
    is_purge: bool,
}

/// Deletes, or purges, an entity with everything that it contains: children before their containers, so that each step leaves a
/// sound tree.
///
/// Errors: `forbidden` for a client with grants; those of the commits; `partly-written` if some are left when a part of the time
/// of a request is over, or a later step is refused, and then the same request goes on. The steps before stay done.
pub async fn delete_in_steps(call: Box<Call>, container: InstanceId, is_purge: bool) -> Outcome {
    call.check_reads_all()?;
    if call.query.get("candidate").is_some() {
        return Err(Problem::invalid("inSteps: expected no candidate, found one; each step is a commit"));
    }
    call.wait_visible().await?;
    let (signature, conditions) = (Signature::of(&call)?, Conditions::of(&call)?);
    let steps = Steps { door: Arc::clone(&call.door), signature, conditions, container, is_purge };
    drop(call);
    let mut has_begun = false;
    let outcome = commit_steps(&Arc::new(steps), &mut has_begun).await;
    outcome.map_err(|problem| if has_begun { problem.after_a_part() } else { problem })
}

/// Commits the steps. `has_begun` is true once one is committed.
async fn commit_steps(steps: &Arc<Steps>, has_begun: &mut bool) -> Outcome {
    let end = Clock::now() + steps.door.bounds.limits.request_time / 2;
    loop {
        let known = Arc::clone(steps);
        let mut contained = heavy(&steps.door.bounds, move || known.contained()).await?;
        // The rest goes along with the container: also what was put into it meanwhile.
        while contained.len() > STEP_ENTITIES {
            if *has_begun && Clock::now() >= end {
                let left = contained.len();
                let text = format!(
                    "inSteps: a part is deleted, {left} entities are left; send the request again to go on"
                );
                return Err(Problem::busy(text).with(LEFT, left));
            }
            commit_step(steps, contained.split_off(contained.len() - STEP_ENTITIES), None).await?;
            *has_begun = true;
        }
        let known = Arc::clone(steps);
        let left = heavy(&steps.door.bounds, move || known.contained()).await?;
        if left.len() <= STEP_ENTITIES {
            // Order: the key comes with the last step, so that a repeat of a request that was broken off goes on.
            let key = steps.signature.target.key;
            let receipt = commit_step(steps, vec![steps.container.clone()], key).await?;
            return Ok(answer::json(StatusCode::OK, &answer::receipt_to_json(&receipt), receipt.position));
        }
    }
}

/// Commits the deletion of these entities, the last ones first, as far as they are still there.
async fn commit_step(
    steps: &Arc<Steps>,
    mut entities: Vec<InstanceId>,
    key: Option<IdempotencyKey>,
) -> Result<Receipt, Problem> {
    entities.reverse();
    let (known, target) = (Arc::clone(steps), steps.signature.target.clone());
    let target = Target { candidate: None, key, ..target };
    let build = move |transaction: &mut Transaction| known.push(transaction, &entities);
    Ok(commit(&steps.door, Weight::Heavy, target, Box::new(build)).await?.1)
}

impl Steps {
    fn action(&self, instance: &InstanceId) -> Action {
        match self.is_purge {
            true => action::Purge { instance: instance.clone() }.into(),
            false => action::Delete { instance: instance.clone() }.into(),
        }
    }

    /// The entities that go along with the container; containers before their children.
    fn contained(&self) -> Result<Vec<InstanceId>, Problem> {
        let mut transaction = self.door.repository()?.transaction();
        let along = transaction.taken_along(&self.action(&self.container))?;
        Ok(along.into_iter().filter(|one| matches!(one, InstanceId::Entity(_))).collect())
    }

    fn push(&self, transaction: &mut Transaction, entities: &[InstanceId]) -> Result<(), Problem> {
        self.signature.sign(transaction);
        self.conditions.check_in(transaction.view()?, &self.container)?;
        for entity in entities {
            let base = transaction.base();
            let is_there = match entity {
                InstanceId::Entity(id) if !self.is_purge => base.entity(id)?.is_some(),
                _ => base.revision(entity).is_some(),
            };
            if is_there || *entity == self.container {
                transaction.push_action(self.action(entity))?;
            }
        }
        Ok(())
    }
}
