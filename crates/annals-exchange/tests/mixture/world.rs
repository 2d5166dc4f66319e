//! A repository and the model beside it: each step changes both, and compares them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use annals::*;
use annals_exchange::import::Summary;

use crate::candidates::Open;
use crate::edit::Work;
use crate::exchange::{Clock, Exported, copied};
use crate::grouped::check_groups;
use crate::leases::Leases;
use crate::limited_writers::Writer;
use crate::memory::room_for_one_graph;
use crate::model::{Change, Fields, Known, Model};
use crate::place::Place;
use crate::push::{instance, push_all};
use crate::random::Random;
use crate::roles::Role;
use crate::rules::{Rules, is_of_rules};
use crate::see::{Name, Seen, of_model, of_snapshot};
use crate::sights::Sights;
use crate::subtree_tags::{SubtreeContent, SubtreeTag};
use crate::watched::Client;

pub struct World {
    pub(crate) seed: u64,
    pub(crate) random: Random,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) place: Place,
    pub(crate) repository: Option<Repository>,
    pub(crate) leases: Option<Leases>,
    pub(crate) model: Model,
    /// The model after each record.
    pub(crate) past: BTreeMap<u64, Model>,
    /// Records that can be taken back.
    pub(crate) can_be_taken_back: BTreeSet<u64>,
    /// Records of which the model does not know what was deleted together.
    pub(crate) vague: BTreeSet<u64>,
    pub(crate) candidate: Option<Open>,
    /// Of the client of the candidate.
    pub(crate) role: Role,
    /// An earlier export.
    pub(crate) exported: Option<Exported>,
    /// The state behind each tag ever seen, by kind and id.
    pub(crate) tags: HashMap<(bool, String, Revision), Seen>,
    /// The content behind each tag of a tree ever seen.
    pub(crate) subtree_tags: HashMap<SubtreeTag, SubtreeContent>,
    pub(crate) accepted: usize,
    pub(crate) count: usize,
    pub(crate) history: Vec<String>,
    /// Counts the changes with little memory.
    pub(crate) tight_count: usize,
    /// Which of them found no room: other tests decide on that, too, so a repeated history is told.
    pub(crate) without_room: Vec<usize>,
    pub(crate) told_without_room: Option<Vec<usize>>,
    /// How far the clock of the repository is ahead. Units: microseconds.
    pub(crate) ahead: Arc<AtomicI64>,
    pub(crate) sights: Sights,
    pub(crate) writers: Vec<Writer>,
    pub(crate) clients: Vec<Client>,
    /// Instants as of which the last record was read, and that record.
    pub(crate) settled: Vec<(Instant, Position)>,
    /// Receipts of commits with keys.
    pub(crate) receipts: Vec<(IdempotencyKey, Receipt)>,
    pub(crate) keys_count: usize,
    /// A reader beside the writer.
    pub(crate) follower: Option<Repository>,
}

