//! Compaction proves before it replaces: histories that once lost data, hung, or showed other instances.

use std::path::Path;
use std::sync::Arc;

use annals::log::{Log, MemoryLog};
use annals::storage::simulated_disk::{Fault, SimulatedDisk};
use annals::*;

use crate::support::named::{entity, id, relationship};
use crate::support::{CheckedRepository, copy_folder};

fn new_entity(text: &str) -> NewEntity {
    NewEntity { id: id(text), ..NewEntity::new("t") }
}

fn new_relationship(text: &str, from: &str, to: &str) -> NewRelationship {
    NewRelationship { id: id(text), ..NewRelationship::new("l", id(from), id(to)) }
}

fn then(position: u64) -> AsOf {
    AsOf { position: Some(Position(position)), ..AsOf::default() }
}

/// Two entities and a relationship from `x` to `y`.
fn linked(repository: &Repository, name: &str) -> Result<()> {
    repository.transact(|t| {
        t.create_entity(new_entity("x"))?;
        t.create_entity(new_entity("y"))?;
        t.create_relationship(new_relationship(name, "x", "y")).map(drop)
    })?;
    Ok(())
}

/// An entity and a relationship had the same id once. Purging the entity made compaction forget that the relationship was
/// renamed, so that a change of it outlived its creation, and the log no longer replayed.
#[test]
fn an_entity_and_a_relationship_with_the_same_former_id_are_two() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    linked(&repository, "r")?;
    repository.transact(|t| t.create_entity(new_entity("r")).map(drop))?;
    repository.transact(|t| t.reidentify(&relationship("r"), &id("s")))?;
    repository.transact(|t| t.reidentify(&entity("r"), &id("e2")))?;
    repository.transact(|t| t.purge(&entity("e2")))?;
    repository.transact(|t| t.update(&relationship("s"), Patch::new().set("a", 1)))?;
    repository.transact(|t| t.purge(&entity("x")))?;
    let report = repository.compact()?;
    // Created, renamed, purged; created, renamed, updated; created, purged.
    assert_eq!(report.changes_count, 3 + 3 + 2);
    repository.close();
    let repository = CheckedRepository::open(folder.path());
    assert_eq!(repository.snapshot().entities_count(), 1);
    Ok(())
}

/// A relationship that got an old id back made compaction follow its names in a circle for ever.
#[test]
fn a_relationship_with_an_old_id_again_does_not_hang_compaction() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    linked(&repository, "r")?;
    repository.transact(|t| t.reidentify(&relationship("r"), &id("s")))?;
    repository.transact(|t| t.undo(&relationship("s")))?;
    repository.transact(|t| t.purge(&entity("x")))?;
    repository.compact()?;
    assert_eq!(repository.snapshot().relationships_count(), 0);
    Ok(())
}

/// Versions were kept by slot, and compaction gives other slots: a snapshot of before left versions that one of after
/// took for those of another instance.
#[test]
fn snapshots_of_before_and_after_a_compaction_never_mix_their_versions() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| {
        for name in ["p", "a", "b"] {
            t.create_entity(new_entity(name).property(&format!("of {name}"), name))?;
        }
        Ok(())
    })?;
    repository.transact(|t| {
        t.update(&entity("a"), Patch::new().set("v", 2))?;
        t.update(&entity("b"), Patch::new().set("v", 2))
    })?;
    repository.transact(|t| t.purge(&entity("p")))?;
    let old = repository.snapshot();
    repository.compact()?;
    for _ in 0..2 {
        for snapshot in [&old, &repository.snapshot()] {
            for name in ["a", "b"] {
                let past = snapshot.as_of(then(1))?;
                let found = past.entity(&id(name))?.unwrap();
                let properties: Vec<_> =
                    found.properties().map(|(name, value)| (name.to_owned(), value)).collect();
                assert_eq!(properties, [(format!("of {name}"), Value::from(name))]);
            }
        }
    }
    Ok(())
}

