//! Opens a log in S3: creates its manifest, and finds its end.

use std::sync::Arc;

use annals::log::LogId;
use annals::{Error, ErrorKind, Result};

use super::look::{look, look_far};
use super::manifest::Manifest;
use super::manifest_object::{FOLDER, KnownManifest, create, load};
use super::shared_log::SharedLog;
use crate::s3::S3Store;
use crate::s3::bucket::Bucket;
use crate::s3::owner::elsewhere;

/// The name of the fact of an error that there is no log: its prefix.
const MISSING: &str = "prefix";
/// Folders below a prefix that belongs to a log.
const FOLDERS: [&str; 3] = [FOLDER, "objects", "register"];

/// True for the error that a prefix has no log.
pub(crate) fn is_missing(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound && error.context().iter().any(|(name, _)| *name == MISSING)
}

/// Finds the log, and creates it if it is missing and opened for writing.
///
/// Errors: `NotFound`; `InvalidArgument` if the prefix has something else; those of the requests.
pub(super) fn find(store: Arc<S3Store>) -> Result<SharedLog> {
    let known = match load(&store.bucket)? {
        Some(known) => known,
        None => create_log(&store.bucket)?,
    };
    if known.manifest.is_elsewhere {
        return Err(elsewhere(&store.bucket, &known.manifest));
    }
    Ok(SharedLog::new(store, known))
}

fn create_log(bucket: &Bucket) -> Result<KnownManifest> {
    let place = &bucket.place;
    if bucket.is_read_only {
        let text = format!("{place}: expected a log, found none; open it for writing once");
        return Err(Error::new(ErrorKind::NotFound, text).with(MISSING, &place.prefix));
    }
    for folder in FOLDERS {
        let found = bucket.names_after(folder, "").map_err(|failure| failure.into_error(folder))?;
        if let Some(name) = found.0.first() {
            // Another process may be creating the log.
            if let Some(known) = load(bucket)? {
                return Ok(known);
            }
            let text = format!(
                "{place}: expected nothing at the place of a new log, found {folder}/{name} of another repository; give the \
                 log a prefix of its own"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
    }
    create(bucket, Manifest::new(LogId::random(), false))
}

/// Finds the end of a log that was opened.
///
/// Errors: `Gap` if there are calls behind a missing one; those of the requests.
pub(super) fn find_end(shared: &SharedLog) -> Result<()> {
    let beyond = loop {
        let Some(beyond) = look_far(shared)? else { return Ok(()) };
        let end = shared.end();
        // A list may have a call and not the one before it, if both came while it was made.
        if look(shared)? == end {
            break beyond;
        }
    };
    let text = format!(
        "{}: expected a call at {}, found the next one at {beyond}: records are missing; put the objects back, or accept the \
         loss with annals storage adopt",
        shared.describe(),
        shared.end().position.next()
    );
    Err(Error::new(ErrorKind::Gap, text))
}
