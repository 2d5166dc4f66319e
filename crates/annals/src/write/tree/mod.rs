//! Changes of trees by path: create, merge, put, move, copy, delete, revert and restore items.
#![expect(clippy::expect_used, reason = "paths are looked up before changes below them are planned")]

mod moved;
mod place;
mod plan;
mod path_end;
mod revert;
mod schema;
mod step_name;
pub(super) mod then;

use std::borrow::Cow;
use std::sync::Arc;

use crate::graph::Graph;
use crate::model::{Action, Id, InstanceId, NewEntity, Patch, PatchStep, TypeDefinition, TypeKind, Value};
use crate::tree::{Item, PathSteps, TreePath, coerced};
use crate::write::build::noted::Noted;
use crate::write::build::transaction::Transaction;
use crate::write::limited::writer_graph::WriterGraph;
use crate::{Error, ErrorKind, Result};
use moved::moved;
use path_end::PathEnd;
pub use place::Insert;
use plan::{Plan, Rest};
use step_name::named;

/// Type of the entity that paths start from.
const ROOT_TYPE: &str = "root";

/// Changes of a tree, in a transaction. Made by [`Transaction::tree`].
///
/// Missing items on a path are created. The type of an item is the one that it states, or the entity type with its
/// name, or `container`. The declared relationship type whose ends fit best contains it. A repository without such a
/// type gets one, `contains`.
///
/// ```
/// use annals::{AttributeDefinition, Insert, Item, Repository, TreePath, TypeDefinition, ValueType};
/// # fn main() -> annals::Result<()> {
/// let repository = Repository::in_memory();
/// repository.transact(|t| {
///     let name = AttributeDefinition::new("name", ValueType::String).key();
///     t.define_type(TypeDefinition::entity("interface").attribute(name))?;
///     let eth0 = Item::new().property("name", "eth0").property("mtu", 1500);
///     t.tree().merge(&TreePath::parse("/interfaces")?, &Item::new().listed("interface", eth0)).map(|_| ())
/// })?;
/// let mtu = TreePath::parse("/interfaces/interface[name='eth0']/mtu")?;
/// repository.transact(|t| t.tree().set(&mtu, 9000))?;
/// assert_eq!(repository.snapshot().tree().item(&mtu)?.unwrap().value(), Some(9000.into()));
/// # Ok(())
/// # }
/// ```
pub struct TreeEdit<'t> {
    transaction: &'t mut Transaction,
    root: Id,
}

/// How to change an item into the given one.
struct How<'p> {
    /// The fate of existing properties and children that are not given.
    rest: Rest,
    insert: Option<&'p Insert>,
    /// True if the item must not exist yet.
    is_new: bool,
}

impl How<'_> {
    const MERGE: How<'static> = How { rest: Rest::Stays, insert: None, is_new: false };
}

impl Transaction {
    /// Changes of the tree below the entity with the id `root`; the first change creates it.
    pub fn tree(&mut self) -> TreeEdit<'_> {
        self.tree_below(Id::root())
    }

    /// Changes of the tree below another entity.
    pub fn tree_below(&mut self, root: Id) -> TreeEdit<'_> {
        // A change of a tree reads more than it changes.
        self.reads.everything();
        TreeEdit { transaction: self, root }
    }
}

