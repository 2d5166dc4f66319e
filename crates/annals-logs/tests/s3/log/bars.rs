//! A repository in S3, beside what bounds it: run it by hand, on a quiet machine, in a release build.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit, Register, Token};
use annals::{InstanceId, NewEntity, Observer, Options, Patch, Position, Repository, Result};
use annals_logs::Place;

use crate::raw::SIGNED;
use crate::server::shared;
use crate::support::{is_stored, new_bucket, new_place, open_log, place_at, send};

const ROUNDS: usize = 5;
/// Of one measurement.
const TIME: Duration = Duration::from_secs(4);
/// A sleep takes so much longer than it is asked to.
const SLEEP_LATE: Duration = Duration::from_micros(60);
/// Elements of the graph that is opened, unless ANNALS_BARS_ELEMENTS says another number.
const ELEMENTS: usize = 4_000_000;

/// The times of appends.
#[derive(Default)]
struct Appends(Mutex<Vec<Duration>>);

impl Observer for Appends {
    fn appended(&self, _: usize, taken: Duration) {
        self.0.lock().unwrap().push(taken);
    }
}

/// A log in memory that sleeps in each append.
struct Sleeping(MemoryLog, Duration);

impl Log for Sleeping {
    fn tail(&self) -> Result<Position> {
        self.0.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        std::thread::sleep(self.1.saturating_sub(SLEEP_LATE));
        self.0.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.0.read(from, limit)
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn register(&self) -> Option<&dyn Register> {
        self.0.register()
    }
}

fn median<T: PartialOrd + Copy>(values: &mut [T]) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("they are ordered"));
    values[values.len() / 2]
}

/// A connection to the service that puts one object after the other, and checks no more than the status.
struct Bare {
    /// `None` once the service has closed it.
    stream: Option<TcpStream>,
    bucket: String,
}

impl Bare {
    fn put(&mut self, name: &str, body: &[u8]) {
        let head = format!(
            "PUT /{}/bare/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\n{SIGNED}\r\nIf-None-Match: *\r\nContent-Length: {}\r\n\r\n",
            self.bucket,
            body.len()
        );
        let mut stream = self.stream.take().unwrap_or_else(connect);
        stream.write_all(&[head.as_bytes(), body].concat()).expect("a request");
        let (mut answer, mut piece) = (Vec::new(), [0; 4_096]);
        while !answer.windows(4).any(|part| part == b"\r\n\r\n") {
            let count = stream.read(&mut piece).expect("an answer");
            assert!(count > 0, "an answer");
            answer.extend_from_slice(&piece[..count]);
        }
        let answer = String::from_utf8_lossy(&answer).to_lowercase();
        assert!(answer.contains(" 200 "), "{answer}");
        let is_kept = answer.starts_with("http/1.1") && !answer.contains("connection: close");
        self.stream = is_kept.then_some(stream);
    }
}

fn connect() -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", shared().port)).expect("the service");
    stream.set_nodelay(true).expect("a socket");
    stream
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn an_append_takes_little_longer_than_its_put() {
    const APPENDS: u64 = 200;
    let record = [7; 1024];
    let bucket = new_bucket();
    let log = open_log(&place_at(shared().port, &bucket));
    let mut bare = Bare { stream: None, bucket };
    let mut ratios = Vec::new();
    for round in 0..ROUNDS as u64 {
        let (mut own, mut raw) = (Vec::new(), Vec::new());
        for number in 1..=APPENDS {
            let at = round * APPENDS + number;
            let start = Instant::now();
            bare.put(&at.to_string(), &record);
            raw.push(start.elapsed());
            let start = Instant::now();
            assert!(is_stored(&send(&*log, at, Token::random(), &[&record])));
            own.push(start.elapsed());
        }
        let (own, raw) = (median(&mut own), median(&mut raw));
        ratios.push(own.as_secs_f64() / raw.as_secs_f64());
        println!("round {round}: log {own:?}, put {raw:?}, ratio {:.3}", ratios[round as usize]);
    }
    println!("median ratio {:.3}", median(&mut ratios));
}

