//! Requests for single objects: gets of pieces, and puts and removals under conditions.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use bytes::Bytes;
use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};

use super::bucket::Bucket;
use super::request_failure::{Answered, RequestFailure};

/// An object, or a piece of it.
pub(super) struct Found {
    pub bytes: Bytes,
    /// The version of the object.
    pub e_tag: Option<String>,
    /// Units: bytes of the whole object.
    pub size: u64,
}

/// The piece that a get asks for: all of an object by default.
#[derive(Clone, Default)]
pub(super) struct Wanted {
    /// As far as the object reaches.
    pub range: Option<Range<u64>>,
    /// Nothing is sent if the object has this version.
    pub unless: Option<String>,
}

impl Wanted {
    /// The bytes from `start` to `end`, or to the end of the object.
    pub fn range(start: u64, end: u64) -> Wanted {
        Wanted { range: Some(start..end), unless: None }
    }

    fn bytes(&self) -> u64 {
        self.range.as_ref().map_or(0, |range| range.end.saturating_sub(range.start))
    }
}

/// A get whose answer comes later.
pub(super) struct Asked {
    bytes: u64,
    told: Receiver<Option<object_store::Result<Found>>>,
}

/// Gets an object, or the piece of it that is wanted.
pub(super) async fn get(objects: Arc<AmazonS3>, key: Path, wanted: Wanted) -> object_store::Result<Found> {
    let options = GetOptions {
        range: wanted.range.map(GetRange::Bounded),
        if_none_match: wanted.unless,
        ..GetOptions::default()
    };
    let found = objects.get_opts(&key, options).await?;
    let (size, e_tag) = (found.meta.size, found.meta.e_tag.clone());
    Ok(Found { bytes: found.bytes().await?, e_tag, size })
}

/// A put of an object that is not there yet.
pub(super) fn if_new() -> PutMode {
    PutMode::Create
}

/// A put in the place of the object of this version.
pub(super) fn if_same(e_tag: Option<&String>) -> PutMode {
    PutMode::Update(UpdateVersion { e_tag: e_tag.cloned(), version: None })
}

impl Bucket {
    /// Gets an object, or a piece of it, again while a failure may pass. An object of the version that `wanted` excludes is
    /// `Unmet`.
    pub fn get(&self, key: &Path, wanted: &Wanted) -> Answered<Found> {
        self.ask_again(wanted.bytes(), |objects| get(objects, key.clone(), wanted.clone()))
    }

    /// Gets an object whose size is known.
    pub fn get_sized(&self, key: &Path, bytes: u64) -> Answered<Found> {
        self.ask_again(bytes, |objects| get(objects, key.clone(), Wanted::default()))
    }

    /// Asks for an object, of about so many bytes, before it is needed.
    pub fn get_ahead(&self, key: Path, wanted: Wanted, bytes: u64) -> Asked {
        Asked { bytes, told: self.ask_ahead(bytes, move |objects| get(objects, key, wanted)) }
    }

    /// The answer to a get that was sent ahead.
    pub fn found(&self, asked: &Asked) -> Answered<Found> {
        self.answer(asked.bytes, &asked.told)
    }

    /// Puts an object once. Shape: its version.
    pub fn put(&self, key: &Path, payload: PutPayload, mode: PutMode) -> Answered<Option<String>> {
        let key = key.clone();
        let bytes = u64::try_from(payload.content_length()).unwrap_or(u64::MAX);
        let put = self.ask(bytes, move |objects| async move {
            objects.put_opts(&key, payload, PutOptions::from(mode)).await
        })?;
        Ok(put.e_tag)
    }

    /// Removes an object, whose key is never used again. One that is not there is no failure.
    pub fn remove(&self, key: &Path) -> Answered<()> {
        let removed = self.ask_again(0, |objects| {
            let key = key.clone();
            async move { objects.delete(&key).await }
        });
        match removed {
            Err(RequestFailure::Missing) => Ok(()),
            removed => removed,
        }
    }

    /// A page of the names below a folder, in order, after the name `after`. Shape: the names, and true if more follow.
    pub fn names_after(&self, folder: &str, after: &str) -> Answered<(Vec<String>, bool)> {
        let folder = self.place.key(folder, "");
        let offset = (!after.is_empty()).then(|| format!("{folder}{after}"));
        let page = self.ask_again(0, |objects| {
            let options = PaginatedListOptions { offset: offset.clone(), ..PaginatedListOptions::default() };
            let folder = folder.clone();
            async move { objects.list_paginated(Some(&folder), options).await }
        })?;
        let locations = page.result.objects.iter().map(|meta| meta.location.as_ref());
        let names = locations.filter_map(|location| location.strip_prefix(&*folder));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        // The order of an answer is not promised.
        names.sort();
        Ok((names, page.page_token.is_some()))
    }
}
