//! The conformance suite of all logs, as public test functions and a macro that names them.
//!
//! ```
//! use annals::log::conformance::TestedLog;
//! use annals::log::{MemoryLog, log_conformance};
//!
//! log_conformance!(memory, || TestedLog::new(MemoryLog::new()));
//! ```

#![expect(clippy::as_conversions, clippy::expect_used, clippy::indexing_slicing, reason = "tests panic")]

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Appended, Call, Log, RECORD_BYTES_MAX, ReadLimit, Term, Token};
use crate::{ErrorKind, Position};

type OpenHandle = Box<dyn Fn() -> Arc<dyn Log>>;
type Reopen = Box<dyn Fn(Arc<dyn Log>) -> Arc<dyn Log>>;

/// An empty log under test, and the ways to open it again.
pub struct TestedLog {
    log: Arc<dyn Log>,
    handle: Option<OpenHandle>,
    reopen: Option<Reopen>,
    is_remote: bool,
    // Dropped after the log: a temporary folder, a container.
    _keep: Option<Box<dyn Any>>,
}

impl TestedLog {
    /// A subject whose only handle is `log`, which must be empty.
    pub fn new(log: impl Log + 'static) -> TestedLog {
        TestedLog { log: Arc::new(log), handle: None, reopen: None, is_remote: false, _keep: None }
    }

    /// Sets how to open another handle onto the same records. Without it, clones of the one handle race.
    #[must_use]
    pub fn with_handle(mut self, handle: impl Fn() -> Arc<dyn Log> + 'static) -> TestedLog {
        self.handle = Some(Box::new(handle));
        self
    }

    /// Says that an outcome may be unknown, so that the log knows the tokens of all calls.
    #[must_use]
    pub fn remote(mut self) -> TestedLog {
        self.is_remote = true;
        self
    }

    /// Sets how to open the log again after the given handle, the last one, was dropped.
    #[must_use]
    pub fn with_reopen(mut self, reopen: impl Fn(Arc<dyn Log>) -> Arc<dyn Log> + 'static) -> TestedLog {
        self.reopen = Some(Box::new(reopen));
        self
    }

    /// Keeps `thing` for as long as the subject.
    #[must_use]
    pub fn keeping(mut self, thing: impl Any) -> TestedLog {
        self._keep = Some(Box::new(thing));
        self
    }

    fn second_handle(&self) -> Arc<dyn Log> {
        self.handle.as_ref().map_or_else(|| self.log.clone(), |open| open())
    }
}

/// Expands the suite into one named test each: `log_conformance!(name, || TestedLog::new(…));`.
#[macro_export]
#[doc(hidden)]
macro_rules! __log_conformance {
    ($name:ident, $subject:expr) => {
        $crate::__log_conformance!(@tests $name, $subject,
            empty_log_has_tail_zero
            appended_records_read_back
            positions_are_dense_across_appends
            conflict_leaves_log_unchanged
            gap_is_refused
            position_zero_is_refused
            empty_append_is_refused
            too_large_append_is_refused_whole
            limits_are_respected
            a_record_beyond_the_byte_limit_is_read_alone
            large_and_empty_records_read_back
            reading_beyond_the_tail_is_empty
            two_handles_race_and_each_position_has_one_winner
            reads_beside_appends_are_dense_and_whole
            a_call_that_comes_again_is_stored_once
            a_call_that_comes_again_late_is_stored_once
            another_call_does_not_pass_for_the_one_at_its_position
            reopening_keeps_everything
        );
    };
    (@tests $name:ident, $subject:expr, $($test:ident)*) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                fn $test() {
                    $crate::log::conformance::$test(($subject)());
                }
            )*
        }
    };
}

/// The macro under its public name: `annals::log::log_conformance`.
pub use crate::__log_conformance as log_conformance;

fn read_all(log: &dyn Log) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    loop {
        let read = log.read(Position(records.len() as u64 + 1), ReadLimit::default()).expect("read");
        if read.is_empty() {
            return records;
        }
        records.extend(read);
    }
}

