//! The index thread and the publishing threads, in many orders of their steps: no published event is lost, and none is
//! taken twice.

use shuttle::thread;

use super::*;
use crate::Position;
use crate::graph::index::event::{Correct, Event, Told};
use crate::sync::in_many_orders;

const BATCHES: u64 = 3;

fn graph_at(position: u64) -> Graph {
    Graph { position: Position(position), ..Graph::with_spill(None) }
}

fn batch_at(position: u64) -> EventBatch {
    let slot = u32::try_from(position).unwrap();
    let written = i64::from(slot);
    let event = Event::Correct(Correct { slot, written, values: Vec::new(), classified: Vec::new() });
    EventBatch {
        position: Position(position),
        entities: [Told::One(event)].into_iter().collect(),
        events_count: 1,
        ..EventBatch::default()
    }
}

fn keys_count(indexed: &Indexed) -> usize {
    indexed.settled().unwrap().indexes.entities.get().unwrap().times.past_updated().len()
}

/// The publisher of an empty graph. Another thread updates the indexes several times while `publish` publishes.
fn published(publish: impl FnOnce(&Publisher)) -> Arc<Publisher> {
    let publisher = Arc::new(Publisher::new(Indexed::new(graph_at(0), Arc::default())));
    let indexing = {
        let publisher = Arc::clone(&publisher);
        thread::spawn(move || (0..BATCHES).for_each(|_| publisher.update_tail().unwrap()))
    };
    publish(&publisher);
    indexing.join().unwrap();
    publisher
}

#[test]
fn what_is_published_is_taken_once() {
    in_many_orders(|| {
        let publisher = published(|publisher| {
            for position in 1..=BATCHES {
                publisher.wait_for_room().unwrap();
                publisher.publish(graph_at(position), batch_at(position));
                let published = publisher.load();
                assert_eq!(published.graph.position.0, position);
                assert_eq!(keys_count(&published) as u64, position);
                assert_eq!(published.tail_len() as u64, position - published.indexes.position.0);
            }
        });
        assert_eq!(keys_count(&publisher.load()) as u64, BATCHES);
    });
}

#[test]
fn what_replaces_the_published_is_not_mixed_with_what_was_there() {
    in_many_orders(|| {
        let publisher = published(|publisher| {
            publisher.publish(graph_at(1), batch_at(1));
            publisher.replace(Indexed::new(graph_at(0), Arc::default()));
            publisher.publish(graph_at(1), batch_at(2));
        });
        let published = publisher.load();
        assert_eq!((published.graph.position.0, keys_count(&published)), (1, 1));
    });
}

#[test]
fn the_thread_of_the_indexes_ends_when_the_repository_is_closed() {
    in_many_orders(|| {
        let publisher = Arc::new(Publisher::new(Indexed::new(graph_at(0), Arc::default())));
        let indexing = {
            let publisher = Arc::clone(&publisher);
            thread::spawn(move || publisher.run())
        };
        publisher.publish(graph_at(1), batch_at(1));
        publisher.close();
        indexing.join().unwrap();
    });
}