/// Commits a second, of so many threads that each change an entity of their own; and the median time of an append.
fn commits(log: Arc<dyn Log>, threads: usize) -> (f64, Duration) {
    let appends = Arc::new(Appends::default());
    let observer = Some(Arc::clone(&appends) as Arc<dyn Observer>);
    let repository = Repository::with_log(log, Options { observer, ..Options::default() }).expect("it opens");
    let create = |t: &mut annals::Transaction| {
        (0..threads).map(|_| t.create_entity(NewEntity::new("t"))).collect::<Result<Vec<_>>>()
    };
    let ids = repository.transact(create).expect("a commit").0;
    appends.0.lock().unwrap().clear();
    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let count: u64 = std::thread::scope(|scope| {
        let writers = ids.iter().map(|id| {
            let (repository, is_over) = (&repository, &is_over);
            scope.spawn(move || {
                let mut count = 0_u64;
                while !is_over.load(Ordering::Relaxed) {
                    count += 1;
                    let patch = Patch::new().set("n", i64::try_from(count).unwrap());
                    let change = |t: &mut annals::Transaction| {
                        t.update(&InstanceId::Entity(id.clone()), patch.clone())
                    };
                    repository.transact(change).expect("a commit");
                }
                count
            })
        });
        let writers: Vec<_> = writers.collect();
        std::thread::sleep(TIME);
        is_over.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let rate = count as f64 / start.elapsed().as_secs_f64();
    repository.close().expect("it closes");
    let took = median(&mut appends.0.lock().unwrap());
    (rate, took)
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn commits_beside_a_log_in_memory_that_takes_as_long() {
    for threads in [1, 10, 100] {
        let (mut ratios, mut lines) = (Vec::new(), String::new());
        for _ in 0..ROUNDS {
            let (rate, took) = commits(open_log(&new_place()), threads);
            let (bound, bound_took) = commits(Arc::new(Sleeping(MemoryLog::new(), took)), threads);
            ratios.push(rate / bound);
            let _ = writeln!(lines, "  {rate:.0}/s at {took:?}, beside {bound:.0}/s at {bound_took:?}");
        }
        print!("{threads} threads: median ratio {:.3}\n{lines}", median(&mut ratios));
    }
}

/// A way to the service that adds a time to each request.
fn slowly(delay: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", shared().port)) else { continue };
            let _ = (client.set_nodelay(true), server.set_nodelay(true));
            let (mut from, mut to) =
                (server.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || {
                let mut piece = vec![0; 1 << 16];
                while let Ok(count @ 1..) = (&client).read(&mut piece) {
                    // A request begins with its method; what follows is its body.
                    if [&b"GET"[..], b"PUT", b"HEAD", b"DELETE", b"POST"]
                        .iter()
                        .any(|method| piece.starts_with(method))
                    {
                        std::thread::sleep(delay);
                    }
                    if (&server).write_all(&piece[..count]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    port
}

fn elements() -> usize {
    std::env::var("ANNALS_BARS_ELEMENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(ELEMENTS)
}

/// A repository of many entities, with a checkpoint, that was closed.
fn fill(repository: &Repository) {
    const BATCH: usize = 20_000;
    for begun in (0..elements()).step_by(BATCH) {
        let fill = |t: &mut annals::Transaction| {
            let create = |n: usize| {
                t.create_entity(NewEntity::new("t").property("n", i64::try_from(begun + n).unwrap()))
                    .map(drop)
            };
            (0..BATCH.min(elements() - begun)).try_for_each(create)
        };
        repository.transact(fill).expect("a commit");
    }
    repository.checkpoint().expect("a checkpoint");
}

fn start(place: &Place) -> Duration {
    let start = Instant::now();
    let opened = place.open(Options::default()).expect("it opens");
    let took = start.elapsed();
    assert_eq!(opened.snapshot().entities_count(), elements() as u64);
    opened.close().expect("it closes");
    took
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn a_start_from_the_bucket_beside_one_from_a_checkpoint_on_this_machine() {
    let bucket = new_bucket();
    let place = |port| Place::parse(place_at(port, &bucket).as_ref()).expect("a place");
    let remote = place(shared().port);
    let folder = tempfile::tempdir().expect("a folder");
    let local = Place::Folder(folder.path().join("repository"));
    for place in [&remote, &local] {
        let repository = place.open(Options::default()).expect("it opens");
        fill(&repository);
        repository.close().expect("it closes");
    }
    let slow = place(slowly(Duration::from_millis(20)));
    let (mut ratios, mut added) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let [far, near, slow] = [&remote, &local, &slow].map(start);
        ratios.push(far.as_secs_f64() / near.as_secs_f64());
        added.push(slow.as_secs_f64() - far.as_secs_f64());
        println!(
            "round {round}: bucket {far:?}, this machine {near:?}, bucket with 20 ms a request {slow:?}"
        );
    }
    println!("median ratio {:.3}, with 20 ms a request {:+.3} s", median(&mut ratios), median(&mut added));
}
