//! Leads what is queued to the log: sequences, appends, publishes and tells, on whichever thread is free.
//!
//! Two roles go from thread to thread. Whoever has the sequencer gives positions; whoever has the device appends. A
//! leader gives the sequencer back the moment it has the device, so while one batch is synced, the next is checked
//! and applied to a graph that nobody sees yet. A batch takes what has come until the device is free, so batches
//! grow just as long as the device is slow, without a setting.
//!
//! A thread that commits while nothing is under way leads its own transaction, without a change of threads. As soon
//! as there is a queue, the committing threads of the repository lead.

use super::outcome::{refuse, tell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant as Clock};

use super::queue::{Committer, Returned, State};
use super::request::Work;
use super::request::panicked;
use super::sequencer::{Batch, Sequencer};
use super::ticket::{Receipt, Ticket};
use crate::sync::MutexGuard;
use crate::{Error, ErrorKind, Result};

/// A longer list of a batch is freed when the batch is told.
const SPARE_MAX: usize = 1 << 16;

/// A thread of the repository waits for as many as it has told this part of the time their append took, at most.
const PATIENCE_PART: u32 = 4;
const PATIENCE_MAX: Duration = Duration::from_micros(100);

/// Who leads.
#[derive(Clone, Copy)]
pub(super) enum Leader {
    /// The thread that has told others before, and looks at the queue again when it is done.
    Own(Told),
    /// A thread that has other things to do then.
    Other,
}

impl Leader {
    /// Who is expected to commit again at once, so that one sync does for them, where it would take two.
    fn expected(self) -> Told {
        match self {
            Leader::Own(told) => told,
            Leader::Other => Told::default(),
        }
    }
}

/// What one batch came to.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    /// How many were waiting for it, threads and callbacks.
    waiting: usize,
    /// How long it pays to wait for them.
    patience: Duration,
}

impl Committer {
    /// Queues a transaction, and leads it on this thread if nothing else is under way.
    pub(super) fn enqueue_or_lead(&self, work: Box<Work>) -> Result<Ticket> {
        let (mut state, ticket) = self.push(work, true)?;
        // A thread that is called commits several at once; a batch of one would only keep the device from it.
        let is_alone = state.requests.len() == 1 && !state.is_appending && !state.is_called;
        let sequencer = if is_alone { state.sequencer.take() } else { None };
        match sequencer {
            Some(sequencer) => {
                drop(state);
                lead(self, sequencer, Leader::Other);
            }
            None => self.call(state),
        }
        Ok(ticket)
    }
}

/// Starts the threads that commit. They end after [`Committer::close`], when all that was accepted is written.
pub(crate) fn start(committer: &Arc<Committer>) -> Result<Vec<std::thread::JoinHandle<()>>> {
    let sequencer = Sequencer::new(committer);
    committer.state().sequencer = Some(Box::new(sequencer));
    let spawn = |name: &str, run: fn(&Committer)| {
        let committer = Arc::clone(committer);
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || run(&committer))
            .map_err(|source| Error::io(format!("start the thread {name}"), source))
    };
    Ok(vec![spawn("annals-commit", run)?, spawn("annals-ahead", run_ahead)?])
}

/// Leads whenever there is something to do, until the repository is closed or the log fails.
pub(super) fn run(committer: &Committer) {
    let mut told = Told::default();
    let mut state = committer.state();
    while !state.is_over() {
        state.is_called = false;
        if (told.waiting > 0 || state.has_work())
            && let Some(sequencer) = state.sequencer.take()
        {
            drop(state);
            told = lead(committer, sequencer, Leader::Own(told));
            state = committer.state();
        } else {
            told = Told::default();
            state.is_resting = true;
            state = committer.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.is_resting = false;
        }
    }
}

/// Sequences ahead while another thread has the device and much is queued, until the same.
pub(super) fn run_ahead(committer: &Committer) {
    let mut state = committer.state();
    while !state.is_over() {
        if state.is_ahead_due()
            && let Some(sequencer) = state.sequencer.take()
        {
            drop(state);
            lead(committer, sequencer, Leader::Other);
            state = committer.state();
        } else {
            state.is_ahead_called = false;
            state = committer.ahead.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Brings one batch from the queue to its tickets.
pub(super) fn lead(committer: &Committer, sequencer: Box<Sequencer>, leader: Leader) -> Told {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        sequence(committer, sequencer, leader)
            .map(|batch| append(committer, batch, leader))
            .unwrap_or_default()
    }));
    // Our own mistake must not leave everybody waiting either.
    outcome.unwrap_or_else(|_| {
        committer.fail(&panicked());
        Told::default()
    })
}