impl TreeEdit<'_> {
    /// Sets author and reason of the transaction, as [`Transaction::author`] and [`Transaction::message`] do.
    pub fn sign(&mut self, author: &str, message: &str) {
        self.transaction.author(author).message(message);
    }

    /// Creates an item with its subtree; returns its id.
    ///
    /// Errors: `AlreadyExists` if it exists; `InvalidArgument` for a path that is not a look-up, or a missing key;
    /// `InvalidEnds` if no relationship type can contain it.
    pub fn create(&mut self, path: &TreePath, item: &Item) -> Result<Id> {
        self.apply(path, item, &How { is_new: true, ..How::MERGE })
    }

    /// Adds the properties and the children of `item` to an item; creates it if it is missing. Returns its id.
    ///
    /// Errors: as [`TreeEdit::create`], without `AlreadyExists`.
    pub fn merge(&mut self, path: &TreePath, item: &Item) -> Result<Id> {
        self.apply(path, item, &How::MERGE)
    }

    /// Makes an item and its subtree equal to `item`: changes differences, and deletes everything that `item` does not
    /// have. Creates the item if it is missing. Returns its id.
    ///
    /// Errors: as [`TreeEdit::merge`].
    pub fn put(&mut self, path: &TreePath, item: &Item) -> Result<Id> {
        self.apply(path, item, &How { rest: Rest::Goes, ..How::MERGE })
    }

    /// The same for an existing item.
    ///
    /// Errors: `NotFound` if it is missing; as [`TreeEdit::merge`].
    pub fn replace(&mut self, path: &TreePath, item: &Item) -> Result<Id> {
        match self.reach(path)? {
            PathEnd::Item(_) | PathEnd::Root(_) => {
                self.apply(path, item, &How { rest: Rest::Goes, ..How::MERGE })
            }
            PathEnd::Property(..) | PathEnd::Nothing => Err(missing(path)),
        }
    }

    /// Creates or merges an item of an ordered list, and puts it at a place in it. Returns its id.
    ///
    /// Errors: `InvalidArgument` if users do not order the list; `NotFound` if the sibling is missing; as [`TreeEdit::merge`].
    pub fn insert(&mut self, path: &TreePath, item: &Item, place: &Insert) -> Result<Id> {
        self.apply(path, item, &How { insert: Some(place), ..How::MERGE })
    }

    /// Sets a property; creates the item that has it if it is missing.
    ///
    /// Errors: `InvalidArgument` if the path does not end in the name of a property; as [`TreeEdit::merge`].
    pub fn set(&mut self, path: &TreePath, value: impl Into<Value>) -> Result<()> {
        let Some((last, above)) = path.steps.split_last() else { return Err(no_property(path)) };
        let Some((name, _)) = last.keys().filter(|(_, keys)| keys.is_empty()) else {
            return Err(no_property(path));
        };
        let item = Item { properties: vec![(Arc::clone(name), value.into())], ..Item::new() };
        self.apply_along(PathSteps(above), Cow::Owned(item), &How::MERGE).map(|_| ())
    }

    /// Creates a property.
    ///
    /// Errors: `AlreadyExists` if it has a value, or if there is a child of this name; as [`TreeEdit::set`].
    pub fn create_property(&mut self, path: &TreePath, value: impl Into<Value>) -> Result<()> {
        match self.reach(path)? {
            PathEnd::Nothing => self.set(path, value),
            _ => Err(Error::new(ErrorKind::AlreadyExists, format!("path {path}: it exists already; set it"))),
        }
    }

    /// Replaces the value of a property.
    ///
    /// Errors: `NotFound` if it has none; as [`TreeEdit::set`].
    pub fn replace_property(&mut self, path: &TreePath, value: impl Into<Value>) -> Result<()> {
        match self.reach(path)? {
            PathEnd::Property(..) => self.set(path, value),
            _ => {
                let text = format!("path {path}: there is no property; put it instead");
                Err(Error::new(ErrorKind::NotFound, text))
            }
        }
    }

    /// Deletes the target of a path: an item with its subtree, the items of a list, or a property.
    ///
    /// Errors: `NotFound` if the path leads to nothing; `InvalidArgument` for the root, and for a path that is not a
    /// look-up.
    pub fn delete(&mut self, path: &TreePath) -> Result<()> {
        if self.remove(path)? { Ok(()) } else { Err(missing(path)) }
    }

    /// The same; false if the path leads to nothing.
    pub fn remove(&mut self, path: &TreePath) -> Result<bool> {
        let in_base = self.reach_in_base(&path.steps)?;
        let is_in_base = in_base.is_some();
        let reached = match in_base {
            Some(reached) => reached,
            None => match self.list_at(path)? {
                Some(items) => return self.remove_items(&items),
                None => self.reach(path)?,
            },
        };
        match reached {
            PathEnd::Nothing => Ok(false),
            PathEnd::Root(_) => {
                let text = "path /: the root cannot be deleted; delete its children";
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
            PathEnd::Item(child) if is_in_base => {
                let id = self.transaction.base.graph().entities.id(child.entity).clone();
                self.transaction.delete(&InstanceId::Entity(id))?;
                self.transaction.noted.remove(&self.root, child.entity);
                self.note_changes();
                Ok(true)
            }
            PathEnd::Item(child) => {
                self.transaction.writer_graph()?.check_seen(child.entity)?;
                let instance = self.instance_at(child.entity)?;
                self.transaction.delete(&instance).map(|()| true)
            }
            PathEnd::Property(slot, name) => {
                let instance = self.instance_at(slot)?;
                let patch = Patch { steps: vec![PatchStep::Unset(name)] };
                self.transaction.update(&instance, patch).map(|()| true)
            }
        }
    }

    fn remove_items(&mut self, slots: &[u32]) -> Result<bool> {
        let graph = self.transaction.own_graph()?.graph();
        let ids: Vec<Id> = slots.iter().map(|slot| graph.entities.id(*slot).clone()).collect();
        self.transaction.record_mut().changes.reserve(ids.len());
        ids.into_iter().try_for_each(|id| self.transaction.delete(&InstanceId::Entity(id)))?;
        Ok(!slots.is_empty())
    }

    /// The entity at a slot of the base, or of the base with all changes so far.
    fn instance_at(&mut self, slot: u32) -> Result<InstanceId> {
        let graph = self.transaction.own_graph()?.graph();
        Ok(InstanceId::Entity(graph.entities.id(slot).clone()))
    }

    /// Moves an item, with its subtree, to another path, and in an ordered list to a place in it. The parent at the new
    /// path must exist. The keys of an item in a list become those of the path.
    ///
    /// Errors: `NotFound` if the item, the parent at the new path, or the sibling is missing; `AlreadyExists` if there
    /// is an item at the new path; `InvalidEnds` if the item would contain itself.
    pub fn move_to(&mut self, from: &TreePath, to: &TreePath, place: Option<&Insert>) -> Result<()> {
        let PathEnd::Item(child) = self.reach(from)? else { return Err(missing(from)) };
        if to.steps.len() > from.steps.len() && to.steps.starts_with(&from.steps) {
            let text = format!("path {from}: it cannot move into itself, to {to}");
            return Err(Error::new(ErrorKind::InvalidEnds, text));
        }
        if from != to {
            match self.reach(to)? {
                PathEnd::Item(found) if found == child => {}
                PathEnd::Nothing => {}
                _ => {
                    let text = format!("path {to}: there is something already; delete it first");
                    return Err(Error::new(ErrorKind::AlreadyExists, text));
                }
            }
        }
        let Some((above, step)) = to.split_last() else { return Err(missing(to)) };
        let parent = match self.reach(&above)? {
            PathEnd::Item(found) => found.entity,
            PathEnd::Root(slot) => slot,
            PathEnd::Property(..) | PathEnd::Nothing => return Err(missing(&above)),
        };
        let writer = self.transaction.writer_graph()?;
        [child.entity, parent].into_iter().try_for_each(|slot| writer.check_seen(slot))?;
        let actions = moved(writer, child, parent, step, place)?;
        self.push_all(actions)
    }

    /// Copies an item, with its subtree, to a free path; returns the id of the copy. All its entities are new.
    ///
    /// Errors: `NotFound` if the item is missing; as [`TreeEdit::create`].
    pub fn copy(&mut self, from: &TreePath, to: &TreePath) -> Result<Id> {
        let root = self.root.clone();
        let found = self.transaction.view()?.tree_below(&root).get(from, None)?;
        let mut item = found.ok_or_else(|| missing(from))?;
        forget_ids(&mut item);
        if let Some(step) = to.steps.last() {
            // The keys of the path replace those of the item.
            let keys: Vec<Arc<str>> = step
                .keys()
                .map_or(Vec::new(), |(_, keys)| keys.into_iter().map(|(name, _)| Arc::clone(name)).collect());
            item.properties.retain(|(name, _)| !keys.contains(name));
        }
        self.create(to, &item)
    }

    fn apply(&mut self, path: &TreePath, item: &Item, how: &How) -> Result<Id> {
        self.apply_along(PathSteps(&path.steps), Cow::Borrowed(item), how)
    }

    fn apply_along(&mut self, path: PathSteps<'_>, item: Cow<'_, Item>, how: &How) -> Result<Id> {
        let is_limited = self.transaction.rights.is_some();
        let is_plain = how.rest == Rest::Stays && how.insert.is_none() && !is_limited;
        if !is_plain || !self.are_changes_noted() || !self.is_prepared() {
            self.prepare()?;
            let writer = self.transaction.writer_graph()?;
            let (id, actions, _) = planned(writer, &self.root, path, item, how, Noted::default())?;
            self.push_all(actions)?;
            return Ok(id);
        }
        // Every looked-up item is in the base, or was created by this transaction.
        let noted = std::mem::take(&mut self.transaction.noted);
        let writer = WriterGraph::all(self.transaction.base.graph());
        let (id, actions, noted) = planned(writer, &self.root, path, item, how, noted)?;
        self.make_room(&actions);
        // An item of the base that it changes is another one from then on: later changes are compared with the base and
        // all changes.
        let are_new = actions.iter().all(|action| match action {
            Action::CreateEntity(_) | Action::CreateRelationship(_) => true,
            Action::Update(update) => noted.has(&update.instance),
            _ => false,
        });
        for action in actions {
            match &action {
                // Only the base with all changes could show whether it changes anything.
                Action::Update(update) if noted.has(&update.instance) => {
                    self.transaction.push_always(action)?;
                }
                _ => self.push(action)?,
            }
        }
        self.transaction.noted = noted;
        if are_new {
            self.note_changes();
        }
        Ok(id)
    }

    /// Every change so far is noted.
    fn note_changes(&mut self) {
        self.transaction.noted.changes_count = self.transaction.record.changes.len();
    }

    /// True if every change of the transaction so far is noted as one that creates or removes items of trees, so that the
    /// base and the notes have the whole tree.
    fn are_changes_noted(&self) -> bool {
        let Transaction { noted, record, defines_types, .. } = &*self.transaction;
        !defines_types && noted.changes_count == record.changes.len() && noted.has_tree(&self.root)
    }

    /// True if the base has the root, and a containing relationship type.
    fn is_prepared(&self) -> bool {
        let graph = self.transaction.base.graph();
        let is_live = |slot| graph.entities.is_live(slot);
        graph.types.has_containment && graph.entities.slot(&self.root).is_some_and(is_live)
    }

    /// Creates the root, and a containing relationship type, if the repository has none.
    fn prepare(&mut self) -> Result<()> {
        let root = self.root.clone();
        let writer = self.transaction.writer_graph()?;
        let graph = writer.graph;
        // A hidden one is refused as an id that is taken.
        let found = graph.entities.slot(&root).filter(|slot| writer.walks(TypeKind::Entity, *slot));
        let is_live = found.is_some_and(|slot| graph.entities.is_live(slot));
        let has_containment = graph.types.has_containment;
        if found.is_some() && !is_live {
            let text = format!("entity {root}: the root of the tree is deleted; restore it first");
            return Err(Error::new(ErrorKind::Deleted, text));
        }
        if !has_containment {
            self.transaction.define_type(TypeDefinition::relationship(schema::CONTAINS).containing())?;
        }
        if found.is_none() {
            self.transaction.create_entity(NewEntity { id: root, ..NewEntity::new(ROOT_TYPE) })?;
        }
        Ok(())
    }

    fn make_room(&mut self, actions: &[Action]) {
        // Few find room, as if they were pushed one by one.
        if actions.len() > 2 {
            self.transaction.record_mut().changes.reserve(actions.len());
        }
    }

    fn push_all(&mut self, actions: Vec<Action>) -> Result<()> {
        self.make_room(&actions);
        actions.into_iter().try_for_each(|action| self.push(action))
    }

    fn push(&mut self, action: Action) -> Result<()> {
        match action {
            Action::CreateEntity(entity) => self.transaction.create_entity(entity).map(drop),
            Action::CreateRelationship(relationship) => {
                self.transaction.create_relationship(relationship).map(drop)
            }
            other => self.transaction.push_led(other),
        }
    }
}