impl World {
    pub fn new(seed: u64, told_without_room: Option<Vec<usize>>) -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let mut world = World {
            seed,
            random: Random(seed),
            place: Place::Folder(folder.path().join("repository")),
            folder,
            repository: None,
            leases: None,
            model: Model::default(),
            past: BTreeMap::new(),
            can_be_taken_back: BTreeSet::new(),
            vague: BTreeSet::new(),
            candidate: None,
            role: Role::default(),
            exported: None,
            tags: HashMap::new(),
            subtree_tags: HashMap::new(),
            accepted: 0,
            count: 0,
            history: Vec::new(),
            tight_count: 0,
            without_room: Vec::new(),
            told_without_room,
            ahead: Arc::default(),
            sights: Sights::default(),
            writers: Vec::new(),
            clients: Client::all(),
            settled: Vec::new(),
            receipts: Vec::new(),
            keys_count: 0,
            follower: None,
        };
        world.writers = Writer::any(&mut world.random);
        world.open();
        let declared = world.repository().transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.name_collection("here")?;
            Rules::default().types().into_iter().try_for_each(|known| t.define_type(known))
        });
        declared.expect("types are declared");
        world.note();
        world
    }

    pub(crate) fn clock(&self) -> Clock {
        let ahead = Arc::clone(&self.ahead);
        Arc::new(move || {
            let micros = Instant::now().micros() + ahead.load(Ordering::SeqCst);
            Instant::from_micros(micros).expect("the clock is ahead by days at most")
        })
    }

    pub(crate) fn repository(&self) -> &Repository {
        self.repository.as_ref().expect("it is open")
    }

    pub(crate) fn position(&self) -> u64 {
        self.repository().snapshot().position().0
    }

    pub(crate) fn what(&self) -> String {
        let without: Vec<String> = self.without_room.iter().map(usize::to_string).collect();
        let again = format!("MIXTURE_SEED={} MIXTURE_WITHOUT_ROOM={:?}", self.seed, without.join(","));
        format!("{again}, after {:#?}", self.history)
    }

    pub fn step(&mut self) {
        // A follower, and little memory, take long.
        match self.random.below(64) {
            0..3 => self.take_back(),
            3..9 => self.work_on_the_candidate(),
            9..11 => self.maintain(),
            11..17 => self.exchange(),
            17 => self.follow(),
            18 => self.work_with_little_memory(),
            19 => self.back_up(),
            20 => self.kill(),
            21..24 => self.work_on_leases(),
            24 => self.revert(),
            25..36 => self.work_with_grants(),
            36..42 => self.work_under_rules(),
            42 => self.import_and_resume(),
            43 => self.declare_supertype(),
            44..50 => self.work_on_the_candidate(),
            _ => {
                let works = self.any_works();
                self.commit_all(works);
            }
        }
        self.compare();
    }

    /// Compares the whole history, and returns how many changes were accepted.
    pub fn finish(mut self) -> usize {
        self.open();
        self.compare();
        let repository = self.repository().clone();
        self.compare_all(&repository, usize::MAX);
        drop(repository);
        self.follow();
        let (copy, rules) = copied(self.repository(), self.place.contents(), self.clock());
        let snapshot = self.repository().snapshot();
        assert_eq!(rules, self.model.rules, "the rules of the copy: {}", self.what());
        assert_eq!(copy, of_snapshot(self.repository(), &snapshot), "the copy: {}", self.what());
        let report = self.repository().check().expect("it can be checked");
        assert!(report.is_clean(), "{:#?}: {}", report.differences, self.what());
        self.accepted
    }

    /// Stores the model after the last record, which is what the repository has.
    pub(crate) fn note(&mut self) {
        let snapshot = self.repository().snapshot();
        self.compare_seen(&snapshot);
        self.past.insert(snapshot.position().0, self.model.clone());
    }

    fn compare_seen(&self, snapshot: &Snapshot) -> BTreeMap<Name, Seen> {
        let found = of_snapshot(self.repository(), snapshot);
        let expected = of_model(&self.model, u64::MAX, &self.model);
        assert_eq!(found, expected, "{}", self.what());
        check_groups(snapshot, &found, || self.what());
        found
    }

    pub(crate) fn compare(&mut self) {
        let snapshot = self.repository().snapshot();
        let found = self.compare_seen(&snapshot);
        self.check_unique(&found);
        self.check_rules(&snapshot);
        self.check_subtree_tags(&snapshot);
        self.compare_views();
        self.check_sights(&snapshot, &found);
        self.check_watched();
        self.check_followed();
        self.check_edited();
        self.check_settled();
        self.check_repeats();
        for ((is_link, _, name), seen) in found {
            let instance = instance(is_link, &name);
            let revision = snapshot.revision(&instance).expect("it is there");
            let known = self.tags.entry((is_link, name, revision)).or_insert_with(|| seen.clone()).clone();
            // The id of an end may change without a version of the relationship.
            let own = |seen: &Seen| (seen.fields.clone(), seen.name.clone(), seen.type_name.clone());
            let same = own(&known) == own(&seen);
            assert!(
                same,
                "{instance} was {known:?} and is {seen:?} with the tag {revision}: {}",
                self.what()
            );
        }
    }

    /// No two nodes of this repository have one code, and no two children of a container one name.
    fn check_unique(&self, found: &BTreeMap<Name, Seen>) {
        let (mut codes, mut names) = (BTreeSet::new(), BTreeSet::new());
        for seen in found.values() {
            let code = seen.fields.code.filter(|_| seen.type_name == "node" && !seen.is_copy);
            assert!(
                code.is_none_or(|code| codes.insert(code)),
                "{seen:?}: its code is taken: {}",
                self.what()
            );
            if let (Some([from, _]), "contains") = (&seen.ends, &*seen.type_name) {
                let [_, (birth, id)] = seen.ends.as_ref().expect("it has ends");
                let child = found.get(&(false, *birth, id.clone()));
                let key = child.filter(|child| child.type_name == "item").map(|child| child.fields.n);
                let name = (from, key, seen.name.as_ref().filter(|_| key.is_none()));
                assert!(names.insert(name), "{seen:?}: its name is taken: {}", self.what());
            }
        }
    }

    /// Exports, or merges an earlier export.
    fn exchange(&mut self) {
        // An export has candidates, too, and a merge would bring them back.
        // It has copies, too, and a merge refuses these.
        let has_copies = self.exported.is_none() && self.model.all.values().any(|known| known.is_copy);
        if self.candidate.is_some() || has_copies {
            return;
        }
        let Some(exported) = self.exported.take() else {
            self.history.push(format!("export of {}", self.position()));
            self.exported = Some(Exported::of(self.repository()));
            return;
        };
        self.unsettle();
        let is_deleting = self.random.one_in(2);
        let before = of_snapshot(self.repository(), &self.repository().snapshot());
        self.history.push(format!("{}: merge, deleting {is_deleting}", self.position() + 1));
        let summary = match exported.merge(self.repository(), is_deleting) {
            Ok(summary) => summary,
            // Not all is done.
            Err(kind) if is_of_rules(kind) => Summary { refused_count: 1, ..Summary::default() },
            Err(kind) => panic!("{kind:?}: {}", self.what()),
        };
        let after = of_snapshot(self.repository(), &self.repository().snapshot());
        if let Err(text) = exported.check(&before, &after, summary, is_deleting) {
            panic!("{text}; {summary:?}: {}", self.what());
        }
        let position = self.position();
        if summary.refused_count == 0 {
            let again = exported.merge(self.repository(), false).expect("it changes nothing");
            assert_eq!(self.position(), position, "a second merge writes {again:?}: {}", self.what());
        }
        self.model.take(&after, position);
        // An export has the types, too.
        self.model.rules = Rules::of(&self.repository().snapshot());
        self.vague.insert(position);
        self.accepted += 1;
        self.note();
    }

    /// Changes that a merge must cope with, and that random ones seldom make together: a relationship gets another end
    /// and is deleted, a container goes with its children, and a container and its child are both new.
    fn unsettle(&mut self) {
        let live = |known: &&Known| known.now().is_live && !known.is_copy;
        let ids = |is_link: bool, model: &Model| -> Vec<String> {
            let all = model.all.values().filter(live).filter(|known| known.is_link == is_link);
            all.map(|known| known.now().id.clone()).collect()
        };
        let (entities, links) = (ids(false, &self.model), ids(true, &self.model));
        if entities.is_empty() {
            return;
        }
        match self.random.below(4) {
            0 if !links.is_empty() => {
                let (id, from) = (self.random.choose(&links).clone(), self.random.choose(&entities).clone());
                let to = self.random.one_in(3).then(|| self.random.choose(&entities).clone());
                self.commit(Change::Relink { id: id.clone(), from, to });
                self.commit(Change::Delete { is_link: true, id });
            }
            1 => {
                let id = self.random.choose(&entities).clone();
                self.commit(Change::Delete { is_link: false, id });
            }
            2 => {
                self.count += 2;
                let [from, to] = [format!("e0{}", self.count), format!("e0{}", self.count + 1)];
                for id in [from.clone(), to.clone()] {
                    self.commit(Change::Create { id, type_name: "node", fields: Fields::n(0) });
                }
                let (id, name) = (format!("r0{}", self.count), format!("n{}", self.count));
                self.commit(Change::Contain { id, from, to, name: Some(name), n: Some(0) });
            }
            _ => {}
        }
    }

    /// One of two has no room for a second graph, and misses the purges before a compaction.
    fn open_follower(&mut self) {
        let memory_bytes_max = room_for_one_graph().filter(|_| self.random.one_in(2));
        let poll_interval_ms = memory_bytes_max.map_or(20, |_| 3_600_000);
        let options = Options { memory_bytes_max, poll_interval_ms, ..Options::read_only() };
        self.follower = Some(self.place.open(options).expect("a follower opens"));
    }

    /// A reader beside the writer sees the same, also across compactions and after the writer was opened again.
    fn follow(&mut self) {
        if self.follower.is_none() || self.random.one_in(4) {
            self.open_follower();
        }
        let refreshed = self.follower.as_ref().expect("it was opened").refresh();
        if refreshed.as_ref().is_err_and(|error| error.kind() == ErrorKind::TooLarge) {
            // The process holds much more than when it was opened.
            self.open_follower();
        } else {
            refreshed.expect("a follower reads on");
        }
        let follower = self.follower.as_ref().expect("it was opened");
        let snapshot = follower.snapshot();
        assert_eq!(snapshot.position().0, self.position(), "the follower: {}", self.what());
        self.check_settled_in(follower);
        self.check_repeats_in(follower);
        let own = self.repository().snapshot();
        let found = of_snapshot(follower, &snapshot);
        assert_eq!(found, of_snapshot(self.repository(), &own), "the follower: {}", self.what());
        self.check_rules(&snapshot);
        // The feed has each record, as the writer has it.
        let mut after = own.position().0.saturating_sub(20);
        let mut feeds = [follower.follow(Position(after)), self.repository().follow(Position(after))];
        while after < own.position().0 {
            let [one, other] =
                feeds.each_mut().map(|feed| feed.poll().expect("it can be read").expect("it is durable"));
            after += 1;
            assert_eq!((one.0.0, &one), (after, &other), "the feed: {}", self.what());
        }
    }

    fn maintain(&mut self) {
        match self.random.below(4) {
            0 => {
                let outcome = self.repository().checkpoint();
                assert_eq!(outcome.is_ok(), self.place.has_checkpoints(), "{outcome:?}: {}", self.what());
            }
            1 => self.open(),
            _ => {
                self.history.push("compact".into());
                let outcome = self.repository().compact();
                assert_eq!(outcome.is_ok(), self.place.can_compact(), "{outcome:?}: {}", self.what());
            }
        }
    }

    pub(crate) fn commit(&mut self, change: Change) {
        self.commit_all(vec![Work::Direct(change)]);
    }

    /// Commits a transaction.
    pub(crate) fn commit_all(&mut self, works: Vec<Work>) {
        let position = self.position();
        let mut next = self.model.clone();
        let expected = next.attempt(position + 1, &works, &mut self.count);
        self.history.push(format!("{}: {works:?}", position + 1));
        let stored = self.stored(&works);
        let tried = self.random.one_in(4).then(|| {
            let mut trial = self.repository().transaction();
            push_all(&mut trial, &stored).and_then(|()| trial.dry_run()).map(drop)
        });
        let key = self.any_key();
        let found = self.repository().transact(|t| {
            key.into_iter().for_each(|key| _ = t.idempotency_key(key));
            push_all(t, &stored)
        });
        if let Some(tried) = tried {
            let kinds = (tried.map_err(|error| error.kind()), found.as_ref().map(drop).map_err(Error::kind));
            assert_eq!(kinds.0, kinds.1, "a trial, and the commit: {}", self.what());
        }
        self.judge(&works, found.as_ref().map(drop), &expected);
        match expected {
            Ok(changes) if !changes.is_empty() => {
                if let (Some(key), Ok((_, receipt))) = (key, &found) {
                    self.note_key(key, *receipt);
                }
                self.accept(next, &changes);
            }
            _ => assert_eq!(self.position(), position, "{}", self.what()),
        }
    }

    /// Fails if the engine refuses what the model accepts, or the other way round. Of several parts, either may name
    /// another first error; so may it for a subtree in which an item has the id of another one.
    pub(crate) fn judge(
        &self,
        works: &[Work],
        found: std::result::Result<(), &Error>,
        expected: &std::result::Result<Vec<Change>, ErrorKind>,
    ) {
        let expected = expected.as_ref().map(drop).map_err(|kind| *kind);
        let kind = found.map_err(Error::kind);
        let is_vague = match works {
            [Work::Direct(_)] => false,
            [Work::Tree(_)] => {
                expected.is_err() && matches!(kind, Err(ErrorKind::AlreadyExists | ErrorKind::WrongType))
                    || expected == Err(ErrorKind::AlreadyExists)
            }
            _ => expected.is_err(),
        };
        let has_rules = !self.model.rules.is_empty()
            || works.iter().any(|work| matches!(work, Work::Direct(Change::Declare { .. })));
        // Of several rules that are broken, either may name another first one.
        let are_of_rules = has_rules && [kind, expected].iter().all(|kind| kind.is_err_and(is_of_rules));
        let is_same = kind == expected || is_vague && kind.is_err() || are_of_rules;
        assert!(is_same, "{found:?}, expected {expected:?}: {}", self.what());
    }

    pub(crate) fn accept(&mut self, next: Model, changes: &[Change]) {
        self.model = next;
        self.accepted += 1;
        if changes.iter().all(Change::can_be_taken_back) {
            self.can_be_taken_back.insert(self.position());
        }
        self.learn_ids();
        self.note();
    }

    /// Learns the ids that the engine gave to new items of trees, from the top down.
    pub(crate) fn learn_ids(&mut self) {
        if self.model.all.values().any(|known| known.now().id.starts_with('?')) {
            let found = of_snapshot(self.repository(), &self.repository().snapshot());
            self.model.learn_ids(&found);
        }
    }
}
