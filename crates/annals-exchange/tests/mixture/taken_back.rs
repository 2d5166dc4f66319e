//! Records that are taken back.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use annals::*;

use crate::merged::{Merged, Span, merged};
use crate::model::{Age, Content, Known};
use crate::world::World;

impl World {
    pub(crate) fn take_back(&mut self) {
        let known: Vec<u64> = self.can_be_taken_back.iter().rev().take(12).copied().collect();
        if known.is_empty() {
            return;
        }
        let first = *self.random.choose(&known);
        let wanted = first + if self.random.one_in(2) { self.random.below(6) as u64 } else { 0 };
        let can_go_on = |position: &u64| self.can_be_taken_back.contains(position);
        let last = (first..=wanted).take_while(can_go_on).last().expect("the first can be taken back");
        let expected = self.expect_taken_back(first..=last);
        if expected.as_ref().is_some_and(|targets| self.has_lost_end(targets)) {
            return;
        }
        let positions = Position(first)..=Position(last);
        let outcome = self.repository().transact(|t| t.take_back_all(positions.clone(), None)).map(drop);
        self.history.push(format!("{}: take back {first} to {last}: {outcome:?}", self.position()));
        self.judge_taken_back(outcome, expected);
    }

    /// The model after these records are taken back as one; `None` if later records built on them.
    pub(crate) fn expect_taken_back(&self, records: RangeInclusive<u64>) -> Option<BTreeMap<Age, Content>> {
        let (before, position) = (records.start() - 1, *records.end());
        let span = Span { before, position };
        let mut targets = BTreeMap::new();
        let touched = |age: Age| {
            let known = self.model.all.get(&age);
            known.is_some_and(|known| known.versions.iter().any(|version| records.contains(&version.place.0)))
        };
        let ages: Vec<Age> = self.model.all.keys().copied().filter(|age| touched(*age)).collect();
        let kept = self.kept_places(&ages, span)?;
        for &age in &ages {
            let known = &self.model.all[&age];
            let then = known.at(before).filter(|then| then.is_live);
            let is_later = known.place().0 > position;
            if kept.links.contains(&age) {
                continue;
            }
            if known.contains() {
                let child = then.and_then(|then| then.ends).map(|ends| ends[1]);
                if child.is_some_and(|child| kept.children.contains(&child)) {
                    continue;
                }
            } else if is_later && then.is_none() && known.now().is_live {
                return None;
            } else if let (true, Some(then)) = (is_later, then) {
                match merged(known, then, span) {
                    Merged::Conflict => return None,
                    Merged::Left => {}
                    Merged::Into(target) => drop(targets.insert(age, target)),
                }
                continue;
            }
            // Only its container takes a copy along.
            if then.is_none() && known.now().is_live && known.is_copy && !known.is_link {
                let is_new = |age: Age| self.model.all[&age].at(before).is_none_or(|then| !then.is_live);
                let goes = |(_, parent): (Age, Age)| ages.contains(&parent) && is_new(parent);
                if !self.model.parent(age).is_some_and(goes) {
                    return None;
                }
            }
            if then.is_none()
                && known.now().is_live
                && !known.is_link
                && !self.model.links_of(age).iter().all(|link| ages.contains(link))
            {
                return None;
            }
            let target = then.cloned().unwrap_or_else(|| Content { is_live: false, ..known.now().clone() });
            targets.insert(age, target);
        }
        (!self.is_homeless(&targets)).then_some(targets)
    }

    /// True if an instance is live in this state, or now if the state does not have it.
    fn is_back(&self, age: Age, targets: &BTreeMap<Age, Content>) -> bool {
        targets.get(&age).map_or(self.model.all[&age].now().is_live, |target| target.is_live)
    }

