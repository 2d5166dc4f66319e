//! The values held now, by property; a large batch brings them up to date on a thread beside the one that applies it.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::key_set::{KEY_BYTES_MAX, KeySet};
use super::symbols::Symbol;
use super::vector::Vector;

/// So much is noted before it is handed to the other thread; with less, none is started. Units: bytes of keys.
const NOTES_BYTES: usize = 64 << 10;
/// A usual key, to guess how many make so many bytes.
const KEY_BYTES: usize = 24;
/// Notes that wait for the other thread; then the one that applies waits for it.
const NOTES_MAX: usize = 8;

/// Keys by property. Shape of a key: value key, slot (4).
///
/// Whoever applies many records may let the keys lag behind: what is added and removed is then noted, and done when
/// [`ValueIndex::settle`] is called at the latest. Until then [`ValueIndex::get`] must not be asked.
pub(crate) struct ValueIndex {
    sets: Vector<KeySet>,
    lag: Option<Box<Lag>>,
}

/// What `sets` does not have yet.
struct Lag {
    notes: Notes,
    // Has the sets, and all notes but the last.
    worker: Option<Worker>,
}

/// Keys to add and to remove, in order.
#[derive(Default)]
struct Notes {
    bytes: Vec<u8>,
    list: Vec<Note>,
}

struct Note {
    name: Symbol,
    // Where its key ends in the bytes; it starts where the one before ends.
    end: usize,
    is_added: bool,
}

struct Worker {
    notes: SyncSender<Notes>,
    thread: JoinHandle<Vector<KeySet>>,
}

impl ValueIndex {
    pub(crate) fn new(sets: Vector<KeySet>) -> ValueIndex {
        ValueIndex { sets, lag: None }
    }

    /// All sets, by symbol.
    pub(crate) fn sets(&self) -> &Vector<KeySet> {
        assert!(self.lag.is_none(), "keys are settled before they are read");
        &self.sets
    }

    /// The keys of the property with this number.
    #[inline]
    pub(crate) fn get(&self, property: usize) -> Option<&KeySet> {
        debug_assert!(self.lag.is_none(), "keys are settled before they are read");
        self.sets.get(property)
    }

    /// From now on keys may lag behind.
    pub(crate) fn defer(&mut self) {
        self.lag.get_or_insert_with(|| Box::new(Lag { notes: Notes::with_room(), worker: None }));
    }

    /// Brings all keys up to date.
    pub(crate) fn settle(&mut self) {
        let Some(lag) = self.lag.take() else { return };
        match lag.worker {
            Some(worker) => self.sets = worker.finish(lag.notes),
            None => lag.notes.apply_to(&mut self.sets),
        }
    }

    pub(super) fn insert(&mut self, name: Symbol, key: &[u8]) {
        self.change(name, key, true);
    }

    pub(super) fn remove(&mut self, name: Symbol, key: &[u8]) {
        self.change(name, key, false);
    }

    fn change(&mut self, name: Symbol, key: &[u8], is_added: bool) {
        let Some(lag) = &mut self.lag else { return change(&mut self.sets, name, key, is_added) };
        lag.notes.push(name, key, is_added);
        if lag.notes.bytes.len() >= NOTES_BYTES {
            lag.hand_over(&mut self.sets);
        }
    }
}

impl Clone for ValueIndex {
    fn clone(&self) -> ValueIndex {
        assert!(self.lag.is_none(), "keys are settled before a graph is shared");
        ValueIndex::new(self.sets.clone())
    }
}

impl Lag {
    // Hands the notes to the other thread, and first of all the sets. Without a thread, they are done here.
    fn hand_over(&mut self, sets: &mut Vector<KeySet>) {
        let notes = std::mem::replace(&mut self.notes, Notes::with_room());
        if self.worker.is_none() {
            self.worker = Worker::start(sets);
        }
        match &self.worker {
            // Without a receiver it has panicked, which is told when it is asked for the sets.
            Some(worker) => drop(worker.notes.send(notes)),
            None => notes.apply_to(sets),
        }
    }
}

impl Notes {
    fn with_room() -> Notes {
        let bytes = NOTES_BYTES + KEY_BYTES_MAX;
        Notes { bytes: Vec::with_capacity(bytes), list: Vec::with_capacity(bytes / KEY_BYTES) }
    }

    fn push(&mut self, name: Symbol, key: &[u8], is_added: bool) {
        self.bytes.extend_from_slice(key);
        self.list.push(Note { name, end: self.bytes.len(), is_added });
    }

    fn apply_to(&self, sets: &mut Vector<KeySet>) {
        let mut start = 0;
        for Note { name, end, is_added } in &self.list {
            change(sets, *name, &self.bytes[start..*end], *is_added);
            start = *end;
        }
    }
}

impl Worker {
    // Takes the sets; `None`, and leaves them, if the system has no thread to give.
    fn start(sets: &mut Vector<KeySet>) -> Option<Worker> {
        let (notes, receiver): (_, Receiver<Notes>) = sync_channel(NOTES_MAX);
        let mut taken = sets.clone();
        let run = move || {
            receiver.iter().for_each(|notes| notes.apply_to(&mut taken));
            taken
        };
        let thread = Builder::new().name("annals-index".into()).spawn(run).ok()?;
        // What this batch has copied already is then not shared, and not copied again.
        *sets = Vector::new();
        Some(Worker { notes, thread })
    }

    fn finish(self, last: Notes) -> Vector<KeySet> {
        drop(self.notes.send(last));
        drop(self.notes);
        // Whoever leads knows what to do about a panic.
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn change(sets: &mut Vector<KeySet>, name: Symbol, key: &[u8], is_added: bool) {
    while is_added && sets.len() <= name.index() {
        sets.push(KeySet::new());
    }
    let Some(set) = sets.get_mut(name.index()) else { return };
    if is_added {
        set.insert(key);
    } else {
        set.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn settled_keys_are_those_that_never_lagged(
            steps in proptest::collection::vec((0u32..3, 0u32..500, any::<bool>(), 0u8..40), 0..2_000),
        ) {
            let (mut lagging, mut direct) = (ValueIndex::new(Vector::new()), ValueIndex::new(Vector::new()));
            for (name, number, is_added, what) in steps {
                match what {
                    0 => lagging.settle(),
                    1 => lagging.defer(),
                    _ => {}
                }
                // Long keys, so that notes are handed to the other thread.
                let mut key = vec![7; 200];
                key.extend_from_slice(&number.to_be_bytes());
                for index in [&mut lagging, &mut direct] {
                    index.change(Symbol(name), &key, is_added);
                }
            }
            lagging.settle();
            let keys = |index: &ValueIndex| -> Vec<Vec<Vec<u8>>> {
                index.sets().iter().map(|set| set.iter().map(<[u8]>::to_vec).collect()).collect()
            };
            prop_assert_eq!(keys(&lagging), keys(&direct));
        }
    }
}
