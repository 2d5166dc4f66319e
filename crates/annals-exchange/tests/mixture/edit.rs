//! Changes of trees by path, as the changes of instances that they are.

use annals::{ErrorKind, Id, Item, Result, Transaction, TreePath, Value};

use crate::model::{Age, Change, Fields, Known, Model, Patched, key_of};

/// Part of a transaction.
#[derive(Clone, Debug)]
pub enum Work {
    Direct(Change),
    Tree(TreeEdit),
}

/// A change of the tree below an entity.
#[derive(Clone, Debug)]
pub struct TreeEdit {
    pub root: String,
    pub kind: EditKind,
}

/// Names of children, from the root down.
pub type Path = Vec<String>;

#[derive(Clone, Debug)]
pub enum EditKind {
    Create {
        path: Path,
        item: Plain,
    },
    Merge {
        path: Path,
        item: Plain,
    },
    Put {
        path: Path,
        item: Plain,
    },
    Replace {
        path: Path,
        item: Plain,
    },
    /// Sets the property `n`.
    Set {
        path: Path,
        n: i64,
    },
    Delete {
        path: Path,
    },
    /// Deletes the property `n`.
    Unset {
        path: Path,
    },
    Move {
        from: Path,
        to: Path,
    },
    Copy {
        from: Path,
        to: Path,
    },
}

/// An item with its subtree.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    pub id: Option<String>,
    pub type_name: Option<&'static str>,
    pub fields: Fields,
    pub children: Vec<(String, Plain)>,
    /// The length of a text that the model does not know.
    pub padding: usize,
}

impl Plain {
    /// Lets the engine choose all ids.
    pub fn forget_ids(&mut self) {
        self.id = None;
        self.children.iter_mut().for_each(|(_, child)| child.forget_ids());
    }

    fn item(&self) -> Item {
        let mut item = Item::new();
        item.id = self.id.as_ref().map(|id| crate::see::id(id));
        item.type_name = self.type_name.map(Into::into);
        for (name, value) in [("n", self.fields.n), ("code", self.fields.code)] {
            item.properties.extend(value.map(|value| (name.into(), Value::from(value))));
        }
        if self.padding > 0 {
            item = item.property("text", "x".repeat(self.padding));
        }
        self.children.iter().fold(item, |item, (step, child)| match key_of(step) {
            Some(_) => item.listed("item", child.item()),
            None => item.child(step, child.item()),
        })
    }
}

pub(crate) fn path_of(path: &[String]) -> TreePath {
    TreePath::parse(&format!("/{}", path.join("/"))).expect("names make a path")
}

fn property(path: &[String]) -> TreePath {
    path_of(&[path, &["n".to_owned()]].concat())
}

/// Makes the change in a transaction.
pub fn edit(t: &mut Transaction, edit: &TreeEdit) -> Result<()> {
    let root: Id = crate::see::id(&edit.root);
    edit_tree(&mut t.tree_below(root), &edit.kind)
}

/// Makes the change in a tree.
pub fn edit_tree(tree: &mut annals::TreeEdit<'_>, kind: &EditKind) -> Result<()> {
    match kind {
        EditKind::Create { path, item } => tree.create(&path_of(path), &item.item()).map(drop),
        EditKind::Merge { path, item } => tree.merge(&path_of(path), &item.item()).map(drop),
        EditKind::Put { path, item } => tree.put(&path_of(path), &item.item()).map(drop),
        EditKind::Replace { path, item } => tree.replace(&path_of(path), &item.item()).map(drop),
        EditKind::Set { path, n } => tree.set(&property(path), *n),
        EditKind::Delete { path } => tree.delete(&path_of(path)),
        EditKind::Unset { path } => tree.delete(&property(path)),
        EditKind::Move { from, to } => tree.move_to(&path_of(from), &path_of(to), None),
        EditKind::Copy { from, to } => tree.copy(&path_of(from), &path_of(to)).map(drop),
    }
}

/// The changes of instances that a change of a tree makes, planned on the model before it.
struct Planning<'m> {
    model: &'m Model,
    changes: Vec<Change>,
    number: &'m mut usize,
}

/// An item that is there, or the id of one that is planned.
#[derive(Clone)]
enum Spot {
    There(Age),
    New(String),
}

