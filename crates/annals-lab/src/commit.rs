//! Durable commits from many threads, beside the same threads handing the same bytes to one thread that writes and
//! syncs them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::Thread;
use std::time::{Duration, Instant};

use annals::{NewEntity, NewRelationship, Repository};

use crate::report::{Line, Report, median};
use crate::{Limits, Outcome};

/// Pairs of runs, ours and the limit in turn.
const ROUNDS: usize = 3;

pub fn measure(limits: &Limits, folder: &Path, report: &mut Report) -> Outcome<()> {
    for threads in [1, 10, 100, 750] {
        let name = format!("commit-{threads}");
        if !limits.wants(&name) {
            continue;
        }
        let seconds = if limits.quick { 0.2 } else { 2.0 };
        let (mut ours, mut raw, mut sizes) = (Vec::new(), Vec::new(), 0);
        for round in 0..if limits.quick { 1 } else { ROUNDS } {
            let place = folder.join(format!("{name}-{round}"));
            let run = commit(&place, threads, Duration::from_secs_f64(seconds))?;
            sizes = run.bytes_per_commit;
            ours.push(run.per_second);
            raw.push(hand_over(&place.join("raw"), threads, sizes, Duration::from_secs_f64(seconds))?);
        }
        let (ours, raw) = (median(ours), median(raw));
        let bar = (threads == 750 && !limits.quick).then(|| {
            let bar = (raw / 2.0).min(100_000.0);
            (format!("100,000 or half the limit ({bar:.0})"), ours >= bar)
        });
        report.add(Line {
            name,
            value: ours,
            unit: "commits/s",
            limit: Some(raw),
            limit_name: "threads → write + fdatasync",
            bar,
        });
        report.add(Line {
            name: format!("commit-{threads}-bytes"),
            value: sizes as f64,
            unit: "bytes/commit",
            limit: None,
            limit_name: "",
            bar: None,
        });
    }
    Ok(())
}

struct Run {
    per_second: f64,
    bytes_per_commit: usize,
}

/// Each thread grows its own chain: one entity and one relationship a commit.
fn commit(folder: &Path, threads: usize, length: Duration) -> Outcome<Run> {
    let repository = Repository::open(folder)?;
    let bytes_before = repository.log_bytes();
    let start = Instant::now();
    let counts: Vec<u64> = run_threads(threads, |_| {
        let mut before: Option<annals::Id> = None;
        let mut count = 0i64;
        while start.elapsed() < length {
            let mut transaction = repository.transaction();
            let entity = NewEntity::new("vertex")
                .property("name", format!("vertex number {count}"))
                .property("size", count)
                .property("weight", count as f64 / 3.0)
                .property("is_even", count % 2 == 0);
            let id = transaction.create_entity(entity).expect("a valid entity");
            if let Some(before) = before.take() {
                let edge = NewRelationship::new("edge", before, id.clone()).property("step", count);
                transaction.create_relationship(edge).expect("a valid relationship");
            }
            transaction.commit().expect("no two threads touch the same");
            before = Some(id);
            count += 1;
        }
        count.unsigned_abs()
    });
    let elapsed = start.elapsed().as_secs_f64();
    let commits: u64 = counts.iter().sum();
    assert_eq!(repository.snapshot().entities_count(), commits, "every acknowledged commit is visible");
    let bytes = repository.log_bytes() - bytes_before;
    Ok(Run {
        per_second: commits as f64 / elapsed,
        bytes_per_commit: usize::try_from(bytes / commits.max(1))?,
    })
}

fn run_threads<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let spawn = |number| {
            std::thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, move || work(number))
                .expect("the system gives a thread")
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    })
}

/// What waits to be written, and who waits for it.
#[derive(Default)]
struct Pile {
    bytes: Vec<u8>,
    waiting: Vec<(Arc<AtomicBool>, Thread)>,
    is_over: bool,
}

/// The limit: threads hand bytes to one thread that writes, syncs and wakes them, each by itself.
fn hand_over(path: &Path, threads: usize, size: usize, length: Duration) -> Outcome<f64> {
    let file = File::create(path)?;
    file.write_all_at(&vec![0; FILE_BYTES as usize], 0)?;
    file.sync_all()?;
    let pile = Arc::new((Mutex::new(Pile::default()), Condvar::new()));
    let writer = {
        let pile = Arc::clone(&pile);
        std::thread::spawn(move || write_pile(&pile, &file))
    };
    let payload = vec![7u8; size];
    let start = Instant::now();
    let counts: Vec<u64> = run_threads(threads, |_| {
        let is_written = Arc::new(AtomicBool::new(false));
        let mut count = 0;
        while start.elapsed() < length {
            is_written.store(false, Ordering::SeqCst);
            let mut guard = pile.0.lock().expect("no panics");
            guard.bytes.extend_from_slice(&payload);
            guard.waiting.push((Arc::clone(&is_written), std::thread::current()));
            drop(guard);
            pile.1.notify_one();
            while !is_written.load(Ordering::SeqCst) {
                std::thread::park();
            }
            count += 1;
        }
        count
    });
    let per_second = counts.iter().sum::<u64>() as f64 / start.elapsed().as_secs_f64();
    pile.0.lock().expect("no panics").is_over = true;
    pile.1.notify_one();
    writer.join().expect("the writer ends");
    Ok(per_second)
}

/// Where the file begins again. Units: bytes.
const FILE_BYTES: u64 = 64 << 20;

fn write_pile((state, filled): &(Mutex<Pile>, Condvar), file: &File) {
    let mut offset = 0;
    loop {
        let mut guard = state.lock().expect("no panics");
        while guard.bytes.is_empty() && !guard.is_over {
            guard = filled.wait(guard).expect("no panics");
        }
        if guard.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut guard.bytes);
        let waiting = std::mem::take(&mut guard.waiting);
        drop(guard);
        if offset + bytes.len() as u64 > FILE_BYTES {
            offset = 0;
        }
        file.write_all_at(&bytes, offset).expect("the disk takes it");
        file.sync_data().expect("the disk syncs");
        offset += bytes.len() as u64;
        for (is_written, thread) in waiting {
            is_written.store(true, Ordering::SeqCst);
            thread.unpark();
        }
    }
}