/// The changes that turn the target of a path into `item`, and the id of the item after them.
fn planned(
    writer: WriterGraph,
    root: &Id,
    path: PathSteps<'_>,
    mut item: Cow<'_, Item>,
    how: &How,
    noted: Noted,
) -> Result<(Id, Vec<Action>, Noted)> {
    let graph = writer.graph;
    let slot = graph.entities.slot(root).expect("it was prepared");
    let mut plan = Plan::new(writer, Rest::Stays, noted);
    let Some((last, above)) = path.0.split_last() else {
        if how.is_new {
            return Err(there(path));
        }
        plan.rest = how.rest;
        let properties = item.properties.clone();
        let at = plan.parent(slot);
        plan.change(&at, &Item { id: None, type_name: None, ..item.into_owned() }, properties)?;
        return Ok((root.clone(), plan.actions, plan.noted));
    };
    let (known, found) = plan.noted.go_along(root, above);
    let mut at = match found.cloned() {
        Some(found) => found,
        None => plan.parent(slot),
    };
    for step in &above[known..] {
        let (name, is_listed, keys) = named(graph, step, path)?;
        at = plan.child(&at, (&name, is_listed), &Item { properties: keys, ..Item::new() }, None)?;
        plan.noted.go_to(step, at.clone());
    }
    let (name, is_listed, keys) = named(graph, last, path)?;
    for (key, value) in keys {
        match item.get(&key) {
            None => item.to_mut().properties.push((key, value)),
            Some(told) if is_same_key(graph, &name, &key, told, &value) => {}
            Some(told) => {
                let text = format!(
                    "path {path}: its key {key} is {value:?}, but {told:?} in the item; give one of them"
                );
                return Err(Error::new(ErrorKind::InvalidArgument, text));
            }
        }
    }
    if how.is_new && plan.has_child(&at, (&name, is_listed), &item)? {
        return Err(there(path));
    }
    plan.rest = how.rest;
    let made = plan.child(&at, (&name, is_listed), &item, how.insert)?;
    Ok((made.id, plan.actions, plan.noted))
}

fn is_same_key(graph: &Graph, list: &str, key: &str, told: &Value, value: &Value) -> bool {
    let symbols = graph.names.find(list).zip(graph.names.find(key));
    let declared = symbols.and_then(|(list, key)| Some((graph.types.get(TypeKind::Entity, list)?, key)));
    let value_type = declared.and_then(|(list, key)| Some(list.attributes.get(&key)?.definition.value_type));
    value_type.is_some_and(|value_type| coerced(told, value_type) == coerced(value, value_type))
}

fn forget_ids(item: &mut Item) {
    item.id = None;
    item.children.iter_mut().for_each(|branch| forget_ids(&mut branch.item));
}

fn there(path: PathSteps<'_>) -> Error {
    let text = format!("path {path}: there is an item already; merge, put or replace it");
    Error::new(ErrorKind::AlreadyExists, text)
}

fn missing(path: &TreePath) -> Error {
    Error::new(ErrorKind::NotFound, format!("path {path}: there is nothing"))
}

fn no_property(path: &TreePath) -> Error {
    let text = format!("path {path}: expected a path that ends in the name of a property");
    Error::new(ErrorKind::InvalidArgument, text)
}
