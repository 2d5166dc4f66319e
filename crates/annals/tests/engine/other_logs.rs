//! Backup, restoration and verification of repositories whose log is not files: an object for each append call.

use std::sync::Arc;

use annals::log::Log;
use annals::storage::{MemoryStore, Store};
use annals::*;

use crate::support::dump;
use crate::support::object_log::ObjectLog;

struct Place {
    log: ObjectLog,
    contents: Arc<dyn Store>,
}

impl Place {
    fn new() -> Place {
        Place { log: ObjectLog::new(), contents: Arc::new(MemoryStore::new()) }
    }

    fn open(&self) -> Result<Repository> {
        let options = Options { contents: Some(Arc::clone(&self.contents)), ..Options::default() };
        Repository::with_log(Arc::new(self.log.clone()), options)
    }
}

/// Entities with a past, relationships, a deletion and a content.
fn fill(repository: &Repository) -> Result<()> {
    for number in 0..40_i64 {
        repository.transact(|t| {
            let one = t.create_entity(NewEntity::new("book").property("number", number))?;
            let other = t.create_entity(NewEntity::new("person"))?;
            t.create_relationship(NewRelationship::new("wrote", other.clone(), one.clone()))?;
            t.update(&InstanceId::Entity(one), Patch::new().set("number", -number))?;
            if number % 7 == 0 { t.delete(&InstanceId::Entity(other)) } else { Ok(()) }
        })?;
    }
    let stored = repository.contents()?.put(&mut &b"the text of a book"[..], &NewContent::default())?;
    repository.transact(|t| t.create_entity(NewEntity::new("text").property("content", stored.value())))?;
    Ok(())
}

#[test]
fn a_backup_of_a_log_of_objects_is_a_folder_and_goes_into_another_log() -> Result<()> {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let repository = place.open()?;
    fill(&repository)?;
    let expected = dump(&repository.snapshot());

    let report = repository.backup(folder.path().join("backup"))?;
    assert_eq!((report.position, report.records_count, report.contents_count), (Position(41), 41, 1));
    assert!(report.bytes > 0 && report.unreadable.is_empty(), "{report:?}");
    assert_eq!(verify(folder.path().join("backup"))?.records_count, 41);
    let restored = restore(folder.path().join("backup"), folder.path().join("files"))?;
    assert_eq!(restored.position, Position(41));
    assert_eq!(dump(&Repository::open(folder.path().join("files"))?.snapshot()), expected);

    let other = Place::new();
    let contents = Some(Arc::clone(&other.contents));
    let report = restore_into(folder.path().join("backup"), &other.log, contents, &Options::default())?;
    assert_eq!((report.records_count, report.contents_count), (41, 1));
    assert!(other.log.objects_count() < 41, "records are appended together");
    let copy = other.open()?;
    assert_eq!(dump(&copy.snapshot()), expected);
    assert!(copy.check()?.differences.is_empty());
    let contents = Some(Arc::clone(&other.contents));
    let again = restore_into(folder.path().join("backup"), &other.log, contents, &Options::default());
    assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
    Ok(())
}

#[test]
fn what_is_missing_or_damaged_in_another_log_is_found() -> Result<()> {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let repository = place.open()?;
    fill(&repository)?;
    repository.backup(folder.path().join("backup"))?;

    // Contents need a store, and nothing is appended without it.
    let log = ObjectLog::new();
    let refused = restore_into(folder.path().join("backup"), &log, None, &Options::default()).unwrap_err();
    assert_eq!((refused.kind(), log.tail()?), (ErrorKind::InvalidArgument, Position::ZERO), "{refused}");

    let verify = || verify_log(&place.log, Some(Arc::clone(&place.contents)), &Options::default());
    assert_eq!(verify()?.records_count, 41);
    let names = place.contents.list().unwrap();
    place.contents.remove(&names).unwrap();
    assert_eq!(verify().unwrap_err().kind(), ErrorKind::NotFound);
    place.log.damage(17);
    let error = verify().unwrap_err();
    assert_eq!((error.kind(), error.text().contains("object 17")), (ErrorKind::Corrupted, true), "{error}");
    let target = folder.path().join("second");
    assert_eq!(repository.backup(&target).unwrap_err().kind(), ErrorKind::Corrupted);
    assert!(!target.join("log").exists(), "no log that would pass for a shorter one");
    Ok(())
}
