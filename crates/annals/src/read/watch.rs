//! The changes of a watched part of the graph by records.

mod incomparable;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::operators::filter::condition::Filter;
use super::past::compare::{Difference, InstanceChange};
use super::snapshot::{AsOf, Snapshot};
use super::taken_along::Slot;
use super::tree::{PathTarget, TreeChange, TreeChangeKind};
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, InstanceId, TypeKind};
use crate::search::Find;
use crate::tree::{NameTest, TreePath};
use crate::{Error, ErrorKind, Position, Result};

/// Most instances that records may have changed for one event.
const WATCHED_MAX: usize = if cfg!(test) { 100 } else { 1_000_000 };

/// The part of the graph for a subscription.
#[derive(Clone, Debug, PartialEq)]
pub enum Watch {
    /// The item at a path with its subtree, the items of a list with their subtrees, or a property. The path must
    /// consist of names and keys.
    Tree {
        /// The entity that the path starts from; by default the one with the id `root`.
        root: Option<Id>,
        /// The path.
        path: TreePath,
    },
    /// The instances that a search finds: by its types and its condition, which must not have conditions on
    /// relationships. Its order and page are ignored.
    Search {
        /// Entities or relationships.
        kind: TypeKind,
        /// The search.
        find: Box<Find>,
    },
}

/// The change of a watched item or instance.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchedChange {
    /// Of an item of a tree.
    Tree(TreeChange),
    /// Of an instance: it became a result of the search, is no longer one, or changed as one.
    Instance(InstanceChange),
}

/// The changes of a watched part.
#[derive(Default)]
pub(crate) struct WatchedChanges {
    pub(crate) changes: Vec<WatchedChange>,
    /// True if there may be others, which no state shows any more.
    pub(crate) read_again: bool,
}

impl Watch {
    /// The item at a path, with its subtree.
    ///
    /// Errors: `InvalidArgument` for a malformed path.
    pub fn tree(path: &str) -> Result<Watch> {
        Ok(Watch::Tree { root: None, path: TreePath::parse(path)? })
    }

    /// The entities of a type and its subtypes.
    pub fn entities_of(type_name: &str) -> Watch {
        Watch::Search { kind: TypeKind::Entity, find: Box::new(Find::of(type_name)) }
    }

