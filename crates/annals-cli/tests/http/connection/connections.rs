//! Many connections: the server takes as many as the system gives it files for, and refuses the next one at once.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{Server, read_answer};

const GET: &[u8] = b"GET /v1/types HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Connections that have had an answer and stay open.
fn used(server: &Server, count: usize) -> Vec<TcpStream> {
    let mut streams: Vec<TcpStream> = (0..count).map(|_| server.connect()).collect();
    streams.iter_mut().for_each(answered);
    streams
}

/// Sends a request, and reads its answer.
fn answered(stream: &mut TcpStream) {
    stream.write_all(GET).unwrap();
    let answer = read_answer(&mut BufReader::new(stream), false).expect("the connection stays open");
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// The answer to a connection that the server does not take, and how long it took.
fn refused(server: &Server) -> (String, Duration) {
    let start = Instant::now();
    let mut text = String::new();
    server.connect().read_to_string(&mut text).unwrap();
    (text, start.elapsed())
}

#[test]
fn a_low_soft_limit_of_open_files_is_raised() {
    let folder = folder();
    let server = Server::start_with_files(&folder.path().join("repository"), "ulimit -Sn 128", &[]);
    let mut open = used(&server, 400);
    // All of them are open at the same time.
    open.iter_mut().for_each(answered);
}

#[test]
fn the_server_takes_what_the_hard_limit_leaves_and_says_how_many() {
    let folder = folder();
    let repository = folder.path().join("repository");
    let log = folder.path().join("log");
    let log_file = log.display().to_string();
    let arguments = ["--log", "info", "--log-file", log_file.as_str()];
    let server = Server::start_with_files(&repository, "ulimit -n 400", &arguments);
    // A thread of its own writes the log.
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut told = String::new();
    let lines = ["connections_max=300", "fewer connections than connections-max, 20000"];
    while !lines.iter().all(|line| told.contains(line)) {
        assert!(Instant::now() < deadline, "{told}");
        told = std::fs::read_to_string(&log).unwrap_or_default();
    }
    let mut open = used(&server, 300);
    let (text, _) = refused(&server);
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("Retry-After: 1"), "{text}");
    open.iter_mut().for_each(answered);
}

#[test]
fn the_connection_that_is_one_too_many_is_refused_at_once_and_those_in_use_stay() {
    let folder = folder();
    let server = Server::start(&folder.path().join("repository"), &["--connections-max", "50"]);
    // The connections of the start may still be closing.
    std::thread::sleep(Duration::from_millis(200));
    let mut open = used(&server, 50);
    let mut times = Vec::new();
    for _ in 0..21 {
        let (text, time) = refused(&server);
        assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("Retry-After: 1"), "{text}");
        times.push(time);
    }
    times.sort_unstable();
    // A millisecond, with room for a machine that is busy.
    assert!(times[10] < Duration::from_millis(20), "{times:?}");
    open.iter_mut().for_each(answered);
}

#[test]
fn connections_that_send_nothing_make_room_without_a_pause_for_others() {
    let folder = folder();
    let server = Server::start(&folder.path().join("repository"), &["--connections-max", "50"]);
    let silent: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let start = Instant::now();
    let open = used(&server, 40);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!((silent.len(), open.len()), (200, 40));
}

#[test]
fn an_idle_connection_takes_little_memory() {
    const COUNT: usize = 800;
    let folder = folder();
    let server = Server::start(&folder.path().join("repository"), &[]);
    // The server allocates some things once, for instance for each of its threads.
    drop(used(&server, 100));
    let before = server.resident_bytes();
    let open = used(&server, COUNT);
    let each = server.resident_bytes().saturating_sub(before) / COUNT;
    assert!(each <= 16 << 10, "{each} bytes for each of {} connections", open.len());
}
