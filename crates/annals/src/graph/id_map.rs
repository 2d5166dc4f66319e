//! Finds slots by the hash of a key in a tree whose parts are shared between snapshots.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

mod leaf;
#[cfg(test)]
mod tests;

use leaf::{LEAF_ENTRIES_MAX, Leaf};

const FAN_BITS: i32 = 5;
const FAN: usize = 1 << FAN_BITS;
// The place of the first digit: the tree looks at the tag from its highest bits down.
const ROOT_SHIFT: i32 = 32 - FAN_BITS;
// Slots did not come in order.
const DISORDER: u32 = u32::MAX;

/// A persistent map from hashes to slots. It does not store keys: the caller says whether a slot has the key.
///
/// A clone costs three reference counts. An insertion into a leaf with room copies nothing: all clones see the entry, and
/// the caller, who is asked, knows whether its slot has the key in his version. So an entry may be of a version that came
/// later, or of one that was thrown away; a leaf forgets those when it is full.
/// Shape: a trie over 32 bits of the hash; several slots may have one hash.
/// Units: slots are below `u32::MAX`. About 15 to 20 bytes per entry.
/// Source: the runs of a twig are the directory of extendible hashing, Fagin et al. 1979.
#[derive(Clone)]
pub(crate) struct IdMap {
    root: Arc<Node>,
    // Entries that agree in all the bits that the tree looks at and find no room in their leaf, in no order.
    surplus: Arc<Vec<u64>>,
    // Above all slots that this map or a clone ever got; `DISORDER` once one of them got a slot below it. Until then there
    // is one history, and nothing of it was thrown away.
    slots_end: Arc<AtomicU32>,
}

// Leaves are no nodes: what a look-up learns about them is then in the node above, which is more likely in the cache.
#[derive(Clone)]
enum Node {
    // A child for each digit.
    Branch([Arc<Node>; FAN]),
    Twig(Twig),
}

// A leaf answers for a run of neighbouring digits and stands at the first of them. So a full leaf is split in two
// instead of in 32 nearly empty ones.
// Invariant: runs are aligned and their lengths are powers of two.
#[derive(Clone)]
#[repr(C)] // The starts lie beside what tells a twig from a branch, in one cache line.
struct Twig {
    // Bit `d` is set when a run starts at digit `d`.
    starts: u32,
    leaves: [Option<Arc<Leaf>>; FAN],
}

impl IdMap {
    /// An empty map.
    pub(crate) fn new() -> IdMap {
        IdMap::from_hashed([])
    }

    /// Builds a map of many entries at once, several times faster than inserting them.
    ///
    /// Shape: `[(hash, slot)]` in any order.
    pub(crate) fn from_hashed(entries: impl IntoIterator<Item = (u64, u32)>) -> IdMap {
        let mut entries: Vec<u64> = entries.into_iter().map(|(hash, slot)| entry(hash, slot)).collect();
        entries.sort_unstable();
        let slots_end = entries.iter().map(|entry| slot_of(*entry) + 1).max().unwrap_or_default();
        let mut surplus = Vec::new();
        let root = Arc::new(build(&entries, ROOT_SHIFT, &mut surplus));
        IdMap { root, surplus: Arc::new(surplus), slots_end: Arc::new(AtomicU32::new(slots_end)) }
    }

    /// The slot under `hash` for which `is_it` is true: the caller compares the key of that slot, and says no to a slot
    /// that is not in his version.
    #[inline]
    pub(crate) fn get(&self, hash: u64, is_it: impl Fn(u32) -> bool + Copy) -> Option<u32> {
        let tag = tag(hash);
        let found = self.leaf(tag).get(tag, is_it);
        if found.is_none() && !self.surplus.is_empty() { self.get_surplus(tag, is_it) } else { found }
    }

    #[cold]
    fn get_surplus(&self, tag: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = self.surplus.iter().filter(|entry| tag_of(**entry) == tag).map(|entry| slot_of(*entry));
        slots.into_iter().find(|slot| is_it(*slot))
    }

    /// Reads the memory that looking up `hash` will need.
    #[inline]
    pub(crate) fn look_ahead(&self, hash: u64) {
        let tag = tag(hash);
        self.leaf(tag).look_ahead(tag);
    }

