//! The checkpoint at the end of a repository: when it is written, what a cut or a failure at any step of the end leaves,
//! and what an opening from it still finds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use annals::log::{FileLog, FileOptions, Log};
use annals::storage::simulated_disk::{Fault, SimulatedDisk};
use annals::storage::{Disk, RealDisk};
use annals::*;

use crate::support::{Random, number_from_environment};

const FOLDER: &str = "/repository";

/// Collects warnings, which nobody can ask a closed repository for.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn warned(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// A repository that writes a checkpoint whenever it ends and the log has grown.
fn eager() -> Options {
    Options { checkpoint_end_bytes: 0, checkpoint_log_bytes: u64::MAX, ..Options::default() }
}

/// The same without one.
fn quiet() -> Options {
    Options { checkpoint_end_bytes: u64::MAX, ..eager() }
}

fn open(disk: &SimulatedDisk, options: Options) -> Result<Repository> {
    Repository::open_on(Arc::new(disk.clone()), FOLDER, options)
}

/// The position that the opening began to replay after, and the repository.
fn opened(disk: Arc<dyn Disk>, folder: &Path, options: Options) -> (Position, Repository) {
    let first = Arc::new(Mutex::new(None));
    let told = Arc::clone(&first);
    let on_replay = move |at, _| {
        told.lock().unwrap().get_or_insert(at);
    };
    let options = Options { on_replay: Some(Arc::new(on_replay)), ..options };
    let repository = Repository::open_on(disk, folder, options).expect("open");
    let loaded = first.lock().unwrap().expect("an opening reports where it begins");
    (loaded, repository)
}

/// Commits `count` entities with texts of `bytes` bytes, one by one.
fn commit(repository: &Repository, name: &str, count: u64, bytes: usize) {
    for number in 0..count {
        let new = NewEntity::new("t").id(&format!("{name}{number}")).unwrap();
        let new = new.property("text", "x".repeat(bytes));
        repository.transact(|t| t.create_entity(new.clone())).expect("commit");
    }
}

fn assert_clean(repository: &Repository) {
    assert_eq!(repository.check().expect("check").differences, Vec::<String>::new());
}

#[test]
fn a_repository_that_has_grown_opens_from_the_checkpoint_of_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let disk = || Arc::new(RealDisk);
    let reopened = || opened(disk(), folder.path(), Options::default());
    let repository = Repository::open(folder.path()).unwrap();
    commit(&repository, "few", 100, 100);
    repository.close().unwrap();
    let (loaded, repository) = reopened();
    assert_eq!(loaded, Position(0), "a short log needs no checkpoint");
    commit(&repository, "more", 300, 1_000);
    // The last clone ends as a call of `close` does.
    drop(repository);
    let (loaded, repository) = reopened();
    assert_eq!((loaded, repository.snapshot().position()), (Position(400), Position(400)));
    assert_eq!(repository.warnings(), Vec::<String>::new());
    assert_clean(&repository);
    // Little was written since, as by a single command.
    commit(&repository, "late", 10, 1_000);
    repository.close().unwrap();
    let (loaded, repository) = reopened();
    assert_eq!((loaded, repository.snapshot().position()), (Position(400), Position(410)));
    // A reader begins there, too.
    let (loaded, reader) = opened(disk(), folder.path(), Options::read_only());
    assert_eq!((loaded, reader.snapshot().entities_count()), (Position(400), 410));
    drop(reader);
    commit(&repository, "again", 300, 1_000);
    repository.close().unwrap();
    assert_eq!(reopened().0, Position(710));
}

#[test]
fn a_large_graph_gets_its_checkpoint_once_the_records_since_the_last_one_are_a_part_of_it() {
    let disk = SimulatedDisk::new();
    let repository = open(&disk, eager()).unwrap();
    commit(&repository, "e", 200, 1_000);
    repository.close().unwrap();
    let reopened = || opened(Arc::new(disk.clone()), Path::new(FOLDER), eager());
    let (loaded, repository) = reopened();
    assert_eq!(loaded, Position(200));
    commit(&repository, "few", 5, 1_000);
    repository.close().unwrap();
    let (loaded, repository) = reopened();
    assert_eq!(loaded, Position(200), "5 kB are a small part of 200");
    commit(&repository, "more", 20, 1_000);
    repository.close().unwrap();
    assert_eq!(reopened().0, Position(225));
}

