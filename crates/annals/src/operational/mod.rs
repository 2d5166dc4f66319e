//! The operational view: the running tree, merged with state that clients push under leases and with answers of
//! providers, which it asks at each read. The history has none of this.

mod merged;
mod template;
mod pushed;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

use crate::feed::subscription::Subscription;
use crate::log::Term;
use crate::read::{ItemsRoom, Snapshot, Watch};
use crate::repository::Repository;
use crate::tree::{Item, TreePath};
use crate::write::TreeEdit;
use crate::{Error, ErrorKind, Position, Result};
pub use merged::{OperationalBranch, OperationalItem, Origin};
use pushed::{Account, Pushed};
pub use pushed::{LEASE_BYTES_MAX, LEASES_BYTES_MAX};
use template::Template;

/// Most leases at once.
pub const LEASES_MAX: usize = 1_000;
/// Most providers at once.
pub const PROVIDERS_MAX: usize = 1_000;
/// Longest time of a lease. A client can renew it any number of times.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 3_600);
/// Most items of one view, not counting those of providers.
pub const VIEW_ITEMS_MAX: usize = 1_000_000;
/// How often the thread checks for leases that are over.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A lease, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its name.
    pub name: Arc<str>,
    /// Time until it ends unless it is renewed.
    pub left: Duration,
}

/// A lease that has not ended. A later lease of the same name is another one.
struct Held {
    ends: Clock,
    tree: Arc<Tree>,
}

impl Held {
    fn told(&self, name: &Arc<str>, now: Clock) -> Lease {
        Lease { name: Arc::clone(name), left: self.ends.saturating_duration_since(now) }
    }
}

/// The state of one lease.
#[derive(Default)]
struct Tree {
    /// True once the lease has ended.
    is_over: AtomicBool,
    /// Locked while state is pushed or packed, which takes time. `None` until a client pushes.
    pushed: Mutex<Option<Pushed>>,
    /// The same repository, for readers: locked only for a moment.
    shown: Mutex<Option<Repository>>,
}

impl Tree {
    fn lock(&self) -> MutexGuard<'_, Option<Pushed>> {
        self.pushed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, repository: Option<Repository>) {
        let before = std::mem::replace(&mut *self.lock_shown(), repository);
        // Order: after the lock is released, because the last reference frees the state.
        drop(before);
    }

    fn lock_shown(&self) -> MutexGuard<'_, Option<Repository>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.lock_shown().as_ref().map(Repository::snapshot)
    }

    /// Drops the history, in bounded steps.
    fn pack(&self, pushed: &mut Pushed, inner: &Inner) -> Result<()> {
        let packed = pushed.packed(&inner.template, &inner.running.snapshot())?;
        self.show(Some(packed.repository().clone()));
        // Subscriptions to the old repository end.
        std::mem::replace(pushed, packed).close();
        Ok(())
    }
}

type Provide = dyn Fn(&TreePath) -> Result<Option<Item>> + Send + Sync;

struct Provided {
    name: Arc<str>,
    path: TreePath,
    provide: Weak<Provide>,
}

/// Keeps a provider in use until it is dropped. Made by [`Operational::provide`].
#[must_use = "the provider is asked as long as this is kept"]
pub struct Provider {
    _provide: Arc<Provide>,
}

/// The running tree of a repository, merged at each read with other state: first the state that clients push under
/// leases, in the order of the names of the leases, then the answers of providers. Clones share it.
///
/// ```
/// use std::time::Duration;
/// use annals::{Item, Operational, Origin, Repository, TreePath};
/// # fn main() -> annals::Result<()> {
/// let repository = Repository::in_memory();
/// let eth0 = TreePath::parse("/interfaces/eth0")?;
/// repository.transact(|t| t.tree().merge(&eth0, &Item::new().property("mtu", 1500)))?;
/// let operational = Operational::over(&repository)?;
/// operational.open_lease("driver", Duration::from_secs(10))?;
/// operational.push("driver", |tree| tree.merge(&eth0, &Item::new().property("is-up", true)))?;
/// let found = operational.get(&eth0, None)?.unwrap();
/// assert_eq!(found.property("mtu").unwrap().1, Origin::Running);
/// assert_eq!(found.property("is-up").unwrap().1, Origin::Lease("driver".into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Operational {
    inner: Arc<Open>,
}

