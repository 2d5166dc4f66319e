//! Contents that must stay although no durable version names them yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::Sha256;

/// The pinned contents, with the number of their pins.
#[derive(Default)]
pub(crate) struct Pins(Mutex<HashMap<Sha256, usize>>);

/// Keeps a content in the store until it is dropped.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    sha256: Sha256,
}

impl Pins {
    pub(crate) fn pin(pins: &Arc<Pins>, sha256: Sha256) -> Pin {
        *pins.lock().entry(sha256).or_default() += 1;
        Pin { pins: Arc::clone(pins), sha256 }
    }

    /// The pinned contents. While the caller holds them, no other content is pinned.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<Sha256, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut pins = self.pins.lock();
        match pins.get_mut(&self.sha256) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(pins.remove(&self.sha256)),
        }
    }
}
