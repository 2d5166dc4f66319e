//! A repository in PostgreSQL, beside what bounds it: run it by hand, on a quiet machine, in a release build.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use annals::log::{Appended, Call, Log, LogId, MemoryLog, ReadLimit, Register};
use annals::{InstanceId, NewEntity, Observer, Options, Patch, Position, Repository, Result};

use crate::support::{new_place, open};

const ROUNDS: usize = 5;
/// Of one measurement.
const TIME: Duration = Duration::from_secs(2);
/// A sleep takes so much longer than it is asked to.
const SLEEP_LATE: Duration = Duration::from_micros(60);

/// The times of appends.
#[derive(Default)]
struct Appends(Mutex<Vec<Duration>>);

impl Observer for Appends {
    fn appended(&self, _: usize, taken: Duration) {
        self.0.lock().unwrap().push(taken);
    }
}

impl Appends {
    fn median(&self) -> Duration {
        let mut times = self.0.lock().unwrap();
        times.sort();
        times[times.len() / 2]
    }
}

/// A log that counts its calls, and may sleep in each append.
struct Watched {
    log: Arc<dyn Log>,
    calls: AtomicU64,
    sleep: Duration,
}

impl Watched {
    fn new(log: Arc<dyn Log>, sleep: Duration) -> Arc<Watched> {
        Arc::new(Watched { log, calls: AtomicU64::new(0), sleep })
    }

    fn called(&self) -> &dyn Log {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &*self.log
    }
}

impl Log for Watched {
    fn tail(&self) -> Result<Position> {
        self.called().tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if !self.sleep.is_zero() {
            std::thread::sleep(self.sleep.saturating_sub(SLEEP_LATE));
        }
        self.called().append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.called().read(from, limit)
    }

    fn describe(&self) -> String {
        self.log.describe()
    }

    fn id(&self) -> LogId {
        self.log.id()
    }

