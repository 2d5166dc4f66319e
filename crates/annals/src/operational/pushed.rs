//! The state pushed under one lease: a repository in memory with one tree, which drops its history when it is long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::template::{Fork, Template, learn};
use crate::model::{Action, Id, Value};
use crate::read::Snapshot;
use crate::repository::Repository;
use crate::tree::{Branch, Item, TreePath};
use crate::write::{Transaction, TreeEdit};
use crate::{Error, ErrorKind, Result};
use std::sync::Mutex;

/// Most bytes of the state pushed under one lease; with a memory budget at most a sixteenth of it. Units: bytes of
/// records, and 512 bytes for each change.
pub const LEASE_BYTES_MAX: u64 = 256 << 20;
/// Most bytes of all pushed state; with a memory budget at most a quarter of it. Units: as [`LEASE_BYTES_MAX`].
pub const LEASES_BYTES_MAX: u64 = 1 << 30;
/// A lease for which history takes about more than this, and more than its present state, is packed without it. Units:
/// as [`LEASE_BYTES_MAX`].
const HISTORY_BYTES_MAX: u64 = 16 << 20;
/// The memory of a change besides its record: row, id, links, entries of indexes. Units: bytes.
const CHANGE_BYTES: u64 = 512;
/// Packing copies so many items in one transaction, or so many bytes of values.
const PACKED_ITEMS_MAX: usize = 256;
const PACKED_BYTES_MAX: usize = 4 << 20;
/// Packing copies an item as a whole if it has at most so many items, and so many bytes of values.
const PIECE_ITEMS_MAX: usize = 64;
const PIECE_BYTES_MAX: usize = 1 << 20;

