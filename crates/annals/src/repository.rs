//! The repository: a log, the graph of its records, and the threads that keep both together.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::contents::{Contents, no_contents};
use crate::feed::follow::Follow;
use crate::feed::hub::Hub;
use crate::feed::subscription::Subscription;
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::structures::spill_file::SpillSettings;
use crate::log::{Log, MemoryLog};
use crate::maintenance::checkpoint::{Checkpointed, Checkpoints};
use crate::maintenance::folder::Folder;
use crate::maintenance::recover::load_with;
use crate::memory::{Memory, ReservedMemory};
use crate::options::Options;
use crate::read::{Snapshot, Source, Watch};
use crate::standby::{poll, seat_of};
use crate::storage::{Disk, MemoryStore, RealDisk, Store};
use crate::upkeep::SharedUpkeep;
use crate::write::{
    Candidates, Committer, Limits, Proposal, Publisher, Receipt, Seat, Transaction, Validator, prepare,
    refusal_at_first, start, start_confirming, start_lease, transact,
};
use crate::{Error, Position, Result};

/// A graph with its complete history, on one log. Clones share it; it closes when the last one is dropped.
///
/// ```
/// use annals::{NewEntity, NewRelationship, Repository};
///
/// let folder = tempfile::tempdir().unwrap();
/// let repository = Repository::open(folder.path().join("library"))?;
/// let (ada, receipt) = repository.transact(|t| {
///     let ada = t.create_entity(NewEntity::new("person").property("name", "Ada"))?;
///     let engine = t.create_entity(NewEntity::new("machine").property("name", "Analytical Engine"))?;
///     t.create_relationship(NewRelationship::new("programmed", ada.clone(), engine))?;
///     Ok(ada)
/// })?;
/// assert_eq!(receipt.position.0, 1);
/// assert_eq!(repository.snapshot().degree(&ada, annals::Direction::Out, None)?, 1);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone)]
pub struct Repository {
    inner: Arc<Open>,
}

/// The state that all clones share. Threads hold [`Inner`] only for a moment; the last clone closes it at once.
struct Open(Arc<Inner>);

impl Deref for Open {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// The parts of a new repository.
struct Parts {
    log: Arc<dyn Log>,
    checkpoints: Option<Checkpoints>,
    folder: Option<Folder>,
    /// True if the contents are in a store that the user has named.
    is_store_named: bool,
    /// True if the checkpoints are in a store that only this repository uses, also on a log with a register.
    is_store_own: bool,
    /// An earlier problem that stopped nothing.
    warning: Option<String>,
    /// The graph with which it begins, instead of an empty one.
    forked: Option<Indexed>,
}

pub(crate) struct Inner {
    pub(crate) committer: Arc<Committer>,
    /// `None` for a repository on a separate log.
    pub(crate) folder: Option<Folder>,
    /// `None` without a store for checkpoints: then opening replays the log.
    pub(crate) checkpoints: Option<Checkpoints>,
    pub(crate) options: Options,
    /// Its place among the repositories of a log with a register.
    pub(crate) seat: Option<Arc<Seat>>,
    /// The state that subscriptions share.
    hub: Arc<Hub>,
    // Problems that stopped nothing; the oldest are dropped when there are too many.
    warnings: Mutex<Vec<String>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// True once the repository is being closed: long work then stops.
    pub(crate) is_stopping: Arc<AtomicBool>,
    /// Position of the checkpoint that was loaded or written last.
    pub(crate) checkpointed: AtomicU64,
    /// True once the log is closed: the folder may be that of another writer.
    is_ended: AtomicBool,
    /// One checkpoint, compaction, check or backup at a time.
    pub(crate) maintenance: Mutex<()>,
}

/// Most warnings kept.
const WARNINGS_MAX: usize = 1_000;

impl Repository {
    /// Opens the repository in a folder for writing, and creates it if it does not exist.
    ///
    /// Errors: `Locked` if another process has it open for writing; `Corrupted`, `Gap`, `NewerFormat` for damaged
    /// files; `NoRoom`; `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Repository> {
        Repository::open_with(path, Options::default())
    }

