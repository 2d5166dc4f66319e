//! Finds slots by key in a tree whose parts are shared between snapshots.

use std::array::from_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, fence};

mod leaf;
/// How many changes are looked up at once, as a rule.
pub(crate) const AHEAD: usize = 32;

#[cfg(test)]
mod tests;

use super::hash::hash_number;
pub(crate) use leaf::Home;
use leaf::{LEAF_ENTRIES_MAX, Leaf};

const FAN_BITS: u32 = 5;
const FAN: usize = 1 << FAN_BITS;
/// Most leaves of a twig: copying one for a reader's sake counts each of its leaves, and each level less is a wait for memory less.
const TWIG_BITS_MAX: u32 = 8;
const TWIG_LEN_MAX: usize = 1 << TWIG_BITS_MAX;

/// A persistent map from keys of 16 bytes to slots.
///
/// A clone costs three reference counts. Whoever has the latest version puts an entry with room into its leaf in place:
/// all clones see it, and leave it out because its slot is not below `known_end`. A clone that goes another way, a fork,
/// copies each leaf that it changes, and its leaves may have entries that are not its own: so the caller is asked whether
/// a slot has the key in his version, unless the map [`vouches`](IdMap::vouches) for it.
/// A key may be less than what the caller looks for, say a hash: then he looks at each slot himself.
///
/// Shape: a trie over 32 bits of the key's hash. Slots come in ascending order.
/// Units: slots are below `u32::MAX - 1`. About 45 bytes per entry.
/// Source: the runs of a twig are the directory of extendible hashing, Fagin et al. 1979.
#[derive(Clone)]
pub(crate) struct IdMap {
    root: Node,
    // Entries that agree in all the bits that the tree looks at and find no room in their leaf, in no order.
    surplus: Arc<Vec<Entry>>,
    // Entries of slots below are this version's own; unless it is a fork, all that are its own.
    known_end: u32,
    is_fork: bool,
    // The `known_end` of the clone that went on in place; whoever has another one, is a fork.
    shared_end: Arc<AtomicU32>,
    // Above all slots that were removed.
    removed_end: u32,
}

/// A key and its slot; the tag is what the tree looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    tag: u32,
    slot: u32,
    key: [u64; 2],
}

#[derive(Clone)]
enum Node {
    // A child for each digit.
    Branch(Arc<[Node; FAN]>),
    // A leaf answers for a run of neighbouring places, and stands at each of them. A full leaf is split in two, and a twig
    // that has no two places for them doubles.
    // Invariant: runs are aligned, their lengths and that of the twig are powers of two.
    Twig(Arc<Twig>),
}

type Twig = [Arc<Leaf>];

impl Entry {
    #[inline]
    fn new(key: u128, slot: u32) -> Entry {
        let key = halves(key);
        Entry { tag: tag(key), slot, key }
    }

    fn key(&self) -> u128 {
        u128::from(self.key[1]) << 64 | u128::from(self.key[0])
    }

    // The place among `len`, a power of two, of a node that so many bits of the tag led to.
    fn place(&self, bits: u32, len: usize) -> usize {
        place(self.tag << bits, len)
    }
}

impl IdMap {
    /// An empty map.
    pub(crate) fn new() -> IdMap {
        IdMap::of([])
    }

    /// Builds a map of many entries at once, several times faster than inserting them.
    ///
    /// Shape: `[(key, slot)]` in any order.
    pub(crate) fn of(entries: impl IntoIterator<Item = (u128, u32)>) -> IdMap {
        let found = entries.into_iter().map(|(key, slot)| Entry::new(key, slot));
        // Room for as many as there may be costs nothing where there are fewer; growing step by step costs much.
        let mut entries = Vec::with_capacity(found.size_hint().1.unwrap_or_default());
        entries.extend(found);
        entries.sort_unstable_by_key(|entry| entry.tag);
        let end = entries.iter().map(|entry| entry.slot + 1).max().unwrap_or_default();
        let mut surplus = Vec::new();
        IdMap {
            root: build(&entries, 0, &mut surplus),
            surplus: Arc::new(surplus),
            known_end: end,
            is_fork: false,
            shared_end: Arc::new(AtomicU32::new(end)),
            removed_end: 0,
        }
    }

