//! More payload than memory: resident set, random gets compared with random reads of the disk, commits compared with a
//! repository without a budget, and a soak test.
//!
//! Loading and reading each run in a fresh process. Before the lab compares gets with raw reads, it drops both files
//! from the page cache (`POSIX_FADV_DONTNEED`), so that both read the disk.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::{
    AttributeDefinition, Id, InstanceId, NewEntity, Options, Patch, Repository, TypeDefinition, ValueType,
    parse_size,
};
use clap::{Args, ValueEnum};
use rustix::fs::{Advice, fadvise};

use crate::graph::Random;
use crate::outcome::Outcome;
use crate::run::{make_folder, median};

/// Entities in one transaction of the bulk load, and transactions in progress at once.
const BATCH: usize = 1_000;
const IN_FLIGHT: usize = 16;
/// Pairs of runs; in each pair both sides take turns.
const ROUNDS: usize = 3;
/// Greatest resident memory, as a multiple of the budget.
const RESIDENT_MAX: f64 = 1.2;
/// Lowest ratio of cold gets to random reads of the disk, and of commits with a budget to commits without.
const GET_RATIO_MIN: f64 = 0.125;
const COMMIT_RATIO_MIN: f64 = 0.4;
/// Entities that the soak test updates, and updates per second.
const UPDATED: usize = 10_000;
const SOAK_UPDATES: u64 = 50;

/// Settings of `larger`.
#[derive(Args)]
pub struct Larger {
    /// The budget.
    #[arg(long, value_name = "SIZE", default_value = "1.5GiB", value_parser = parse_size)]
    memory: u64,
    /// Entities.
    #[arg(long, default_value_t = 4_000_000)]
    elements: usize,
    /// Bytes of the payload of each.
    #[arg(long, default_value_t = 1_024)]
    payload: usize,
    /// Keep the payload in the property index: the first 120 bytes of each then stay in memory.
    #[arg(long)]
    indexed: bool,
    /// How long to soak.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Seconds of each other run.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Folder to write in; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Step of a child process; all steps in order unless given.
    #[arg(long, hide = true)]
    step: Option<Step>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Step {
    Load,
    Read,
    Commit,
}

impl Larger {
    pub fn run(&self) -> Outcome<()> {
        let parent = self.folder.as_deref();
        if let Some(step) = &self.step {
            let parent = parent.unwrap_or(Path::new("."));
            return match step {
                Step::Load => self.load(&parent.join("graph")),
                Step::Read => self.read(parent),
                Step::Commit => self.commit(parent),
            };
        }
        let folder = make_folder(parent)?;
        println!(
            "{} elements with payloads of {} bytes ({:.2} GiB) under a budget of {:.2} GiB",
            self.elements,
            self.payload,
            gibibytes((self.elements * self.payload) as u64),
            gibibytes(self.memory)
        );
        for step in ["load", "read", "commit"] {
            let mut child = std::process::Command::new(std::env::current_exe()?);
            child.args(["larger", "--step", step, "--folder"]).arg(folder.path());
            for (name, value) in [
                ("--memory", self.memory.to_string()),
                ("--elements", self.elements.to_string()),
                ("--payload", self.payload.to_string()),
                ("--minutes", self.minutes.to_string()),
                ("--seconds", self.seconds.to_string()),
            ] {
                child.args([name, &value]);
            }
            child.args(self.indexed.then_some("--indexed"));
            let status = child.status()?;
            if !status.success() {
                return Err(format!("the step {step} failed: {status}").into());
            }
        }
        Ok(())
    }

    fn options(&self) -> Options {
        Options { memory_bytes_max: Some(self.memory), ..Options::default() }
    }

    /// Declares the payload as not indexed, unless the settings want it indexed.
    fn declare(&self, repository: &Repository) -> Outcome<()> {
        let attribute = AttributeDefinition::new("payload", ValueType::String);
        let attribute = if self.indexed { attribute } else { attribute.unindexed() };
        let definition = TypeDefinition::entity("document").attribute(attribute);
        repository.transact(|t| t.define_type(definition.clone()))?;
        Ok(())
    }

    fn print_memory(&self, when: &str) {
        let most = status_bytes("VmHWM:");
        let holds = if most as f64 <= RESIDENT_MAX * self.memory as f64 { "holds" } else { "MISSED" };
        println!(
            "{:<34} {:>12.2} GiB, now {:.2}, budget + 20 % {:.2}: {holds}",
            format!("resident set, most while {when}"),
            gibibytes(most),
            gibibytes(status_bytes("VmRSS:")),
            RESIDENT_MAX * gibibytes(self.memory)
        );
    }

