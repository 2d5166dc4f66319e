//! Gate, ticket and promise in many orders of the steps of their threads.

use shuttle::thread;

use super::*;
use crate::ErrorKind;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::in_many_orders;

fn receipt() -> Receipt {
    Receipt { position: Position(7), instant: Instant::default() }
}

fn settle(ticket: &Ticket) {
    ticket.settle(Ok(receipt()), None);
}

#[test]
fn all_threads_are_told_also_by_a_later_batch_than_most_at_their_gate() {
    in_many_orders(|| {
        let gate = Arc::<Gate>::default();
        let (first, second) = (Ticket::new(Arc::clone(&gate)), Ticket::new(Arc::clone(&gate)));
        // Two threads wait for the same ticket.
        let waiting: Vec<_> = [&first, &second, &second]
            .map(|ticket| {
                let ticket = ticket.clone();
                thread::spawn(move || ticket.wait().unwrap())
            })
            .into();
        settle(&first);
        gate.open();
        settle(&second);
        for thread in waiting {
            assert_eq!(thread.join().unwrap(), receipt());
        }
    });
}

#[test]
fn a_promise_that_is_dropped_is_told_as_an_unknown_outcome() {
    in_many_orders(|| {
        let ticket = Ticket::new(Arc::default());
        let promise = Promise::new(&ticket);
        let waiting = thread::spawn(move || ticket.wait());
        drop(promise);
        assert_eq!(waiting.join().unwrap().unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    });
}

#[test]
fn a_callback_is_called_once_and_with_the_outcome() {
    in_many_orders(|| {
        let ticket = Ticket::new(Arc::default());
        let calls = Arc::new(AtomicUsize::new(0));
        let telling = {
            let ticket = ticket.clone();
            thread::spawn(move || settle(&ticket))
        };
        for _ in 0..2 {
            let calls = Arc::clone(&calls);
            ticket.on_done(move |result| {
                assert_eq!(result.unwrap(), receipt());
                calls.fetch_add(1, Ordering::SeqCst);
            });
        }
        telling.join().unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn a_task_that_awaits_is_woken() {
    in_many_orders(|| {
        let ticket = Ticket::new(Arc::default());
        let awaited = ticket.clone();
        let telling = thread::spawn(move || settle(&awaited));
        assert_eq!(shuttle::future::block_on(ticket).unwrap(), receipt());
        telling.join().unwrap();
    });
}
