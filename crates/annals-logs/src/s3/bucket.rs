//! Requests to a bucket, with deadlines, on the thread of the store.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as Clock};

use annals::{Error, ErrorKind, Instant, Result};
use object_store::aws::{AmazonS3, AmazonS3Builder, AwsCredential};
use object_store::client::CredentialProvider;
use object_store::path::Path;
use object_store::{BackoffConfig, RetryConfig};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::http::Http;
use super::keys::credential;
use super::request_failure::{Answered, RequestFailure};
use super::s3_place::{Addressing, S3Place};
use crate::Options;
use crate::runner::Runner;

/// The room of readers and uploads is counted in these. Units: bytes.
const ROOM_UNIT: u64 = 1024;
/// A request has a second more for each of these. Units: bytes.
const BYTES_A_SECOND: u64 = 4 * 1024 * 1024;
/// Tries of a request that may be repeated, and the pause after the first of them.
const TRIES_MAX: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);
/// The key is read again after so long.
const KEY_MAX: Duration = Duration::from_secs(60);

/// A bucket, and the thread that sends requests to it.
pub(super) struct Bucket {
    pub place: S3Place,
    pub is_read_only: bool,
    pub deadline: Duration,
    objects: Arc<AmazonS3>,
    runner: Runner,
    http: Http,
    /// The room for what readers ask for ahead, and for parts of uploads that are sent at the same time.
    room: Arc<Semaphore>,
}

impl Bucket {
    /// Errors: `InvalidArgument` for a key or certificates that cannot be read.
    pub fn new(place: S3Place, options: &Options) -> Result<Bucket> {
        let variable = |name: &str| std::env::var_os(name);
        // Errors of the key come at once.
        let first = credential(&place, &variable)?;
        let http = Http::new(&place)?;
        let runner = Runner::start("annals-s3")?;
        let key = Key { place: place.clone(), known: Mutex::new((Arc::new(first), Clock::now())) };
        let region = place.region.clone().or_else(|| {
            let names = ["AWS_REGION", "AWS_DEFAULT_REGION"];
            names.into_iter().find_map(|name| std::env::var(name).ok())
        });
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&place.bucket)
            .with_region(region.unwrap_or_else(|| "us-east-1".to_owned()))
            .with_credentials(Arc::new(key))
            .with_retry(no_retries())
            .with_virtual_hosted_style_request(place.addressing == Addressing::Virtual)
            .with_http_connector(http.clone());
        if let Some(endpoint) = &place.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
        }
        let objects = builder.build().map_err(|error| {
            Error::new(ErrorKind::InvalidArgument, format!("{place}: {error}; correct the place"))
        })?;
        let (is_read_only, deadline) = (options.is_read_only, options.deadline);
        let units = usize::try_from(options.ahead_bytes_max / ROOM_UNIT).unwrap_or(usize::MAX);
        let room = Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS)));
        Ok(Bucket { place, is_read_only, deadline, objects: Arc::new(objects), runner, http, room })
    }

    /// Room for bytes in memory, until it is dropped; `None` if there is none.
    pub fn hold(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(ROOM_UNIT)).ok()?;
        Arc::clone(&self.room).try_acquire_many_owned(units).ok()
    }

    /// The key of an object. Shape: the same text in requests.
    pub fn key(&self, folder: &str, name: &str) -> Answered<Path> {
        Path::parse(self.place.key(folder, name)).map_err(|error| {
            let text = format!("{}: expected a name of an object, found {name:?}: {error}", self.place);
            RequestFailure::Refused(Error::new(ErrorKind::InvalidArgument, text))
        })
    }

    /// The deadline of a request with so many bytes.
    pub fn limit_of(&self, bytes: u64) -> Duration {
        self.deadline.saturating_add(Duration::from_secs(bytes / BYTES_A_SECOND))
    }

    /// Sends a request once.
    pub fn ask<T, F>(&self, bytes: u64, task: impl FnOnce(Arc<AmazonS3>) -> F) -> Answered<T>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let limit = self.limit_of(bytes);
        let task = task(Arc::clone(&self.objects));
        match self.runner.wait(limit, async move { tokio::time::timeout(limit, task).await }) {
            Some(Ok(answer)) => answer.map_err(|error| RequestFailure::of(&self.place, &error)),
            Some(Err(_)) | None => Err(RequestFailure::late(&self.place)),
        }
    }

    /// Sends a request again while its failure may pass, within the deadline of one: for requests whose repeats change
    /// nothing.
    pub fn ask_again<T, F>(&self, bytes: u64, task: impl Fn(Arc<AmazonS3>) -> F) -> Answered<T>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let end = Clock::now() + self.limit_of(bytes);
        let mut pause = PAUSE;
        for _ in 1..TRIES_MAX {
            let answer = self.ask(bytes, &task);
            let is_passing = answer.as_ref().is_err_and(RequestFailure::is_passing);
            if !is_passing || Clock::now() + pause >= end {
                return answer;
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        self.ask(bytes, &task)
    }

    /// Sends a request and does not wait for its answer, which comes through the channel.
    pub fn ask_ahead<T, F>(
        &self,
        bytes: u64,
        task: impl FnOnce(Arc<AmazonS3>) -> F,
    ) -> Receiver<Option<object_store::Result<T>>>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let limit = self.limit_of(bytes);
        let task = task(Arc::clone(&self.objects));
        let (tell, told) = sync_channel(1);
        self.runner.go(async move {
            // The caller may be gone.
            let _ = tell.send(tokio::time::timeout(limit, task).await.ok());
        });
        told
    }

    /// The answer to a request that was sent ahead.
    pub fn answer<T>(&self, bytes: u64, told: &Receiver<Option<object_store::Result<T>>>) -> Answered<T> {
        match told.recv_timeout(self.limit_of(bytes).saturating_mul(2)) {
            Ok(Some(answer)) => answer.map_err(|error| RequestFailure::of(&self.place, &error)),
            Ok(None) | Err(_) => Err(RequestFailure::late(&self.place)),
        }
    }

    /// The clock of the service at its latest answer; `None` if no answer told it.
    pub fn seen_clock(&self) -> Option<Instant> {
        self.http.seen_clock()
    }
}

/// The engine repeats what may be repeated.
fn no_retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 0, retry_timeout: Duration::ZERO }
}

/// The key that signs requests.
struct Key {
    place: S3Place,
    known: Mutex<(Arc<AwsCredential>, Clock)>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl CredentialProvider for Key {
    type Credential = AwsCredential;

    fn get_credential<'s, 'f>(
        &'s self,
    ) -> Pin<Box<dyn Future<Output = object_store::Result<Arc<AwsCredential>>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            // A file that is being replaced cannot be read for a moment: the key of before serves on.
            if known.1.elapsed() >= KEY_MAX
                && let Ok(found) = credential(&self.place, &|name| std::env::var_os(name))
            {
                *known = (Arc::new(found), Clock::now());
            }
            Ok(Arc::clone(&known.0))
        })
    }
}
