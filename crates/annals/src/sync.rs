//! What threads meet at in code that is driven by flags: the standard library's, or Shuttle's, which tries many orders of
//! their steps. Under Shuttle only the tests named `shuttle` run.

#[cfg(all(test, shuttle))]
mod arc_swap;
#[cfg(all(test, shuttle))]
mod once_lock;

#[cfg(all(test, shuttle))]
pub(crate) use {
    arc_swap::ArcSwap,
    once_lock::OnceLock,
    shuttle::sync::{Condvar, Mutex, MutexGuard, atomic},
    shuttle::thread,
};

#[cfg(not(all(test, shuttle)))]
pub(crate) use {
    arc_swap::ArcSwap,
    std::sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic},
    std::thread,
};

/// Runs `test` in many orders of the steps of its threads. A deadlock, as after a lost wake-up, is a failure.
#[cfg(all(test, shuttle))]
pub(crate) fn in_many_orders(test: impl Fn() + Copy + Send + Sync + 'static) {
    const ORDERS: usize = 2_000;
    shuttle::check_random(test, ORDERS);
    // Few changes of threads, at chosen steps: finds what random ones seldom come upon.
    shuttle::check_pct(test, ORDERS, 3);
}
