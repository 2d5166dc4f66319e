//! The place of the repository: a folder or another log. It is opened again, copied as a killed process leaves it, and
//! backed up to go on in another place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::log::{FaultLog, FaultPlan, Log, MemoryLog};
use annals::storage::{DiskStore, MemoryStore, RealDisk, Store};
use annals::*;

use crate::grouped::check_groups;
use crate::object_log::ObjectLog;
use crate::push::instance;
use crate::see::{of_model, of_snapshot};
use crate::world::World;

/// Takeovers wait no longer than this.
const LEASE_MS: u64 = 1_000;

/// Objects leave a store that repositories share within a few operations.
const GRACE_MS: u64 = 20;

/// Positions of the past at which a copy is compared.
const COMPARED: usize = 12;

#[derive(Clone)]
pub(crate) enum Place {
    Folder(PathBuf),
    Log { log: Arc<dyn Log>, contents: Arc<dyn Store> },
}

impl Place {
    pub(crate) fn open(&self, options: Options) -> Result<Repository> {
        match self {
            Place::Folder(path) => Repository::open_with(path, options),
            Place::Log { log, contents } => {
                let options = Options { contents: Some(Arc::clone(contents)), ..options };
                match log.register() {
                    // All repositories of the log share a store, also of checkpoints.
                    Some(_) => Repository::with_log_and_store(Arc::clone(log), Arc::clone(contents), options),
                    None => Repository::with_log(Arc::clone(log), options),
                }
            }
        }
    }

    pub(crate) fn contents(&self) -> Arc<dyn Store> {
        match self {
            Place::Folder(path) => Arc::new(DiskStore::new(Arc::new(RealDisk), path.join("content"))),
            Place::Log { contents, .. } => Arc::clone(contents),
        }
    }

    /// True unless it is a log alone.
    pub(crate) fn has_checkpoints(&self) -> bool {
        match self {
            Place::Folder(_) => true,
            Place::Log { log, .. } => log.register().is_some(),
        }
    }

    /// True if compaction can rewrite its log.
    pub(crate) fn can_compact(&self) -> bool {
        match self {
            Place::Folder(_) => true,
            Place::Log { log, .. } => log.as_rewrite().is_some(),
        }
    }
}

impl World {
    fn new_folder(&mut self) -> PathBuf {
        self.count += 1;
        self.folder.path().join(format!("place-{}", self.count))
    }

    pub(crate) fn options(&self) -> Options {
        // Every other repository writes a checkpoint at its end, however little it has written.
        let checkpoint_end_bytes = if self.history.len().is_multiple_of(2) { 0 } else { u64::MAX };
        Options {
            clock: self.clock(),
            checkpoint_end_bytes,
            lease_ms: LEASE_MS,
            removal_grace_ms: GRACE_MS,
            ..Options::default()
        }
    }

    /// Opens the repository again.
    pub(crate) fn open(&mut self) {
        self.open_within(None);
    }

    /// Opens the repository again, with a memory budget.
    pub(crate) fn open_within(&mut self, memory_bytes_max: Option<u64>) {
        // Leases end with the process.
        self.end_leases();
        self.repository = None;
        let options = Options { memory_bytes_max, ..self.options() };
        self.repository = Some(self.place.open(options).expect("it opens"));
        self.note_term();
    }

    /// Records of new terms change nothing.
    fn note_term(&mut self) {
        let Some((&last, model)) = self.past.last_key_value() else { return };
        if self.repository().standing().is_some() {
            let model = model.clone();
            self.past.extend((last + 1..=self.position()).map(|position| (position, model.clone())));
        }
    }