fn append(log: &dyn Log, at: u64, records: &[&[u8]]) {
    log.append(Position(at), records).expect("append");
}

fn refused(log: &dyn Log, at: u64, records: &[&[u8]]) -> ErrorKind {
    log.append(Position(at), records).expect_err("append is refused").kind()
}

/// The tail of an empty log is zero, and nothing can be read.
pub fn empty_log_has_tail_zero(subject: TestedLog) {
    assert_eq!(subject.log.tail().expect("tail"), Position::ZERO);
    assert_eq!(read_all(&*subject.log), Vec::<Vec<u8>>::new());
    assert!(!subject.log.describe().is_empty());
}

/// Appended records are read back byte by byte.
pub fn appended_records_read_back(subject: TestedLog) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    append(&*subject.log, 1, &[b"first", &all_bytes, b"\0\0\0\0"]);
    assert_eq!(subject.log.tail().expect("tail"), Position(3));
    assert_eq!(read_all(&*subject.log), [b"first".to_vec(), all_bytes, vec![0; 4]]);
}

/// Positions count 1, 2, 3 … over all appends, and reading may start anywhere.
pub fn positions_are_dense_across_appends(subject: TestedLog) {
    let mut expected: Vec<Vec<u8>> = Vec::new();
    for call in 0..40u64 {
        let records: Vec<Vec<u8>> =
            (0..1 + call % 3).map(|number| format!("{call}-{number}").into_bytes()).collect();
        let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        append(&*subject.log, expected.len() as u64 + 1, &slices);
        expected.extend(records);
        assert_eq!(subject.log.tail().expect("tail"), Position(expected.len() as u64));
    }
    assert_eq!(read_all(&*subject.log), expected);
    for from in 1..=expected.len() {
        let one = subject.log.read(Position(from as u64), ReadLimit::ONE).expect("read");
        assert_eq!(one, expected[from - 1..from]);
    }
}

/// An append at a taken position is a `Conflict` and changes nothing.
pub fn conflict_leaves_log_unchanged(subject: TestedLog) {
    append(&*subject.log, 1, &[b"a", b"b"]);
    for at in [1, 2] {
        assert_eq!(refused(&*subject.log, at, &[b"x", b"y", b"z"]), ErrorKind::Conflict);
    }
    assert_eq!(read_all(&*subject.log), [b"a".to_vec(), b"b".to_vec()]);
    append(&*subject.log, 3, &[b"c"]);
}

/// An append beyond the next position would leave a gap: `InvalidArgument`, and nothing changes.
pub fn gap_is_refused(subject: TestedLog) {
    assert_eq!(refused(&*subject.log, 2, &[b"x"]), ErrorKind::InvalidArgument);
    assert_eq!(subject.log.tail().expect("tail"), Position::ZERO);
    append(&*subject.log, 1, &[b"a"]);
    assert_eq!(refused(&*subject.log, 3, &[b"x"]), ErrorKind::InvalidArgument);
    assert_eq!(read_all(&*subject.log), [b"a".to_vec()]);
}

/// Position zero does not exist, neither to read nor to append.
pub fn position_zero_is_refused(subject: TestedLog) {
    let read = subject.log.read(Position::ZERO, ReadLimit::default()).expect_err("read is refused");
    assert_eq!(read.kind(), ErrorKind::InvalidArgument);
    assert_eq!(refused(&*subject.log, 0, &[b"x"]), ErrorKind::InvalidArgument);
}

/// An append of nothing is a mistake of the caller.
pub fn empty_append_is_refused(subject: TestedLog) {
    assert_eq!(refused(&*subject.log, 1, &[]), ErrorKind::InvalidArgument);
    assert_eq!(subject.log.tail().expect("tail"), Position::ZERO);
}

/// One record beyond the bound refuses the whole call.
pub fn too_large_append_is_refused_whole(subject: TestedLog) {
    let large = vec![0; RECORD_BYTES_MAX + 1];
    assert_eq!(refused(&*subject.log, 1, &[b"small", &large]), ErrorKind::TooLarge);
    assert_eq!(subject.log.tail().expect("tail"), Position::ZERO);
    append(&*subject.log, 1, &[b"a"]);
}