    fn load(&self, path: &Path) -> Outcome<()> {
        let repository = Repository::open_with(path, self.options())?;
        self.declare(&repository)?;
        let start = Instant::now();
        let mut tickets = VecDeque::new();
        for first in (0..self.elements).step_by(BATCH) {
            let mut transaction = repository.transaction();
            for number in first..self.elements.min(first + BATCH) {
                transaction.create_entity(entity(number, self.payload)?)?;
            }
            tickets.push_back(transaction.submit()?);
            if tickets.len() > IN_FLIGHT
                && let Some(oldest) = tickets.pop_front()
            {
                oldest.wait()?;
            }
        }
        for ticket in tickets {
            ticket.wait()?;
        }
        println!("{:<34} {:>12.0} elements/s", "load", self.elements as f64 / start.elapsed().as_secs_f64());
        self.print_memory("loading");
        let start = Instant::now();
        repository.checkpoint()?;
        println!("{:<34} {:>12.1} s", "checkpoint", start.elapsed().as_secs_f64());
        self.print_memory("saving");
        Ok(repository.close()?)
    }

    fn read(&self, folder: &Path) -> Outcome<()> {
        let start = Instant::now();
        let repository = Repository::open_with(folder.join("graph"), self.options())?;
        println!("{:<34} {:>12.1} s", "open from the checkpoint", start.elapsed().as_secs_f64());
        self.print_memory("opening");
        for warning in repository.warnings() {
            println!("warning: {warning}");
        }
        assert_eq!(repository.snapshot().entities_count(), self.elements as u64);
        let raw = raw_file(&folder.join("raw"), self.elements * self.payload)?;
        let (mut ours, mut limit, mut random) = (Vec::new(), Vec::new(), Random::new(7));
        for _ in 0..ROUNDS {
            drop_cached(&raw)?;
            limit.push(self.count(|| {
                let mut buffer = vec![0; self.payload];
                let at = random.below(self.elements) * self.payload;
                Ok(raw.read_exact_at(&mut buffer, at as u64)?)
            })?);
            spill_files()?.iter().try_for_each(drop_cached)?;
            ours.push(self.count(|| self.get(&repository, &mut random))?);
        }
        let warm = self.count(|| self.get(&repository, &mut Random::new(random.next() % 1_000)))?;
        let (ours, limit) = (median(ours), median(limit));
        let holds = if ours >= GET_RATIO_MIN * limit { "holds" } else { "MISSED" };
        println!(
            "{:<34} {ours:>12.0} gets/s, the disk {limit:.0} reads/s, ratio {:.2}, bar {GET_RATIO_MIN}: {holds}",
            "random get, cold",
            ours / limit
        );
        println!("{:<34} {warm:>12.0} gets/s", "random get, from the page cache");
        self.soak(&repository)?;
        self.print_memory("reading and soaking");
        Ok(repository.close()?)
    }

    /// Gets an entity and checks its payload.
    fn get(&self, repository: &Repository, random: &mut Random) -> Outcome<()> {
        let number = random.below(self.elements);
        let snapshot = repository.snapshot();
        let found = snapshot.entity(&id(number)?)?.ok_or("an entity is missing")?;
        let text = found.property("payload").ok_or("a payload is missing")?;
        let is_right = text.as_str().is_some_and(|text| text.len() == self.payload);
        if is_right { Ok(()) } else { Err("another payload".into()) }
    }

    /// How often `work` runs per second.
    fn count(&self, mut work: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
        let (start, mut count) = (Instant::now(), 0u32);
        while start.elapsed().as_secs_f64() < self.seconds {
            work()?;
            count += 1;
        }
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    /// Random gets of all entities on one thread, updates of the payloads of a part on another. Each update makes one
    /// more version, whose author, time and place stay in memory.
    fn soak(&self, repository: &Repository) -> Outcome<()> {
        let (is_over, updates) = (AtomicBool::new(false), AtomicU64::new(0));
        let start = Instant::now();
        let length = Duration::from_secs_f64(60.0 * self.minutes);
        let mut resident = Vec::new();
        std::thread::scope(|scope| -> Outcome<()> {
            let updating = scope.spawn(|| -> annals::Result<()> {
                let mut random = Random::new(9);
                while !is_over.load(Ordering::SeqCst) {
                    let number = random.below(self.elements.min(UPDATED));
                    let patch = Patch::new().set("payload", payload(random.below(1 << 40), self.payload));
                    repository.transact(|t| t.update(&InstanceId::Entity(id(number)?), patch.clone()))?;
                    updates.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_micros(1_000_000 / SOAK_UPDATES));
                }
                Ok(())
            });
            let mut random = Random::new(8);
            let mut next = Duration::ZERO;
            while start.elapsed() < length {
                if start.elapsed() >= next {
                    resident.push(status_bytes("VmRSS:"));
                    next += length / 10;
                }
                self.get(repository, &mut random)?;
            }
            resident.push(status_bytes("VmRSS:"));
            is_over.store(true, Ordering::SeqCst);
            updating.join().map_err(|_| "updating panicked")?.map_err(Into::into)
        })?;
        let told: Vec<String> = resident.iter().map(|bytes| format!("{:.3}", gibibytes(*bytes))).collect();
        println!("{:<34} {} GiB", format!("soak of {} minutes, resident", self.minutes), told.join(" "));
        // The first tenth warms up.
        let growth = resident.last().unwrap_or(&0).saturating_sub(resident[1.min(resident.len() - 1)]);
        let versions = updates.load(Ordering::Relaxed) * 9 / 10;
        println!(
            "{:<34} {:>12.1} MiB after the first tenth, {versions} versions more: {} bytes for each",
            "soak, growth",
            growth as f64 / f64::from(1 << 20),
            growth / versions.max(1)
        );
        Ok(())
    }

