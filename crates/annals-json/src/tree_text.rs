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
use super::tree::{CHILDREN, ID, LISTS, PROPERTIES, TYPE};

/// How much of a tree is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeExtent {
    /// Most levels below the item; all of them if `None`.
    pub depth: Option<usize>,
    /// True if ids and types of all items are to be told.
    pub has_ids: bool,
}

/// The tree below the entity `root`, or below the usual one.
pub fn tree_of<'s>(snapshot: &'s Snapshot, root: Option<&Id>) -> Tree<'s> {
    root.map_or_else(|| snapshot.tree(), |root| snapshot.tree_below(root))
}

/// Writes the item at a path of look-ups with what is below it. `take` is shown the text so far again and again, and may take it out.
///
/// Shape: what it left of the text; `None` if the path leads to no item. Errors: those of `take`, and of [`Tree::visit`].
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

/// The value of a property, as trees have it.
pub struct LeafForm<'v>(pub &'v Value);

impl Form for LeafForm<'_> {
    fn write(&self, to: &mut JsonText) {
        write_leaf(self.0, to);
    }
}

fn write_leaf(value: &Value, to: &mut JsonText) {
    match value {
        Value::Set(values) if !values.is_empty() => to.array(values.iter()),
        // Without a tag they would be taken for values, items or children.
        Value::List(values) => to.object(|members| {
            members.add("$list", &**values);
        }),
        Value::Map(values) => to.object(|members| {
            members.add("$map", MapForm(values));
        }),
        other => other.write(to),
    }
}

struct MapForm<'v>(&'v std::collections::BTreeMap<Arc<str>, Value>);

impl Form for MapForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| self.0.iter().for_each(|(name, value)| members.entry(name, value)));
    }
}

/// What a path leads to, by itself: `{"path", "id", "type", "value"}`. The value of an item is an object of its properties; that of a
/// property is told with its name as `property`.
pub struct TreeEntry<'s> {
    found: TreeItem<'s>,
    path: TreePath,
}