impl Model {
    /// The changes of a tree edit; `number` counts new ids.
    pub fn planned(
        &self,
        edit: &TreeEdit,
        number: &mut usize,
    ) -> std::result::Result<Vec<Change>, ErrorKind> {
        let mut planning = Planning { model: self, changes: Vec::new(), number };
        let root = &edit.root;
        match &edit.kind {
            EditKind::Create { path, item } => planning.write(root, path, item, (true, false))?,
            EditKind::Merge { path, item } => planning.write(root, path, item, (false, false))?,
            EditKind::Put { path, item } => planning.write(root, path, item, (false, true))?,
            EditKind::Replace { path, item } => {
                self.reach(root, path).ok_or(ErrorKind::NotFound)?;
                planning.write(root, path, item, (false, true))?;
            }
            EditKind::Set { path, n } => {
                let item = Plain { fields: Fields::n(*n), ..Plain::default() };
                planning.write(root, path, &item, (false, false))?;
            }
            EditKind::Delete { path } => {
                let (_, age) = self.reach(root, path).ok_or(ErrorKind::NotFound)?;
                let id = self.all[&age].now().id.clone();
                planning.changes.push(Change::Delete { is_link: false, id });
            }
            EditKind::Unset { path } => {
                let (_, age) = self.reach(root, path).ok_or(ErrorKind::NotFound)?;
                let now = self.all[&age].now();
                now.fields.n.ok_or(ErrorKind::NotFound)?;
                let patch = Patched { n: Some(None), ..Patched::default() };
                planning.changes.push(Change::Patch { id: now.id.clone(), patch });
            }
            EditKind::Move { from, to } => planning.move_to(root, from, to)?,
            EditKind::Copy { from, to } => {
                let (_, age) = self.reach(root, from).ok_or(ErrorKind::NotFound)?;
                let mut item = self.item(age);
                // The keys of the path replace those of the item.
                if to.last().and_then(|step| key_of(step)).is_some() {
                    item.fields.n = None;
                }
                planning.write(root, to, &item, (true, false))?;
            }
        }
        Ok(planning.changes)
    }

    /// The item at a path, and the relationship that contains it, if it is not the root.
    fn reach(&self, root: &str, path: &[String]) -> Option<(Option<Age>, Age)> {
        let root = self.live(false, root).ok()?;
        path.iter().try_fold((None, root), |(_, at), name| {
            self.child(at, name).map(|(link, child)| (Some(link), child))
        })
    }

    /// An item with its subtree, without ids. Children with names come first, by name; then the list, by its keys.
    fn item(&self, age: Age) -> Plain {
        let known = &self.all[&age];
        let mut steps = self.steps(age);
        steps.sort_by_key(|(_, step, _)| (key_of(step), step.clone()));
        let children = steps.into_iter().map(|(_, step, child)| (step, self.item(child)));
        Plain {
            id: None,
            type_name: Some(known.now().type_name),
            fields: known.now().fields.clone(),
            children: children.collect(),
            padding: 0,
        }
    }
}

type Planned<T> = std::result::Result<T, ErrorKind>;

