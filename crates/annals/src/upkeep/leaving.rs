//! How contents leave a store: doomed, then marked as leaving, then removed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use super::content_name::ContentName;
use super::value::{Doomed, Leaving, Upkeep, beginning};
use crate::model::{Instant, Sha256};

/// Most contents that are doomed at one time: what a value of a register has room for. The others follow.
#[cfg(not(test))]
const DOOMED_MAX: usize = 16_384;
#[cfg(test)]
const DOOMED_MAX: usize = 5;
/// Most names that are being removed at one time, those that earlier writers have left included.
#[cfg(not(test))]
const LEAVING_MAX: usize = 1_024;
#[cfg(test)]
const LEAVING_MAX: usize = 4;
/// Names of one writer that are removed together.
#[cfg(not(test))]
const LEAVING_AT_ONCE: usize = 256;
#[cfg(test)]
const LEAVING_AT_ONCE: usize = 2;
/// Entries of doomed contents, by the times when they were found.
const TIMES_MAX: usize = 64;
/// A name whose removal was not seen to end may be removed by a process that is stopped. No process is stopped for so long
/// between its decision and its request.
const STOPPED_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// True if `grace` has passed since then.
pub(super) fn is_over(since: Instant, now: Instant, grace: Duration) -> bool {
    let grace = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
    since.micros().saturating_add(grace) <= now.micros()
}

impl Upkeep {
    /// True while a content must be neither put nor named under this name.
    pub(crate) fn is_leaving(&self, name: ContentName) -> bool {
        self.leaving.iter().any(|leaving| leaving.name == name)
    }

    /// The names that are being removed.
    pub(crate) fn leaving_names(&self) -> Vec<ContentName> {
        self.leaving.iter().map(|leaving| leaving.name).collect()
    }