    /// As [`Repository::open`], with settings.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Repository> {
        Repository::open_on(Arc::new(RealDisk), path, options)
    }

    /// As [`Repository::open_with`], on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, path: impl AsRef<Path>, options: Options) -> Result<Repository> {
        let memory = Arc::new(Memory::new(options.memory_bytes_max));
        memory.check()?;
        let folder = Folder::open(&disk, path.as_ref(), options.of_files(), options.is_read_only)?;
        // A reader may have no permission to write there.
        let place = (!options.is_read_only).then(|| (&disk, folder.spilled()));
        let spill = options.spill(place, &memory);
        let log = Arc::clone(folder.log());
        let (checkpoints, warning) = folder.checkpoints();
        let is_store_named = options.contents.is_some();
        let options = Options { contents: options.contents.or_else(|| Some(folder.contents())), ..options };
        let (checkpoints, folder) = (Some(checkpoints), Some(folder));
        let parts =
            Parts { log, checkpoints, folder, is_store_named, is_store_own: true, warning, forked: None };
        Repository::start(parts, spill.as_ref(), memory, options)
    }

    /// A repository in memory; its content is lost when it is dropped.
    #[expect(clippy::expect_used, reason = "a log in memory, new and empty, has nothing that could fail")]
    pub fn in_memory() -> Repository {
        let contents: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = Options { contents: Some(contents), ..Options::default() };
        Repository::with_log(Arc::new(MemoryLog::new()), options).expect("a memory log cannot fail")
    }

    /// A repository on any log, without a store for checkpoints: opening replays the log.
    pub fn with_log(log: Arc<dyn Log>, options: Options) -> Result<Repository> {
        Repository::with_parts(log, None, true, options)
    }

    /// A repository on any log, with its checkpoints in any store, so that opening replays only the records after the
    /// last one. No other repository may use the store. On a log with a register all its repositories share one store; the
    /// one that writes writes checkpoints, and the others load them.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use annals::log::MemoryLog;
    /// use annals::storage::{DiskStore, RealDisk};
    /// use annals::{NewEntity, Options, Repository};
    ///
    /// # fn main() -> annals::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// let log = Arc::new(MemoryLog::new());
    /// let store = Arc::new(DiskStore::new(Arc::new(RealDisk), folder.path()));
    /// let repository = Repository::with_log_and_store(log.clone(), store.clone(), Options::default())?;
    /// repository.transact(|t| t.create_entity(NewEntity::new("person")))?;
    /// repository.checkpoint()?;
    /// repository.close()?;
    /// let repository = Repository::with_log_and_store(log, store, Options::default())?;
    /// assert_eq!(repository.snapshot().entities_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Errors: those of the log; `Gap` if the store has a checkpoint of records that the log lacks.
    pub fn with_log_and_store(
        log: Arc<dyn Log>,
        store: Arc<dyn Store>,
        options: Options,
    ) -> Result<Repository> {
        Repository::with_parts(log, Some(Checkpoints::new(store)), false, options)
    }

    /// The same with a store that no other repository uses, also on a log with a register: a folder of this machine, say.
    ///
    /// Errors: as [`with_log_and_store`](Repository::with_log_and_store).
    pub fn with_log_and_cache(
        log: Arc<dyn Log>,
        store: Arc<dyn Store>,
        options: Options,
    ) -> Result<Repository> {
        Repository::with_parts(log, Some(Checkpoints::new(store)), true, options)
    }

    fn with_parts(
        log: Arc<dyn Log>,
        checkpoints: Option<Checkpoints>,
        is_store_own: bool,
        options: Options,
    ) -> Result<Repository> {
        let memory = Arc::new(Memory::new(options.memory_bytes_max));
        memory.check()?;
        let spill = options.spill(None, &memory);
        let is_shared = log.register().is_some() && !is_store_own;
        let removed = match &checkpoints {
            // An opening does not know the objects that other repositories need.
            Some(checkpoints) if !options.is_read_only && !is_shared => checkpoints.remove_stale(&*log),
            _ => Ok(()),
        };
        let warning = removed.err().map(|error| error.to_string());
        let parts = Parts {
            log,
            checkpoints,
            folder: None,
            is_store_named: true,
            is_store_own,
            warning,
            forked: None,
        };
        Repository::start(parts, spill.as_ref(), memory, options)
    }

    /// A repository that begins as the copy of another one, whose records are the first of its log, and shares a memory
    /// budget. It has no committing thread: only one thread may commit at a time, and it must wait for each commit.
    pub(crate) fn forked(log: Arc<dyn Log>, from: Indexed, memory: Arc<Memory>) -> Result<Repository> {
        let forked = Some(from);
        let (checkpoints, folder, warning) = (None, None, None);
        let parts =
            Parts { log, checkpoints, folder, is_store_named: true, is_store_own: true, warning, forked };
        Repository::start(parts, None, memory, Options::default())
    }

    fn start(
        Parts { log, checkpoints, folder, is_store_named, is_store_own, warning, forked }: Parts,
        spill: Option<&SpillSettings>,
        memory: Arc<Memory>,
        options: Options,
    ) -> Result<Repository> {
        let queue_bytes = memory.share(options.queue_bytes_max);
        let source = Arc::new(Source::new(Arc::clone(&log), memory));
        let mut warnings = Vec::from_iter(warning);
        let empty = Indexed::new(Graph::with_spill(spill), Arc::default());
        let begun = (options.clock)();
        let on_replay = options.on_replay.as_ref();
        let upkeep = upkeep_of(&log, forked.is_some(), &options);
        let checkpoints = match upkeep.as_ref().filter(|_| !is_store_own) {
            Some(upkeep) => checkpoints.map(|checkpoints| checkpoints.shared(Arc::clone(upkeep))),
            None => checkpoints,
        };
        // Order: first. Beside a writer the log would be read in vain.
        let seat = seat_of(upkeep.as_ref(), &options)?;
        let (indexed, loaded_position) = load_with(&*log, source.memory(), on_replay, || {
            if let Some(forked) = &forked {
                return Ok(forked.clone());
            }
            let newest = match &checkpoints {
                Some(checkpoints) => checkpoints.load_newest(&*log, spill, &mut warnings)?,
                None => None,
            };
            Ok(newest.unwrap_or_else(|| {
                let mut empty = empty.clone();
                empty.graph.generation = log.generation();
                empty
            }))
        })?;
        let read_only = refusal_at_first(&log.describe(), options.is_read_only, seat.is_some());
        let limits = Limits {
            queue_transactions: options.queue_transactions_max,
            queue_bytes,
            log_patience: Duration::from_millis(options.log_patience_ms),
        };
        let contents = options.contents.clone().map(|store| match &upkeep {
            Some(upkeep) => Contents::shared(store, Arc::clone(upkeep)),
            None if is_store_named => Contents::elsewhere(store),
            None => Contents::new(store),
        });
        // In a store of several repositories the writes of others go on.
        if let (Some(contents), false) = (&contents, options.is_read_only || upkeep.is_some()) {
            // Remains of interrupted writes take room but do no other harm.
            warnings.extend(contents.store().remove_unfinished().err().map(|error| {
                format!("contents: the remains of interrupted writes cannot be removed: {error}")
            }));
        }
        let (clock, observer) = (Arc::clone(&options.clock), options.observer.clone());
        let committer =
            Arc::new(Committer::new(indexed, source, contents, clock, observer, limits, read_only));
        let inner = Arc::new(Inner {
            committer,
            folder,
            checkpoints,
            options,
            seat,
            hub: Arc::default(),
            warnings: Mutex::new(warnings),
            threads: Mutex::default(),
            is_stopping: Arc::default(),
            checkpointed: AtomicU64::new(loaded_position.0),
            is_ended: AtomicBool::new(false),
            maintenance: Mutex::new(()),
        });
        let repository = Repository { inner: Arc::new(Open(inner)) };
        if repository.inner().options.is_read_only {
            repository.settle_at_opening(begun);
        }
        repository.start_threads(forked.is_some())?;
        Ok(repository)
    }

    fn start_threads(&self, is_forked: bool) -> Result<()> {
        let inner = self.inner();
        let mut threads = if inner.options.is_read_only {
            let is_stopping = || Arc::clone(&inner.is_stopping);
            let mut threads = vec![poll(Arc::clone(&inner.committer), is_stopping(), &inner.options)?];
            if let Some(seat) = &inner.seat {
                threads.push(start_lease(seat, &inner.committer, is_stopping())?);
            }
            threads
        } else if is_forked {
            prepare(&inner.committer);
            Vec::new()
        } else {
            self.take_seat()?;
            let mut threads = start(&inner.committer)?;
            threads.push(start_confirming(&inner.committer, Arc::clone(&inner.is_stopping))?);
            if let Some(seat) = &inner.seat {
                let is_stopping = || Arc::clone(&inner.is_stopping);
                threads.push(poll(Arc::clone(&inner.committer), is_stopping(), &inner.options)?);
                threads.push(start_lease(seat, &inner.committer, is_stopping())?);
                threads.push(crate::maintenance::removals::start(inner, is_stopping())?);
            }
            threads
        };
        threads.push(Publisher::start(Arc::clone(inner.committer.publisher()))?);
        if inner.checkpoints.is_some() && !inner.options.is_read_only {
            threads.push(crate::maintenance::checkpoint::start(inner, Arc::clone(&inner.is_stopping))?);
        }
        *self.lock_threads() = threads;
        Ok(())
    }

    fn lock_threads(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner.0
    }

    /// The present graph: all durable commits and nothing else. Costs one atomic load.
    ///
    /// A follower with a memory budget may have none for a while: then the snapshot is empty and of position zero, and
    /// [`Repository::try_snapshot`] fails.
    pub fn snapshot(&self) -> Snapshot {
        self.inner.committer.snapshot()
    }

    /// A transaction on the present snapshot.
    pub fn transaction(&self) -> Transaction {
        Transaction::new(Arc::clone(&self.inner.committer), self.snapshot())
    }

    /// Runs `work` in a transaction and commits it. After a conflict it runs `work` again, on a fresh snapshot.
    ///
    /// Errors: those of `work`; those of [`Transaction::commit`], but `Conflict` only after
    /// [`RETRIES_MAX`](crate::RETRIES_MAX) conflicts.
    pub fn transact<T>(&self, work: impl FnMut(&mut Transaction) -> Result<T>) -> Result<(T, Receipt)> {
        transact(&self.inner.committer, work)
    }

    /// Candidates: working copies that stay until they end.
    pub fn candidates(&self) -> Candidates {
        Candidates::new(Arc::clone(&self.inner.committer))
    }

    /// The store of contents: binaries beside the log.
    ///
    /// Errors: `InvalidArgument` for a repository on a log alone, if the option `contents` is not set.
    pub fn contents(&self) -> Result<Contents> {
        self.inner.committer.contents.clone().ok_or_else(no_contents)
    }

    /// Follows the records after `position`: those that exist, and later ones as they are committed.
    pub fn follow(&self, after: Position) -> Follow {
        Follow::new(Arc::clone(&self.inner.committer), after)
    }

    /// Subscribes to the changes of a part of the graph by the records after a position; without a position, by later
    /// records.
    ///
    /// ```
    /// use annals::{Repository, TreePath, Watch, WatchedChange, TreeChangeKind};
    /// # fn main() -> annals::Result<()> {
    /// let repository = Repository::in_memory();
    /// let mut subscription = repository.subscribe(Watch::tree("/system")?, None)?;
    /// repository.transact(|t| t.tree().set(&TreePath::parse("/system/hostname")?, "r1"))?;
    /// let event = subscription.poll()?.unwrap();
    /// assert!(matches!(&event.changes[0], WatchedChange::Tree(change) if change.kind == TreeChangeKind::Created));
    /// assert!(subscription.poll()?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Errors: `InvalidArgument` for a path that is not a look-up, or a search with conditions on relationships;
    /// `NotFound` for a position that does not exist yet.
    pub fn subscribe(&self, watch: Watch, after: Option<Position>) -> Result<Subscription> {
        Subscription::new(Arc::clone(&self.inner.committer), Arc::clone(&self.inner.hub), watch, after)
    }

    /// Calls `hook` for each transaction before it is durable, until the returned value is dropped. If the hook
    /// refuses, the commit fails with its reason, and nothing is written. While a hook is registered, each record is
    /// synced alone, so that the hook sees exactly the state before and after the transaction.
    ///
    /// The hook runs on the committing thread, and blocks all other commits meanwhile. It must not commit itself.
    ///
    /// ```
    /// use annals::{ErrorKind, NewEntity, Repository};
    /// # fn main() -> annals::Result<()> {
    /// let repository = Repository::in_memory();
    /// let _few = repository.validate("few", |proposal| match proposal.after().entities_count() {
    ///     0..=1 => Ok(()),
    ///     count => Err(format!("expected at most one entity, found {count}")),
    /// });
    /// repository.transact(|t| t.create_entity(NewEntity::new("person")))?;
    /// let refused = repository.transact(|t| t.create_entity(NewEntity::new("person"))).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::Refused);
    /// # Ok(())
    /// # }
    /// ```
    pub fn validate(
        &self,
        name: &str,
        hook: impl Fn(&Proposal) -> std::result::Result<(), String> + Send + Sync + 'static,
    ) -> Validator {
        self.inner.committer.validators().add(name, hook)
    }

    /// Keeps indexes behind the commits, or lets them catch up: for tests, because searches find the same in both
    /// cases.
    #[doc(hidden)]
    pub fn hold_indexes(&self, is_held: bool) {
        self.inner.committer.publisher().hold(is_held);
    }

    /// Waits until new snapshots have the record at `position`, at most `timeout`; true if they have. A reader beside
    /// the writer uses this to read its own writes.
    pub fn wait_for(&self, position: Position, timeout: Duration) -> bool {
        self.inner.committer.wait_for(position, timeout)
    }

    /// Problems that stopped nothing, e.g. a damaged checkpoint that was ignored; oldest first.
    ///
    /// While the clock is more than a minute behind the last record, the last warning reports this.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.inner.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        warnings.extend(self.inner.committer.clock_warning());
        warnings
    }

    /// The failed sync since which the repository refuses writes, if there is one.
    pub fn failure(&self) -> Option<Error> {
        self.inner.committer.failure()
    }

    /// Why the repository refuses writes now, if it does: permanently, see [`Repository::failure`]; because the last
    /// write found no room (`NoRoom`) or the system refused it (`Io`); or because the memory budget is spent
    /// (`NoRoom`).
    ///
    /// The call checks for room, so that a server without writes notices when there is room again. Always `None` in a
    /// repository that was opened read-only.
    pub fn refusal(&self) -> Option<Error> {
        if self.is_read_only() {
            return None;
        }
        self.inner.committer.refusal()
    }

    /// The memory budget, if there is one. Units: bytes.
    pub fn memory_bytes_max(&self) -> Option<u64> {
        self.inner.options.memory_bytes_max
    }

    /// Reserves memory for work that prepares a write, such as parsing a document, before it is done: until the result
    /// is dropped, the memory budget counts these bytes. Without a budget it reserves nothing.
    ///
    /// Units: bytes, an upper estimate.
    /// Errors: `NoRoom` if the process would hold more than the budget; `Io` after long values could not be written to
    /// disk.
    pub fn reserve_memory(&self, bytes: usize) -> Result<ReservedMemory> {
        self.inner.committer.source().memory().reserve(bytes)
    }

    /// True while the repository refuses writes because the memory budget is spent.
    pub fn is_memory_spent(&self) -> bool {
        self.inner.committer.source().memory().is_spent()
    }

    /// Number of transactions waiting to be committed.
    pub fn queue_length(&self) -> usize {
        self.inner.committer.queue_length()
    }

    /// Size of the log; 0 if the log does not know it. Units: bytes.
    pub fn log_bytes(&self) -> u64 {
        self.inner.log_bytes()
    }

    /// True if it was opened read-only, or does not write at present because another one writes to its log.
    pub fn is_read_only(&self) -> bool {
        !self.inner.committer.is_writer()
    }

    /// Ends maintenance in progress, and begins no other: a checkpoint, and a compaction that has not replaced the log yet.
    /// Call it before a [`Repository::close`] that has to wait for something else. Reads and writes go on until then.
    pub fn begin_closing(&self) {
        self.inner.is_stopping.store(true, Ordering::SeqCst);
    }

    /// Commits submitted transactions, refuses later ones, writes a checkpoint if the log has grown by much
    /// ([`Options::checkpoint_end_bytes`]), and releases the folder. Dropping the last clone does the same.
    ///
    /// A checkpoint that cannot be written, or takes longer than five seconds, is a warning: nothing is lost.
    /// Errors: those of the log while it syncs for the last time.
    pub fn close(self) -> Result<()> {
        self.inner.end()
    }
}

