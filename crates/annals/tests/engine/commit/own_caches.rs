//! Repositories of a log with a register that have checkpoints of their own, beside contents that all of them share.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use crate::support::named::{id, new};
use annals::log::{Log, MemoryLog};
use annals::storage::{MemoryStore, Store};
use annals::*;

const SECRET: &str = "what nobody may find any more";

fn options(objects: &Arc<MemoryStore>) -> Options {
    Options {
        lease_ms: 150,
        poll_interval_ms: 1,
        removal_grace_ms: 300,
        contents: Some(Arc::clone(objects) as Arc<dyn Store>),
        ..Options::default()
    }
}

/// With checkpoints in a store of its own.
fn open(log: &MemoryLog, cache: &Arc<MemoryStore>, options: Options) -> Repository {
    let cache = Arc::clone(cache) as Arc<dyn Store>;
    Repository::with_log_and_cache(Arc::new(log.clone()), cache, options).unwrap()
}

fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new())
}

fn create(repository: &Repository, name: &str) {
    repository.transact(|t| t.create_entity(new(name).property("text", SECRET))).unwrap();
}

fn purge_and_compact(repository: &Repository, name: &str) {
    repository.transact(|t| t.purge(&InstanceId::Entity(id(name)))).unwrap();
    repository.compact().unwrap();
}

fn holds_secret(store: &MemoryStore) -> bool {
    store.list().unwrap().iter().any(|name| {
        let mut bytes = Vec::new();
        // It may be removed meanwhile.
        let read = store.open(name).and_then(|mut object| object.read_to_end(&mut bytes));
        read.is_ok() && bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
    })
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

/// The cache of a standby kept purged bytes until it was started again.
#[test]
fn purged_bytes_leave_the_caches_of_all_servers() {
    let (log, objects, caches) = (MemoryLog::with_register(), store(), [store(), store()]);
    let writer = open(&log, &caches[0], options(&objects));
    let standby = open(&log, &caches[1], Options { is_standby: true, ..options(&objects) });
    create(&writer, "a");
    wait_until(|| standby.snapshot().position() == writer.snapshot().position());
    for repository in [&writer, &standby] {
        repository.checkpoint().unwrap();
    }
    assert!(caches.iter().all(|cache| holds_secret(cache)));
    purge_and_compact(&writer, "a");
    wait_until(|| !caches.iter().any(|cache| holds_secret(cache)));
    assert!(objects.list().unwrap().is_empty(), "checkpoints are in the caches");
    // It goes on with its next checkpoint.
    writer.close().unwrap();
    wait_until(|| is_writer(&standby));
    create(&standby, "b");
    standby.checkpoint().unwrap();
    let position = standby.snapshot().position();
    standby.close().unwrap();
    let again = open(&log, &caches[1], options(&objects));
    assert!(again.snapshot().position() > position && again.warnings().is_empty(), "{:?}", again.warnings());
}

/// A server with a cache left the checkpoints of servers without one in the shared store for ever, with what was purged.
#[test]
fn a_server_with_a_cache_removes_the_checkpoints_of_those_without() {
    let (log, objects, cache) = (MemoryLog::with_register(), store(), store());
    let shared: Arc<dyn Log> = Arc::new(log.clone());
    let first =
        Repository::with_log_and_store(shared, Arc::clone(&objects) as Arc<dyn Store>, options(&objects))
            .unwrap();
    create(&first, "a");
    first.checkpoint().unwrap();
    first.close().unwrap();
    assert!(holds_secret(&objects));
    let second = open(&log, &cache, options(&objects));
    purge_and_compact(&second, "a");
    wait_until(|| !holds_secret(&objects) && !holds_secret(&cache));
    assert!(second.snapshot().entity(&id("a")).unwrap().is_none());
}
