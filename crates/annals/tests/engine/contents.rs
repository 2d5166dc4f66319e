//! Binaries beside the log: stored before the commit that names them, kept while a version names them.

use std::io::{self, Read};
use std::sync::Arc;

use annals::log::MemoryLog;
use annals::storage::simulated_disk::SimulatedDisk;
use annals::storage::{Disk, DiskStore, MemoryStore, RealDisk, Store, conformance};
use annals::*;

fn text_of(contents: &Contents, content: &Content) -> Vec<u8> {
    let mut bytes = Vec::new();
    contents.open(content).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn put(repository: &Repository, bytes: &[u8]) -> StoredContent {
    repository.contents().unwrap().put(&mut &*bytes, &NewContent::default()).unwrap()
}

fn create(repository: &Repository, id: &str, bytes: &[u8]) -> InstanceId {
    let stored = put(repository, bytes);
    let entity = || Ok(NewEntity::new("scan").id(id)?.property("content", stored.value()));
    InstanceId::Entity(repository.transact(|t| t.create_entity(entity()?)).unwrap().0)
}

fn content_of(snapshot: &Snapshot, id: &str) -> Content {
    let entity = snapshot.entity(&Id::new(id).unwrap()).unwrap().unwrap();
    let Some(Value::Content(content)) = entity.property("content") else { panic!("{id} has a content") };
    Content::clone(&content)
}

fn stored_names(folder: &std::path::Path) -> Vec<String> {
    let store = DiskStore::new(Arc::new(RealDisk), folder.join("content"));
    let mut names = store.list().unwrap();
    names.sort();
    names
}

#[test]
fn stores_keep_to_their_contract() {
    conformance::check_local_store(&MemoryStore::new());
    conformance::check_local_store(&DiskStore::new(
        Arc::new(SimulatedDisk::new()) as Arc<dyn Disk>,
        "/objects",
    ));
}

#[test]
fn equal_bytes_are_stored_once_and_each_version_keeps_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let first = create(&repository, "a", b"one");
    create(&repository, "b", b"one");
    assert_eq!(stored_names(folder.path()).len(), 1);
    assert!(!put(&repository, b"one").is_new());
    let position = repository.snapshot().position();
    let second = put(&repository, b"another");
    repository.transact(|t| t.update(&first, Patch::new().set("content", second.value()))).unwrap();

    let snapshot = repository.snapshot();
    let contents = repository.contents().unwrap();
    assert_eq!(text_of(&contents, &content_of(&snapshot, "a")), b"another");
    let then = snapshot.as_of(AsOf { position: Some(position), ..AsOf::default() }).unwrap();
    assert_eq!(text_of(&contents, &content_of(&then, "a")), b"one");
    drop((repository, contents, snapshot, then));

    let reader = Repository::open_with(folder.path(), Options::read_only()).unwrap();
    assert_eq!(text_of(&reader.contents().unwrap(), &content_of(&reader.snapshot(), "b")), b"one");
}

#[test]
fn digests_are_those_of_the_bytes() {
    let repository = Repository::in_memory();
    let contents = repository.contents().unwrap();
    let about = NewContent { algorithms: DigestAlgorithm::ALL.to_vec(), ..NewContent::of("text/plain") };
    let stored = contents.put(&mut &b"abc"[..], &about.named("abc.txt")).unwrap();
    let digest = |algorithm| stored.digest(algorithm).unwrap().to_string();
    assert_eq!(digest(DigestAlgorithm::Md5), "900150983cd24fb0d6963f7d28e17f72");
    assert_eq!(digest(DigestAlgorithm::Sha1), "a9993e364706816aba3e25717850c26c9cd0d89d");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((digest(DigestAlgorithm::Sha256), stored.sha256.to_string()), (sha256.into(), sha256.into()));
    assert!(digest(DigestAlgorithm::Sha512).starts_with("ddaf35a193617abacc417349ae204131"));
    assert_eq!(
        (&*stored.media_type, stored.name.as_deref(), stored.size),
        ("text/plain", Some("abc.txt"), 3)
    );
}

/// Gives some bytes and then an error.
struct HangsUp(usize);

impl Read for HangsUp {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::from(io::ErrorKind::ConnectionReset));
        }
        let count = self.0.min(buffer.len());
        self.0 -= count;
        Ok(count)
    }
}

