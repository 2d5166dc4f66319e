//! As `std::sync::OnceLock`, which Shuttle does not have.

use shuttle::sync::{Condvar, Mutex, PoisonError};

pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    // Every call locks this, so that Shuttle may run another thread first.
    turn: Mutex<()>,
    is_set: Condvar,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> OnceLock<T> {
        OnceLock { value: std::sync::OnceLock::new(), turn: Mutex::new(()), is_set: Condvar::new() }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        drop(self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        self.value.get()
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.value.set(value);
        self.is_set.notify_all();
        outcome
    }

    pub(crate) fn wait(&self) -> &T {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = self.value.get() {
                return value;
            }
            turn = self.is_set.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> OnceLock<T> {
        OnceLock { value: value.into(), ..OnceLock::new() }
    }
}
