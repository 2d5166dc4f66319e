//! Synchronisation types for code that uses flags: those of the standard library, or of Shuttle, which tries many
//! orders of the steps of threads. With Shuttle only the tests named `shuttle` run.

#[cfg(all(test, shuttle))]
mod arc_swap;
#[cfg(all(test, shuttle))]
mod once_lock;

#[cfg(all(test, shuttle))]
use shuttle::scheduler::{PctScheduler, RandomScheduler};
#[cfg(all(test, shuttle))]
pub(crate) use {
    arc_swap::ArcSwap,
    once_lock::OnceLock,
    shuttle::sync::{Condvar, Mutex, MutexGuard, atomic},
};

#[cfg(not(all(test, shuttle)))]
pub(crate) use {
    arc_swap::ArcSwap,
    std::sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic},
};

/// Runs `test` in many orders of the steps of its threads. A deadlock, as after a lost wake-up, is a failure.
#[cfg(all(test, shuttle))]
pub(crate) fn in_many_orders(test: impl Fn() + Copy + Send + Sync + 'static) {
    const ORDERS: usize = 2_000;
    let mut config = shuttle::Config::new();
    // Graphs build a leaf of ids on the stack, and by default a thread of Shuttle has 32 KiB of it.
    config.stack_size = 512 << 10;
    shuttle::Runner::new(RandomScheduler::new(ORDERS), config.clone()).run(test);
    // Few switches between threads, at chosen steps: this finds orders that random switches seldom reach.
    shuttle::Runner::new(PctScheduler::new(3, ORDERS), config).run(test);
}