    /// True if a slot that [`IdMap::get`] asks about is one that this version has put under the whole key.
    #[inline]
    pub(crate) fn vouches(&self, slot: u32) -> bool {
        slot < self.known_end
    }

    /// The slot of `key`, if the map vouches for it and finds it at once; otherwise [`IdMap::get`] tells. Only for maps whose
    /// keys are all that callers look for.
    #[inline]
    pub(crate) fn get_own(&self, key: u128) -> Option<u32> {
        let tag = tag(halves(key));
        Some(self.leaf(tag).find(tag, key)).filter(|slot| self.vouches(*slot))
    }

    /// The slot of `key` for which `is_it` is true; it says no to a slot that is not in the caller's version.
    #[inline]
    pub(crate) fn get(&self, key: u128, is_it: impl Fn(u32) -> bool + Copy) -> Option<u32> {
        let tag = tag(halves(key));
        let found = self.leaf(tag).get(tag, key, is_it);
        if found.is_none() && !self.surplus.is_empty() { self.get_surplus(key, is_it) } else { found }
    }

    #[cold]
    fn get_surplus(&self, key: u128, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = self.surplus.iter().filter(|entry| entry.key() == key).map(|entry| entry.slot);
        slots.into_iter().find(|slot| is_it(*slot))
    }

    /// Where looking up `key` will begin.
    #[inline]
    pub(crate) fn home(&self, key: u128) -> Home<'_> {
        let tag = tag(halves(key));
        self.leaf(tag).home(tag)
    }

    /// Where adding `key` will begin.
    #[inline]
    pub(crate) fn homes_of_new(&self, key: u128) -> [Home<'_>; 2] {
        let tag = tag(halves(key));
        let leaf = self.leaf(tag);
        [leaf.first(), leaf.home(tag)]
    }

    #[inline]
    fn leaf(&self, tag: u32) -> &Leaf {
        let mut node = &self.root;
        let mut rest = tag;
        loop {
            match node {
                Node::Branch(children) => node = &children[place(rest, FAN)],
                Node::Twig(leaves) => return &leaves[place(rest, leaves.len())],
            }
            rest <<= FAN_BITS;
        }
    }

    /// Adds a slot under `key`. The caller knows that it is not there yet, and the key that a slot has in his version, if
    /// it has one.
    pub(crate) fn insert(&mut self, key: u128, slot: u32, key_of: impl Fn(u32) -> Option<u128>) {
        assert!(slot < u32::MAX - 1, "slot {slot} is reserved for places without an entry");
        let entry = Entry::new(key, slot);
        if !(self.goes_on_to(slot) && self.leaf(entry.tag).insert(entry)) {
            let known_end = self.known_end;
            let is_own = |held: &Entry| {
                held.slot < known_end || key_of(held.slot).is_some_and(|key| key == held.key())
            };
            self.insert_copying(entry, &is_own);
        }
    }

    // True if this slot may be put in place: nobody else has one as high.
    fn goes_on_to(&mut self, slot: u32) -> bool {
        if self.is_fork || slot < self.known_end {
            return false;
        }
        let moved = self.shared_end.compare_exchange(self.known_end, slot + 1, Relaxed, Relaxed);
        self.is_fork = moved.is_err();
        if !self.is_fork {
            self.known_end = slot + 1;
        }
        !self.is_fork
    }

    #[inline(never)]
    fn insert_copying(&mut self, entry: Entry, is_own: &dyn Fn(&Entry) -> bool) {
        let mut node = &mut self.root;
        let mut bits = 0;
        loop {
            if let Node::Twig(leaves) = node {
                if insert_into(leaves, entry, bits, is_own) {
                    return;
                }
                if !may_branch(bits) {
                    return Arc::make_mut(&mut self.surplus).push(entry);
                }
                *node = spread(leaves, bits);
            }
            if let Node::Branch(children) = node {
                node = &mut Arc::make_mut(children)[entry.place(bits, FAN)];
            }
            bits += FAN_BITS;
        }
    }

    /// Removes the slot under `key`. Clones keep it.
    pub(crate) fn remove(&mut self, key: u128, slot: u32) {
        self.removed_end = self.removed_end.max(slot + 1);
        let entry = Entry::new(key, slot);
        if self.surplus.contains(&entry) {
            Arc::make_mut(&mut self.surplus).retain(|held| *held != entry);
        }
        // Asking first keeps a miss from copying anything.
        if !self.leaf(entry.tag).holds(entry) {
            return;
        }
        let mut node = &mut self.root;
        let mut bits = 0;
        loop {
            match node {
                Node::Branch(children) => node = &mut Arc::make_mut(children)[entry.place(bits, FAN)],
                Node::Twig(leaves) => {
                    let leaves = Arc::make_mut(leaves);
                    let at = entry.place(bits, leaves.len());
                    own_leaf(leaves, at);
                    return leaves[at].remove(entry);
                }
            }
            bits += FAN_BITS;
        }
    }

    /// From now on everything that is changed is copied: what is tried here keeps others from nothing.
    pub(crate) fn fork(&mut self) {
        self.is_fork = true;
    }

    /// Goes on in place of `lost`, a clone that went on, and leaves out what it has put into shared leaves. Nobody may have
    /// `lost` any more, nor what it came from after this version. It stays a fork where it is not known exactly what that
    /// was: correct, and slower.
    ///
    /// Shape: `lost_key` and `own_key` give the key of a slot in the version of either; own slots are below `end`.
    pub(crate) fn go_on_after(
        &mut self,
        lost: &IdMap,
        end: u32,
        lost_key: impl Fn(u32) -> Option<u128>,
        own_key: impl Fn(u32) -> Option<u128>,
    ) {
        let has_put_the_last = Arc::ptr_eq(&self.shared_end, &lost.shared_end)
            && lost.known_end > self.known_end
            && self.shared_end.load(Relaxed) == lost.known_end;
        // What was put in and removed again, `lost` does not tell any more.
        if !has_put_the_last || lost.removed_end > self.known_end {
            return;
        }
        for slot in self.known_end..lost.known_end {
            if let Some(key) = lost_key(slot).filter(|key| own_key(slot) != Some(*key)) {
                self.remove(key, slot);
            }
        }
        (self.known_end, self.is_fork, self.removed_end) = (end, false, lost.removed_end);
        self.shared_end = Arc::new(AtomicU32::new(end));
    }
}

