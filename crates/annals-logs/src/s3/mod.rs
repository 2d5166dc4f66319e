//! A log, objects and a register in a bucket of S3, or of a service that speaks its protocol.
//!
//! A store owns one thread with the runtime of the driver. Callers wait for it up to the deadline, also on threads of another
//! runtime. The driver repeats nothing: this module repeats reads, and puts of what may be put twice; removals and swaps are
//! sent once.

mod s3_place;
mod keys;
mod request_failure;
mod http;
mod bucket;
mod object_requests;
mod reader;
mod upload;
mod proof;
mod objects;
mod register_objects;
mod log;
mod owner;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use annals::Result;
use annals::log::Slot;

use crate::Options;
use bucket::Bucket;
pub use log::S3Log;
pub(crate) use log::is_missing;
use register_objects::KnownValue;
use s3_place::S3Place;

/// The requests of an opening have this long each, however long others may take.
const OPENING_MAX: Duration = Duration::from_secs(1);

/// Contents and checkpoints in a bucket ([`Store`](annals::storage::Store)), and a register beside them
/// ([`Register`](annals::log::Register)).
///
/// A call ends within [`Options::deadline`], with a second more for each 4 MiB.
pub struct S3Store {
    bucket: Arc<Bucket>,
    /// The latest values of the register.
    known: Mutex<BTreeMap<Slot, KnownValue>>,
}

impl S3Store {
    /// Opens the objects at `s3://BUCKET/PREFIX?OPTION=…`. The bucket must be there. An opening for writing proves that the
    /// service keeps the conditions of requests.
    ///
    /// Errors: `InvalidArgument` for a wrong place, a key that is missing or refused, a certificate that is not trusted, or a
    /// service that ignores conditions; `NotFound` without the bucket; `Unavailable` if the service does not answer.
    pub fn open(place: &str, options: &Options) -> Result<S3Store> {
        let mut bucket = Bucket::new(S3Place::parse(place)?, options)?;
        bucket.deadline = options.deadline.min(OPENING_MAX);
        proof::prove_reading(&bucket)?;
        if !options.is_read_only {
            proof::prove_writing(&bucket)?;
        }
        bucket.deadline = options.deadline;
        Ok(S3Store { bucket: Arc::new(bucket), known: Mutex::default() })
    }

    /// Checks a place without asking its service.
    ///
    /// Errors: `InvalidArgument`, as of [`open`](S3Store::open).
    pub fn check(place: &str) -> Result<()> {
        S3Place::parse(place).map(drop)
    }
}

impl fmt::Display for S3Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bucket.place.fmt(f)
    }
}

impl fmt::Debug for S3Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Store").field("place", &self.to_string()).finish_non_exhaustive()
    }
}
