//! Requests to the LDP door mixed with changes through JSON, taken-back records, compactions and kills. A plain model says
//! what each resource must show, now and in its mementos.
//!
//! A failure prints its seed. `MIXTURE_SEED=n` repeats one history; a quarter of `MIXTURE_SECONDS` makes a campaign.

#[path = "../../../../annals/tests/support/random.rs"]
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use self::random::{Random, fresh_seed, number_from_environment};
use super::resources::Door;
use super::said::{DC, Said};
use crate::support::{Answer, Server};

const PATHS: [&str; 8] = ["/a", "/a/b", "/a/b/c", "/a/c", "/a/c/d", "/e", "/e/f", "/g"];
/// Requests of one history.
const STEPS: usize = 50;
/// Mementos of one history: each waits for the end of its second.
const MEMENTOS: usize = 2;

#[derive(Clone, Debug, PartialEq)]
struct Resource {
    /// The bytes of a binary.
    bytes: Option<String>,
    said: BTreeSet<Said>,
    /// False if it is deleted, and its tombstone is there.
    is_live: bool,
}

impl Resource {
    fn container() -> Resource {
        Resource { bytes: None, said: BTreeSet::new(), is_live: true }
    }
}

/// The resources by path: live ones, and tombstones.
type Model = BTreeMap<&'static str, Resource>;

/// The position that an answer tells.
fn position_of(answer: &Answer) -> u64 {
    let position = answer.header("annals-position").and_then(|position| position.parse().ok());
    position.unwrap_or_else(|| panic!("expected a position in {answer:?}"))
}

