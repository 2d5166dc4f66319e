//! Random histories of whole repositories on a simulated disk: the power fails, the disk is full, or an operation fails,
//! anywhere, and what is left is compared with a plain model, history included.
//!
//! A run prints its seed. `ANNALS_CRASH_SEED=n` repeats it, `ANNALS_CRASH_IMAGES=n` makes a longer or shorter one.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use annals::storage::simulated_disk::{Fault, SimulatedDisk};
use annals::*;

use crate::support::compare::{compare_all, compare_all_but};
use crate::support::operations::{Generator, Operation, Shape, Timed, first_definitions, push};
use crate::support::reference::{Committed, Reference, View};
use crate::support::{Random, fresh_seed, number_from_environment};

const FOLDER: &str = "/repository";
/// Steps of one history.
const STEPS: usize = 40;
/// Where the clock of a history begins. Units: microseconds since 1970.
const CLOCK_START: i64 = 1_600_000_000_000_000;
/// Images that wait to be looked at.
const IMAGES_WAITING_MAX: usize = 64;

/// The requests of the writer of a history, and their known outcomes.
#[derive(Clone, Default)]
struct Told {
    /// By position: the state after each commit. The last may be one that was asked for and not yet acknowledged.
    states: Vec<Arc<Reference>>,
    acknowledged: u64,
    /// Backups, with the position of those that were acknowledged.
    backups: Vec<(PathBuf, Option<u64>)>,
}

/// The disk after a power cut.
struct Image {
    disk: SimulatedDisk,
    told: Told,
    seed: u64,
    place: String,
}

fn options(random: &mut Random) -> Options {
    let memory_bytes_max = random.one_in(3).then_some(64 << 30);
    // Small segments, so that there are many; no checkpoint but those asked for, and those at the end.
    let checkpoint_end_bytes = if random.one_in(2) { 0 } else { u64::MAX };
    Options {
        memory_bytes_max,
        segment_bytes: 4096,
        checkpoint_log_bytes: u64::MAX,
        checkpoint_end_bytes,
        ..Options::default()
    }
}

fn open(disk: &SimulatedDisk, options: Options) -> Result<Repository> {
    Repository::open_on(Arc::new(disk.clone()), FOLDER, options)
}

fn present(model: &Reference) -> View {
    View { position: model.position, valid: i64::MAX }
}

/// A writer at work.
struct History {
    disk: SimulatedDisk,
    repository: Option<Repository>,
    told: Arc<Mutex<Told>>,
    generator: Generator,
    clock: i64,
    kept: Vec<(Snapshot, Arc<Reference>)>,
    is_compacted: bool,
    /// True if operations may fail.
    has_fault: bool,
}

impl History {
    fn new(seed: u64, disk: SimulatedDisk, has_fault: bool) -> History {
        let mut random = Random(seed);
        let has_homes = !random.one_in(3);
        let shape = *random.choose(&[Shape::Small, Shape::Small, Shape::LargeSets]);
        let told = Told { states: vec![Arc::default()], ..Told::default() };
        History {
            disk,
            repository: None,
            told: Arc::new(Mutex::new(told)),
            generator: Generator { random, shape, instants: Vec::new(), has_homes },
            clock: CLOCK_START,
            kept: Vec::new(),
            is_compacted: false,
            has_fault,
        }
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap()
    }

    fn acknowledged(&self) -> Arc<Reference> {
        let told = self.told();
        Arc::clone(&told.states[told.acknowledged as usize])
    }

    fn run(&mut self) {
        self.reopen();
        let definitions = first_definitions();
        let definitions = definitions.into_iter().map(|definition| Action::DefineType(Box::new(definition)));
        let operations: Vec<Timed> = definitions.map(|action| (None, Operation::Act(action))).collect();
        // The model sorts by the names of types as the engine does that has numbered them in this order.
        while self.acknowledged().position == 0 {
            self.commit(&operations);
        }
        for _ in 0..STEPS {
            self.step();
        }
        if let Some(repository) = self.repository.take() {
            self.tolerate(repository.close());
        }
    }

