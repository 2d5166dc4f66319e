//! A small hash table that one thread fills while others read, and nobody empties.

use std::array::from_fn;
use std::hint::{black_box, select_unpredictable};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::{Entry, halves, tag};

const BUCKETS: usize = 255;
const BUCKET_PLACES: usize = 3;
/// So many tags, a power of two, are spread over the buckets.
const HOME_TAGS: u32 = 1 << 12;
/// Below the number of places, so that looking for a key always ends at a bucket with room, and as a rule at the first.
pub(crate) const LEAF_ENTRIES_MAX: usize = BUCKETS * BUCKET_PLACES * 3 / 4;
// The slot of empty places.
const EMPTY: u32 = u32::MAX;
// The slot of places whose entry was removed: others may have gone further on because it was full.
const REMOVED: u32 = u32::MAX - 1;

/// Entries in buckets that the lowest bits of the tag choose; what finds its bucket full goes into the next one with room.
/// All keys of a bucket are compared before anything is decided: a loop that ends as soon as it finds would end at another
/// place each time, and a processor that guessed wrong starts over with all it had begun.
///
/// In a leaf that is shared, entries come and never go. Whoever looks for an entry got the version that has it from whoever
/// put it in, so that he sees all of it; of another entry he may see a part.
/// Units: 16 KiB with the counts of its `Arc`. So the tree above is small, and in the cache.
pub(crate) struct Leaf {
    buckets: [Bucket; BUCKETS],
}

/// Where looking up a key begins.
#[derive(Clone, Copy)]
pub(crate) struct Home<'g>(&'g Bucket);

impl Home<'_> {
    /// Reads the memory of all that are looked up next: the processor then waits for all of it together. Nothing but the reading
    /// is done, so that as much as it can wait for at a time is on its way.
    pub(crate) fn read_all(homes: &[Home<'_>]) {
        for Home(bucket) in homes {
            black_box(bucket.slots[0].load(Relaxed));
        }
    }
}

// One cache line. It fills from the front.
#[repr(align(64))]
struct Bucket {
    keys: [[AtomicU64; 2]; BUCKET_PLACES],
    slots: [AtomicU32; BUCKET_PLACES],
    // How many entries the leaf has; counted in its first bucket.
    count: AtomicU32,
}

impl Leaf {
    /// A leaf of at most [`LEAF_ENTRIES_MAX`] entries.
    pub(crate) fn of(entries: impl IntoIterator<Item = Entry>) -> Leaf {
        let leaf = Leaf { buckets: from_fn(|_| Bucket::new()) };
        for entry in entries {
            assert!(leaf.insert(entry), "a leaf has at most {LEAF_ENTRIES_MAX} entries");
        }
        leaf
    }

    pub(crate) fn has_room(&self) -> bool {
        (self.buckets[0].count.load(Relaxed) as usize) < LEAF_ENTRIES_MAX
    }

    /// The same entries at the same places: several times faster than [`Leaf::of`]. What another thread is about to put
    /// in may be missing.
    pub(crate) fn copy(&self) -> Leaf {
        let mut copy = Leaf { buckets: from_fn(|at| self.buckets[at].copy()) };
        // Another thread may have put entries in since the count was read: what has come along is counted.
        let slots = copy.buckets.iter().flat_map(|bucket| &bucket.slots);
        let taken = slots.filter(|slot| slot.load(Relaxed) != EMPTY).count();
        *copy.buckets[0].count.get_mut() = taken as u32;
        copy
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry> {
        self.buckets.iter().flat_map(Bucket::iter)
    }

    // The buckets that may have an entry with this tag.
    fn buckets_of(&self, tag: u32) -> impl Iterator<Item = &Bucket> {
        let (before, from_home) = self.buckets.split_at(home(tag));
        let mut is_last = false;
        let is_asked = move |bucket: &&Bucket| !std::mem::replace(&mut is_last, bucket.has_room());
        from_home.iter().chain(before).take_while(is_asked)
    }

    pub(crate) fn holds(&self, entry: Entry) -> bool {
        self.buckets_of(entry.tag).flat_map(Bucket::iter).any(|held| held == entry)
    }

    /// Takes an entry out of a leaf that nobody shares. Its place stays taken.
    pub(crate) fn remove(&self, entry: Entry) {
        for bucket in self.buckets_of(entry.tag) {
            for (slot, key) in bucket.slots.iter().zip(&bucket.keys) {
                let is_it = |key: &[AtomicU64; 2]| key.each_ref().map(|half| half.load(Relaxed)) == entry.key;
                if slot.load(Relaxed) == entry.slot && is_it(key) {
                    slot.store(REMOVED, Relaxed);
                    key.iter().for_each(|half| half.store(0, Relaxed));
                }
            }
        }
    }

    /// The slot of `key`, if it stands where it is looked for first; at least `REMOVED` if it does not.
    #[inline]
    pub(crate) fn find(&self, tag: u32, key: u128) -> u32 {
        self.buckets[home(tag)].find(halves(key))
    }

    /// The slot of `key` for which `is_it` is true.
    #[inline]
    pub(crate) fn get(&self, tag: u32, key: u128, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let key = halves(key);
        let mut at = home(tag);
        loop {
            let bucket = &self.buckets[at];
            match bucket.find(key) {
                EMPTY => {}
                slot if slot < REMOVED && is_it(slot) => return Some(slot),
                _ => {
                    let found = bucket.iter().find(|entry| entry.key == key && is_it(entry.slot));
                    if let Some(entry) = found {
                        return Some(entry.slot);
                    }
                }
            }
            if bucket.has_room() {
                return None;
            }
            at = next(at);
        }
    }

    /// Where looking up `tag` will begin.
    #[inline]
    pub(crate) fn home(&self, tag: u32) -> Home<'_> {
        Home(&self.buckets[home(tag)])
    }

