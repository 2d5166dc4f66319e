//! Random histories on the engine and on a plain model, compared after every step.
//!
//! A failure prints the seed and the step; `ANNALS_MODEL_SEED=n` repeats one seed, `ANNALS_MODEL_SEEDS` and
//! `ANNALS_MODEL_STEPS` make a campaign.

use annals::action;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use annals::log::MemoryLog;
use annals::*;

use crate::support::compare::{compare_all, compare_all_but, compare_difference, compare_reach};
use crate::support::operations::{Generator, SHAPES, Shape, Timed, first_definitions, push};
use crate::support::reference::{Committed, PRESENT, Reference, View};
use crate::support::search::compare_search;
use crate::support::{self, CheckedRepository, Random, number_from_environment, seeds};

/// Where histories with a clock of their own begin. Units: microseconds since 1970.
const CLOCK_START: i64 = 1_600_000_000_000_000;

enum Home {
    Memory(MemoryLog),
    Folder(tempfile::TempDir),
}

impl Home {
    fn open(&self, options: Options) -> CheckedRepository {
        match self {
            Home::Memory(log) => CheckedRepository::on_with(Arc::new(log.clone()), options)
                .expect("open a repository on a log"),
            Home::Folder(folder) => CheckedRepository::open_with(folder.path().join("repository"), options),
        }
    }
}

/// Half of all openings have a memory budget: values of any length then leave memory, or only longer ones. The answers
/// of the repository must not depend on the budget, nor on the one in force when its checkpoint was written.
fn options(random: &mut Random, clock: Option<&Arc<AtomicI64>>) -> Options {
    let mut options = Options::default();
    if let Some(clock) = clock.cloned() {
        options.clock = Arc::new(move || Instant::from_micros(clock.load(Ordering::SeqCst)).unwrap());
    }
    if random.one_in(2) {
        return options;
    }
    let spilled_value_bytes_min = *random.choose(&[1, 3, 120, 128]);
    Options { memory_bytes_max: Some(64 << 30), spilled_value_bytes_min, ..options }
}

struct History {
    // `None` only while it is reopened. Dropped, and so checked, before its folder goes.
    repository: Option<CheckedRepository>,
    home: Home,
    model: Reference,
    generator: Generator,
    // Units: microseconds since 1970. `None`: the clock of the machine.
    clock: Option<Arc<AtomicI64>>,
    kept: Vec<(Snapshot, Reference)>,
    // True once the log was rewritten: kept snapshots may lack the past of what was purged since.
    is_compacted: bool,
}

impl History {
    fn new(seed: u64) -> History {
        let mut random = Random(seed);
        let shape = SHAPES[(seed % 4) as usize];
        let home = if random.one_in(8) {
            Home::Folder(tempfile::tempdir().unwrap())
        } else {
            Home::Memory(MemoryLog::new())
        };
        let clock = (!random.one_in(4)).then(|| Arc::new(AtomicI64::new(CLOCK_START)));
        let has_homes = !random.one_in(4);
        let mut history = History {
            repository: Some(home.open(options(&mut random, clock.as_ref()))),
            home,
            model: Reference::default(),
            generator: Generator { random, shape, instants: Vec::new(), has_homes },
            clock,
            kept: Vec::new(),
            is_compacted: false,
        };
        let definitions =
            first_definitions().into_iter().map(|definition| Action::DefineType(Box::new(definition)));
        // Before anything is copied: what came from a collection of that name first would stay foreign.
        let is_named = has_homes && history.generator.random.one_in(2);
        let named = is_named.then(|| Action::NameCollection(action::NameCollection { name: "here".into() }));
        let operations: Vec<Timed> = definitions
            .chain(named)
            .map(|action| (None, support::operations::Operation::Act(action)))
            .collect();
        history.commit(&operations);
        history
    }

    fn repository(&self) -> &Repository {
        self.repository.as_ref().expect("it is open")
    }

    /// Commits on both sides; both succeed, or both refuse for the same reason.
    fn commit(&mut self, operations: &[Timed]) {
        let author = *self.generator.random.choose(&["", "ada", "grace"]);
        let message = *self.generator.random.choose(&["", "why not"]);
        let before = self.repository().snapshot().position();
        let mut transaction = self.repository().transaction();
        let is_always = self.generator.random.one_in(2);
        transaction.author(author).message(message).always(is_always);
        if let Some(clock) = &self.clock {
            let passed = self.generator.random.below(3) as i64;
            let now = clock.fetch_add(passed, Ordering::SeqCst) + passed;
            if self.generator.random.one_in(4) {
                transaction.committed_at(Instant::from_micros(now).unwrap());
            }
        }
        let reads_in_between = self.generator.random.one_in(6);
        let outcome = operations
            .iter()
            .try_for_each(|operation| {
                push(&mut transaction, operation)?;
                if reads_in_between { transaction.view().map(drop) } else { Ok(()) }
            })
            .and_then(|()| transaction.commit());
        let instant = match &outcome {
            Ok(receipt) => receipt.instant.micros(),
            Err(_) => {
                self.clock.as_ref().map_or(Instant::now().micros(), |clock| clock.load(Ordering::SeqCst))
            }
        };
        let committed = Committed { operations, instant, author, message, is_always };
        let expected = self.model.commit(&committed);
        let found = outcome.as_ref().map(|_| ()).map_err(Error::kind);
        if operations.iter().any(|(valid_from, _)| valid_from.is_some()) && expected.is_err() {
            // Corrections are checked after all else, so that of two errors another may come first.
            assert!(found.is_err(), "expected {expected:?}: {operations:#?}");
        } else {
            assert_eq!(found, expected, "{operations:#?}: {outcome:?}");
        }
        let position = self.repository().snapshot().position();
        assert_eq!(position.0, self.model.position);
        if outcome.is_err() {
            assert_eq!(position, before, "a failed transaction leaves nothing");
        }
        self.generator.instants = self.model.instants.clone();
    }

