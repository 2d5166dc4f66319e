//! Contents that must stay although no durable version names them yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::{Digest, Sha256};

/// The pinned contents.
#[derive(Default)]
pub(crate) struct Pins(Mutex<HashMap<Sha256, Pinned>>);

/// The pins of a content, and its digests.
#[derive(Default)]
pub(crate) struct Pinned {
    /// Number of pins.
    count: usize,
    /// Further digests that were computed from its bytes.
    proven: Vec<Digest>,
}

/// Keeps a content in the store until it is dropped.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    sha256: Sha256,
}

impl Pins {
    pub(crate) fn pin(pins: &Arc<Pins>, sha256: Sha256) -> Pin {
        pins.lock().entry(sha256).or_default().count += 1;
        Pin { pins: Arc::clone(pins), sha256 }
    }

    /// The pinned contents. While the caller holds them, no other content is pinned.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<Sha256, Pinned>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pin {
    /// Remembers digests of the bytes, while the content is pinned.
    pub(crate) fn prove(&self, digests: &[Digest]) {
        let mut pins = self.pins.lock();
        let proven = &mut pins.entry(self.sha256).or_default().proven;
        for digest in digests {
            if !proven.contains(digest) {
                proven.push(digest.clone());
            }
        }
    }

    /// Those of these digests that were not computed from the bytes since the content was pinned.
    pub(crate) fn unproven<'d>(&self, digests: &'d [Digest]) -> Vec<&'d Digest> {
        let pins = self.pins.lock();
        let proven = pins.get(&self.sha256).map_or(&[][..], |pinned| &pinned.proven);
        digests.iter().filter(|digest| !proven.contains(digest)).collect()
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut pins = self.pins.lock();
        match pins.get_mut(&self.sha256) {
            Some(pinned) if pinned.count > 1 => pinned.count -= 1,
            _ => drop(pins.remove(&self.sha256)),
        }
    }
}
