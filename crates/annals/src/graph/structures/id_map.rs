//! Finds slots by key in a tree whose parts are shared between snapshots.

use std::array::from_fn;
use std::sync::Arc;

#[cfg(test)]
mod tests;

use super::hash::hash_number;

/// A change copies a branch of each level, and increments the reference count of each other child. With more children,
/// all in different memory, changes take longer; with fewer, look-ups pass more levels.
const FAN_BITS: u32 = 2;
const FAN: usize = 1 << FAN_BITS;
/// Large leaves keep the branches few, and in the cache.
const LEAF_ENTRIES_MAX: usize = 512;
/// Units: words of 32 bits.
const KEY_WORDS: usize = 4;
/// The slot and the key.
const REST_WORDS: usize = 1 + KEY_WORDS;
/// A new entry copies these; after this many new entries the leaf is copied.
const RECENT_ENTRIES_MAX: usize = 32;

/// A persistent map from keys of 16 bytes to slots: a clone costs a reference count, and a change copies the shared
/// part of the path to its entry.
///
/// A key may be only a hash of the id: then several slots may have the same key, and the caller checks each of them.
///
/// Shape: a trie over the tags of the keys, the highest bits first.
/// Units: about 40 bytes per entry.
#[derive(Clone)]
pub(crate) struct IdMap {
    root: Node,
}

/// A key and its slot; the tree uses the tag, a hash of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    tag: u32,
    slot: u32,
    key: [u32; KEY_WORDS],
}

#[derive(Clone)]
enum Node {
    // A child for each digit of the tag.
    Branch(Arc<[Node; FAN]>),
    Leaf(Leaf),
}

/// The entries of one range of tags, in the order of their tags.
#[derive(Clone, Default)]
struct Leaf {
    // Invariant: at most `LEAF_ENTRIES_MAX`, unless all have one tag.
    settled: Entries,
    // The latest entries, at most `RECENT_ENTRIES_MAX`: a new entry copies only these.
    recent: Entries,
}

/// Entries in the order of their tags, in one block. All tags come first: a look-up passes over a few of them, which
/// then are in one line of memory.
///
/// Shape: the tags; then of each entry its slot and the words of its key.
#[derive(Clone, Default)]
struct Entries(Arc<[u32]>);

impl Entries {
    fn of(entries: &[Entry]) -> Entries {
        let mut words = Vec::with_capacity(entries.len() * (1 + REST_WORDS));
        words.extend(entries.iter().map(|entry| entry.tag));
        for entry in entries {
            words.push(entry.slot);
            words.extend_from_slice(&entry.key);
        }
        Entries(words.into())
    }

    // The same with new entries, in the order of their tags; each comes after those with the same tag.
    fn with(&self, new: &[Entry]) -> Entries {
        let (tags, rest) = self.0.split_at(self.len());
        let places = new.iter().map(|entry| (tags.partition_point(|tag| *tag <= entry.tag), entry));
        let mut words = Vec::with_capacity((tags.len() + new.len()) * (1 + REST_WORDS));
        let mut from = 0;
        for (place, entry) in places.clone() {
            words.extend_from_slice(&tags[from..place]);
            words.push(entry.tag);
            from = place;
        }
        words.extend_from_slice(&tags[from..]);
        from = 0;
        for (place, entry) in places {
            words.extend_from_slice(&rest[REST_WORDS * from..REST_WORDS * place]);
            words.push(entry.slot);
            words.extend_from_slice(&entry.key);
            from = place;
        }
        words.extend_from_slice(&rest[REST_WORDS * from..]);
        Entries(words.into())
    }

    fn len(&self) -> usize {
        self.0.len() / (1 + REST_WORDS)
    }

    fn iter(&self) -> impl Iterator<Item = Entry> {
        let (tags, rest) = self.0.split_at(self.len());
        tags.iter().zip(rest.as_chunks().0).map(|(tag, [slot, key @ ..]): (_, &[u32; REST_WORDS])| Entry {
            tag: *tag,
            slot: *slot,
            key: *key,
        })
    }