    #[inline]
    fn leaf(&self, tag: u32) -> &Leaf {
        let mut node = &*self.root;
        let mut shift = ROOT_SHIFT;
        loop {
            match node {
                Node::Branch(children) => node = &children[digit(tag, shift) as usize],
                Node::Twig(twig) => return twig.leaf(twig.head(digit(tag, shift))),
            }
            shift -= FAN_BITS;
        }
    }

    /// Adds a slot under `hash`. The caller knows that it is not there yet, and the hash of the key that a slot has in his
    /// version, if it has one.
    pub(crate) fn insert(&mut self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> Option<u64>) {
        let entry = entry(hash, slot);
        if self.slots_end.fetch_max(slot + 1, Relaxed) > slot {
            self.slots_end.store(DISORDER, Relaxed);
        }
        if self.leaf(tag_of(entry)).insert(entry) {
            return;
        }
        let is_ordered = self.slots_end.load(Relaxed) != DISORDER;
        let is_own =
            |entry: u64| is_ordered || hash_of(slot_of(entry)).is_some_and(|hash| tag(hash) == tag_of(entry));
        self.insert_with_room(entry, &is_own);
    }

    #[inline(never)]
    fn insert_with_room(&mut self, entry: u64, is_own: &dyn Fn(u64) -> bool) {
        let mut node = Arc::make_mut(&mut self.root);
        let mut shift = ROOT_SHIFT;
        loop {
            let digit = digit(tag_of(entry), shift);
            if let Node::Twig(twig) = node
                && !twig.make_room(digit, shift, is_own)
            {
                if shift < FAN_BITS {
                    return Arc::make_mut(&mut self.surplus).push(entry);
                }
                *node = twig.spread(shift);
            }
            match node {
                Node::Branch(children) => node = Arc::make_mut(&mut children[digit as usize]),
                Node::Twig(twig) => {
                    let is_inserted = twig.leaf(twig.head(digit)).insert(entry);
                    assert!(is_inserted, "nobody else has the leaf that was made");
                    return;
                }
            }
            shift -= FAN_BITS;
        }
    }

    /// Removes the slot under `hash`. Clones keep it.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) {
        let entry = entry(hash, slot);
        if self.surplus.contains(&entry) {
            Arc::make_mut(&mut self.surplus).retain(|held| *held != entry);
        }
        // Asking first keeps a miss from copying anything.
        if !self.leaf(tag_of(entry)).iter().any(|held| held == entry) {
            return;
        }
        let mut node = Arc::make_mut(&mut self.root);
        let mut shift = ROOT_SHIFT;
        loop {
            let digit = digit(tag_of(entry), shift);
            match node {
                Node::Branch(children) => node = Arc::make_mut(&mut children[digit as usize]),
                Node::Twig(twig) => return twig.retain(twig.head(digit), &|held| held != entry),
            }
            shift -= FAN_BITS;
        }
    }
}

impl Default for IdMap {
    fn default() -> IdMap {
        IdMap::new()
    }
}

impl Twig {
    fn new() -> Twig {
        Twig { starts: 0, leaves: [const { None }; FAN] }
    }

    // A twig with `leaf` as its only one.
    fn over(leaf: Arc<Leaf>) -> Twig {
        let mut twig = Twig::new();
        twig.put(0, leaf);
        twig
    }

    // Puts a leaf where a run starts.
    fn put(&mut self, head: usize, leaf: Arc<Leaf>) {
        self.starts |= 1 << head;
        self.leaves[head] = Some(leaf);
    }

    // The digit at which the run of `digit` starts.
    #[inline]
    fn head(&self, digit: u32) -> usize {
        let up_to_digit = self.starts & (u32::MAX >> (31 - digit));
        // Bit 0 is always set, because the first run starts at digit 0.
        (31 - up_to_digit.leading_zeros()) as usize % FAN
    }

    fn run_len(&self, head: usize) -> usize {
        let above = self.starts >> head >> 1;
        if above == 0 { FAN - head } else { above.trailing_zeros() as usize + 1 }
    }

    #[inline]
    fn leaf(&self, head: usize) -> &Leaf {
        self.leaves[head].as_deref().expect("a run has a leaf at its head")
    }

