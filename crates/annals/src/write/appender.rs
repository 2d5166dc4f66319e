//! The appender: one thread that makes batches durable, publishes them and tells their committers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use super::queue::{Batch, Committer, panicked};
use super::ticket::Receipt;
use crate::{Error, ErrorKind};

/// Runs until the sequencer is done and everything handed over is written.
pub(super) fn run(committer: Arc<Committer>) {
    loop {
        let mut state = committer.state();
        let batch = loop {
            if let Some(batch) = state.handed_over.take() {
                break batch;
            }
            if state.is_sequencer_done {
                return;
            }
            state = committer.appender.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.is_appending = true;
        drop(state);
        let outcome = catch_unwind(AssertUnwindSafe(|| write(&committer, batch)));
        if outcome.is_err() {
            // The log is somebody else's code; a panic in it must not leave everybody waiting.
            committer.state().failed = Some(panicked());
            free(&committer);
        }
    }
}

/// Appends, publishes, tells: in this order, so nobody sees what is not durable.
fn write(committer: &Committer, batch: Batch) {
    let records: Vec<&[u8]> = batch.sequenced.iter().map(|sequenced| &*sequenced.bytes).collect();
    let at = batch.sequenced[0].position;
    let outcome = committer.source.log().append(at, &records);
    match outcome {
        Ok(()) => {
            committer.publish(Arc::clone(&batch.graph));
            free(committer);
            for sequenced in &batch.sequenced {
                let receipt =
                    Receipt { position: sequenced.position, instant: sequenced.request.record.instant };
                sequenced.request.ticket.complete(Ok(receipt));
            }
        }
        Err(error) if error.kind() == ErrorKind::Conflict => {
            committer.state().returned = Some(batch);
            free(committer);
        }
        Err(error) => {
            let error = refusal(&error);
            committer.state().failed = Some(error.duplicate());
            free(committer);
            for sequenced in &batch.sequenced {
                sequenced.request.ticket.complete(Err(error.duplicate()));
            }
        }
    }
}

/// Tells the sequencer that the device is free.
fn free(committer: &Committer) {
    committer.state().is_appending = false;
    committer.sequencer.notify_one();
}

fn refusal(error: &Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the log failed while appending; whether the last transactions are durable is unknown; \
         writes are refused until the repository is reopened",
    )
    .caused_by(error.to_string())
}