impl Default for IdMap {
    fn default() -> IdMap {
        IdMap::new()
    }
}

// Where the run of a place starts, and its length.
fn run(leaves: &Twig, at: usize) -> (usize, usize) {
    let is_same = |other: &&Arc<Leaf>| Arc::ptr_eq(other, &leaves[at]);
    let before = leaves[..at].iter().rev().take_while(is_same).count();
    let after = leaves[at..].iter().take_while(is_same).count();
    (at - before, before + after)
}

// Makes a leaf that a clone has, too, one that only this twig has, which no clone has.
fn own_leaf(leaves: &mut Twig, at: usize) {
    let (start, run_len) = run(leaves, at);
    if Arc::strong_count(&leaves[at]) > run_len {
        let copy = Arc::new(leaves[at].copy());
        leaves[start..start + run_len].fill(copy);
    }
    // Order: clones that are gone have read all they wanted.
    fence(Acquire);
}

// Puts an entry into its leaf, or into a copy; if it is full, into one that has only what is our own, or divides that as
// often as it has a run to divide, or can get one; false if it is full even so.
fn insert_into(leaves: &mut Arc<Twig>, entry: Entry, bits: u32, is_own: &dyn Fn(&Entry) -> bool) -> bool {
    let at = entry.place(bits, leaves.len());
    if leaves[at].has_room() {
        let leaves = Arc::make_mut(leaves);
        own_leaf(leaves, at);
        // The copy may be full: of what another thread has put in meanwhile.
        if leaves[at].insert(entry) {
            return true;
        }
    }
    let mut kept: Vec<Entry> = leaves[at].iter().filter(is_own).collect();
    loop {
        let len = leaves.len();
        let at = entry.place(bits, len);
        let (start, run_len) = run(leaves, at);
        if kept.len() < LEAF_ENTRIES_MAX {
            kept.push(entry);
            Arc::make_mut(leaves)[start..start + run_len].fill(Arc::new(Leaf::of(kept)));
            return true;
        }
        if run_len == 1 {
            if len == TWIG_LEN_MAX {
                return false;
            }
            *leaves = leaves.iter().flat_map(|leaf| [leaf, leaf]).cloned().collect();
            continue;
        }
        let middle = start + run_len / 2;
        let (low, high): (Vec<Entry>, _) =
            kept.into_iter().partition(|entry| entry.place(bits, len) < middle);
        let leaves = Arc::make_mut(leaves);
        leaves[start..middle].fill(Arc::new(Leaf::of(low.iter().copied())));
        leaves[middle..start + run_len].fill(Arc::new(Leaf::of(high.iter().copied())));
        kept = if at < middle { low } else { high };
    }
}

