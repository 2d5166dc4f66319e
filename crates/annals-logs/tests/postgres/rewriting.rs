//! Rewritings: what is in force when, two at once, lost answers, and the bytes in the files of the server.

use std::fs;
use std::path::Path;

use annals::log::{Log, ReadLimit, Token};
use annals::{ErrorKind, Position};

use crate::proxy::Proxy;
use crate::server::shared;
use crate::support::{
    Held, is_stored, new_place, new_schema, open, open_within, place_at, read_all, send, wait_until,
};

fn change(position: Position, record: &[u8]) -> annals::Result<Option<Vec<u8>>> {
    Ok(record.starts_with(b"secret").then(|| format!("void {position}").into_bytes()))
}

/// Calls of one to three records, of which each seventh is a secret.
fn fill(log: &dyn Log) {
    let mut next = 1;
    while next < 60 {
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
    let log = open(&place);
    fill(&*log);
    let before = read_all(&*log);
    let rewrite = log.as_rewrite().unwrap();
    let last = rewrite.seal().unwrap();
    let prepared = rewrite.rewrite(last, &mut change).unwrap();
    // The log in force stays as it is, and goes on.
    assert_eq!(read_all(&*log), before);
    log.append(last.next(), &[b"secret later"]).unwrap();
    let mut expected = rewritten(&before);
    expected.push(b"secret later".to_vec());
    assert_eq!(read_all(&*prepared), expected);
    assert_eq!(prepared.read(Position(7), ReadLimit::ONE).unwrap(), [b"void 7"]);
    assert_eq!((log.generation(), prepared.generation()), (0, 1));
    assert_eq!(
        prepared.report().records_count,
        (1..=last.0).filter(|position| position % 7 == 0).count() as u64
    );
    assert_eq!(prepared.id(), log.id());
    let refused = prepared.append(last.next().next(), &[b"x"]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    let other = open(&place);
    let bytes = log.bytes_up_to(last.next());
    prepared.put_in_place().unwrap();
    assert_eq!(read_all(&*log), expected);
    assert_eq!(log.generation(), 1);
    assert!(log.bytes_up_to(last.next()) < bytes);
    // Another handle learns it with its next answer, before it has the records.
    assert_eq!(other.generation(), 0);
    assert_eq!(other.read(Position(7), ReadLimit::ONE).unwrap(), [b"void 7"]);
    assert_eq!(other.generation(), 1);
    other.append(last.next().next(), &[b"after"]).unwrap();
    assert_eq!(open(&place).generation(), 1);
    assert_eq!(log.verify().unwrap().records_count, last.0 + 2);
}

#[test]
fn a_rewriting_that_is_dropped_changes_nothing() {
    let schema = new_schema();
    let log = open(&place_at(shared().port, &schema));
    fill(&*log);
    let before = read_all(&*log);
    let rewrite = log.as_rewrite().unwrap();
    let prepared = rewrite.rewrite(rewrite.seal().unwrap(), &mut change).unwrap();
    let again = rewrite.rewrite(Position(1), &mut change).map(|_| ()).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Busy);
    drop(prepared);
    assert_eq!(read_all(&*log), before);
    assert_eq!(shared().sql(&format!("select count(*) from {schema}.rewritten")), "0");
    let beyond = rewrite.rewrite(Position(1_000), &mut change).map(|_| ()).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::InvalidArgument);
    let failed = rewrite.rewrite(Position(9), &mut |_, _| Err(annals::Error::new(ErrorKind::Closed, "stop")));
    assert_eq!(failed.map(|_| ()).unwrap_err().kind(), ErrorKind::Closed);
    // A part of a call.
    let part = rewrite.rewrite(Position(7), &mut change).unwrap();
    part.put_in_place().unwrap();
    assert_eq!(read_all(&*log)[..7], rewritten(&before)[..7]);
    assert_eq!(read_all(&*log)[7..], before[7..]);
}

#[test]
fn of_two_rewritings_at_once_one_is_refused() {
    let place = new_place();
    let (log, other) = (open(&place), open(&place));
    fill(&*log);
    let last = log.tail().unwrap();
    let expected = rewritten(&read_all(&*log));
    let first = log.as_rewrite().unwrap().rewrite(last, &mut change).unwrap();
    let second = other.as_rewrite().unwrap().rewrite(last, &mut change).unwrap();
    second.put_in_place().unwrap();
    let refused = first.put_in_place().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert_eq!((read_all(&*log), log.generation()), (expected, 1));
}