/// Sequences what is queued until the device is free.
///
/// Shape: the batch, with the right to append it; `None` if there is nothing to append.
fn sequence(committer: &Committer, mut sequencer: Box<Sequencer>, leader: Leader) -> Option<Batch> {
    let expected = leader.expected();
    let start = Clock::now();
    let mut refused = Vec::new();
    let mut state = committer.state();
    loop {
        if let Some(error) = &state.failed {
            let error = error.duplicate();
            drop(state);
            tell(refused);
            refuse(sequencer.give_up(), &error);
            return None;
        }
        if let Some(batch) = state.returned.take() {
            drop(state);
            match batch {
                Returned::Overtaken(lost) => sequencer.sequence_again(committer, lost),
                Returned::Refused(lost, error) => sequencer.take_back(committer, lost, &error),
            }
            state = committer.state();
        } else if !state.is_appending && sequencer.is_empty() && state.replacement.is_some() {
            let replacement = state.replacement.take();
            drop(state);
            if let Some((graph, done)) = replacement {
                // Whoever asked may be gone.
                let _ = done.send(sequencer.replace_graph(committer, graph));
            }
            state = committer.state();
        } else if !state.requests.is_empty()
            && state.replacement.is_none()
            && !sequencer.is_full()
            && (state.is_appending || !sequencer.is_worth_appending())
        {
            let taken = sequencer.take(&mut state);
            committer.make_room(state);
            refused.extend(sequencer.sequence_all(taken));
            state = committer.state();
        } else if sequencer.len() + refused.len() < expected.waiting && start.elapsed() < expected.patience {
            drop(state);
            std::thread::yield_now();
            state = committer.state();
        } else if !refused.is_empty() {
            drop(state);
            tell(std::mem::take(&mut refused));
            state = committer.state();
        } else if sequencer.is_empty() {
            state.sequencer = Some(sequencer);
            committer.call(state);
            return None;
        } else if state.is_appending {
            state.is_device_awaited = true;
            state = committer.device.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.is_device_awaited = false;
        } else {
            break;
        }
    }
    let batch = sequencer.hand_over(std::mem::take(&mut state.spare));
    state.gate = Arc::default();
    state.is_appending = true;
    state.sequencer = Some(sequencer);
    committer.call(state);
    Some(batch)
}

/// Appends, publishes, tells: in this order, so nobody sees what is not durable.
fn append(committer: &Committer, batch: Batch, leader: Leader) -> Told {
    let Batch { mut sequenced, graph, events } = batch;
    if let Err(error) = committer.publisher.wait_for_room() {
        committer.fail(&error);
        free(committer, committer.state(), leader);
        refuse(sequenced.into_iter().map(|sequenced| sequenced.request), &error);
        return Told::default();
    }
    let start = Clock::now();
    let records: Vec<&[u8]> =
        sequenced.iter().map(|sequenced| sequenced.request.work.body.record()).collect();
    let at = sequenced[0].position;
    // The log is somebody else's code, and it may panic.
    let outcome = catch_unwind(AssertUnwindSafe(|| committer.source.log().append(at, &records)));
    match outcome.unwrap_or_else(|_| Err(panicked())) {
        Ok(()) => {
            let patience = (start.elapsed() / PATIENCE_PART).min(PATIENCE_MAX);
            let before = committer.publish(graph, events);
            let mut state = committer.state();
            state.note_append(None);
            free(committer, state, leader);
            let waiting = tell(sequenced.drain(..).map(|sequenced| {
                let instant = sequenced.request.work.record.instant;
                (sequenced.request, Ok(Receipt { position: sequenced.position, instant }))
            }));
            // Order: nobody waits while what only the graph before held is freed.
            drop(before);
            if sequenced.capacity() <= SPARE_MAX {
                committer.state().spare = sequenced;
            }
            Told { waiting, patience }
        }
        Err(error) if error.kind() == ErrorKind::Conflict || error.kind().leaves_nothing() => {
            // Order: whoever takes the batch back goes on in place of this graph, which nobody may have then.
            drop(graph);
            let mut state = committer.state();
            state.returned = Some(if error.kind() == ErrorKind::Conflict {
                Returned::Overtaken(sequenced)
            } else {
                state.note_append(Some(&error));
                Returned::Refused(sequenced, error)
            });
            free(committer, state, leader);
            Told::default()
        }
        Err(error) => {
            let error = refusal(&error);
            committer.fail(&error);
            free(committer, committer.state(), leader);
            refuse(sequenced.into_iter().map(|sequenced| sequenced.request), &error);
            Told::default()
        }
    }
}

/// Lets the next batch have the device.
fn free(committer: &Committer, mut state: MutexGuard<'_, State>, leader: Leader) {
    state.is_appending = false;
    state.is_called |= matches!(leader, Leader::Own(_));
    if state.is_device_awaited {
        drop(state);
        committer.device.notify_one();
    } else {
        committer.call(state);
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
