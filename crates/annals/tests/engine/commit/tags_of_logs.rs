//! Revisions name their log: one of a repository expects nothing in another one that was restored from its backup.

use std::sync::Arc;

use annals::log::{Log, MemoryLog};
use annals::*;

use crate::support::named::{entity, new};
use crate::support::object_log::ObjectLog;

fn set(repository: &Repository, size: i64) -> Revision {
    repository.transact(|t| t.update(&entity("a"), Patch::new().set("size", size))).unwrap();
    repository.snapshot().revision(&entity("a")).unwrap()
}

fn expect(repository: &Repository, revision: Revision) -> Result<()> {
    let change = |t: &mut Transaction| {
        t.expect_revision(&entity("a"), revision)?;
        t.update(&entity("a"), Patch::new().set("size", 10))
    };
    repository.transact(change).map(drop)
}

/// A repository with one entity, and the folder of its backup.
fn backed_up() -> (tempfile::TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    let original = Repository::open(folder.path().join("original")).unwrap();
    original.transact(|t| t.create_entity(new("a"))).unwrap();
    original.backup(folder.path().join("backup")).unwrap();
    (folder, original)
}

fn check_other(original: &Repository, restored: &Repository) {
    let (own, other) = (set(original, 8), set(restored, 9));
    assert_eq!((own.birth, own.version), (other.birth, other.version));
    let error = expect(restored, own).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    let text = error.to_string();
    assert!(text.contains("another log: a copy, or a restored backup"), "{text}");
    assert!(text.contains(&own.to_string()) && text.contains(&other.to_string()), "{text}");
    // In an edit of a candidate, and in a transaction that changes nothing, too.
    let candidates = restored.candidates();
    candidates.open("c", "test").unwrap();
    let edit = candidates.edit("c", |t| t.expect_revision(&entity("a"), own));
    assert_eq!(edit.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    let mut idle = restored.transaction();
    idle.expect_revision(&entity("a"), own).unwrap();
    assert_eq!(idle.commit().unwrap_err().kind(), ErrorKind::PreconditionFailed);
    expect(original, own).unwrap();
    expect(restored, other).unwrap();
}

#[test]
fn a_revision_is_of_one_log_and_a_restored_backup_is_another() {
    let (folder, original) = backed_up();
    restore(folder.path().join("backup"), folder.path().join("restored")).unwrap();
    let restored = Repository::open(folder.path().join("restored")).unwrap();
    check_other(&original, &restored);
    // It outlives the process.
    let revision = restored.snapshot().revision(&entity("a")).unwrap();
    restored.close().unwrap();
    let again = Repository::open_with(folder.path().join("restored"), Options::read_only()).unwrap();
    assert_eq!(again.snapshot().revision(&entity("a")), Some(revision));
    assert_eq!(revision.to_string().parse::<Revision>().unwrap(), revision);
}

#[test]
fn a_backup_that_is_restored_into_another_kind_of_log_is_another_log() {
    for log in [Arc::new(ObjectLog::new()) as Arc<dyn Log>, Arc::new(MemoryLog::new())] {
        let (folder, original) = backed_up();
        restore_into(folder.path().join("backup"), &*log, None, &Options::default()).unwrap();
        check_other(&original, &Repository::with_log(log, Options::default()).unwrap());
    }
}