    // The slot of the wanted entry with this tag, of which the tree has used all but the bits in `rest`.
    #[inline]
    fn find(&self, tag: u32, rest: u32, key: [u32; KEY_WORDS], is_it: impl Fn(u32) -> bool) -> Option<u32> {
        // Often there are no recent ones.
        if self.0.is_empty() {
            return None;
        }
        let (tags, entries) = self.0.split_at(self.len());
        let mut at = first_place(tags, tag, rest);
        while tags.get(at) == Some(&tag) {
            let [slot, own @ ..] = entries.get(REST_WORDS * at..)?.first_chunk::<REST_WORDS>()?;
            if *own == key && is_it(*slot) {
                return Some(*slot);
            }
            at += 1;
        }
        None
    }
}

impl Entry {
    fn new(key: u128, slot: u32) -> Entry {
        Entry { tag: tag(key), slot, key: words(key) }
    }

    // The digit of the tag for a branch, after the first `bits` bits.
    fn digit(&self, bits: u32) -> usize {
        digit(self.tag << bits)
    }
}

impl IdMap {
    /// An empty map.
    pub(crate) fn new() -> IdMap {
        IdMap { root: Node::Leaf(Leaf::default()) }
    }

    /// Builds a map of many entries, several times faster than inserting them one by one.
    ///
    /// Shape: `[(key, slot)]` in any order.
    pub(crate) fn of(entries: impl IntoIterator<Item = (u128, u32)>) -> IdMap {
        IdMap { root: Node::of(&ordered(entries), 0) }
    }

    /// The slot under `key` for which `is_it` is true.
    #[inline]
    pub(crate) fn get(&self, key: u128, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let (tag, key) = (tag(key), words(key));
        let mut node = &self.root;
        let mut rest = tag;
        let leaf = loop {
            match node {
                Node::Branch(children) => node = &children[digit(rest)],
                Node::Leaf(leaf) => break leaf,
            }
            rest <<= FAN_BITS;
        };
        leaf.settled.find(tag, rest, key, &is_it).or_else(|| leaf.recent.find(tag, rest, key, &is_it))
    }

    /// Adds a slot under `key`. The caller must know that it is missing.
    pub(crate) fn insert(&mut self, key: u128, slot: u32) {
        self.root.insert(&[Entry::new(key, slot)], 0);
    }

    /// Adds slots under their keys. The caller must know that all are missing. Many at once copy each leaf once.
    pub(crate) fn insert_all(&mut self, entries: impl IntoIterator<Item = (u128, u32)>) {
        let entries = ordered(entries);
        if !entries.is_empty() {
            self.root.insert(&entries, 0);
        }
    }

    /// Removes the slot under `key`, if it is there. Leaves are not merged.
    pub(crate) fn remove(&mut self, key: u128, slot: u32) {
        // Checking first keeps a miss from copying.
        if self.get(key, |held| held == slot).is_some() {
            self.root.remove(&[Entry::new(key, slot)], 0);
        }
    }

    /// Removes slots under their keys, those that are there. Many at once copy each leaf once.
    pub(crate) fn remove_all(&mut self, entries: impl IntoIterator<Item = (u128, u32)>) {
        let entries = ordered(entries);
        if !entries.is_empty() {
            self.root.remove(&entries, 0);
        }
    }
}

impl Default for IdMap {
    fn default() -> IdMap {
        IdMap::new()
    }
}

impl Node {
    // The node for entries in the order of their tags whose first `bits` bits are equal.
    fn of(entries: &[Entry], bits: u32) -> Node {
        let is_one_tag = entries.first().map(|entry| entry.tag) == entries.last().map(|entry| entry.tag);
        if entries.len() <= LEAF_ENTRIES_MAX || is_one_tag {
            return Node::Leaf(Leaf { settled: Entries::of(entries), ..Leaf::default() });
        }
        let mut rest = entries;
        Node::Branch(Arc::new(from_fn(|digit| {
            let (own, others) = rest.split_at(rest.partition_point(|entry| entry.digit(bits) <= digit));
            rest = others;
            Node::of(own, bits + FAN_BITS)
        })))
    }

