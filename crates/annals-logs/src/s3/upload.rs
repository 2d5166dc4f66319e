//! Puts objects: small ones by one request, large ones in parts.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use object_store::aws::AmazonS3;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{ObjectStore, PutMode, PutOptions, PutPayload};
use tempfile::SpooledTempFile;
use tokio::sync::OwnedSemaphorePermit;

use super::bucket::Bucket;
use super::request_failure::{Answered, RequestFailure};

/// A larger object is put in parts, and waits in a file until it is complete. Units: bytes.
const PART_BYTES: usize = 8 << 20;
/// Most parts that S3 takes.
const PARTS_MAX: u64 = 10_000;
/// Parts on their way at a time.
const PARTS_AT_ONCE: usize = 4;
/// Tries of a part.
const TRIES_MAX: u32 = 3;

/// Bytes that wait until all of them are known: in memory, and in a file without a name if they are many.
pub(super) struct Spool {
    file: SpooledTempFile,
    length: u64,
}

impl Spool {
    pub fn new(bucket: &Bucket) -> Spool {
        let file = match &bucket.place.spool {
            Some(folder) => tempfile::spooled_tempfile_in(PART_BYTES, folder),
            None => tempfile::spooled_tempfile(PART_BYTES),
        };
        Spool { file, length: 0 }
    }

    /// Units: bytes.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.length += u64::try_from(count).unwrap_or(u64::MAX);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Puts the spooled bytes under a key. With `is_new`, an object that has it stays.
pub(super) fn put(bucket: &Bucket, key: &Path, mut spool: Spool, is_new: bool) -> io::Result<()> {
    spool.file.seek(SeekFrom::Start(0))?;
    let told = |failure: RequestFailure| failure.into_io(key.as_ref());
    if spool.length <= len(PART_BYTES) {
        let mut bytes = Vec::new();
        spool.file.read_to_end(&mut bytes)?;
        return put_bytes(bucket, key, bytes, is_new).map_err(told);
    }
    let id = bucket
        .ask_again(0, |objects| {
            let key = key.clone();
            async move { objects.create_multipart(&key).await }
        })
        .map_err(told)?;
    let put = put_parts(bucket, key, &id, spool);
    if put.is_err() {
        // Parts that are left take room; a rule of the bucket removes them.
        let (key, id) = (key.clone(), id.clone());
        let _ = bucket.ask(0, move |objects| async move { objects.abort_multipart(&key, &id).await });
    }
    put
}

/// Puts an object by one request. An object that has the key already counts as this one if `is_new`.
pub(super) fn put_bytes(bucket: &Bucket, key: &Path, bytes: Vec<u8>, is_new: bool) -> Answered<()> {
    let length = len(bytes.len());
    let payload = PutPayload::from(bytes);
    let answer = bucket.ask_again(length, |objects| {
        let (key, payload) = (key.clone(), payload.clone());
        let mode = if is_new { PutMode::Create } else { PutMode::Overwrite };
        async move { objects.put_opts(&key, payload, PutOptions::from(mode)).await }
    });
    match answer {
        Err(RequestFailure::Unmet) if is_new => Ok(()),
        answer => answer.map(drop),
    }
}

/// A part on its way.
struct Sent {
    number: usize,
    payload: PutPayload,
    told: Receiver<Option<object_store::Result<PartId>>>,
    /// Its room; `None` of the only one, if there was none.
    held: Option<OwnedSemaphorePermit>,
}

fn put_parts(bucket: &Bucket, key: &Path, id: &str, mut spool: Spool) -> io::Result<()> {
    let part_bytes = usize::try_from(spool.length.div_ceil(PARTS_MAX)).unwrap_or(usize::MAX).max(PART_BYTES);
    let (mut parts, mut sent) = (Vec::new(), VecDeque::new());
    let send = |number: usize, payload: PutPayload, held: Option<OwnedSemaphorePermit>| {
        let (key, id, bytes) = (key.clone(), id.to_owned(), payload.clone());
        let put =
            move |objects: Arc<AmazonS3>| async move { objects.put_part(&key, &id, number, bytes).await };
        let told = bucket.ask_ahead(len(part_bytes), put);
        Sent { number, payload, told, held }
    };
    let take = |mut sent: Sent| -> io::Result<PartId> {
        for _ in 1..TRIES_MAX {
            match bucket.answer(len(part_bytes), &sent.told) {
                // A part that is sent again replaces itself.
                Err(failure) if failure.is_passing() => sent = send(sent.number, sent.payload, sent.held),
                answer => return answer.map_err(|failure| failure.into_io(key.as_ref())),
            }
        }
        bucket.answer(len(part_bytes), &sent.told).map_err(|failure| failure.into_io(key.as_ref()))
    };
    for number in 0.. {
        // Without room there is one part at a time.
        let held = bucket.hold(len(part_bytes));
        let is_full = |sent: &VecDeque<Sent>| sent.len() >= PARTS_AT_ONCE || held.is_none();
        while is_full(&sent)
            && let Some(first) = sent.pop_front()
        {
            parts.push(take(first)?);
        }
        let mut bytes = Vec::new();
        (&mut spool.file).take(len(part_bytes)).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        sent.push_back(send(number, PutPayload::from(bytes), held));
    }
    for rest in sent {
        parts.push(take(rest)?);
    }
    let (key, id) = (key.clone(), id.to_owned());
    let name = key.to_string();
    let completed = bucket
        .ask(spool.length, move |objects| async move { objects.complete_multipart(&key, &id, parts).await });
    completed.map(drop).map_err(|failure| failure.into_io(&name))
}

fn len(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
