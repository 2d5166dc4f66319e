//! Logs of Annals in stores that you already run, and stores for its contents and checkpoints. The place of each is a URL.
//!
//! ```no_run
//! use annals::Repository;
//! use annals_logs::Options;
//!
//! # fn main() -> annals::Result<()> {
//! let log = annals_logs::open("postgres://annals@db.example/library?schema=library", &Options::default())?;
//! let repository = Repository::with_log(log, annals::Options::default())?;
//! # Ok(())
//! # }
//! ```
//!
//! | place | what is there | page |
//! |---|---|---|
//! | `postgres://USER@HOST:PORT,…/DATABASE?OPTION=…` | a log in PostgreSQL, feature `postgres` | `docs/logs/postgresql.md` |
//! | `s3://BUCKET/PREFIX?OPTION=…` | a log in S3 with its contents and checkpoints, or these alone, feature `s3` | `docs/logs/s3.md` |
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing))]
#![cfg_attr(not(test), deny(clippy::as_conversions))]

mod options;
#[cfg(any(feature = "postgres", feature = "s3"))]
mod call_body;
#[cfg(any(feature = "postgres", feature = "s3"))]
mod place_part;
#[cfg(any(feature = "postgres", feature = "s3"))]
mod runner;
#[cfg(any(feature = "postgres", feature = "s3"))]
mod trust;
mod repository_place;
mod status;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "s3")]
pub mod s3;

use std::sync::Arc;

use annals::log::{Log, LogId};
use annals::storage::Store;
use annals::{Error, ErrorKind, Result};

pub use options::Options;
pub use repository_place::{LogPlace, Place};
pub use status::{Status, adopt, status};

/// Opens the log at `place`, and creates it there if it is missing and opened for writing.
///
/// A password or a key in the place is refused, and no error shows one.
///
/// Errors: `InvalidArgument` for a place that no log has, an unknown option, or a wrong password; `NotFound` if the
/// database, the bucket, or for reading the log, is missing; `Unavailable` if the store does not answer within five seconds;
/// `NewerFormat`; `Io` if a right is missing. Each says what to do.
pub fn open(place: &str, options: &Options) -> Result<Arc<dyn Log>> {
    match scheme_of(place) {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => Ok(Arc::new(postgres::PostgresLog::open(place, options)?)),
        #[cfg(feature = "s3")]
        Some("s3") => Ok(Arc::new(s3::S3Log::open(place, options)?)),
        scheme => {
            let _ = options;
            Err(no_log(scheme))
        }
    }
}

/// A log, and the store of its objects, if it has one.
type LogAndStore = (Arc<dyn Log>, Option<Arc<dyn Store>>);

/// As [`open`], with the store of objects that is in the same place.
fn open_with_store(place: &str, options: &Options) -> Result<LogAndStore> {
    #[cfg(feature = "s3")]
    if scheme_of(place) == Some("s3") {
        let log = s3::S3Log::open(place, options)?;
        let store: Arc<dyn Store> = log.store().clone();
        return Ok((Arc::new(log), Some(store)));
    }
    open(place, options).map(|log| (log, None))
}

/// True for the error that a store has no log there.
fn is_missing(error: &Error) -> bool {
    #[cfg(feature = "postgres")]
    if postgres::is_missing(error) {
        return true;
    }
    #[cfg(feature = "s3")]
    if s3::is_missing(error) {
        return true;
    }
    let _ = error;
    false
}

/// Checks a place without asking its store.
///
/// Errors: `InvalidArgument`, as of [`open`].
pub fn check(place: &str) -> Result<()> {
    match scheme_of(place) {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => postgres::PostgresLog::check(place),
        #[cfg(feature = "s3")]
        Some("s3") => s3::S3Log::check(place),
        scheme => Err(no_log(scheme)),
    }
}

fn scheme_of(place: &str) -> Option<&str> {
    place.split_once("://").map(|(scheme, _)| scheme)
}

/// The place is not shown: it may hold a password.
fn no_log(scheme: Option<&str>) -> Error {
    let text =
        format!("log: expected a place that begins with {SCHEMES}, found {}; correct it", found(scheme));
    Error::new(ErrorKind::InvalidArgument, text)
}

fn found(scheme: Option<&str>) -> String {
    match scheme.filter(|scheme| is_scheme(scheme)) {
        Some(scheme) => format!("{scheme}://"),
        None => "none of them".to_owned(),
    }
}
/// Opens the store of objects at `place`, for the contents and the checkpoints of a repository.
///
/// ```no_run
/// use annals::Repository;
/// use annals_logs::Options;
///
/// # fn main() -> annals::Result<()> {
/// let log = annals_logs::open("postgres://annals@db.example/library", &Options::default())?;
/// let store = annals_logs::open_store("s3://library/annals", &Options::default())?;
/// let options = annals::Options { contents: Some(store.clone()), ..annals::Options::default() };
/// let repository = Repository::with_log_and_store(log, store, options)?;
/// # Ok(())
/// # }
/// ```
///
/// A key or a password in the place is refused, and no error shows one.
///
/// Errors: `InvalidArgument` for a place that no store has, an unknown option, or a wrong key; `NotFound` if the bucket is
/// missing; `Unavailable` if the service does not answer within five seconds. Each says what to do.
pub fn open_store(place: &str, options: &Options) -> Result<Arc<dyn Store>> {
    match scheme_of(place) {
        #[cfg(feature = "s3")]
        Some("s3") => Ok(Arc::new(s3::S3Store::open(place, options)?)),
        scheme => {
            let _ = options;
            Err(no_store(scheme))
        }
    }
}

/// Checks the place of a store of objects without asking it.
///
/// Errors: `InvalidArgument`, as of [`open_store`].
pub fn check_store(place: &str) -> Result<()> {
    match scheme_of(place) {
        #[cfg(feature = "s3")]
        Some("s3") => s3::S3Store::check(place),
        scheme => Err(no_store(scheme)),
    }
}

/// As [`open_store`], for a log of which no other one has objects there.
///
/// Errors: `InvalidArgument` if they are those of another log.
fn open_store_of(place: &str, log: LogId, options: &Options) -> Result<Arc<dyn Store>> {
    match scheme_of(place) {
        #[cfg(feature = "s3")]
        Some("s3") => {
            let store = s3::S3Store::open(place, options)?;
            store.claim(log)?;
            Ok(Arc::new(store))
        }
        scheme => {
            let _ = (log, options);
            Err(no_store(scheme))
        }
    }
}

/// The place is not shown: it may hold a key.
fn no_store(scheme: Option<&str>) -> Error {
    let text =
        format!("store: expected a place that begins with {STORES}, found {}; correct it", found(scheme));
    Error::new(ErrorKind::InvalidArgument, text)
}

#[cfg(feature = "s3")]
const STORES: &str = "s3://";
#[cfg(not(feature = "s3"))]
const STORES: &str = "the scheme of a feature of this build (it has none)";

#[cfg(all(feature = "postgres", feature = "s3"))]
const SCHEMES: &str = "postgres:// or s3://";
#[cfg(all(feature = "postgres", not(feature = "s3")))]
const SCHEMES: &str = "postgres://";
#[cfg(all(not(feature = "postgres"), feature = "s3"))]
const SCHEMES: &str = "s3://";
#[cfg(not(any(feature = "postgres", feature = "s3")))]
const SCHEMES: &str = "the scheme of a feature of this build (it has none)";

fn is_scheme(text: &str) -> bool {
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    !text.is_empty() && text.len() <= 20 && text.chars().all(is_sign)
}
