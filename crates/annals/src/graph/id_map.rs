//! Finds slots by the hash of a key in a tree whose parts are shared between snapshots.

use std::sync::Arc;

#[cfg(test)]
mod tests;

const FAN_BITS: i32 = 5;
const FAN: usize = 1 << FAN_BITS;
// The place of the first digit: the tree looks at the tag from its highest bits down.
const ROOT_SHIFT: i32 = 32 - FAN_BITS;
const LEAF_BUCKETS: usize = 8;
const BUCKET_PLACES: usize = 8;
// Below the number of places, so that looking for a key always ends at a bucket with room, and as a rule at the first.
const LEAF_ENTRIES_MAX: u32 = 56;
// Half of the maximum, so that a leaf that was merged does not split again at once.
const MERGED_ENTRIES_MAX: u32 = LEAF_ENTRIES_MAX / 2;
// The tag and the slot of empty places.
const EMPTY: u32 = u32::MAX;

/// A persistent map from hashes to slots. It does not store keys: the caller says whether a slot has the key.
///
/// A clone costs one reference count, and a change copies only what a clone still shares: one leaf of 512 bytes
/// and one node per level.
/// Shape: a trie over 32 bits of the hash; several slots may have one hash.
/// Units: slots are below `u32::MAX`. About 16 to 21 bytes per entry.
/// Source: the runs of a branch are the directory of extendible hashing, Fagin et al. 1979.
#[derive(Clone)]
pub(crate) struct IdMap {
    len: usize,
    root: Arc<Node>,
}

// There is one branch for about twenty leaves, so the room that a branch leaves unused costs less than a second
// pointer on the way to each leaf would.
#[expect(clippy::large_enum_variant)]
#[derive(Clone)]
enum Node {
    Branch(Branch),
    Leaf(Leaf),
    // Entries that agree in all the bits that the tree looks at, in no order.
    Overflow(Vec<u64>),
}

// A child answers for a run of neighbouring digits and stands at the first of them. So a full leaf is split in two
// instead of in 32 nearly empty ones.
// Invariant: runs are aligned and their lengths are powers of two; a child that is a branch has a run of one digit.
#[derive(Clone)]
struct Branch {
    // Bit `d` is set when a run starts at digit `d`.
    starts: u32,
    children: [Option<Arc<Node>>; FAN],
}

// A small hash table of buckets that the lowest bits of the tag choose; what finds its bucket full goes into the next
// one with room. All tags of a bucket are compared before anything is decided: a loop that ends as soon as it finds
// would end at another place each time, and a processor that guessed wrong starts over with all it had begun.
#[derive(Clone)]
struct Leaf {
    buckets: [Bucket; LEAF_BUCKETS],
    count: u32,
}

// One cache line. It fills from the front.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    tags: [u32; BUCKET_PLACES],
    slots: [u32; BUCKET_PLACES],
}

impl IdMap {
    /// An empty map.
    pub(crate) fn new() -> IdMap {
        IdMap { len: 0, root: Arc::new(Node::Leaf(Leaf::new())) }
    }

    /// Builds a map of many entries at once, several times faster than inserting them.
    ///
    /// Shape: `[(hash, slot)]` in any order.
    pub(crate) fn from_hashed(entries: impl IntoIterator<Item = (u64, u32)>) -> IdMap {
        let mut entries: Vec<u64> = entries.into_iter().map(|(hash, slot)| entry(hash, slot)).collect();
        entries.sort_unstable();
        IdMap { len: entries.len(), root: Arc::new(build(&entries, ROOT_SHIFT)) }
    }

    /// Counts the entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot under `hash` for which `is_it` is true: the caller compares the key of that slot.
    #[inline]
    pub(crate) fn get(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        let mut node = &*self.root;
        let mut shift = ROOT_SHIFT;
        loop {
            match node {
                Node::Branch(branch) => node = branch.child(branch.head(digit(tag, shift))),
                Node::Leaf(leaf) => return leaf.get(tag, is_it),
                Node::Overflow(entries) => {
                    let slots =
                        entries.iter().filter(|entry| tag_of(**entry) == tag).map(|entry| slot_of(*entry));
                    return slots.into_iter().find(|slot| is_it(*slot));
                }
            }
            shift -= FAN_BITS;
        }
    }

