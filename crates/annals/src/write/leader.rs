//! Brings what is queued to the log: sequences, appends, publishes and tells, one batch after the other.
//!
//! A thread of the repository does it. The next batch is what has come meanwhile, so batches grow just as long as the
//! log is slow, without a setting. A caller that commits while nothing is queued or under way does it itself for its
//! own transaction, without a change of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use super::outcome::{refuse, tell};
use super::queue::Committer;
use super::request::{Work, panicked};
use super::sequencer::{Batch, Sequencer};
use super::ticket::{Receipt, Ticket};
use crate::{Error, ErrorKind, Result};

impl Committer {
    /// Commits a transaction on this thread if nothing is queued or under way, and queues it otherwise.
    pub(super) fn enqueue_or_lead(&self, work: Box<Work>) -> Result<Ticket> {
        let (mut state, ticket) = self.push(work, true)?;
        let is_alone = state.requests.len() == 1 && state.replacement.is_none();
        match state.sequencer.take_if(|_| is_alone) {
            Some(sequencer) => {
                // Only its own: callbacks of others are called by the thread of the repository, and may close it.
                let own = sequencer.take(&mut state);
                state.gate = Arc::default();
                drop(state);
                self.lead(sequencer, |sequencer| tell(sequencer.sequence_all(own)));
            }
            None => self.call(state),
        }
        Ok(ticket)
    }

    /// Commits one batch, which `gather` sequences.
    fn lead(&self, mut sequencer: Box<Sequencer>, gather: impl FnOnce(&mut Sequencer)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            gather(&mut sequencer);
            if !sequencer.is_empty() {
                append(self, &mut sequencer);
            }
        }));
        // Our own mistake must not leave everybody waiting either.
        if outcome.is_err() {
            return self.fail(&panicked());
        }
        let mut state = self.state();
        state.sequencer = Some(sequencer);
        self.call(state);
    }

    /// Waits for work. Shape: the right to do it; `None` if nothing more will come.
    fn next_work(&self) -> Option<Box<Sequencer>> {
        let mut state = self.state();
        loop {
            if state.failed.is_some() {
                return None;
            }
            // What another thread has under way is looked at when it is done.
            if state.sequencer.is_some() {
                if state.has_work() {
                    return state.sequencer.take();
                }
                if state.is_closing {
                    return None;
                }
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Starts the thread that commits. It ends after [`Committer::close`], when all that was accepted is written.
pub(crate) fn start(committer: &Arc<Committer>) -> Result<Vec<std::thread::JoinHandle<()>>> {
    let sequencer = Sequencer::new(committer);
    committer.state().sequencer = Some(Box::new(sequencer));
    let name = "annals-commit";
    let committer = Arc::clone(committer);
    let thread = std::thread::Builder::new()
        .name(name.into())
        .spawn(move || run(&committer))
        .map_err(|source| Error::io(format!("start the thread {name}"), source))?;
    Ok(vec![thread])
}

/// Commits whatever is queued, until the repository is closed or the log fails.
pub(super) fn run(committer: &Committer) {
    while let Some(sequencer) = committer.next_work() {
        committer.lead(sequencer, |sequencer| sequence(committer, sequencer));
    }
}

/// Sequences what is queued, and what comes meanwhile, as far as it fits the batch.
fn sequence(committer: &Committer, sequencer: &mut Sequencer) {
    let replacement = committer.state().replacement.take();
    if let Some((graph, done)) = replacement {
        // Whoever asked may be gone.
        let _ = done.send(sequencer.replace_graph(committer, graph));
    }
    loop {
        let mut state = committer.state();
        if state.requests.is_empty() || sequencer.is_full() {
            state.gate = Arc::default();
            break;
        }
        let taken = sequencer.take(&mut state);
        drop(state);
        committer.room.notify_all();
        tell(sequencer.sequence_all(taken));
    }
}

/// Appends, publishes, tells: in this order, so nobody sees what is not durable.
fn append(committer: &Committer, sequencer: &mut Sequencer) {
    let Batch { sequenced, graph } = sequencer.hand_over();
    let records: Vec<&[u8]> =
        sequenced.iter().map(|sequenced| sequenced.request.work.body.record()).collect();
    let at = sequenced[0].position;
    // The log is somebody else's code, and it may panic.
    let outcome = catch_unwind(AssertUnwindSafe(|| committer.source.log().append(at, &records)));
    match outcome.unwrap_or_else(|_| Err(panicked())) {
        Ok(()) => {
            let behind = graph.behind();
            let before = committer.publish(graph);
            committer.state().note_append(None);
            tell(sequenced.into_iter().map(|sequenced| {
                let instant = sequenced.request.work.record.instant;
                (sequenced.request, Ok(Receipt { position: sequenced.position, instant }))
            }));
            // Order: nobody waits while what only the graph before held is freed.
            drop(before);
            behind.into_iter().for_each(|behind| behind.catch_up());
        }
        Err(error) if error.kind() == ErrorKind::Conflict => {
            // Order: the sequencer goes on in place of this graph, which nobody may have then.
            drop(graph);
            sequencer.sequence_again(committer, sequenced);
        }
        Err(error) if error.kind().leaves_nothing() => {
            // Order: as above.
            drop(graph);
            committer.state().note_append(Some(&error));
            sequencer.take_back(committer, sequenced, &error);
        }
        Err(error) => {
            let error = refusal(&error);
            committer.fail(&error);
            refuse(sequenced.into_iter().map(|sequenced| sequenced.request), &error);
        }
    }
}

fn refusal(error: &Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the log failed while appending; whether the last transactions are durable is unknown; \
         writes are refused until the repository is reopened",
    )
    .caused_by(error.to_string())
}
