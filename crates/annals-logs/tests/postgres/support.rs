//! Places, logs and calls of tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::log::{Appended, Call, Log, ReadLimit, Term, Token};
use annals::{ErrorKind, Position};
use annals_logs::Options;

/// A schema that no other test has.
pub fn new_schema() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("log_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A place of the user `annals` on a port.
pub fn place_at(port: u16, schema: &str) -> String {
    format!("postgres://annals@127.0.0.1:{port}/library?schema={schema}")
}

/// A place of a log that is not there yet, on the shared server.
pub fn new_place() -> String {
    place_at(crate::server::shared().port, &new_schema())
}

pub fn open(place: &str) -> Arc<dyn Log> {
    annals_logs::open(place, &Options::default()).unwrap_or_else(|error| panic!("open {place}: {error}"))
}

/// Opens with a deadline. Units: milliseconds.
pub fn open_within(place: &str, deadline_ms: u64) -> Arc<dyn Log> {
    let options = Options { deadline: Duration::from_millis(deadline_ms), ..Options::default() };
    annals_logs::open(place, &options).unwrap_or_else(|error| panic!("open {place}: {error}"))
}

/// The kind and the text of a refused opening, which must come within five seconds.
pub fn refusal(place: &str, options: &Options) -> (ErrorKind, String) {
    let start = Instant::now();
    let error = annals_logs::open(place, options).err().expect("the opening is refused");
    assert!(start.elapsed() < Duration::from_secs(5), "{error}: after {:?}", start.elapsed());
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.contains("hunter"), "{text}");
    (error.kind(), text)
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

/// A transaction of another client that has done something and is not committed yet.
pub struct Held {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
}

impl Held {
    /// Runs statements in a transaction as `lab`.
    pub fn begin(port: u16, statements: &str) -> Held {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let settings = format!("host=127.0.0.1 port={port} user=lab dbname=library");
        let connected = runtime.block_on(tokio_postgres::connect(&settings, tokio_postgres::NoTls));
        let (client, connection) = connected.expect("connect");
        runtime.spawn(connection);
        runtime.block_on(client.batch_execute(&format!("begin; {statements}"))).expect(statements);
        Held { runtime, client }
    }

    pub fn commit(self) {
        self.runtime.block_on(self.client.batch_execute("commit")).expect("commit");
    }
}

/// Waits until it is so; a test that waits longer has failed.
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "it never happened");
        std::thread::sleep(Duration::from_millis(20));
    }
}
