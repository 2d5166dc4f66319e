//! A repository and the model beside it: each step changes both, and compares them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use annals::*;

use crate::candidates::Open;
use crate::exchange::{Clock, Exported, copied};
use crate::model::{Age, Change, Content, Known, Model};
use crate::random::Random;
use crate::see::{Seen, id, of_model, of_snapshot};

/// Ids are few, so that purged ones are used again.
const IDS: usize = 8;
/// Ids of entities of the other collection.
const COPIES: usize = 3;
/// Most live entities.
const LIVE_MAX: usize = 14;

pub struct World {
    pub(crate) seed: u64,
    pub(crate) random: Random,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) repository: Option<Repository>,
    pub(crate) model: Model,
    /// The model after each record.
    pub(crate) past: BTreeMap<u64, Model>,
    /// Records that can be taken back.
    pub(crate) can_be_taken_back: BTreeSet<u64>,
    pub(crate) candidate: Option<Open>,
    /// An earlier export.
    pub(crate) exported: Option<Exported>,
    /// The state behind each tag ever seen, by kind and id.
    pub(crate) tags: HashMap<(bool, String, Revision), Seen>,
    pub(crate) accepted: usize,
    pub(crate) count: usize,
    pub(crate) history: Vec<String>,
    /// How far the clock of the repository is ahead. Units: microseconds.
    pub(crate) ahead: Arc<AtomicI64>,
    /// A reader beside the writer.
    follower: Option<Repository>,
}