    fn step(&mut self) {
        match self.generator.random.below(14) {
            0 => {
                let compacted = self.repository().compact();
                self.is_compacted = true;
                self.tolerate_and_go_on(compacted.map(drop));
            }
            1 => {
                let taken = self.repository().checkpoint();
                self.tolerate_and_go_on(taken.map(drop));
            }
            2 if self.generator.random.one_in(2) => self.back_up(),
            3 => {
                let closed = self.repository.take().map_or(Ok(()), Repository::close);
                self.tolerate(closed);
                self.reopen();
            }
            4 => {
                let kept = (self.repository().snapshot(), self.acknowledged());
                self.kept.push(kept);
                if self.kept.len() > 2 {
                    self.kept.remove(0);
                }
            }
            _ => {
                let mut operations = self.generator.transaction();
                let stored = if self.generator.random.one_in(3) { self.store() } else { None };
                operations.extend(stored.iter().map(|stored| {
                    let instance = InstanceId::Entity(self.generator.entity());
                    let patch = Patch::new().set("content", stored.value());
                    (None, Operation::Act(action::Update { instance, patch, provenance: None }.into()))
                }));
                self.commit(&operations);
            }
        }
        if self.generator.random.one_in(6) {
            self.compare();
        }
    }

    /// Stores one of few contents, so that some are stored again after a compaction has removed them.
    fn store(&mut self) -> Option<StoredContent> {
        let bytes = vec![7; self.generator.random.below(5) * 3_000];
        let contents = self.repository().contents().expect("it has a folder");
        let stored = contents.put(&mut &*bytes, &NewContent::default());
        stored.map_err(|error| self.tolerate(Err(error))).ok()
    }

    fn repository(&self) -> &Repository {
        self.repository.as_ref().expect("it is open")
    }

    /// Without a fault nothing fails.
    fn tolerate(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            assert!(self.has_fault, "{error:?}");
        }
    }

    /// As long as the repository accepts writes it goes on; otherwise it is opened again.
    fn tolerate_and_go_on(&mut self, outcome: Result<()>) {
        let is_err = outcome.is_err();
        self.tolerate(outcome);
        if is_err && self.repository().failure().is_some() {
            self.repository = None;
            self.reopen();
        }
    }

    /// Opens the repository. One operation of an opening may fail, and then the next opening succeeds.
    fn reopen(&mut self) {
        let options = options(&mut self.generator.random);
        let opened = open(&self.disk, options.clone()).or_else(|error| {
            assert!(self.has_fault, "{error:?}");
            open(&self.disk, options)
        });
        let repository = opened.expect("only one operation fails");
        let position = repository.snapshot().position().0;
        let mut told = self.told();
        let is_asked = position == told.acknowledged + 1 && told.states.len() as u64 > position;
        assert!(position == told.acknowledged || is_asked, "{position}, acknowledged {}", told.acknowledged);
        told.acknowledged = position;
        told.states.truncate(position as usize + 1);
        drop(told);
        self.repository = Some(repository);
    }

    fn commit(&mut self, operations: &[Timed]) {
        let author = *self.generator.random.choose(&["", "ada", "grace"]);
        self.clock += self.generator.random.below(3) as i64;
        let committed = Committed { operations, instant: self.clock, author, message: "", is_always: true };
        let mut after = Reference::clone(&self.acknowledged());
        let expected = after.commit(&committed);
        if expected.is_ok() {
            self.told().states.push(Arc::new(after));
        }
        let mut transaction = self.repository().transaction();
        transaction.author(author).always(true).committed_at(Instant::from_micros(self.clock).unwrap());
        let outcome = operations
            .iter()
            .try_for_each(|operation| push(&mut transaction, operation))
            .and_then(|()| transaction.commit());
        match (outcome, expected) {
            (Ok(receipt), Ok(())) => {
                let mut told = self.told();
                told.acknowledged += 1;
                assert_eq!(receipt.position.0, told.acknowledged);
            }
            (Err(_), Err(_)) => {}
            (Err(error), Ok(())) => {
                assert!(self.has_fault, "{error:?}: {operations:#?}");
                let is_unknown = error.kind() == ErrorKind::OutcomeUnknown;
                if !is_unknown {
                    // A definite error: nothing was written.
                    self.told().states.pop();
                }
                let is_over = is_unknown || error.kind() == ErrorKind::Unavailable;
                if is_over || self.generator.random.one_in(2) {
                    self.repository = None;
                    self.reopen();
                }
            }
            (Ok(_), Err(kind)) => panic!("expected {kind:?}: {operations:#?}"),
        }
        self.generator.instants = self.acknowledged().instants.clone();
    }

    fn back_up(&mut self) {
        let (number, position) = {
            let mut told = self.told();
            let number = told.backups.len();
            told.backups.push((PathBuf::from(format!("/backup-{number}")), None));
            (number, told.acknowledged)
        };
        let backed_up = self.repository().backup(format!("/backup-{number}"));
        if backed_up.is_ok() {
            self.told().backups[number].1 = Some(position);
        }
        self.tolerate_and_go_on(backed_up.map(drop));
    }

    fn compare(&self) {
        let model = self.acknowledged();
        compare_all(&self.repository().snapshot(), &model, present(&model));
        for (snapshot, then) in &self.kept {
            let is_gone =
                |kind: TypeKind, age: u64| self.is_compacted && !model.table(kind).contains_key(&age);
            compare_all_but(snapshot, then, present(then), &is_gone);
        }
    }
}

