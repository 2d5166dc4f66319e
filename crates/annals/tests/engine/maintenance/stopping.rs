//! A repository that is closed while it compacts its log: the compaction ends at once or is done to its end, and says which.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant as Clock};

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit, Rewrite, RewriteRecord, Rewritten};
use annals::storage::Disk;
use annals::storage::simulated_disk::{Fault, SimulatedDisk};
use annals::*;

use crate::support::named::entity;

const SECRET: &str = "geheim-4711-geheim-4711";

/// A memory log that reads one record at a time, slowly.
struct SlowLog {
    inner: MemoryLog,
    reads_count: AtomicU64,
    pause: Mutex<Duration>,
}

impl Log for SlowLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, _: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.reads_count.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(*self.pause.lock().unwrap());
        self.inner.read(from, ReadLimit::ONE)
    }

    fn describe(&self) -> String {
        "slow log".into()
    }

    fn generation(&self) -> u64 {
        self.inner.generation()
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

impl Rewrite for SlowLog {
    fn seal(&self) -> Result<Position> {
        self.inner.seal()
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        self.inner.rewrite(last, change)
    }
}

#[test]
fn a_compaction_that_reads_a_large_log_ends_with_its_repository() {
    let log = Arc::new(SlowLog {
        inner: MemoryLog::new(),
        reads_count: AtomicU64::new(0),
        pause: Mutex::new(Duration::ZERO),
    });
    let repository = Repository::with_log(Arc::clone(&log) as Arc<dyn Log>, Options::default()).unwrap();
    for number in 0..200 {
        let new = NewEntity::new("t").id(&format!("e{number}")).unwrap();
        repository.transact(|t| t.create_entity(new.clone())).unwrap();
    }
    repository.transact(|t| t.purge(&entity("e7"))).unwrap();
    let generation = log.generation();
    let reads_before = log.reads_count.load(Ordering::SeqCst);
    *log.pause.lock().unwrap() = Duration::from_millis(100);
    std::thread::scope(|scope| {
        let compacting = {
            let repository = repository.clone();
            scope.spawn(move || repository.compact())
        };
        while log.reads_count.load(Ordering::SeqCst) < reads_before + 3 {
            std::thread::yield_now();
        }
        let start = Clock::now();
        repository.begin_closing();
        let refused = compacting.join().unwrap().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Closed, "{refused}");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    });
    assert_eq!(log.generation(), generation);
    *log.pause.lock().unwrap() = Duration::ZERO;
    repository.close().unwrap();
    let repository = Repository::with_log(log, Options::default()).unwrap();
    assert_eq!(repository.compact().unwrap().changes_count, 2);
}

fn open(disk: &SimulatedDisk) -> Repository {
    let options = Options { segment_bytes: 4096, ..Options::default() };
    Repository::open_on(Arc::new(disk.clone()), "/repository", options).expect("open")
}

/// A repository with a purged instance, whose values are in the log and in a checkpoint.
fn purged(disk: &SimulatedDisk) -> Repository {
    let repository = open(disk);
    for number in 0..30 {
        let text = format!("{SECRET} {number} {}", "x".repeat(200));
        let is_secret = number < 10;
        let new = NewEntity::new("t").id(&format!("e{number}")).unwrap();
        let new = new.property("text", if is_secret { text.as_str() } else { "plain" });
        repository.transact(|t| t.create_entity(new.clone())).unwrap();
    }
    repository.checkpoint().unwrap();
    for number in 0..10 {
        repository.transact(|t| t.purge(&entity(&format!("e{number}")))).unwrap();
    }
    repository
}

fn files_with_secret(disk: &SimulatedDisk) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    let folders = ["/repository/log", "/repository/checkpoints"].map(Path::new);
    let files = folders
        .into_iter()
        .flat_map(|folder| disk.list(folder).unwrap().into_iter().map(|name| folder.join(name)));
    let found = files.filter(|path| disk.contents(path).is_some_and(|bytes| holds(&bytes)));
    found.map(|path| path.display().to_string()).collect()
}

/// Story: the log of the server said "not compacted", and an old checkpoint kept the purged values until the next start.
#[test]
fn a_compaction_that_meets_the_end_of_its_repository_says_truly_what_it_did() {
    let (mut compacted, mut refused) = (0, 0);
    for operation in 0.. {
        let disk = SimulatedDisk::new();
        let repository = purged(&disk);
        let last = disk.operations_count() + operation;
        let closing = repository.clone();
        disk.observe(Some(Arc::new(move |_, operation| {
            if operation >= last {
                closing.begin_closing();
            }
        })));
        let outcome = repository.compact();
        disk.observe(None);
        let is_over = disk.operations_count() <= last;
        repository.close().unwrap();
        match outcome {
            Ok(report) => {
                compacted += 1;
                assert_eq!(report.changes_count, 20);
                assert_eq!(files_with_secret(&disk), Vec::<String>::new(), "operation {operation}");
            }
            Err(error) => {
                refused += 1;
                assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
                assert!(!error.text().contains("is compacted"), "{error}");
                assert!(!files_with_secret(&disk).is_empty());
            }
        }
        let reopened = open(&disk);
        assert_eq!(reopened.snapshot().entities_count(), 20);
        reopened.compact().unwrap();
        assert_eq!(files_with_secret(&disk), Vec::<String>::new());
        if is_over {
            break;
        }
    }
    assert!(compacted > 1 && refused > 1, "{compacted} and {refused}");
}

#[test]
fn without_room_for_a_checkpoint_the_log_is_compacted_all_the_same() {
    let mut warned = 0;
    for operation in 0.. {
        let disk = SimulatedDisk::new();
        let repository = purged(&disk);
        let first = disk.operations_count();
        disk.fail_at(first + operation, Fault::NoRoom);
        let known_count = repository.warnings().len();
        let outcome = repository.compact();
        let is_over = disk.operations_count() <= first + operation;
        let warnings = repository.warnings().split_off(known_count);
        if outcome.is_ok() {
            let mut left = files_with_secret(&disk);
            // The next opening removes an old segment that could not be removed.
            left.retain(|file| file.contains("checkpoints"));
            assert_eq!(left, Vec::<String>::new(), "operation {operation}");
            warned += usize::from(
                warnings.iter().any(|text| text.contains("the checkpoint after a compaction failed")),
            );
        }
        drop(repository);
        if is_over {
            break;
        }
    }
    assert!(warned > 1, "{warned}");
}