    /// Errors: `InvalidArgument` for a part that cannot be watched.
    pub(crate) fn check(&self) -> Result<()> {
        let text = match self {
            Watch::Tree { path, .. } if path.steps.iter().any(|step| step.keys().is_none()) => {
                format!("watch {path}: expected a path of names and keys; watch an item above it")
            }
            Watch::Search { find, .. } if find.filter.asks_for_links() => {
                "watch: expected conditions on the instance itself, found one on relationships; leave it out".into()
            }
            Watch::Search { find, .. } if asks_for_more(find) => {
                "watch: expected a search by types and a condition, found one that picks subtypes, statuses, deleted ones or proxies; \
                 say it as a condition, such as @status = draft"
                    .into()
            }
            Watch::Search { kind, .. } if !matches!(kind, TypeKind::Entity | TypeKind::Relationship) => {
                format!("watch: expected entities or relationships, found {}", kind.name())
            }
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }
}

/// True if a search selects by more than types and a condition.
fn asks_for_more(find: &Find) -> bool {
    let plain = Find::all();
    !find.subtypes.is_empty()
        || !find.statuses.is_empty()
        || find.deleted != plain.deleted
        || find.with_proxies != plain.with_proxies
}

impl Snapshot {
    /// The changes of the watched part by the records after `from`, up to `to`.
    ///
    /// Errors: as [`Snapshot::as_of`]; `TooLarge` if several records changed over a million instances; those of reading history.
    pub(crate) fn watched(&self, watch: &Watch, from: Position, to: Position) -> Result<WatchedChanges> {
        let Some(mut touched) = self.touched(from, to, WATCHED_MAX)? else {
            // More records are tried again as several events.
            if to == from.next() {
                return Ok(WatchedChanges { read_again: true, ..WatchedChanges::default() });
            }
            let text = format!(
                "watch: expected at most {WATCHED_MAX} changed instances; read the state and watch from there"
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        };
        match watch {
            Watch::Tree { .. } => {
                // Later ones, too: no state before them shows what they removed, though the reader may have it.
                let gone = self.gone(from, self.position())?;
                let has_sight = self.sight_number().is_some();
                let at = |position| match position {
                    position if has_sight && position == self.position() => Ok(self.clone()),
                    position => self.as_of(AsOf { position: Some(position), ..AsOf::default() }),
                };
                // Trees lead to other instances, of which a sight asks each.
                let in_sight = |(kind, slot): &Slot| self.in_sight(*kind, *slot);
                if has_sight && gone.is_empty() && !touched.iter().any(in_sight) {
                    return Ok(WatchedChanges::default());
                }
                let (before, after) = (at(from)?, at(to)?);
                let read_again =
                    gone.is_in_tree(watch, [&before, &after])? || is_another_root(watch, &before, &after);
                let changes = self.watched_between(watch, &before, &after, touched)?;
                Ok(WatchedChanges { changes, read_again })
            }
            Watch::Search { kind, find } => {
                let gone = self.gone(from, to)?;
                let retyped = self.retyped_by_declarations(*kind, from, to)?;
                let mut read_again = retyped.is_none();
                if let Some(retyped) = retyped.filter(|retyped| !retyped.is_empty()) {
                    touched.extend(retyped);
                    let mut met = HashSet::new();
                    touched.retain(|slot| met.insert(*slot));
                }
                let before = self.touched_then(from, &touched)?;
                let after = self.touched_then(to, &touched)?;
                let sides = match gone.is_empty() {
                    true => Vec::new(),
                    false => vec![Found::new(&before, *kind, find)?, Found::new(&after, *kind, find)?],
                };
                let is_of_type = |name| sides.iter().any(|side| side.is_of_type(name));
                let (mut changes, has_others) =
                    gone.of_search(*kind, is_of_type, self.sight_number().is_some());
                read_again |= has_others;
                changes.extend(self.watched_between(watch, &before, &after, touched)?);
                Ok(WatchedChanges { changes, read_again })
            }
        }
    }

    /// The differences of the watched part between two snapshots, in which only touched instances may differ.
    pub(crate) fn watched_between(
        &self,
        watch: &Watch,
        before: &Snapshot,
        after: &Snapshot,
        touched: Vec<Slot>,
    ) -> Result<Vec<WatchedChange>> {
        match watch {
            Watch::Tree { root, path } => {
                let root = root.clone().unwrap_or_else(Id::root);
                let part = self.part(path, &root, [before, after])?;
                let asked = part.item(path);
                let changes = self.tree_ever(&root).difference_of(asked, before, after, Some(touched))?;
                let kept = changes.into_iter().filter_map(|change| part.keeps(change));
                Ok(kept.map(WatchedChange::Tree).collect())
            }
            Watch::Search { kind, find } => {
                let sides = [Found::new(before, *kind, find)?, Found::new(after, *kind, find)?];
                let slots = touched.into_iter().filter(|(touched, _)| touched == kind).map(|(_, slot)| slot);
                let changes = slots.map(|slot| Found::change(&sides, slot)).filter_map(Result::transpose);
                changes.map(|change| change.map(WatchedChange::Instance)).collect()
            }
        }
    }

    /// The target of a path on one of two sides.
    fn part(&self, path: &TreePath, root: &Id, sides: [&Snapshot; 2]) -> Result<Part> {
        let Some((above, step)) = path.split_last() else { return Ok(Part::Item) };
        let NameTest::Name(name) = &step.name else { return Ok(Part::Item) };
        if step.filters.is_empty() && !matches!(self.graph().target(step), PathTarget::Child(_)) {
            return Ok(Part::List { above, name: Arc::clone(name) });
        }
        for side in sides {
            let spot = side.tree_below(root).look_up(path)?;
            if spot.is_some_and(|spot| spot.property.is_some()) {
                return Ok(Part::Property { above, name: Arc::clone(name) });
            }
        }
        Ok(Part::Item)
    }

    /// The id of a live instance in this snapshot.
    fn instance_seen(&self, kind: TypeKind, slot: u32) -> Result<InstanceId> {
        let held = self.fetch(kind, slot)?;
        let id = self.graph().id_in(kind, slot, self.row(kind, slot, &held).header()).clone();
        Ok(crate::graph::instance_id(kind, id))
    }
}

/// True if the root of the watched tree has this id in one of two states only: the whole tree comes or goes.
fn is_another_root(watch: &Watch, before: &Snapshot, after: &Snapshot) -> bool {
    let Watch::Tree { root, .. } = watch else { return false };
    let root = root.clone().unwrap_or_else(Id::root);
    let slot_in = |side: &Snapshot| side.slot_known(TypeKind::Entity, &root);
    match (slot_in(before), slot_in(after)) {
        (Some(renamed), None) => after.sees(TypeKind::Entity, renamed),
        (None, Some(renamed)) => before.sees(TypeKind::Entity, renamed),
        _ => false,
    }
}

/// The target of a watched path.
enum Part {
    Item,
    /// All items of a list of the item at `above`.
    List {
        above: TreePath,
        name: Arc<str>,
    },
    /// A property of the item at `above`.
    Property {
        above: TreePath,
        name: Arc<str>,
    },
}

impl Part {
    /// The path of the item that it is, or belongs to.
    fn item<'p>(&'p self, path: &'p TreePath) -> &'p TreePath {
        match self {
            Part::Item => path,
            Part::List { above, .. } | Part::Property { above, .. } => above,
        }
    }

