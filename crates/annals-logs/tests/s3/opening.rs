//! Openings that are refused, each with one sentence, within five seconds.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use annals::ErrorKind;
use annals::log::{Register, Slot};
use annals::storage::Store;
use annals_logs::Options;
use annals_logs::s3::S3Store;

use crate::server::shared;
use crate::support::{new_bucket, new_place, open, place_at, put};

fn refusal(place: &str, options: &Options) -> (ErrorKind, String) {
    refusal_of(|| annals_logs::open_store(place, options).err())
}

/// The kind and the text of a refusal, which must come within five seconds.
pub fn refusal_of(open: impl FnOnce() -> Option<annals::Error>) -> (ErrorKind, String) {
    let start = Instant::now();
    let error = open().expect("the opening is refused");
    assert!(start.elapsed() < Duration::from_secs(5), "{error}: after {:?}", start.elapsed());
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.contains("hunter"), "{text}");
    (error.kind(), text)
}

fn reading() -> Options {
    Options { is_read_only: true, ..Options::default() }
}

#[test]
fn what_is_no_place_of_a_store_is_refused() {
    let cases: [(&str, &str); 6] = [
        ("gs://books", "found gs://"),
        ("/var/lib/annals", "begins with s3://"),
        ("s3://hunter:hunter2@books/a", "expected no key"),
        ("s3://books/a?secret=hunter2", "expected no key"),
        ("s3://books/a?regoin=hunter2", "found 'regoin'"),
        ("s3://books/a?credentials-file=missing", "expected a readable file"),
    ];
    for (place, expected) in cases {
        let (kind, text) = refusal(place, &Options::default());
        assert!(kind == ErrorKind::InvalidArgument && text.contains(expected), "{place}: {text}");
    }
}

#[test]
fn a_bucket_that_is_missing_and_a_service_that_is_not_there_are_refused() {
    for options in [Options::default(), reading()] {
        let (kind, text) = refusal(&place_at(shared().port, "no-such-bucket"), &options);
        assert!(kind == ErrorKind::NotFound && text.contains("create it"), "{text}");
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (kind, text) = refusal(&place_at(free, "books-0"), &options);
        assert!(kind == ErrorKind::Unavailable && text.contains("start it, or correct the place"), "{text}");
        // It accepts connections and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let (kind, text) = refusal(&place_at(silent.local_addr().unwrap().port(), "books-0"), &options);
        assert!(kind == ErrorKind::Unavailable && text.contains("did not answer in time"), "{text}");
    }
}

/// Answers each request with this answer.
fn answering(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 65_536]);
            let head = "Connection: close\r\nContent-Type: application/xml";
            let body = answer.split_once('\n').map_or("", |(_, body)| body);
            let status = answer.lines().next().unwrap_or_default();
            let _ =
                write!(stream, "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    port
}

#[test]
fn answers_of_services_become_one_sentence_each() {
    let error = |code: &str| {
        format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code>\n<Message>No\n way</Message></Error>")
    };
    let cases = [
        ("403 Forbidden", "InvalidAccessKeyId", ErrorKind::InvalidArgument, "correct the key"),
        ("403 Forbidden", "RequestTimeTooSkewed", ErrorKind::InvalidArgument, "set the clock"),
        ("404 Not Found", "NoSuchBucket", ErrorKind::NotFound, "create it"),
        ("501 Not Implemented", "NotImplemented", ErrorKind::Io, "the service refuses a request"),
        ("507 Insufficient Storage", "XMinioStorageFull", ErrorKind::NoRoom, "make room"),
        ("503 Slow Down", "SlowDown", ErrorKind::Unavailable, "503"),
    ];
    for (status, code, expected, part) in cases {
        let answer: &'static str = format!("{status}\n{}", error(code)).leak();
        let (kind, text) = refusal(&place_at(answering(answer), "books"), &reading());
        assert!(kind == expected && text.contains(part), "{status}: {kind:?}: {text}");
    }
    // No service of S3 at all.
    let (kind, text) =
        refusal(&place_at(answering("200 OK\n<html>hello</html>"), "books"), &Options::default());
    assert!(kind == ErrorKind::Unavailable || kind == ErrorKind::InvalidArgument, "{kind:?}: {text}");
}

/// A proxy before the service that takes conditions out of requests, as services do that ignore them.
pub fn ignoring(condition: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let server = TcpStream::connect(("127.0.0.1", shared().port)).unwrap();
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let mut piece = vec![0; 1 << 16];
                while let Ok(count @ 1..) = (&client).read(&mut piece) {
                    let request = String::from_utf8_lossy(&piece[..count])
                        .replace(condition, &format!("x{}", &condition[1..]));
                    if (&server).write_all(request.as_bytes()).is_err() {
                        break;
                    }
                }
                let _ = server.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    port
}

#[test]
fn a_service_that_ignores_conditions_is_refused() {
    let bucket = new_bucket();
    for (condition, expected) in [("if-none-match:", "If-None-Match"), ("if-match:", "If-Match")] {
        let place = place_at(ignoring(condition), &bucket);
        let (kind, text) = refusal(&place, &Options::default());
        assert!(kind == ErrorKind::InvalidArgument && text.contains(expected), "{text}");
        // A reader is not concerned.
        annals_logs::open_store(&place, &reading()).unwrap();
    }
    let place = place_at(shared().port, &bucket);
    let store = open(&place);
    assert_eq!(store.list().unwrap(), Vec::<String>::new(), "proofs leave nothing");
}

#[test]
fn a_reader_reads_and_writes_nothing() {
    let place = new_place();
    let writer = open(&place);
    put(&*writer, "a", b"bytes");
    assert!(writer.swap(Slot::Upkeep, None, b"value").unwrap());
    let reader = S3Store::open(&place, &reading()).unwrap();
    assert_eq!((reader.list().unwrap(), reader.length("a").unwrap()), (vec!["a".to_owned()], 5));
    assert_eq!(reader.get(Slot::Upkeep).unwrap().as_deref(), Some(&b"value"[..]));
    assert!(reader.put("b", &mut |_| Ok(())).is_err() && reader.remove(&["a".to_owned()]).is_err());
    assert_eq!(reader.swap(Slot::Upkeep, Some(b"value"), b"other").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert!(format!("{reader:?}").contains("s3://") && !format!("{reader:?}").contains("hunter2"));
}