impl World {
    pub fn new(seed: u64) -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let mut world = World {
            seed,
            random: Random(seed),
            folder,
            repository: None,
            model: Model::default(),
            past: BTreeMap::new(),
            can_be_taken_back: BTreeSet::new(),
            candidate: None,
            exported: None,
            tags: HashMap::new(),
            accepted: 0,
            count: 0,
            history: Vec::new(),
            ahead: Arc::default(),
            follower: None,
        };
        world.open();
        let declared = world.repository().transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.name_collection("here")?;
            t.define_type(TypeDefinition::entity("node"))
        });
        declared.expect("types are declared");
        world.note();
        world
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn open(&mut self) {
        self.open_within(None);
    }

    /// Opens the repository again, with a memory budget.
    pub(crate) fn open_within(&mut self, memory_bytes_max: Option<u64>) {
        self.repository = None;
        let options = Options { clock: self.clock(), memory_bytes_max, ..Options::default() };
        self.repository = Some(Repository::open_with(self.path(), options).expect("it opens"));
    }

    fn clock(&self) -> Clock {
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
        format!("seed {}, after {:#?}", self.seed, self.history)
    }

    pub fn step(&mut self) {
        // A follower, and little memory, take long.
        match self.random.below(60) {
            0..3 => self.take_back(),
            3..9 => self.work_on_the_candidate(),
            9..11 => self.maintain(),
            11..17 => self.exchange(),
            17 => self.follow(),
            18 => self.work_with_little_memory(),
            _ => {
                if let Some(change) = self.any_change() {
                    self.commit(change);
                }
            }
        }
        self.compare();
    }

    /// Compares the whole history, and returns how many changes were accepted.
    pub fn finish(mut self) -> usize {
        self.open();
        self.compare();
        let snapshot = self.repository().snapshot();
        for (position, model) in &self.past {
            let as_of = AsOf { position: Some(Position(*position)), ..AsOf::default() };
            let then = snapshot.as_of(as_of).expect("a position that there was");
            let found = of_snapshot(self.repository(), &then);
            let expected = of_model(model, *position, &self.model);
            assert_eq!(found, expected, "as of {position}: {}", self.what());
        }
        self.follow();
        let copy = copied(self.repository(), &self.path().join("content"), self.clock());
        assert_eq!(copy, of_snapshot(self.repository(), &snapshot), "the copy: {}", self.what());
        let report = self.repository().check().expect("it can be checked");
        assert!(report.is_clean(), "{:#?}: {}", report.differences, self.what());
        self.accepted
    }

    /// Stores the model after the last record.
    pub(crate) fn note(&mut self) {
        let position = self.position();
        self.past.insert(position, self.model.clone());
    }

    pub(crate) fn compare(&mut self) {
        let snapshot = self.repository().snapshot();
        let found = of_snapshot(self.repository(), &snapshot);
        let expected = of_model(&self.model, u64::MAX, &self.model);
        assert_eq!(found, expected, "{}", self.what());
        for ((is_link, _, name), seen) in found {
            let instance = instance(is_link, &name);
            let revision = snapshot.revision(&instance).expect("it is there");
            let known = self.tags.entry((is_link, name, revision)).or_insert_with(|| seen.clone()).clone();
            // The id of an end may change without a version of the relationship.
            let same = (known.n, known.stored, &known.type_name) == (seen.n, seen.stored, &seen.type_name);
            assert!(
                same,
                "{instance} was {known:?} and is {seen:?} with the tag {revision}: {}",
                self.what()
            );
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
        let summary = exported.merge(self.repository(), is_deleting);
        let after = of_snapshot(self.repository(), &self.repository().snapshot());
        if let Err(text) = exported.check(&before, &after, summary, is_deleting) {
            panic!("{text}; {summary:?}: {}", self.what());
        }
        let position = self.position();
        if summary.refused_count == 0 {
            let again = exported.merge(self.repository(), false);
            assert_eq!(self.position(), position, "a second merge writes {again:?}: {}", self.what());
        }
        self.model.take(&after, position);
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
                self.commit(Change::Relink { id: id.clone(), from });
                self.commit(Change::Delete { is_link: true, id });
            }
            1 => {
                let id = self.random.choose(&entities).clone();
                self.commit(Change::Delete { is_link: false, id });
            }
            2 => {
                self.count += 2;
                let [from, to] = [format!("e0{}", self.count), format!("e0{}", self.count + 1)];
                self.commit(Change::Create { id: from.clone(), n: 0 });
                self.commit(Change::Create { id: to.clone(), n: 0 });
                let (id, name) = (format!("r0{}", self.count), format!("n{}", self.count));
                self.commit(Change::Contain { id, from, to, name });
            }
            _ => {}
        }
    }

    /// A reader beside the writer sees the same, also across compactions and after the writer was opened again.
    fn follow(&mut self) {
        if self.follower.is_none() || self.random.one_in(4) {
            let follower = Repository::open_with(self.path(), Options::read_only());
            self.follower = Some(follower.expect("a follower opens"));
        }
        let follower = self.follower.as_ref().expect("it was opened");
        follower.refresh().expect("a follower reads on");
        let snapshot = follower.snapshot();
        assert_eq!(snapshot.position().0, self.position(), "the follower: {}", self.what());
        let own = self.repository().snapshot();
        let found = of_snapshot(follower, &snapshot);
        assert_eq!(found, of_snapshot(self.repository(), &own), "the follower: {}", self.what());
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
            0 => drop(self.repository().checkpoint().expect("a checkpoint")),
            1 => self.open(),
            _ => {
                self.history.push("compact".into());
                let outcome = self.repository().compact();
                assert!(outcome.is_ok(), "{outcome:?}: {}", self.what());
            }
        }
    }

    pub(crate) fn commit(&mut self, change: Change) {
        let position = self.position();
        let mut next = self.model.clone();
        let expected = next.apply((position + 1, 0), &change);
        self.history.push(format!("{}: {change:?}", position + 1));
        let stored = self.store(&change);
        let found = self.repository().transact(|t| push(t, &change, stored.as_ref()));
        let kind = found.as_ref().map(drop).map_err(Error::kind);
        assert_eq!(kind, expected.map(drop), "{change:?}: {found:?}: {}", self.what());
        if expected != Ok(true) {
            assert_eq!(self.position(), position, "{}", self.what());
            return;
        }
        self.accept(next, &[change]);
    }

    pub(crate) fn accept(&mut self, next: Model, changes: &[Change]) {
        self.model = next;
        self.accepted += 1;
        if changes.iter().all(Change::can_be_taken_back) {
            self.can_be_taken_back.insert(self.position());
        }
        self.note();
    }

    /// The content that a change stores, put into the repository before.
    pub(crate) fn store(&self, change: &Change) -> Option<Value> {
        let Change::Store { byte, .. } = change else { return None };
        let contents = self.repository().contents().expect("it has contents");
        let stored = contents.put(&mut &[*byte; 3][..], &NewContent::default()).expect("it can be stored");
        Some(stored.value())
    }

    fn take_back(&mut self) {
        let known: Vec<u64> = self.can_be_taken_back.iter().rev().take(12).copied().collect();
        if known.is_empty() {
            return;
        }
        let position = *self.random.choose(&known);
        let expected = self.expect_taken_back(position);
        let outcome = self.repository().transact(|t| t.take_back(Position(position))).map(drop);
        self.history.push(format!("{}: take back {position}: {outcome:?}", self.position()));
        self.judge_taken_back(outcome, expected);
    }

    /// The model after the record at `position` is taken back; `None` if later records built on it.
    pub(crate) fn expect_taken_back(&self, position: u64) -> Option<BTreeMap<Age, Content>> {
        let before = position - 1;
        let mut targets = BTreeMap::new();
        let touched = |age: Age| {
            let known = self.model.all.get(&age);
            known.is_some_and(|known| known.versions.iter().any(|version| version.place.0 == position))
        };
        let ages: Vec<Age> = self.model.all.keys().copied().filter(|age| touched(*age)).collect();
        for &age in &ages {
            let known = &self.model.all[&age];
            let then = known.at(before).filter(|then| then.is_live);
            if known.place().0 > position && (then.is_some() || known.now().is_live) {
                return None;
            }
            // Others took a child, which was elsewhere before, out of its new place.
            let child = known.now().ends.filter(|_| known.contains()).map(|ends| &self.model.all[&ends[1]]);
            let is_moved = child.is_some_and(|child| {
                child.now().is_live && child.at(before).is_some_and(|then| then.is_live)
            });
            if known.place().0 > position && is_moved {
                return None;
            }
            // Others have placed the child since.
            let placed = known.now().ends.filter(|_| is_moved).and_then(|ends| self.model.parent(ends[1]));
            let is_theirs = |link: Age| !ages.contains(&link) && self.model.all[&link].place().0 > position;
            if placed.is_some_and(|(link, _)| is_theirs(link)) {
                return None;
            }
            if then.is_none() && known.now().is_live && !known.is_link {
                let is_new = |link: &Age| {
                    let then = self.model.all[link].at(before);
                    ages.contains(link) && then.is_none_or(|then| !then.is_live)
                };
                if !self.model.links_of(age).iter().all(is_new) {
                    return None;
                }
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
            (Err(error), Some(_)) => {
                // Others may have contained the container.
                let is_about_others = matches!(error.kind(), ErrorKind::Cardinality | ErrorKind::InvalidEnds);
                assert!(is_about_others, "{error}: {}", self.what());
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
                    }
                }
                self.note();
            }
        }
    }

    pub(crate) fn any_change(&mut self) -> Option<Change> {
        let name = |is_link: bool, number: usize| format!("{}{number}", if is_link { "r" } else { "e" });
        let (model, random) = (&self.model, &mut self.random);
        let live: Vec<String> = model
            .all
            .values()
            .filter(|known| !known.is_link && known.now().is_live)
            .map(|known| known.now().id.clone())
            .collect();
        let n = random.below(3) as i64;
        let kind = random.below(23);
        let is_crowded = live.len() >= LIVE_MAX;
        if live.len() < 3 || (kind < 3 && !is_crowded) {
            return Some(Change::Create { id: name(false, random.below(IDS)), n });
        }
        let (from, to) = (random.choose(&live).clone(), random.choose(&live).clone());
        self.count += 1;
        match kind {
            3..6 => {
                let name_of_child = format!("n{}", self.count);
                return Some(Change::Contain {
                    id: name(true, random.below(IDS)),
                    from,
                    to,
                    name: name_of_child,
                });
            }
            20 => return Some(Change::SaveCopy { id: format!("f{}", random.below(COPIES)), n }),
            21 => return Some(Change::Rehome { id: format!("f{}", random.below(COPIES)) }),
            22 => return Some(Change::PurgeCopy { id: format!("f{}", random.below(COPIES)) }),
            6 => return Some(Change::Relate { id: name(true, random.below(IDS)), from, to }),
            _ => {}
        }
        let is_known = |known: &&crate::model::Known| !known.is_opaque || known.now().is_live;
        let all: Vec<(bool, String, bool)> = model
            .all
            .values()
            .filter(is_known)
            .map(|known| (known.is_link, known.now().id.clone(), known.is_opaque))
            .collect();
        if all.is_empty() {
            return None;
        }
        let (is_link, id, is_opaque) = random.choose(&all).clone();
        Some(match kind {
            7..10 => Change::Set { is_link, id, n },
            10 if !is_link => Change::Store { id, byte: random.below(4) as u8 },
            11..13 => Change::Delete { is_link, id },
            13..15 => Change::Restore { is_link, id, with: is_link || random.one_in(2) },
            15 if !is_opaque => Change::Undo { is_link, id },
            16 if is_link => Change::Relink { id, from },
            17 => Change::Reidentify { is_link, id, new: format!("{}{}", name(is_link, 0), self.count) },
            _ if random.one_in(2) => Change::Purge { is_link, id },
            _ => return None,
        })
    }
}