/// Compares a repository with the model, now and as of some position.
fn compare_repository(repository: &Repository, model: &Reference, random: &mut Random) {
    let snapshot = repository.snapshot();
    compare_all(&snapshot, model, present(model));
    let position = random.below(model.position as usize + 1) as u64;
    let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
    let past = snapshot.as_of(as_of).expect("as of a position");
    compare_all(&past, model, View { position, valid: i64::MAX });
}

/// Checks that the repository holds everything acknowledged, nothing that was not asked for, and accepts writes.
fn check_image(image: &Image) {
    let mut random = Random(image.seed);
    let told = &image.told;
    let acknowledged = told.acknowledged;
    // A reader refuses to show less than was acknowledged.
    match open(&image.disk, Options { is_read_only: true, ..options(&mut random) }) {
        Ok(reader) => {
            let position = reader.snapshot().position().0;
            assert!(position >= acknowledged, "a reader sees {position} of {acknowledged}");
            assert!(position < told.states.len() as u64);
        }
        Err(error) => {
            let is_known = matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::NotFound);
            assert!(is_known && (error.kind() != ErrorKind::NotFound || acknowledged == 0), "{error:?}");
        }
    }
    let repository = open(&image.disk, options(&mut random)).expect("what a power cut leaves opens");
    let position = repository.snapshot().position().0;
    assert!(
        (acknowledged..told.states.len() as u64).contains(&position),
        "{acknowledged} acknowledged, {} asked for, {position} found",
        told.states.len() - 1
    );
    let model = &told.states[position as usize];
    compare_repository(&repository, model, &mut random);
    assert_eq!(repository.check().expect("check").differences, Vec::<String>::new());
    assert_eq!(repository.fixity(|_, _| {}).expect("fixity").damaged, []);
    if random.one_in(4) {
        repository.compact().expect("compact");
        compare_repository(&repository, model, &mut random);
        assert_eq!(repository.fixity(|_, _| {}).expect("fixity").damaged, []);
    }
    // It goes on, and a second power cut right after takes nothing of it.
    repository.transact(|t| t.create_entity(NewEntity::new("late")).map(drop)).expect("commit");
    let again = open(&image.disk.after_power_cut(random.next()), options(&mut random)).expect("open again");
    assert_eq!(again.snapshot().position().0, position + 1);
    for (path, acknowledged) in &told.backups {
        check_backup(image, &repository, path, *acknowledged);
    }
}

/// A backup is whole, or refused until the next one into its folder replaces it.
fn check_backup(image: &Image, repository: &Repository, path: &PathBuf, acknowledged: Option<u64>) {
    let disk: Arc<SimulatedDisk> = Arc::new(image.disk.clone());
    match verify_on(disk.clone(), path, &Options::default()) {
        Ok(report) => {
            assert!(acknowledged.is_none_or(|position| position == report.position.0));
            let options = Options { is_read_only: true, ..Options::default() };
            let backup = Repository::open_on(disk.clone(), path, options).expect("it was verified");
            let model = &image.told.states[report.position.0 as usize];
            compare_all(&backup.snapshot(), model, present(model));
            if image.seed.is_multiple_of(4) {
                let restored = restore_on(disk, path, "/restored", &Options::default()).expect("restore");
                assert_eq!(restored.position, report.position);
                image.disk.remove_all("/restored");
            }
        }
        Err(error) => {
            let kinds = [ErrorKind::Corrupted, ErrorKind::NotFound, ErrorKind::Unavailable];
            assert!(acknowledged.is_none() && kinds.contains(&error.kind()), "{error:?}");
            repository.backup(path).expect("a backup into the same folder");
            verify_on(disk, path, &Options::default()).expect("it is whole");
        }
    }
}