    /// True if a relationship was deleted at a place that it got in these records, and that has an end which is to be no more,
    /// or another child by now: it cannot be restored there, so another one takes its place, which the model does not know.
    fn has_lost_end(&self, targets: &BTreeMap<Age, Content>) -> bool {
        targets.iter().any(|(age, target)| {
            let now = self.model.all[age].now();
            let ends = now.ends.filter(|_| target.is_live && !now.is_live && target.ends != now.ends);
            let is_taken = |ends| {
                let is_child = self.model.all[age].contains();
                is_child && self.model.check_name(Some(*age), ends, now.name.as_deref()).is_err()
            };
            ends.is_some_and(|ends| is_taken(ends) || ends.into_iter().any(|end| !self.is_back(end, targets)))
        })
    }

    /// True if a relationship cannot get its ends back, because others have deleted one since. A child that others have
    /// deleted needs no place.
    fn is_homeless(&self, targets: &BTreeMap<Age, Content>) -> bool {
        targets.iter().filter(|(_, target)| target.is_live).any(|(age, target)| {
            let known = &self.model.all[age];
            let Some([from, to]) = target.ends else { return false };
            let is_as_it_was = known.now().is_live && known.now().ends == target.ends;
            let is_lost = known.contains() && !self.is_back(to, targets);
            let has_ends = self.is_back(from, targets) && self.is_back(to, targets);
            !is_as_it_was && !is_lost && !has_ends
        })
    }

    pub(crate) fn judge_taken_back(&mut self, outcome: Result<()>, expected: Option<BTreeMap<Age, Content>>) {
        let position = self.position();
        match (&outcome, expected) {
            (Err(error), None) => {
                assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{error}: {}", self.what());
            }
            (Ok(()), None) => panic!("expected a refusal, because others built on it: {}", self.what()),
            (Err(error), Some(targets)) => {
                // The model does not know what a revert restored only to delete it again.
                let text = error.to_string();
                let is_built_on_vague =
                    self.vague.iter().any(|vague| text.contains(&format!("changed at position {vague};")));
                // Others may have contained the container, taken a value or a name, or retyped a child that had none.
                let is_about_others = match error.kind() {
                    ErrorKind::Cardinality | ErrorKind::InvalidEnds => true,
                    ErrorKind::PreconditionFailed if is_built_on_vague => true,
                    ErrorKind::NotUnique
                    | ErrorKind::PreconditionFailed
                    | ErrorKind::MissingEnd
                    | ErrorKind::InvalidProperty => self.is_clash(targets),
                    _ => false,
                };
                let later = self.model.all.values().filter(|known| known.place().0 >= position);
                let later: Vec<&Known> = later.collect();
                assert!(is_about_others, "{error}; in the model: {later:#?}: {}", self.what());
            }
            (Ok(()), Some(mut targets)) => {
                // A child that others have deleted since does not get its place back.
                let lost: Vec<Age> = targets
                    .iter()
                    .filter(|(age, target)| {
                        let child =
                            target.ends.filter(|_| self.model.all[*age].contains()).map(|ends| ends[1]);
                        target.is_live && child.is_some_and(|child| !self.is_back(child, &targets))
                    })
                    .map(|(age, _)| *age)
                    .collect();
                lost.iter().for_each(|age| drop(targets.remove(age)));
                for (age, target) in targets {
                    let known = self.model.all.get_mut(&age).expect("it is there");
                    if *known.now() != target {
                        known.write((position, 0), |content| *content = target);
                        // The model does not know in which change of the record.
                        known.is_opaque = true;
                    } else if !target.is_live {
                        // Its container may have brought it back, only for it to be deleted again.
                        known.is_opaque = true;
                    }
                }
                self.vague.insert(position);
                self.note();
            }
        }
    }

    /// True if two instances would have the same code, or two children the same name.
    fn is_clash(&self, targets: BTreeMap<Age, Content>) -> bool {
        let mut next = self.model.clone();
        for (age, target) in targets {
            next.all.get_mut(&age).expect("it is there").write((u64::MAX, 0), |content| *content = target);
        }
        let is_named_twice = next.all.iter().any(|(age, known)| {
            let now = known.now();
            let ends = now.ends.filter(|_| known.contains() && now.is_live);
            ends.is_some_and(|ends| next.check_name(Some(*age), ends, now.name.as_deref()).is_err())
        });
        is_named_twice || next.check_end(u64::MAX).is_err()
    }
}
