//! The store of objects: contents and checkpoints in a bucket.

use std::io::{self, Write};
use std::sync::Arc;

use annals::storage::{Store, StoreReader};
use futures_util::StreamExt;
use futures_util::stream;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::S3Store;
use super::reader::ObjectReader;
use super::request_failure::{Answered, RequestFailure};
use super::upload::{Spool, put};

/// The folder of the objects below the prefix.
const FOLDER: &str = "objects";
/// Removals on their way at a time.
const REMOVALS_AT_ONCE: usize = 16;

impl S3Store {
    fn key(&self, name: &str) -> io::Result<Path> {
        self.bucket.key(FOLDER, name).map_err(|failure| failure.into_io(name))
    }

    fn head(&self, key: &Path) -> Answered<ObjectMeta> {
        self.bucket.ask_again(0, |objects| {
            let key = key.clone();
            async move {
                objects
                    .get_opts(&key, GetOptions { head: true, ..GetOptions::default() })
                    .await
                    .map(|found| found.meta)
            }
        })
    }

    fn check_writer(&self) -> io::Result<()> {
        if !self.bucket.is_read_only {
            return Ok(());
        }
        let text = format!("{}: it was opened for reading; open it for writing", self.bucket.place);
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, text))
    }

    fn names(&self, beginning: &str) -> Answered<Vec<String>> {
        let folder = self.bucket.place.key(FOLDER, "");
        let prefix = format!("{folder}{beginning}");
        let (mut names, mut page_token) = (Vec::new(), None);
        loop {
            let page = self.bucket.ask_again(0, |objects| {
                let options = PaginatedListOptions {
                    page_token: page_token.clone(),
                    ..PaginatedListOptions::default()
                };
                let prefix = prefix.clone();
                async move { objects.list_paginated(Some(&prefix), options).await }
            })?;
            let found =
                page.result.objects.iter().filter_map(|meta| meta.location.as_ref().strip_prefix(&folder));
            names.extend(found.map(str::to_owned));
            page_token = page.page_token;
            if page_token.is_none() {
                return Ok(names);
            }
        }
    }
}

impl Store for S3Store {
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.check_writer()?;
        let key = self.key(name)?;
        let mut spool = Spool::new(&self.bucket);
        write(&mut spool)?;
        put(&self.bucket, &key, spool, false)
    }

    fn put_named(&self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<String>) -> io::Result<bool> {
        self.check_writer()?;
        let mut spool = Spool::new(&self.bucket);
        let name = write(&mut spool)?;
        let key = self.key(&name)?;
        // The service checks sums of what it stores, so equal bytes need not be sent again.
        match self.head(&key) {
            Ok(found) if found.size == spool.length() => Ok(false),
            Ok(_) => put(&self.bucket, &key, spool, false).map(|()| true),
            Err(RequestFailure::Missing) => put(&self.bucket, &key, spool, true).map(|()| true),
            Err(failure) => Err(failure.into_io(key.as_ref())),
        }
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        let key = self.key(name)?;
        self.head(&key).map(|found| found.size).map_err(|failure| failure.into_io(key.as_ref()))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn StoreReader>> {
        let key = self.key(name)?;
        let found = self.head(&key).map_err(|failure| failure.into_io(key.as_ref()))?;
        Ok(Box::new(ObjectReader::new(Arc::clone(&self.bucket), key, found.e_tag, found.size)))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.list_beginning("")
    }

    fn list_beginning(&self, beginning: &str) -> io::Result<Vec<String>> {
        self.names(beginning).map_err(|failure| failure.into_io(&self.describe(beginning)))
    }

    /// Errors: those of the first object that could not be removed. Others may be removed, now or later.
    fn remove(&self, names: &[String]) -> io::Result<()> {
        self.check_writer()?;
        for names in names.chunks(REMOVALS_AT_ONCE) {
            let keys = names.iter().map(|name| self.key(name)).collect::<io::Result<Vec<Path>>>()?;
            // Never sent again: a repeat would hide a first try that comes late.
            let removed = self.bucket.ask(0, move |objects| async move {
                let remove = |key: Path| {
                    let objects = Arc::clone(&objects);
                    async move { objects.delete(&key).await }
                };
                let mut removed = stream::iter(keys).map(remove).buffer_unordered(REMOVALS_AT_ONCE);
                let mut outcome = Ok(());
                while let Some(one) = removed.next().await {
                    match one {
                        Err(object_store::Error::NotFound { .. }) => {}
                        one => outcome = outcome.and(one),
                    }
                }
                outcome
            });
            removed.map_err(|failure| {
                failure.into_io(&self.describe(names.first().map_or("", String::as_str)))
            })?;
        }
        Ok(())
    }

    /// Parts of uploads that were interrupted are no objects: a rule of the bucket removes them.
    fn remove_unfinished(&self) -> io::Result<()> {
        Ok(())
    }

    fn describe(&self, name: &str) -> String {
        format!("s3://{}/{}", self.bucket.place.bucket, self.bucket.place.key(FOLDER, name))
    }
}
