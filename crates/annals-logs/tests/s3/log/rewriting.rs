//! Rewritings: what is in force when, two at once, lost answers, and the bytes in the bucket.

use annals::log::{Call, Log, ReadLimit, Rewrite, Term, Token};
use annals::{ErrorKind, Position};

use crate::proxy::{Proxy, Way};
use crate::server::shared;
use crate::support::{
    is_stored, new_log_place, new_place, open_log, open_log_within, open_reader, place_at, read_all, send,
    wait_until,
};

fn change(position: Position, record: &[u8]) -> annals::Result<Option<Vec<u8>>> {
    Ok(record.starts_with(b"secret").then(|| format!("void {position}").into_bytes()))
}

/// Calls of one to three records, of which each seventh is a secret.
fn fill(log: &dyn Log) {
    let mut next = log.tail().unwrap().0 + 1;
    let end = next + 59;
    while next < end {
        let name = |position: u64| match position % 7 {
            0 => format!("secret of {position}"),
            _ => format!("record {position}"),
        };
        let records: Vec<Vec<u8>> =
            (next..=next + next % 3).map(|position| name(position).into_bytes()).collect();
        let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        log.append(Position(next), &slices).unwrap();
        next += records.len() as u64;
    }
}

fn rewritten(records: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let one = |(position, record): (u64, &Vec<u8>)| {
        change(Position(position), record).unwrap().unwrap_or_else(|| record.clone())
    };
    (1..).zip(records).map(one).collect()
}

#[test]
fn a_rewriting_is_read_beside_the_log_and_put_in_place_in_one_step() {
    let place = new_place();
    let log = open_log(&place);
    fill(&*log);
    let before = read_all(&*log);
    let last = log.seal().unwrap();
    let prepared = log.rewrite(last, &mut change).unwrap();
    // The log in force stays as it is, and goes on.
    assert_eq!(read_all(&*log), before);
    log.append(last.next(), &[b"secret later"]).unwrap();
    let mut expected = rewritten(&before);
    expected.push(b"secret later".to_vec());
    assert_eq!(read_all(&*prepared), expected);
    assert_eq!(prepared.read(Position(7), ReadLimit::ONE).unwrap(), [b"void 7"]);
    assert_eq!((log.generation(), prepared.generation()), (0, 1));
    let secrets = (1..=last.0).filter(|position| position % 7 == 0).count() as u64;
    assert_eq!(prepared.report().records_count, secrets);
    assert_eq!(prepared.id(), log.id());
    let refused = prepared.append(last.next().next(), &[b"x"]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    let (other, reader) = (open_log(&place), open_reader(&place));
    let bytes = log.bytes_up_to(last.next());
    prepared.put_in_place().unwrap();
    assert_eq!(read_all(&*log), expected);
    assert_eq!((log.generation(), log.rewritten_since(0)), (1, last));
    assert!(log.bytes_up_to(last.next()) < bytes);
    // Other handles learn it before they have the records.
    for other in [&other, &reader] {
        assert_eq!(other.generation(), 0);
        assert_eq!(other.read(Position(7), ReadLimit::ONE).unwrap(), [b"void 7"]);
        assert_eq!(other.generation(), 1);
        assert_eq!(read_all(&**other), expected);
    }
    other.append(last.next().next(), &[b"after"]).unwrap();
    assert_eq!(open_log(&place).generation(), 1);
    assert_eq!(log.verify().unwrap().records_count, last.0 + 2);
}

#[test]
fn a_rewriting_that_is_dropped_changes_nothing() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    fill(&*log);
    let before = read_all(&*log);
    let last = log.seal().unwrap();
    let objects = bucket.keys("annals/log/");
    let prepared = log.rewrite(last, &mut change).unwrap();
    let again = log.rewrite(Position(1), &mut change).map(|_| ()).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Busy);
    drop(prepared);
    assert_eq!(read_all(&*log), before);
    assert_eq!(bucket.keys("annals/log/"), objects);
    let beyond = log.rewrite(Position(1_000), &mut change).map(|_| ()).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::InvalidArgument);
    let failed = log.rewrite(Position(9), &mut |_, _| Err(annals::Error::new(ErrorKind::Closed, "stop")));
    assert_eq!(failed.map(|_| ()).unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(bucket.keys("annals/log/"), objects);
    // A part of a call.
    let part = log.rewrite(Position(7), &mut change).unwrap();
    part.put_in_place().unwrap();
    assert_eq!(read_all(&*log)[..7], rewritten(&before)[..7]);
    assert_eq!(read_all(&*log)[7..], before[7..]);
}

#[test]
fn of_two_rewritings_at_once_one_is_refused() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    fill(&*log);
    let last = log.seal().unwrap();
    let other = open_log(&place);
    let expected = rewritten(&read_all(&*log));
    let first = log.rewrite(last, &mut change).unwrap();
    let second = other.rewrite(last, &mut change).unwrap();
    second.put_in_place().unwrap();
    let refused = first.put_in_place().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert_eq!((read_all(&*log), log.generation()), (expected, 1));
    assert_eq!(bucket.keys("annals/log/segments/").len(), 1);
    assert_eq!(bucket.holding(b"secret"), Vec::<String>::new());
}