#[test]
fn refused_contents_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let contents = repository.contents().unwrap();
    let refused = |from: &mut dyn Read, about: &NewContent| contents.put(from, about).err().map(|e| e.kind());
    let lie = Digest::from_hex(DigestAlgorithm::Md5, "900150983cd24fb0d6963f7d28e17f72").unwrap();
    let about = NewContent::default().expecting(lie);
    assert!(contents.put(&mut &b"abc"[..], &about).is_ok());
    assert_eq!(refused(&mut &b"abd"[..], &about), Some(ErrorKind::DigestMismatch));
    assert_eq!(refused(&mut HangsUp(200_000), &NewContent::default()), Some(ErrorKind::Io));
    let small = NewContent { bytes_max: Some(10), ..NewContent::default() };
    assert_eq!(refused(&mut &[0; 11][..], &small), Some(ErrorKind::TooLarge));
    let short = NewContent { size: Some(10), ..NewContent::default() };
    assert_eq!(refused(&mut &[0; 9][..], &short), Some(ErrorKind::InvalidArgument));
    for about in
        [NewContent::of("nonsense"), NewContent::default().named("../etc"), NewContent::of("a/b\r\nc: d")]
    {
        assert_eq!(refused(&mut &b""[..], &about), Some(ErrorKind::InvalidArgument), "{about:?}");
    }
    let files = std::fs::read_dir(folder.path().join("content")).unwrap().count();
    assert_eq!(files, 1, "only the content with the right digest is there");
}

#[test]
fn a_commit_cannot_name_a_content_that_is_not_stored() {
    let repository = Repository::in_memory();
    let content = Content { size: 4, ..Content::clone(&put(&Repository::in_memory(), b"abc")) };
    let commit = |content: &Content| {
        let entity = NewEntity::new("scan").property("content", content.clone());
        repository.transact(|t| t.create_entity(entity.clone())).err().map(|error| error.kind())
    };
    assert_eq!(commit(&content), Some(ErrorKind::NotFound));
    put(&repository, b"abc");
    assert_eq!(commit(&content), Some(ErrorKind::InvalidArgument), "its size differs");
    assert_eq!(commit(&Content { size: 3, ..content.clone() }), None);

    let alone = Repository::with_log(Arc::new(MemoryLog::new()), Options::default()).unwrap();
    let nested = Value::List([Value::from(content)].into());
    let refused = alone.transact(|t| t.create_entity(NewEntity::new("scan").property("all", nested.clone())));
    assert_eq!(refused.err().map(|error| error.kind()), Some(ErrorKind::InvalidArgument));
}

#[test]
fn a_commit_compares_further_digests_with_the_bytes() {
    let repository = Repository::in_memory();
    let stored = put(&repository, b"abc");
    let digest = |algorithm, digits: &str| Digest::from_hex(algorithm, digits).unwrap();
    let md5 = digest(DigestAlgorithm::Md5, "900150983cd24fb0d6963f7d28e17f72");
    let sha1 = digest(DigestAlgorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d");
    let lie = digest(DigestAlgorithm::Md5, "900150983cd24fb0d6963f7d28e17f73");
    let own = stored.digest(DigestAlgorithm::Sha256).unwrap();
    let commit = |digests: &[&Digest]| {
        let digests = digests.iter().copied().cloned().collect();
        let content = Content { digests, ..Content::clone(&stored) };
        let entity = NewEntity::new("scan").property("content", content);
        repository.transact(|t| t.create_entity(entity.clone())).err().map(|error| error.kind())
    };
    assert_eq!(commit(&[&lie]), Some(ErrorKind::DigestMismatch));
    assert_eq!(commit(&[&md5, &sha1, &own]), None);
    // Also when the right one is known.
    assert_eq!(commit(&[&lie, &sha1]), Some(ErrorKind::DigestMismatch));
    assert_eq!(repository.snapshot().entities_count(), 1);
}

#[test]
fn compaction_removes_contents_that_no_version_names() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let changed = create(&repository, "changed", b"first");
    let purged = create(&repository, "purged", b"gone");
    create(&repository, "shares", b"shared");
    let also = create(&repository, "shares too", b"shared");
    let second = put(&repository, b"second");
    repository.transact(|t| t.update(&changed, Patch::new().set("content", second.value()))).unwrap();
    let pinned = put(&repository, b"not named yet");
    let candidates = repository.candidates();
    candidates.open("draft", "ada").unwrap();
    let drafted = put(&repository, b"in a candidate");
    let value = drafted.value();
    candidates
        .edit("draft", |t| {
            t.create_entity(NewEntity::new("scan").property("content", value.clone())).map(drop)
        })
        .unwrap();
    drop(drafted);
    drop(put(&repository, b"left by a client that hung up"));
    repository.transact(|t| t.purge(&purged)).unwrap();
    repository.transact(|t| t.purge(&also)).unwrap();
    assert_eq!(stored_names(folder.path()).len(), 7);

    let report = repository.compact().unwrap();
    assert_eq!((report.contents_count, report.contents_bytes), (2, 4 + 29));
    assert_eq!(stored_names(folder.path()).len(), 5);
    assert_eq!(text_of(&repository.contents().unwrap(), &pinned), b"not named yet");
    assert_eq!(repository.fixity(|_, _| {}).unwrap().contents_count, 4);
    assert!(repository.check().unwrap().is_clean());

    drop(pinned);
    assert_eq!(repository.compact().unwrap().contents_count, 1);
    candidates.commit("draft", &CandidateCommit::default()).unwrap();
    assert!(repository.fixity(|_, _| {}).unwrap().is_clean());
}