    /// The part of a change of that item, or below it, that concerns this target.
    fn keeps(&self, change: TreeChange) -> Option<TreeChange> {
        match self {
            Part::Item => Some(change),
            Part::List { above, name } => {
                let at = above.steps.len();
                let is_at = |path: &TreePath| {
                    path.steps.get(at).is_some_and(|step| step.name == NameTest::Name(Arc::clone(name)))
                };
                let was_at = match &change.kind {
                    TreeChangeKind::Moved { from, .. } => is_at(from),
                    _ => false,
                };
                (was_at || is_at(&change.path)).then_some(change)
            }
            // Paths below the item are longer.
            Part::Property { above, .. } if change.path.steps.len() != above.steps.len() => None,
            Part::Property { name, .. } => match change.kind {
                TreeChangeKind::Modified(difference) => {
                    let property =
                        difference.properties.into_iter().find(|property| property.name == *name)?;
                    let difference = Difference { properties: vec![property], ..Difference::default() };
                    Some(TreeChange { kind: TreeChangeKind::Modified(Box::new(difference)), ..change })
                }
                kind => Some(TreeChange { kind, ..change }),
            },
        }
    }
}

/// The results of a search in one snapshot.
struct Found<'s> {
    snapshot: &'s Snapshot,
    kind: TypeKind,
    /// `None` for all types.
    types: Option<BTreeSet<Symbol>>,
    /// `None` if nothing can match: a name in it is unknown.
    filter: Option<Filter>,
}

impl<'s> Found<'s> {
    fn new(snapshot: &'s Snapshot, kind: TypeKind, find: &Find) -> Result<Found<'s>> {
        let named = find.types.iter().flat_map(|name| snapshot.types_named(kind, name));
        let types = (!find.types.is_empty()).then(|| named.collect());
        let filter = match Filter::new(snapshot, kind, &find.filter) {
            Ok(filter) => Some(filter),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Found { snapshot, kind, types, filter })
    }

    /// The change of an instance between two sides.
    fn change([before, after]: &[Found<'_>; 2], slot: u32) -> Result<Option<InstanceChange>> {
        before.snapshot.check_cancelled()?;
        let kind = before.kind;
        Ok(match [before.holds(slot)?, after.holds(slot)?] {
            [false, true] => Some(InstanceChange::Appeared(after.snapshot.instance_seen(kind, slot)?)),
            [true, false] => Some(InstanceChange::Disappeared(before.snapshot.instance_seen(kind, slot)?)),
            [true, true] => {
                let difference = before.snapshot.difference_to(after.snapshot, kind, slot)?;
                let instance = after.snapshot.instance_seen(kind, slot)?;
                difference.map(|difference| InstanceChange::Changed(instance, Box::new(difference)))
            }
            [false, false] => None,
        })
    }

    fn holds(&self, slot: u32) -> Result<bool> {
        let Some(filter) = &self.filter else { return Ok(false) };
        // Searches leave proxies out.
        let Some(held) =
            self.snapshot.seen(self.kind, slot, false)?.filter(|_| !self.snapshot.is_proxy(self.kind, slot))
        else {
            return Ok(false);
        };
        Ok(self.is_of_type(self.snapshot.type_seen(self.kind, slot))
            && filter.holds(self.snapshot, slot, &held)?)
    }

    fn is_of_type(&self, type_name: Symbol) -> bool {
        self.types.as_ref().is_none_or(|types| types.contains(&type_name))
    }
}