/// The path of the container of a resource; `None` for the root.
fn parent(path: &'static str) -> Option<&'static str> {
    let above = path.rfind('/').map(|at| &path[..at]).filter(|above| !above.is_empty());
    above.map(|above| *PATHS.iter().find(|known| **known == above).expect("a path of this test"))
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// A memento, and the state that it must show.
struct Memento {
    path: &'static str,
    address: String,
    expected: Resource,
}

struct World {
    seed: u64,
    random: Random,
    door: Door,
    model: Model,
    /// The position of the last record that a request of this test made.
    position: u64,
    /// The model before each record that can be taken back, by position; all of them are the last ones.
    before: Vec<(u64, Model)>,
    mementos: Vec<Memento>,
    history: Vec<String>,
}

impl World {
    fn new(seed: u64) -> World {
        let door = Door::open();
        // The first write also stores the root container, and is not taken back.
        let answer = door.turtle("PUT", "/first", "");
        let position = position_of(&answer);
        World {
            seed,
            random: Random(seed),
            door,
            model: Model::new(),
            position,
            before: Vec::new(),
            mementos: Vec::new(),
            history: Vec::new(),
        }
    }

    fn what(&self) -> String {
        format!("seed {}, after {:#?}", self.seed, self.history)
    }

    fn told(&mut self, what: String, answer: &Answer) {
        assert!(answer.status < 500, "{what}: {answer:?}: {}", self.what());
        self.history.push(format!("{what}: {}", answer.status));
    }

    fn live(&self, path: &str) -> Option<&Resource> {
        self.model.get(path).filter(|found| found.is_live)
    }

    fn live_path(&mut self) -> Option<&'static str> {
        let live: Vec<&str> =
            self.model.iter().filter(|(_, found)| found.is_live).map(|(path, _)| *path).collect();
        if live.is_empty() { None } else { Some(*self.random.choose(&live)) }
    }

    /// Notes the model before a request whose record, if it made one, can be taken back.
    fn note(&mut self, before: Model, answer: &Answer) {
        let position = position_of(answer);
        if position > self.position {
            self.position = position;
            self.before.push((position, before));
        }
    }

    /// Forgets earlier records: they cannot be taken back as if nothing had happened since.
    fn forget(&mut self, answer: &Answer) {
        self.position = self.position.max(position_of(answer));
        self.before.clear();
    }

    fn any_said(&mut self) -> Said {
        match self.random.below(4) {
            0 => Said::PartTitle(self.random.below(3)),
            1 => {
                let path = *self.random.choose(&PATHS);
                Said::Relation(path)
            }
            _ => Said::Title(self.random.below(4)),
        }
    }

    fn step(&mut self) {
        match self.random.below(24) {
            0..6 => self.put(),
            6..8 => self.put_binary(),
            8..13 => self.patch(),
            13..15 => self.delete(),
            15 => self.bury(),
            16..18 => self.set_directly(),
            18 if self.random.one_in(2) => self.set_and_undo_directly(),
            18 => self.delete_and_restore_directly(),
            19 => self.purge_directly(),
            20..22 => self.take_back(),
            22 => self.compact(),
            _ => self.kill(),
        }
        self.compare();
    }

    /// True if a resource can be made at a path.
    fn is_free(&self, path: &'static str) -> bool {
        let above = std::iter::successors(parent(path), |path| parent(path));
        let has_room = |path| self.model.get(path).is_none_or(|found| found.is_live && found.bytes.is_none());
        !self.model.contains_key(path) && above.into_iter().all(has_room)
    }

    fn add(&mut self, path: &'static str, resource: Resource) {
        for above in std::iter::successors(parent(path), |path| parent(path)) {
            self.model.entry(above).or_insert_with(Resource::container);
        }
        self.model.insert(path, resource);
    }

    /// Puts a graph.
    fn put(&mut self) {
        let path = *self.random.choose(&PATHS);
        if self.live(path).is_some_and(|found| found.bytes.is_some()) {
            return;
        }
        let said = (0..self.random.below(4)).map(|_| self.any_said()).collect();
        self.put_graph(path, said);
    }

    fn put_graph(&mut self, path: &'static str, said: BTreeSet<Said>) {
        let body: String = said.iter().map(|said| said.turtle(&self.door.root)).collect();
        let answer = self.door.turtle("PUT", path, &body);
        self.told(format!("PUT {path} {said:?}"), &answer);
        let expected = match (self.live(path).is_some(), self.is_free(path)) {
            (true, _) => 204,
            (_, true) => 201,
            _ => return assert!(answer.status >= 400, "{answer:?}: {}", self.what()),
        };
        assert_eq!(answer.status, expected, "{answer:?}: {}", self.what());
        let before = self.model.clone();
        let said = said.into_iter().map(|said| self.as_stored(said)).collect();
        self.add(path, Resource { said, ..Resource::container() });
        self.note(before, &answer);
    }

    fn put_binary(&mut self) {
        let path = *self.random.choose(&PATHS);
        let bytes = format!("bytes {}", self.random.below(3));
        let answer = self.door.request("PUT", path, &[("content-type", "text/plain")], Some(&bytes));
        self.told(format!("PUT {path} {bytes}"), &answer);
        let known = self.live(path).filter(|found| found.bytes.is_some()).cloned();
        let expected = match (&known, self.is_free(path)) {
            (Some(_), _) => 204,
            (None, true) => 201,
            _ => return assert!(answer.status >= 400, "{answer:?}: {}", self.what()),
        };
        assert_eq!(answer.status, expected, "{answer:?}: {}", self.what());
        let before = self.model.clone();
        let known = known.unwrap_or_else(Resource::container);
        self.add(path, Resource { bytes: Some(bytes), ..known });
        self.note(before, &answer);
    }

    /// A statement as it is stored if it is written now.
    fn as_stored(&self, said: Said) -> Said {
        let (Said::Relation(to) | Said::Iri(to)) = said else { return said };
        if self.model.get(to).is_none_or(|found| found.is_live) {
            return Said::Relation(to);
        }
        // A tombstone to which others refer is an entity still, and a relationship can lead to it.
        match self.door.server.request("GET", &World::entity(to), &[], None).status {
            200 => Said::Relation(to),
            status => {
                assert_eq!(status, 410, "{to}: {}", self.what());
                Said::Iri(to)
            }
        }
    }

    /// Inserts a statement, or deletes one, or all.
    fn patch(&mut self) {
        let Some(path) = self.live_path() else { return };
        let mut found = self.model[path].clone();
        let address = if found.bytes.is_some() { format!("{path}/fcr:metadata") } else { path.to_owned() };
        // The statements of a description are about the binary.
        let root = self.door.root.clone();
        let about = |text: String| {
            text.replace("<>", &format!("<{root}{path}>")).replace("<#part>", &format!("<{root}{path}#part>"))
        };
        let said = self.any_said_of(&found);
        let update = match self.random.below(8) {
            0 => {
                found.said.retain(|said| !matches!(said, Said::Title(_)));
                format!("DELETE WHERE {{ <{root}{path}> dc:title ?title }}")
            }
            1..4 => {
                found.said.retain(|other| other.line(&root, path) != said.line(&root, path));
                format!("DELETE DATA {{ {} }}", about(said.turtle(&root)))
            }
            _ => {
                let stored = self.as_stored(said.clone());
                if let Said::Relation(to) = stored {
                    found.said.remove(&Said::Iri(to));
                }
                found.said.insert(stored);
                format!("INSERT DATA {{ {} }}", about(said.turtle(&root)))
            }
        };
        let answer = self.door.update("PATCH", &address, &update);
        self.told(format!("PATCH {address} {update}"), &answer);
        assert_eq!(answer.status, 204, "{answer:?}: {}", self.what());
        let before = self.model.clone();
        self.model.insert(path, found);
        self.note(before, &answer);
    }

    /// A statement that a resource has, or another one.
    fn any_said_of(&mut self, resource: &Resource) -> Said {
        let all: Vec<Said> = resource.said.iter().cloned().collect();
        if all.is_empty() || self.random.one_in(2) {
            self.any_said()
        } else {
            self.random.choose(&all).clone()
        }
    }

    fn delete(&mut self) {
        let path = *self.random.choose(&PATHS);
        self.delete_at(path);
    }

    fn delete_at(&mut self, path: &'static str) {
        let answer = self.door.request("DELETE", path, &[], None);
        self.told(format!("DELETE {path}"), &answer);
        let expected = match self.model.get(path) {
            None => 404,
            Some(found) if !found.is_live => 410,
            Some(_) => 204,
        };
        assert_eq!(answer.status, expected, "{answer:?}: {}", self.what());
        if expected == 204 {
            let before = self.model.clone();
            self.end(path);
            self.note(before, &answer);
        }
    }

    /// Deletes a resource and everything below it in the model.
    fn end(&mut self, path: &'static str) {
        for (other, found) in &mut self.model {
            if *other == path || is_below(other, path) {
                *found = Resource { is_live: false, ..Resource::container() };
            }
        }
    }

    /// Deletes a tombstone.
    fn bury(&mut self) {
        let gone: Vec<&str> =
            self.model.iter().filter(|(_, found)| !found.is_live).map(|(path, _)| *path).collect();
        if gone.is_empty() {
            return;
        }
        let path = *self.random.choose(&gone);
        self.bury_at(path);
    }

    fn bury_at(&mut self, path: &'static str) {
        let answer = self.door.request("DELETE", &format!("{path}/fcr:tombstone"), &[], None);
        self.told(format!("DELETE {path}/fcr:tombstone"), &answer);
        assert_eq!(answer.status, 204, "{answer:?}: {}", self.what());
        self.model.remove(path);
        self.mementos.retain(|memento| memento.path != path && !is_below(memento.path, path));
        self.forget(&answer);
        // The tombstones of what was in it go along, or stay for those who refer to it.
        for other in PATHS.into_iter().filter(|other| is_below(other, path)) {
            let status = self.door.get(other).status;
            assert!([404, 410].contains(&status), "{other} {status}: {}", self.what());
            if status == 404 {
                self.model.remove(other);
            }
        }
    }

    fn entity(path: &str) -> String {
        format!("/v1/entities/ldp:{}", path.replace('/', "%2F"))
    }

    fn send(&mut self, method: &str, address: &str, body: Option<&str>) -> Answer {
        let answer = self.door.server.request(method, address, &[], body);
        self.told(format!("{method} {address} {body:?}"), &answer);
        answer
    }

    /// Another door sets the title.
    fn set_directly(&mut self) {
        let Some(path) = self.live_path() else { return };
        let number = self.random.below(4);
        let body = format!("{{\"{DC}title\": \"t{number}\"}}");
        let answer = self.send("PATCH", &World::entity(path), Some(&body));
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
        let before = self.model.clone();
        let found = self.model.get_mut(path).expect("it is live");
        found.said.retain(|said| !matches!(said, Said::Title(_)));
        found.said.insert(Said::Title(number));
        self.note(before, &answer);
    }

    /// Another door sets the title, and undoes that: nothing is lost.
    fn set_and_undo_directly(&mut self) {
        let Some(path) = self.live_path() else { return };
        let body = format!("{{\"{DC}title\": \"t{}\"}}", self.random.below(4));
        let answer = self.send("PATCH", &World::entity(path), Some(&body));
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
        let is_changed = position_of(&answer) > self.position;
        self.forget(&answer);
        if is_changed {
            let answer = self.send("POST", &format!("{}/undo", World::entity(path)), None);
            assert!(answer.status < 300, "{answer:?}: {}", self.what());
            self.forget(&answer);
        }
    }

    /// Another door deletes a resource, and restores it: nothing is lost.
    fn delete_and_restore_directly(&mut self) {
        let Some(path) = self.live_path() else { return };
        let answer = self.send("DELETE", &World::entity(path), None);
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
        assert_eq!(self.door.get(path).status, 410, "{}", self.what());
        if self.random.one_in(3) {
            self.restart();
        }
        let answer = self.send("POST", &format!("{}/restore", World::entity(path)), None);
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
        self.forget(&answer);
    }

    fn purge_directly(&mut self) {
        let Some(path) = self.live_path() else { return };
        self.purge_at(path);
    }

    /// Another door purges a resource: everything below it, and all links to it, go without a trace.
    fn purge_at(&mut self, path: &'static str) {
        let answer = self.send("DELETE", &format!("{}?purge=true", World::entity(path)), None);
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
        let is_purged = |other: &str| other == path || is_below(other, path);
        let live: BTreeSet<&str> =
            self.model.iter().filter(|(_, found)| found.is_live).map(|(path, _)| *path).collect();
        self.model.retain(|other, found| !(is_purged(other) && found.is_live));
        let is_lost = |said: &Said| matches!(said, Said::Relation(to) if is_purged(to) && live.contains(to));
        self.model.values_mut().for_each(|found| found.said.retain(|said| !is_lost(said)));
        // Their past loses the links, too.
        self.mementos.retain(|memento| {
            !is_purged(memento.path)
                && !memento.expected.said.iter().any(|said| matches!(said, Said::Relation(_)))
        });
        self.forget(&answer);
    }

    /// Takes the last records back, up to three as if they were one.
    fn take_back(&mut self) {
        let Some((last, _)) = self.before.last().cloned() else { return };
        let count = 1 + self.random.below(self.before.len().min(3));
        let (first, before) = self.before[self.before.len() - count].clone();
        let answer = self.send("POST", &format!("/v1/records/{first}/take-back?toPosition={last}"), None);
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
        // Tombstones of resources that were not there before remain: they are deleted, not purged.
        for (path, found) in &self.model {
            if found.is_live && !before.contains_key(path) {
                self.history.push(format!("{path} was new"));
            }
        }
        let mut next = before;
        for path in PATHS {
            let status = self.door.get(path).status;
            if !next.contains_key(path) && status == 410 {
                next.insert(path, Resource { is_live: false, ..Resource::container() });
            }
        }
        self.model = next;
        self.forget(&answer);
    }

    fn compact(&mut self) {
        let answer = self.send("POST", "/v1/compactions", None);
        assert!(answer.status < 300, "{answer:?}: {}", self.what());
    }

    fn kill(&mut self) {
        self.history.push("kill".to_owned());
        self.restart();
    }

    fn restart(&mut self) {
        self.door.server.kill_and_wait();
        let folder = self.door.folder.path().join("repository");
        self.door.server = Server::start(&folder, &["--ldp-root", "/rest"]);
        self.door.root = format!("http://{}/rest", self.door.server.address);
    }

    /// Makes a memento of a resource that is there.
    fn make_memento(&mut self) {
        let Some(path) = self.live_path() else { return };
        let answer = self.door.request("POST", &format!("{path}/fcr:versions"), &[], None);
        self.told(format!("POST {path}/fcr:versions"), &answer);
        assert_eq!(answer.status, 201, "{answer:?}: {}", self.what());
        let location = answer.header("location").expect("a memento has an address");
        let address = location.strip_prefix(&*self.door.root).expect("an address below the root").to_owned();
        self.mementos.push(Memento { path, address, expected: self.model[path].clone() });
        // The record changes nothing, and is not taken back.
        self.forget(&answer);
    }

    fn lines(&self, path: &str, resource: &Resource) -> BTreeSet<String> {
        resource.said.iter().map(|said| said.line(&self.door.root, path)).collect()
    }

    /// The statements of clients in an answer, each of which is there once.
    fn own(&self, answer: &Answer) -> BTreeSet<String> {
        let mut own = BTreeSet::new();
        for line in answer.body.lines().filter(|line| line.contains(DC)) {
            assert!(own.insert(line.to_owned()), "{line} is there twice: {}", self.what());
        }
        own
    }

    fn compare(&self) {
        for path in PATHS {
            let answer = self.door.get(path);
            let found = self.model.get(path);
            let expected = match found {
                None => 404,
                Some(found) if !found.is_live => 410,
                Some(_) => 200,
            };
            assert_eq!(answer.status, expected, "{path}: {answer:?}: {}", self.what());
            let Some(found) = found.filter(|found| found.is_live) else { continue };
            let described = match &found.bytes {
                Some(bytes) => {
                    assert_eq!(answer.body, *bytes, "{path}: {}", self.what());
                    self.door.get(&format!("{path}/fcr:metadata"))
                }
                None => answer,
            };
            assert_eq!(self.own(&described), self.lines(path, found), "{path}: {}", self.what());
            if found.bytes.is_none() {
                let children = described.body.lines().filter(|line| line.contains("ldp#contains>")).count();
                let live =
                    self.model.iter().filter(|(child, found)| parent(child) == Some(path) && found.is_live);
                assert_eq!(children, live.count(), "{path}: {}: {}", described.body, self.what());
            }
        }
    }

    fn finish(mut self) -> usize {
        self.compare();
        self.restart();
        self.compare();
        for Memento { path, address, expected } in &self.mementos {
            let answer = self.door.get(address);
            assert_eq!(answer.status, 200, "{address}: {answer:?}: {}", self.what());
            match &expected.bytes {
                Some(bytes) => assert_eq!(answer.body, *bytes, "{address}: {}", self.what()),
                None => {
                    assert_eq!(self.own(&answer), self.lines(path, expected), "{address}: {}", self.what())
                }
            }
        }
        self.history.iter().filter(|told| told.ends_with(": 201") || told.ends_with(": 204")).count()
    }
}

fn run(seed: u64) -> usize {
    let mut world = World::new(seed);
    for step in 0..STEPS {
        world.step();
        if step % (STEPS / MEMENTOS) == STEPS / MEMENTOS / 2 {
            world.make_memento();
        }
    }
    world.finish()
}

#[test]
fn requests_of_several_doors_leave_what_a_plain_model_says() {
    let only = number_from_environment("MIXTURE_SEED", 0);
    if only > 0 {
        run(only);
        return;
    }
    let end = Instant::now() + Duration::from_secs(number_from_environment("MIXTURE_SECONDS", 20) / 4);
    let (mut histories, mut accepted) = (0, 0);
    while histories < 1 || Instant::now() < end {
        accepted += run(fresh_seed());
        histories += 1;
    }
    println!("{histories} histories, {accepted} requests accepted");
    assert!(accepted > histories * STEPS / 8, "{accepted} requests of {histories} histories were accepted");
}

/// Story: `/e` named `/g` while that was deleted, then `/g` was made again and purged, and the model lost the statement.
/// No relationship leads to a deleted resource, so the statement is an IRI, and a purge takes only relationships along.
#[test]
fn a_purge_leaves_what_was_said_while_the_resource_was_deleted() {
    let mut world = World::new(1);
    world.put_graph("/g", BTreeSet::new());
    world.delete_at("/g");
    world.put_graph("/e", BTreeSet::from([Said::Relation("/g")]));
    world.bury_at("/g");
    world.put_graph("/g", BTreeSet::new());
    world.purge_at("/g");
    world.compare();
    // Written again while the resource is there, it is a relationship, and goes along.
    world.put_graph("/g", BTreeSet::new());
    world.put_graph("/e", BTreeSet::from([Said::Relation("/g")]));
    world.purge_at("/g");
    world.compare();
    assert_eq!(world.model["/e"].said, BTreeSet::new());
}
