//! The place of a repository: a folder, or the URL of a log in a store that others share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::log::Log;
use annals::storage::{DiskStore, RealDisk, Store};
use annals::{Error, ErrorKind, LeaseHolder, Repository, Result};

use crate::{LogAndStore, Options};

/// A reader of a log in S3 looks for new records so often. Units: milliseconds.
const S3_POLL_MS: u64 = 100;

/// The place of a repository. Its text never shows a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A folder.
    Folder(PathBuf),
    /// A log in a store.
    Log(LogPlace),
}

/// A log in a store, and the folder of this machine that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPlace {
    url: String,
    /// A folder of this machine for checkpoints, so that opening reads only the latest records; `None` reads all.
    cache: Option<PathBuf>,
    /// The URL of a store for contents, and for checkpoints unless `cache` has them; `None` for the one in the place of the
    /// log, or for no contents if there is none.
    objects: Option<String>,
}

impl Place {
    /// The place that a text names: a URL if it has `://`, otherwise a folder.
    ///
    /// Errors: `InvalidArgument` for a URL that no log has, and for one with a password.
    pub fn parse(text: &Path) -> Result<Place> {
        // A password may have any bytes; what follows must be read all the same.
        if !text.to_string_lossy().contains("://") {
            return Ok(Place::Folder(text.to_owned()));
        }
        let url = text.to_str().ok_or_else(|| {
            let text = "log: expected a place in UTF-8, found other bytes; write them as %40";
            Error::new(ErrorKind::InvalidArgument, text)
        })?;
        crate::check(url)?;
        Ok(Place::Log(LogPlace { url: url.to_owned(), cache: None, objects: None }))
    }

    /// The folder; `None` for a log in a store.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Place::Folder(path) => Some(path),
            Place::Log(_) => None,
        }
    }

    /// Sets the folder of this machine for the checkpoints of a log in a store. Only one program may use it.
    ///
    /// Errors: `InvalidArgument` for a repository in a folder, which needs none.
    pub fn with_cache(self, cache: Option<PathBuf>) -> Result<Place> {
        match (self, cache) {
            (place, None) => Ok(place),
            (Place::Log(log), cache) => Ok(Place::Log(LogPlace { cache, ..log })),
            (Place::Folder(_), Some(_)) => {
                let text = "cache: expected a log in a store beside it, found a folder, which has its own checkpoints; leave \
                            it out";
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
        }
    }

    /// Sets the store of objects for contents and checkpoints, by its URL. All programs of the log name the same one.
    ///
    /// Errors: `InvalidArgument` for a repository in a folder, which has its own.
    pub fn with_objects(self, objects: Option<String>) -> Result<Place> {
        match (self, objects) {
            (place, None) => Ok(place),
            (Place::Log(log), objects) => Ok(Place::Log(LogPlace { objects, ..log })),
            (Place::Folder(_), Some(_)) => {
                let text = "objects: expected a log in a store beside them, found a folder, which has its own contents; leave \
                            it out";
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
        }
    }

    /// True if there is no repository yet.
    ///
    /// Errors: `Io`; those of [`open`](crate::open).
    pub fn is_vacant(&self) -> Result<bool> {
        match self {
            Place::Folder(path) => match std::fs::read_dir(path) {
                // A service manager creates empty folders.
                Ok(mut entries) => Ok(entries.next().is_none()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
                Err(error) => {
                    Err(Error::io("list repository", error).with("path", path.display().to_string()))
                }
            },
            Place::Log(log) => match log.open_log(true) {
                Ok(_) => Ok(false),
                Err(error) if crate::is_missing(&error) => Ok(true),
                Err(error) => Err(error),
            },
        }
    }

    /// Opens the repository, and creates it if there is none and it is opened for writing.
    ///
    /// Errors: those of [`Repository::open`]; those of [`open`](crate::open); `Locked` beside the writer of a log, whose
    /// address is in the context of the error, if it tells one; `InvalidArgument` if the store of objects belongs to another
    /// log.
    pub fn open(&self, options: annals::Options) -> Result<Repository> {
        let place = match self {
            Place::Folder(path) => return Repository::open_with(path, options),
            Place::Log(place) => place,
        };
        let (log, objects) = place.open_parts(&options)?;
        let options = annals::Options {
            contents: objects.clone().or(options.contents.clone()),
            poll_interval_ms: options.poll_interval_ms.max(place.poll_interval_ms()),
            ..options
        };
        let Some(folder) = &place.cache else {
            return match objects {
                Some(objects) => Repository::with_log_and_store(log, objects, options),
                None => Repository::with_log(log, options),
            };
        };
        // Checkpoints of another log would be refused, but need not be looked at.
        let folder = folder.join(log.id().to_string());
        let store: Arc<dyn Store> = Arc::new(DiskStore::new(Arc::new(RealDisk), &folder));
        Repository::with_log_and_cache(log, store, options)
    }
}

impl LogPlace {
    /// The writer that holds the lease, if there is one.
    ///
    /// Errors: those of [`open`](crate::open); `NotFound` if there is no log; those of [`LeaseHolder::of`].
    pub fn writer(&self) -> Result<Option<LeaseHolder>> {
        LeaseHolder::of(&*self.open_log(true)?)
    }

    fn open_log(&self, is_read_only: bool) -> Result<Arc<dyn Log>> {
        crate::open(&self.url, &Options { is_read_only, ..Options::default() })
    }

    /// The log, and the store of its objects, which belongs to it.
    fn open_parts(&self, options: &annals::Options) -> Result<LogAndStore> {
        let options = Options { is_read_only: options.is_read_only, ..Options::default() }
            .within(options.memory_bytes_max);
        let (log, own) = crate::open_with_store(&self.url, &options)?;
        let objects = match &self.objects {
            Some(url) => Some(crate::open_store_of(url, log.id(), &options)?),
            None => own,
        };
        Ok((log, objects))
    }

    /// Looks into a bucket cost money, and take longer than those into a database.
    fn poll_interval_ms(&self) -> u64 {
        if self.url.starts_with("s3://") { S3_POLL_MS } else { 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Folder(path) => path.display().fmt(f),
            Place::Log(log) => f.write_str(&log.url),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "postgres")]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_folder_unless_it_is_a_url() {
        let folder = Place::parse(Path::new("annals-data")).unwrap();
        assert_eq!(folder.folder(), Some(Path::new("annals-data")));
        let log = Place::parse(Path::new("postgres://annals@localhost/library")).unwrap();
        assert_eq!((log.folder(), log.to_string()), (None, "postgres://annals@localhost/library".to_owned()));
        let cached = log.with_cache(Some("x".into())).unwrap();
        assert!(matches!(cached, Place::Log(LogPlace { cache: Some(_), .. })));
        assert!(folder.with_cache(Some("x".into())).is_err());
        for wrong in ["redis://localhost", "postgres://annals:secret@localhost/library", "://"] {
            let error = Place::parse(Path::new(wrong)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{wrong}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_not_make_a_url_a_folder() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let text = Path::new(OsStr::from_bytes(b"postgres://annals:secret\xff@localhost/library"));
        let error = Place::parse(text).unwrap_err();
        assert!(error.to_string().contains("UTF-8") && !error.to_string().contains("secret"), "{error}");
    }
}
