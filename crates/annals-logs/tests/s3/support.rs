//! Places and stores of tests.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::Position;
use annals::log::{Appended, Call, Log, ReadLimit, Term, Token};
use annals::storage::Store;
use annals_logs::Options;
use annals_logs::s3::{S3Log, S3Store};

use crate::raw::RawBucket;
use crate::server::shared;

/// A file with the key of all tests: Moto takes any.
fn credentials() -> String {
    static FOLDER: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("credentials");
        std::fs::write(&file, "[default]\naws_access_key_id=annals\naws_secret_access_key=hunter2\n")
            .expect("a file");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("its rights");
        }
        folder
    });
    folder.path().join("credentials").display().to_string()
}

/// A bucket of the shared service that no other test has.
pub fn new_bucket() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let bucket = format!("books-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    shared().make_bucket(&bucket);
    bucket
}

/// The place of a bucket through a port.
pub fn place_at(port: u16, bucket: &str) -> String {
    format!("s3://{bucket}/annals?endpoint=http://127.0.0.1:{port}&credentials-file={}", credentials())
}

/// A place in a new bucket.
pub fn new_place() -> String {
    place_at(shared().port, &new_bucket())
}

pub fn open(place: &str) -> Arc<S3Store> {
    Arc::new(
        S3Store::open(place, &Options::default()).unwrap_or_else(|error| panic!("open {place}: {error}")),
    )
}

/// Opens with a deadline. Units: milliseconds.
pub fn open_within(place: &str, deadline_ms: u64) -> Arc<S3Store> {
    let options = Options { deadline: Duration::from_millis(deadline_ms), ..Options::default() };
    Arc::new(S3Store::open(place, &options).unwrap_or_else(|error| panic!("open {place}: {error}")))
}

pub fn put(store: &dyn Store, name: &str, bytes: &[u8]) {
    store.put(name, &mut |out| out.write_all(bytes)).expect("puts an object");
}

pub fn put_named(store: &dyn Store, name: &str, bytes: &[u8]) -> std::io::Result<bool> {
    store.put_named(&mut |out| {
        out.write_all(bytes)?;
        Ok(name.to_owned())
    })
}

pub fn read(store: &dyn Store, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.open(name).expect("it is there").read_to_end(&mut bytes).expect("reads it");
    bytes
}

/// A new bucket of the shared service: its objects, and the place of a log in it.
pub fn new_log_place() -> (RawBucket, String) {
    let (port, name) = (shared().port, new_bucket());
    let place = place_at(port, &name);
    (RawBucket { port, name }, place)
}

pub fn open_log(place: &str) -> Arc<S3Log> {
    open_log_within(place, 4_000)
}

/// Opens with a deadline. Units: milliseconds.
pub fn open_log_within(place: &str, deadline_ms: u64) -> Arc<S3Log> {
    let options = Options { deadline: Duration::from_millis(deadline_ms), ..Options::default() };
    Arc::new(S3Log::open(place, &options).unwrap_or_else(|error| panic!("open {place}: {error}")))
}

/// Opens for reading only.
pub fn open_reader(place: &str) -> Arc<S3Log> {
    let options = Options { is_read_only: true, ..Options::default() };
    Arc::new(S3Log::open(place, &options).unwrap_or_else(|error| panic!("open {place}: {error}")))
}

pub fn send(log: &dyn Log, at: u64, token: Token, records: &[&[u8]]) -> Appended {
    log.append_call(&Call { at: Position(at), token, term: Term(7), records })
}

pub fn is_stored(outcome: &Appended) -> bool {
    matches!(outcome, Appended::Stored)
}

pub fn is_unknown(outcome: &Appended) -> bool {
    matches!(outcome, Appended::Unknown(_))
}

pub fn read_all(log: &dyn Log) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    loop {
        let read = log.read(Position(records.len() as u64 + 1), ReadLimit::default()).expect("read");
        if read.is_empty() {
            return records;
        }
        records.extend(read);
    }
}

/// Waits until it is so; a test that waits longer has failed.
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "it never happened");
        std::thread::sleep(Duration::from_millis(20));
    }
}
