//! Sorts candidates and takes a page of them, with a bounded number of places in memory for any offset.

use super::by_plan::CANDIDATES_UNCHECKED;
use std::cell::RefCell;

use super::access::{CandidateSet, Places};
use super::by_plan::{Asked, Search, Steps};
use crate::Result;
use crate::read::operators::page::{Filling, Hits, Size};
use crate::read::operators::sort::{Firsts, Placed};
use crate::read::past::held::Held;
use crate::read::stored::stored_bytes;

/// An instance that was found.
pub(super) struct Hit {
    slot: u32,
    /// `None` if it has to be read again: of many hits, the read versions do not stay in memory.
    held: Option<Held>,
    held_bytes: usize,
}

pub(super) type Found = Placed<Hit>;

/// The candidates, and the conditions on them.
pub(super) struct Candidates<'a, 's> {
    pub(super) slots: Vec<u32>,
    pub(super) places: &'a Places<'s>,
    pub(super) asked: Asked<'a, 's>,
    /// Only hits after this place.
    pub(super) after: Option<&'a [u8]>,
}

/// The first hits after a place.
pub(super) struct First {
    /// In order.
    pub(super) found: Vec<Found>,
    /// Number of hits at that place or before it.
    before: usize,
}

impl<'s> Search<'s, '_> {
    /// Finds the page among all candidates of an index.
    pub(super) fn gather<T>(
        &self,
        access: &CandidateSet,
        places: &Places<'s>,
        after: Option<&[u8]>,
        steps: &mut Steps,
        make: impl Fn(u32, Held) -> T,
    ) -> Result<Hits<T>> {
        steps.tell(|| format!("gather {}", access.describe(places)));
        let slots = access.gather(places, &self.domain, &self.bound)?;
        steps.candidates += slots.len();
        let candidates = Candidates { slots, places, asked: self.asked(places, &[]), after };
        let found = self.page_of(&candidates, steps)?;
        let mut page = Filling::new(self.snapshot, self.kind, Size { offset: 0, ..self.size() });
        for one in found {
            if self.add_found(one, &mut page, &make)? {
                break;
            }
        }
        Ok(page.finish())
    }

    /// The hits of the page, in order, and one more if there is one.
    fn page_of(&self, candidates: &Candidates<'_, 's>, steps: &mut Steps) -> Result<Vec<Found>> {
        let (limit, offset) = (self.find.limit.saturating_add(1), self.find.offset);
        if self.sorting.keys.is_empty() {
            return self.page_by_age(candidates, steps);
        }
        let mut start = None;
        if offset > self.offset_kept_max {
            let sample = self.sample(candidates, steps)?;
            if offset >= sample.count {
                return Ok(Vec::new());
            }
            start = sample.place_before(offset);
        }
        loop {
            let kept = offset.min(self.offset_kept_max).saturating_add(limit);
            let first = self.first(candidates, start.as_deref(), kept, steps)?;
            let Some(left) = offset.checked_sub(first.before) else {
                // The sample was not representative.
                start = None;
                continue;
            };
            let mut found = first.found;
            if found.len() < kept || left.saturating_add(limit) <= found.len() {
                found.drain(..left.min(found.len()));
                found.truncate(limit);
                return Ok(found);
            }
            // The offset is not reached yet: its place is still to be found.
            found.truncate(left);
            start = found.pop().map(|last| last.key);
        }
    }

    /// The same in the order of the candidates.
    fn page_by_age(&self, candidates: &Candidates<'_, 's>, steps: &mut Steps) -> Result<Vec<Found>> {
        let mut left = self.find.offset;
        let (mut found, mut held_bytes) = (Vec::new(), 0);
        self.each_hit(candidates, steps, &|_| true, &mut |key, slot, held| {
            if left > 0 {
                left -= 1;
            } else {
                found.push(self.found(key, slot, held, &mut held_bytes));
            }
            found.len() <= self.find.limit
        })?;
        Ok(found)
    }

    /// The first `count` hits after `start`, in order.
    pub(super) fn first(
        &self,
        candidates: &Candidates<'_, 's>,
        start: Option<&[u8]>,
        count: usize,
        steps: &mut Steps,
    ) -> Result<First> {
        let is_before = |key: &[u8]| start.is_some_and(|start| key <= start);
        let (firsts, mut held_bytes, mut before) = (RefCell::new(Firsts::new(count)), 0, 0);
        let is_wanted = |key: &[u8]| is_before(key) || firsts.borrow().has_room_for(key);
        self.each_hit(candidates, steps, &is_wanted, &mut |key, slot, held| {
            if is_before(key) {
                before += 1;
                return true;
            }
            let Placed { key, item } = self.found(key, slot, held, &mut held_bytes);
            let last = firsts.borrow_mut().put(key, item);
            held_bytes -= last.map_or(0, |last| last.held_bytes);
            true
        })?;
        Ok(First { found: firsts.into_inner().into_sorted(), before })
    }

    fn found(&self, key: &[u8], slot: u32, held: Held, all_bytes: &mut usize) -> Found {
        let held_bytes = match &held {
            Held::InForce => 0,
            Held::Read(version) => stored_bytes(version.row()),
        };
        let is_kept = all_bytes.saturating_add(held_bytes) <= self.find.bytes_max;
        let held_bytes = if is_kept { held_bytes } else { 0 };
        *all_bytes += held_bytes;
        let held = is_kept.then_some(held);
        Placed { key: key.to_vec(), item: Hit { slot, held, held_bytes } }
    }

    /// Takes every wanted hit, in the order of the candidates, until `take` stops it.
    fn each_hit(
        &self,
        candidates: &Candidates<'_, 's>,
        steps: &mut Steps,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        take: &mut dyn FnMut(&[u8], u32, Held) -> bool,
    ) -> Result<()> {
        let Candidates { slots, places, asked, after } = candidates;
        let is_wanted = |key: &[u8]| after.is_none_or(|after| key > after) && is_wanted(key);
        let mut key = Vec::new();
        for (number, &slot) in slots.iter().enumerate() {
            if number.is_multiple_of(CANDIDATES_UNCHECKED) {
                self.snapshot.check_cancelled()?;
            }
            // If its place in the order is known without reading, only candidates that may be on the page are checked.
            let is_known = self.write_known_key(places, slot, &mut key);
            if is_known && !is_wanted(&key) {
                continue;
            }
            let Some(held) = self.verify(slot, asked, steps)? else { continue };
            if !is_known {
                self.write_key(slot, &held, &mut key);
                if !is_wanted(&key) {
                    continue;
                }
            }
            if !take(&key, slot, held) {
                break;
            }
        }
        Ok(())
    }

    /// The places of a bounded number of hits, evenly spread over the candidates.
    fn sample(&self, candidates: &Candidates<'_, 's>, steps: &mut Steps) -> Result<Sample> {
        let (mut keys, mut step, mut count) = (Vec::new(), 1, 0_usize);
        self.each_hit(candidates, steps, &|_| true, &mut |key, _, _| {
            if count.is_multiple_of(step) {
                keys.push(key.to_vec());
            }
            count += 1;
            if keys.len() > self.offset_kept_max {
                let mut number = 0;
                keys.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                step *= 2;
            }
            true
        })?;
        keys.sort_unstable();
        Ok(Sample { keys, count })
    }

    /// Adds a found instance to the page. True if it comes after the page.
    pub(super) fn add_found<T>(
        &self,
        Placed { key, item: Hit { slot, held, .. } }: Found,
        page: &mut Filling<'_, T>,
        make: impl Fn(u32, Held) -> T,
    ) -> Result<bool> {
        let held = match held {
            Some(held) => held,
            None => self.snapshot.fetch(self.kind, slot)?,
        };
        Ok(page.add(slot, held, |_| key, make))
    }
}

/// The places of a sample of hits.
struct Sample {
    /// Ascending.
    keys: Vec<Vec<u8>>,
    /// Number of all hits.
    count: usize,
}

impl Sample {
    /// A place that is probably before the hit number `offset`, and close to it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not negative")]
    fn place_before(&self, offset: usize) -> Option<Vec<u8>> {
        let share = offset as f64 / self.count as f64;
        let number = share * self.keys.len() as f64;
        // Four times the deviation of a random sample.
        let before = number - 4.0 * (self.keys.len() as f64 * share * (1.0 - share)).sqrt() - 1.0;
        if before < 0.0 { None } else { self.keys.get(before as usize).cloned() }
    }
}
