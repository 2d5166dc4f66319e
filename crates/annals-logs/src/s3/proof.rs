//! Proves at the opening that the service keeps the conditions of requests: some services take a condition and ignore it.

use std::time::{SystemTime, UNIX_EPOCH};

use annals::{Error, ErrorKind, Result};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};

use super::bucket::Bucket;
use super::request_failure::{Answered, RequestFailure};

/// The folder of the objects that openings put below the prefix, and remove.
const FOLDER: &str = "proof";

/// Reads nothing at a place that is there and can be read.
///
/// Errors: those of a bucket that is missing, a key that is refused, a service that does not answer.
pub(super) fn prove_reading(bucket: &Bucket) -> Result<()> {
    let prefix = bucket.place.key("objects", "");
    let listed = bucket.ask_again(0, |objects| {
        let prefix = prefix.clone();
        async move {
            let options =
                object_store::list::PaginatedListOptions { max_keys: Some(1), ..Default::default() };
            object_store::list::PaginatedListStore::list_paginated(&*objects, Some(&prefix), options).await
        }
    });
    listed.map(drop).map_err(|failure| match failure {
        // A list of nothing is empty; only a bucket can be missing.
        RequestFailure::Missing => {
            let (place, bucket) = (&bucket.place, &bucket.place.bucket);
            let text =
                format!("{place}: expected the bucket {bucket}, found none; create it, or correct the place");
            Error::new(ErrorKind::NotFound, text)
        }
        failure => failure.into_error("list"),
    })
}

/// Puts, changes, reads and removes an object under conditions that hold, and tries some that do not.
///
/// Errors: `InvalidArgument` if the service ignores a condition; those of the requests.
pub(super) fn prove_writing(bucket: &Bucket) -> Result<()> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = format!("{}-{:x}", since.as_micros(), std::process::id());
    let key = bucket.key(FOLDER, &name).map_err(|failure| failure.into_error(&name))?;
    let proven = prove(bucket, &key);
    let removed = bucket.ask(0, move |objects| async move { objects.delete(&key).await });
    proven?;
    removed.map_err(|failure| failure.into_error(&name))
}

fn prove(bucket: &Bucket, key: &Path) -> Result<()> {
    let put = |bytes: &'static str, mode: PutMode| {
        let key = key.clone();
        bucket.ask(0, move |objects| async move {
            objects.put_opts(&key, PutPayload::from_static(bytes.as_bytes()), PutOptions::from(mode)).await
        })
    };
    let told = |failure: RequestFailure| failure.into_error("proof");
    let first = put("one", PutMode::Create).map_err(told)?;
    let Some(tag) = first.e_tag else {
        return Err(ignored(bucket, "gives objects no versions (ETag)"));
    };
    must_be_unmet(bucket, put("two", PutMode::Create), "creates an object twice (If-None-Match)")?;
    let version = |e_tag: &str| UpdateVersion { e_tag: Some(e_tag.to_owned()), version: None };
    let changed = put("three", PutMode::Update(version(&tag))).map_err(told)?;
    if changed.e_tag.is_none() {
        return Err(ignored(bucket, "gives objects no versions (ETag)"));
    }
    let stale = put("four", PutMode::Update(version(&tag)));
    must_be_unmet(bucket, stale, "changes an object that is not the expected one (If-Match)")?;
    let read = |range: Option<GetRange>| {
        bucket.ask(0, move |objects| {
            let key = key.clone();
            async move {
                let options = GetOptions { range, ..GetOptions::default() };
                objects.get_opts(&key, options).await?.bytes().await
            }
        })
    };
    let (all, part) = (read(None).map_err(told)?, read(Some(GetRange::Bounded(1..3))).map_err(told)?);
    match (&*all, &*part) {
        (b"three", b"hr") => Ok(()),
        (b"three", _) => Err(ignored(bucket, "gives other bytes than those of a range")),
        _ => Err(ignored(bucket, "does not read what was written last")),
    }
}

fn must_be_unmet<T>(bucket: &Bucket, answer: Answered<T>, otherwise: &str) -> Result<()> {
    match answer {
        Err(RequestFailure::Unmet) => Ok(()),
        Ok(_) => Err(ignored(bucket, otherwise)),
        Err(failure) => Err(failure.into_error("proof")),
    }
}

fn ignored(bucket: &Bucket, what: &str) -> Error {
    let text = format!(
        "{}: expected a service that keeps conditions, found one that {what}: two servers would overwrite each other; use \
         another service, or a newer version of it",
        bucket.place
    );
    Error::new(ErrorKind::InvalidArgument, text)
}