/// The state that all clones share; the thread that ends leases holds the inner part only for a moment.
struct Open {
    inner: Arc<Inner>,
    is_stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Inner {
    running: Repository,
    /// The term in which it was made: its leases end with it.
    term: Term,
    /// Locked only for moments: never while state is pushed, packed, freed or read.
    state: Mutex<State>,
    template: Mutex<Template>,
    account: Arc<Account>,
    /// Ended leases, whose state the thread frees.
    ended: Mutex<Vec<Arc<Tree>>>,
}

#[derive(Default)]
struct State {
    leases: BTreeMap<Arc<str>, Held>,
    providers: Vec<Provided>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Operational {
    /// The operational view over a repository, without leases. It writes nothing there.
    ///
    /// Errors: `ReadOnly`, or `NotWriter`, for a repository that does not write: its writer has the leases. `Io` if no thread can
    /// be started.
    pub fn over(running: &Repository) -> Result<Operational> {
        // Order: before the check, so that a term that ends meanwhile is over in it.
        let term = running.inner().committer.term();
        running.check_writer().map_err(|error| {
            let text = "operational view: this repository does not write, and leases, with the state pushed under them, are \
                        at its writer";
            Error::new(error.kind(), text)
        })?;
        Operational::within(running, term, Account::new(running.memory_bytes_max()))
    }

    fn within(running: &Repository, term: Term, account: Account) -> Result<Operational> {
        let inner = Arc::new(Inner {
            running: running.clone(),
            term,
            state: Mutex::default(),
            template: Mutex::new(Template::new(running)?),
            account: Arc::new(account),
            ended: Mutex::default(),
        });
        let is_stopping = Arc::new(AtomicBool::new(false));
        let (shared, is_over) = (Arc::downgrade(&inner), Arc::clone(&is_stopping));
        let thread = std::thread::Builder::new()
            .name("annals-leases".into())
            .spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    std::thread::park_timeout(LOOK_INTERVAL);
                    let Some(inner) = shared.upgrade() else { return };
                    drop(inner.state());
                    inner.free_ended();
                }
            })
            .map_err(|source| Error::io("start the thread annals-leases", source))?;
        Ok(Operational { inner: Arc::new(Open { inner, is_stopping, thread: Some(thread) }) })
    }

    /// Refuses if the repository has stopped writing since this was made: its leases are over, and a client opens its own at
    /// the writer. Every call below asks this first. A repository that writes again needs another [`Operational::over`].
    ///
    /// Errors: `NotWriter`.
    pub fn check(&self) -> Result<()> {
        self.inner().check()
    }

    /// Opens a lease: when it ends, the state pushed under it is removed.
    ///
    /// Errors: those of [`Operational::check`]; `AlreadyExists`; `InvalidArgument` for a name that no id can have, for `.` and `..`, or for a time over
    /// [`LEASE_MAX`]; `TooLarge` over [`LEASES_MAX`].
    pub fn open_lease(&self, name: &str, lasts: Duration) -> Result<()> {
        let ends = ends(lasts)?;
        pushed::root_of(name)?;
        let mut state = self.inner().live()?;
        if state.leases.contains_key(name) {
            let text = format!("lease {name}: there is one of this name; renew it, or end it first");
            return Err(Error::new(ErrorKind::AlreadyExists, text).with("lease", name));
        }
        if state.leases.len() >= LEASES_MAX {
            let text = format!("lease {name}: expected at most {LEASES_MAX} leases; end some");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        state.leases.insert(name.into(), Held { ends, tree: Arc::default() });
        Ok(())
    }

    /// Extends a lease: it ends after this time from now.
    ///
    /// Errors: `NotFound` if it does not exist or has ended; `InvalidArgument` for a time over [`LEASE_MAX`].
    pub fn renew(&self, name: &str, lasts: Duration) -> Result<()> {
        let ends = ends(lasts)?;
        self.inner().live()?.leases.get_mut(name).ok_or_else(|| no_lease(name))?.ends = ends;
        Ok(())
    }

    /// Ends a lease. Its state is in no view from now on; a thread frees it.
    ///
    /// Errors: `NotFound`.
    pub fn end_lease(&self, name: &str) -> Result<()> {
        let held = self.inner().live()?.leases.remove(name).ok_or_else(|| no_lease(name))?;
        self.inner().end(vec![held.tree]);
        if let Some(thread) = &self.inner.thread {
            thread.thread().unpark();
        }
        Ok(())
    }

    /// A lease.
    ///
    /// Errors: `NotFound`.
    pub fn lease(&self, name: &str) -> Result<Lease> {
        let state = self.inner().live()?;
        let (name, held) = state.leases.get_key_value(name).ok_or_else(|| no_lease(name))?;
        Ok(held.told(name, Clock::now()))
    }

    /// All leases, by name.
    pub fn leases(&self) -> Result<Vec<Lease>> {
        let state = self.inner().live()?;
        let now = Clock::now();
        Ok(state.leases.iter().map(|(name, held)| held.told(name, now)).collect())
    }

    /// Changes the state pushed under a lease: a separate tree, with the lists and values of the declared types.
    /// Required properties and children may be missing, because clients push state in parts. `work` must not push under
    /// the same lease.
    ///
    /// Errors: `NotFound` if there is no such lease; those of `work`; those of a transaction; `TooLarge` over
    /// [`LEASE_BYTES_MAX`]; `Busy` over [`LEASES_BYTES_MAX`]; `NoRoom` if the memory budget is spent.
    pub fn push<T>(&self, name: &str, mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>) -> Result<T> {
        let inner = self.inner();
        let tree = inner.tree(name)?;
        let mut locked = tree.lock();
        let pushed = inner.begin(name, &tree, &mut locked)?;
        let running = inner.running.snapshot();
        let is_full = |error: &Error| matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::Busy);
        let outcome = match pushed.edit(&running, &mut work) {
            // Its own history may take the room.
            Err(error) if is_full(&error) && pushed.has_history() => {
                tree.pack(pushed, inner)?;
                pushed.edit(&running, &mut work)
            }
            outcome => outcome,
        };
        let outcome = match outcome {
            // So may the histories of others.
            Err(error) if error.kind() == ErrorKind::Busy && inner.pack_others(&tree) => {
                pushed.edit(&running, &mut work)
            }
            outcome => outcome,
        };
        let done = outcome?;
        if pushed.is_history_long() {
            // The push is done; the next one tries again.
            let _ = tree.pack(pushed, inner);
        }
        if tree.is_over.load(Ordering::SeqCst) { Err(no_lease(name)) } else { Ok(done) }
    }

    /// Subscribes to later changes of the state pushed under a lease, at a path and below it.
    ///
    /// Errors: `NotFound` if there is no such lease; `InvalidArgument` as [`Repository::subscribe`]. A subscription
    /// ends with `Closed` when the lease ends, and when the pushed state is packed, after many changes: then read it,
    /// and subscribe again.
    pub fn subscribe(&self, name: &str, path: &TreePath, after: Option<Position>) -> Result<Subscription> {
        let inner = self.inner();
        let tree = inner.tree(name)?;
        let mut locked = tree.lock();
        let pushed = inner.begin(name, &tree, &mut locked)?;
        pushed
            .repository()
            .subscribe(Watch::Tree { root: Some(pushed::root_of(name)?), path: path.clone() }, after)
    }

    /// Bytes of all pushed state, also of ended leases that are not freed yet. Units: as [`LEASE_BYTES_MAX`].
    pub fn pushed_bytes(&self) -> u64 {
        self.inner().account.bytes()
    }

    /// Registers a provider for a path, until the returned [`Provider`] is dropped. A read of the path, or of a path
    /// above or below it, calls `provide`. It gets the path that is read, and returns the whole item at its own path,
    /// or `None`.
    ///
    /// Errors: `InvalidArgument` for a path that does not consist of names and keys; `TooLarge` over [`PROVIDERS_MAX`].
    pub fn provide(
        &self,
        name: &str,
        path: &TreePath,
        provide: impl Fn(&TreePath) -> Result<Option<Item>> + Send + Sync + 'static,
    ) -> Result<Provider> {
        Watch::Tree { root: None, path: path.clone() }.check()?;
        let provide: Arc<Provide> = Arc::new(provide);
        let mut state = self.inner().live()?;
        state.providers.retain(|known| known.provide.strong_count() > 0);
        if state.providers.len() >= PROVIDERS_MAX {
            let text = format!("provider {name}: expected at most {PROVIDERS_MAX} providers; drop some");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let weak = Arc::downgrade(&provide);
        state.providers.push(Provided { name: name.into(), path: path.clone(), provide: weak });
        Ok(Provider { _provide: provide })
    }

    /// The item at a path with its subtree, at most `depth` levels, merged from the running tree, the leases and the
    /// providers. Each value has its origin.
    ///
    /// Shape: `None` if nothing is there. Errors: `InvalidArgument` for a path that is not a look-up; `TooLarge` over
    /// [`VIEW_ITEMS_MAX`]; those of providers.
    pub fn get(&self, path: &TreePath, depth: Option<usize>) -> Result<Option<OperationalItem>> {
        let running = self.inner().running.snapshot();
        let mut merging = merged::Merging::new(&running, path, depth);
        let mut room = ItemsRoom::new(VIEW_ITEMS_MAX);
        merging.add(running.tree().get_within(path, depth, &mut room)?, &Origin::Running);
        // Order: after the snapshot, which may show that another one writes.
        let state = self.inner().live()?;
        let trees: Vec<_> =
            state.leases.iter().map(|(name, held)| (Arc::clone(name), Arc::clone(&held.tree))).collect();
        let live =
            |known: &Provided| Some((Arc::clone(&known.name), known.path.clone(), known.provide.upgrade()?));
        let providers: Vec<_> = state.providers.iter().filter_map(live).collect();
        // Order: unlock first, because long trees take time, and providers belong to the application and may push.
        drop(state);
        for (name, tree) in trees {
            if let Some(pushed) = tree.snapshot() {
                let item = pushed.tree_below(&pushed::root_of(&name)?).get_within(path, depth, &mut room)?;
                merging.add(item, &Origin::Lease(name));
            }
        }
        for (name, at, provide) in providers {
            if merging.concerns(&at)
                && let Some(item) = provide(path)?
            {
                merging.add_at(&at, item, &Origin::Provider(name))?;
            }
        }
        Ok(merging.done())
    }

    fn inner(&self) -> &Inner {
        &self.inner.inner
    }
}