/// The id of the entity from which the paths of a lease start.
///
/// Errors: `InvalidArgument` for a name that clients cannot put into a path of a URL.
pub(super) fn root_of(name: &str) -> Result<Id> {
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        let text = format!(
            "lease {name:?}: expected a name without slashes that is not \".\" or \"..\"; choose another"
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Id::new(&format!("lease:{name}"))
}

/// The bounds of pushed state, and how much there is.
pub(super) struct Account {
    /// Of one lease. Units: as [`LEASE_BYTES_MAX`].
    one_max: u64,
    all_max: u64,
    all: AtomicU64,
}

impl Account {
    pub(super) fn new(budget: Option<u64>) -> Account {
        let all_max = budget.map_or(LEASES_BYTES_MAX, |budget| LEASES_BYTES_MAX.min(budget / 4));
        Account::of(LEASE_BYTES_MAX.min(all_max / 4), all_max)
    }

    pub(super) fn of(one_max: u64, all_max: u64) -> Account {
        Account { one_max, all_max, all: AtomicU64::new(0) }
    }

    /// Bytes of all pushed state.
    pub(super) fn bytes(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    fn history_max(&self) -> u64 {
        HISTORY_BYTES_MAX.min(self.one_max / 4)
    }
}

/// Bytes that count until this is dropped.
struct Charged {
    account: Arc<Account>,
    bytes: u64,
    /// Instances that were created, and their share of the bytes.
    created: u64,
    created_bytes: u64,
}

impl Charged {
    fn new(account: &Arc<Account>) -> Charged {
        Charged { account: Arc::clone(account), bytes: 0, created: 0, created_bytes: 0 }
    }

    fn add(&mut self, need: Need) {
        let Need { bytes, changes, created } = need;
        self.bytes += bytes;
        self.created += created;
        self.created_bytes += share(bytes, created, changes);
        self.account.all.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of history, if so many instances are there: all but what made those, taken as all alike.
    fn history(&self, instances: u64) -> u64 {
        self.bytes - share(self.created_bytes, instances.min(self.created), self.created)
    }
}

/// The share of `bytes` that `part` has in `whole`.
fn share(bytes: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(bytes)
}

/// The room for a push.
struct Need {
    bytes: u64,
    changes: u64,
    created: u64,
}

impl Need {
    fn of(t: &Transaction) -> Need {
        let changes = t.changes_count() as u64;
        let is_creation =
            |action: &&Action| matches!(action, Action::CreateEntity(_) | Action::CreateRelationship(_));
        let created = t.actions().filter(is_creation).count() as u64;
        Need { bytes: t.record_bytes() as u64 + CHANGE_BYTES * changes, changes, created }
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        self.account.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The state pushed under one lease.
pub(super) struct Pushed {
    root: Id,
    repository: Repository,
    /// How many declarations of types it has copied.
    types_known: usize,
    /// All records since the last packing.
    charged: Charged,
}

impl Pushed {
    pub(super) fn new(
        root: Id,
        template: &Mutex<Template>,
        running: &Snapshot,
        account: &Arc<Account>,
    ) -> Result<Pushed> {
        let mut template = template.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Fork { repository, types_known } = template.fork(running)?;
        Ok(Pushed { root, repository, types_known, charged: Charged::new(account) })
    }

    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Changes the tree within the bounds, or does nothing.
    ///
    /// Errors: `TooLarge` over the bound of a lease; `Busy` over that of all leases; those of `work`.
    pub(super) fn edit<T>(
        &mut self,
        running: &Snapshot,
        mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.types_known = learn(&self.repository, self.types_known, running)?;
        let ((done, need), _) = self.repository.transact(|t| {
            let done = work(&mut t.tree_below(self.root.clone()))?;
            let need = Need::of(t);
            self.check_room(need.bytes)?;
            Ok((done, need))
        })?;
        self.charged.add(need);
        Ok(done)
    }

    fn check_room(&self, need: u64) -> Result<()> {
        let Account { one_max, all_max, .. } = &*self.charged.account;
        let one = self.charged.bytes + need;
        if one > *one_max {
            let text = format!(
                "lease: expected at most {one_max} bytes of state under one lease, found {one} with this push; push less, \
                 or delete some of it"
            );
            return Err(Error::new(ErrorKind::TooLarge, text).with("bytesMax", one_max));
        }
        let all = self.charged.account.bytes() + need;
        if all > *all_max {
            let text = format!(
                "lease: expected at most {all_max} bytes of state under all leases, found {all} with this push; end leases, \
                 or try again later"
            );
            return Err(Error::new(ErrorKind::Busy, text).with("bytesMax", all_max));
        }
        Ok(())
    }

    /// True if the history takes more than its bound, and more than the present state.
    pub(super) fn is_history_long(&self) -> bool {
        let history = self.history();
        history > (self.charged.bytes - history).max(self.charged.account.history_max())
    }

    /// True if packing may free memory.
    pub(super) fn has_history(&self) -> bool {
        self.history() > 0
    }

    fn history(&self) -> u64 {
        let now = self.repository.snapshot();
        self.charged.history(now.entities_count() + now.relationships_count())
    }

    /// The same tree without history, in a repository of its own, copied in bounded steps.
    pub(super) fn packed(&self, template: &Mutex<Template>, running: &Snapshot) -> Result<Pushed> {
        let mut packed = Pushed::new(self.root.clone(), template, running, &self.charged.account)?;
        if let Some(item) = self.repository.snapshot().tree_below(&self.root).get(&TreePath::root(), None)? {
            let mut copying =
                Copying { to: &mut packed, above: Vec::new(), pieces: Vec::new(), items: 0, bytes: 0 };
            copying.add(None, item)?;
            copying.write()?;
        }
        Ok(packed)
    }

    /// Ends subscriptions, and frees the state.
    pub(super) fn close(self) {
        // A log in memory cannot fail.
        let _ = self.repository.close();
    }
}

/// A tree while it is copied in pieces.
struct Copying<'p> {
    to: &'p mut Pushed,
    /// The items above the next one, from the top down, each with only its keys.
    above: Vec<Branch>,
    /// Trees from the root that the next transaction merges.
    pieces: Vec<Item>,
    items: usize,
    bytes: usize,
}

impl Copying<'_> {
    /// Adds an item with everything below it; `place` is its name and whether it is in a list, `None` at the root.
    fn add(&mut self, place: Option<(Arc<str>, bool)>, mut item: Item) -> Result<()> {
        if item.items_count() <= PIECE_ITEMS_MAX && item_bytes(&item) <= PIECE_BYTES_MAX {
            return self.push(place, item);
        }
        let children = std::mem::take(&mut item.children);
        let skeleton = self.skeleton(place.as_ref(), &item);
        self.push(place.clone(), item)?;
        let is_root = place.is_none();
        if let Some((name, is_listed)) = place {
            self.above.push(Branch { name, is_listed, item: skeleton });
        }
        for Branch { name, is_listed, item } in children {
            self.add(Some((name, is_listed)), item)?;
        }
        if !is_root {
            self.above.pop();
        }
        Ok(())
    }

    /// An item without its properties, except the keys that name it in a list.
    fn skeleton(&self, place: Option<&(Arc<str>, bool)>, item: &Item) -> Item {
        let snapshot = self.to.repository.snapshot();
        let graph = snapshot.graph();
        let list = place.filter(|(_, is_listed)| *is_listed).and_then(|(name, _)| graph.list_type(name));
        let keys: Vec<&Arc<str>> = list
            .map_or(&[][..], |list| graph.keys_of(list))
            .iter()
            .map(|key| graph.names.name(*key))
            .collect();
        let properties = item.properties.iter().filter(|(name, _)| keys.contains(&name)).cloned().collect();
        Item { id: item.id.clone(), type_name: item.type_name.clone(), properties, children: Vec::new() }
    }

    fn push(&mut self, place: Option<(Arc<str>, bool)>, item: Item) -> Result<()> {
        self.items += item.items_count();
        self.bytes += item_bytes(&item);
        let piece = match place {
            None => item,
            Some((name, is_listed)) => {
                let inner = Branch { name, is_listed, item };
                let outermost = self.above.iter().rev().fold(inner, |inner, above| {
                    let item = Item { children: vec![inner], ..above.item.clone() };
                    Branch { name: Arc::clone(&above.name), is_listed: above.is_listed, item }
                });
                Item { children: vec![outermost], ..Item::default() }
            }
        };
        self.pieces.push(piece);
        if self.items >= PACKED_ITEMS_MAX || self.bytes >= PACKED_BYTES_MAX { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let pieces = std::mem::take(&mut self.pieces);
        (self.items, self.bytes) = (0, 0);
        let root = self.to.root.clone();
        // Without the bounds: what is copied is there already.
        let (need, _) = self.to.repository.transact(|t| {
            let mut tree = t.tree_below(root.clone());
            pieces.iter().try_for_each(|piece| tree.merge(&TreePath::root(), piece).map(drop))?;
            Ok(Need::of(t))
        })?;
        self.to.charged.add(need);
        Ok(())
    }
}

fn item_bytes(item: &Item) -> usize {
    let own: usize = item.properties.iter().map(|(name, value)| name.len() + value_bytes(value)).sum();
    own + item.children.iter().map(|child| item_bytes(&child.item)).sum::<usize>()
}

/// About the bytes of a value in a record.
fn value_bytes(value: &Value) -> usize {
    const SCALAR_BYTES: usize = 16;
    SCALAR_BYTES
        + match value {
            Value::String(text) | Value::Iri(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Literal(literal) => literal.bytes(),
            Value::List(list) => list.iter().map(value_bytes).sum(),
            Value::Map(map) => map.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
            Value::Set(set) => set.iter().map(|value| value_bytes(&value)).sum(),
            _ => 0,
        }
}