/// A snapshot of before the purge shows what it held, says so where the log no longer has it, and never anything else.
#[test]
fn a_snapshot_of_before_a_purge_says_that_the_past_is_gone() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(new_entity("a").property("v", 1)).map(drop))?;
    repository.transact(|t| t.update(&entity("a"), Patch::new().set("v", 2)))?;
    let old = repository.snapshot();
    repository.transact(|t| t.purge(&entity("a")))?;
    repository.compact()?;
    assert_eq!(old.entity(&id("a"))?.unwrap().property("v"), Some(Value::from(2)));
    let error = old.as_of(then(1))?.entity(&id("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.text().contains("compacted"), "{error}");
    Ok(())
}

/// Cursors end with slots, which compaction gives anew: a page went on at the wrong place without an error.
#[test]
fn a_cursor_of_before_a_compaction_is_refused() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    for number in 0..10 {
        repository.transact(|t| t.create_entity(new_entity(&format!("e{number}"))).map(drop))?;
    }
    let before = repository.snapshot();
    let page = before.find_entities(&Find::all().limit(4))?;
    let cursor = page.next.clone().unwrap();
    repository.transact(|t| t.purge(&entity("e1")))?;
    let after = |cursor: &str| Find { after: Some(cursor.to_owned()), ..Find::all().limit(4) };
    repository.snapshot().find_entities(&after(&cursor))?;
    repository.compact()?;
    let error = repository.snapshot().find_entities(&after(&cursor)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPage, "{error}");
    assert!(error.text().contains("compacted"), "{error}");
    Ok(())
}

/// Only repositories in folders could be compacted: on any other log, what was purged stayed.
#[test]
fn a_repository_on_a_log_alone_is_compacted() -> Result<()> {
    let log = MemoryLog::new();
    let repository = CheckedRepository::on(Arc::new(log.clone()));
    linked(&repository, "r")?;
    repository.transact(|t| {
        t.create_entity(new_entity("secret").property("secret name", "secret value")).map(drop)
    })?;
    repository.transact(|t| t.purge(&entity("secret")))?;
    let holds_secret = || {
        let records = log.read(Position(1), annals::log::ReadLimit::default()).unwrap();
        records.iter().any(|record| String::from_utf8_lossy(record).contains("secret"))
    };
    assert!(holds_secret());
    let report = repository.compact()?;
    assert_eq!((report.records_count, report.changes_count), (2, 2));
    assert!(!holds_secret());
    assert_eq!(repository.compact()?.changes_count, 0, "nothing is left to take out");
    Ok(())
}

/// A full disk was told as a refusal of the system (*io*), whose remedy is to look after the disk.
#[test]
fn maintenance_on_a_full_disk_says_no_room_and_changes_nothing() -> Result<()> {
    let disk = SimulatedDisk::new();
    let repository = Repository::open_on(Arc::new(disk.clone()), "/repository", Options::default())?;
    repository.transact(|t| t.create_entity(new_entity("secret")))?;
    repository.transact(|t| t.purge(&entity("secret")))?;
    disk.set_full(true);
    let opened = Repository::open_on(Arc::new(disk.clone()), "/other", Options::default());
    let backup = repository.backup("/backup");
    let refusals = [opened.err(), backup.err(), repository.checkpoint().err(), repository.compact().err()];
    assert_eq!(refusals.map(|error| error.map(|error| error.kind())), [Some(ErrorKind::NoRoom); 4]);
    disk.set_full(false);
    // There is room for another segment of the log, but not for the first segment rewritten.
    disk.fail_write_at(disk.writes_count() + 1);
    assert_eq!(repository.compact().unwrap_err().kind(), ErrorKind::NoRoom);
    disk.set_full(true);
    assert_eq!(repository.compact().unwrap_err().kind(), ErrorKind::NoRoom);
    disk.set_full(false);
    assert_eq!(repository.compact()?.changes_count, 2);
    assert_eq!(repository.backup("/backup")?.position, Position(2));
    repository.close()
}

fn segments(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "seg"))
        .collect();
    paths.sort();
    paths
}

/// A reader follows the log of a process that compacts it. Records from before the compaction did not fit to those from
/// after it: an instance that was purged and taken out stayed in the reader for ever.
#[test]
fn a_follower_takes_over_what_a_compaction_has_taken_out() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let writer = Repository::open(folder.path())?;
    writer.transact(|t| t.create_entity(new_entity("secret").property("v", 1)).map(drop))?;
    writer.transact(|t| t.create_entity(new_entity("other")).map(drop))?;
    let options = Options { poll_interval_ms: 3_600_000, ..Options::read_only() };
    let reader = Repository::open_with(folder.path(), options)?;
    assert_eq!(reader.snapshot().entities_count(), 2);
    writer.transact(|t| t.update(&entity("secret"), Patch::new().set("v", 2)))?;
    writer.transact(|t| t.purge(&entity("secret")))?;
    let last = writer.transact(|t| t.create_entity(new_entity("late")).map(drop))?.1.position;
    writer.compact()?;
    assert_eq!(reader.refresh()?, last);
    assert!(reader.snapshot().entity(&id("secret"))?.is_none());
    assert_eq!(reader.snapshot().entities_count(), 2);
    assert_eq!(reader.check()?.differences, Vec::<String>::new());
    Ok(())
}