impl Inner {
    pub(crate) fn warn(&self, warning: String) {
        if let Some(observer) = &self.options.observer {
            observer.warned(&warning);
        }
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if warnings.len() == WARNINGS_MAX {
            warnings.remove(0);
        }
        warnings.push(warning);
    }

    /// Ends the threads, after all accepted transactions are written. False if they end later on their own: one of
    /// these threads may drop the last clone in a callback, and the others may need it to end.
    fn stop(&self) -> bool {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.committer.close();
        self.committer.publisher().close();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let is_own = threads.iter().any(|thread| thread.thread().id() == std::thread::current().id());
        for thread in threads {
            thread.thread().unpark();
            if !is_own {
                let _ = thread.join();
            }
        }
        !is_own
    }

    /// Ends the threads, writes a checkpoint if one is due, and closes the log.
    ///
    /// Errors: those of closing the log.
    fn end(&self) -> Result<()> {
        let is_stopped = self.stop();
        // A compaction in progress must not write into a folder that the next writer has opened.
        let _one = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_stopped {
            return Ok(());
        }
        if let Some(seat) = &self.seat
            && let Err(error) = seat.demote(&self.committer)
        {
            self.warn(format!(
                "the lease was not given back, so a standby waits until it has ended: {error}"
            ));
        }
        // Order: before the log is closed, because then the next writer may open it.
        if !self.is_ended.swap(true, Ordering::SeqCst) {
            self.checkpoint_at_end();
        }
        self.committer.source().log().close()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Snapshots may outlive the repository and still read; the next writer need not wait for them.
        let _ = self.end();
    }
}

/// The upkeep of stores that the repositories of the log share; `None` without a register.
fn upkeep_of(log: &Arc<dyn Log>, is_forked: bool, options: &Options) -> Option<Arc<SharedUpkeep>> {
    log.register().filter(|_| !is_forked)?;
    let grace = Duration::from_millis(options.removal_grace_ms);
    Some(Arc::new(SharedUpkeep::new(Arc::clone(log), grace)))
}
