//! The limit of writes: a client without a server, which writes to a file and syncs it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::harness::{Cell, Figure, LoadRecord, LoadStep};
use crate::latencies::{Latencies, encode_counts};
use crate::lines::HandOver;
use crate::outcome::Outcome;

/// Bytes that Annals writes to its log for a vertex or an edge, about: in a transaction of its own, and in one with many.
const ALONE_BYTES: u64 = 200;
const ELEMENT_BYTES: u64 = 50;

/// A folder for files.
pub struct Disk {
    folder: PathBuf,
    time: Duration,
    threads: &'static [usize],
}

impl Disk {
    pub fn new(cell: &Cell) -> Disk {
        let threads: &[usize] = cell.size(&[1, 4, 16, 100], &[1, 10]);
        Disk {
            folder: cell.arguments.folder.clone(),
            time: Duration::from_secs_f64(cell.size(3.0, 0.3)),
            threads,
        }
    }

    /// The most elements per second: threads hand so many at a time to one that writes and syncs.
    pub fn measure(&self, row: &str, elements: u64) -> Outcome<Figure> {
        let (mut steps, mut best): (Vec<LoadStep>, Option<(f64, Latencies)>) = (Vec::new(), None);
        for threads in self.threads {
            let path = self.folder.join(format!("{row}-{threads}"));
            let bytes = usize::try_from(if elements == 1 { ALONE_BYTES } else { elements * ELEMENT_BYTES })?;
            let (rate, latencies) = self.hand_over(&path, *threads, bytes)?;
            std::fs::remove_file(path)?;
            let p99 = latencies.quantile(0.99);
            steps.push(LoadStep {
                callers: *threads,
                reached: rate,
                p99,
                is_held: true,
                ..LoadStep::default()
            });
            if best.as_ref().is_none_or(|(most, _)| rate > *most) {
                best = Some((rate, latencies));
            }
        }
        let (rate, latencies) = best.ok_or("no number of threads")?;
        let load = LoadRecord {
            callers: steps.iter().find(|step| step.reached >= rate).map_or(0, |step| step.callers),
            seconds: self.time.as_secs_f64(),
            right: latencies.count(),
            throughput: rate,
            steps,
            ..LoadRecord::default()
        };
        Ok(Figure {
            operations: Some(latencies.count()),
            seconds: Some(self.time.as_secs_f64()),
            histogram: Some(encode_counts(latencies.counts().into_iter())?),
            load: Some(load),
            ..Figure::of(rate * elements as f64)
        })
    }

    fn hand_over(&self, path: &std::path::Path, threads: usize, bytes: usize) -> Outcome<(f64, Latencies)> {
        let hand_over = HandOver::start(path, threads, bytes)?;
        let start = Instant::now();
        let pass = |thread: usize| -> Result<Latencies, String> {
            let mut latencies = Latencies::new().map_err(|error| error.to_string())?;
            while start.elapsed() < self.time {
                let begin = Instant::now();
                hand_over.pass(thread).map_err(|error| error.to_string())?;
                latencies.record(begin.elapsed());
            }
            Ok(latencies)
        };
        let mut all = Latencies::new()?;
        std::thread::scope(|scope| -> Outcome<()> {
            let pass = &pass;
            let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || pass(thread))).collect();
            for thread in running {
                all.add(&thread.join().map_err(|_| "a thread that writes panicked")??)?;
            }
            Ok(())
        })?;
        Ok((all.count() as f64 / start.elapsed().as_secs_f64(), all))
    }
}