/// A read returns at most as many records and bytes as asked for.
pub fn limits_are_respected(subject: TestedLog) {
    let records: Vec<Vec<u8>> = (0..20u8).map(|number| vec![number; 100]).collect();
    let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    append(&*subject.log, 1, &slices);
    let check = |bytes, count, expected: &[Vec<u8>]| {
        let limit = ReadLimit { bytes, records: count };
        let read = subject.log.read(Position(3), limit).expect("read");
        // A log may return fewer, but at least one.
        assert!(!read.is_empty() && read.len() <= expected.len(), "{} records", read.len());
        assert_eq!(read, expected[..read.len()]);
    };
    check(usize::MAX, 5, &records[2..7]);
    check(350, usize::MAX, &records[2..5]);
    check(300, usize::MAX, &records[2..5]);
    check(usize::MAX, usize::MAX, &records[2..]);
}

/// However small the limit, one record is returned, so that reading always advances.
pub fn a_record_beyond_the_byte_limit_is_read_alone(subject: TestedLog) {
    append(&*subject.log, 1, &[&[1; 1000], &[2; 1000]]);
    for limit in [ReadLimit { bytes: 0, records: 10 }, ReadLimit { bytes: 10, records: 0 }] {
        assert_eq!(subject.log.read(Position(1), limit).expect("read"), [vec![1; 1000]]);
    }
}

/// Records without a byte and records of megabytes are stored in one log.
pub fn large_and_empty_records_read_back(subject: TestedLog) {
    let large: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
    append(&*subject.log, 1, &[b"", &large, b""]);
    append(&*subject.log, 4, &[&large]);
    append(&*subject.log, 5, &[b"end"]);
    assert_eq!(read_all(&*subject.log), [vec![], large.clone(), vec![], large, b"end".to_vec()]);
}

/// Reading after the tail is not an error: the result is empty.
pub fn reading_beyond_the_tail_is_empty(subject: TestedLog) {
    append(&*subject.log, 1, &[b"a"]);
    for from in [2, 3, u64::MAX] {
        let read = subject.log.read(Position(from), ReadLimit::default()).expect("read");
        assert_eq!(read, Vec::<Vec<u8>>::new());
    }
}

/// Two writers append wherever the tail is; every position goes to exactly one of them.
pub fn two_handles_race_and_each_position_has_one_winner(subject: TestedLog) {
    const WINS: u64 = 100;
    let handles = [subject.log.clone(), subject.second_handle()];
    let won: Vec<Vec<(u64, Vec<u8>)>> = std::thread::scope(|scope| {
        let writers: Vec<_> =
            handles.iter().enumerate().map(|(who, log)| scope.spawn(move || race(who, log, WINS))).collect();
        writers.into_iter().map(|writer| writer.join().expect("writer")).collect()
    });
    let mut expected: Vec<(u64, Vec<u8>)> = won.into_iter().flatten().collect();
    expected.sort();
    let found: Vec<(u64, Vec<u8>)> = (1..).zip(read_all(&*subject.log)).collect();
    assert_eq!(found, expected);
}

