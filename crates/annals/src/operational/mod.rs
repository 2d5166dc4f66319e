//! The operational view: the running tree, merged with state that clients push under leases and with answers of
//! providers, which it asks at each read. The history has none of this, unless a lease is recorded.

mod merged;
mod pushed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

use crate::feed::subscription::Subscription;
use crate::read::{ItemsRoom, Watch};
use crate::repository::Repository;
use crate::tree::{Item, TreePath};
use crate::write::TreeEdit;
use crate::{Error, ErrorKind, Position, Result};
pub use merged::{OperationalBranch, OperationalItem, Origin};
use pushed::Pushed;

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
    /// True if the repository records the pushed state in its history.
    pub is_recorded: bool,
}

struct Held {
    ends: Clock,
    is_recorded: bool,
}

impl Held {
    fn told(&self, name: &Arc<str>, now: Clock) -> Lease {
        let left = self.ends.saturating_duration_since(now);
        Lease { name: Arc::clone(name), left, is_recorded: self.is_recorded }
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
/// operational.open_lease("driver", Duration::from_secs(10), false)?;
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
    state: Mutex<State>,
}

struct State {
    pushed: Pushed,
    leases: BTreeMap<Arc<str>, Held>,
    /// Ended leases with recorded state that could not be deleted, because the repository refused writes. The thread
    /// tries again.
    left: BTreeSet<Arc<str>>,
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
    /// The operational view over a repository, without leases. Deletes state that leases of an earlier process have
    /// recorded.
    ///
    /// Errors: those of writing, if there is state to delete; `Io` if no thread can be started.
    pub fn over(running: &Repository) -> Result<Operational> {
        if !running.is_read_only() {
            pushed::delete_left_over(running)?;
        }
        let state = State {
            pushed: Pushed::new()?,
            leases: BTreeMap::new(),
            left: BTreeSet::new(),
            providers: Vec::new(),
        };
        let inner = Arc::new(Inner { running: running.clone(), state: Mutex::new(state) });
        let is_stopping = Arc::new(AtomicBool::new(false));
        let (shared, is_over) = (Arc::downgrade(&inner), Arc::clone(&is_stopping));
        let thread = std::thread::Builder::new()
            .name("annals-leases".into())
            .spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    std::thread::park_timeout(LOOK_INTERVAL);
                    let Some(inner) = shared.upgrade() else { return };
                    let mut state = inner.state();
                    // The next round tries a failed deletion again; no view shows the state any more.
                    let _ = inner.end_late(&mut state);
                    inner.delete_left(&mut state);
                }
            })
            .map_err(|source| Error::io("start the thread annals-leases", source))?;
        Ok(Operational { inner: Arc::new(Open { inner, is_stopping, thread: Some(thread) }) })
    }

    /// Opens a lease: when it ends, the state pushed under it is removed. If `is_recorded`, the history of the
    /// repository has this state while the lease lasts, and the state must fit the declared types.
    ///
    /// Errors: `AlreadyExists`; `InvalidArgument` for a name that no id can have, or a time over [`LEASE_MAX`];
    /// `TooLarge` over [`LEASES_MAX`]; `ReadOnly` to record in a repository that does not write.
    pub fn open_lease(&self, name: &str, lasts: Duration, is_recorded: bool) -> Result<()> {
        let ends = ends(lasts)?;
        pushed::root_of(name)?;
        if is_recorded && self.inner.inner.running.is_read_only() {
            let text = "lease: it cannot be recorded: the repository is open read-only";
            return Err(Error::new(ErrorKind::ReadOnly, text));
        }
        let mut state = self.state()?;
        if state.leases.contains_key(name) {
            let text = format!("lease {name}: there is one of this name; renew it, or end it first");
            return Err(Error::new(ErrorKind::AlreadyExists, text).with("lease", name));
        }
        if state.left.remove(name) {
            self.inner.inner.forget_recorded(&mut state, name)?;
        }
        if state.leases.len() >= LEASES_MAX {
            let text = format!("lease {name}: expected at most {LEASES_MAX} leases; end some");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        state.leases.insert(name.into(), Held { ends, is_recorded });
        Ok(())
    }

    /// Extends a lease: it ends after this time from now.
    ///
    /// Errors: `NotFound` if it does not exist or has ended; `InvalidArgument` for a time over [`LEASE_MAX`].
    pub fn renew(&self, name: &str, lasts: Duration) -> Result<()> {
        let ends = ends(lasts)?;
        self.state()?.leases.get_mut(name).ok_or_else(|| no_lease(name))?.ends = ends;
        Ok(())
    }

    /// Ends a lease, and removes the state pushed under it.
    ///
    /// Errors: `NotFound`; those of writing for a recorded lease: it has ended even so, and its state is deleted later.
    pub fn end_lease(&self, name: &str) -> Result<()> {
        let mut state = self.state()?;
        let held = state.leases.remove(name).ok_or_else(|| no_lease(name))?;
        self.inner.inner.forget(&mut state, name, held.is_recorded)
    }

    /// A lease.
    ///
    /// Errors: `NotFound`.
    pub fn lease(&self, name: &str) -> Result<Lease> {
        let state = self.state()?;
        let (name, held) = state.leases.get_key_value(name).ok_or_else(|| no_lease(name))?;
        Ok(held.told(name, Clock::now()))
    }

    /// All leases, by name.
    pub fn leases(&self) -> Result<Vec<Lease>> {
        let state = self.state()?;
        let now = Clock::now();
        Ok(state.leases.iter().map(|(name, held)| held.told(name, now)).collect())
    }

    /// Changes the state pushed under a lease: a separate tree, with the lists and values of the declared types.
    /// Required properties and children may be missing, because clients push state in parts. `work` must not call this
    /// view: the view may be locked meanwhile.
    ///
    /// Errors: `NotFound` if there is no such lease; those of `work`; those of a transaction; `NoRoom` if all pushed
    /// state is too large.
    pub fn push<T>(&self, name: &str, mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>) -> Result<T> {
        let root = pushed::root_of(name)?;
        let mut state = self.state()?;
        let held = state.leases.get(name).ok_or_else(|| no_lease(name))?;
        let running = &self.inner.inner.running;
        if held.is_recorded {
            // Order: unlock first, so that other threads read and push while this becomes durable.
            drop(state);
            let (done, _) = running.transact(|t| work(&mut t.tree_below(root.clone())))?;
            let mut state = self.state()?;
            if !state.leases.contains_key(name) {
                self.inner.inner.forget_recorded(&mut state, name)?;
                return Err(no_lease(name));
            }
            return Ok(done);
        }
        state.pushed.learn_types(&running.snapshot())?;
        state.pushed.edit(&root, work)
    }

    /// Subscribes to later changes of the state pushed under a lease, at a path and below it.
    ///
    /// Errors: `NotFound` if there is no such lease; `InvalidArgument` as [`Repository::subscribe`]. A subscription to
    /// state that is not recorded ends with `Closed` when the pushed state is packed, after many changes: read it, and
    /// subscribe again.
    pub fn subscribe(&self, name: &str, path: &TreePath, after: Option<Position>) -> Result<Subscription> {
        let state = self.state()?;
        let held = state.leases.get(name).ok_or_else(|| no_lease(name))?;
        let repository = if held.is_recorded { &self.inner.inner.running } else { state.pushed.repository() };
        repository.subscribe(Watch::Tree { root: Some(pushed::root_of(name)?), path: path.clone() }, after)
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
        let mut state = self.inner.inner.state();
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
        let running = self.inner.inner.running.snapshot();
        let mut merging = merged::Merging::new(&running, path, depth);
        let mut room = ItemsRoom::new(VIEW_ITEMS_MAX);
        merging.add(running.tree().get_within(path, depth, &mut room)?, &Origin::Running);
        let state = self.state()?;
        let pushed = state.pushed.repository().snapshot();
        for (name, held) in &state.leases {
            let tree = if held.is_recorded { &running } else { &pushed };
            let item = tree.tree_below(&pushed::root_of(name)?).get_within(path, depth, &mut room)?;
            merging.add(item, &Origin::Lease(Arc::clone(name)));
        }
        let live =
            |known: &Provided| Some((Arc::clone(&known.name), known.path.clone(), known.provide.upgrade()?));
        let providers: Vec<_> = state.providers.iter().filter_map(live).collect();
        // Order: unlock first, because providers belong to the application, may be slow, and may push.
        drop(state);
        for (name, at, provide) in providers {
            if merging.concerns(&at)
                && let Some(item) = provide(path)?
            {
                merging.add_at(&at, item, &Origin::Provider(name))?;
            }
        }
        Ok(merging.done())
    }

    /// The state, without leases that have ended.
    fn state(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.inner.inner.state();
        self.inner.inner.end_late(&mut state)?;
        Ok(state)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends leases whose time is over.
    fn end_late(&self, state: &mut State) -> Result<()> {
        let now = Clock::now();
        let late: Vec<_> = state
            .leases
            .iter()
            .filter(|(_, held)| held.ends <= now)
            .map(|(name, _)| Arc::clone(name))
            .collect();
        for name in late {
            let is_recorded = state.leases.remove(&name).is_some_and(|held| held.is_recorded);
            match self.forget(state, &name, is_recorded) {
                // The repository refuses writes; reads still work.
                Err(_) if is_recorded => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// Tries again to delete the state of ended leases.
    fn delete_left(&self, state: &mut State) {
        for name in std::mem::take(&mut state.left) {
            let _ = self.forget_recorded(state, &name);
        }
    }

    fn forget(&self, state: &mut State, name: &str, is_recorded: bool) -> Result<()> {
        match is_recorded {
            true => self.forget_recorded(state, name),
            false => state.pushed.forget(&pushed::root_of(name)?),
        }
    }

    fn forget_recorded(&self, state: &mut State, name: &str) -> Result<()> {
        let outcome = pushed::empty(&self.running, &pushed::root_of(name)?);
        if outcome.is_err() {
            state.left.insert(name.into());
        }
        outcome.map(drop)
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