#[test]
fn damage_is_found_and_names_the_instances() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("repository"), folder.path().join("backup"));
    let repository = Repository::open(&path).unwrap();
    let damaged = create(&repository, "damaged", b"as it was");
    let missing = create(&repository, "missing", b"will be gone");
    create(&repository, "sound", b"stays");
    let report = repository.backup(&backup).unwrap();
    assert_eq!((report.contents_count, report.contents_bytes), (3, 26));
    assert_eq!(verify(&backup).unwrap(), report);

    let file = |folder: &std::path::Path, id: &str| {
        folder.join("content").join(content_of(&repository.snapshot(), id).sha256.to_string())
    };
    std::fs::write(file(&path, "damaged"), b"as it WAS").unwrap();
    std::fs::remove_file(file(&path, "missing")).unwrap();
    let report = repository.fixity(|_, _| {}).unwrap();
    assert_eq!(report.contents_count, 3);
    let mut named: Vec<_> = report.damaged.iter().flat_map(|damage| damage.instances.clone()).collect();
    named.sort();
    assert_eq!(named, [damaged.clone(), missing.clone()]);
    let differences = repository.check().unwrap().differences;
    assert!(differences.len() == 1 && differences[0].contains("found none"), "{differences:?}");
    // A backup has the others, and names these.
    let second = folder.path().join("second");
    let report = repository.backup(&second).unwrap();
    let mut lacking: Vec<_> = report.unreadable.iter().flat_map(|damage| damage.instances.clone()).collect();
    lacking.sort();
    assert_eq!((report.contents_count, lacking), (1, named));
    assert_eq!(stored_names(&second).len(), 1);
    assert!(matches!(verify(&second).unwrap_err().kind(), ErrorKind::Corrupted | ErrorKind::NotFound));

    restore(&backup, folder.path().join("restored")).unwrap();
    std::fs::write(file(&backup, "damaged"), b"as it WAS").unwrap();
    assert_eq!(verify(&backup).unwrap_err().kind(), ErrorKind::Corrupted);
    assert_eq!(restore(&backup, folder.path().join("again")).unwrap_err().kind(), ErrorKind::Corrupted);
}

#[test]
fn contents_are_stored_while_others_are_collected() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let repository = repository.clone();
            scope.spawn(move || {
                for number in 0..60 {
                    // Both threads store the same bytes, and most are purged at once.
                    let id = format!("{thread}-{number}");
                    let instance = create(&repository, &id, format!("content {}", number % 7).as_bytes());
                    if number % 3 > 0 {
                        repository.transact(|t| t.purge(&instance)).unwrap();
                    }
                }
            });
        }
        for _ in 0..12 {
            repository.compact().unwrap();
        }
    });
    repository.compact().unwrap();
    let report = repository.fixity(|_, _| {}).unwrap();
    assert!(report.is_clean(), "{:?}", report.damaged);
    assert_eq!(stored_names(folder.path()).len() as u64, report.contents_count);
}

/// Story: the log was away for a moment (not mounted); a new log took its place, and the next compaction removed all
/// contents.
#[test]
fn a_folder_with_contents_and_no_log_is_not_opened_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let repository = Repository::open(&path).unwrap();
    create(&repository, "a", b"bytes");
    repository.close().unwrap();
    let (log, away) = (path.join("log"), folder.path().join("away"));
    std::fs::rename(&log, &away).unwrap();
    let refused = |what: &str| {
        let error = Repository::open(&path).map(drop).expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Gap, "{what}: {error}");
        assert!(error.to_string().contains("put the log back"), "{error}");
    };
    refused("no log");
    std::fs::create_dir(&log).unwrap();
    refused("an empty log");
    std::fs::write(log.join("lock"), b"").unwrap();
    refused("a lock alone");
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::rename(&away, &log).unwrap();
    let repository = Repository::open(&path).unwrap();
    assert!(repository.fixity(|_, _| {}).unwrap().damaged.is_empty());
    // A writer that ended before its first file leaves a lock, and no harm.
    let other = folder.path().join("other");
    std::fs::create_dir_all(other.join("log")).unwrap();
    std::fs::write(other.join("log").join("lock"), b"").unwrap();
    Repository::open(&other).unwrap().close().unwrap();
}

