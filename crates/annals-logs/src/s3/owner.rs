//! Which log the objects of a prefix belong to: each repository removes what its own log does not name, so that two of them
//! in one prefix would remove the contents of each other.

use annals::log::LogId;
use annals::{Error, ErrorKind, Result};

use super::S3Store;
use super::bucket::Bucket;
use super::log::{Manifest, create, load, swap};

impl S3Store {
    /// Makes sure that the objects belong to this log. An opening for writing notes it in the bucket if nothing does yet.
    ///
    /// Errors: `InvalidArgument` if they are those of another log; those of the requests.
    pub fn claim(&self, log: LogId) -> Result<()> {
        if log == LogId::NIL {
            return Ok(());
        }
        let known = match load(&self.bucket)? {
            Some(known) => known.manifest,
            None if self.bucket.is_read_only => return Ok(()),
            None => create(&self.bucket, Manifest::new(log, true))?.manifest,
        };
        if known.id == log { Ok(()) } else { Err(of_another(&self.bucket, &known, log)) }
    }

    /// Notes that the objects of a log belong to it under another id.
    ///
    /// Errors: `Conflict` if they are not those of the log; those of the requests.
    pub(crate) fn hand_over(&self, before: LogId, now: LogId) -> Result<()> {
        let known = load(&self.bucket)?;
        let Some(known) = known.filter(|known| known.manifest.is_elsewhere && known.manifest.id == before)
        else {
            return self.claim(now);
        };
        let mut next = known.manifest.changed();
        next.id = now;
        match swap(&self.bucket, &known, next)? {
            Some(_) => Ok(()),
            None => self.claim(now),
        }
    }
}

fn of_another(bucket: &Bucket, found: &Manifest, expected: LogId) -> Error {
    let text = format!(
        "{}: expected the objects of the log {expected}, found those of the log {}: each would remove contents of the other; \
         give each log a prefix of its own",
        bucket.place, found.id
    );
    Error::new(ErrorKind::InvalidArgument, text)
}

/// The error of a prefix that was opened as a log and has only the objects of one.
pub(super) fn elsewhere(bucket: &Bucket, found: &Manifest) -> Error {
    let text = format!(
        "{}: expected a log, found the objects of the log {}, which is elsewhere; correct the place, or give the log a prefix \
         of its own",
        bucket.place, found.id
    );
    Error::new(ErrorKind::InvalidArgument, text)
}
