//! A log and a store of checkpoints that belong to no folder, as a remote log brings them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annals::log::{Appended, Call, Log, LogId, MemoryLog, ReadLimit, Rewrite};
use annals::storage::simulated_disk::SimulatedDisk;
use annals::storage::{Disk, DiskStore, Store, conformance};
use annals::{ErrorKind, Id, InstanceId, NewEntity, Options, Position, Repository, Result};

/// A log that counts the records it hands out.
#[derive(Default)]
struct CountingLog {
    inner: MemoryLog,
    records_count: AtomicUsize,
}

impl Log for CountingLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        let records = self.inner.read(from, limit)?;
        self.records_count.fetch_add(records.len(), Ordering::Relaxed);
        Ok(records)
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn id(&self) -> LogId {
        self.inner.id()
    }

    fn generation(&self) -> u64 {
        self.inner.generation()
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        self.inner.as_rewrite()
    }
}

fn store() -> Arc<DiskStore> {
    Arc::new(DiskStore::new(Arc::new(SimulatedDisk::new()) as Arc<dyn Disk>, "/objects"))
}

fn open(log: &Arc<CountingLog>, store: &Arc<DiskStore>) -> Result<Repository> {
    Repository::with_log_and_store(log.clone(), store.clone(), Options::default())
}

fn create(repository: &Repository, name: &str) -> InstanceId {
    let entity = || Ok(NewEntity::new("t").id(name)?.property("text", format!("what {name} holds")));
    let id = repository.transact(|t| t.create_entity(entity()?)).unwrap().0;
    InstanceId::Entity(id)
}

#[test]
fn the_simulated_disk_keeps_a_store() {
    conformance::check_local_store(&*store());
}

#[test]
fn opening_replays_only_what_came_after_the_checkpoint_in_the_store() {
    let (log, store) = (Arc::new(CountingLog::default()), store());
    let repository = open(&log, &store).unwrap();
    (0..1_000).for_each(|n| drop(create(&repository, &format!("e{n}"))));
    assert_eq!(repository.checkpoint().unwrap(), Position(1_000));
    create(&repository, "later");
    repository.close().unwrap();
    let before = log.records_count.load(Ordering::Relaxed);
    let repository = open(&log, &store).unwrap();
    let read = log.records_count.load(Ordering::Relaxed) - before;
    assert!(read < 10, "{read} records were read");
    assert_eq!(repository.snapshot().entities_count(), 1_001);
    assert_eq!(repository.warnings(), Vec::<String>::new());
    assert_eq!(repository.check().unwrap().differences, Vec::<String>::new());
}

#[test]
fn a_compaction_leaves_no_checkpoint_that_holds_what_was_purged() {
    let (log, store) = (Arc::new(CountingLog::default()), store());
    let repository = open(&log, &store).unwrap();
    create(&repository, "kept");
    let secret = create(&repository, "secret");
    repository.checkpoint().unwrap();
    repository.transact(|t| t.purge(&secret)).unwrap();
    repository.compact().unwrap();
    for name in store.list().unwrap() {
        let mut bytes = Vec::new();
        store.open(&name).unwrap().read_to_end(&mut bytes).unwrap();
        let is_there = bytes.windows(6).any(|part| part == b"secret");
        assert!(!is_there, "{name} holds what was purged");
    }
    repository.close().unwrap();
    let repository = open(&log, &store).unwrap();
    let id = |text: &str| Id::new(text).unwrap();
    assert!(repository.snapshot().entity(&id("kept")).unwrap().is_some());
    assert!(repository.snapshot().entity(&id("secret")).unwrap().is_none());
}

#[test]
fn a_log_that_lost_the_records_of_its_checkpoint_is_refused() {
    let (log, store) = (Arc::new(CountingLog::default()), store());
    let repository = open(&log, &store).unwrap();
    create(&repository, "a");
    repository.checkpoint().unwrap();
    drop(repository);
    let error = open(&Arc::default(), &store).err().expect("it should be refused");
    assert_eq!(error.kind(), ErrorKind::Gap, "{error}");
}
