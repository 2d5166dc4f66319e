//! State that clients push under leases: in the operational view over the tree of the repository, in no record, and gone
//! when its lease ends or the repository is opened again. A refused push changes nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant as Clock};

use annals::*;

use crate::edit::{EditKind, Path, TreeEdit, Work, edit_tree, path_of};
use crate::model::Model;
use crate::views::View;
use crate::world::World;

const LONG: Duration = Duration::from_secs(3_600);
/// The time of a lease that runs out.
const SHORT: Duration = Duration::from_millis(60);
/// Longest time until the state of ended leases is freed.
const FREED_WITHIN: Duration = Duration::from_secs(10);
/// Units of text that no model knows. A lease packs its state after some of them, or it is full. Units: bytes.
const PADDING: usize = 256 << 10;
/// More of them than a lease has room for.
const TOO_MANY: usize = 64;

/// The leases, and the state that the model expects under each.
pub(crate) struct Leases {
    operational: Operational,
    held: BTreeMap<String, Model>,
}

impl Leases {
    /// Ends all of them: nothing is left.
    fn end(self, what: &str) {
        for name in self.held.keys() {
            self.operational.end_lease(name).expect("it is there");
        }
        let deadline = Clock::now() + FREED_WITHIN;
        while self.operational.pushed_bytes() > 0 && Clock::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.operational.pushed_bytes(), 0, "the state of ended leases: {what}");
    }
}

impl World {
    /// Works on leases, and on the repository meanwhile.
    pub(crate) fn work_on_leases(&mut self) {
        for _ in 0..1 + self.random.below(10) {
            self.work_on_a_lease(false);
            if self.random.one_in(3) {
                let works = self.any_works();
                self.commit_all(works);
            }
            self.compare_views();
        }
    }

    /// Opens a lease, pushes state under one, ends it or lets it run out. With little memory, a push may find no room.
    pub(crate) fn work_on_a_lease(&mut self, is_tight: bool) {
        let mut leases = self.leases.take().unwrap_or_else(|| Leases {
            operational: Operational::over(self.repository()).expect("a thread starts"),
            held: BTreeMap::new(),
        });
        let position = self.position();
        // With little memory mostly the same one, so that its history grows.
        let is_first = is_tight && !self.random.one_in(6);
        let name = format!("lease{}", if is_first { 0 } else { self.random.below(3) });
        let Leases { operational, held } = &mut leases;
        match held.remove(&name) {
            None if self.random.one_in(12) => {
                operational.open_lease(&name, SHORT).expect("a lease opens");
                // It may be over already.
                let a = path_of(&["a".to_owned()]);
                let _ = operational.push(&name, |tree| tree.merge(&a, &Item::new().property("n", 1)));
                std::thread::sleep(SHORT);
                let outcome = operational.lease(&name).map_err(|error| error.kind());
                assert_eq!(outcome, Err(ErrorKind::NotFound), "{}", self.what());
            }
            None => {
                operational.open_lease(&name, LONG).expect("a lease opens");
                held.insert(name.clone(), Model { is_pushed: true, ..Model::default() });
            }
            Some(_) if self.random.one_in(if is_tight { 32 } else { 8 }) => {
                operational.end_lease(&name).expect("it is there")
            }
            Some(model) => {
                let model = self.push_under(operational, &name, model, is_tight);
                held.insert(name.clone(), model);
            }
        }
        self.history.push(format!("lease {name}"));
        assert_eq!(self.position(), position, "a lease writes a record: {}", self.what());
        self.leases = Some(leases);
    }

