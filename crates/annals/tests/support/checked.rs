//! A repository that proves itself consistent when it is dropped.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::log::{FileLog, Log, MemoryLog};
use annals::*;

use super::dump::{assert_same, dump};

/// Derefs to a [`Repository`]. When dropped it replays the log into a second repository, which must be the same
/// in everything that can be observed.
pub struct CheckedRepository {
    // `None` only while it is dropped.
    repository: Option<Repository>,
    place: Place,
    is_checked: bool,
}

enum Place {
    Log(Arc<dyn Log>),
    Folder(PathBuf),
}

impl CheckedRepository {
    pub fn in_memory() -> CheckedRepository {
        CheckedRepository::on(Arc::new(MemoryLog::new()))
    }

    pub fn on(log: Arc<dyn Log>) -> CheckedRepository {
        CheckedRepository::on_with(log, Options::default()).expect("open a repository on a log")
    }

    pub fn on_with(log: Arc<dyn Log>, options: Options) -> Result<CheckedRepository> {
        let repository = Repository::with_log(Arc::clone(&log), options)?;
        Ok(CheckedRepository { repository: Some(repository), place: Place::Log(log), is_checked: true })
    }

    pub fn open(path: impl AsRef<Path>) -> CheckedRepository {
        CheckedRepository::open_with(path, Options::default())
    }

    pub fn open_with(path: impl AsRef<Path>, options: Options) -> CheckedRepository {
        let repository = Repository::open_with(&path, options).expect("open a repository in a folder");
        let place = Place::Folder(path.as_ref().to_path_buf());
        CheckedRepository { repository: Some(repository), place, is_checked: true }
    }

    /// The same, not checked when dropped: for logs that are broken on purpose.
    pub fn unchecked(mut self) -> CheckedRepository {
        self.is_checked = false;
        self
    }

    /// Closes it, also while snapshots are held that read on.
    pub fn close(mut self) {
        let repository = self.share();
        self.assert_consistent();
        self.is_checked = false;
        repository.close().expect("close");
    }

    /// A clone of the repository, for threads.
    pub fn share(&self) -> Repository {
        self.repository.clone().expect("it is open")
    }
}

impl Deref for CheckedRepository {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        self.repository.as_ref().expect("it is open")
    }
}

impl Drop for CheckedRepository {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.is_checked {
            self.assert_consistent();
        }
    }
}

impl CheckedRepository {
    /// Fails unless the log, replayed, gives the same repository.
    pub fn assert_consistent(&self) {
        let repository = self.share();
        let (snapshot, failure) = (repository.snapshot(), repository.failure());
        assert!(failure.is_none(), "the repository has failed: {failure:?}");
        let report = repository.check().expect("check");
        assert!(report.is_clean(), "{:#?}", report.differences);
        let log: Arc<dyn Log> = match &self.place {
            Place::Log(log) => Arc::clone(log),
            Place::Folder(path) => {
                Arc::new(FileLog::open_read_only(path.join("log")).expect("open the log to check it"))
            }
        };
        let rebuilt = Repository::with_log(log, Options::read_only()).expect("replay the log");
        let rebuilt = rebuilt.snapshot();
        let last = snapshot.position();
        for position in [last.0, last.0 / 2, last.0 - last.0.min(1)] {
            let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
            let left = snapshot.as_of(as_of).expect("the repository as of a position");
            let right = rebuilt.as_of(as_of).expect("the replayed log as of a position");
            assert_same(&format!("replay at {position}"), &dump(&left), &dump(&right));
        }
    }
}
