//! The committer in many orders of the steps of its threads: nobody waits for what has happened.

use shuttle::thread;

use super::*;
use crate::NewEntity;
use crate::log::MemoryLog;
use crate::memory::Memory;
use crate::sync::in_many_orders;
use crate::write::Transaction;
use crate::write::leader::{run, run_ahead};

const LONG: Duration = Duration::from_secs(3_600);

fn committer(queue_transactions: usize) -> Arc<Committer> {
    let source = Source::new(Arc::new(MemoryLog::new()), Arc::new(Memory::new(None)));
    let limits = Limits { queue_transactions, queue_bytes: 1 << 20 };
    let clock = Arc::new(crate::Instant::now);
    Arc::new(Committer::new(Arc::new(Graph::with_spill(None)), Arc::new(source), clock, limits, None))
}

fn graph_at(position: u64) -> Arc<Graph> {
    let mut graph = Graph::with_spill(None);
    graph.position = Position(position);
    Arc::new(graph)
}

#[test]
fn whoever_waits_for_a_position_learns_of_it() {
    in_many_orders(|| {
        let committer = committer(8);
        let waiting: Vec<_> = [1, 2, 2]
            .map(|position| {
                let committer = Arc::clone(&committer);
                thread::spawn(move || assert!(committer.wait_for(Position(position), LONG)))
            })
            .into();
        for position in 1..=2 {
            committer.publish(graph_at(position));
        }
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn whoever_waits_for_a_position_learns_of_closing() {
    in_many_orders(|| {
        let committer = committer(8);
        let waiting = {
            let committer = Arc::clone(&committer);
            thread::spawn(move || committer.wait_for(Position(1), LONG))
        };
        committer.close();
        assert!(!waiting.join().unwrap());
    });
}

/// Two threads commit and lead where they can, another submits; then all is closed. Each transaction has a text of so many bytes.
fn commit_from_three(queue_transactions: usize, text_bytes: usize) {
    let committer = committer(queue_transactions);
    let sequencer = Sequencer::new(&committer);
    committer.state().sequencer = Some(Box::new(sequencer));
    let leading: Vec<_> = [run as fn(&Committer), run_ahead]
        .map(|run| {
            let committer = Arc::clone(&committer);
            thread::spawn(move || run(&committer))
        })
        .into();
    let committing: Vec<_> = (0..3)
        .map(|number| {
            let committer = Arc::clone(&committer);
            thread::spawn(move || {
                let mut transaction = Transaction::new(Arc::clone(&committer), committer.snapshot());
                let entity = NewEntity::new("t").property("text", "x".repeat(text_bytes));
                transaction.create_entity(entity).unwrap();
                let receipt = match number {
                    0 => transaction.submit().and_then(|ticket| ticket.wait()).unwrap(),
                    _ => transaction.commit().unwrap(),
                };
                assert!(committer.snapshot().position() >= receipt.position);
                receipt.position.0
            })
        })
        .collect();
    let mut positions: Vec<u64> = committing.into_iter().map(|thread| thread.join().unwrap()).collect();
    committer.close();
    leading.into_iter().for_each(|thread| thread.join().unwrap());
    positions.sort_unstable();
    assert_eq!(positions, [1, 2, 3]);
    assert_eq!(committer.snapshot().entities_count(), 3);
}

#[test]
fn threads_that_find_the_queue_full_get_their_turn() {
    in_many_orders(|| commit_from_three(1, 1));
}

/// One such transaction is enough for another thread to sequence ahead while the device is busy.
#[test]
fn a_thread_that_sequences_ahead_gets_the_device() {
    in_many_orders(|| commit_from_three(8, AHEAD_BYTES_MIN));
}