#[test]
fn a_reader_writes_nothing_and_a_panic_takes_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open_with(folder.path(), quiet()).unwrap();
    commit(&repository, "e", 20, 1_000);
    repository.close().unwrap();
    let files = || {
        let mut files = BTreeMap::new();
        for name in ["log", "checkpoints"] {
            for entry in std::fs::read_dir(folder.path().join(name)).into_iter().flatten() {
                let path = entry.unwrap().path();
                let metadata = std::fs::metadata(&path).unwrap();
                files.insert(path, (metadata.len(), metadata.modified().unwrap()));
            }
        }
        files
    };
    let before = files();
    let reader = Repository::open_with(folder.path(), Options { is_read_only: true, ..eager() }).unwrap();
    assert_eq!(reader.snapshot().entities_count(), 20);
    reader.close().unwrap();
    assert_eq!(files(), before);
    let panicked = std::panic::catch_unwind(|| {
        let _repository = Repository::open_with(folder.path(), eager()).unwrap();
        panic!("of the program");
    });
    assert!(panicked.is_err());
    assert!(!folder.path().join("checkpoints").exists());
}

/// Everything that a writer was told is there, the graph is that of its log, and it goes on.
fn assert_whole(disk: &SimulatedDisk, count: u64, place: &str) {
    let reader = open(disk, Options { is_read_only: true, ..eager() });
    if let Ok(reader) = reader {
        assert_eq!(reader.snapshot().entities_count(), count, "{place}");
    }
    let repository = open(disk, eager()).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(repository.snapshot().entities_count(), count, "{place}");
    assert_clean(&repository);
    commit(&repository, "late", 1, 10);
    repository.close().unwrap_or_else(|error| panic!("{place}: {error}"));
    let again = open(&disk.after_power_cut(count), eager()).unwrap();
    assert_eq!(again.snapshot().entities_count(), count + 1, "{place}");
}

/// A repository before its end: one checkpoint, records after it, one of them purged.
fn before_its_end(disk: &SimulatedDisk, options: Options) -> Repository {
    let repository = open(disk, eager()).unwrap();
    commit(&repository, "early", 10, 100);
    repository.close().unwrap();
    let repository = open(disk, options).unwrap();
    commit(&repository, "later", 20, 100);
    let purged = InstanceId::Entity(Id::new("early3").unwrap());
    repository.transact(|t| t.purge(&purged)).unwrap();
    repository
}

#[test]
fn a_power_cut_at_any_step_of_the_end_loses_nothing() {
    let images = Arc::new(Mutex::new(Vec::new()));
    let disk = SimulatedDisk::new();
    let repository = before_its_end(&disk, eager());
    let taken = Arc::clone(&images);
    disk.observe(Some(Arc::new(move |disk: &SimulatedDisk, operation| {
        for image in 0..4 {
            taken.lock().unwrap().push((operation, disk.after_power_cut(operation * 4 + image)));
        }
    })));
    let first = disk.operations_count();
    repository.close().unwrap();
    disk.observe(None);
    let images = std::mem::take(&mut *images.lock().unwrap());
    assert!(images.len() > 4 * 6, "a checkpoint, and the end of the log: {} images", images.len());
    for (operation, image) in images {
        assert_whole(&image, 29, &format!("step {}", operation - first));
    }
    assert_eq!(opened(Arc::new(disk), Path::new(FOLDER), eager()).0, Position(31));
}

#[test]
fn a_failure_at_any_step_of_the_end_is_told_and_loses_nothing() {
    let mut warned_count = 0;
    for fault in [Fault::NoRoom, Fault::Io] {
        for step in 0.. {
            let disk = SimulatedDisk::new();
            let warnings = Arc::new(Warnings::default());
            let observer = Arc::clone(&warnings) as Arc<dyn Observer>;
            let repository = before_its_end(&disk, Options { observer: Some(observer), ..eager() });
            let first = disk.operations_count();
            disk.fail_at(first + step, fault);
            let closed = repository.close();
            let is_over = disk.operations_count() <= first + step;
            disk.fail_at(u64::MAX, fault);
            let warnings = std::mem::take(&mut *warnings.0.lock().unwrap());
            let place = format!("{fault:?} at step {step}");
            match &warnings[..] {
                [] => {}
                [warning] => {
                    assert!(warning.contains("no checkpoint was written when"), "{place}: {warning}");
                    assert_eq!(closed.as_ref().err(), None, "{place}: the checkpoint is only a cache");
                    warned_count += 1;
                }
                more => panic!("{place}: {more:?}"),
            }
            assert!(is_over || closed.is_err() || warnings.len() == 1, "{place}: nobody was told");
            let cut = disk.after_power_cut(step);
            assert_whole(&disk, 29, &place);
            assert_whole(&cut, 29, &place);
            if is_over {
                assert_eq!(closed, Ok(()));
                break;
            }
        }
    }
    assert!(warned_count > 6, "{warned_count}");
}

