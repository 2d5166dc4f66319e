//! Trees of containers as JSON, written while they are read. `tree.rs` reads it.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use annals::{
    Entity, Id, Result, Snapshot, Tree, TreeItem, TreePath, TreeVisitor, TypeKind, Value, ValueRef,
};
use smallvec::SmallVec;

use super::form::{Form, JsonText, tree};
use super::graph::Stored;
use super::instance::PropertiesForm;
use super::tree::{CHILDREN, ID, LISTS, PROPERTIES, TYPE};
use super::value::{MapForm, tagged};

/// The extent of a tree to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeExtent {
    /// Most levels below the item; all of them if `None`.
    pub depth: Option<usize>,
    /// True to include ids and types of all items.
    pub has_ids: bool,
}

/// The tree below the entity `root`, or below the default root.
pub fn tree_of<'s>(snapshot: &'s Snapshot, root: Option<&Id>) -> Tree<'s> {
    root.map_or_else(|| snapshot.tree(), |root| snapshot.tree_below(root))
}

/// Writes the item at a look-up path with its subtree. `take` gets the text so far at intervals, and may remove it.
///
/// Shape: the rest of the text; `None` if the path leads to no item. Errors: those of `take`, and of [`Tree::visit`].
pub fn write_tree(
    snapshot: &Snapshot,
    tree: &Tree,
    path: &TreePath,
    extent: &TreeExtent,
    take: &mut dyn FnMut(&mut JsonText) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let mut writer = Writer {
        snapshot,
        text: JsonText::default(),
        has_ids: extent.has_ids,
        open: Vec::new(),
        names: Names::default(),
        lists: OnceCell::new(),
        asides_count: 0,
        take,
    };
    let is_there = tree.visit(path, extent.depth, &mut writer)?;
    Ok(is_there.then(|| writer.text.take()))
}

/// The value of a property, in the form of trees.
pub struct LeafForm<'v> {
    value: &'v Value,
    /// True if an array stands for a set.
    is_many: bool,
}

impl<'v> LeafForm<'v> {
    /// The value of this property of an item.
    pub fn of(value: &'v Value, entity: &Entity<'_>, name: &str) -> LeafForm<'v> {
        LeafForm { value, is_many: matches!(value, Value::Set(_)) && entity.has_many(name) }
    }

    /// A value that is only shown: nobody reads it back.
    pub fn shown(value: &'v Value) -> LeafForm<'v> {
        LeafForm { value, is_many: true }
    }
}

impl Form for LeafForm<'_> {
    fn write(&self, to: &mut JsonText) {
        match self.value {
            Value::Set(values) if self.is_many && !values.is_empty() => to.array(values.iter()),
            // Without a tag these would be read as lists of items, or as children.
            Value::List(values) if values.is_empty() || values.iter().any(is_nested) => {
                tagged(to, "$list", &**values);
            }
            Value::List(values) => to.array(values.iter()),
            Value::Map(values) => tagged(to, "$map", MapForm(values)),
            other => other.write(to),
        }
    }
}

fn is_nested(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Set(_))
}

/// The target of a path, without its subtree: `{"path", "id", "type", "value"}`. The value of an item is an object of
/// its properties; for a property, `property` is its name.
pub struct TreeEntry<'s> {
    found: TreeItem<'s>,
    path: TreePath,
    is_typed: bool,
}

impl<'s> TreeEntry<'s> {
    /// Errors: those of reading history.
    pub fn new(found: TreeItem<'s>) -> Result<TreeEntry<'s>> {
        Ok(TreeEntry { path: found.path()?, found, is_typed: false })
    }

    /// With values as an instance has them, and not as a tree in JSON has them: sets are no arrays.
    #[must_use]
    pub fn typed(self, is_typed: bool) -> TreeEntry<'s> {
        TreeEntry { is_typed, ..self }
    }
}

impl Form for TreeEntry<'_> {
    fn write(&self, to: &mut JsonText) {
        let TreeEntry { found, path, is_typed } = self;
        to.object(|members| {
            members.add("id", found.entity.id());
            members.add("path", path.to_string());
            if let (Some(name), Some(value)) = (found.property_name(), found.value()) {
                members.add("property", name);
                members.add("type", found.entity.type_name());
                match is_typed {
                    true => members.add("value", &value),
                    false => members.add("value", LeafForm::of(&value, &found.entity, name)),
                };
            } else {
                members.add("type", found.entity.type_name());
                match is_typed {
                    true => members.add("value", PropertiesForm::new(found.entity.property_refs())),
                    false => members.add("value", OwnForm(&found.entity)),
                };
            }
        });
    }
}

