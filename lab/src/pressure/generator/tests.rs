//! Loads on fake servers whose behaviour is known.

use std::sync::Mutex;
use std::time::Duration;

use super::fake::{BUSY, FAILED, RIGHT, serve};
use super::*;

/// Asks for the same as long as `left` lasts.
struct Same {
    left: u64,
}

impl Work for Same {
    fn next(&mut self, request: &mut Vec<u8>) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        request.extend_from_slice(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        Some(self.left)
    }

    fn take(&mut self, _: u64, body: &[u8]) -> bool {
        body == b"right"
    }
}

fn run(address: SocketAddr, callers: usize, pace: Pace, millis: u64) -> Loaded {
    let patience = Duration::from_secs(2);
    let plan = Plan { address, callers, pace, time: Duration::from_millis(millis), patience };
    load(&plan, &mut Same { left: u64::MAX }).unwrap()
}

/// A server that stands still for half a second at its hundredth request, whoever sends it.
fn stalling() -> SocketAddr {
    let turn = Mutex::new(());
    serve(move |number| {
        let _turn = turn.lock().unwrap();
        if number == 100 {
            std::thread::sleep(Duration::from_millis(500));
        }
        Some(RIGHT)
    })
}

#[test]
fn a_server_that_stands_still_cannot_hide_it() {
    let open = run(stalling(), 50, Pace::Rate(400.0), 1_000);
    // Requests that were due in the half second waited for a quarter of a second on average: a fifth of all, or more.
    assert!(open.latencies.quantile(0.85) > 0.1, "{:?}", open.latencies.counts());
    assert!(open.latencies.max() > 0.4, "{}", open.latencies.max());
    assert_eq!((open.errors, open.right + open.dropped), (0, open.due));
    // Two callers of a closed loop wait, and count two long latencies only.
    let closed = run(stalling(), 2, Pace::Closed, 1_000);
    assert!(closed.latencies.quantile(0.98) < 0.1, "{:?}", closed.latencies.counts());
    assert!(closed.latencies.max() > 0.4, "{}", closed.latencies.max());
}

#[test]
fn an_open_loop_asks_at_its_rate_and_not_faster() {
    let loaded = run(serve(|_| Some(RIGHT)), 7, Pace::Rate(200.0), 1_000);
    assert!((199..=200).contains(&loaded.due), "{}", loaded.due);
    assert_eq!((loaded.right + loaded.dropped, loaded.errors), (loaded.due, 0));
    assert!((190.0..=200.0).contains(&loaded.rate()), "{}", loaded.rate());
}

#[test]
fn answers_500_are_errors_and_503_with_retry_after_are_refusals_too() {
    let half = run(serve(|number| Some(if number % 2 == 0 { RIGHT } else { FAILED })), 1, Pace::Closed, 200);
    assert!(half.right > 10 && half.right.abs_diff(half.errors) <= 1, "{} {}", half.right, half.errors);
    assert_eq!((half.refused, half.first_error.as_deref()), (0, Some("500: failed")));
    let busy = run(serve(|_| Some(BUSY)), 1, Pace::Closed, 200);
    assert!(busy.errors > 10 && busy.errors == busy.refused && busy.right == 0);
    assert_eq!((busy.first_error, busy.first_refusal.as_deref()), (None, Some("503: busy")));
}

#[test]
fn a_wrong_answer_and_a_connection_that_is_cut_are_errors() {
    let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong";
    let loaded = run(serve(move |_| Some(wrong)), 2, Pace::Closed, 100);
    assert!(loaded.errors > 0 && loaded.right == 0);
    assert_eq!(loaded.first_error.as_deref(), Some("wrong answer: 200: wrong"));
    let cut = run(serve(|number| (number % 10 != 9).then_some(RIGHT)), 3, Pace::Closed, 300);
    assert!(cut.errors > 0 && cut.right > 9 * (cut.errors - 3), "{} {}", cut.right, cut.errors);
    assert!(cut.first_error.as_deref().unwrap().starts_with("read: "), "{:?}", cut.first_error);
}

#[test]
fn an_answer_that_never_comes_is_an_error() {
    let address = serve(|number| {
        if number == 3 {
            std::thread::sleep(Duration::from_secs(60));
        }
        Some(RIGHT)
    });
    let plan = Plan {
        address,
        callers: 4,
        pace: Pace::Closed,
        time: Duration::from_millis(100),
        patience: Duration::from_millis(100),
    };
    let loaded = load(&plan, &mut Same { left: u64::MAX }).unwrap();
    assert_eq!(loaded.errors, 1);
    assert_eq!(loaded.first_error.as_deref(), Some("no answer within 0.1 s after the end"));
}

#[test]
fn work_that_ends_ends_the_load() {
    let plan = Plan {
        address: serve(|_| Some(RIGHT)),
        callers: 3,
        pace: Pace::Closed,
        time: Duration::from_secs(60),
        patience: Duration::from_secs(1),
    };
    let loaded = load(&plan, &mut Same { left: 100 }).unwrap();
    assert_eq!((loaded.right, loaded.errors), (100, 0));
    assert!(loaded.seconds < 30.0);
}
