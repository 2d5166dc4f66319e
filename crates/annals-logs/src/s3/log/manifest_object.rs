//! The manifest of a prefix in its bucket: an object that changes only if it is still the one that was read.

use std::time::{Duration, Instant as Clock};

use annals::{Error, ErrorKind, Result};
use object_store::PutPayload;
use object_store::path::Path;

use super::manifest::Manifest;
use crate::s3::bucket::Bucket;
use crate::s3::object_requests::{Found, Wanted, if_new, if_same};
use crate::s3::request_failure::RequestFailure;

/// The folder of a log below the prefix.
pub(in crate::s3) const FOLDER: &str = "log";
const NAME: &str = "manifest";
/// A change that met another one is sent again after this.
const PAUSE: Duration = Duration::from_millis(50);

/// A manifest, and the version of the object that has it.
#[derive(Clone, Debug)]
pub(in crate::s3) struct KnownManifest {
    pub manifest: Manifest,
    e_tag: Option<String>,
}

/// The manifest of the prefix; `None` if nothing is known of it.
///
/// Errors: those of the request; `Corrupted`; `NewerFormat`.
pub(in crate::s3) fn load(bucket: &Bucket) -> Result<Option<KnownManifest>> {
    let key = key(bucket)?;
    match bucket.get(&key, &Wanted::default()) {
        Ok(found) => decode(bucket, found).map(Some),
        Err(RequestFailure::Missing) => Ok(None),
        Err(failure) => Err(failure.into_error(NAME)),
    }
}

/// The key of the manifest.
pub(super) fn key(bucket: &Bucket) -> Result<Path> {
    bucket.key(FOLDER, NAME).map_err(|failure| failure.into_error(NAME))
}

/// The get of a manifest by one that already has it.
pub(super) fn unless(known: &KnownManifest) -> Wanted {
    Wanted { unless: known.e_tag.clone(), range: None }
}

pub(super) fn decode(bucket: &Bucket, found: Found) -> Result<KnownManifest> {
    let manifest = Manifest::decode(&found.bytes).map_err(|error| {
        let text = format!("{}: the object log/manifest: {}; restore it", bucket.place, error.text());
        Error::new(error.kind(), text)
    })?;
    Ok(KnownManifest { manifest, e_tag: found.e_tag })
}

/// Creates the manifest of a prefix. Shape: it, or the one of another process that was first.
///
/// Errors: those of the requests.
pub(in crate::s3) fn create(bucket: &Bucket, manifest: Manifest) -> Result<KnownManifest> {
    let key = key(bucket)?;
    let put = bucket.put(&key, PutPayload::from(manifest.encode()), if_new());
    match put {
        Ok(e_tag) => Ok(KnownManifest { manifest, e_tag }),
        Err(RequestFailure::Unmet) => load(bucket)?.ok_or_else(|| {
            let text = format!("{}: another process is creating the log/manifest; try again", bucket.place);
            Error::new(ErrorKind::Unavailable, text)
        }),
        Err(failure) => Err(failure.into_error(NAME)),
    }
}

/// Puts the next version in the place of the known one. Shape: `None` if another change was first, and this one never is.
///
/// Errors: `Unavailable` if the outcome is unknown; others if the service refused it.
pub(in crate::s3) fn swap(
    bucket: &Bucket,
    known: &KnownManifest,
    next: Manifest,
) -> Result<Option<KnownManifest>> {
    let (key, end) = (key(bucket)?, Clock::now() + bucket.deadline);
    let payload = PutPayload::from(next.encode());
    let mut is_in_doubt = false;
    loop {
        let failure = match bucket.put(&key, payload.clone(), if_same(known.e_tag.as_ref())) {
            Ok(e_tag) => return Ok(Some(KnownManifest { manifest: next, e_tag })),
            Err(failure) => failure,
        };
        is_in_doubt |= failure.is_passing();
        if matches!(failure, RequestFailure::Unmet) || failure.is_passing() {
            match load(bucket) {
                Ok(Some(found)) if found.manifest.change == next.change => return Ok(Some(found)),
                // S3 refuses one of two changes at a time, also if that one would have been the first.
                Ok(Some(found)) if found.manifest.change == known.manifest.change => {}
                Ok(_) => return Ok(None),
                Err(_) => is_in_doubt = true,
            }
        }
        if !is_in_doubt && !matches!(failure, RequestFailure::Unmet) {
            return Err(failure.into_error(NAME));
        }
        if Clock::now() + PAUSE >= end {
            let text = format!("{}: whether the manifest was changed is unknown; try again", bucket.place);
            return Err(Error::new(ErrorKind::Unavailable, text).caused_by(failure.into_error(NAME)));
        }
        std::thread::sleep(PAUSE);
    }
}
