//! Commits: sequences the queue, appends, publishes and reports outcomes, one batch after the other.
//!
//! A thread of the repository does this. While it appends one batch, callers queue the next; so batches grow when the
//! log is slow, without a setting. If nothing is queued or in progress, a caller commits its own transaction on its own
//! thread, without a switch of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Instant as Clock;

use super::outcome::{refuse, tell};
use super::queue::Committer;
use super::request::{Work, panicked};
use super::sequencer::{Batch, InDoubt, Pending, Sequencer};
use super::stall::unknown;
use super::ticket::{Receipt, Ticket};
use crate::log::{Appended, Call, Token};
use crate::protection::Protection;
use crate::{Error, ErrorKind, Result};

impl Committer {
    /// Commits a transaction on this thread if nothing is queued or in progress, and queues it otherwise.
    pub(in crate::write) fn enqueue_or_lead(&self, work: Box<Work>) -> Result<Ticket> {
        let (mut state, ticket) = self.push(work, true)?;
        let is_alone = state.requests.len() == 1 && state.replacement.is_none();
        match state.sequencer.take_if(|sequencer| is_alone && sequencer.pending.is_none()) {
            Some(sequencer) => {
                // Only this transaction: a callback of another one may close the repository, and closing waits for the
                // sequencer.
                let own = sequencer.take(&mut state);
                state.gate = Arc::default();
                drop(state);
                self.lead(sequencer, |sequencer| tell(sequencer.sequence_all(own)));
            }
            None => self.call(state),
        }
        Ok(ticket)
    }