impl Stored for TreeEntry<'_> {
    fn stored_bytes(&self) -> usize {
        self.found.entity.stored_bytes()
    }
}

/// The properties of an item, without its children.
struct OwnForm<'e>(&'e Entity<'e>);

impl Form for OwnForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.json(b"{");
        write_properties(self.0, &properties_of(self.0), &mut false, to);
        to.json(b"}");
    }
}

/// The target of a path as a JSON value; null if there is none. Cost: the whole value is built in memory.
///
/// Errors: those of [`Tree::item`] and [`write_tree`].
pub fn tree_to_json(
    snapshot: &Snapshot,
    root: Option<&Id>,
    path: &TreePath,
    extent: &TreeExtent,
) -> Result<serde_json::Value> {
    let below = tree_of(snapshot, root);
    let Some(found) = below.item(path)? else { return Ok(serde_json::Value::Null) };
    if let (Some(name), Some(value)) = (found.property_name(), found.value()) {
        return Ok(tree(&LeafForm::of(&value, &found.entity, name)));
    }
    let text = write_tree(snapshot, &below, &found.path()?, extent, &mut |_| Ok(()))?;
    Ok(text.map_or(serde_json::Value::Null, |text| {
        serde_json::from_slice(&text).expect("trees are written as JSON")
    }))
}

type Properties<'e> = SmallVec<[(&'e str, ValueRef<'e>); 8]>;

/// The properties of an item in the order of their names.
fn properties_of<'e>(entity: &'e Entity<'_>) -> Properties<'e> {
    let mut properties: Properties = entity.property_refs().collect();
    properties.sort_unstable_by_key(|(name, _)| *name);
    properties
}

/// Names of all lists.
pub(super) fn lists_of(snapshot: &Snapshot) -> HashSet<Arc<str>> {
    let types = snapshot.types_of(TypeKind::Entity).into_iter();
    let lists = types.filter(|known| known.attributes.iter().any(|attribute| attribute.is_key));
    lists.map(|known| Arc::clone(&known.name)).collect()
}

/// True for a name that has another meaning among the members of an item.
pub(super) fn is_special(name: &str) -> bool {
    name.starts_with(['@', '$'])
}

fn write_properties(entity: &Entity<'_>, properties: &Properties, has_members: &mut bool, to: &mut JsonText) {
    let mut has_special = false;
    for (name, value) in properties {
        if is_special(name) {
            has_special = true;
            continue;
        }
        write_name(name, has_members, to);
        match value {
            ValueRef::String(text) => to.text(text),
            ValueRef::Other(value) => LeafForm::of(value, entity, name).write(to),
        }
    }
    if has_special {
        write_name(PROPERTIES, has_members, to);
        to.object(|members| {
            for (name, value) in properties.iter().filter(|(name, _)| is_special(name)) {
                members.entry(name, value);
            }
        });
    }
}

fn write_name(name: &str, has_members: &mut bool, to: &mut JsonText) {
    if *has_members {
        to.json(b",");
    }
    *has_members = true;
    to.text(name);
    to.json(b":");
}

/// An item in progress.
#[derive(Default)]
struct Level {
    has_members: bool,
    /// The list in progress.
    list: Option<List>,
    /// Index of the first name of its properties among all names.
    names_start: usize,
    /// Offset of its text, if it goes aside.
    start: Option<usize>,
    /// The text of children and lists that must be apart from other members, once there is any.
    aside: Option<Box<[Vec<u8>; 2]>>,
}

struct List {
    name: String,
    has_items: bool,
    /// Offset of its text, if it goes aside.
    start: Option<usize>,
}

/// Consecutive texts in one buffer, which is reused.
#[derive(Default)]
struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// The names from an index on.
    fn from(&self, start: usize) -> impl Iterator<Item = &str> {
        let begin = move |at: usize| if at == 0 { 0 } else { self.ends[at - 1] };
        (start..self.ends.len()).map(move |at| &self.text[begin(at)..self.ends[at]])
    }

    fn truncate(&mut self, length: usize) {
        self.ends.truncate(length);
        self.text.truncate(self.ends.last().copied().unwrap_or_default());
    }
}

/// A part of [`Level::aside`].
#[derive(Clone, Copy)]
enum Aside {
    Children = 0,
    Lists = 1,
}

