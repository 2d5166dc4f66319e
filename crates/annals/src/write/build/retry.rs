//! Repeats transactions after conflicts.

use std::sync::Arc;
use std::time::Duration;

use super::transaction::{RETRIES_MAX, Transaction};
use crate::write::commit::queue::Committer;
use crate::write::commit::ticket::Receipt;
use crate::{ErrorKind, Result};

/// Longest time that a transaction waits to see the transaction that conflicted with it, before it is repeated.
const WINNER_WAIT: Duration = Duration::from_millis(50);
/// Number of retries without a pause: most of them succeed.
const RETRIES_AT_ONCE: usize = 3;
/// Longest pause between two retries. A hundred retries take less than half a second.
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(4);

/// Runs `work` in a transaction and commits it. After a conflict it runs `work` again, on a fresh snapshot.
pub(crate) fn transact<T>(
    committer: &Arc<Committer>,
    mut work: impl FnMut(&mut Transaction) -> Result<T>,
) -> Result<(T, Receipt)> {
    let mut retries = 0;
    loop {
        let mut transaction = Transaction::new(Arc::clone(committer), committer.snapshot());
        let base = transaction.base().position();
        let outcome =
            work(&mut transaction).and_then(|result| transaction.commit().map(|receipt| (result, receipt)));
        match outcome {
            Err(error) if error.kind().is_retryable() && retries < RETRIES_MAX => {
                retries += 1;
                // The transaction that won may not be visible yet: a snapshot without it would conflict again.
                if error.kind() == ErrorKind::Conflict {
                    committer.wait_for(base.next(), WINNER_WAIT);
                }
                pause(retries);
            }
            outcome => return outcome,
        }
    }
}

/// Pauses, so that a slower writer also succeeds.
fn pause(retries: usize) {
    if let Some(doublings) = retries.checked_sub(RETRIES_AT_ONCE + 1) {
        let pause = Duration::from_micros(50 << doublings.min(7));
        std::thread::sleep(pause.min(RETRY_PAUSE_MAX));
    }
}