    // Leaves out what is not to be kept.
    fn retain(&mut self, head: usize, is_kept: &dyn Fn(u64) -> bool) {
        let kept = Leaf::of(self.leaf(head).iter().filter(|entry| is_kept(*entry)));
        self.put(head, Arc::new(kept));
    }

    // Makes room in the leaf of a digit, if it is full: leaves out what is not ours, or divides it as often as it has a run
    // to divide; false if it is full even so.
    fn make_room(&mut self, digit: u32, shift: i32, is_own: &dyn Fn(u64) -> bool) -> bool {
        loop {
            let head = self.head(digit);
            if self.leaf(head).has_room() {
                return true;
            }
            if self.leaf(head).iter().any(|entry| !is_own(entry)) {
                self.retain(head, is_own);
                continue;
            }
            if self.run_len(head) == 1 {
                return false;
            }
            self.split(head, shift);
        }
    }

    // Divides the run at `head`, and its entries with it.
    fn split(&mut self, head: usize, shift: i32) {
        let middle = head + self.run_len(head) / 2;
        let is_low = |entry: &u64| (digit(tag_of(*entry), shift) as usize) < middle;
        let leaf = self.leaf(head);
        let low = Leaf::of(leaf.iter().filter(is_low));
        let high = Leaf::of(leaf.iter().filter(|entry| !is_low(entry)));
        self.put(head, Arc::new(low));
        self.put(middle, Arc::new(high));
    }

    // A branch with a twig for each digit, which takes the leaf of the digit as it is.
    fn spread(&mut self, shift: i32) -> Node {
        for head in 0..FAN {
            while self.starts & 1 << head != 0 && self.run_len(head) > 1 {
                self.split(head, shift);
            }
        }
        let mut leaf = |digit: usize| self.leaves[digit].take().expect("every digit has its own run");
        Node::Branch(std::array::from_fn(|digit| Arc::new(Node::Twig(Twig::over(leaf(digit))))))
    }
}

// Builds the node for sorted entries that agree in all digits before the one at `shift`.
fn build(entries: &[u64], shift: i32, surplus: &mut Vec<u64>) -> Node {
    let below = |digit_end: u32| entries.partition_point(|entry| digit(tag_of(*entry), shift) < digit_end);
    let ends: [usize; FAN] = std::array::from_fn(|digit| below(digit as u32 + 1));
    let of_digit = |at: usize| if at == 0 { 0..ends[0] } else { ends[at - 1]..ends[at] };
    if shift >= FAN_BITS && (0..FAN).any(|at| of_digit(at).len() > LEAF_ENTRIES_MAX) {
        let child = |at| Arc::new(build(&entries[of_digit(at)], shift - FAN_BITS, surplus));
        return Node::Branch(std::array::from_fn(child));
    }
    let mut twig = Twig::new();
    build_run(&mut twig, entries, shift, 0, FAN, surplus);
    Node::Twig(twig)
}

fn build_run(
    twig: &mut Twig,
    entries: &[u64],
    shift: i32,
    head: usize,
    run_len: usize,
    surplus: &mut Vec<u64>,
) {
    if run_len == 1 || entries.len() <= LEAF_ENTRIES_MAX {
        let (held, rest) = entries.split_at(entries.len().min(LEAF_ENTRIES_MAX));
        surplus.extend_from_slice(rest);
        return twig.put(head, Arc::new(Leaf::of(held.iter().copied())));
    }
    let middle = head + run_len / 2;
    let (low, high) =
        entries.split_at(entries.partition_point(|entry| (digit(tag_of(*entry), shift) as usize) < middle));
    build_run(twig, low, shift, head, run_len / 2, surplus);
    build_run(twig, high, shift, middle, run_len / 2, surplus);
}

// The product spreads what a weak hash has in its low bits over the bits that the tree looks at first.
fn tag(hash: u64) -> u32 {
    ((hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32).min(u32::MAX - 1)
}

fn entry(hash: u64, slot: u32) -> u64 {
    assert!(slot != u32::MAX, "slot {slot} is reserved for empty places");
    u64::from(tag(hash)) << 32 | u64::from(slot)
}

fn tag_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

fn slot_of(entry: u64) -> u32 {
    entry as u32
}

fn digit(tag: u32, shift: i32) -> u32 {
    tag >> shift & (FAN as u32 - 1)
}