    /// Where adding an entry begins, before its home.
    #[inline]
    pub(crate) fn first(&self) -> Home<'_> {
        Home(&self.buckets[0])
    }

    /// Adds an entry; false, and nothing happens, if there is no room. One thread at a time may.
    pub(crate) fn insert(&self, entry: Entry) -> bool {
        if !self.has_room() {
            return false;
        }
        let count = &self.buckets[0].count;
        count.store(count.load(Relaxed) + 1, Relaxed);
        let mut at = home(entry.tag);
        while !self.buckets[at].insert(entry) {
            at = next(at);
        }
        true
    }
}

impl Bucket {
    fn new() -> Bucket {
        Bucket {
            keys: from_fn(|_| [const { AtomicU64::new(0) }; 2]),
            slots: from_fn(|_| AtomicU32::new(EMPTY)),
            count: AtomicU32::new(0),
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.slots[BUCKET_PLACES - 1].load(Relaxed) == EMPTY
    }

    // The slot beside this key; of several the first. `EMPTY` if it is not there, or being put in.
    #[inline]
    fn find(&self, [low, high]: [u64; 2]) -> u32 {
        let mut found = EMPTY;
        for (slot, key) in self.slots.iter().zip(&self.keys).rev() {
            let differs = (key[0].load(Relaxed) ^ low) | (key[1].load(Relaxed) ^ high);
            // Not `if`, which is a jump.
            found = select_unpredictable(differs == 0, slot.load(Relaxed), found);
        }
        found
    }

    fn copy(&self) -> Bucket {
        // Order: of what has a slot all of the key is there.
        let slots = self.slots.each_ref().map(|slot| AtomicU32::new(slot.load(Acquire)));
        let half = |half: &AtomicU64| AtomicU64::new(half.load(Relaxed));
        let keys = self.keys.each_ref().map(|key| key.each_ref().map(half));
        Bucket { keys, slots, count: AtomicU32::new(0) }
    }

    fn insert(&self, entry: Entry) -> bool {
        let Some(place) = self.slots.iter().position(|slot| slot.load(Relaxed) == EMPTY) else {
            return false;
        };
        for (half, value) in self.keys[place].iter().zip(entry.key) {
            half.store(value, Relaxed);
        }
        // Order: whoever reads the slot first, reads all of the key.
        self.slots[place].store(entry.slot, Release);
        true
    }

    fn iter(&self) -> impl Iterator<Item = Entry> {
        self.keys.iter().zip(&self.slots).filter_map(|(key, slot)| {
            let slot = slot.load(Acquire);
            let key = key.each_ref().map(|half| half.load(Relaxed));
            (slot < REMOVED).then(|| Entry { tag: tag(key), slot, key })
        })
    }
}

#[inline]
fn home(tag: u32) -> usize {
    // The lowest bits of the tag, to which the tree comes last, beyond 400 million keys, as a part of the whole: had all keys of a
    // leaf the same bits here, they would meet in the same buckets.
    ((tag % HOME_TAGS) as usize * BUCKETS) / HOME_TAGS as usize
}

fn next(at: usize) -> usize {
    (at + 1) % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::structures::id_map::IdMap;

    #[test]
    fn a_copy_made_while_another_thread_puts_entries_in_is_full_when_it_is() {
        let entry = |slot: u32| Entry::new(slot.into(), slot);
        const COUNT: u32 = LEAF_ENTRIES_MAX as u32 / 2;
        let leaf = Leaf::of((0..COUNT).map(entry));
        // As if all had come after the count was read.
        leaf.buckets[0].count.store(0, Relaxed);
        let copy = leaf.copy();
        let put = (COUNT..1_000).take_while(|slot| copy.insert(entry(*slot))).count();
        assert_eq!((put, copy.iter().count()), (LEAF_ENTRIES_MAX - COUNT as usize, LEAF_ENTRIES_MAX));
    }

    #[test]
    fn a_fork_finds_room_when_the_leaf_it_copies_becomes_full_meanwhile() {
        const COUNT: u32 = LEAF_ENTRIES_MAX as u32;
        let mut map = IdMap::of((0..COUNT).map(|slot| (slot.into(), slot)));
        let _shared = map.clone();
        map.leaf(0).buckets[0].count.store(COUNT - 1, Relaxed);
        map.fork();
        map.insert(COUNT.into(), COUNT, |_| None);
        assert!((0..=COUNT).all(|slot| map.get(slot.into(), |found| found == slot) == Some(slot)));
    }

    #[test]
    fn keys_that_the_tree_led_to_one_leaf_are_spread_over_all_of_it() {
        let is_here = |entry: &Entry| entry.tag >> 17 == 0x2468;
        let entries: Vec<Entry> = (0..)
            .map(|number: u32| Entry::new(number.into(), number))
            .filter(is_here)
            .take(LEAF_ENTRIES_MAX)
            .collect();
        let leaf = Leaf::of(entries.iter().copied());
        let at_home = |entry: &&Entry| leaf.buckets[home(entry.tag)].iter().any(|held| held == **entry);
        let count = entries.iter().filter(at_home).count();
        assert!(count > entries.len() / 2, "{count} of {} are in their first bucket", entries.len());
    }
}