    /// Durable commits of one entity each, with the budget and without, in fresh repositories.
    fn commit(&self, folder: &Path) -> Outcome<()> {
        for threads in [1, 10, 100] {
            let (mut with, mut without) = (Vec::new(), Vec::new());
            for round in 0..2 * ROUNDS {
                let place = folder.join(format!("commit-{threads}-{round}"));
                // In pairs with changing order: removing the files of one run slows the next one.
                if (round + round / 2) % 2 == 0 {
                    without.push(self.commit_rate(&place, threads, Options::default())?);
                } else {
                    with.push(self.commit_rate(&place, threads, self.options())?);
                }
            }
            let (with, without) = (median(with), median(without));
            let holds = if with >= COMMIT_RATIO_MIN * without { "holds" } else { "MISSED" };
            println!(
                "{:<34} {with:>12.0} commits/s, without a budget {without:.0}, ratio {:.2}, bar {COMMIT_RATIO_MIN}: {holds}",
                format!("commit, {threads} threads"),
                with / without
            );
        }
        Ok(())
    }

    fn commit_rate(&self, path: &Path, threads: usize, options: Options) -> Outcome<f64> {
        let repository = Repository::open_with(path, options)?;
        self.declare(&repository)?;
        let (start, next) = (Instant::now(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while start.elapsed().as_secs_f64() < self.seconds {
                        let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                        let mut transaction = repository.transaction();
                        let entity = entity(number, self.payload).expect("a valid id");
                        transaction.create_entity(entity).expect("a valid entity");
                        transaction.commit().expect("no two threads touch the same");
                    }
                });
            }
        });
        let rate = next.into_inner() as f64 / start.elapsed().as_secs_f64();
        repository.close()?;
        std::fs::remove_dir_all(path)?;
        Ok(rate)
    }
}

/// An id that looks random but follows from the number, so that no id is stored.
fn id(number: usize) -> annals::Result<Id> {
    let mut random = Random::new(number as u64);
    let (high, low) = (random.next(), random.next());
    Id::new(&format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFF,
        low >> 52,
        low & 0xFFFF_FFFF_FFFF
    ))
}

/// A text without a common beginning, which no compression shortens.
fn payload(number: usize, length: usize) -> String {
    let mut random = Random::new(!(number as u64));
    let mut text = String::with_capacity(length + 16);
    while text.len() < length {
        text.push_str(&format!("{:016x}", random.next()));
    }
    text.truncate(length);
    text
}

fn entity(number: usize, length: usize) -> annals::Result<NewEntity> {
    let entity = NewEntity::new("document")
        .property("size", (number % 1_000) as i64)
        .property("payload", payload(number, length));
    Ok(NewEntity { id: id(number)?, ..entity })
}

/// A file as large as all payloads, to measure the disk.
fn raw_file(path: &Path, bytes: usize) -> Outcome<File> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    let block: Vec<u8> = (0..1 << 20).map(|at: u32| ((at * 31) >> 3) as u8).collect();
    for offset in (0..bytes).step_by(block.len()) {
        file.write_all_at(&block, offset as u64)?;
    }
    Ok(file)
}

/// Writes a file to disk and drops it from the page cache.
fn drop_cached(file: &File) -> Outcome<()> {
    file.sync_all()?;
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// The spill files of this process, which have no names.
fn spill_files() -> Outcome<Vec<File>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")?.flatten() {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        if target.to_string_lossy().contains(".spill") {
            files.push(File::open(entry.path())?);
        }
    }
    Ok(files)
}

fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}
