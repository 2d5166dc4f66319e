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
const LEAF_ENTRIES_MAX: usize = 56;
// Half of the maximum, so that a leaf that was merged does not split again at once.
const MERGED_ENTRIES_MAX: usize = LEAF_ENTRIES_MAX / 2;
// The tag and the slot of empty places.
const EMPTY: u32 = u32::MAX;

/// A persistent map from hashes to slots. It does not store keys: the caller says whether a slot has the key.
///
/// A clone costs two reference counts, and a change copies only what a clone still shares: one leaf of 512 bytes
/// and one node per level.
/// Shape: a trie over 32 bits of the hash; several slots may have one hash.
/// Units: slots are below `u32::MAX`. About 15 to 20 bytes per entry.
/// Source: the runs of a twig are the directory of extendible hashing, Fagin et al. 1979.
#[derive(Clone)]
pub(crate) struct IdMap {
    len: usize,
    root: Arc<Node>,
    // Entries that agree in all the bits that the tree looks at and find no room in their leaf, in no order.
    surplus: Arc<Vec<u64>>,
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
    // How many entries the leaf at each digit has.
    counts: [u8; FAN],
    leaves: [Option<Arc<Leaf>>; FAN],
}

// A small hash table of buckets that the lowest bits of the tag choose; what finds its bucket full goes into the next
// one with room. All tags of a bucket are compared before anything is decided: a loop that ends as soon as it finds
// would end at another place each time, and a processor that guessed wrong starts over with all it had begun.
#[derive(Clone)]
struct Leaf {
    buckets: [Bucket; LEAF_BUCKETS],
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
        IdMap::from_hashed([])
    }

    /// Builds a map of many entries at once, several times faster than inserting them.
    ///
    /// Shape: `[(hash, slot)]` in any order.
    pub(crate) fn from_hashed(entries: impl IntoIterator<Item = (u64, u32)>) -> IdMap {
        let mut entries: Vec<u64> = entries.into_iter().map(|(hash, slot)| entry(hash, slot)).collect();
        entries.sort_unstable();
        let mut surplus = Vec::new();
        let root = Arc::new(build(&entries, ROOT_SHIFT, &mut surplus));
        IdMap { len: entries.len(), root, surplus: Arc::new(surplus) }
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
        let found = self.leaf(tag).get(tag, &mut is_it);
        if found.is_none() && !self.surplus.is_empty() { self.get_surplus(tag, &mut is_it) } else { found }
    }

    #[cold]
    fn get_surplus(&self, tag: u32, is_it: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let slots = self.surplus.iter().filter(|entry| tag_of(**entry) == tag).map(|entry| slot_of(*entry));
        slots.into_iter().find(|slot| is_it(*slot))
    }

    /// Reads the memory that looking up `hash` will need.
    #[inline]
    pub(crate) fn look_ahead(&self, hash: u64) {
        let tag = tag(hash);
        std::hint::black_box(self.leaf(tag).buckets[home(tag)].tags[0]);
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

    /// Adds a slot under `hash`. The caller knows that it is not there yet.
    pub(crate) fn insert(&mut self, hash: u64, slot: u32) {
        let entry = entry(hash, slot);
        self.len += 1;
        let mut node = Arc::make_mut(&mut self.root);
        let mut shift = ROOT_SHIFT;
        loop {
            let digit = digit(tag_of(entry), shift);
            if let Node::Twig(twig) = node
                && !twig.make_room(digit, shift)
            {
                if shift < FAN_BITS {
                    return Arc::make_mut(&mut self.surplus).push(entry);
                }
                *node = twig.spread(shift);
            }
            match node {
                Node::Branch(children) => node = Arc::make_mut(&mut children[digit as usize]),
                Node::Twig(twig) => return twig.insert(digit, entry),
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
        let entry = entry(hash, slot);
        self.len -= 1;
        match self.surplus.iter().position(|held| *held == entry) {
            Some(place) => drop(Arc::make_mut(&mut self.surplus).swap_remove(place)),
            None => remove(&mut self.root, entry, ROOT_SHIFT),
        }
        true
    }
}

impl Default for IdMap {
    fn default() -> IdMap {
        IdMap::new()
    }
}

impl Twig {
    fn new() -> Twig {
        Twig { starts: 0, counts: [0; FAN], leaves: [const { None }; FAN] }
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
        self.counts[head] = leaf.count() as u8;
        self.leaves[head] = Some(leaf);
    }

    // Adds to a leaf that has room.
    fn insert(&mut self, digit: u32, entry: u64) {
        let head = self.head(digit);
        self.counts[head] += 1;
        self.leaf_mut(head).insert(entry);
    }

    fn count(&self, head: usize) -> usize {
        self.counts[head].into()
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

    fn leaf_mut(&mut self, head: usize) -> &mut Leaf {
        Arc::make_mut(self.leaves[head].as_mut().expect("a run has a leaf at its head"))
    }

    // Splits the leaf of a digit as often as it is full and has a run to divide; false if it is full even so.
    fn make_room(&mut self, digit: u32, shift: i32) -> bool {
        loop {
            let head = self.head(digit);
            if self.count(head) < LEAF_ENTRIES_MAX {
                return true;
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
        let (low, high) = self.leaf(head).split(shift, middle);
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

    // What [`Twig::spread`] made a branch of, with few entries in each leaf; `None` for other branches.
    fn gathered(children: &[Arc<Node>; FAN]) -> Option<Twig> {
        let mut twig = Twig::new();
        for (digit, child) in children.iter().enumerate() {
            match &**child {
                Node::Twig(child) if child.starts == 1 && child.count(0) <= MERGED_ENTRIES_MAX => {
                    twig.put(digit, Arc::clone(child.leaves[0].as_ref()?));
                }
                _ => return None,
            }
        }
        (0..FAN).rev().for_each(|head| twig.merge(head));
        Some(twig)
    }

    // Merges the leaf at `head` with the other half of the run it was split from, as often as few entries are left.
    fn merge(&mut self, mut head: usize) {
        while self.starts & 1 << head != 0 {
            let run_len = self.run_len(head);
            let other = head ^ run_len;
            if run_len == FAN || self.starts & (1 << other) == 0 || self.run_len(other) != run_len {
                return;
            }
            if self.count(head) + self.count(other) > MERGED_ENTRIES_MAX {
                return;
            }
            let mut merged = self.leaf(head).clone();
            self.leaf(other).iter().for_each(|entry| merged.insert(entry));
            self.starts &= !(1 << head.max(other));
            self.leaves[head.max(other)] = None;
            head = head.min(other);
            self.put(head, Arc::new(merged));
        }
    }
}

impl Leaf {
    fn new() -> Leaf {
        let empty = Bucket { tags: [EMPTY; BUCKET_PLACES], slots: [EMPTY; BUCKET_PLACES] };
        Leaf { buckets: [empty; LEAF_BUCKETS] }
    }

    fn count(&self) -> usize {
        let is_taken = |bucket: &Bucket| bucket.tags.map(|tag| usize::from(tag != EMPTY));
        self.buckets.iter().flat_map(is_taken).sum()
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
            while let Some(slot) = bucket.slots.get(matches.trailing_zeros() as usize) {
                if is_it(*slot) {
                    return Some(*slot);
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
        self.slots[BUCKET_PLACES - 1] == EMPTY
    }

    // A bit for each place with this tag, and above them how many they are. Of such a sum of weights the compiler makes
    // half as many instructions as of shifted truth values.
    #[inline]
    fn places_of(&self, tag: u32) -> u32 {
        let weights = (0..).map(|place| 1u32 << place | 1 << BUCKET_PLACES);
        let sum = self.tags.iter().zip(weights).map(|(held, weight)| if *held == tag { weight } else { 0 });
        sum.fold(0, u32::wrapping_add)
    }
}

// Removes an entry that is in the tree.
fn remove(node: &mut Arc<Node>, entry: u64, shift: i32) {
    let digit = digit(tag_of(entry), shift);
    match Arc::make_mut(node) {
        Node::Twig(twig) => {
            let head = twig.head(digit);
            twig.leaf_mut(head).remove(entry);
            twig.counts[head] -= 1;
            twig.merge(head);
        }
        Node::Branch(children) => {
            remove(&mut children[digit as usize], entry, shift - FAN_BITS);
            if let Some(twig) = Twig::gathered(children) {
                *node = Arc::new(Node::Twig(twig));
            }
        }
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
        let mut leaf = Leaf::new();
        held.iter().for_each(|entry| leaf.insert(*entry));
        surplus.extend_from_slice(rest);
        return twig.put(head, Arc::new(leaf));
    }
    let middle = head + run_len / 2;
    let (low, high) =
        entries.split_at(entries.partition_point(|entry| (digit(tag_of(*entry), shift) as usize) < middle));
    build_run(twig, low, shift, head, run_len / 2, surplus);
    build_run(twig, high, shift, middle, run_len / 2, surplus);
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