impl Planning<'_> {
    fn known(&self, age: Age) -> &Known {
        &self.model.all[&age]
    }

    fn id(&self, spot: &Spot) -> String {
        match spot {
            Spot::There(age) => self.known(*age).now().id.clone(),
            Spot::New(id) => id.clone(),
        }
    }

    fn new_id(&mut self) -> String {
        *self.number += 1;
        format!("?{}", self.number)
    }

    /// Creates the root if it is missing.
    fn prepare(&mut self, root: &str) -> Planned<Spot> {
        match self.model.find(false, root) {
            Some(age) if self.known(age).now().is_live => Ok(Spot::There(age)),
            Some(_) => Err(ErrorKind::Deleted),
            None => {
                let id = root.to_owned();
                self.changes.push(Change::Create { id, type_name: "root", fields: Fields::default() });
                Ok(Spot::New(root.to_owned()))
            }
        }
    }

    fn write(
        &mut self,
        root: &str,
        path: &[String],
        item: &Plain,
        (is_new, is_whole): (bool, bool),
    ) -> Planned<()> {
        let root = self.prepare(root)?;
        let Some((last, above)) = path.split_last() else {
            if is_new {
                return Err(ErrorKind::AlreadyExists);
            }
            return self.change(&root, &Plain { id: None, type_name: None, ..item.clone() }, is_whole);
        };
        let item = &told(last, item)?;
        let mut at = root;
        for name in above {
            at = match self.child(&at, name) {
                Some(child) => child,
                None => self.create(&at, name, &told(name, &Plain::default())?)?,
            };
        }
        match self.child(&at, last) {
            Some(_) if is_new => Err(ErrorKind::AlreadyExists),
            Some(child) => self.change(&child, item, is_whole),
            None => self.create(&at, last, item).map(drop),
        }
    }

    fn child(&self, parent: &Spot, name: &str) -> Option<Spot> {
        let Spot::There(age) = parent else { return None };
        self.model.child(*age, name).map(|(_, child)| Spot::There(child))
    }

    fn create(&mut self, parent: &Spot, name: &str, item: &Plain) -> Planned<Spot> {
        let id = item.id.clone().unwrap_or_else(|| self.new_id());
        let listed = key_of(name).map(|_| "item");
        let type_name = item.type_name.or(listed).unwrap_or("container");
        self.changes.push(Change::Create { id: id.clone(), type_name, fields: item.fields.clone() });
        let (link, from) = (self.new_id(), self.id(parent));
        let name = listed.is_none().then(|| name.to_owned());
        self.changes.push(Change::Contain { id: link, from, to: id.clone(), name, n: None });
        let spot = Spot::New(id);
        for (name, child) in &item.children {
            self.create(&spot, name, child)?;
        }
        Ok(spot)
    }

    /// Gives an item the properties and children of `item`; only these if it `is_whole`.
    fn change(&mut self, spot: &Spot, item: &Plain, is_whole: bool) -> Planned<()> {
        let Spot::There(age) = spot else {
            // The root, which is new: it has nothing yet.
            if item.fields != Fields::default() {
                let (id, Fields { n, code, .. }) = (self.id(spot), item.fields.clone());
                let patch = Patched { n: n.map(Some), code: code.map(Some), stored: None };
                self.changes.push(Change::Patch { id, patch });
            }
            for (name, child) in &item.children {
                self.create(spot, name, child)?;
            }
            return Ok(());
        };
        let now = self.known(*age).now().clone();
        if item.type_name.is_some_and(|told| told != self.known(*age).now().type_name) {
            return Err(ErrorKind::WrongType);
        }
        if item.id.as_ref().is_some_and(|told| *told != now.id) {
            return Err(ErrorKind::AlreadyExists);
        }
        let mut fields = item.fields.clone();
        if !is_whole {
            fields.n = fields.n.or(now.fields.n);
            fields.code = fields.code.or(now.fields.code);
            fields.stored = fields.stored.or(now.fields.stored);
        }
        if self.known(*age).now().type_name == "item" {
            // A key stays.
            fields.n = fields.n.or(now.fields.n);
        }
        if fields != now.fields {
            let patch = Patched::between(&now.fields, &fields);
            self.changes.push(Change::Patch { id: now.id.clone(), patch });
        }
        if is_whole {
            let kept = |step: &String| item.children.iter().any(|(known, _)| known == step);
            let gone = self.model.steps(*age).into_iter().filter(|(_, step, _)| !kept(step));
            let gone: Vec<String> = gone.map(|(_, _, child)| self.known(child).now().id.clone()).collect();
            self.changes.extend(gone.into_iter().map(|id| Change::Delete { is_link: false, id }));
        }
        for (name, child) in &item.children {
            match self.child(spot, name) {
                Some(known) => self.change(&known, child, is_whole)?,
                None => drop(self.create(spot, name, child)?),
            }
        }
        Ok(())
    }

    fn move_to(&mut self, root: &str, from: &[String], to: &[String]) -> Planned<()> {
        let (link, child) = self.model.reach(root, from).ok_or(ErrorKind::NotFound)?;
        let link = link.ok_or(ErrorKind::NotFound)?;
        if to.len() > from.len() && to.starts_with(from) {
            return Err(ErrorKind::InvalidEnds);
        }
        if from != to && self.model.reach(root, to).is_some() {
            return Err(ErrorKind::AlreadyExists);
        }
        let (last, above) = to.split_last().ok_or(ErrorKind::NotFound)?;
        let (_, parent) = self.model.reach(root, above).ok_or(ErrorKind::NotFound)?;
        if key_of(last).is_some() != (self.known(child).now().type_name == "item") {
            return Err(ErrorKind::InvalidArgument);
        }
        let contained = self.known(link).now().clone();
        let name = key_of(last).is_none().then(|| last.clone());
        let rekey = key_of(last).map(|n| {
            let patch = Patched { n: Some(Some(n)), ..Patched::default() };
            Change::Patch { id: self.known(child).now().id.clone(), patch }
        });
        if contained.ends.is_some_and(|ends| ends[0] == parent) {
            self.changes.extend(name.map(|name| Change::Rename { id: contained.id, name }));
            self.changes.extend(rekey);
            return Ok(());
        }
        let [from, to] = [parent, child].map(|age| self.known(age).now().id.clone());
        self.changes.push(Change::Delete { is_link: true, id: contained.id });
        self.changes.extend(rekey);
        let id = self.new_id();
        self.changes.push(Change::Contain { id, from, to, name, n: contained.fields.n });
        Ok(())
    }
}

