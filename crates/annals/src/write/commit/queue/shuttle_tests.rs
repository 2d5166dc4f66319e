//! The committer in many orders of the steps of its threads: no thread waits for an event that has happened.

use shuttle::thread;

use super::*;
use crate::NewEntity;
use crate::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use crate::memory::Memory;
use crate::sync::in_many_orders;
use crate::write::Receipt;
use crate::write::Transaction;
use crate::write::commit::leader::run;

const LONG: Duration = Duration::from_secs(3_600);

fn committer(queue_transactions: usize, log: impl Log + 'static) -> Arc<Committer> {
    let source = Source::new(Arc::new(log), Arc::new(Memory::new(None)));
    let limits = Limits { queue_transactions, queue_bytes: 1 << 20, log_patience: Duration::from_secs(10) };
    let clock = Arc::new(crate::Instant::now);
    let empty = Indexed::new(Graph::with_spill(None), Arc::default());
    Arc::new(Committer::new(empty, Arc::new(source), None, clock, None, limits, None))
}

fn graph_at(position: u64) -> Graph {
    let mut graph = Graph::with_spill(None);
    graph.position = Position(position);
    graph
}

#[test]
fn whoever_waits_for_a_position_learns_of_it() {
    in_many_orders(|| {
        let committer = committer(8, MemoryLog::new());
        let waiting: Vec<_> = [1, 2, 2]
            .map(|position| {
                let committer = Arc::clone(&committer);
                thread::spawn(move || assert!(committer.wait_for(Position(position), LONG)))
            })
            .into();
        for position in 1..=2 {
            committer.publish(graph_at(position), EventBatch::default());
        }
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn whoever_waits_for_a_position_learns_of_closing() {
    in_many_orders(|| {
        let committer = committer(8, MemoryLog::new());
        let waiting = {
            let committer = Arc::clone(&committer);
            thread::spawn(move || committer.wait_for(Position(1), LONG))
        };
        committer.close();
        assert!(!waiting.join().unwrap());
    });
}

/// Two threads commit, if possible on their own thread, another one submits; then all is closed.
/// Shape: the committer, and the outcome of each thread.
fn commit_from_three(
    queue_transactions: usize,
    log: impl Log + 'static,
) -> (Arc<Committer>, Vec<Result<Receipt>>) {
    let committer = committer(queue_transactions, log);
    let sequencer = Sequencer::new(&committer);
    committer.state().sequencer = Some(Box::new(sequencer));
    let running = {
        let committer = Arc::clone(&committer);
        thread::spawn(move || run(&committer))
    };
    let committing: Vec<_> = (0..3)
        .map(|number| {
            let committer = Arc::clone(&committer);
            thread::spawn(move || {
                let mut transaction = Transaction::new(Arc::clone(&committer), committer.snapshot());
                transaction.create_entity(NewEntity::new("t")).unwrap();
                let outcome = match number {
                    0 => transaction.submit().and_then(|ticket| ticket.wait()),
                    _ => transaction.commit(),
                };
                if let Ok(receipt) = &outcome {
                    assert!(committer.snapshot().position() >= receipt.position, "it is published");
                }
                outcome
            })
        })
        .collect();
    let told = committing.into_iter().map(|thread| thread.join().unwrap()).collect();
    committer.close();
    running.join().unwrap();
    (committer, told)
}

fn all_three_are_committed(queue_transactions: usize) {
    let (committer, told) = commit_from_three(queue_transactions, MemoryLog::new());
    let mut positions: Vec<u64> = told.into_iter().map(|receipt| receipt.unwrap().position.0).collect();
    positions.sort_unstable();
    assert_eq!(positions, [1, 2, 3]);
    assert_eq!(committer.snapshot().entities_count(), 3);
}

#[test]
fn commits_of_three_threads_are_told_and_the_committing_thread_ends() {
    in_many_orders(|| all_three_are_committed(8));
}

#[test]
fn threads_that_find_the_queue_full_get_their_turn() {
    in_many_orders(|| all_three_are_committed(1));
}

/// With room for one transaction, so that a thread may wait for room when the log fails.
#[test]
fn a_failure_of_the_log_is_told_to_all_threads_and_ends_the_committing_one() {
    in_many_orders(|| {
        let (committer, told) = commit_from_three(1, FailingLog);
        let kinds: Vec<ErrorKind> = told.into_iter().map(|error| error.unwrap_err().kind()).collect();
        // Of those that were sent nobody knows; the others were not.
        let is_told = |kind: &ErrorKind| matches!(kind, ErrorKind::OutcomeUnknown | ErrorKind::Unavailable);
        assert!(kinds.iter().all(is_told) && kinds.contains(&ErrorKind::OutcomeUnknown), "{kinds:?}");
        assert_eq!(committer.snapshot().position(), Position::ZERO);
    });
}

/// A log that fails while it appends.
struct FailingLog;

impl Log for FailingLog {
    fn tail(&self) -> Result<Position> {
        Ok(Position::ZERO)
    }

    fn append_call(&self, _: &Call<'_>) -> Appended {
        Appended::Lost(Error::new(ErrorKind::Unavailable, "on purpose"))
    }

    fn read(&self, _: Position, _: ReadLimit) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn describe(&self) -> String {
        "failing log".into()
    }
}
