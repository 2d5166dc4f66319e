//! Keys to add and to remove, in order.

use crate::graph::index::staged::{Notes, in_parts};
use crate::graph::structures::symbols::Symbol;
use crate::structures::key_set::KeySet;
use crate::structures::key_set::leaf::KEY_BYTES_MAX;
use crate::structures::vector::Vector;

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

    // Keys cost those who commit far more than those who search.
    const PROMPT: u8 = 0;

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn size(&self) -> usize {
        self.keys.len() + self.list.len() * size_of::<Note>()
    }

    fn apply_to(notes: &[&KeyNotes], sets: &mut Vector<KeySet>) {
        let mut list = Vec::with_capacity(notes.iter().map(|notes| notes.list.len()).sum());
        let notes = notes.iter().flat_map(|notes| notes.in_order());
        list.extend(notes.map(|(name, is_added, key)| (name, is_added, head(key), key)));
        // By property first: the keys of one often come in order, and then there is little to sort.
        list.sort_by_key(|(name, ..)| *name);
        for of_one in list.chunk_by_mut(|(name, ..), next| *name == next.0) {
            // Stable: of what becomes of one key the last counts.
            of_one.sort_by_key(|(_, _, head, key)| (*head, *key));
            let mut keys = [Vec::new(), Vec::with_capacity(of_one.len())];
            for same in of_one.chunk_by(|(.., key), next| *key == next.3) {
                let (_, is_added, _, key) = same[same.len() - 1];
                keys[usize::from(is_added)].push(key);
            }
            for (keys, is_added) in keys.iter().zip([false, true]).filter(|(keys, _)| !keys.is_empty()) {
                change(sets, of_one[0].0, keys, is_added);
            }
        }
    }
}

impl KeyNotes {
    pub(in crate::graph) fn in_order(&self) -> impl Iterator<Item = (Symbol, bool, &[u8])> {
        let mut keys = &self.keys[..];
        self.list.iter().map(move |note| {
            let (key, rest) = keys.split_at(usize::from(note.length));
            keys = rest;
            (note.name, note.is_added, key)
        })
    }

    /// Notes the key that `append` appends.
    pub(in crate::graph) fn push(&mut self, name: Symbol, append: impl Fn(&mut Vec<u8>), is_added: bool) {
        let start = self.keys.len();
        append(&mut self.keys);
        let length = u16::try_from(self.keys.len() - start).expect("keys are bounded");
        self.list.push(Note { name, length, is_added });
    }
}

/// The first bytes of a key as a number: as a rule they tell which of two comes first.
fn head(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = key.len().min(8);
    head[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(head)
}

/// Adds keys, ascending, to the set of a property, or removes them.
pub(crate) fn change(sets: &mut Vector<KeySet>, name: Symbol, keys: &[&[u8]], is_added: bool) {
    if !is_added && sets.len() <= name.index() {
        return;
    }
    let set = set_of(sets, name);
    in_parts(keys, |keys| {
        if is_added {
            set.insert_sorted(keys);
        } else {
            keys.iter().for_each(|key| {
                set.remove(key);
            });
        }
    });
}

/// The set of a property, for changing it.
pub(crate) fn set_of(sets: &mut Vector<KeySet>, name: Symbol) -> &mut KeySet {
    while sets.len() <= name.index() {
        sets.push(KeySet::new());
    }
    sets.get_mut(name.index()).expect("grown above")
}