    /// Pushes changes of a tree, as one; returns what is there then.
    fn push_under(
        &mut self,
        operational: &Operational,
        name: &str,
        mut model: Model,
        is_tight: bool,
    ) -> Model {
        let count = if self.random.one_in(3) { 3 } else { 1 };
        let edits: Vec<TreeEdit> = (0..count).map(|_| self.any_push(&mut model, is_tight)).collect();
        let is_given_up = self.random.one_in(10);
        let number = self.tight_count;
        self.tight_count += usize::from(is_tight);
        let is_told = is_tight && self.told_without_room.as_ref().is_some_and(|told| told.contains(&number));
        let outcome = operational.push(name, |tree| {
            edits.iter().try_for_each(|edit| edit_tree(tree, &edit.kind))?;
            match is_told || is_given_up {
                true => Err(Error::new(ErrorKind::NoRoom, "given up")),
                false => Ok(()),
            }
        });
        let works: Vec<Work> = edits.into_iter().map(Work::Tree).collect();
        self.history.push(format!("push {name}, given up {is_given_up}: {works:?}: {outcome:?}"));
        let mut next = model.clone();
        let expected = next.attempt(self.history.len() as u64, &works, &mut self.count);
        let found = outcome.as_ref().map(drop);
        let is_full =
            |error: &Error| matches!(error.kind(), ErrorKind::NoRoom | ErrorKind::TooLarge | ErrorKind::Busy);
        if is_tight && found.is_err_and(is_full) {
            self.without_room.push(number);
        } else if !(is_given_up && found.is_err()) {
            self.judge(&works, found, &expected);
        }
        if found.is_ok() {
            next.all.retain(|_, known| known.now().is_live);
            model = next;
        }
        model
    }

    /// A change of the tree of a lease: also long lists that come and go, and long texts.
    fn any_push(&mut self, model: &mut Model, is_tight: bool) -> TreeEdit {
        std::mem::swap(&mut self.model, model);
        let mut edit = self.any_edit_below(ROOT_ID.to_owned());
        std::mem::swap(&mut self.model, model);
        let units = match is_tight {
            true if self.random.one_in(24) => TOO_MANY,
            true => self.random.below(5),
            false => 0,
        };
        if let EditKind::Create { item, .. }
        | EditKind::Merge { item, .. }
        | EditKind::Put { item, .. }
        | EditKind::Replace { item, .. } = &mut edit.kind
        {
            // Packing forgets which ids there were.
            item.forget_ids();
            item.padding = units * PADDING;
        }
        edit
    }

    pub(crate) fn compare_views(&mut self) {
        let Some(mut leases) = self.leases.take() else { return };
        // A path in the tree of the repository, or in one that is pushed.
        let mut tree = leases.held.values_mut().next().filter(|_| self.random.one_in(2));
        if let Some(tree) = &mut tree {
            std::mem::swap(&mut self.model, tree);
        }
        let is_there = !self.random.one_in(4);
        let path = self.any_path(ROOT_ID, is_there);
        if let Some(tree) = tree {
            std::mem::swap(&mut self.model, tree);
        }
        self.leases = Some(leases);
        let depth = self.random.one_in(3).then(|| self.random.below(3));
        let Some(Leases { operational, held }) = &self.leases else { return };
        let mut whole = View::of(&self.model, "");
        for (name, model) in held {
            let Some(pushed) = View::of(model, name) else { continue };
            match &mut whole {
                Some(whole) => whole.merge(&pushed),
                None => whole = Some(pushed),
            }
        }
        let all = [(Path::new(), None), (Path::new(), depth), (path.clone(), None), (path, depth)];
        for (path, depth) in all {
            let at = if path.is_empty() { TreePath::root() } else { path_of(&path) };
            let found = operational.get(&at, depth).expect("a view");
            let expected = whole.as_ref().and_then(|whole| whole.at(&path)).cloned();
            let expected = expected.map(|view| view.cut(depth.unwrap_or(usize::MAX)));
            assert_eq!(found.as_ref().map(View::seen), expected, "{path:?}, {depth:?}: {}", self.what());
        }
        let names = operational.leases().expect("leases").into_iter().map(|lease| lease.name.to_string());
        assert!(names.eq(held.keys().cloned()), "the leases: {}", self.what());
    }

    /// Ends all leases, as the end of the process does, or before it.
    pub(crate) fn end_leases(&mut self) {
        let is_early = self.random.one_in(2);
        if let Some(leases) = self.leases.take().filter(|_| is_early) {
            leases.end(&self.what());
        }
    }
}