    fn register(&self) -> Option<&dyn Register> {
        self.log.register()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Commits a second, of so many threads that each change an entity of their own; and the median time of an append.
fn commits(log: Arc<dyn Log>, threads: usize) -> (f64, Duration) {
    let appends = Arc::new(Appends::default());
    let observer = Some(Arc::clone(&appends) as Arc<dyn Observer>);
    let repository = Repository::with_log(log, Options { observer, ..Options::default() }).expect("it opens");
    let create = |t: &mut annals::Transaction| t.create_entity(NewEntity::new("t"));
    let ids: Vec<_> = (0..threads).map(|_| repository.transact(create).expect("a commit").0).collect();
    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let count: u64 = std::thread::scope(|scope| {
        let writers = ids.iter().map(|id| {
            let (repository, is_over) = (&repository, &is_over);
            scope.spawn(move || {
                let mut count = 0;
                while !is_over.load(Ordering::Relaxed) {
                    count += 1;
                    let patch = Patch::new().set("n", count);
                    let changed =
                        repository.transact(|t| t.update(&InstanceId::Entity(id.clone()), patch.clone()));
                    changed.expect("a commit");
                }
                u64::try_from(count).unwrap()
            })
        });
        let writers: Vec<_> = writers.collect();
        std::thread::sleep(TIME);
        is_over.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let rate = count as f64 / start.elapsed().as_secs_f64();
    repository.close().expect("it closes");
    (rate, appends.median())
}

/// Reads of the present a second, on one thread, and the calls of the log during them.
fn reads(repository: &Repository, ids: &[annals::Id], calls: &dyn Fn() -> u64) -> (f64, u64) {
    let before = calls();
    let start = Instant::now();
    let mut count = 0_usize;
    while start.elapsed() < TIME / 2 {
        for _ in 0..1_000 {
            let snapshot = repository.snapshot();
            let id = &ids[count.wrapping_mul(7_919) % ids.len()];
            assert!(snapshot.entity(id).expect("a read").is_some());
            count += 1;
        }
    }
    (count as f64 / start.elapsed().as_secs_f64(), calls() - before)
}

fn filled(repository: &Repository) -> Vec<annals::Id> {
    let fill = |t: &mut annals::Transaction| {
        let create = |n: i64| t.create_entity(NewEntity::new("t").property("n", n));
        (0..20_000).map(create).collect::<Result<Vec<_>>>()
    };
    repository.transact(fill).expect("a commit").0
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn commits_beside_a_log_in_memory_that_takes_as_long() {
    for threads in [1, 10, 100] {
        let mut ratios = Vec::new();
        let mut lines = String::new();
        for _ in 0..ROUNDS {
            let (rate, took) = commits(open(&new_place()), threads);
            let sleeping = Watched::new(Arc::new(MemoryLog::new()), took);
            let (bound, bound_took) = commits(sleeping, threads);
            ratios.push(rate / bound);
            let _ = writeln!(lines, "  {rate:.0}/s at {took:?}, beside {bound:.0}/s at {bound_took:?}");
        }
        print!("{threads} threads: median ratio {:.3}\n{lines}", median(ratios));
    }
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn reads_of_the_present_call_no_log() {
    let watched = Watched::new(open(&new_place()), Duration::ZERO);
    let log = Arc::clone(&watched) as Arc<dyn Log>;
    let repository = Repository::with_log(log, Options::default()).expect("it opens");
    let folder = tempfile::tempdir().expect("a folder");
    let beside = Repository::open(folder.path()).expect("it opens");
    let (ids, ids_beside) = (filled(&repository), filled(&beside));
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (rate, calls) = reads(&repository, &ids, &|| watched.calls.load(Ordering::Relaxed));
        let (bound, _) = reads(&beside, &ids_beside, &|| 0);
        assert_eq!(calls, 0, "calls of the log");
        ratios.push(rate / bound);
        println!("  {rate:.0} reads/s, beside a folder {bound:.0}/s");
    }
    println!("reads: no calls; median ratio {:.3}", median(ratios));
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn lag_of_a_follower_at_5000_commits_a_second() {
    const THREADS: usize = 50;
    const RATE: f64 = 5_000.0;
    let place = new_place();
    let writer = Repository::with_log(open(&place), Options::default()).expect("it opens");
    let follower = Repository::with_log(open(&place), Options::read_only()).expect("it opens");
    // When each position was acknowledged.
    let acknowledged: RwLock<Vec<Option<Instant>>> = RwLock::new(vec![None; 400_000]);
    let is_over = AtomicBool::new(false);
    let mut lags: Vec<Duration> = Vec::new();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (writer, acknowledged, is_over) = (&writer, &acknowledged, &is_over);
            scope.spawn(move || {
                for number in 0_u32.. {
                    let due = start + Duration::from_secs_f64(f64::from(number) * THREADS as f64 / RATE);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let create = |t: &mut annals::Transaction| {
                        t.create_entity(NewEntity::new("t").property("thread", thread as i64))
                    };
                    let (_, receipt) = writer.transact(create).expect("a commit");
                    let at = usize::try_from(receipt.position.0).unwrap();
                    acknowledged.write().unwrap()[at] = Some(Instant::now());
                }
            });
        }
        let mut seen = 0;
        while start.elapsed() < 10 * TIME {
            let position = usize::try_from(follower.snapshot().position().0).unwrap();
            let now = Instant::now();
            if position == seen {
                std::thread::sleep(Duration::from_micros(200));
                continue;
            }
            let known = acknowledged.read().unwrap();
            lags.extend(
                known[seen + 1..=position].iter().flatten().map(|at| now.saturating_duration_since(*at)),
            );
            seen = position;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    lags.sort();
    let share = |of: usize| lags[(lags.len() * of / 1_000).min(lags.len() - 1)];
    let rate = writer.snapshot().position().0 as f64 / start.elapsed().as_secs_f64();
    println!(
        "lag at {rate:.0} commits/s: median {:?}, p99 {:?}, greatest {:?}",
        share(500),
        share(990),
        share(1_000)
    );
}
