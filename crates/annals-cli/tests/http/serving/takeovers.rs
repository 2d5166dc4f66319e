//! Takeovers through the packaged proxy beside a hundred clients: how long until the next commit is acknowledged.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::standby::{address, new_place, role, start};
use crate::http::connection::nginx::Nginx;
use crate::support::{Answer, Server, read_answer};

/// Clients at a time.
const CLIENTS: usize = 100;
/// The pause of a client after each answer: together they send a write each two milliseconds.
const PAUSE: Duration = Duration::from_millis(200);
/// Longest time of one step.
const STEP_MAX: Duration = Duration::from_secs(30);
/// A follower has what is acknowledged within this time.
const BEHIND_MAX: Duration = Duration::from_secs(1);

/// The outcomes that the clients were told.
#[derive(Default)]
struct Told {
    acknowledged: AtomicU64,
    /// Writes whose outcome is unknown.
    unknown: AtomicU64,
    /// The latest acknowledged write: when it was begun, when its answer came, and its position.
    latest: Mutex<Option<(Instant, Instant, u64)>>,
    is_over: AtomicBool,
}

/// Ends the clients, also when the test fails.
struct Over<'t>(&'t AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends a write on a connection that is kept; `None` if it ends without an answer.
fn write(kept: &mut Option<BufReader<TcpStream>>, proxy: SocketAddr, id: &str) -> Option<Answer> {
    let mut stream = match kept.take() {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect_timeout(&proxy, STEP_MAX).ok()?;
            stream.set_read_timeout(Some(STEP_MAX)).ok()?;
            BufReader::new(stream)
        }
    };
    let body = json!({"id": id, "type": "thing"}).to_string();
    let head = "POST /v1/entities HTTP/1.1\r\nhost: annals.example\r\ncontent-type: application/json";
    let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.get_mut().write_all(request.as_bytes()).ok()?;
    let answer = read_answer(&mut stream, false)?;
    if answer.header("connection") != Some("close") {
        *kept = Some(stream);
    }
    Some(answer)
}

/// Writes until it is over.
fn run_client(client: usize, proxy: SocketAddr, told: &Told) {
    let mut kept = None;
    for number in 0.. {
        if told.is_over.load(Ordering::Relaxed) {
            return;
        }
        write_and_tell(&mut kept, proxy, &format!("c{client}-{number}"), told);
        std::thread::sleep(PAUSE);
    }
}

/// Writes once, and notes what the answer says.
fn write_and_tell(kept: &mut Option<BufReader<TcpStream>>, proxy: SocketAddr, id: &str, told: &Told) {
    let begun = Instant::now();
    let answer = write(kept, proxy, id);
    match answer.as_ref().map(|answer| answer.status) {
        Some(201) => {
            let position = answer.unwrap().header("annals-position").unwrap().parse().unwrap();
            told.acknowledged.fetch_add(1, Ordering::Relaxed);
            *told.latest.lock().unwrap() = Some((begun, Instant::now(), position));
        }
        // Nothing was written.
        Some(503) => {}
        None | Some(502 | 504) => {
            told.unknown.fetch_add(1, Ordering::Relaxed);
        }
        Some(_) => panic!("{answer:?}"),
    }
}

/// The first write that was begun and acknowledged after an instant. Shape: when its answer came, and the position.
fn first_after(told: &Told, instant: Instant) -> (Instant, u64) {
    loop {
        let latest = *told.latest.lock().unwrap();
        if let Some((begun, answered, position)) = latest
            && begun > instant
        {
            return (answered, position);
        }
        assert!(instant.elapsed() < STEP_MAX, "nobody writes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills the server that writes again and again, while clients write through the proxy. Shape: the time from each kill to the
/// first acknowledged commit, which a follower has then.
fn take_over(count: usize) -> Option<Vec<Duration>> {
    let place = new_place();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--standby", "--host", "annals.example"];
    let mut servers = [start(&place, &arguments), start(&place, &arguments)];
    let follower = start(&place, &["--read-only"]);
    let nginx = Nginx::before_two(folder.path(), [servers[0].address, servers[1].address])?;
    let told = Told::default();
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        let _over = Over(&told.is_over);
        for client in 0..CLIENTS {
            let (told, proxy) = (&told, nginx.address);
            scope.spawn(move || run_client(client, proxy, told));
        }
        for _ in 0..count {
            times.push(take_over_once(&place, &mut servers, &follower, &told));
        }
    });
    let ended = Instant::now();
    write_and_tell(&mut None, nginx.address, "last", &told);
    wait_for(&follower, first_after(&told, ended).1);
    let metrics = follower.get("/metrics").body;
    let found = metrics.lines().find_map(|line| line.strip_prefix("annals_entities ")).unwrap();
    let found: u64 = found.parse().unwrap();
    let [acknowledged, unknown] =
        [&told.acknowledged, &told.unknown].map(|count| count.load(Ordering::Relaxed));
    assert!((acknowledged..=acknowledged + unknown).contains(&found), "{found}, {acknowledged} + {unknown}");
    println!("{acknowledged} writes were acknowledged, the outcome of {unknown} is unknown");
    Some(times)
}

/// Waits until a follower has a position.
fn wait_for(follower: &Server, position: u64) {
    let (begun, position) = (Instant::now(), position.to_string());
    let read = follower.request("GET", "/v1/types", &[("annals-wait-position", &position)], None);
    assert!(read.status == 200 && begun.elapsed() < BEHIND_MAX, "{:?} behind: {read:?}", begun.elapsed());
}

fn take_over_once(place: &str, servers: &mut [Server; 2], follower: &Server, told: &Told) -> Duration {
    let start_of_step = Instant::now();
    let writer = loop {
        let roles = servers.each_ref().map(role);
        match roles.iter().position(|role| role == "writer") {
            Some(writer) if roles[1 - writer] == "standby" => break writer,
            _ => assert!(start_of_step.elapsed() < STEP_MAX, "{roles:?}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    // The clients write.
    first_after(told, Instant::now());
    let killed = Instant::now();
    servers[writer].kill_and_wait();
    let (answered, position) = first_after(told, Instant::now());
    let taken = answered - killed;
    wait_for(follower, position);
    let listen = servers[writer].address.to_string();
    servers[writer] = start(place, &["--standby", "--host", "annals.example", "--listen", &listen]);
    println!("{} killed, a write after {taken:?}", address(&servers[writer]));
    taken
}

#[test]
fn five_takeovers_through_the_proxy_beside_a_hundred_clients() {
    let Some(times) = take_over(5) else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    println!("at most {:?}", times.iter().max());
    assert!(times.iter().all(|time| *time < super::standby::TAKEOVER_MAX), "{times:?}");
}

/// `cargo test --release --workspace --test http fifty_takeovers -- --ignored --nocapture`
#[test]
#[ignore = "it takes five minutes, and measures time: for a machine that does nothing else"]
fn fifty_takeovers_through_the_proxy_take_five_seconds_at_most() {
    let times = take_over(50).expect("nginx");
    println!("at most {:?} of {}: {times:?}", times.iter().max(), times.len());
    assert!(times.iter().all(|time| *time <= Duration::from_secs(5)), "{times:?}");
}