    /// Reads the memory that looking up `hash` will need.
    #[inline]
    pub(crate) fn look_ahead(&self, hash: u64) {
        let tag = tag(hash);
        let mut node = &*self.root;
        let mut shift = ROOT_SHIFT;
        while let Node::Branch(branch) = node {
            node = branch.child(branch.head(digit(tag, shift)));
            shift -= FAN_BITS;
        }
        if let Node::Leaf(leaf) = node {
            std::hint::black_box(leaf.buckets[home(tag)].tags[0]);
        }
    }

    /// Adds a slot under `hash`. The caller knows that it is not there yet.
    pub(crate) fn insert(&mut self, hash: u64, slot: u32) {
        let entry = entry(hash, slot);
        self.len += 1;
        let mut node = Arc::make_mut(&mut self.root);
        let mut shift = ROOT_SHIFT;
        loop {
            if let Node::Leaf(leaf) = node
                && leaf.is_full()
            {
                *node = if shift < 0 {
                    Node::Overflow(leaf.iter().collect())
                } else {
                    Branch::over(leaf.clone())
                };
            }
            match node {
                Node::Branch(branch) => node = Arc::make_mut(branch.child_with_room(tag_of(entry), shift)),
                Node::Leaf(leaf) => return leaf.insert(entry),
                Node::Overflow(entries) => return entries.push(entry),
            }
            shift -= FAN_BITS;
        }
    }

    /// Removes the slot under `hash` and says whether it was there.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) -> bool {
        // Asking first keeps a miss from copying anything.
        if self.get(hash, |found| found == slot).is_none() {
            return false;
        }
        remove(&mut self.root, entry(hash, slot), ROOT_SHIFT);
        self.len -= 1;
        true
    }
}

impl Default for IdMap {
    fn default() -> IdMap {
        IdMap::new()
    }
}

impl Branch {
    // A branch with `leaf` as its only child.
    fn over(leaf: Leaf) -> Node {
        let mut children = [const { None }; FAN];
        children[0] = Some(Arc::new(Node::Leaf(leaf)));
        Node::Branch(Branch { starts: 1, children })
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
    fn child(&self, head: usize) -> &Node {
        self.children[head].as_deref().expect("a run has a child at its head")
    }

    // The child for `tag`, after splitting it as often as it is a full leaf with a run to divide.
    fn child_with_room(&mut self, tag: u32, shift: i32) -> &mut Arc<Node> {
        loop {
            let head = self.head(digit(tag, shift));
            let run_len = self.run_len(head);
            match self.child(head) {
                Node::Leaf(leaf) if leaf.is_full() && run_len > 1 => {
                    let (low, high) = leaf.split(shift, head + run_len / 2);
                    self.starts |= 1 << (head + run_len / 2);
                    self.children[head] = Some(Arc::new(Node::Leaf(low)));
                    self.children[head + run_len / 2] = Some(Arc::new(Node::Leaf(high)));
                }
                _ => return self.children[head].as_mut().expect("a run has a child at its head"),
            }
        }
    }

    // Merges the leaf at `head` with the other half of the run it was split from, as often as few entries are left.
    fn merge(&mut self, mut head: usize) {
        loop {
            let run_len = self.run_len(head);
            let other = head ^ run_len;
            if run_len == FAN || self.starts & (1 << other) == 0 || self.run_len(other) != run_len {
                return;
            }
            let (Node::Leaf(leaf), Node::Leaf(other_leaf)) = (self.child(head), self.child(other)) else {
                return;
            };
            if leaf.count + other_leaf.count > MERGED_ENTRIES_MAX {
                return;
            }
            let mut merged = leaf.clone();
            other_leaf.iter().for_each(|entry| merged.insert(entry));
            self.starts &= !(1 << head.max(other));
            self.children[head.max(other)] = None;
            head = head.min(other);
            self.children[head] = Some(Arc::new(Node::Leaf(merged)));
        }
    }
}

impl Leaf {
    fn new() -> Leaf {
        let empty = Bucket { tags: [EMPTY; BUCKET_PLACES], slots: [EMPTY; BUCKET_PLACES] };
        Leaf { buckets: [empty; LEAF_BUCKETS], count: 0 }
    }

    fn is_full(&self) -> bool {
        self.count == LEAF_ENTRIES_MAX
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        let pairs = self.buckets.iter().flat_map(|bucket| bucket.tags.iter().zip(&bucket.slots));
        pairs.filter(|(tag, _)| **tag != EMPTY).map(|(tag, slot)| u64::from(*tag) << 32 | u64::from(*slot))
    }

