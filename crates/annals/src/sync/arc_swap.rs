//! As `arc_swap::ArcSwap`, but Shuttle may run another thread before each call.

use std::sync::Arc;

use shuttle::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct ArcSwap<T> {
    value: arc_swap::ArcSwap<T>,
    calls: AtomicUsize,
}

impl<T> ArcSwap<T> {
    pub(crate) fn new(value: Arc<T>) -> ArcSwap<T> {
        ArcSwap { value: arc_swap::ArcSwap::new(value), calls: AtomicUsize::new(0) }
    }

    fn value(&self) -> &arc_swap::ArcSwap<T> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        &self.value
    }

    pub(crate) fn load(&self) -> arc_swap::Guard<Arc<T>> {
        self.value().load()
    }

    pub(crate) fn load_full(&self) -> Arc<T> {
        self.value().load_full()
    }

    pub(crate) fn swap(&self, value: Arc<T>) -> Arc<T> {
        self.value().swap(value)
    }
}