impl<'s> TreeEntry<'s> {
    /// Errors: those of reading history.
    pub fn new(found: TreeItem<'s>) -> Result<TreeEntry<'s>> {
        Ok(TreeEntry { path: found.path()?, found })
    }
}

impl Form for TreeEntry<'_> {
    fn write(&self, to: &mut JsonText) {
        let TreeEntry { found, path } = self;
        to.object(|members| {
            members.add("id", found.entity.id());
            members.add("path", path.to_string());
            if let (Some(name), Some(value)) = (found.property_name(), found.value()) {
                members.add("property", name);
                members.add("type", found.entity.type_name());
                members.add("value", LeafForm(&value));
            } else {
                members.add("type", found.entity.type_name());
                members.add("value", OwnForm(&found.entity));
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
        write_properties(&properties_of(self.0), &mut false, to);
        to.json(b"}");
    }
}

/// The JSON of what a path leads to, as a value; null if that is nothing. Cost: it is built whole.
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
    if let Some(value) = found.value() {
        return Ok(tree(&LeafForm(&value)));
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

/// True for a name that means something else where the members of an item stand.
fn is_special(name: &str) -> bool {
    name.starts_with(['@', '$'])
}

fn write_properties(properties: &Properties, has_members: &mut bool, to: &mut JsonText) {
    let mut has_special = false;
    for (name, value) in properties {
        if is_special(name) {
            has_special = true;
            continue;
        }
        write_name(name, has_members, to);
        match value {
            ValueRef::String(text) => to.text(text),
            ValueRef::Other(value) => write_leaf(value, to),
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

/// An item that is being written.
#[derive(Default)]
struct Level {
    has_members: bool,
    /// The list that is being written.
    list: Option<List>,
    /// Where the names of its properties begin among all names.
    names_start: usize,
    /// Where its text begins, if it goes aside.
    start: Option<usize>,
    /// The text of children and lists which stand apart from other members, once there is any.
    aside: Option<Box<[Vec<u8>; 2]>>,
}

struct List {
    name: String,
    has_items: bool,
    /// Where its text begins, if it goes aside.
    start: Option<usize>,
}

/// Texts one behind the other, in one piece of memory that stays.
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

    /// Those from there on.
    fn from(&self, start: usize) -> impl Iterator<Item = &str> {
        let begin = move |at: usize| if at == 0 { 0 } else { self.ends[at - 1] };
        (start..self.ends.len()).map(move |at| &self.text[begin(at)..self.ends[at]])
    }

    fn truncate(&mut self, length: usize) {
        self.ends.truncate(length);
        self.text.truncate(self.ends.last().copied().unwrap_or_default());
    }
}

/// Which part of [`Level::aside`].
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
    /// Of the properties of all items that are open.
    names: Names,
    /// Names of all lists. Looked up when a child has a name of its own.
    lists: OnceCell<HashSet<Arc<str>>>,
    /// What is being written and goes aside. Invariant: nothing is taken out of the text meanwhile.
    asides_count: usize,
    take: &'w mut dyn FnMut(&mut JsonText) -> Result<()>,
}

impl Writer<'_> {
    /// Where a child begins. Shape: where its text begins, if it goes aside.
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

    /// Shape: where the text of the member begins, if it goes aside.
    fn begin_member(&mut self, name: &str, is_aside: bool) -> Option<usize> {
        if is_aside {
            let start = self.text.bytes_count();
            self.asides_count += 1;
            // What goes aside stands by itself: no comma is due.
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

    /// Takes the text of a member from there on out, for the end of the item that has it.
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
        let lists = self.lists.get_or_init(|| {
            let types = self.snapshot.types_of(TypeKind::Entity).into_iter();
            let lists = types.filter(|known| known.attributes.iter().any(|attribute| attribute.is_key));
            lists.map(|known| Arc::clone(&known.name)).collect()
        });
        lists.contains(name)
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
        write_properties(&properties, &mut level.has_members, &mut self.text);
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
mod tests {
    use annals::{
        AttributeDefinition, Branch, EndDefinition, Item, ListOptions, Repository, TypeDefinition, ValueType,
    };
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::{TreeContent, item_from_json, tree_content_from_json};

    const WHOLE: TreeExtent = TreeExtent { depth: None, has_ids: true };
    const PLAIN: TreeExtent = TreeExtent { depth: None, has_ids: false };

    /// A list with two keys, and one that users order; the name of the second is one that members cannot have.
    fn repository() -> Repository {
        let repository = Repository::in_memory();
        let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
        repository
            .transact(|t| {
                let lst = TypeDefinition::entity("lst").attribute(key("k1", ValueType::Integer));
                t.define_type(lst.attribute(key("k2", ValueType::String)))?;
                t.define_type(TypeDefinition::entity("@odd").attribute(key("k", ValueType::Integer)))?;
                t.define_type(TypeDefinition::relationship("contains").containing())?;
                let orders = TypeDefinition::relationship("orders").containing_in_order();
                t.define_type(orders.between(EndDefinition::ANY, EndDefinition::many("@odd")))
            })
            .unwrap();
        repository
    }

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn put(repository: &Repository, text: &str, item: &Item) {
        repository.transact(|t| t.tree().put(&path(text), item).map(|_| ())).unwrap();
    }

    fn read(repository: &Repository, text: &str, extent: &TreeExtent) -> Json {
        tree_to_json(&repository.snapshot(), None, &path(text), extent).unwrap()
    }

    #[test]
    fn a_configuration_reads_back_as_written() {
        let repository = repository();
        let json = json!({
            "hostname": "r1", "up": true, "load": 0.5, "tags": [1, "a", {"$date": "2025-08-09"}],
            "since": {"$date": "2025-08-09"}, "route": {"$list": [1, {"a": [2]}]}, "none": {"$set": []},
            "labels": {"$map": {"env": "lab"}},
            "clock": {"zone": "UTC", "empty": {}},
            "lst": [
                {"k1": 9, "k2": "a", "mtu": 1500, "state": {"up": true}},
                {"k1": 10, "k2": "a", "lst": [{"k1": 1, "k2": "b"}]},
            ],
        });
        put(&repository, "/config", &item_from_json(&json).unwrap());
        assert_eq!(read(&repository, "/config", &PLAIN), json);
        assert_eq!(read(&repository, "/config/lst[k1=9][k2='a']/state", &PLAIN), json!({"up": true}));
        assert_eq!(read(&repository, "/config/tags", &PLAIN), json["tags"]);
        assert_eq!(read(&repository, "/config/none/such", &PLAIN), Json::Null);
        let short = TreeExtent { depth: Some(0), has_ids: false };
        assert_eq!(read(&repository, "/config/lst[1]", &short), json!({"k1": 9, "k2": "a", "mtu": 1500}));
        // What was read can be put: nothing changes.
        let before = repository.snapshot().position();
        put(&repository, "/config", &item_from_json(&read(&repository, "/config", &WHOLE)).unwrap());
        assert_eq!(repository.snapshot().position(), before);
    }

    #[test]
    fn names_that_would_mean_something_else_stand_apart() {
        let repository = repository();
        let child = |number: i64| Item::new().property("n", number);
        let item = Item::new()
            .property("a", 1)
            .property("lst", 2)
            .property("@id", 3)
            .property("$odd", 4)
            .child("a", child(5))
            .child("$x", child(6))
            .child("lst", child(7).of_type("container"))
            .child("z", Item::new().property("$date", "no date"))
            .listed("lst", child(8).property("k1", 1).property("k2", ""))
            .listed("@odd", child(9).property("k", 2))
            .listed("@odd", child(10).property("k", 1));
        put(&repository, "/x", &item);
        let expected = json!({
            "a": 1, "lst": 2, "@properties": {"@id": 3, "$odd": 4}, "z": {"@properties": {"$date": "no date"}},
            "@children": {"$x": {"n": 6}, "a": {"n": 5}, "lst": {"n": 7}},
            "@lists": {"lst": [{"k1": 1, "k2": "", "n": 8}], "@odd": [{"k": 2, "n": 9}, {"k": 1, "n": 10}]},
        });
        assert_eq!(read(&repository, "/x", &PLAIN), expected);
        let whole = item_from_json(&read(&repository, "/x", &WHOLE)).unwrap();
        let found = repository.snapshot().tree().get(&path("/x"), None).unwrap().unwrap();
        assert_eq!(sorted(whole), sorted(found));
    }

    /// The same item with properties and children by name; lists keep their order.
    fn sorted(mut item: Item) -> Item {
        item.properties.sort_by(|a, b| a.0.cmp(&b.0));
        item.children.sort_by(|a, b| (a.is_listed, &a.name).cmp(&(b.is_listed, &b.name)));
        item.children =
            item.children.into_iter().map(|child| Branch { item: sorted(child.item), ..child }).collect();
        item
    }

    /// The next number of a row that looks random.
    fn next(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*state >> 40).unwrap()
    }

    fn random_value(state: &mut u64) -> Value {
        match next(state) % 9 {
            0 => Value::Integer(i64::try_from(next(state)).unwrap()),
            1 => Value::Float(0.5),
            2 => Value::Boolean(true),
            3 => Value::List([Value::from("x"), Value::List([].into())].into()),
            4 => Value::set([Value::from(1), Value::Date("2025-08-09".parse().unwrap())]).unwrap(),
            5 => Value::set([]).unwrap(),
            6 => Value::Map(Arc::new([("$a".into(), Value::from(1))].into_iter().collect())),
            7 => Value::Bytes([0, 1].into()),
            _ => Value::from("a \"text\""),
        }
    }

    fn random_item(state: &mut u64, depth: usize) -> Item {
        const NAMES: [&str; 8] = ["a", "b", "lst", "@odd", "@id", "$x", "a/b", "é\""];
        let mut item = Item::new();
        for name in NAMES {
            if next(state).is_multiple_of(3) {
                item = item.property(name, random_value(state));
            }
            if depth > 0 && next(state).is_multiple_of(3) {
                item = item.child(name, random_item(state, depth - 1).of_type("container"));
            }
        }
        for number in 0..next(state) % 3 {
            let number = i64::try_from(number).unwrap();
            if depth > 0 {
                let keyed = random_item(state, depth - 1).property("k1", number).property("k2", "x");
                item = item.listed("lst", keyed);
                let keyed = random_item(state, depth - 1).property("k", -number);
                item = item.listed("@odd", keyed);
            }
        }
        item
    }

    #[test]
    fn random_trees_read_back_as_written() {
        let repository = repository();
        let seed: u64 = std::env::var("ANNALS_TREE_SEED").map_or(1, |text| text.parse().unwrap());
        for seed in seed..seed + 40 {
            println!("ANNALS_TREE_SEED={seed}");
            let mut state = seed;
            put(&repository, "/random", &random_item(&mut state, 3));
            let found = repository.snapshot().tree().get(&path("/random"), None).unwrap().unwrap();
            let json = read(&repository, "/random", &WHOLE);
            assert_eq!(sorted(item_from_json(&json).unwrap()), sorted(found), "seed {seed}");
        }
    }

    #[test]
    fn what_is_no_tree_is_refused_with_its_place() {
        for (text, member) in [
            (r#"{"a": {"b": null}}"#, "a/b"),
            (r#"{"a": [{"k": 1}, {"k": [[1]]}]}"#, "a/1/k"),
            (r#"{"a": [1, {}]}"#, "a"),
            (r#"{"@what": 1}"#, "@what"),
            (r#"{"@id": 1}"#, "@id"),
            (r#"{"b": {"a": 1, "@properties": {"a": 2}}}"#, "b/a"),
            (r#"{"@children": {"c": 1}}"#, "@children/c"),
            (r#"{"@lists": {"l": {}}}"#, "@lists"),
        ] {
            let error = item_from_json(&serde_json::from_str(text).unwrap()).unwrap_err();
            assert_eq!(error.kind(), annals::ErrorKind::InvalidArgument, "{text}");
            assert!(error.context().contains(&("member", member.to_owned())), "{text}: {error}");
        }
        for text in ["[]", "[[1]]", "[{}]", "null"] {
            assert!(tree_content_from_json(&serde_json::from_str(text).unwrap()).is_err(), "{text}");
        }
        let set = tree_content_from_json(&json!([2, 1])).unwrap();
        assert_eq!(set, TreeContent::Value(Value::set([1.into(), 2.into()]).unwrap()));
    }

    #[test]
    fn the_text_can_be_taken_while_it_is_written() {
        let repository = repository();
        let all = (0..100).fold(Item::new().property("lst", 1), |all, number| {
            all.listed("lst", Item::new().property("k1", number).property("k2", ""))
                .listed("@odd", Item::new().property("k", number).child("c", Item::new()))
        });
        put(&repository, "/x/y", &all);
        let snapshot = repository.snapshot();
        let (mut taken, mut times) = (Vec::new(), 0);
        let is_there = write_tree(&snapshot, &snapshot.tree(), &path("/x"), &PLAIN, &mut |text| {
            times += 1;
            taken.append(&mut text.take());
            Ok(())
        });
        assert_eq!(is_there.unwrap(), Some(Vec::new()));
        let json: Json = serde_json::from_slice(&taken).unwrap();
        assert_eq!(json, read(&repository, "/x", &PLAIN));
        // Both lists go aside as a whole.
        assert_eq!((times, json["y"]["@lists"]["@odd"].as_array().unwrap().len()), (2, 100));
    }

    #[test]
    fn an_entry_tells_its_path_and_what_it_has_itself() {
        let repository = repository();
        put(&repository, "/x/y", &item_from_json(&json!({"@id": "y", "n": [1], "z": {}})).unwrap());
        let snapshot = repository.snapshot();
        let page = snapshot.tree().list(&path("/x"), &ListOptions::default()).unwrap().unwrap();
        let entries: Vec<TreeEntry> =
            page.items.into_iter().map(|found| TreeEntry::new(found).unwrap()).collect();
        let expected = json!([{"id": "y", "path": "/x/y", "type": "container", "value": {"n": [1]}}]);
        assert_eq!(tree(&entries), expected);
        let property = snapshot.tree().item(&path("/x/y/n")).unwrap().unwrap();
        let expected =
            json!({"id": "y", "path": "/x/y/n", "property": "n", "type": "container", "value": [1]});
        assert_eq!(tree(&TreeEntry::new(property).unwrap()), expected);
    }
}