    #[inline]
    fn get(&self, tag: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = home(tag);
        loop {
            let bucket = &self.buckets[at];
            let mut matches = bucket.places_of(tag);
            while matches != 0 {
                let slot = bucket.slots[matches.trailing_zeros() as usize % BUCKET_PLACES];
                if is_it(slot) {
                    return Some(slot);
                }
                matches &= matches - 1;
            }
            if bucket.has_room() {
                return None;
            }
            at = (at + 1) % LEAF_BUCKETS;
        }
    }

    fn insert(&mut self, entry: u64) {
        let mut at = home(tag_of(entry));
        while !self.buckets[at].has_room() {
            at = (at + 1) % LEAF_BUCKETS;
        }
        let bucket = &mut self.buckets[at];
        let place = bucket.places_of(EMPTY).trailing_zeros() as usize;
        (bucket.tags[place], bucket.slots[place]) = (tag_of(entry), slot_of(entry));
        self.count += 1;
    }

    // Builds the leaf anew: what went to another bucket for want of room must be found without it.
    fn remove(&mut self, entry: u64) {
        let mut rest = Leaf::new();
        self.iter().filter(|held| *held != entry).for_each(|held| rest.insert(held));
        *self = rest;
    }

    // The entries with a digit below `middle` and the others.
    fn split(&self, shift: i32, middle: usize) -> (Leaf, Leaf) {
        let (mut low, mut high) = (Leaf::new(), Leaf::new());
        for entry in self.iter() {
            let side = if (digit(tag_of(entry), shift) as usize) < middle { &mut low } else { &mut high };
            side.insert(entry);
        }
        (low, high)
    }
}

impl Bucket {
    #[inline]
    fn has_room(&self) -> bool {
        self.tags[BUCKET_PLACES - 1] == EMPTY
    }

    // A bit for each place with this tag.
    #[inline]
    fn places_of(&self, tag: u32) -> u32 {
        let bits = self.tags.iter().enumerate().map(|(place, held)| u32::from(*held == tag) << place);
        bits.fold(0, |places, bit| places | bit)
    }
}

// Removes an entry that is there.
fn remove(node: &mut Arc<Node>, entry: u64, shift: i32) {
    match Arc::make_mut(node) {
        Node::Leaf(leaf) => leaf.remove(entry),
        Node::Overflow(entries) => {
            let place = entries.iter().position(|found| *found == entry).expect("the entry was found before");
            entries.swap_remove(place);
            if entries.len() <= MERGED_ENTRIES_MAX as usize {
                *node = Arc::new(build(entries, shift));
            }
        }
        Node::Branch(branch) => {
            let head = branch.head(digit(tag_of(entry), shift));
            remove(
                branch.children[head].as_mut().expect("a run has a child at its head"),
                entry,
                shift - FAN_BITS,
            );
            branch.merge(head);
            // A branch that divides nothing any more gives way to its leaf.
            if branch.starts == 1
                && let Some(child) = branch.children[0].take_if(|child| matches!(**child, Node::Leaf(_)))
            {
                *node = child;
            }
        }
    }
}

// Builds the node for sorted entries that agree in all digits before the one at `shift`.
fn build(entries: &[u64], shift: i32) -> Node {
    if entries.len() <= LEAF_ENTRIES_MAX as usize {
        let mut leaf = Leaf::new();
        entries.iter().for_each(|entry| leaf.insert(*entry));
        return Node::Leaf(leaf);
    }
    if shift < 0 {
        return Node::Overflow(entries.to_vec());
    }
    let mut branch = Branch { starts: 0, children: [const { None }; FAN] };
    build_run(&mut branch, entries, shift, 0, FAN);
    Node::Branch(branch)
}

fn build_run(branch: &mut Branch, entries: &[u64], shift: i32, head: usize, run_len: usize) {
    if run_len == 1 || entries.len() <= LEAF_ENTRIES_MAX as usize {
        branch.starts |= 1 << head;
        branch.children[head] = Some(Arc::new(build(entries, shift - FAN_BITS)));
        return;
    }
    let middle = head + run_len / 2;
    let (low, high) =
        entries.split_at(entries.partition_point(|entry| (digit(tag_of(*entry), shift) as usize) < middle));
    build_run(branch, low, shift, head, run_len / 2);
    build_run(branch, high, shift, middle, run_len / 2);
}

// The product spreads what a weak hash has in its low bits over the bits that the tree looks at first.
fn tag(hash: u64) -> u32 {
    ((hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32).min(EMPTY - 1)
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

fn home(tag: u32) -> usize {
    tag as usize % LEAF_BUCKETS
}

fn digit(tag: u32, shift: i32) -> u32 {
    tag >> shift & (FAN as u32 - 1)
}