/// A writer was stopped in a compaction, and another one has taken over since.
#[test]
fn a_rewriting_of_an_earlier_term_is_not_put_in_place() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    fill(&*log);
    let before = read_all(&*log);
    let last = log.seal().unwrap();
    let prepared = log.rewrite(last, &mut change).unwrap();
    let next = open_log(&place);
    let call = Call { at: last.next(), token: Token::random(), term: Term(8), records: &[b"term 8"] };
    assert!(is_stored(&next.append_call(&call)));
    let refused = prepared.put_in_place().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert_eq!((read_all(&*next)[..before.len()].to_vec(), next.generation()), (before, 0));
    // Its segments are gone, and the other writer may compact at any time.
    assert_eq!(bucket.keys("annals/log/segments/").len(), 1);
    let last = next.seal().unwrap();
    next.rewrite(last, &mut change).unwrap().put_in_place().unwrap();
    assert_eq!(bucket.holding(b"secret"), Vec::<String>::new());
}

#[test]
fn purged_bytes_leave_the_bucket_at_once_and_their_positions_stay_taken() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    let token = Token::random();
    assert!(is_stored(&send(&*log, 1, token, &[b"first", b"secret: short"])));
    log.append(Position(3), &[&[&b"secret: long "[..], &[b'x'; 300_000]].concat()]).unwrap();
    fill(&*log);
    let stale = open_log(&place);
    let last = log.seal().unwrap();
    assert!(!bucket.holding(b"secret").is_empty());
    log.rewrite(last, &mut change).unwrap().put_in_place().unwrap();
    assert_eq!(bucket.holding(b"secret"), Vec::<String>::new());
    assert_eq!(bucket.keys("annals/log/leaving/"), Vec::<String>::new());
    for log in [&log, &stale, &open_log(&place)] {
        assert!(is_stored(&send(&**log, 1, token, &[b"first", b"secret: short"])));
        assert_eq!(log.read(Position(2), ReadLimit::default()).unwrap()[..2], [&b"void 2"[..], b"void 3"]);
    }
    // A later rewriting works on what the first one left.
    log.append(last.next(), &[b"secret again"]).unwrap();
    let last = log.seal().unwrap();
    log.rewrite(last, &mut change).unwrap().put_in_place().unwrap();
    assert_eq!((bucket.holding(b"secret"), log.generation()), (Vec::new(), 2));
    assert_eq!(log.verify().unwrap().records_count, last.0);
}

/// The answers are lost from the moment at which the rewriting is in force: the next opening removes what is left.
#[test]
fn a_rewriting_whose_removal_was_interrupted_is_ended_by_the_next_opening() {
    let proxy = Proxy::before(shared().port);
    let (bucket, place) = new_log_place();
    let log = open_log_within(&place_at(proxy.port, &bucket.name), 700);
    fill(&*log);
    let expected = rewritten(&read_all(&*log));
    let last = log.seal().unwrap();
    let prepared = log.rewrite(last, &mut change).unwrap();
    std::thread::scope(|scope| {
        let put = scope.spawn(|| prepared.put_in_place());
        let is_in_force = || {
            bucket
                .get("annals/log/manifest")
                .is_some_and(|text| String::from_utf8_lossy(&text).contains("generation 1\n"))
        };
        wait_until(is_in_force);
        proxy.set(Way::LosesAnswers);
        // If the answer of the change itself was lost, it is unknown.
        let outcome = put.join().unwrap();
        assert!(
            outcome.as_ref().is_ok_and(|()| true) || outcome.unwrap_err().kind() == ErrorKind::Unavailable
        );
    });
    let again = open_log(&place);
    assert_eq!((read_all(&*again), again.generation()), (expected, 1));
    wait_until(|| bucket.holding(b"secret").is_empty() && bucket.keys("annals/log/leaving/").is_empty());
}

#[test]
fn a_rewriting_whose_answer_was_lost_is_put_in_place_once() {
    let proxy = Proxy::before(shared().port);
    let (bucket, place) = new_log_place();
    let log = open_log_within(&place_at(proxy.port, &bucket.name), 2_000);
    fill(&*log);
    let expected = rewritten(&read_all(&*log));
    let last = log.seal().unwrap();
    let prepared = log.rewrite(last, &mut change).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Whatever is under way is cut off, now and then.
            for _ in 0..10 {
                std::thread::sleep(std::time::Duration::from_millis(15));
                proxy.cut();
            }
        });
        prepared.put_in_place().unwrap();
    });
    assert_eq!((read_all(&*log), log.generation()), (expected.clone(), 1));
    let again = open_log(&place);
    assert_eq!((read_all(&*again), again.generation()), (expected, 1));
}
