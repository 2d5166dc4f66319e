//! Checkpoints, checks, backups and compaction of a repository in a folder.

use std::path::Path;

use annals::*;

fn fill(repository: &Repository, rounds: i64) -> Result<Vec<Id>> {
    let mut ids = Vec::new();
    for round in 0..rounds {
        let (id, _) = repository.transact(|t| {
            t.author("test").message("fill");
            let tags = Value::set((0..40).map(|n| Value::from(format!("tag-{}", n * round))))?;
            let entity = NewEntity::new(if round % 3 == 0 { "book" } else { "paper" })
                .property("title", format!("secret title {round}"))
                .property("round", round)
                .property("tags", tags)
                .classified(ClassificationContent::new("fresh").property("since", round));
            t.create_entity(entity)
        })?;
        ids.push(id);
    }
    for (number, pair) in ids.windows(2).enumerate() {
        repository.transact(|t| {
            let link = NewRelationship::new("cites", pair[0].clone(), pair[1].clone());
            let link = t.create_relationship(link.property("number", number as i64))?;
            t.update(&InstanceId::Relationship(link), Patch::new().set("number", 0 - number as i64))?;
            t.update(
                &InstanceId::Entity(pair[0].clone()),
                Patch::new().set("round", 1000).add("tags", "late"),
            )
        })?;
    }
    repository.transact(|t| t.delete(&InstanceId::Entity(ids[3].clone())))?;
    repository.transact(|t| t.declassify(&ids[4], "fresh"))?;
    repository.transact(|t| {
        t.define_type(
            TypeDefinition::entity("book")
                .attribute(AttributeDefinition::new("title", ValueType::String).unique()),
        )
    })?;
    Ok(ids)
}

fn assert_clean(repository: &Repository) {
    let report = repository.check().unwrap();
    assert_eq!(report.differences, Vec::<String>::new());
}

fn checkpoints(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_graph_loaded_from_a_checkpoint_is_the_graph_of_the_log() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    let ids = fill(&repository, 50)?;
    let position = repository.checkpoint()?;
    assert_eq!(position, repository.snapshot().position());
    repository.transact(|t| t.restore(&InstanceId::Entity(ids[3].clone())))?;
    repository.close()?;

    let reopened = Repository::open(folder.path())?;
    assert_eq!(reopened.warnings(), Vec::<String>::new());
    assert_clean(&reopened);
    let past = reopened.snapshot().as_of(AsOf { position: Some(Position(7)), ..AsOf::default() })?;
    assert_eq!(past.entity(&ids[6])?.unwrap().property("round"), Some(Value::Integer(6)));
    Ok(())
}

#[test]
fn a_damaged_checkpoint_is_ignored_with_a_warning_and_nothing_is_lost() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    fill(&repository, 10)?;
    repository.checkpoint()?;
    repository.close()?;
    let path = checkpoints(folder.path()).pop().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        let repository = Repository::open(folder.path())?;
        assert_eq!(repository.warnings().len(), 1, "byte {at}");
        assert_clean(&repository);
        std::fs::write(&path, &bytes[..at]).unwrap();
        repository.close()?;
        let repository = Repository::open(folder.path())?;
        assert_eq!(repository.warnings().len(), 1, "cut at {at}");
        repository.close()?;
    }
    std::fs::remove_dir_all(folder.path().join("checkpoints")).unwrap();
    let repository = Repository::open(folder.path())?;
    assert_clean(&repository);
    Ok(())
}

/// Closing waited until the whole graph was written, which takes longer than a supervisor waits before it kills.
#[test]
fn closing_calls_off_a_checkpoint_and_leaves_nothing_of_it() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    // None at the end, which is bounded by time.
    let options = Options { checkpoint_end_bytes: u64::MAX, ..Options::default() };
    let repository = Repository::open_with(folder.path(), options)?;
    for _ in 0..20 {
        repository.transact(|t| {
            for _ in 0..1_000 {
                t.create_entity(NewEntity::new("t").property("text", "x".repeat(5_000)))?;
            }
            Ok(())
        })?;
    }
    let clone = repository.clone();
    let taking = std::thread::spawn(move || clone.checkpoint());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let is_begun =
        || std::fs::read_dir(folder.path().join("checkpoints")).is_ok_and(|mut files| files.next().is_some());
    while !is_begun() {
        assert!(std::time::Instant::now() < deadline, "no checkpoint was begun");
        std::thread::yield_now();
    }
    repository.close()?;
    assert_eq!(taking.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(checkpoints(folder.path()), Vec::<std::path::PathBuf>::new());
    assert_eq!(Repository::open(folder.path())?.snapshot().entities_count(), 20_000);
    Ok(())
}

