//! Candidates: edits, rebasing, and commits that are confirmed, taken back, or left without a confirmation.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use annals::*;

use crate::model::{Change, Model};
use crate::world::{World, push};

/// An open candidate.
pub struct Open {
    pub base: u64,
    pub edits: Vec<Change>,
}

impl World {
    pub(crate) fn work_on_the_candidate(&mut self) {
        let candidates = self.repository().candidates();
        let Some(mut open) = self.candidate.take() else {
            let base = self.position();
            self.history.push(format!("{}: open", base + 1));
            candidates.open("c", "").expect("a candidate opens");
            self.candidate = Some(Open { base, edits: Vec::new() });
            return self.note();
        };
        if self.random.one_in(5) && !open.edits.iter().any(|edit| matches!(edit, Change::Undo { .. })) {
            self.rebase(&candidates, &mut open);
            self.candidate = Some(open);
            return self.note();
        }
        if open.edits.len() < 3 && !self.random.one_in(3) {
            if let Some(change) = self.any_change() {
                let stored = self.store(&change);
                let outcome = candidates.edit("c", |t| push(t, &change, stored.as_ref()));
                self.history.push(format!("{}: edit {change:?}: {:?}", self.position(), outcome.is_ok()));
                // An edit that changes nothing is left out.
                let is_new = candidates.edits("c").expect("its edits").len() > open.edits.len();
                if outcome.is_ok() && is_new {
                    open.edits.push(change);
                }
            }
            self.candidate = Some(open);
            return self.note();
        }
        self.end_candidate(&candidates, open);
    }

    fn end_candidate(&mut self, candidates: &Candidates, open: Open) {
        let is_reversible = open.edits.iter().all(Change::can_be_taken_back);
        let must_confirm = is_reversible && self.random.one_in(2);
        let position = self.position() + 1;
        // An edit makes a version, also if others have made the same change since it was added.
        let mut next = Model { is_always: true, ..self.model.clone() };
        let mut expected = Ok(());
        for (number, edit) in open.edits.iter().enumerate() {
            let changed = edit.named().and_then(|(is_link, name)| self.model.find(is_link, name));
            if changed.is_some_and(|age| self.model.all[&age].place().0 > open.base) {
                expected = Err(ErrorKind::PreconditionFailed);
            }
            if expected.is_ok() {
                expected = next.apply((position, number), edit).map(drop);
            }
        }
        let within = must_confirm.then(|| Duration::from_secs(3_600));
        let how = CandidateCommit { confirm_within: within, ..CandidateCommit::default() };
        let outcome = candidates.commit("c", &how);
        self.history.push(format!("{position}: commit candidate, confirm {must_confirm}: {outcome:?}"));
        let is_same = match (&outcome, expected) {
            (Ok(_), Ok(())) => true,
            // A creation of an instance that there is by now is a conflict, too.
            (Err(found), Err(expected)) => {
                found.kind() == expected || expected != ErrorKind::PreconditionFailed
            }
            _ => false,
        };
        assert!(is_same, "{outcome:?}, expected {expected:?}: {}", self.what());
        if outcome.is_err() {
            candidates.discard("c", "").expect("it can be discarded");
            return self.note();
        }
        self.model = Model { is_always: false, ..next };
        self.accepted += 1;
        self.note();
        if !must_confirm {
            return;
        }
        // Others change something meanwhile.
        for _ in 0..self.random.below(5) {
            if let Some(change) = self.any_change() {
                self.commit(change);
            }
        }
        if self.random.one_in(3) {
            candidates.confirm("c", "").expect("it can be confirmed");
            self.history.push(format!("{}: confirm", self.position()));
            return self.note();
        }
        let expected = self.expect_taken_back(position);
        let outcome = match self.random.one_in(2) {
            true => candidates.take_back("c", None, "").map(drop),
            false => self.let_time_run_out(candidates),
        };
        self.history.push(format!("{}: take candidate back: {outcome:?}", self.position()));
        self.judge_taken_back(outcome, expected);
        match candidates.get("c").expect("it is there").unconfirmed {
            None => drop(candidates.discard("c", "").expect("it can be discarded")),
            Some(_) => drop(candidates.confirm("c", "").expect("it can be confirmed")),
        }
        self.note();
    }

    /// Nobody confirms the commit in time.
    fn let_time_run_out(&mut self, candidates: &Candidates) -> Result<()> {
        let before = self.position();
        self.ahead.fetch_add(2 * 3_600_000_000, Ordering::SeqCst);
        let is_done = self.repository().wait_for(Position(before + 1), Duration::from_secs(20));
        assert!(is_done, "the commit waits although its time is over: {}", self.what());
        let Some(waiting) = candidates.get("c").expect("it is there").unconfirmed else { return Ok(()) };
        let failure = waiting.failure.expect("a commit that is not taken back says why");
        let is_built_on = failure.contains("later records built on");
        let kind = if is_built_on { ErrorKind::PreconditionFailed } else { ErrorKind::MissingEnd };
        Err(Error::new(kind, failure.to_string()))
    }

    fn rebase(&mut self, candidates: &Candidates, open: &mut Open) {
        let keep = *self.random.choose(&[None, Some(Keep::Theirs), Some(Keep::Mine)]);
        let before = self.position();
        let mut next = Model { is_always: true, ..self.model.clone() };
        let (mut kept, mut created) = (Vec::new(), BTreeSet::new());
        for (number, edit) in open.edits.iter().enumerate() {
            let named =
                edit.named().filter(|(is_link, name)| !created.contains(&(*is_link, (*name).to_owned())));
            let known = named.and_then(|(is_link, name)| self.model.find(is_link, name));
            let is_conflict = known.map(|age| &self.model.all[&age]).is_some_and(|known| match keep {
                Some(Keep::Mine) => known.birth > open.base,
                _ => known.place().0 > open.base,
            });
            let mut tried = next.clone();
            if is_conflict || tried.apply((before + 1, number), edit).is_err() {
                continue;
            }
            next = tried;
            kept.push(edit.clone());
            created.extend(edit.created().map(|(is_link, name)| (is_link, name.to_owned())));
        }
        let dropped_count = open.edits.len() - kept.len();
        let expected = match keep {
            Some(Keep::Theirs) => Ok(dropped_count),
            _ if dropped_count > 0 => Err(ErrorKind::PreconditionFailed),
            _ => Ok(0),
        };
        let outcome = candidates.rebase("c", keep, "");
        self.history.push(format!("{}: rebase, keep {keep:?}: {outcome:?}", self.position()));
        let found = outcome.as_ref().map(Vec::len).map_err(Error::kind);
        assert_eq!(found, expected, "{outcome:?}: {}", self.what());
        if outcome.is_ok() {
            *open = Open { base: before, edits: kept };
        }
    }
}