fn instance(is_link: bool, name: &str) -> InstanceId {
    if is_link { InstanceId::Relationship(id(name)) } else { InstanceId::Entity(id(name)) }
}

pub(crate) fn push(t: &mut Transaction, change: &Change, stored: Option<&Value>) -> Result<()> {
    match change {
        Change::Create { id, n } => {
            t.create_entity(NewEntity::new("node").id(id.as_str())?.property("n", *n)).map(drop)
        }
        Change::Relate { id: name, from, to } => {
            let new = NewRelationship::new("knows", id(from), id(to)).id(name.as_str())?;
            t.create_relationship(new.property("n", 0)).map(drop)
        }
        Change::Contain { id: own, from, to, name } => {
            let new = NewRelationship::new("contains", id(from), id(to)).id(own.as_str())?;
            t.create_relationship(new.property("name", name.as_str()).property("n", 0)).map(drop)
        }
        Change::Set { is_link, id, n } => t.update(&instance(*is_link, id), Patch::new().set("n", *n)),
        Change::Store { id, .. } => {
            let value = stored.expect("it is stored before").clone();
            t.update(&instance(false, id), Patch::new().set("content", value))
        }
        Change::Delete { is_link, id } => t.delete(&instance(*is_link, id)),
        Change::Restore { is_link: false, id: name, with: false } => t.restore_alone(&id(name)),
        Change::Restore { is_link, id, .. } => t.restore(&instance(*is_link, id)),
        Change::Purge { is_link, id } => t.purge(&instance(*is_link, id)),
        Change::Undo { is_link, id } => t.undo(&instance(*is_link, id)),
        Change::Relink { id: name, from } => t.relink(&id(name), Some(&id(from)), None),
        Change::Reidentify { is_link, id: old, new } => t.reidentify(&instance(*is_link, old), &id(new)),
        Change::SaveCopy { id: name, n } => t.save_entity_copy(copy(name, *n)),
        Change::Rehome { id } => t.rehome(&instance(false, id), "there"),
        Change::PurgeCopy { id } => t.purge_copy(&instance(false, id), "there"),
    }
}

/// An entity of the collection `there`.
fn copy(name: &str, n: i64) -> EntityCopy {
    let stamp = Stamp { instant: Instant::from_micros(0).expect("1970"), author: "them".into() };
    let header = CopyHeader {
        provenance: Provenance::of_home("there"),
        version: 1,
        status: None,
        created: stamp.clone(),
        updated: stamp,
    };
    let properties = vec![("n".into(), n.into())];
    EntityCopy { id: id(name), type_name: "node".into(), properties, classifications: Vec::new(), header }
}