#[test]
fn a_rewriting_whose_answer_was_lost_is_put_in_place_once() {
    let schema = new_schema();
    let proxy = Proxy::before(shared().port);
    let log = open_within(&place_at(proxy.port, &schema), 4_000);
    fill(&*log);
    let expected = rewritten(&read_all(&*log));
    let rewrite = log.as_rewrite().unwrap();
    let prepared = rewrite.rewrite(rewrite.seal().unwrap(), &mut change).unwrap();
    // The server has the statement, and does not begin before the answer is sure to be lost.
    let held = Held::begin(shared().port, &format!("select 1 from {schema}.log for update"));
    let waiting =
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%raised%'";
    std::thread::scope(|scope| {
        let put = scope.spawn(|| prepared.put_in_place());
        wait_until(|| shared().sql(waiting) != "0");
        proxy.lose_answers();
        held.commit();
        wait_until(|| shared().sql(&format!("select generation from {schema}.log")) == "1");
        proxy.cut();
        put.join().unwrap().unwrap();
    });
    assert_eq!((read_all(&*log), log.generation()), (expected, 1));
}

/// True if a file of the database holds the bytes; the write-ahead log is left out, which PostgreSQL keeps for a while.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => path.file_name().is_some_and(|name| name != "pg_wal") && holds(&path, bytes),
            false => fs::read(&path).is_ok_and(|found| found.windows(bytes.len()).any(|part| part == bytes)),
        }
    })
}

#[test]
fn purged_bytes_leave_the_files_of_the_server() {
    let server = crate::server::Server::start(&[]);
    let log = open(&place_at(server.port, "one"));
    // In the row, and beside it.
    let (short, long) = (b"secret:short-and-plain".to_vec(), [&b"secret:long-"[..], &[b'x'; 9_000]].concat());
    log.append(Position(1), &[b"first", &short]).unwrap();
    log.append(Position(3), &[&long]).unwrap();
    for number in 4..300u64 {
        log.append(Position(number), &[format!("secret:many-{number}").as_bytes()]).unwrap();
    }
    server.sql("analyze");
    server.sql("checkpoint");
    // Samples would stay in the statistics, and may be compressed there.
    let samples = "select count(*) from pg_stats where tablename = 'call' and attname in ('index', 'body')";
    assert_eq!(server.sql(samples), "0");
    let secrets: [&[u8]; 3] = [b"secret:short", b"secret:long", b"secret:many-200"];
    for secret in secrets {
        assert!(holds(&server.data(), secret), "{secret:?} is not there before");
    }
    let rewrite = log.as_rewrite().unwrap();
    rewrite.rewrite(rewrite.seal().unwrap(), &mut change).unwrap().put_in_place().unwrap();
    server.sql("checkpoint");
    for secret in secrets {
        assert!(!holds(&server.data(), secret), "{secret:?} is still there");
    }
    assert_eq!(server.sql("select generation, is_vacuumed from one.log"), "1|t");
    assert_eq!(read_all(&*log).len(), 299);
}

#[test]
fn purged_bytes_that_could_not_leave_do_so_at_the_next_opening() {
    let server = crate::server::Server::start(&[]);
    let place = place_at(server.port, "one");
    let log = open(&place);
    log.append(Position(1), &[b"secret:held"]).unwrap();
    server.sql("checkpoint");
    // Another client reads the table for a long time.
    let reader = Held::begin(server.port, "select count(*) from one.call");
    let rewrite = log.as_rewrite().unwrap();
    let prepared = rewrite.rewrite(rewrite.seal().unwrap(), &mut change).unwrap();
    prepared.put_in_place().unwrap();
    assert_eq!(server.sql("select is_vacuumed from one.log"), "f");
    assert_eq!(read_all(&*log), [b"void 1"]);
    reader.commit();
    drop(log);
    let log = open(&place);
    wait_until(|| server.sql("select is_vacuumed from one.log") == "t");
    server.sql("checkpoint");
    assert!(!holds(&server.data(), b"secret:held"));
    assert!(is_stored(&send(&*log, 2, Token::random(), &[b"b"])));
}