#[test]
fn checkpoints_are_taken_in_the_background_and_old_ones_go() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { checkpoint_log_bytes: 10_000, ..Options::default() };
    let repository = Repository::open_with(folder.path(), options)?;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 3 {
        assert!(std::time::Instant::now() < deadline, "no checkpoint came");
        repository
            .transact(|t| t.create_entity(NewEntity::new("noise").property("text", "x".repeat(200))))?;
        if folder.path().join("checkpoints").exists() {
            let files = checkpoints(folder.path()).into_iter();
            seen.extend(files.filter(|path| path.extension().is_some_and(|name| name == "checkpoint")));
        }
    }
    repository.close()?;
    assert_eq!(checkpoints(folder.path()).len(), 2);
    Ok(())
}

#[test]
fn a_backup_taken_while_writing_opens_and_restores() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path().join("a"))?;
    fill(&repository, 10)?;
    let writer = {
        let repository = repository.clone();
        std::thread::spawn(move || {
            for _ in 0..300 {
                repository.transact(|t| t.create_entity(NewEntity::new("noise"))).unwrap();
            }
        })
    };
    let report = repository.backup(folder.path().join("b"))?;
    writer.join().unwrap();
    let restored = restore(folder.path().join("b"), folder.path().join("c"))?;
    assert_eq!((restored.position, restored.records_count), (report.position, report.position.0));
    let copy = Repository::open(folder.path().join("c"))?;
    assert_clean(&copy);
    assert_eq!(copy.snapshot().position(), report.position);
    let again = repository.backup(folder.path().join("b")).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    Ok(())
}

fn folder_contains(folder: &Path, needle: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            folder_contains(&path, needle)
        } else {
            std::fs::read(&path).unwrap().windows(needle.len()).any(|window| window == needle)
        }
    })
}

#[test]
fn purged_bytes_leave_the_folder_with_compaction() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    let ids = fill(&repository, 20)?;
    repository.checkpoint()?;
    let secret = ids[5].clone();
    let before = repository.snapshot();
    repository.transact(|t| t.purge(&InstanceId::Entity(secret.clone())))?;
    assert_clean(&repository);
    assert!(before.entity(&secret)?.is_some());
    assert!(repository.snapshot().entity(&secret)?.is_none());
    let past = repository.snapshot().as_of(AsOf { position: Some(Position(30)), ..AsOf::default() })?;
    assert!(past.entity(&secret)?.is_none());
    assert!(folder_contains(folder.path(), b"secret title 5"));

    let report = repository.compact()?;
    assert!(report.changes_count >= 4, "{report:?}");
    assert!(!folder_contains(folder.path(), b"secret title 5"));
    assert!(!folder_contains(folder.path(), secret.uuid_bytes().unwrap()));
    assert!(folder_contains(folder.path(), b"secret title 6"));
    assert_clean(&repository);
    // The id is free again, and its new life survives the next compaction.
    repository.transact(|t| {
        t.create_entity(
            NewEntity { id: secret.clone(), ..NewEntity::new("paper") }.property("title", "second life"),
        )
    })?;
    repository.compact()?;
    repository.close()?;
    let repository = Repository::open(folder.path())?;
    assert_eq!(repository.warnings(), Vec::<String>::new());
    assert_clean(&repository);
    assert!(repository.snapshot().entity(&secret)?.is_some());
    assert_eq!(repository.snapshot().entities_count(), 19);
    Ok(())
}

#[test]
fn a_read_only_repository_follows_its_writer() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let writer = Repository::open(folder.path())?;
    let (id, _) = writer.transact(|t| t.create_entity(NewEntity::new("a")))?;
    let reader = Repository::open_with(folder.path(), Options::read_only())?;
    assert!(reader.snapshot().entity(&id)?.is_some());
    assert_eq!(Repository::open(folder.path()).err().unwrap().kind(), ErrorKind::Locked);
    let (late, receipt) = writer.transact(|t| t.create_entity(NewEntity::new("a")))?;
    assert!(reader.wait_for(receipt.position, std::time::Duration::from_secs(10)));
    assert!(reader.snapshot().entity(&late)?.is_some());
    let refused = reader.transact(|t| t.create_entity(NewEntity::new("a"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    Ok(())
}

/// The log of an import: a server that replayed it for a minute told its service manager nothing, and was killed.
#[test]
fn opening_reports_its_progress_in_a_log_of_few_large_records() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    // From the log, without a checkpoint.
    let options = Options { checkpoint_end_bytes: u64::MAX, ..Options::default() };
    let repository = Repository::open_with(folder.path(), options)?;
    for _ in 0..3 {
        // More than replay reads at a time.
        let payload = NewEntity::new("payload").property("bytes", "x".repeat(5 << 20));
        repository.transact(|t| t.create_entity(payload.clone()))?;
    }
    repository.close()?;
    let reports = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = std::sync::Arc::clone(&reports);
    let on_replay = move |done: Position, all: Position| noted.lock().unwrap().push((done.0, all.0));
    let options = Options { on_replay: Some(std::sync::Arc::new(on_replay)), ..Options::default() };
    Repository::open_with(folder.path(), options)?.close()?;
    assert_eq!(*reports.lock().unwrap(), [(0, 3), (1, 3), (2, 3), (3, 3)]);
    Ok(())
}