/// A clone that is dropped after the end must not write into a folder that may be that of the next writer.
#[test]
fn what_is_closed_writes_no_later_checkpoint() {
    let disk = SimulatedDisk::new();
    let repository = before_its_end(&disk, eager());
    let clone = repository.clone();
    let first = disk.operations_count();
    disk.fail_at(first, Fault::Io);
    repository.close().unwrap();
    let next = open(&disk, quiet()).unwrap();
    let operations = disk.operations_count();
    drop(clone);
    assert_eq!(disk.operations_count(), operations);
    drop(next);
}

/// The bytes of the files of the log and of the checkpoints, by path.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files_of(disk: &SimulatedDisk) -> Files {
    let folders = ["log", "checkpoints"].map(|name| Path::new(FOLDER).join(name));
    let paths = folders.iter().flat_map(|folder| {
        disk.list(folder).unwrap_or_default().into_iter().map(move |name| folder.join(name))
    });
    paths.map(|path| (path.clone(), disk.contents(&path).unwrap())).collect()
}

fn disk_of(files: &Files) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    for (path, bytes) in files {
        disk.create(path).unwrap().write_at(bytes, 0).unwrap();
    }
    disk
}

/// How an opening ends: the position, or the kind of the error.
fn end_of(opened: Result<Position>) -> String {
    opened.map_or_else(|error| format!("{:?}", error.kind()), |position| position.to_string())
}

fn end_of_repository(files: &Files, is_read_only: bool) -> String {
    let opened = open(&disk_of(files), Options { is_read_only, ..quiet() });
    end_of(opened.map(|repository| repository.snapshot().position()))
}

fn end_of_log(files: &Files, is_read_only: bool) -> String {
    let (disk, folder) = (Arc::new(disk_of(files)), Path::new(FOLDER).join("log"));
    let opened = match is_read_only {
        true => FileLog::open_read_only_on(disk, folder, FileOptions::default()),
        false => FileLog::open_on(disk, folder, FileOptions::default()),
    };
    end_of(opened.and_then(|log| log.tail()))
}

/// Damage behind the place of the checkpoint is found as it is without one. Damage before it is found when the records
/// there are read.
#[test]
fn an_opening_from_a_checkpoint_finds_the_end_that_the_whole_log_has() {
    let disk = SimulatedDisk::new();
    let repository = open(&disk, eager()).unwrap();
    commit(&repository, "e", 20, 50);
    repository.close().unwrap();
    let segment = Path::new(FOLDER).join("log/00000000000000000001.seg");
    let covered = disk.contents(&segment).unwrap().len();
    let repository = open(&disk, quiet()).unwrap();
    commit(&repository, "late", 4, 50);
    repository.close().unwrap();
    let whole = files_of(&disk);
    let bytes = &whole[&segment];
    let mut damaged = vec![[bytes, &b"\xa7anr and no frame"[..]].concat()];
    for at in covered..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        damaged.extend([flipped, bytes[..at].to_vec(), [&bytes[..at], &[0; 500]].concat()]);
    }
    // With the mark of the last acknowledged record, with one that is behind, and without one.
    let mark = Path::new(FOLDER).join("log/durable");
    let (mut behind, mut without) = (whole.clone(), whole.clone());
    let late = behind.get_mut(&mark).unwrap();
    late[8..16].copy_from_slice(&22u64.to_le_bytes());
    let checksum = crc32c::crc32c(&late[8..48]).to_le_bytes();
    late[4..8].copy_from_slice(&checksum);
    without.remove(&mark);
    let mut found = BTreeMap::new();
    for marked in [&whole, &behind, &without] {
        for bytes in &damaged {
            let mut files = marked.clone();
            files.insert(segment.clone(), bytes.clone());
            let ends = [true, false].map(|is_read_only| end_of_repository(&files, is_read_only));
            assert_eq!(ends, [true, false].map(|is_read_only| end_of_log(&files, is_read_only)));
            *found.entry(ends).or_insert(0) += 1;
        }
    }
    assert!(found.len() >= 5, "{found:?}");
    // Cut at the place of the checkpoint or before, the whole log is read.
    for cut in [covered - 1, covered / 2, 64, 10] {
        let mut files = without.clone();
        files.insert(segment.clone(), bytes[..cut].to_vec());
        let end = end_of_repository(&files, false);
        assert!(["Gap", "Corrupted"].contains(&end.as_str()), "cut at {cut}: {end}");
    }
    let mut early = whole.clone();
    early.get_mut(&segment).unwrap()[covered / 2] ^= 1;
    assert_eq!([end_of_log(&early, false), end_of_repository(&early, false)], ["Corrupted", "24"]);
    let disk = disk_of(&early);
    let repository = open(&disk, quiet()).unwrap();
    assert_eq!(repository.check().unwrap_err().kind(), ErrorKind::Corrupted);
    commit(&repository, "goes-on", 1, 10);
}