struct Writer<'w> {
    snapshot: &'w Snapshot,
    text: JsonText,
    has_ids: bool,
    open: Vec<Level>,
    /// The names of the properties of all open items.
    names: Names,
    /// Names of all lists. Looked up at the first child with a name of its own.
    lists: OnceCell<HashSet<Arc<str>>>,
    /// Number of open texts that go aside. Invariant: while it is not 0, nothing is removed from the text.
    asides_count: usize,
    take: &'w mut dyn FnMut(&mut JsonText) -> Result<()>,
}

impl Writer<'_> {
    /// Begins a child. Shape: the offset of its text, if it goes aside.
    fn begin_child(&mut self, name: &str, is_listed: bool) -> Option<usize> {
        if is_listed {
            self.begin_listed(name);
            return None;
        }
        self.end_list();
        let is_aside = is_special(name) || self.has_property(name) || self.is_list(name);
        self.begin_member(name, is_aside)
    }

    fn begin_listed(&mut self, name: &str) {
        let is_open = |list: &List| list.name == name;
        if !self.open.last().and_then(|level| level.list.as_ref()).is_some_and(is_open) {
            self.end_list();
            let is_aside = is_special(name) || self.has_property(name);
            let start = self.begin_member(name, is_aside);
            self.text.json(b"[");
            let list = List { name: name.to_owned(), has_items: false, start };
            self.open.last_mut().expect("its parent is open").list = Some(list);
        }
        let list = self.open.last_mut().and_then(|level| level.list.as_mut()).expect("it is open");
        if list.has_items {
            self.text.json(b",");
        }
        list.has_items = true;
    }

    /// Shape: the offset of the member's text, if it goes aside.
    fn begin_member(&mut self, name: &str, is_aside: bool) -> Option<usize> {
        if is_aside {
            let start = self.text.bytes_count();
            self.asides_count += 1;
            // A text that goes aside is separate, so it needs no comma.
            write_name(name, &mut false, &mut self.text);
            return Some(start);
        }
        let level = self.open.last_mut().expect("its parent is open");
        write_name(name, &mut level.has_members, &mut self.text);
        None
    }

    fn end_list(&mut self) {
        let Some(list) = self.open.last_mut().and_then(|level| level.list.take()) else { return };
        self.text.json(b"]");
        if let Some(start) = list.start {
            self.put_aside(start, Aside::Lists);
        }
    }

    /// Moves the text of a member from an offset on aside, until the end of its item.
    fn put_aside(&mut self, start: usize, part: Aside) {
        let mut text = self.text.split_off(start);
        self.asides_count -= 1;
        let level = self.open.last_mut().expect("the item that has it is open");
        let known = &mut level.aside.get_or_insert_default()[part as usize];
        if !known.is_empty() {
            known.push(b',');
        }
        known.append(&mut text);
    }

    fn has_property(&self, name: &str) -> bool {
        self.names.from(self.open.last().map_or(0, |level| level.names_start)).any(|known| known == name)
    }

    fn is_list(&self, name: &str) -> bool {
        self.lists.get_or_init(|| lists_of(self.snapshot)).contains(name)
    }
}

impl TreeVisitor for Writer<'_> {
    fn enter(&mut self, name: Option<&str>, is_listed: bool, entity: &Entity<'_>) -> Result<()> {
        let start = name.and_then(|name| self.begin_child(name, is_listed));
        let mut level = Level { names_start: self.names.ends.len(), start, ..Level::default() };
        self.text.json(b"{");
        if self.has_ids {
            write_name(ID, &mut level.has_members, &mut self.text);
            entity.id().write(&mut self.text);
            write_name(TYPE, &mut level.has_members, &mut self.text);
            self.text.text(entity.type_name());
        }
        let properties = properties_of(entity);
        write_properties(entity, &properties, &mut level.has_members, &mut self.text);
        properties.iter().for_each(|(name, _)| self.names.push(name));
        self.open.push(level);
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        self.end_list();
        let mut level = self.open.pop().expect("it was entered");
        self.names.truncate(level.names_start);
        for (name, text) in [CHILDREN, LISTS]
            .into_iter()
            .zip(level.aside.take().map_or_else(Default::default, |aside| *aside))
        {
            if !text.is_empty() {
                write_name(name, &mut level.has_members, &mut self.text);
                self.text.json(b"{");
                self.text.json(&text);
                self.text.json(b"}");
            }
        }
        self.text.json(b"}");
        if let Some(start) = level.start {
            self.put_aside(start, Aside::Children);
        }
        if self.asides_count == 0 { (self.take)(&mut self.text) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
