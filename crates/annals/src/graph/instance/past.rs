//! The past versions of one instance: a chain of small blocks with skip pointers, so that as-of look-ups are
//! logarithmic, and for most instances need one read of memory.
#![expect(clippy::expect_used, reason = "a block has room for as many versions as were counted")]

use std::sync::Arc;

use super::headers::HeaderNumber;
use crate::model::Status;

/// The place where a version was written: the record, and the change in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChangePlace {
    pub(crate) position: u64,
    pub(crate) change: u32,
}

/// The part of a version not in force that stays in memory; its content is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PastVersion {
    pub(crate) version: u32,
    /// The version its difference was taken from; 0 for the first.
    pub(crate) base: u32,
    pub(crate) status: Status,
    // Uses the padding of the other fields: most versions have none.
    pub(crate) header: HeaderNumber,
    pub(crate) place: ChangePlace,
    /// Units: microseconds since 1970.
    pub(crate) valid_from: i64,
}

/// A point of view: knowledge at a position, about an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// Only records up to this position count.
    pub(crate) position: u64,
    /// The valid time. Units: microseconds since 1970; `i64::MAX` for "as it was known then".
    pub(crate) valid: i64,
}

impl View {
    pub(crate) fn covers(self, place: ChangePlace, valid_from: i64) -> bool {
        place.position <= self.position && valid_from <= self.valid
    }
}

/// Most versions in one block.
const BLOCK_VERSIONS_MAX: usize = 8;

/// The past versions of an instance: a block of the latest, and the blocks before it.
pub(crate) struct Past<V: ?Sized = [PastVersion]> {
    // Latest `valid_from` of this block and all before it.
    valid_max: i64,
    // The blocks before this one.
    before: u32,
    // True if positions and valid times only increase from the start of the chain to the end of this block.
    is_ordered: bool,
    previous: Option<Arc<Past>>,
    // Skips a stretch of the chain whose length is like a power of two.
    // Source: E. W. Myers, "An applicative random-access stack", 1983.
    jump: Option<Arc<Past>>,
    // Oldest first; at least one.
    versions: V,
}

impl Past {
    /// The chain with one more version.
    pub(crate) fn push(chain: Option<Arc<Past>>, this: PastVersion) -> Arc<Past> {
        let Some(chain) = chain else {
            let first = Past {
                valid_max: this.valid_from,
                before: 0,
                is_ordered: true,
                previous: None,
                jump: None,
                versions: (),
            };
            return first.with(&[this]);
        };
        let is_after = this.valid_from >= chain.valid_max && this.place > chain.newest().place;
        let (valid_max, is_ordered) = (chain.valid_max.max(this.valid_from), chain.is_ordered && is_after);
        let known = &chain.versions;
        if known.len() < BLOCK_VERSIONS_MAX {
            let mut versions = [this; BLOCK_VERSIONS_MAX];
            versions[..known.len()].copy_from_slice(known);
            let (previous, jump) = (chain.previous.clone(), chain.jump.clone());
            let block = Past { valid_max, before: chain.before, is_ordered, previous, jump, versions: () };
            return block.with(&versions[..=known.len()]);
        }
        let jump = match &chain.jump {
            Some(jump) => match &jump.jump {
                Some(far) if chain.before - jump.before == jump.before - far.before => Arc::clone(far),
                _ => Arc::clone(&chain),
            },
            None => Arc::clone(&chain),
        };
        let before = chain.before + 1;
        let block =
            Past { valid_max, before, is_ordered, previous: Some(chain), jump: Some(jump), versions: () };
        block.with(&[this])
    }

    /// All versions, newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PastVersion> {
        let blocks = std::iter::successors(Some(self), |past| past.previous.as_deref());
        blocks.flat_map(|past| past.versions.iter().rev())
    }

    pub(crate) fn newest(&self) -> &PastVersion {
        &self.versions[self.versions.len() - 1]
    }

    /// Of the versions that `view` covers, the one with the latest valid time; among equal ones the latest written.
    pub(crate) fn find(&self, view: View) -> Option<&PastVersion> {
        let mut best: Option<&PastVersion> = None;
        let mut at = Some(self);
        while let Some(past) = at {
            if past.is_ordered {
                let found = past.find_ordered(|version| view.covers(version.place, version.valid_from));
                return later(best, found);
            }
            let covered =
                past.versions.iter().filter(|version| view.covers(version.place, version.valid_from));
            best = covered.fold(best, |best, version| later(best, Some(version)));
            at = past
                .previous
                .as_deref()
                .filter(|rest| best.is_none_or(|best| rest.valid_max >= best.valid_from));
        }
        best
    }

    /// The past version with this number.
    pub(crate) fn version(&self, number: u32) -> Option<&PastVersion> {
        if self.is_ordered {
            return self
                .find_ordered(|version| version.version <= number)
                .filter(|version| version.version == number);
        }
        self.iter().find(|version| version.version == number)
    }

    /// The number of the latest of these versions that was written up to `position`.
    pub(crate) fn latest_version(&self, position: u64) -> Option<u32> {
        let is_known = |version: &PastVersion| version.place.position <= position;
        if self.is_ordered {
            return self.find_ordered(is_known).map(|version| version.version);
        }
        self.iter().filter(|version| is_known(version)).map(|version| version.version).max()
    }

    /// The past version that was written at this place.
    pub(crate) fn written_at(&self, place: ChangePlace) -> Option<&PastVersion> {
        if self.is_ordered {
            return self
                .find_ordered(|version| version.place <= place)
                .filter(|version| version.place == place);
        }
        self.iter().find(|version| version.place == place)
    }

    /// The newest version of an ordered chain for which `holds` is true. If it is true for a version, it must be true
    /// for all before.
    fn find_ordered(&self, holds: impl Fn(&PastVersion) -> bool) -> Option<&PastVersion> {
        let mut past = self;
        // The answer is in the latest block whose first version fulfils `holds`.
        while !holds(&past.versions[0]) {
            past = match &past.jump {
                Some(jump) if !holds(&jump.versions[0]) => jump,
                _ => past.previous.as_deref()?,
            };
        }
        past.versions.iter().rev().find(|version| holds(version))
    }
}

