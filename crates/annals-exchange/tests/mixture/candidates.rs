//! Candidates: edits, rebasing, and commits that are confirmed, taken back, or left without a confirmation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use annals::*;

use crate::edit::Work;
use crate::model::{Age, Change, Fields, Model};
use crate::push::{instance, push_all};
use crate::world::World;

/// An open candidate.
pub struct Open {
    pub base: u64,
    pub edits: Vec<Change>,
}

impl World {
    pub(crate) fn work_on_the_candidate(&mut self) {
        let candidates = self.limited_candidates();
        let Some(mut open) = self.candidate.take() else {
            let base = self.position();
            self.history.push(format!("{}: open", base + 1));
            candidates.open("c", "").expect("a candidate opens");
            self.candidate = Some(Open { base, edits: Vec::new() });
            return self.note();
        };
        if self.random.one_in(3) {
            self.fill(&open);
        }
        if self.random.one_in(5) && !open.edits.iter().any(|edit| matches!(edit, Change::Undo { .. })) {
            self.rebase(&candidates, &mut open);
            self.candidate = Some(open);
            return self.note();
        }
        if open.edits.len() < 3 && !self.random.one_in(3) {
            self.add_edit(&candidates, &mut open);
            self.candidate = Some(open);
            return self.note();
        }
        let candidates = if self.random.one_in(4) { self.demoted_candidates() } else { candidates };
        self.end_candidate(&candidates, open);
    }

    /// Others put something into a container that an edit would take away, or below it.
    fn fill(&mut self, open: &Open) {
        let container = |edit: &Change| match edit {
            Change::Delete { is_link: false, id } | Change::Purge { is_link: false, id } => {
                self.model.live(false, id).ok()
            }
            _ => None,
        };
        let containers: Vec<Age> = open.edits.iter().filter_map(container).collect();
        if containers.is_empty() {
            return;
        }
        let mut at = *self.random.choose(&containers);
        while self.random.one_in(2) {
            let children = self.model.children(at);
            if children.is_empty() {
                break;
            }
            at = *self.random.choose(&children);
        }
        let from = self.model.all[&at].now().id.clone();
        self.count += 1;
        let (id, link, name) =
            (format!("e0{}", self.count), format!("r0{}", self.count), format!("n{}", self.count));
        let create = Change::Create { id: id.clone(), type_name: "container", fields: Fields::default() };
        let contain = Change::Contain { id: link, from, to: id, name: Some(name), n: Some(0) };
        self.commit_all(vec![Work::Direct(create), Work::Direct(contain)]);
    }

    /// Adds an edit, or the edits that a change of a tree makes.
    fn add_edit(&mut self, candidates: &Candidates, open: &mut Open) {
        let work = match self.random.one_in(3) {
            true => Work::Tree(self.any_edit()),
            false => match self.any_change() {
                // An upsert is the edit that it is when it is added.
                None | Some(Change::Upsert { .. }) => return,
                Some(change) => Work::Direct(change),
            },
        };
        // Which version an undo takes back after another edit of the instance is left open.
        let is_edited = |named| open.edits.iter().any(|edit| edit.instance() == named);
        if matches!(&work, Work::Direct(undo @ Change::Undo { .. }) if is_edited(undo.instance())) {
            return;
        }
        let position = self.position();
        let mut view = Model { is_always: true, ..self.model.clone() };
        let is_applied = open
            .edits
            .iter()
            .enumerate()
            .all(|(number, edit)| view.apply((position + 1, number), edit).is_ok());
        let planned = match &work {
            Work::Direct(change) => Ok(vec![change.clone()]),
            Work::Tree(edit) => view.planned(edit, &mut self.count),
        };
        let stored = self.stored(std::slice::from_ref(&work));
        let outcome = candidates.edit("c", |t| push_all(t, &stored));
        self.history.push(format!("{position}: edit {work:?}: {:?}", outcome.is_ok()));
        let edits = candidates.edits("c").expect("its edits");
        if outcome.is_ok() {
            self.check_role("an edit", &edits, &outcome);
        }
        let news = &edits[open.edits.len().min(edits.len())..];
        if outcome.is_err() {
            assert!(news.is_empty(), "a refused edit stays: {}", self.what());
            return;
        }
        assert!(is_applied, "an edit of a candidate whose edits cannot be applied: {}", self.what());
        let planned = planned.unwrap_or_else(|kind| panic!("expected {kind:?}: {}", self.what()));
        // An edit that changes nothing is left out.
        view.is_always = false;
        let mut made = Vec::new();
        for change in planned {
            match view.apply((position + 1, open.edits.len() + made.len()), &change) {
                Ok(true) => made.push(change),
                Ok(false) => {}
                Err(kind) => panic!("expected {kind:?}: {}", self.what()),
            }
        }
        assert_eq!(news.len(), made.len(), "{news:#?}, expected {made:#?}: {}", self.what());
        let is_tree = matches!(work, Work::Tree(_));
        let names = |(change, action): (&Change, &annals::Change)| match (change.created(), &action.action) {
            (Some((false, id)), Action::CreateEntity(new)) => Some((id.to_owned(), new.id.to_string())),
            (Some((true, id)), Action::CreateRelationship(new)) => Some((id.to_owned(), new.id.to_string())),
            _ => None,
        };
        let given: BTreeMap<String, String> = made.iter().zip(news).filter_map(names).collect();
        if is_tree {
            made.iter_mut().for_each(|change| change.learn_ids(&given));
        }
        open.edits.extend(made);
    }

