//! Keys to add and to remove, in order.

use crate::graph::key_set::{KEY_BYTES_MAX, KeySet};
use crate::graph::staged::Notes;
use crate::graph::symbols::Symbol;
use crate::graph::vector::Vector;

/// Keys to add and to remove, in order.
#[derive(Default)]
pub(crate) struct KeyNotes {
    keys: Vec<u8>,
    list: Vec<Note>,
}

struct Note {
    name: Symbol,
    // Of the key. They stand one after the other.
    length: u16,
    is_added: bool,
}

const _: () = assert!(KEY_BYTES_MAX <= u16::MAX as usize);

impl Notes for KeyNotes {
    type Part = Vector<KeySet>;

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn size(&self) -> usize {
        self.keys.len() + self.list.len() * size_of::<Note>()
    }

    fn apply_to(&self, sets: &mut Vector<KeySet>) {
        let mut keys = &self.keys[..];
        for Note { name, length, is_added } in &self.list {
            let (key, rest) = keys.split_at(usize::from(*length));
            change(sets, *name, key, *is_added);
            keys = rest;
        }
    }
}

impl KeyNotes {
    pub(super) fn push(&mut self, name: Symbol, key: &[u8], is_added: bool) {
        let length = u16::try_from(key.len()).expect("keys are bounded");
        self.keys.extend_from_slice(key);
        self.list.push(Note { name, length, is_added });
    }
}

/// Adds a key to the set of a property, or removes it.
pub(super) fn change(sets: &mut Vector<KeySet>, name: Symbol, key: &[u8], is_added: bool) {
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
