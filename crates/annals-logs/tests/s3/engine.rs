//! The engine with contents and checkpoints in S3.

use std::io::Read;
use std::sync::Arc;

use annals::log::{Log, MemoryLog};
use annals::storage::Store;
use annals::{ErrorKind, Id, InstanceId, NewContent, NewEntity, Options, Patch, Repository, Value};

use crate::support::{new_place, open, wait_until};

fn options(store: &Arc<dyn Store>) -> Options {
    Options {
        lease_ms: 600,
        removal_grace_ms: 1_000,
        contents: Some(Arc::clone(store)),
        ..Options::default()
    }
}

fn repository(log: &MemoryLog, place: &str, is_standby: bool) -> Repository {
    let store: Arc<dyn Store> = open(place);
    let options = Options { is_standby, ..options(&store) };
    Repository::with_log_and_store(Arc::new(log.clone()) as Arc<dyn Log>, store, options).expect("it opens")
}

fn scan(repository: &Repository, name: &str, bytes: &[u8]) -> InstanceId {
    let stored = repository.contents().unwrap().put(&mut &*bytes, &NewContent::default()).unwrap();
    let entity = || Ok(NewEntity::new("scan").id(name)?.property("content", stored.value()));
    InstanceId::Entity(repository.transact(|t| t.create_entity(entity()?)).unwrap().0)
}

fn text(repository: &Repository, name: &str) -> annals::Result<Vec<u8>> {
    let snapshot = repository.snapshot();
    let found = snapshot.entity(&Id::new(name).unwrap())?.expect("it is there");
    let Some(Value::Content(content)) = found.property("content") else { panic!("{name} has a content") };
    let mut bytes = Vec::new();
    repository.contents()?.open(&content)?.read_to_end(&mut bytes).expect("it is read");
    Ok(bytes)
}

#[test]
fn contents_and_checkpoints_serve_the_next_writer_and_purged_bytes_leave() {
    let (log, place) = (MemoryLog::with_register(), new_place());
    let writer = repository(&log, &place, false);
    let large = vec![7; 9 << 20];
    scan(&writer, "kept", &large);
    let gone = scan(&writer, "gone", b"a secret content");
    writer.transact(|t| t.update(&gone, Patch::new().set("text", "a secret text"))).unwrap();
    writer.checkpoint().unwrap();
    let next = repository(&log, &place, true);
    assert_eq!((next.warnings(), next.snapshot().position()), (Vec::new(), writer.snapshot().position()));
    assert!(text(&next, "kept").unwrap() == large);
    writer.transact(|t| t.purge(&gone)).unwrap();
    writer.compact().unwrap();
    let store = open(&place);
    let holds_secret = || {
        store.list().unwrap().iter().any(|name| {
            let mut bytes = Vec::new();
            // It may be removed meanwhile.
            let read = store.open(name).and_then(|mut reader| reader.read_to_end(&mut bytes));
            read.is_ok() && bytes.windows(8).any(|part| part == b"a secret")
        })
    };
    wait_until(|| !holds_secret());
    writer.close().unwrap();
    wait_until(|| next.standing().unwrap().is_writer);
    scan(&next, "later", b"later");
    assert!(next.fixity(|_, _| {}).unwrap().is_clean());
    assert!(next.check().unwrap().differences.is_empty());
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(next.backup(folder.path().join("backup")).unwrap().contents_count, 2);
    assert_eq!((next.warnings(), store.list().unwrap().len()), (Vec::new(), 3));
}

#[test]
fn a_content_that_is_gone_is_a_clear_error() {
    let (log, place) = (MemoryLog::with_register(), new_place());
    let writer = repository(&log, &place, false);
    scan(&writer, "a", b"some bytes");
    let store = open(&place);
    let names = store.list().unwrap();
    store.remove(&names).unwrap();
    let error = text(&writer, "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    let report = writer.fixity(|_, _| {}).unwrap();
    assert!(report.damaged[0].problem.contains("restore it from a backup"), "{report:?}");
    scan(&writer, "b", b"some bytes");
    assert_eq!(text(&writer, "a").unwrap(), b"some bytes");
}