impl Past<()> {
    /// A block of these versions.
    fn with(self, versions: &[PastVersion]) -> Arc<Past> {
        match versions.len() {
            1 => self.with_array::<1>(versions),
            2 => self.with_array::<2>(versions),
            3 => self.with_array::<3>(versions),
            4 => self.with_array::<4>(versions),
            5 => self.with_array::<5>(versions),
            6 => self.with_array::<6>(versions),
            7 => self.with_array::<7>(versions),
            _ => self.with_array::<BLOCK_VERSIONS_MAX>(versions),
        }
    }

    fn with_array<const N: usize>(mut self, versions: &[PastVersion]) -> Arc<Past> {
        Arc::new(Past {
            valid_max: self.valid_max,
            before: self.before,
            is_ordered: self.is_ordered,
            previous: self.previous.take(),
            jump: self.jump.take(),
            versions: <[PastVersion; N]>::try_from(versions).expect("as many as the caller counted"),
        })
    }
}

fn later<'a>(a: Option<&'a PastVersion>, b: Option<&'a PastVersion>) -> Option<&'a PastVersion> {
    match (a, b) {
        (Some(a), Some(b)) if (b.valid_from, b.place) > (a.valid_from, a.place) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}

impl<V: ?Sized> Drop for Past<V> {
    /// Frees a chain of any length without recursion.
    fn drop(&mut self) {
        let mut links: Vec<Arc<Past>> = Vec::new();
        links.extend(self.previous.take());
        links.extend(self.jump.take());
        while let Some(mut link) = links.pop() {
            if let Some(past) = Arc::get_mut(&mut link) {
                links.extend(past.previous.take());
                links.extend(past.jump.take());
            }
        }
    }
}

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(number: u32, position: u64, valid_from: i64) -> PastVersion {
        PastVersion {
            version: number,
            base: number - 1,
            status: Status::Active,
            header: HeaderNumber(0),
            place: ChangePlace { position, change: 0 },
            valid_from,
        }
    }

    proptest! {
        #[test]
        fn find_is_what_a_full_scan_finds(
            valid in proptest::collection::vec(0i64..20, 1..60),
            is_corrected in any::<bool>(),
            views in proptest::collection::vec((0u64..140, 0i64..22), 20),
        ) {
            let mut valid = valid;
            if !is_corrected {
                valid.sort_unstable();
            }
            let versions: Vec<PastVersion> = (1u32..)
                .zip(&valid)
                .map(|(number, &valid_from)| version(number, 2 * u64::from(number), valid_from))
                .collect();
            let chain = versions.iter().fold(None, |chain, &this| Some(Past::push(chain, this))).unwrap();
            for (position, valid) in views {
                let view = View { position, valid };
                let expected = versions
                    .iter()
                    .filter(|version| view.covers(version.place, version.valid_from))
                    .max_by_key(|version| (version.valid_from, version.place));
                prop_assert_eq!(chain.find(view), expected);
            }
            for known in &versions {
                let latest = versions.iter().filter(|version| version.place.position <= known.place.position);
                prop_assert_eq!(
                    chain.latest_version(known.place.position),
                    latest.map(|version| version.version).max()
                );
                prop_assert_eq!(chain.version(known.version), Some(known));
                prop_assert_eq!(chain.written_at(known.place), Some(known));
                prop_assert_eq!(chain.written_at(ChangePlace { change: 1, ..known.place }), None);
            }
        }
    }

    #[test]
    fn a_long_chain_is_found_in_few_steps_and_freed_without_recursion() {
        let chain = (1..=1_000_000u32).fold(None, |chain, number| {
            Some(Past::push(chain, version(number, number.into(), number.into())))
        });
        let chain = chain.unwrap();
        let steps = std::cell::Cell::new(0);
        let found = chain.find_ordered(|version| {
            steps.set(steps.get() + 1);
            version.place.position <= 17
        });
        assert_eq!(found.unwrap().version, 17);
        assert!(steps.get() < 200, "{} steps", steps.get());
    }
}
