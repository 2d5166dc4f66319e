//! Transactions that are tried again when they lose a race.

use std::sync::Arc;
use std::time::Duration;

use super::queue::Committer;
use super::ticket::Receipt;
use super::transaction::{RETRIES_MAX, Transaction};
use crate::{ErrorKind, Result};

/// Longest time a transaction that lost a race waits to see the winner before it is tried again.
const WINNER_WAIT: Duration = Duration::from_millis(50);
/// Retries that are made at once: most losers win the next race.
const RETRIES_AT_ONCE: usize = 3;
/// Longest pause between two retries. A hundred of them are under half a second.
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(4);

/// Runs `work` in a transaction and commits it; runs it again, on a fresh snapshot, when it loses a race.
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
                // The winner may still be on its way to the log: a snapshot without it would lose again.
                if error.kind() == ErrorKind::Conflict {
                    committer.wait_for(base.next(), WINNER_WAIT);
                }
                pause(retries);
            }
            outcome => return outcome,
        }
    }
}

/// Lets the winners go ahead, so that a writer that is always a little slower gets its turn.
fn pause(retries: usize) {
    if let Some(doublings) = retries.checked_sub(RETRIES_AT_ONCE + 1) {
        let pause = Duration::from_micros(50 << doublings.min(7));
        std::thread::sleep(pause.min(RETRY_PAUSE_MAX));
    }
}