    /// On a log with a register, another repository takes over in the place of this one.
    fn hand_over(&mut self) {
        self.end_leases();
        self.follower = None;
        let next = self.place.open(Options { is_standby: true, ..self.options() }).expect("it opens");
        let before = self.repository.replace(next).expect("it is open");
        let late = before.transaction();
        before.demote().expect("it ends to write");
        let end = Instant::now() + Duration::from_secs(30);
        while self.repository().is_read_only() {
            assert!(
                Instant::now() < end,
                "nobody takes over: {:?}: {}",
                self.repository().standing(),
                self.what()
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        let refused = commit_anything(late).expect_err("it does not write any more");
        assert_eq!(refused.kind(), ErrorKind::NotWriter, "{refused}: {}", self.what());
        self.note_term();
    }

    fn go_on_in(&mut self, place: Place) {
        self.follower = None;
        self.place = place;
        self.open();
    }

    /// Goes on with the files as a killed process leaves them, or with the log under a second writer.
    pub(crate) fn kill(&mut self) {
        self.history.push("kill".into());
        // A content that no commit has named.
        if self.random.one_in(2) {
            let contents = self.repository().contents().expect("it has contents");
            let bytes = [self.random.below(4) as u8; 3];
            contents.put(&mut &bytes[..], &NewContent::default()).expect("it can be stored");
        }
        let place = match self.place.clone() {
            Place::Folder(path) => {
                let copy = self.new_folder();
                copy_files(&path, &copy);
                Place::Folder(copy)
            }
            log => log,
        };
        if self.repository().standing().is_some() {
            return self.hand_over();
        }
        let killed = self.repository.take();
        self.go_on_in(place);
        drop(killed);
    }

    /// Backs up, restores into another place, compares it with the model, and goes on there sometimes.
    pub(crate) fn back_up(&mut self) {
        let (backup, target) = (self.new_folder(), self.new_folder());
        let position = self.position();
        let report = self.repository().backup(&backup).expect("a backup");
        assert_eq!((report.position.0, &report.unreadable[..]), (position, &[][..]), "{}", self.what());
        let into = |log: Arc<dyn Log>, set: &dyn Fn()| {
            let contents: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let restored = restore_into(&backup, &*log, Some(Arc::clone(&contents)), &Options::default());
            set();
            (restored, Place::Log { log, contents })
        };
        let kind = self.random.below(4);
        // Calls and answers get lost, and calls land late.
        let seed = self.random.below(1 << 32) as u64;
        let plan = FaultPlan {
            seed,
            append_lost: 100,
            append_answer_lost: 100,
            append_late: 100,
            ..FaultPlan::default()
        };
        let (restored, place) = match kind {
            0 => (restore(&backup, &target), Place::Folder(target)),
            1 => {
                let log = Arc::new(FaultLog::new(ObjectLog::new(), FaultPlan::default()));
                into(Arc::clone(&log) as Arc<dyn Log>, &|| log.set_plan(plan))
            }
            kind => {
                let memory = if kind == 2 { MemoryLog::new() } else { MemoryLog::with_register() };
                let log = Arc::new(FaultLog::new(memory, FaultPlan::default()));
                into(Arc::clone(&log) as Arc<dyn Log>, &|| log.set_plan(plan))
            }
        };
        self.history.push(format!("back up, restore into place {kind}"));
        let restored = restored.unwrap_or_else(|error| panic!("{error}: {}", self.what()));
        let (copied, found) = (restored.contents_count, report.contents_count);
        assert_eq!((restored.position.0, copied), (position, found), "{}", self.what());
        {
            let copy = place.open(self.options()).expect("the copy opens");
            self.compare_all(&copy, COMPARED);
            let checked = copy.check().expect("it can be checked");
            assert!(checked.is_clean(), "{:#?}: {}", checked.differences, self.what());
            self.check_tags_of_other_log(&copy);
        }
        fs::remove_dir_all(&backup).expect("the backup can be removed");
        if self.random.one_in(3) {
            self.history.push("go on there".into());
            self.go_on_in(place);
        }
    }

    /// A copy takes no tag of this repository: it is another log, which goes on otherwise.
    fn check_tags_of_other_log(&self, copy: &Repository) {
        let (own, other) = (self.repository().snapshot(), copy.snapshot());
        // Two logs in memory have no id by which to tell them apart.
        if own.log_tag() == LogTag::NONE && other.log_tag() == LogTag::NONE {
            return;
        }
        assert_ne!(own.log_tag(), other.log_tag(), "{}", self.what());
        for (is_link, _, name) in of_snapshot(self.repository(), &own).into_keys().take(COMPARED) {
            let instance = instance(is_link, &name);
            let revision = own.revision(&instance).expect("it is there");
            let mut trial = copy.transaction();
            trial.expect_revision(&instance, revision).expect("there are few");
            let refused = trial.dry_run().map(drop).map_err(|error| error.kind());
            assert_eq!(refused, Err(ErrorKind::PreconditionFailed), "{instance}: {}", self.what());
        }
    }

    /// Compares a repository with the model: now, and at up to `most` positions of the past.
    pub(crate) fn compare_all(&mut self, repository: &Repository, most: usize) {
        let snapshot = repository.snapshot();
        let expected = of_model(&self.model, u64::MAX, &self.model);
        assert_eq!(of_snapshot(repository, &snapshot), expected, "{}", self.what());
        self.check_rules(&snapshot);
        let all: Vec<u64> = self.past.keys().copied().collect();
        let is_every = all.len() <= most;
        for number in 0..all.len().min(most) {
            let position = if is_every { all[number] } else { *self.random.choose(&all) };
            let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
            let then = snapshot.as_of(as_of).expect("a position that there was");
            let found = of_snapshot(repository, &then);
            let expected = of_model(&self.past[&position], position, &self.model);
            assert_eq!(found, expected, "as of {position}: {}", self.what());
            check_groups(&then, &found, || self.what());
        }
    }
}

fn commit_anything(mut transaction: Transaction) -> Result<Receipt> {
    transaction.create_entity(NewEntity::new("late"))?;
    transaction.commit()
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder can be listed") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy_files(&path, &target),
            false => drop(fs::copy(&path, &target).expect("a file can be copied")),
        }
    }
}
