//! A future that is polled again at once when it wakes itself.
//!
//! A connection wakes itself while it is polled whenever a part of a body goes from its one half to the other. The
//! runtime takes that for work that another thread could do, and wakes one, which costs more than doing it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// So often a future is polled at once, at most: then it is the turn of others.
const ROUNDS_MAX: usize = 8;

/// Bits of the state: it is being polled; it was woken since that began.
const POLLED: u8 = 1;
const WOKEN: u8 = 2;

/// Polls `future` again at once when it wakes itself.
pub fn eager<F: Future>(future: Pin<&mut F>) -> Eager<'_, F> {
    let wakes = Arc::new(Wakes::default());
    Eager { future, waker: Waker::from(Arc::clone(&wakes)), wakes }
}

/// See [`eager`].
pub struct Eager<'f, F> {
    future: Pin<&'f mut F>,
    wakes: Arc<Wakes>,
    // Of `wakes`.
    waker: Waker,
}

/// Where a wake goes: to the runtime, or to the poll that is under way.
#[derive(Default)]
struct Wakes {
    state: AtomicU8,
    outer: AtomicWaker,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Order: what was done before a wake is seen by the poll that follows.
        if self.state.fetch_or(WOKEN, Ordering::AcqRel) & POLLED == 0 {
            self.outer.wake();
        }
    }
}

impl<F: Future> Future for Eager<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Eager { future, wakes, waker } = &mut *self;
        wakes.outer.register(context.waker());
        for _ in 0..ROUNDS_MAX {
            wakes.state.swap(POLLED, Ordering::AcqRel);
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            if wakes.state.fetch_and(!POLLED, Ordering::AcqRel) & WOKEN == 0 {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// A waker that counts.
    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_future_that_wakes_itself_goes_on_without_the_runtime_up_to_a_bound() {
        let counted = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&counted));
        let mut context = Context::from_waker(&waker);
        let mut left = 3;
        let mut kept = None;
        let mut future = pin!(poll_fn(|context| {
            kept = Some(context.waker().clone());
            if left > 0 {
                left -= 1;
                context.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        }));
        let mut eager = pin!(eager(future.as_mut()));
        assert!(eager.as_mut().poll(&mut context).is_pending());
        assert_eq!(counted.0.load(Ordering::Relaxed), 0);
        assert_eq!(left, 0);
        // From elsewhere, later.
        kept.unwrap().wake();
        assert_eq!(counted.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_future_that_always_wakes_itself_gives_others_their_turn() {
        let counted = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&counted));
        let mut polls = 0;
        let mut future = pin!(poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        assert!(pin!(eager(future.as_mut())).poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!((polls, counted.0.load(Ordering::Relaxed)), (ROUNDS_MAX, 1));
    }
}