    /// Commits one batch, which `gather` sequences, and returns the sequencer.
    fn lead(&self, mut sequencer: Box<Sequencer>, gather: impl FnOnce(&mut Sequencer)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            gather(&mut sequencer);
            if !sequencer.is_empty() {
                append(self, &mut sequencer);
            }
            sequencer.knows_outcomes()
        }));
        match outcome {
            Ok(true) => self.settled.landed(),
            Ok(false) => {}
            // Even after a panic in this code, no thread may wait for ever. The batch of the sequencer is lost with it.
            Err(_) => {
                self.fail(&refusal(&panicked()));
                sequencer = Box::new(Sequencer::new(self));
                sequencer.is_lost = true;
            }
        }
        let mut state = self.state();
        state.sequencer = Some(sequencer);
        self.call(state);
    }

    /// Goes on with what comes before the next batch. True if that may begin.
    fn try_again(&self, sequencer: &mut Sequencer) -> bool {
        match sequencer.pending.take() {
            None => {}
            Some(Pending::Call(in_doubt)) => send(self, sequencer, *in_doubt, true),
            Some(Pending::Records) => sequencer.read_others(self),
        }
        self.tell_stall(sequencer);
        sequencer.pending.is_none()
    }

    /// Once the log has not answered for too long: refuses what is queued, and tells the transactions of the latest call
    /// that their outcome is unknown. When the repository is being closed, gives up.
    fn tell_stall(&self, sequencer: &mut Sequencer) {
        let mut state = self.state();
        let is_closing = state.is_closing;
        let patience = self.limits.log_patience;
        let Some(stall) = state.stall.as_mut().filter(|stall| stall.is_long(patience)) else { return };
        let (is_first, refusal, unknown) = (stall.tell(), stall.refusal(), stall.unknown());
        if sequencer.pending.is_none() {
            // The next write finds out whether it is over.
            state.stall = None;
        }
        let queued = std::mem::take(&mut state.requests);
        state.bytes = 0;
        drop(state);
        self.room.notify_all();
        refuse(queued, &refusal);
        if let Some(Pending::Call(in_doubt)) = &sequencer.pending {
            in_doubt.batch.sequenced.iter().for_each(|sequenced| sequenced.request.give_up(&unknown));
        }
        if is_closing && sequencer.pending.is_some() {
            sequencer.is_lost = !sequencer.knows_outcomes();
            sequencer.pending = None;
            return self.fail(&refusal);
        }
        if is_first && sequencer.pending.is_some() {
            self.report_refusal(Some(&refusal));
        }
    }

    /// Waits for work. Shape: `None` if no more work will come.
    fn next_work(&self) -> Option<Box<Sequencer>> {
        let mut state = self.state();
        while !state.is_over() {
            if let Some(rest) = self.rest(&state) {
                state = self.work.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            if state.has_work()
                && let Some(sequencer) = state.sequencer.take()
            {
                return Some(sequencer);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }
}

/// Lets callers commit on their own threads. Without the committing thread only one of them may do so at a time.
pub(crate) fn prepare(committer: &Arc<Committer>) {
    committer.state().sequencer = Some(Box::new(Sequencer::new(committer)));
}

/// Starts the committing thread. It ends after [`Committer::close`], when the log has every accepted transaction, or has
/// failed.
pub(crate) fn start(committer: &Arc<Committer>) -> Result<Vec<std::thread::JoinHandle<()>>> {
    prepare(committer);
    let name = "annals-commit";
    let committer = Arc::clone(committer);
    let thread = std::thread::Builder::new()
        .name(name.into())
        .spawn(move || run(&committer))
        .map_err(|source| Error::io(format!("start the thread {name}"), source))?;
    Ok(vec![thread])
}

/// Commits queued transactions until the repository is closed.
pub(super) fn run(committer: &Committer) {
    while let Some(sequencer) = committer.next_work() {
        committer.lead(sequencer, |sequencer| {
            if committer.try_again(sequencer) {
                sequence(committer, sequencer);
            }
        });
    }
}

/// Sequences the queue, and transactions that arrive meanwhile, up to the bounds of the batch.
fn sequence(committer: &Committer, sequencer: &mut Sequencer) {
    let replacement = committer.state().replacement.take();
    if let Some((graph, done)) = replacement {
        // The caller may be gone.
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

/// Appends, publishes, reports: in this order, so that no reader sees a record that is not durable.
fn append(committer: &Committer, sequencer: &mut Sequencer) {
    let batch = sequencer.hand_over();
    if let Err(error) = committer.publisher.wait_for_room() {
        committer.fail(&error);
        return refuse(batch.sequenced.into_iter().map(|sequenced| sequenced.request), &error);
    }
    let token = sequencer.next_token();
    send(committer, sequencer, InDoubt { batch, token }, false);
}

/// Sends a call to the log, for the first time or again, and does what its outcome asks for.
pub(super) fn send(committer: &Committer, sequencer: &mut Sequencer, mut in_doubt: InDoubt, is_again: bool) {
    if !is_again && !Protection::Durable.is_kept() {
        let batch = &mut in_doubt.batch;
        committer.publish(batch.graph.clone(), std::mem::take(&mut batch.events));
    }
    let is_same = !is_again || Protection::Token.is_kept();
    let token = if is_same { in_doubt.token } else { Token::random() };
    let sequenced = &in_doubt.batch.sequenced;
    let records: Vec<&[u8]> =
        sequenced.iter().map(|sequenced| sequenced.request.work.body.record()).collect();
    let call = Call { at: sequenced[0].position, token, term: committer.term(), records: &records };
    let start = Clock::now();
    // The log may be code of the application, and it may panic.
    let outcome = catch_unwind(AssertUnwindSafe(|| committer.source.log().append_call(&call)));
    match outcome.unwrap_or_else(|_| Appended::Lost(panicked())) {
        Appended::Unknown(error) if !Protection::Unknown.is_kept() => {
            let Batch { sequenced, graph, .. } = in_doubt.batch;
            drop(graph);
            sequencer.withdraw(committer, sequenced, &error);
        }
        Appended::Stored => {
            if let Some(observer) = &committer.observer {
                observer.appended(records.len(), start.elapsed());
            }
            let Batch { sequenced, graph, events } = in_doubt.batch;
            let before = Protection::Durable.is_kept().then(|| committer.publish(graph, events));
            // Order: before the outcomes are reported, so that a client that has one reads as of now at once.
            committer.settled.landed();
            committer.note_append(None);
            tell(sequenced.into_iter().map(|sequenced| {
                let instant = sequenced.request.work.record.instant;
                (sequenced.request, Ok(Receipt { position: sequenced.position, instant }))
            }));
            // Order: drop the old graph after the outcomes are reported, so that no thread waits while its memory is
            // freed.
            drop(before);
        }
        Appended::Taken => {
            let Batch { sequenced, graph, .. } = in_doubt.batch;
            // Order: the sequencer replaces this graph, and no other thread may hold it then.
            drop(graph);
            sequencer.sequence_again(committer, sequenced);
        }
        Appended::Refused(error) if !is_again => {
            let Batch { sequenced, graph, .. } = in_doubt.batch;
            // Order: as above.
            drop(graph);
            if error.kind().leaves_nothing() {
                committer.note_append(Some(&error));
            }
            sequencer.withdraw(committer, sequenced, &error);
        }
        // A refusal of this try says nothing about an earlier one, which may be under way.
        Appended::Refused(error) | Appended::Unknown(error) => {
            sequencer.pending = Some(Pending::Call(Box::new(in_doubt)));
            committer.note_stall(&error);
        }
        Appended::Lost(error) => {
            sequencer.is_lost = true;
            committer.fail(&refusal(&error));
            refuse(in_doubt.batch.sequenced.into_iter().map(|sequenced| sequenced.request), &unknown(&error));
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