/// After a crash between preparing the new log and putting it in place, every command reads the old log.
#[test]
fn an_unfinished_compaction_is_nothing_to_anybody() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    linked(&repository, "r")?;
    repository.transact(|t| t.purge(&entity("x")))?;
    repository.close()?;
    let before = tempfile::tempdir().unwrap();
    copy_folder(folder.path(), before.path());
    let repository = Repository::open(folder.path())?;
    repository.compact()?;
    repository.close()?;
    let rewritten = segments(folder.path()).into_iter().find(|path| path.to_string_lossy().contains('-'));
    let rewritten = rewritten.expect("the first segment was rewritten");
    let name = rewritten.file_name().unwrap();
    std::fs::copy(&rewritten, before.path().join("log").join(name)).unwrap();
    assert_eq!(verify(before.path())?.records_count, 2);
    let copies = tempfile::tempdir().unwrap();
    restore(before.path(), copies.path().join("restored"))?;
    let reader = Repository::open_with(before.path(), Options::read_only())?;
    assert_eq!(reader.check()?.differences, Vec::<String>::new());
    reader.backup(copies.path().join("backup"))?;
    let repository = CheckedRepository::open(before.path());
    assert_eq!(repository.snapshot().entities_count(), 1);
    assert!(!before.path().join("log").join(name).exists());
    Ok(())
}

/// The file with which earlier versions marked a compaction had no checksum, and one flipped bit in it took out another
/// instance. This version has no such file, and refuses one that it finds.
#[test]
fn a_compaction_that_an_earlier_version_began_is_refused_by_all() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    Repository::open(folder.path())?.close()?;
    std::fs::write(folder.path().join("compacting"), "annals compaction 1\nentity 1 0 e10\n1\n").unwrap();
    let copies = tempfile::tempdir().unwrap();
    let outcomes = [
        Repository::open(folder.path()).map(drop),
        Repository::open_with(folder.path(), Options::read_only()).map(drop),
        verify(folder.path()).map(drop),
        restore(folder.path(), copies.path().join("restored")).map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.text().contains("earlier version"), "{error}");
    }
    Ok(())
}

/// Without its log a repository started anew beside its checkpoints, and took writes at position 1.
#[test]
fn a_missing_log_beside_checkpoints_is_refused() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    linked(&repository, "r")?;
    repository.checkpoint()?;
    repository.close()?;
    let elsewhere = tempfile::tempdir().unwrap();
    let kept = elsewhere.path().join("log");
    std::fs::rename(folder.path().join("log"), &kept).unwrap();
    for is_there in [false, true] {
        if is_there {
            std::fs::create_dir(folder.path().join("log")).unwrap();
        }
        let error = Repository::open(folder.path()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Gap, "{error}");
        assert!(error.text().contains("up to 1"), "{error}");
    }
    std::fs::remove_dir(folder.path().join("log")).unwrap();
    std::fs::rename(&kept, folder.path().join("log")).unwrap();
    assert_eq!(Repository::open(folder.path())?.snapshot().entities_count(), 2);
    Ok(())
}

/// A log that went back, as one restored from elsewhere does, is told from one that merely has no checkpoint.
#[test]
fn a_checkpoint_beyond_the_tail_of_its_log_is_refused() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    linked(&repository, "r")?;
    repository.close()?;
    let before = tempfile::tempdir().unwrap();
    copy_folder(&folder.path().join("log"), before.path());
    let repository = Repository::open(folder.path())?;
    repository.transact(|t| t.create_entity(new_entity("late")).map(drop))?;
    repository.checkpoint()?;
    repository.close()?;
    std::fs::remove_dir_all(folder.path().join("log")).unwrap();
    copy_folder(before.path(), &folder.path().join("log"));
    for options in [Options::default(), Options::read_only()] {
        let error = Repository::open_with(folder.path(), options).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Gap, "{error}");
    }
    Ok(())
}