/// The item at a step, with the key that the step states. Fails if its type or its key contradicts the step.
fn told(step: &str, item: &Plain) -> Planned<Plain> {
    let key = key_of(step);
    let is_item = item.type_name.map_or(key.is_some(), |told| told == "item");
    if key.is_some_and(|key| item.fields.n.is_some_and(|n| n != key)) || is_item != key.is_some() {
        return Err(ErrorKind::InvalidArgument);
    }
    let mut item = item.clone();
    item.fields.n = key.or(item.fields.n);
    Ok(item)
}

/// Story: a candidate put an item, others changed another property of it, and a rebase kept the edits of the candidate. The
/// model planned all properties of the item, and took back the change of the others, which the engine keeps.
#[test]
fn a_put_plans_only_what_differs() {
    let mut model = Model::default();
    let id = || "e1".to_owned();
    let item = Fields::n(1);
    model.apply((1, 0), &Change::Create { id: id(), type_name: "node", fields: item.clone() }).unwrap();
    let item = Plain { fields: Fields { code: Some(4), ..item }, ..Plain::default() };
    let put = TreeEdit { root: id(), kind: EditKind::Put { path: Vec::new(), item } };
    let planned = model.planned(&put, &mut 0).unwrap();
    model.apply((2, 0), &Change::Set { is_link: false, id: id(), n: 2 }).unwrap();
    for change in &planned {
        model.apply((3, 0), change).unwrap();
    }
    let age = model.live(false, "e1").unwrap();
    assert_eq!(model.all[&age].now().fields, Fields { n: Some(2), code: Some(4), stored: None });
}

/// Story: a candidate copied an item with a list and, made after it, a child with a name. The model planned the copies from
/// the oldest child on, and gave them in turn the ids of the engine, which copies children in their order.
#[test]
fn a_copy_plans_children_in_their_order() {
    let mut model = Model::default();
    let plain = |fields| Plain { fields, ..Plain::default() };
    let [first, second] = [0, 1].map(|n| (crate::model::item_step(n), plain(Fields::n(n))));
    let named = ("b".to_owned(), plain(Fields::default()));
    let item = Plain { children: vec![second, first, named], ..Plain::default() };
    let create = EditKind::Create { path: vec!["a".into()], item };
    let copy = EditKind::Copy { from: vec!["a".into()], to: vec!["c".into()] };
    let mut number = 0;
    let mut plan =
        |model: &Model, kind| model.planned(&TreeEdit { root: "root".into(), kind }, &mut number).unwrap();
    for change in plan(&model, create) {
        model.apply((1, 0), &change).unwrap();
    }
    let planned = plan(&model, copy);
    let created = planned.iter().filter_map(|change| match change {
        Change::Create { type_name, fields, .. } => Some((*type_name, fields.n)),
        _ => None,
    });
    let expected = [("container", None), ("container", None), ("item", Some(0)), ("item", Some(1))];
    assert_eq!(created.collect::<Vec<_>>(), expected);
}
