//! The register in a bucket: an object for each slot, which changes only if it is still the one that was read.

use std::sync::PoisonError;
use std::time::{Duration, Instant as Clock};

use annals::log::{Register, Slot, check_swap};
use annals::{Error, ErrorKind, Instant, Result};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};

use super::S3Store;
use super::request_failure::{Answered, RequestFailure};

/// The folder of the slots below the prefix.
const FOLDER: &str = "register";
/// S3 refuses one of two changes at a time, also if that one would have been the first: it is sent again after this.
const PAUSE: Duration = Duration::from_millis(20);

fn name(slot: Slot) -> &'static str {
    match slot {
        Slot::Upkeep => "upkeep",
        Slot::Lease => "lease",
    }
}

/// A value, and the version of the object that has it.
#[derive(Clone)]
pub(super) struct KnownValue {
    value: Vec<u8>,
    version: UpdateVersion,
}

impl S3Store {
    fn slot(&self, slot: Slot) -> Result<Path> {
        self.bucket.key(FOLDER, name(slot)).map_err(|failure| failure.into_error(name(slot)))
    }

    fn load(&self, key: &Path) -> Answered<Option<KnownValue>> {
        let read = self.bucket.ask_again(0, |objects| {
            let key = key.clone();
            async move {
                let found = objects.get(&key).await?;
                let version =
                    UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
                Ok((found.bytes().await?, version))
            }
        });
        match read {
            Ok((value, version)) => Ok(Some(KnownValue { value: value.to_vec(), version })),
            Err(RequestFailure::Missing) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Puts a value if the object has this version; `None`: if there is no object.
    fn put_value(&self, key: &Path, known: Option<&KnownValue>, value: &[u8]) -> Answered<KnownValue> {
        let mode = match known {
            None => PutMode::Create,
            Some(known) => PutMode::Update(known.version.clone()),
        };
        let (key, payload) = (key.clone(), PutPayload::from(value.to_vec()));
        let put = self.bucket.ask(0, move |objects| async move {
            objects.put_opts(&key, payload, PutOptions::from(mode)).await
        })?;
        let version = UpdateVersion { e_tag: put.e_tag, version: put.version };
        Ok(KnownValue { value: value.to_vec(), version })
    }

    fn note(&self, slot: Slot, known: Option<KnownValue>) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some(known) => drop(all.insert(slot, known)),
            None => drop(all.remove(&slot)),
        }
    }
}

impl Register for S3Store {
    fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        let key = self.slot(slot)?;
        let known = self.load(&key).map_err(|failure| failure.into_error(name(slot)))?;
        let value = known.as_ref().map(|known| known.value.clone());
        self.note(slot, known);
        Ok(value)
    }

    fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
        check_swap(value)?;
        if self.bucket.is_read_only {
            let text = format!("{}: swap: it was opened for reading; open it for writing", self.bucket.place);
            return Err(Error::new(ErrorKind::ReadOnly, text));
        }
        let (key, end) = (self.slot(slot)?, Clock::now() + self.bucket.deadline);
        // The version of the expected value may be known. No value comes again, so it is the only one of this value.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&slot).cloned();
        loop {
            if known.as_ref().map(|known| known.value.as_slice()) != expected {
                known = self.load(&key).map_err(|failure| failure.into_error(name(slot)))?;
                let found = known.as_ref().map(|known| known.value.as_slice());
                if found != expected {
                    let is_own = found == Some(value);
                    self.note(slot, known);
                    return Ok(is_own);
                }
            }
            match self.put_value(&key, known.as_ref(), value) {
                Ok(put) => {
                    self.note(slot, Some(put));
                    return Ok(true);
                }
                Err(RequestFailure::Unmet) if Clock::now() < end => {
                    known = self.load(&key).map_err(|failure| failure.into_error(name(slot)))?;
                    if known.as_ref().map(|known| known.value.as_slice()) == expected {
                        std::thread::sleep(PAUSE);
                    }
                }
                Err(failure) => {
                    self.note(slot, None);
                    return Err(failure.into_error(name(slot)));
                }
            }
        }
    }

    fn now(&self) -> Result<Instant> {
        let key = self.slot(Slot::Lease)?;
        // Each answer tells the time.
        let head = self.bucket.ask_again(0, |objects| {
            let key = key.clone();
            async move { objects.head(&key).await }
        });
        match head {
            Ok(_) | Err(RequestFailure::Missing) => self.bucket.seen_clock().ok_or_else(|| {
                let text = format!(
                    "{}: expected a date in answers, found none; use another service",
                    self.bucket.place
                );
                Error::new(ErrorKind::Unavailable, text)
            }),
            Err(failure) => Err(failure.into_error(name(Slot::Lease))),
        }
    }
}