// True if a twig that so many bits led to may become a branch, whose twigs can grow as long again.
fn may_branch(bits: u32) -> bool {
    bits + FAN_BITS + TWIG_BITS_MAX <= u32::BITS
}

// A branch with a twig for each digit, of a twig as long as one can be. Leaves of one digit stay as they are.
fn spread(leaves: &Twig, bits: u32) -> Node {
    let part_len = leaves.len() / FAN;
    Node::Branch(Arc::new(from_fn(|digit| {
        let part = &leaves[digit * part_len..][..part_len];
        Node::Twig(if run(leaves, digit * part_len).1 <= part_len {
            Arc::from(part)
        } else {
            let own = part[0].iter().filter(|entry| entry.place(bits, FAN) == digit);
            Arc::new([Arc::new(Leaf::of(own))])
        })
    })))
}

// Builds the node for entries in the order of their tags that agree in their first `bits`.
fn build(entries: &[Entry], bits: u32, surplus: &mut Vec<Entry>) -> Node {
    let below = |end: usize, len: usize| entries.partition_point(|entry| entry.place(bits, len) < end);
    let at = |at: usize, len: usize| &entries[below(at, len)..below(at + 1, len)];
    let is_enough = |len: &usize| (0..*len).all(|place| at(place, *len).len() <= LEAF_ENTRIES_MAX);
    let enough = (0..=TWIG_BITS_MAX).map(|bits| 1 << bits).find(is_enough);
    if enough.is_none() && may_branch(bits) {
        return Node::Branch(Arc::new(from_fn(|digit| build(at(digit, FAN), bits + FAN_BITS, surplus))));
    }
    let (empty, len) = (Arc::new(Leaf::of([])), enough.unwrap_or(TWIG_LEN_MAX));
    let mut leaves = vec![empty; len];
    build_run(&mut leaves, entries, &|entry| entry.place(bits, len), 0, surplus);
    Node::Twig(leaves.into())
}

// Fills the leaves of a run that starts at the place `start`.
fn build_run(
    leaves: &mut [Arc<Leaf>],
    entries: &[Entry],
    place: &dyn Fn(&Entry) -> usize,
    start: usize,
    surplus: &mut Vec<Entry>,
) {
    if leaves.len() == 1 || entries.len() <= LEAF_ENTRIES_MAX {
        let (held, rest) = entries.split_at(entries.len().min(LEAF_ENTRIES_MAX));
        surplus.extend_from_slice(rest);
        return leaves.fill(Arc::new(Leaf::of(held.iter().copied())));
    }
    let half = leaves.len() / 2;
    let (low, high) = entries.split_at(entries.partition_point(|entry| place(entry) < start + half));
    let (low_leaves, high_leaves) = leaves.split_at_mut(half);
    build_run(low_leaves, low, place, start, surplus);
    build_run(high_leaves, high, place, start + half, surplus);
}

#[inline]
fn halves(key: u128) -> [u64; 2] {
    [key as u64, (key >> 64) as u64]
}

// The product spreads what a weak hash has in its low bits over the bits that the tree looks at first.
#[inline]
fn tag(key: [u64; 2]) -> u32 {
    (hash_number(key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

// Which of `len` parts of equal size, a power of two, what is left of a tag is in: its highest bits.
#[inline]
fn place(rest: u32, len: usize) -> usize {
    ((u64::from(rest) * len as u64) >> u32::BITS) as usize
}