/// The records before the checkpoint are read when they are asked for, while others are appended.
#[test]
fn the_past_before_the_checkpoint_is_read_beside_new_commits() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { segment_bytes: 64 << 10, ..eager() };
    let repository = Repository::open_with(folder.path(), options()).unwrap();
    commit(&repository, "e", 10, 1_000);
    let first = InstanceId::Entity(Id::new("e0").unwrap());
    for number in 0..400 {
        repository.transact(|t| t.update(&first, Patch::new().set("number", number))).unwrap();
    }
    repository.close().unwrap();
    for is_read_only in [false, true] {
        let repository = Repository::open_with(folder.path(), Options { is_read_only, ..options() }).unwrap();
        std::thread::scope(|scope| {
            let writing = (!is_read_only).then(|| scope.spawn(|| commit(&repository, "new", 100, 500)));
            for position in (11..411).rev().step_by(7) {
                let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
                let past = repository.snapshot().as_of(as_of).unwrap();
                let found = past.entity(&Id::new("e0").unwrap()).unwrap().unwrap();
                assert_eq!(found.property("number"), Some(Value::from(position as i64 - 11)));
            }
            writing.into_iter().for_each(|writing| writing.join().unwrap());
        });
        assert_clean(&repository);
        repository.close().unwrap();
    }
}

const CHILD_FOLDER: &str = "ANNALS_CLOSING_CHILD_FOLDER";
const CHILD_ROUND: &str = "ANNALS_CLOSING_CHILD_ROUND";

/// Not a test of its own: the process that the next test kills. It commits and closes, again and again.
#[test]
fn child_that_is_killed_while_it_closes() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    let round = std::env::var(CHILD_ROUND).expect("the parent sets it");
    for turn in 0.. {
        let repository = Repository::open_with(&folder, eager()).expect("open what was left");
        commit(&repository, &format!("e{round}-{turn}-"), 20, 2_000);
        // Not println, which the test harness would keep to itself.
        std::io::stdout().write_all(format!("ack {round}-{turn}\n").as_bytes()).expect("tell the parent");
        repository.close().expect("close");
    }
}

#[test]
fn a_process_that_is_killed_while_it_closes_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let mut acknowledged: Vec<String> = Vec::new();
    let mut random = Random(11);
    for round in 0..number_from_environment("ANNALS_KILL_ROUNDS", 10) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "maintenance::closing::child_that_is_killed_while_it_closes"])
            .args(["--nocapture", "--test-threads=1"])
            .env(CHILD_FOLDER, &path)
            .env(CHILD_ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the child");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        // A line is told right before a close.
        let lines = lines.map_while(std::result::Result::ok).filter(|line| line.starts_with("ack "));
        let turns = 1 + random.below(4);
        let mut told: Vec<String> = Vec::new();
        for line in lines.take(turns) {
            told.extend(line.strip_prefix("ack ").map(str::to_owned));
        }
        std::thread::sleep(Duration::from_micros(random.below(8_000) as u64));
        child.kill().expect("kill -9");
        child.wait().expect("the child is gone");
        acknowledged.extend(told);
        let repository = Repository::open_with(&path, eager()).expect("open after kill -9");
        let snapshot = repository.snapshot();
        for name in &acknowledged {
            let last = Id::new(&format!("e{name}-19")).unwrap();
            assert!(snapshot.entity(&last).unwrap().is_some(), "{name} was acknowledged and is lost");
        }
        assert_eq!(repository.warnings(), Vec::<String>::new(), "round {round}");
        assert_clean(&repository);
    }
    assert!(!acknowledged.is_empty());
}