/// After a compaction that failed half-way, such as on a full disk, the next one in the same process did not know what the
/// first had taken out, and destroyed the log. A backup made in between was of no use.
#[test]
fn a_compaction_that_fails_anywhere_leaves_a_log_that_can_be_backed_up_and_compacted() -> Result<()> {
    let options = Options { segment_bytes: 4096, ..Options::default() };
    let open = |disk: &SimulatedDisk| {
        Repository::open_on(Arc::new(disk.clone()), "/repository", options.clone()).expect("open")
    };
    let mut failures = 0;
    for fault in [Fault::NoRoom, Fault::Io] {
        for operation in 0.. {
            let disk = SimulatedDisk::new();
            let mut repository = open(&disk);
            linked(&repository, "r")?;
            for number in 0..60 {
                repository.transact(|t| t.update(&relationship("r"), Patch::new().set("v", number)))?;
                let text = format!("{number:02}{}", "x".repeat(198));
                repository.transact(|t| t.update(&entity("y"), Patch::new().set("v", &*text)))?;
            }
            repository.transact(|t| t.purge(&entity("x")))?;
            let first = disk.operations_count();
            disk.fail_at(first + operation, fault);
            let outcome = repository.compact();
            if disk.operations_count() <= first + operation {
                // The compaction was over before its operation came.
                outcome?;
                break;
            }
            let failure = outcome.err().map(|error| error.kind());
            failures += u64::from(failure.is_some());
            // After a failed sync, as ever.
            if failure == Some(ErrorKind::Unavailable) {
                drop(repository);
                repository = open(&disk);
            }
            repository.backup("/backup")?;
            verify_on(Arc::new(disk.clone()), "/backup", &options)?;
            repository.compact()?;
            assert_eq!(repository.check()?.differences, Vec::<String>::new(), "operation {operation}");
            assert_eq!(repository.snapshot().versions(&entity("y"), 0, 100)?.len(), 61);
            drop(repository);
            let reopened = open(&disk.after_power_cut(operation));
            assert_eq!(
                (reopened.snapshot().entities_count(), reopened.snapshot().relationships_count()),
                (1, 0)
            );
        }
    }
    assert!(failures > 10, "{failures} compactions failed");
    Ok(())
}

/// Checkpoints of an earlier version, or damaged ones, may hold what was purged: nobody can tell.
#[test]
fn no_checkpoint_of_before_outlives_a_compaction() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    repository.transact(|t| t.create_entity(new_entity("secret")).map(drop))?;
    repository.checkpoint()?;
    let checkpoint = folder.path().join("checkpoints/00000000000000000001.checkpoint");
    let mut bytes = std::fs::read(&checkpoint).unwrap();
    bytes[12] ^= 1;
    std::fs::write(&checkpoint, bytes).unwrap();
    repository.transact(|t| t.purge(&entity("secret")))?;
    repository.compact()?;
    assert!(!checkpoint.exists());
    Ok(())
}

/// Two repositories on one log: the one that compacts has not yet seen what the other wrote, and called that damage.
#[test]
fn a_compaction_that_lags_behind_another_writer_says_so() -> Result<()> {
    let log = MemoryLog::new();
    let open = || Repository::with_log(Arc::new(log.clone()), Options::default());
    let (ours, other) = (open()?, open()?);
    other.transact(|t| t.create_entity(new_entity("x")).map(drop))?;
    other.transact(|t| t.purge(&entity("x")))?;
    assert_eq!(ours.compact().unwrap_err().kind(), ErrorKind::Busy);
    ours.transact(|t| t.create_entity(new_entity("y")).map(drop))?;
    assert_eq!(ours.compact()?.changes_count, 2);
    // The other one learns of it with its next commit.
    other.transact(|t| t.create_entity(new_entity("x")).map(drop))?;
    assert_eq!(other.snapshot().entities_count(), 2);
    assert_eq!(other.check()?.differences, Vec::<String>::new());
    Ok(())
}

/// A reader checked the log of after a compaction against a graph of before.
#[test]
fn a_check_beside_a_compaction_of_another_process_finds_no_damage() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let writer = Repository::open(folder.path())?;
    writer.transact(|t| t.create_entity(new_entity("secret")).map(drop))?;
    writer.transact(|t| t.create_entity(new_entity("other")).map(drop))?;
    writer.transact(|t| t.purge(&entity("secret")))?;
    let options = Options { poll_interval_ms: 3_600_000, ..Options::read_only() };
    let reader = Repository::open_with(folder.path(), options)?;
    writer.compact()?;
    let late = writer.transact(|t| t.create_entity(new_entity("late")).map(drop))?.1.position;
    // The log of the reader learns of the rewriting when it looks beyond its tail, as following does.
    let mut follow = reader.follow(late);
    assert!(follow.poll()?.is_none());
    assert_eq!(reader.check()?.differences, Vec::<String>::new());
    Ok(())
}