    // Adds entries, in the order of their tags, to the node at the first `bits` bits of these.
    fn insert(&mut self, entries: &[Entry], bits: u32) {
        match self {
            Node::Branch(children) => {
                let children = Arc::make_mut(children);
                let mut rest = entries;
                while let Some(first) = rest.first() {
                    let digit = first.digit(bits);
                    let (own, others) =
                        rest.split_at(rest.partition_point(|entry| entry.digit(bits) <= digit));
                    rest = others;
                    children[digit].insert(own, bits + FAN_BITS);
                }
            }
            Node::Leaf(leaf) if leaf.recent.len() + entries.len() <= RECENT_ENTRIES_MAX => {
                leaf.recent = leaf.recent.with(entries);
            }
            Node::Leaf(leaf) => {
                let recent: Vec<Entry> = leaf.recent.iter().collect();
                let all: Vec<Entry> = leaf.settled.with(&recent).with(entries).iter().collect();
                *self = Node::of(&all, bits);
            }
        }
    }

    // Removes entries, in the order of their tags, from the node at the first `bits` bits of these.
    fn remove(&mut self, entries: &[Entry], bits: u32) {
        match self {
            Node::Branch(children) => {
                let children = Arc::make_mut(children);
                for own in entries.chunk_by(|one, next| one.digit(bits) == next.digit(bits)) {
                    children[own[0].digit(bits)].remove(own, bits + FAN_BITS);
                }
            }
            Node::Leaf(leaf) => leaf.remove(entries),
        }
    }
}

impl Leaf {
    // Shape: in the order of their tags.
    fn remove(&mut self, removed: &[Entry]) {
        let is_removed = |held: &Entry| {
            let from = removed.partition_point(|removed| removed.tag < held.tag);
            removed[from..]
                .iter()
                .take_while(|removed| removed.tag == held.tag)
                .any(|removed| removed == held)
        };
        for entries in [&mut self.settled, &mut self.recent] {
            if entries.iter().any(|held| is_removed(&held)) {
                let kept: Vec<Entry> = entries.iter().filter(|held| !is_removed(held)).collect();
                *entries = Entries::of(&kept);
            }
        }
    }
}

// Entries in the order of their tags.
fn ordered(entries: impl IntoIterator<Item = (u128, u32)>) -> Vec<Entry> {
    let found = entries.into_iter().map(|(key, slot)| Entry::new(key, slot));
    // Reserving too much costs nothing here; growing step by step costs much.
    let mut entries = Vec::with_capacity(found.size_hint().1.unwrap_or_default());
    entries.extend(found);
    entries.sort_unstable_by_key(|entry| entry.tag);
    entries
}

// The index of the first entry with this tag, or the index for a new one. Tags are spread evenly, so the bits that the
// tree has not used give the approximate index: a look-up usually reads one line of memory, or two adjacent ones.
#[inline]
fn first_place(tags: &[u32], tag: u32, rest: u32) -> usize {
    let mut at = ((u64::from(rest) * tags.len() as u64) >> u32::BITS) as usize;
    while at > 0 && tags[at - 1] >= tag {
        at -= 1;
    }
    while at < tags.len() && tags[at] < tag {
        at += 1;
    }
    at
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of a number, neither of which is lost")]
fn halves(key: u128) -> [u64; 2] {
    [key as u64, (key >> 64) as u64]
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the quarters of a number, none of which is lost")]
fn words(key: u128) -> [u32; KEY_WORDS] {
    from_fn(|at| (key >> (32 * at)) as u32)
}

// The product spreads the low bits of a weak hash over the bits that the tree uses first.
#[inline]
fn tag(key: u128) -> u32 {
    (hash_number(halves(key)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

// The next digit of the rest of a tag.
#[inline]
fn digit(rest: u32) -> usize {
    (rest >> (u32::BITS - FAN_BITS)) as usize
}
