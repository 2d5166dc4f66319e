//! Damaged records and segments: opening them gives a repository or an error, never a panic, never a hang.
//!
//! The corpus of found cases is replayed by every test run. `fuzz/run` looks for more by coverage, this test by chance:
//! `ANNALS_FUZZ_SECONDS=600 ANNALS_FUZZ_SEED=1 cargo test -p annals --test engine fuzz_decoder -- --ignored`

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::damage::{FOLDER, OPTIONS, opens, overwrite, pack, survives, survives_segment, unpack};
use crate::support::operations::{Generator, SHAPES, first_definitions, push};
use crate::support::{Random, number_from_environment};
use annals::log::{FileLog, Log, MemoryLog, ReadLimit};
use annals::storage::Disk;
use annals::storage::simulated_disk::SimulatedDisk;
use annals::{Options, Position, Repository};

fn corpus(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(kind)
}

/// The files of a corpus, each with its name told, so that the last one told is the one that fails.
fn cases(kind: &str) -> impl Iterator<Item = Vec<u8>> {
    let entries = std::fs::read_dir(corpus(kind)).expect("the corpus is in the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "the corpus of {kind} has no case");
    paths.into_iter().map(|path| {
        eprintln!("{}", path.display());
        std::fs::read(path).unwrap()
    })
}

/// The records of a random history.
fn valid_records(seed: u64, steps: usize) -> Vec<Vec<u8>> {
    let log = MemoryLog::new();
    let repository = Repository::with_log(Arc::new(log.clone()), Options::default()).unwrap();
    for definition in first_definitions() {
        repository.transact(|t| t.define_type(definition.clone())).unwrap();
    }
    let shape = SHAPES[(seed % 4) as usize];
    let mut generator =
        Generator { random: Random(seed), shape, instants: Vec::new(), has_homes: seed % 2 == 1 };
    for _ in 0..steps {
        let mut transaction = repository.transaction();
        transaction.author("ada").message("why");
        let operations = generator.transaction();
        let pushed = operations.iter().try_for_each(|operation| push(&mut transaction, operation));
        if let Ok(receipt) = pushed.and_then(|()| transaction.commit()) {
            generator.instants.push(receipt.instant.micros());
        }
    }
    let mut records = Vec::new();
    loop {
        let read = log.read(Position(records.len() as u64 + 1), ReadLimit::default()).unwrap();
        if read.is_empty() {
            return records;
        }
        records.extend(read);
    }
}

/// Changes some bytes: flips, cuts, repeats, inserts, interesting numbers, pieces of other records.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => {
                bytes[at] = *random
                    .choose(&[0x00, 0x17, 0x18, 0x1b, 0x5f, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc2, 0xf6, 0xff])
            }
            3 => bytes.truncate(at),
            4 => bytes.insert(at, random.next() as u8),
            5 => {
                bytes.remove(at);
            }
            6 => {
                let end = (at + random.below(16)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ if !other.is_empty() => {
                let start = random.below(other.len());
                let end = (start + random.below(32)).min(other.len());
                bytes.splice(at..at, other[start..end].iter().copied());
            }
            _ => {}
        }
    }
}

/// Damages one record of a history. Panics with the seed and leaves the case in the corpus.
fn fuzz_records(seed: u64, histories: &[Vec<Vec<u8>>]) -> bool {
    let mut random = Random(seed);
    let mut records = random.choose(histories).clone();
    let other = random.choose(&records).clone();
    let at = random.below(records.len());
    mutate(&mut records[at], &other, &mut random);
    match catch_unwind(AssertUnwindSafe(|| survives(&records))) {
        Ok(is_open) => is_open,
        Err(cause) => {
            let path = corpus("records").join(format!("found-{seed}.records"));
            let _ = std::fs::create_dir_all(corpus("records"))
                .and_then(|()| std::fs::write(&path, pack(&records)));
            eprintln!("seed {seed}: the case is in {}", path.display());
            std::panic::resume_unwind(cause)
        }
    }
}

/// Damages one segment of a file log.
fn fuzz_segment(seed: u64, histories: &[Vec<Vec<u8>>]) -> bool {
    let mut random = Random(seed);
    let records = random.choose(histories);
    let disk = SimulatedDisk::new();
    let log = FileLog::open_on(Arc::new(disk.clone()), FOLDER, OPTIONS).unwrap();
    for (position, record) in (1..).zip(records) {
        log.append(Position(position), &[record]).unwrap();
    }
    drop(log);
    let names = disk.list(Path::new(FOLDER)).unwrap();
    let mut names: Vec<_> = names.into_iter().filter(|name| name.ends_with(".seg")).collect();
    names.sort();
    let path = Path::new(FOLDER).join(random.choose(&names));
    let before = disk.contents(&path).unwrap();
    let mut after = before.clone();
    mutate(&mut after, &before, &mut random);
    overwrite(&disk, &path, &after);
    match catch_unwind(AssertUnwindSafe(|| opens(&disk))) {
        Ok(is_open) => is_open,
        Err(cause) => {
            eprintln!("segment seed {seed}");
            std::panic::resume_unwind(cause)
        }
    }
}

fn histories() -> Vec<Vec<Vec<u8>>> {
    (1..=8).map(|seed| valid_records(seed, 25)).collect()
}

#[test]
fn found_cases_are_survived() {
    for case in cases("records") {
        survives(&unpack(&case));
    }
    for case in cases("segments") {
        survives_segment(&case);
    }
}

#[test]
fn whole_histories_open() {
    for records in histories() {
        assert!(survives(&records));
        assert_eq!(unpack(&pack(&records)), records);
    }
}

#[test]
fn damaged_records_and_segments_are_survived() {
    let histories = histories();
    // Some damage is found, and some leaves a record.
    let opened = (0..1_500).filter(|seed| fuzz_records(*seed, &histories)).count();
    assert!((1..1_500).contains(&opened), "{opened} damaged histories open");
    // The log knows what was acknowledged, so no damage of a segment passes.
    let opened = (0..100).filter(|seed| fuzz_segment(*seed, &histories)).count();
    assert_eq!(opened, 0, "damaged segments open");
}

#[test]
#[ignore = "runs as long as ANNALS_FUZZ_SECONDS says"]
fn fuzz() {
    let seconds = number_from_environment("ANNALS_FUZZ_SECONDS", 60);
    let first =
        number_from_environment("ANNALS_FUZZ_SEED", Instant::now().elapsed().as_nanos() as u64 + 1_000_000);
    let histories = histories();
    let (start, mut seed, mut opened) = (Instant::now(), first, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        opened += u64::from(fuzz_records(seed, &histories));
        if seed.is_multiple_of(16) {
            fuzz_segment(seed, &histories);
        }
        seed += 1;
    }
    eprintln!("{} cases from seed {first} on, of which {opened} were records all the same", seed - first);
}
