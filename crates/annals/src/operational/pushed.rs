//! The pushed state: a repository in memory, with a tree for each lease, that drops its history when it is long.

use std::sync::Arc;

use crate::log::{Log, MemoryLog, ReadLimit};
use crate::model::{AttributeDefinition, Id, TypeDefinition, TypeKind};
use crate::options::Options;
use crate::read::Snapshot;
use crate::repository::Repository;
use crate::search::Find;
use crate::tree::{Item, TreePath};
use crate::write::{Transaction, TreeEdit};
use crate::{Error, ErrorKind, Position, Result};

/// The prefix of the ids of the roots of leases.
const ROOT: &str = "lease:";
/// Their type.
const ROOT_TYPE: &str = "root";
/// If the present state takes more, pushes are refused. Units: bytes of records, of which memory takes a small
/// multiple.
const BYTES_MAX: u64 = 1 << 30;
/// If the history takes more than this, and more than the present state, the state is packed without it. Units: bytes
/// of records.
const HISTORY_BYTES_MAX: u64 = 256 << 20;

/// The id of the entity from which the paths of a lease start.
pub(super) fn root_of(name: &str) -> Result<Id> {
    if name.is_empty() || name.contains('/') {
        let text = format!("lease {name:?}: expected a name without slashes; choose another");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Id::new(&format!("{ROOT}{name}"))
}

/// All pushed state that is not recorded.
pub(super) struct Pushed {
    repository: Repository,
    /// How many declarations of types it has copied.
    types_known: usize,
    log: MemoryLog,
    /// Bytes of all records: added up, as the log counts them one by one.
    bytes: u64,
    /// Bytes of all records right after packing.
    packed_bytes: u64,
}

impl Pushed {
    pub(super) fn new() -> Result<Pushed> {
        let log = MemoryLog::new();
        let repository = Repository::with_log(Arc::new(log.clone()), Options::default())?;
        Ok(Pushed { repository, types_known: 0, log, bytes: 0, packed_bytes: 0 })
    }

    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Copies the types that the running repository has declared since, without required properties and children.
    pub(super) fn learn_types(&mut self, running: &Snapshot) -> Result<()> {
        let declared = &running.graph().type_changes;
        if declared.len() > self.types_known {
            let news: Vec<_> = declared.iter().skip(self.types_known).collect();
            self.repository.transact(|t| {
                news.iter().try_for_each(|(_, definition)| t.define_type(without_duties(definition)))
            })?;
            self.types_known = declared.len();
        }
        Ok(())
    }

    /// Changes the tree of a lease.
    pub(super) fn edit<T>(
        &mut self,
        root: &Id,
        mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.packed_bytes > BYTES_MAX {
            let text = format!(
                "lease: expected at most {BYTES_MAX} bytes of pushed state, found {}; push less, or end leases",
                self.packed_bytes
            );
            return Err(Error::new(ErrorKind::NoRoom, text));
        }
        let (done, receipt) = self.repository.transact(|t| work(&mut t.tree_below(root.clone())))?;
        self.note(receipt.position)?;
        Ok(done)
    }

    /// Counts the record at a position, and packs if there is too much history.
    fn note(&mut self, position: Position) -> Result<()> {
        let records = self.log.read(position, ReadLimit::ONE)?;
        self.bytes += records.iter().map(|record| record.len() as u64).sum::<u64>();
        match self.bytes > self.packed_bytes + HISTORY_BYTES_MAX.max(self.packed_bytes) {
            true => self.pack(),
            false => Ok(()),
        }
    }

    /// Removes all state pushed under a lease.
    pub(super) fn forget(&mut self, root: &Id) -> Result<()> {
        match empty(&self.repository, root)? {
            Some(position) => self.note(position),
            None => Ok(()),
        }
    }

    /// Replaces the repository by one with the same trees and no history.
    fn pack(&mut self) -> Result<()> {
        let mut packed = Pushed::new()?;
        let snapshot = self.repository.snapshot();
        packed.learn_types(&snapshot)?;
        packed.types_known = self.types_known;
        for root in roots(&snapshot)? {
            if let Some(item) = snapshot.tree_below(&root).get(&TreePath::root(), None)? {
                packed.repository.transact(|t| t.tree_below(root.clone()).merge(&TreePath::root(), &item))?;
            }
        }
        packed.packed_bytes = packed.log.bytes_count();
        packed.bytes = packed.packed_bytes;
        // Subscriptions to the old repository end.
        let before = std::mem::replace(self, packed);
        before.repository.close()
    }
}

/// Deletes all items of the tree of a lease. The history keeps recorded state.
///
/// Shape: the position, if there was an item to delete.
pub(super) fn empty(repository: &Repository, root: &Id) -> Result<Option<Position>> {
    if repository.snapshot().entity(root)?.is_none() {
        return Ok(None);
    }
    let put = |t: &mut Transaction| t.tree_below(root.clone()).put(&TreePath::root(), &Item::new());
    repository.transact(put).map(|(_, receipt)| Some(receipt.position))
}

/// Deletes the recorded state of leases of an earlier process.
pub(super) fn delete_left_over(running: &Repository) -> Result<()> {
    roots(&running.snapshot())?.iter().try_for_each(|root| empty(running, root).map(drop))
}

/// The roots of the trees of leases.
fn roots(snapshot: &Snapshot) -> Result<Vec<Id>> {
    let graph = snapshot.graph();
    if !graph.names.find(ROOT_TYPE).is_some_and(|name| graph.is_type_known(TypeKind::Entity, name)) {
        return Ok(Vec::new());
    }
    let (mut roots, mut find) = (Vec::new(), Find::of(ROOT_TYPE));
    loop {
        let page = snapshot.find_entities(&find)?;
        roots.extend(
            page.items.iter().map(|root| root.id().clone()).filter(|id| id.to_string().starts_with(ROOT)),
        );
        let Some(next) = page.next else { return Ok(roots) };
        find = find.after(next);
    }
}

/// The type for pushed state, which comes in parts: only the keys of lists are required, and there are no defaults.
fn without_duties(definition: &TypeDefinition) -> TypeDefinition {
    let attribute = |attribute: &AttributeDefinition| AttributeDefinition {
        is_required: attribute.is_key,
        is_unique: false,
        default: None,
        reference: None,
        ..attribute.clone()
    };
    TypeDefinition {
        attributes: definition.attributes.iter().map(attribute).collect(),
        required_children: Vec::new(),
        unique_together: Vec::new(),
        ..definition.clone()
    }
}