impl Inner {
    fn check(&self) -> Result<()> {
        let committer = &self.running.inner().committer;
        if committer.is_writer() && committer.term() == self.term {
            return Ok(());
        }
        let text = "operational view: this repository has stopped writing since the view was made, and its leases are over; \
                    open them at the writer";
        Err(Error::new(ErrorKind::NotWriter, text))
    }

    /// The state, unless all leases are over.
    fn live(&self) -> Result<MutexGuard<'_, State>> {
        self.check()?;
        Ok(self.state())
    }

    /// The state, without leases whose time is over.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Clock::now();
        let mut late = Vec::new();
        state.leases.retain(|_, held| {
            let is_late = held.ends <= now;
            late.extend(is_late.then(|| Arc::clone(&held.tree)));
            !is_late
        });
        self.end(late);
        state
    }

    fn tree(&self, name: &str) -> Result<Arc<Tree>> {
        let state = self.live()?;
        let held = state.leases.get(name).ok_or_else(|| no_lease(name))?;
        Ok(Arc::clone(&held.tree))
    }

    /// The pushed state of a lease, which is empty at first.
    fn begin<'p>(&self, name: &str, tree: &Tree, pushed: &'p mut Option<Pushed>) -> Result<&'p mut Pushed> {
        // The thread frees the state under the same lock, so it makes none again.
        if tree.is_over.load(Ordering::SeqCst) {
            return Err(no_lease(name));
        }
        match pushed {
            Some(known) => Ok(known),
            none => {
                let root = pushed::root_of(name)?;
                let made = Pushed::new(root, &self.template, &self.running.snapshot(), &self.account)?;
                tree.show(Some(made.repository().clone()));
                Ok(none.insert(made))
            }
        }
    }

    /// Drops the histories of other leases that nobody is pushing to. True if there were any.
    fn pack_others(&self, own: &Arc<Tree>) -> bool {
        let state = self.state();
        let trees: Vec<_> = state.leases.values().map(|held| Arc::clone(&held.tree)).collect();
        drop(state);
        let mut has_packed = false;
        for tree in trees.iter().filter(|tree| !Arc::ptr_eq(tree, own)) {
            if let Ok(mut locked) = tree.pushed.try_lock()
                && let Some(pushed) = locked.as_mut().filter(|pushed| pushed.has_history())
            {
                has_packed |= tree.pack(pushed, self).is_ok();
            }
        }
        has_packed
    }

    /// Hands the state of ended leases to the thread.
    fn end(&self, trees: Vec<Arc<Tree>>) {
        if trees.is_empty() {
            return;
        }
        trees.iter().for_each(|tree| tree.is_over.store(true, Ordering::SeqCst));
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).extend(trees);
    }

    /// Frees the state of ended leases, but not of those that somebody still pushes to: their turn comes later.
    fn free_ended(&self) {
        let ended = || self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let trees = std::mem::take(&mut *ended());
        for tree in trees {
            let pushed = match tree.pushed.try_lock() {
                Ok(mut locked) => Some(locked.take()),
                Err(TryLockError::Poisoned(locked)) => Some(locked.into_inner().take()),
                Err(TryLockError::WouldBlock) => None,
            };
            let Some(pushed) = pushed else {
                ended().push(tree);
                continue;
            };
            tree.show(None);
            if let Some(pushed) = pushed {
                pushed.close();
            }
        }
    }
}

fn ends(lasts: Duration) -> Result<Clock> {
    let ends = Clock::now().checked_add(lasts).filter(|_| lasts <= LEASE_MAX && !lasts.is_zero());
    ends.ok_or_else(|| {
        let hours = LEASE_MAX.as_secs() / 3_600;
        let text =
            format!("lease: expected more than no time and at most {hours} hours, found {lasts:?}; renew it");
        Error::new(ErrorKind::InvalidArgument, text)
    })
}

fn no_lease(name: &str) -> Error {
    let text = format!("lease {name}: it does not exist, or has ended; open it");
    Error::new(ErrorKind::NotFound, text).with("lease", name)
}