    fn step(&mut self) {
        // The result of a search must not depend on how far the indexes are behind.
        let is_held = self.generator.random.one_in(2);
        self.repository().hold_indexes(is_held);
        let operations = self.generator.transaction();
        self.commit(&operations);
        let snapshot = self.repository().snapshot();
        let present = View { position: self.model.position, valid: i64::MAX };
        if self.generator.shape == Shape::Small || self.generator.random.one_in(6) {
            compare_all(&snapshot, &self.model, present);
        }
        for _ in 0..3 {
            compare_search(&snapshot, &self.model, present, &mut self.generator);
        }
        if self.generator.random.one_in(3) {
            self.compare_past(&snapshot);
        }
        if self.generator.random.one_in(10) {
            let position = self.generator.random.below(self.model.position as usize + 1) as u64;
            let from = self.generator.random.below(position as usize + 1) as u64;
            compare_difference(&snapshot, &self.model, from, position);
            let start = self.generator.entity();
            compare_reach(&snapshot, &self.model, present, &start);
        }
        self.keep(snapshot);
        if self.generator.random.one_in(10) {
            self.compact();
        }
        if self.generator.random.one_in(25) {
            self.reopen();
        }
    }

    fn compare_past(&mut self, snapshot: &Snapshot) {
        let random = &mut self.generator.random;
        let position = random.below(self.model.position as usize + 1) as u64;
        let instant = *random.choose(&self.model.instants) + random.below(3) as i64 - 1;
        let valid = *random.choose(&self.model.instants) + random.below(3) as i64 - 1;
        let instant = instant.min(*self.model.instants.last().unwrap());
        let valid = valid.min(*self.model.instants.last().unwrap());
        let at = |micros: i64| Instant::from_micros(micros).unwrap();
        let (mut as_of, mut view) =
            (AsOf::default(), View { position: self.model.position, valid: i64::MAX });
        match random.below(5) {
            0 | 1 => {
                as_of.position = Some(Position(position));
                view.position = position;
            }
            2 | 3 => {
                as_of.instant = Some(at(instant));
                view.position = self.model.instants.iter().filter(|known| **known <= instant).count() as u64;
            }
            _ => {}
        }
        if random.one_in(2) {
            as_of.valid = Some(at(valid));
            view.valid = valid;
        }
        let past = snapshot.as_of(as_of).expect("as of the past");
        assert_eq!(past.position().0, view.position, "{as_of:?}");
        if self.generator.shape == Shape::Small || self.generator.random.one_in(4) {
            compare_all(&past, &self.model, view);
        }
        for _ in 0..4 {
            compare_search(&past, &self.model, view, &mut self.generator);
        }
        let start = self.generator.entity();
        compare_reach(&past, &self.model, view, &start);
    }

    /// Keeps two snapshots, which must show the same for ever.
    fn keep(&mut self, snapshot: Snapshot) {
        if self.generator.random.one_in(15) {
            if self.kept.len() == 2 {
                self.kept.remove(0);
            }
            self.kept.push((snapshot, self.model.clone()));
        }
        if self.generator.random.one_in(15) {
            for (snapshot, model) in &self.kept {
                let is_gone = |kind: TypeKind, age: u64| {
                    self.is_compacted && !self.model.table(kind).contains_key(&age)
                };
                let view = View { position: model.position, valid: i64::MAX };
                compare_all_but(snapshot, model, view, &is_gone);
                compare_search(snapshot, model, PRESENT, &mut self.generator);
            }
        }
    }

    fn compact(&mut self) {
        self.repository().compact().expect("compact");
        self.is_compacted = true;
        let snapshot = self.repository().snapshot();
        compare_all(&snapshot, &self.model, View { position: self.model.position, valid: i64::MAX });
        self.compare_past(&snapshot);
    }

    fn reopen(&mut self) {
        if matches!(self.home, Home::Folder(_)) && self.generator.random.one_in(2) {
            self.repository().checkpoint().expect("checkpoint");
        }
        if self.generator.random.one_in(2) {
            self.repository.take().expect("it is open").close();
        } else {
            self.repository.take();
        }
        self.repository = Some(self.home.open(options(&mut self.generator.random, self.clock.as_ref())));
        let snapshot = self.repository().snapshot();
        compare_all(&snapshot, &self.model, View { position: self.model.position, valid: i64::MAX });
    }
}

fn check_history(seed: u64, steps: u64) -> u64 {
    let mut history = History::new(seed);
    for step in 0..steps {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| history.step()));
        if let Err(cause) = outcome {
            eprintln!("seed {seed}, step {step}: ANNALS_MODEL_SEED={seed} repeats it");
            std::panic::resume_unwind(cause);
        }
    }
    history.model.position
}

#[test]
fn the_engine_behaves_as_a_plain_model() {
    let steps = number_from_environment("ANNALS_MODEL_STEPS", 120);
    let histories: Vec<u64> = seeds("ANNALS_MODEL_SEED", 10).map(|seed| check_history(seed, steps)).collect();
    let (committed, tried): (u64, u64) = (histories.iter().sum(), histories.len() as u64 * steps);
    println!("{committed} commits of {tried} steps");
    assert!(committed >= tried / 20, "{committed} commits of {tried} steps: most changes are refused");
}