/// Looks at images as they come. After a failure the others are only taken, so that the writer does not wait for ever.
fn check_images(images: &Mutex<Receiver<Image>>, counts: &Counts) {
    loop {
        let received = images.lock().unwrap().recv();
        let Ok(image) = received else { return };
        if counts.has_failed.load(Ordering::Relaxed) {
            continue;
        }
        if std::panic::catch_unwind(AssertUnwindSafe(|| check_image(&image))).is_err() {
            eprintln!("{}, image {}", image.place, image.seed);
            counts.has_failed.store(true, Ordering::Relaxed);
        }
        counts.images.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Counts {
    images: AtomicU64,
    has_failed: AtomicBool,
}

/// Runs one history and sends images of what a power cut would leave before its operations.
fn cut_power(seed: u64, images: &SyncSender<Image>) -> u64 {
    let disk = SimulatedDisk::new();
    let mut history = History::new(seed, disk.clone(), false);
    let (told, images) = (Arc::clone(&history.told), images.clone());
    disk.observe(Some(Arc::new(move |disk: &SimulatedDisk, operation| {
        let mut random = Random(seed ^ (operation << 20));
        // Two images of each operation: the last moment at which it may not have happened.
        for _ in 0..2 {
            let image_seed = random.next();
            let told = told.lock().unwrap().clone();
            let place = format!("history {seed}, operation {operation}");
            let image = Image { disk: disk.after_power_cut(image_seed), told, seed: image_seed, place };
            // The receivers end early only if one has failed.
            let _ = images.send(image);
        }
    })));
    history.run();
    disk.observe(None);
    disk.operations_count()
}

/// Runs the same history with a failure of one operation, and looks at what is left then.
fn fail_operation(seed: u64, operation: u64, fault: Fault, images: &SyncSender<Image>) {
    let disk = SimulatedDisk::new();
    disk.fail_at(operation, fault);
    let mut history = History::new(seed, disk.clone(), true);
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| history.run()));
    let place = format!("history {seed}, {fault:?} at operation {operation}");
    if let Err(cause) = outcome {
        eprintln!("{place}");
        std::panic::resume_unwind(cause);
    }
    let told = history.told().clone();
    drop(history);
    for (number, disk) in [disk.clone(), disk.after_power_cut(operation)].into_iter().enumerate() {
        let seed = operation * 2 + number as u64;
        let _ = images.send(Image { disk, told: told.clone(), seed, place: place.clone() });
    }
}

#[test]
fn whatever_fails_a_repository_keeps_what_it_acknowledged_and_goes_on() {
    let wanted = number_from_environment("ANNALS_CRASH_IMAGES", 500);
    let first_seed = number_from_environment("ANNALS_CRASH_SEED", fresh_seed());
    println!("ANNALS_CRASH_SEED={first_seed}");
    let (images_in, images) = sync_channel(IMAGES_WAITING_MAX);
    let (images, counts) = (Mutex::new(images), Counts::default());
    let (mut histories, mut faults) = (0, 0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| check_images(&images, &counts));
        }
        for seed in first_seed.. {
            let is_enough = counts.images.load(Ordering::Relaxed) >= wanted;
            if is_enough || counts.has_failed.load(Ordering::Relaxed) {
                break;
            }
            let operations = cut_power(seed, &images_in);
            histories += 1;
            // Each operation fails once, in one of two ways; the next history has the other one for it.
            for operation in 0..operations {
                let fault = if (seed + operation) % 2 == 0 { Fault::NoRoom } else { Fault::Io };
                if counts.has_failed.load(Ordering::Relaxed) {
                    break;
                }
                fail_operation(seed, operation, fault, &images_in);
                faults += 1;
            }
        }
        drop(images_in);
    });
    let images = counts.images.into_inner();
    println!("{images} images of {histories} histories, {faults} times with a failed operation");
    assert!(!counts.has_failed.into_inner(), "see above; ANNALS_CRASH_SEED={first_seed} repeats it");
}
