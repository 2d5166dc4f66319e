//! Contents and checkpoints in a store that several repositories of a log with a register share: nobody loses what another
//! one has put there, and what leaves the store leaves it after a grace.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant as Clock};

use crate::support::named::{entity, id, new};
use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit, Register, Rewrite, Slot};
use annals::storage::{DiskStore, MemoryStore, RealDisk, Store, StoreReader};
use annals::*;

const LEASE_MS: u64 = 150;
const GRACE_MS: u64 = 400;
/// A grace that does not end in a test.
const LONG_MS: u64 = 3_600_000;

/// Where a handle stops.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    Nowhere,
    BeforeRemovals,
    AfterPuts,
}

/// A handle onto a shared store. It can be stopped, or refuse removals, and counts its calls.
struct Handle {
    inner: Arc<MemoryStore>,
    stop: Mutex<Stop>,
    moved: Condvar,
    /// Threads that are stopped.
    waiting: AtomicUsize,
    refuses: AtomicBool,
    removals: AtomicUsize,
    unfinished: AtomicUsize,
    lengths: AtomicUsize,
}

impl Handle {
    fn of(inner: &Arc<MemoryStore>) -> Arc<Handle> {
        Arc::new(Handle {
            inner: Arc::clone(inner),
            stop: Mutex::new(Stop::Nowhere),
            moved: Condvar::new(),
            waiting: AtomicUsize::new(0),
            refuses: AtomicBool::new(false),
            removals: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(0),
            lengths: AtomicUsize::new(0),
        })
    }

    fn stop(&self, stop: Stop) {
        *self.stop.lock().unwrap() = stop;
        self.moved.notify_all();
    }

    fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    fn wait_at(&self, here: Stop) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut stop = self.stop.lock().unwrap();
        while *stop == here {
            stop = self.moved.wait(stop).unwrap();
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Store for Handle {
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.inner.put(name, write)?;
        self.wait_at(Stop::AfterPuts);
        Ok(())
    }

    fn put_named(&self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<String>) -> io::Result<bool> {
        self.inner.put_named(write)
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        self.lengths.fetch_add(1, Ordering::SeqCst);
        self.inner.length(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn StoreReader>> {
        self.inner.open(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        self.removals.fetch_add(names.len(), Ordering::SeqCst);
        if self.refuses.load(Ordering::SeqCst) {
            return Err(io::Error::other("refused"));
        }
        self.wait_at(Stop::BeforeRemovals);
        self.inner.remove(names)
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn describe(&self, name: &str) -> String {
        self.inner.describe(name)
    }
}

/// A log whose register can be cut off, as for a process that is stopped.
#[derive(Clone)]
struct Cut {
    inner: MemoryLog,
    is_cut: Arc<AtomicBool>,
}

impl Cut {
    fn of(inner: &MemoryLog) -> Cut {
        Cut { inner: inner.clone(), is_cut: Arc::default() }
    }

    fn check(&self) -> Result<()> {
        match self.is_cut.load(Ordering::SeqCst) {
            true => Err(Error::new(ErrorKind::Unavailable, "cut off")),
            false => Ok(()),
        }
    }
}

impl Log for Cut {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "log that may be cut off".into()
    }

    fn generation(&self) -> u64 {
        self.inner.generation()
    }

    fn rewritten_since(&self, since: u64) -> Position {
        self.inner.rewritten_since(since)
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        self.inner.as_rewrite()
    }

    fn register(&self) -> Option<&dyn Register> {
        Some(self)
    }
}

impl Register for Cut {
    fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        self.check()?;
        self.inner.get(slot)
    }

    fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
        self.check()?;
        self.inner.swap(slot, expected, value)
    }

    fn now(&self) -> Result<Instant> {
        self.check()?;
        self.inner.now()
    }
}

fn options(store: &Arc<Handle>, removal_grace_ms: u64) -> Options {
    Options {
        lease_ms: LEASE_MS,
        poll_interval_ms: 1,
        removal_grace_ms,
        contents: Some(Arc::clone(store) as Arc<dyn Store>),
        ..Options::default()
    }
}

fn open(log: &Cut, store: &Arc<Handle>, options: Options) -> Repository {
    Repository::with_log_and_store(Arc::new(log.clone()), Arc::clone(store) as Arc<dyn Store>, options)
        .unwrap()
}

fn standby(log: &Cut, store: &Arc<Handle>, removal_grace_ms: u64) -> Repository {
    open(log, store, Options { is_standby: true, ..options(store, removal_grace_ms) })
}

/// A log, and two handles onto one store.
fn shared() -> (MemoryLog, Arc<MemoryStore>, [Arc<Handle>; 2]) {
    let store = Arc::new(MemoryStore::new());
    let handles = [Handle::of(&store), Handle::of(&store)];
    (MemoryLog::with_register(), store, handles)
}

/// Puts a content that no commit names, and lets go of it.
fn put(repository: &Repository, bytes: &[u8]) -> Value {
    repository.contents().unwrap().put(&mut &*bytes, &NewContent::default()).unwrap().value()
}

fn name(repository: &Repository, name: &str, content: &Value) -> Result<Receipt> {
    let entity = || new(name).property("content", content.clone());
    repository.transact(|t| t.create_entity(entity())).map(|(_, receipt)| receipt)
}

fn text(repository: &Repository, name: &str) -> Vec<u8> {
    let snapshot = repository.snapshot();
    let found = snapshot.entity(&id(name)).unwrap().unwrap();
    let Some(Value::Content(content)) = found.property("content") else { panic!("{name} has a content") };
    let mut bytes = Vec::new();
    repository.contents().unwrap().open(&content).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Clock::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Clock::now() < end, "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_writer(repository: &Repository) -> bool {
    repository.standing().unwrap().is_writer
}

/// The contents in the store, without checkpoints.
fn contents_of(store: &MemoryStore) -> Vec<String> {
    let mut names = store.list().unwrap();
    names.retain(|name| !name.ends_with(".checkpoint"));
    names
}

fn checkpoints_of(store: &MemoryStore) -> Vec<String> {
    let mut names = store.list().unwrap();
    names.retain(|name| name.ends_with(".checkpoint"));
    names
}

fn holds(store: &MemoryStore, secret: &[u8]) -> bool {
    store.list().unwrap().iter().any(|name| {
        let mut bytes = Vec::new();
        store.open(name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes.windows(secret.len()).any(|part| part == secret)
    })
}

/// Closes and drops, and the other one takes over.
fn hand_over(from: Repository, to: &Repository) {
    from.close().unwrap();
    wait_until(|| is_writer(to));
}

/// Cuts the writer off, as if its process had stopped, until another one has taken over.
fn depose(cut: &Cut, next: &Repository) {
    cut.is_cut.store(true, Ordering::SeqCst);
    wait_until(|| is_writer(next));
    cut.is_cut.store(false, Ordering::SeqCst);
}

#[test]
fn a_compaction_keeps_what_another_repository_has_just_put() {
    let (log, store, [first, second]) = shared();
    let log = Cut::of(&log);
    let writer = open(&log, &first, options(&first, LONG_MS));
    let other = standby(&log, &second, LONG_MS);
    let content = put(&other, b"sent to the other server");
    let report = writer.compact().unwrap();
    assert_eq!((report.contents_count, contents_of(&store).len()), (0, 1));
    hand_over(writer, &other);
    name(&other, "scan", &content).unwrap();
    assert_eq!(text(&other, "scan"), b"sent to the other server");
    assert!(other.check().unwrap().differences.is_empty());
}

#[test]
fn an_opening_removes_nothing_from_a_store_that_others_use() {
    let (log, store, [first, second]) = shared();
    let log = Cut::of(&log);
    let writer = open(&log, &first, options(&first, LONG_MS));
    name(&writer, "a", &put(&writer, b"a")).unwrap();
    writer.checkpoint().unwrap();
    // A checkpoint that the writer is about to list, and an earlier one.
    for name in ["1.checkpoint", "00000000000000000009.checkpoint"] {
        store.put(name, &mut |out| out.write_all(b"half")).unwrap();
    }
    let before = store.list().unwrap();
    let other = standby(&log, &second, LONG_MS);
    let reader = open(&log, &second, Options { is_read_only: true, ..options(&second, LONG_MS) });
    assert_eq!(store.list().unwrap(), before);
    for handle in [&first, &second] {
        let counts = (&handle.removals, &handle.unfinished);
        assert_eq!((counts.0.load(Ordering::SeqCst), counts.1.load(Ordering::SeqCst)), (0, 0));
    }
    assert_eq!(other.warnings(), Vec::<String>::new());
    assert_eq!(text(&reader, "a"), b"a");
}

/// Story: a server was stopped between its decision to remove a content and the removal. Another one took over, got the
/// same bytes again, and named them. Then the first one went on.
#[test]
fn a_stopped_remover_never_removes_a_content_that_is_named_again() {
    let (log, store, [first, second]) = shared();
    let (cut, log) = (Cut::of(&log), Cut::of(&log));
    let old = open(&cut, &first, options(&first, GRACE_MS));
    put(&old, b"the bytes");
    old.compact().unwrap();
    first.stop(Stop::BeforeRemovals);
    let next = standby(&log, &second, GRACE_MS);
    wait_until(|| first.is_waiting());
    depose(&cut, &next);
    let content = put(&next, b"the bytes");
    name(&next, "scan", &content).unwrap();
    first.stop(Stop::Nowhere);
    wait_until(|| contents_of(&store).len() == 1);
    assert_eq!(text(&next, "scan"), b"the bytes");
    // So it is found by all: by checks, copies, followers, and the next writer.
    assert!(next.check().unwrap().differences.is_empty());
    assert!(next.fixity(|_, _| {}).unwrap().is_clean());
    let folder = tempfile::tempdir().unwrap();
    assert!(next.backup(folder.path().join("backup")).unwrap().unreadable.is_empty());
    assert_eq!(verify(folder.path().join("backup")).unwrap().contents_count, 1);
    let verified = verify_log(&log, Some(second.clone() as Arc<dyn Store>), &Options::default()).unwrap();
    assert_eq!(verified.contents_count, 1);
    wait_until(|| old.snapshot().position() == next.snapshot().position());
    assert_eq!(text(&old, "scan"), b"the bytes");
    name(&next, "again", &content).unwrap();
    assert!(!next.contents().unwrap().put(&mut &b"the bytes"[..], &NewContent::default()).unwrap().is_new());
}

/// A remover that ended between the mark and the removal.
#[test]
fn what_a_killed_remover_has_left_is_removed_by_the_next_writer() {
    let (log, store, [first, second]) = shared();
    let (cut, log) = (Cut::of(&log), Cut::of(&log));
    let old = open(&cut, &first, options(&first, GRACE_MS));
    put(&old, b"the bytes");
    old.compact().unwrap();
    first.refuses.store(true, Ordering::SeqCst);
    wait_until(|| first.removals.load(Ordering::SeqCst) > 0);
    assert_eq!(contents_of(&store).len(), 1, "it is still there");
    let next = standby(&log, &second, GRACE_MS);
    depose(&cut, &next);
    wait_until(|| contents_of(&store).is_empty());
    // The old one may do it once more at any time.
    let content = put(&next, b"the bytes");
    assert!(contents_of(&store)[0].ends_with("~1"), "{:?}", contents_of(&store));
    name(&next, "scan", &content).unwrap();
    next.compact().unwrap();
    assert_eq!(text(&next, "scan"), b"the bytes");
}

#[test]
fn a_content_that_is_named_or_put_again_stays() {
    let (log, store, [first, second]) = shared();
    let log = Cut::of(&log);
    let writer = open(&log, &first, options(&first, LONG_MS));
    let other = standby(&log, &second, LONG_MS);
    let named = put(&writer, b"named");
    let again = put(&writer, b"again");
    put(&writer, b"forgotten");
    writer.compact().unwrap();
    // The next one begins with the same list, and has a grace that is over.
    name(&writer, "scan", &named).unwrap();
    put(&other, b"again");
    hand_over(writer, &other);
    drop(other);
    std::thread::sleep(Duration::from_millis(50));
    let next = open(&log, &second, options(&second, 40));
    wait_until(|| contents_of(&store).len() < 3);
    assert_eq!(text(&next, "scan"), b"named");
    // It was put again, and left the list; so it waits for a grace of its own.
    assert!(contents_of(&store).len() <= 2);
    wait_until(|| {
        next.compact().unwrap();
        contents_of(&store).len() == 1
    });
    assert_eq!(name(&next, "late", &again).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(text(&next, "scan"), b"named");
}

#[test]
fn purged_bytes_leave_the_store_by_themselves_after_the_grace() {
    let (log, store, [first, second]) = shared();
    let log = Cut::of(&log);
    let writer = open(&log, &first, options(&first, 5 * GRACE_MS));
    let other = standby(&log, &second, 5 * GRACE_MS);
    name(&writer, "kept", &put(&writer, b"kept")).unwrap();
    name(&writer, "gone", &put(&writer, b"a secret content")).unwrap();
    writer.transact(|t| t.update(&entity("gone"), Patch::new().set("text", "a secret text"))).unwrap();
    writer.checkpoint().unwrap();
    assert!(holds(&store, b"a secret text") && holds(&store, b"a secret content"));
    writer.transact(|t| t.purge(&entity("gone"))).unwrap();
    writer.compact().unwrap();
    assert!(holds(&store, b"a secret text"), "others may still load the checkpoint");
    wait_until(|| !holds(&store, b"a secret"));
    assert_eq!((contents_of(&store).len(), checkpoints_of(&store).len()), (1, 1));
    assert!(other.wait_for(writer.snapshot().position(), Duration::from_secs(20)));
    assert_eq!(text(&other, "kept"), b"kept");
    assert_eq!((writer.warnings(), other.warnings()), (Vec::new(), Vec::new()));
    hand_over(writer, &other);
    assert!(other.check().unwrap().differences.is_empty());
}

#[test]
fn a_zombie_neither_replaces_nor_removes_checkpoints_of_the_new_writer() {
    let (log, store, [first, second]) = shared();
    let (cut, log) = (Cut::of(&log), Cut::of(&log));
    let old = open(&cut, &first, options(&first, LONG_MS));
    for number in 0..3 {
        old.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
    }
    old.checkpoint().unwrap();
    let next = standby(&log, &second, LONG_MS);
    old.transact(|t| t.create_entity(new("e3"))).unwrap();
    // It is stopped when it has written a checkpoint, and has not listed it.
    first.stop(Stop::AfterPuts);
    let zombie = {
        let old = old.clone();
        std::thread::spawn(move || old.checkpoint())
    };
    wait_until(|| first.is_waiting());
    depose(&cut, &next);
    next.checkpoint().unwrap();
    let of_zombie = "00000000000000000004-00000000000000000001-00000000000000000000.checkpoint";
    let mut before = store.list().unwrap();
    assert_eq!((before.len(), before.iter().any(|name| name == of_zombie)), (3, true));
    before.retain(|name| name != of_zombie);
    first.stop(Stop::Nowhere);
    let refused = zombie.join().unwrap().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotWriter, "{refused}");
    assert_eq!(store.list().unwrap(), before);
    assert_eq!(old.checkpoint().unwrap_err().kind(), ErrorKind::NotWriter);
    assert!(old.compact().is_err());
    assert_eq!((store.list().unwrap(), first.removals.load(Ordering::SeqCst)), (before, 1));
}

#[test]
fn checkpoints_in_force_stand_in_the_register_and_others_are_not_loaded() {
    let (memory, store, [first, second]) = shared();
    let log = Cut::of(&memory);
    let writer = open(&log, &first, options(&first, GRACE_MS));
    for number in 0..4 {
        writer.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
        writer.checkpoint().unwrap();
        writer.checkpoint().unwrap();
    }
    assert_eq!(writer.warnings(), Vec::<String>::new());
    // Two in force; the others leave after the grace.
    wait_until(|| checkpoints_of(&store).len() == 2);
    let newest = checkpoints_of(&store).pop().unwrap();
    // A writer ended before it could list this one.
    let lost = newest.replacen("00000000000000000004", "00000000000000000009", 1);
    store.put(&lost, &mut |out| out.write_all(b"not a checkpoint")).unwrap();
    let other = standby(&log, &second, GRACE_MS);
    assert_eq!((other.warnings(), other.snapshot().entities_count()), (Vec::new(), 4));
    assert_eq!(other.checkpoint().unwrap_err().kind(), ErrorKind::NotWriter);
    hand_over(writer, &other);
    wait_until(|| !store.list().unwrap().contains(&lost));
    assert!(store.list().unwrap().contains(&newest));
}

#[test]
fn a_writer_asks_once_for_a_content_that_it_names_again_and_again() {
    let (log, _, [first, second]) = shared();
    let log = Cut::of(&log);
    let writer = open(&log, &first, options(&first, LONG_MS));
    let stored = put(&writer, b"a picture");
    name(&writer, "a", &stored).unwrap();
    let before = first.lengths.load(Ordering::SeqCst);
    for number in 0..10 {
        name(&writer, &format!("b{number}"), &stored).unwrap();
    }
    assert_eq!(first.lengths.load(Ordering::SeqCst), before);
    let Value::Content(content) = &stored else { panic!("it is a content") };
    let wrong = Value::Content(Arc::new(Content { size: 1, ..Content::clone(content) }));
    assert_eq!(name(&writer, "wrong", &wrong).unwrap_err().kind(), ErrorKind::InvalidArgument);
    // The next writer knows nothing of it.
    let other = standby(&log, &second, LONG_MS);
    hand_over(writer, &other);
    let before = second.lengths.load(Ordering::SeqCst);
    name(&other, "c", &stored).unwrap();
    assert!(second.lengths.load(Ordering::SeqCst) > before);
}

#[test]
fn two_processes_put_into_one_folder_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = || DiskStore::shared(Arc::new(RealDisk), folder.path());
    let (first, second) = (store(), store());
    let put = |store: &DiskStore, name: &str, within: &mut dyn FnMut()| {
        store.put_named(&mut |out| {
            out.write_all(name.as_bytes())?;
            within();
            Ok(name.to_owned())
        })
    };
    let between = &mut || {
        put(&second, "b", &mut || ()).unwrap();
    };
    put(&first, "a", between).unwrap();
    let mut names = first.list().unwrap();
    names.sort();
    assert_eq!(names, ["a", "b"]);
}