    /// The model after the commit of a candidate, or why it is refused.
    fn expect_committed(&self, open: &Open) -> (Model, std::result::Result<(), ErrorKind>) {
        let position = self.position() + 1;
        // An edit makes a version, also if others have made the same change since it was added.
        let mut next = Model { is_always: true, ..self.model.clone() };
        let mut expected = Ok(());
        for (number, edit) in open.edits.iter().enumerate() {
            let changed = edit.named().and_then(|(is_link, name)| self.model.find(is_link, name));
            if changed.is_some_and(|age| self.changed_at(age) > open.base) {
                expected = Err(ErrorKind::PreconditionFailed);
            }
            if expected.is_ok() {
                let before = next.clone();
                expected = next.apply((position, number), edit).map(drop);
                if expected.is_ok() && self.takes_others_along(open.base, edit, &before, &next) {
                    expected = Err(ErrorKind::PreconditionFailed);
                }
            }
        }
        if expected.is_ok() {
            expected = next.check_end(position);
        }
        (next, expected)
    }

    fn end_candidate(&mut self, candidates: &Candidates, open: Open) {
        let is_reversible = open.edits.iter().all(Change::can_be_taken_back);
        let must_confirm = is_reversible && self.random.one_in(2);
        let position = self.position() + 1;
        let (next, expected) = self.expect_committed(&open);
        let within = must_confirm.then(|| Duration::from_secs(3_600));
        let how = CandidateCommit { confirm_within: within, ..CandidateCommit::default() };
        let edits = candidates.edits("c").expect("its edits");
        let outcome = candidates.commit("c", &how);
        self.history.push(format!("{position}: commit candidate, confirm {must_confirm}: {outcome:?}"));
        // A revert may bring back what it deletes again, and the model cannot see that.
        let is_unseen = self.vague.range(open.base + 1..).next().is_some()
            && open.edits.iter().filter_map(Change::named).any(|(is_link, name)| {
                self.model.find(is_link, name).is_none_or(|age| !self.model.all[&age].now().is_live)
            });
        self.check_role("a commit", &edits, &outcome);
        let is_same = match (&outcome, expected) {
            (Ok(_), Ok(())) => true,
            (Err(found), expected) if found.kind() == ErrorKind::Refused => {
                // A conflict is reported first.
                expected != Err(ErrorKind::PreconditionFailed)
            }
            (Err(found), Ok(())) if found.kind() == ErrorKind::PreconditionFailed => is_unseen,
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
        self.learn_ids();
        self.note();
        if must_confirm {
            self.end_confirmation(position, edits);
        }
    }

    /// Others change something while the commit at `position` waits; then it is confirmed or taken back.
    fn end_confirmation(&mut self, position: u64, edits: Vec<annals::Change>) {
        for _ in 0..self.random.below(5) {
            let works = self.any_works();
            self.commit_all(works);
        }
        let candidates = &self.limited_candidates();
        let anyone = self.repository().candidates();
        if self.random.one_in(3) {
            let outcome = candidates.confirm("c", "");
            self.history.push(format!("{}: confirm: {outcome:?}", self.position()));
            // Deletions and restorations are not asked again.
            let is_whole =
                |edit: &annals::Change| matches!(edit.action, Action::Delete(_) | Action::Restore(_));
            let kept: Vec<_> = edits.into_iter().filter(|edit| !is_whole(edit)).collect();
            if outcome.is_ok() {
                self.check_role("a confirmation", &kept, &outcome);
            } else {
                anyone.confirm("c", "").expect("it can be confirmed");
            }
            return self.note();
        }
        let expected = self.expect_taken_back(position..=position);
        let is_asked = self.random.one_in(2);
        let mut outcome = match is_asked {
            true => candidates.take_back("c", None, "").map(drop),
            false => self.let_time_run_out(&anyone),
        };
        self.history.push(format!("{}: take candidate back: {outcome:?}", self.position()));
        if outcome.is_ok() && is_asked {
            self.check_role("a take-back", &self.last_changes(), &outcome);
        }
        if outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Refused) {
            outcome = anyone.take_back("c", None, "").map(drop);
        }
        self.judge_taken_back(outcome, expected);
        match anyone.get("c").expect("it is there").unconfirmed {
            None => drop(anyone.discard("c", "").expect("it can be discarded")),
            Some(_) => drop(anyone.confirm("c", "").expect("it can be confirmed")),
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
        // The candidate keeps the text only.
        let kinds = [
            ("later records built on", ErrorKind::PreconditionFailed),
            ("expected a unique value", ErrorKind::NotUnique),
            ("expected at most one", ErrorKind::Cardinality),
        ];
        let kind = kinds.iter().find(|(text, _)| failure.contains(text)).map(|(_, kind)| *kind);
        Err(Error::new(kind.unwrap_or(ErrorKind::MissingEnd), failure.to_string()))
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
            let is_conflict = known.is_some_and(|age| match keep {
                Some(Keep::Mine) => self.model.all[&age].birth > open.base,
                _ => self.changed_at(age) > open.base,
            });
            let mut tried = next.clone();
            if is_conflict || tried.apply((before + 1, number), edit).is_err() {
                continue;
            }
            if keep != Some(Keep::Mine) && self.takes_others_along(open.base, edit, &next, &tried) {
                continue;
            }
            next = tried;
            kept.push(edit.clone());
            created.extend(edit.created().map(|(is_link, name)| (is_link, name.to_owned())));
        }
        // With unique values, other edits may go, too.
        let is_unique = next.check_unique(before + 1).is_ok();
        let dropped_count = open.edits.len() - kept.len();
        let expected = match keep {
            Some(Keep::Theirs) => Ok(dropped_count),
            _ if dropped_count > 0 => Err(ErrorKind::PreconditionFailed),
            _ => Ok(0),
        };
        let edits = candidates.edits("c").expect("its edits");
        let outcome = candidates.rebase("c", keep, "");
        self.history.push(format!("{}: rebase, keep {keep:?}: {outcome:?}", self.position()));
        if outcome.is_ok() {
            let kept = candidates.edits("c").expect("its edits");
            self.check_role("a rebase", &kept, &outcome);
        } else if outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Refused) {
            return self.check_role("a rebase", &edits, &outcome);
        }
        let found = outcome.as_ref().map(Vec::len).map_err(Error::kind);
        match (is_unique, keep, &outcome) {
            (true, ..) => assert_eq!(found, expected, "{outcome:?}: {}", self.what()),
            (false, Some(Keep::Theirs), Ok(dropped)) => {
                assert!(dropped.len() > dropped_count, "{outcome:?}: {}", self.what());
                let gone: BTreeSet<usize> = dropped.iter().map(|conflict| conflict.edit).collect();
                let edits = open.edits.iter().enumerate().filter(|(number, _)| !gone.contains(number));
                kept = edits.map(|(_, edit)| edit.clone()).collect();
                self.check_applies(&kept);
            }
            _ => assert_eq!(found, Err(ErrorKind::PreconditionFailed), "{}", self.what()),
        }
        if outcome.is_ok() {
            *open = Open { base: before, edits: kept };
        }
    }

    /// True if an edit, which leads from `before` to `after`, takes something along that others have written since `base`.
    fn takes_others_along(&self, base: u64, edit: &Change, before: &Model, after: &Model) -> bool {
        let named = edit.named().and_then(|(is_link, name)| before.find(is_link, name));
        let is_touched = |age: &Age| match (before.all.get(age), after.all.get(age)) {
            (Some(known), Some(now)) => known.versions.len() != now.versions.len(),
            (known, _) => known.is_some(),
        };
        let mut touched = self.model.all.keys().filter(|age| Some(**age) != named && is_touched(age));
        touched.any(|age| self.changed_at(*age) > base)
    }

    /// The last record that changed an instance. A record that takes others back may delete what it restores, and restore
    /// what it deletes: the model, which knows only what is left, asks the history then.
    fn changed_at(&self, age: Age) -> u64 {
        let known = &self.model.all[&age];
        let last = self.repository().snapshot().versions(&instance(known.is_link, &known.now().id), 0, 1);
        let last = last.ok().and_then(|versions| Some(versions.first()?.position.0));
        let vague = last.filter(|position| self.vague.contains(position));
        vague.map_or(known.place().0, |position| position.max(known.place().0))
    }

    /// Fails if these edits cannot be committed.
    fn check_applies(&self, edits: &[Change]) {
        let position = self.position() + 1;
        let mut next = Model { is_always: true, ..self.model.clone() };
        for (number, edit) in edits.iter().enumerate() {
            let outcome = next.apply((position, number), edit);
            assert!(outcome.is_ok(), "{edit:?} stays: {outcome:?}: {}", self.what());
        }
        assert!(next.check_unique(position).is_ok(), "edits that clash stay: {}", self.what());
    }
}