/// Appends until `wins` calls succeeded; returns the records by position.
fn race(who: usize, log: &Arc<dyn Log>, wins: u64) -> Vec<(u64, Vec<u8>)> {
    let mut won = Vec::new();
    for number in 0..wins {
        let records = [format!("{who}-{number}-a").into_bytes(), format!("{who}-{number}-b").into_bytes()];
        loop {
            let at = log.tail().expect("tail").next();
            match log.append(at, &[&records[0], &records[1]]) {
                Ok(()) => break won.extend([(at.0, records[0].clone()), (at.0 + 1, records[1].clone())]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
        }
    }
    won
}

/// A reader beside a writer sees the records in order, whole, and never one beyond the tail.
pub fn reads_beside_appends_are_dense_and_whole(subject: TestedLog) {
    const RECORDS: u64 = 300;
    let record = |position: u64| position.to_le_bytes().repeat(1 + (position % 50) as usize);
    let is_done = AtomicBool::new(false);
    let reader = subject.second_handle();
    std::thread::scope(|scope| {
        let checks = scope.spawn(|| {
            let mut next = 1;
            while next <= RECORDS {
                // Order: if the writer was done before the read, the read sees everything.
                let was_done = is_done.load(Ordering::Acquire);
                let read = reader.read(Position(next), ReadLimit { bytes: 2_000, records: 7 }).expect("read");
                assert!(!read.is_empty() || !was_done, "position {next} is not there");
                for found in read {
                    assert_eq!(found, record(next));
                    next += 1;
                }
                assert!(reader.tail().expect("tail").0 >= next - 1);
            }
        });
        for position in 1..=RECORDS {
            append(&*subject.log, position, &[&record(position)]);
        }
        is_done.store(true, Ordering::Release);
        checks.join().expect("reader");
    });
}

fn send(log: &dyn Log, at: u64, token: Token, records: &[&[u8]]) -> Appended {
    log.append_call(&Call { at: Position(at), token, term: Term::default(), records })
}

/// The call that comes again at once, because its answer was lost, is stored, and stored once.
pub fn a_call_that_comes_again_is_stored_once(subject: TestedLog) {
    let log = &*subject.log;
    let mut token = Token::random();
    for call in 0..5u64 {
        let at = 2 * call + 1;
        for _ in 0..3 {
            let outcome = send(log, at, token, &[&at.to_le_bytes(), b"second"]);
            assert!(matches!(outcome, Appended::Stored), "{outcome:?}");
        }
        assert_eq!(log.tail().expect("tail"), Position(at + 1));
        token = token.next();
    }
    assert_eq!(read_all(log).len(), 10);
}

/// A call comes again after later ones of others, also through another handle. Logs whose outcome is never unknown pass.
pub fn a_call_that_comes_again_late_is_stored_once(subject: TestedLog) {
    if !subject.is_remote {
        return;
    }
    let token = Token::random();
    let first: &[&[u8]] = &[b"first", b"second"];
    assert!(matches!(send(&*subject.log, 1, token, first), Appended::Stored));
    let other = subject.second_handle();
    append(&*other, 3, &[b"third"]);
    append(&*other, 4, &[b"fourth"]);
    for log in [&subject.log, &other] {
        assert!(matches!(send(&**log, 1, token, first), Appended::Stored));
        assert_eq!(read_all(&**log), [&b"first"[..], b"second", b"third", b"fourth"]);
    }
}

/// Equal records with another token are another call, and a token says nothing of another position.
pub fn another_call_does_not_pass_for_the_one_at_its_position(subject: TestedLog) {
    let log = &*subject.log;
    let token = Token::random();
    assert!(matches!(send(log, 1, token, &[b"a", b"b"]), Appended::Stored));
    assert!(matches!(send(log, 1, Token::random(), &[b"a", b"b"]), Appended::Taken));
    assert!(matches!(send(log, 2, token, &[b"b"]), Appended::Taken));
    assert!(matches!(send(log, 4, token, &[b"d"]), Appended::Refused(_)));
    assert_eq!(read_all(log), [b"a".to_vec(), b"b".to_vec()]);
    assert!(matches!(send(log, 3, token, &[b"c"]), Appended::Stored));
}

/// A log that can be reopened has kept everything and continues at its tail. Other logs pass.
pub fn reopening_keeps_everything(subject: TestedLog) {
    let TestedLog { mut log, handle, reopen, _keep, .. } = subject;
    drop(handle);
    let Some(reopen) = reopen else { return };
    let mut expected = Vec::new();
    for round in 0..3u8 {
        for number in 0..5u8 {
            append(&*log, expected.len() as u64 + 1, &[&[round, number]]);
            expected.push(vec![round, number]);
        }
        log = reopen(log);
        assert_eq!(log.tail().expect("tail"), Position(expected.len() as u64));
        assert_eq!(read_all(&*log), expected);
    }
}
