//! A small hash table that several threads fill and none empties.

use std::hint::black_box;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::{slot_of, tag_of};

const BUCKETS: usize = 8;
const BUCKET_PLACES: usize = 8;
// Below the number of places, so that looking for a key always ends at a bucket with room, and as a rule at the first.
pub(super) const LEAF_ENTRIES_MAX: usize = 56;
// The tag and the slot of empty places.
const EMPTY: u32 = u32::MAX;

/// Entries in buckets that the lowest bits of the tag choose; what finds its bucket full goes into the next one with room.
/// All tags of a bucket are compared before anything is decided: a loop that ends as soon as it finds would end at another
/// place each time, and a processor that guessed wrong starts over with all it had begun.
///
/// Entries come and never go, from several threads. Whoever looks for an entry got the version that has it from whoever put
/// it in, so that he sees all of it; of another entry he may see the tag alone.
pub(super) struct Leaf {
    buckets: [Bucket; BUCKETS],
    // At least as many as there are.
    count: AtomicU32,
}

// One cache line. It fills from the front.
#[repr(align(64))]
struct Bucket {
    // The lower halves of the tags, which are looked for, and the upper ones. Shape: place `n` stands in word `n % 2`.
    lower: [AtomicU64; 2],
    upper: [AtomicU64; 2],
    slots: [AtomicU32; BUCKET_PLACES],
}

impl Leaf {
    /// A leaf of at most [`LEAF_ENTRIES_MAX`] entries.
    pub(super) fn of(entries: impl Iterator<Item = u64>) -> Leaf {
        let mut leaf = Leaf { buckets: [const { Bucket::new() }; BUCKETS], count: AtomicU32::new(0) };
        let mut lengths = [0; BUCKETS];
        for entry in entries {
            let mut at = home(tag_of(entry));
            while lengths[at] == BUCKET_PLACES {
                at = (at + 1) % BUCKETS;
            }
            leaf.buckets[at].put(lengths[at], entry);
            lengths[at] += 1;
        }
        let count: usize = lengths.iter().sum();
        assert!(count <= LEAF_ENTRIES_MAX, "a leaf has {count} entries");
        *leaf.count.get_mut() = count as u32;
        leaf
    }

    pub(super) fn has_room(&self) -> bool {
        (self.count.load(Relaxed) as usize) < LEAF_ENTRIES_MAX
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().flat_map(Bucket::iter)
    }

    #[inline]
    pub(super) fn get(&self, tag: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = home(tag);
        loop {
            let bucket = &self.buckets[at];
            let mut matches = bucket.matches(tag);
            while matches != 0 {
                let slot = bucket.slots[place_of_bit(matches.trailing_zeros())].load(Relaxed);
                if is_it(slot) {
                    return Some(slot);
                }
                matches &= matches - 1;
            }
            if bucket.has_room() {
                return None;
            }
            at = (at + 1) % BUCKETS;
        }
    }

    /// Reads the memory that looking up `tag` will need.
    #[inline]
    pub(super) fn look_ahead(&self, tag: u32) {
        black_box(self.buckets[home(tag)].lower[0].load(Relaxed));
    }

    /// Adds an entry; false, and nothing happens, if there is no room.
    pub(super) fn insert(&self, entry: u64) -> bool {
        let more = |count| ((count as usize) < LEAF_ENTRIES_MAX).then_some(count + 1);
        if self.count.fetch_update(Relaxed, Relaxed, more).is_err() {
            return false;
        }
        // Order: it is counted first, so that there is a place for it.
        let mut at = home(tag_of(entry));
        while !self.buckets[at].insert(entry) {
            at = (at + 1) % BUCKETS;
        }
        true
    }
}

impl Bucket {
    const fn new() -> Bucket {
        Bucket {
            lower: [const { AtomicU64::new(u64::MAX) }; 2],
            upper: [const { AtomicU64::new(u64::MAX) }; 2],
            slots: [const { AtomicU32::new(EMPTY) }; BUCKET_PLACES],
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.slots[BUCKET_PLACES - 1].load(Relaxed) == EMPTY
    }

    // A bit for each place whose tag has this lower half: [`place_of_bit`].
    #[inline]
    fn matches(&self, tag: u32) -> u64 {
        let wanted = lanes(tag);
        let [even, odd] = self.lower.each_ref().map(|halves| zero_lanes(halves.load(Relaxed) ^ wanted));
        even >> 1 | odd
    }

    // Fills a place that nobody else sees yet.
    #[inline]
    fn put(&mut self, place: usize, entry: u64) {
        let (word, [lower, upper]) = (place % 2, halves_at(place, tag_of(entry)));
        *self.slots[place].get_mut() = slot_of(entry);
        *self.lower[word].get_mut() &= lower;
        *self.upper[word].get_mut() &= upper;
    }

    fn insert(&self, entry: u64) -> bool {
        let take = |slot: &AtomicU32| {
            slot.load(Relaxed) == EMPTY
                && slot.compare_exchange(EMPTY, slot_of(entry), Relaxed, Relaxed).is_ok()
        };
        let Some(place) = self.slots.iter().position(take) else { return false };
        let (word, [lower, upper]) = (place % 2, halves_at(place, tag_of(entry)));
        self.lower[word].fetch_and(lower, Release);
        self.upper[word].fetch_and(upper, Release);
        true
    }

    // What another thread is about to put in is left out.
    fn iter(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().enumerate().filter_map(|(place, slot)| {
            let half = |halves: u64| u64::from((halves >> shift_of(place)) as u16);
            let upper = half(self.upper[place % 2].load(Acquire));
            let tag = upper << 16 | half(self.lower[place % 2].load(Acquire));
            (tag != u64::from(EMPTY)).then(|| tag << 32 | u64::from(slot.load(Relaxed)))
        })
    }
}

/// The lower half of a tag four times.
#[inline]
fn lanes(tag: u32) -> u64 {
    u64::from(tag as u16) * 0x0001_0001_0001_0001
}

/// The highest bit of each of four halves that is zero.
#[inline]
fn zero_lanes(halves: u64) -> u64 {
    const LOWER_BITS: u64 = 0x7FFF_7FFF_7FFF_7FFF;
    !(((halves & LOWER_BITS) + LOWER_BITS) | halves | LOWER_BITS)
}

#[inline]
fn place_of_bit(bit: u32) -> usize {
    (bit / 16 * 2 + bit % 2) as usize
}

fn shift_of(place: usize) -> usize {
    place / 2 * 16
}

/// Both halves of a tag at the place, all other bits set.
#[inline]
fn halves_at(place: usize, tag: u32) -> [u64; 2] {
    let others = !(0xFFFF << shift_of(place));
    [tag & 0xFFFF, tag >> 16].map(|half| u64::from(half) << shift_of(place) | others)
}

#[inline]
fn home(tag: u32) -> usize {
    tag as usize % BUCKETS
}