/// A store on which the sectors of one object cannot be read, and each opening takes time.
#[derive(Default)]
struct BadSector {
    store: MemoryStore,
    bad: std::sync::Mutex<Option<String>>,
    pause: std::sync::Mutex<std::time::Duration>,
}

impl Store for BadSector {
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
        self.store.put(name, write)
    }

    fn put_named(&self, write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<String>) -> io::Result<bool> {
        self.store.put_named(write)
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        self.store.length(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn annals::storage::StoreReader>> {
        std::thread::sleep(*self.pause.lock().unwrap());
        match self.bad.lock().unwrap().as_deref() == Some(name) {
            true => Err(io::Error::from_raw_os_error(5)),
            false => self.store.open(name),
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.store.list()
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        self.store.remove(names)
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        self.store.remove_unfinished()
    }

    fn describe(&self, name: &str) -> String {
        self.store.describe(name)
    }
}

#[test]
fn a_content_that_the_disk_cannot_read_is_a_line_of_the_report() {
    let store = Arc::new(BadSector::default());
    let options = Options { contents: Some(store.clone()), ..Options::default() };
    let repository = Repository::with_log(Arc::new(MemoryLog::new()), options).unwrap();
    let bad = create(&repository, "bad", b"on a bad sector");
    create(&repository, "good", b"elsewhere");
    *store.bad.lock().unwrap() = Some(content_of(&repository.snapshot(), "bad").sha256.to_string());
    let report = repository.fixity(|_, _| {}).unwrap();
    assert_eq!((report.contents_count, report.damaged.len()), (2, 1), "{report:?}");
    assert_eq!(report.damaged[0].instances, [bad]);
}

#[test]
fn a_long_reading_of_contents_holds_up_neither_a_compaction_nor_the_end() {
    let store = Arc::new(BadSector::default());
    let options = Options { contents: Some(store.clone()), ..Options::default() };
    let repository = Repository::with_log(Arc::new(MemoryLog::new()), options).unwrap();
    for number in 0..100 {
        create(&repository, &format!("e{number}"), format!("content {number}").as_bytes());
    }
    // 10 s in all.
    *store.pause.lock().unwrap() = std::time::Duration::from_millis(100);
    let reading = {
        let repository = repository.clone();
        std::thread::spawn(move || repository.fixity(|_, _| {}))
    };
    std::thread::sleep(std::time::Duration::from_millis(300));
    let start = std::time::Instant::now();
    repository.compact().unwrap();
    repository.close().unwrap();
    assert!(start.elapsed() < std::time::Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(reading.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn a_backup_beside_a_compaction_of_another_process_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("repository"), folder.path().join("backup"));
    let writer = Repository::open(&path).unwrap();
    let gone = create(&writer, "gone", b"to be purged");
    create(&writer, "stays", b"stays");
    let reader =
        Repository::open_with(&path, Options { poll_interval_ms: 3_600_000, ..Options::read_only() })
            .unwrap();
    writer.transact(|t| t.purge(&gone)).unwrap();
    writer.compact().unwrap();
    let report = reader.backup(&backup).unwrap();
    assert_eq!((report.contents_count, report.unreadable.len()), (1, 0), "{report:?}");
    assert_eq!(verify(&backup).unwrap(), report);
    assert_eq!(stored_names(&backup).len(), 1);
}

/// Story: a compaction came between the two looks at the log, and the backup cleared the folder that it had refused.
#[test]
fn a_backup_never_touches_a_folder_that_holds_another_repository() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("repository"), folder.path().join("other"));
    let other = Repository::open(&target).unwrap();
    create(&other, "theirs", b"theirs");
    other.close().unwrap();
    let writer = Repository::open(&path).unwrap();
    let gone = create(&writer, "gone", b"to be purged");
    let reader =
        Repository::open_with(&path, Options { poll_interval_ms: 3_600_000, ..Options::read_only() })
            .unwrap();
    writer.transact(|t| t.purge(&gone)).unwrap();
    writer.compact().unwrap();
    assert_eq!(reader.backup(&target).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let other = Repository::open(&target).unwrap();
    let content = content_of(&other.snapshot(), "theirs");
    assert_eq!(text_of(&other.contents().unwrap(), &content), b"theirs");
}