    /// When the oldest content or checkpoint was listed that leaves the store after the grace.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        let doomed = self.doomed.iter().map(|doomed| doomed.since);
        doomed.chain(self.replaced.iter().map(|replaced| replaced.since)).min()
    }

    /// Takes a content off the doomed. False if it was not there.
    pub(crate) fn spare(&mut self, sha256: &Sha256) -> bool {
        let mut is_spared = false;
        for doomed in &mut self.doomed {
            is_spared |= doomed.beginnings.remove(&beginning(sha256));
        }
        self.doomed.retain(|doomed| !doomed.beginnings.is_empty());
        is_spared
    }

    /// Takes over that these are the contents in the store that no version names and nobody has pinned, with their names.
    /// Others are doomed no more. Shape: the names that are to be removed now; they are leaving.
    pub(crate) fn doom(
        &mut self,
        unnamed: &BTreeMap<Sha256, Vec<ContentName>>,
        now: Instant,
        grace: Duration,
    ) -> Vec<ContentName> {
        let present: HashSet<_> = unnamed.keys().map(beginning).collect();
        let (mut due, mut known) = (HashSet::new(), HashSet::new());
        for doomed in &mut self.doomed {
            doomed.beginnings.retain(|beginning| present.contains(beginning));
            known.extend(doomed.beginnings.iter().copied());
            if is_over(doomed.since, now, grace) {
                due.extend(doomed.beginnings.iter().copied());
            }
        }
        let (mut removed, mut fresh) = (Vec::new(), BTreeSet::new());
        for (sha256, names) in unnamed {
            let begun = beginning(sha256);
            let names: Vec<ContentName> =
                names.iter().copied().filter(|name| !self.is_leaving(*name)).collect();
            if due.contains(&begun) {
                let is_one_of_few = removed.is_empty() || removed.len() + names.len() <= LEAVING_AT_ONCE;
                if is_one_of_few && self.leaving.len() + names.len() <= LEAVING_MAX {
                    self.leave(&names, now);
                    removed.extend(names);
                    self.spare(sha256);
                }
            } else if !names.is_empty() && !known.contains(&begun) {
                fresh.insert(begun);
            }
        }
        self.doomed.retain(|doomed| !doomed.beginnings.is_empty());
        self.add_doomed(fresh, now);
        removed
    }

    fn leave(&mut self, names: &[ContentName], now: Instant) {
        let term = self.term;
        self.leaving.extend(names.iter().map(|name| Leaving { name: *name, since: now, term }));
    }

    fn add_doomed(&mut self, mut fresh: BTreeSet<[u8; 8]>, now: Instant) {
        let count: usize = self.doomed.iter().map(|doomed| doomed.beginnings.len()).sum();
        while fresh.len() + count > DOOMED_MAX {
            fresh.pop_last();
        }
        if fresh.is_empty() {
            return;
        }
        // With many times, the contents of the last one stay a little longer.
        if self.doomed.len() >= TIMES_MAX
            && let Some(mut last) = self.doomed.pop()
        {
            fresh.append(&mut last.beginnings);
        }
        self.doomed.push(Doomed { since: now, beginnings: fresh });
    }

    /// Notes that the writer of this term has removed names that it had marked itself, and that no try to remove them is
    /// under way.
    pub(crate) fn gone(&mut self, names: &[ContentName]) {
        let names: HashSet<&ContentName> = names.iter().collect();
        let term = self.term;
        self.leaving.retain(|leaving| leaving.term != term || !names.contains(&leaving.name));
    }

    /// Forgets names that nobody removes any more.
    pub(crate) fn forget_left(&mut self, now: Instant) {
        self.leaving.retain(|leaving| !is_over(leaving.since, now, STOPPED_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Term, Token};

    const GRACE: Duration = Duration::from_secs(10);
    const NONE: [ContentName; 0] = [];

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000).unwrap()
    }

    fn content(number: u8) -> ContentName {
        ContentName::of(Sha256([number; 32]))
    }

    fn stored(numbers: &[u8]) -> BTreeMap<Sha256, Vec<ContentName>> {
        numbers.iter().map(|number| (content(*number).sha256, vec![content(*number)])).collect()
    }

    fn upkeep() -> Upkeep {
        Upkeep { term: Term(1), ..Upkeep::new(Token(1)) }
    }

    #[test]
    fn a_content_leaves_after_the_grace_unless_it_is_named_or_put_again() {
        let mut upkeep = upkeep();
        assert_eq!(upkeep.doom(&stored(&[1, 2, 3]), at(0), GRACE), NONE);
        assert_eq!(upkeep.doom(&stored(&[1, 2, 3]), at(9), GRACE), NONE);
        assert!(upkeep.spare(&content(2).sha256) && !upkeep.spare(&content(2).sha256));
        // The third one was named meanwhile, and is not any more at second 20.
        assert_eq!(upkeep.doom(&stored(&[1, 2]), at(10), GRACE), [content(1)]);
        assert!(upkeep.is_leaving(content(1)) && !upkeep.is_leaving(content(2)));
        assert_eq!(upkeep.doom(&stored(&[2, 3]), at(19), GRACE), NONE);
        assert_eq!(upkeep.doom(&stored(&[2, 3]), at(20), GRACE), [content(2)]);
        assert_eq!(upkeep.oldest(), Some(at(19)));
    }

    #[test]
    fn a_name_stays_marked_until_its_writer_has_removed_it_or_nobody_can() {
        let mut upkeep = upkeep();
        upkeep.doom(&stored(&[1, 2]), at(0), GRACE);
        assert_eq!(upkeep.doom(&stored(&[1, 2]), at(10), GRACE), [content(1), content(2)]);
        upkeep.gone(&[content(1)]);
        assert_eq!(upkeep.leaving_names(), [content(2)]);
        // Another writer cannot know whether the first one still removes it.
        upkeep.term = Term(2);
        upkeep.gone(&[content(2)]);
        assert_eq!(upkeep.leaving_names(), [content(2)]);
        assert_eq!(upkeep.doom(&stored(&[2]), at(30), GRACE), NONE, "it is leaving already");
        upkeep.forget_left(at(9 + 7 * 24 * 3600));
        assert_eq!(upkeep.leaving_names(), [content(2)]);
        upkeep.forget_left(at(10 + 7 * 24 * 3600));
        assert_eq!(upkeep.leaving_names(), NONE);
    }

    #[test]
    fn more_contents_than_have_room_follow_later() {
        let mut upkeep = upkeep();
        let all = stored(&[1, 2, 3, 4, 5, 6, 7]);
        upkeep.doom(&all, at(0), GRACE);
        assert_eq!(upkeep.doomed.iter().map(|doomed| doomed.beginnings.len()).sum::<usize>(), DOOMED_MAX);
        assert_eq!(upkeep.doom(&all, at(10), GRACE), [content(1), content(2)]);
        assert_eq!(upkeep.doom(&all, at(10), GRACE), [content(3), content(4)]);
        assert_eq!(upkeep.doom(&all, at(10), GRACE), NONE, "no more room");
        upkeep.gone(&[content(1), content(2)]);
        assert_eq!(upkeep.doom(&all, at(10), GRACE), [content(5)]);
    }

    #[test]
    fn all_names_of_a_content_leave_together() {
        let mut upkeep = upkeep();
        let second = ContentName { number: 1, ..content(1) };
        let both = BTreeMap::from([(content(1).sha256, vec![content(1), second])]);
        upkeep.doom(&both, at(0), GRACE);
        assert_eq!(upkeep.doom(&both, at(10), GRACE), [content(1), second]);
    }
}
