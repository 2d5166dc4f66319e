//! Rules of trees: declared, taken away and declared again, also in records that change instances. No record leaves an
//! instance of this repository that breaks a rule in force.

use std::collections::BTreeMap;

use annals::{AttributeDefinition, ErrorKind, Snapshot, TypeDefinition, TypeKind, ValueType};

use crate::edit::{EditKind, Plain, TreeEdit, Work};
use crate::model::{Age, Change, Content, Fields, Known, Model, Patched, RANGE, item_step};
use crate::random::Random;
use crate::world::World;

/// Children, or lists, that a node may have to have.
const REQUIRED: [&str; 2] = ["a", "item"];
/// Paths that the code of an item may refer to: its own key, those of the items beside it, an item with a name, and
/// others that start at the outermost container.
const REFERENCES: [&str; 5] = ["../n", "../../item/n", "../../a/n", "/item/n", "/a/item/n"];
/// How often a record is changed until it keeps the rules, and the changes of each time.
const REPAIRS: usize = 3;
const REPAIRED: usize = 6;
/// Children of an entity that is large.
const LARGE: usize = 2;
/// Changes of each time when rules are in force.
const CHANGES: usize = 12;

/// The rules in force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// A child, or a list, of each node.
    required: Option<&'static str>,
    /// True if the items beside each other have different codes.
    is_together: bool,
    /// The values that an item may have as its code.
    reference: Option<&'static str>,
}

impl Rules {
    fn any(random: &mut Random) -> Rules {
        Rules {
            required: random.one_in(2).then(|| *random.choose(&REQUIRED)),
            is_together: random.one_in(2),
            reference: (!random.one_in(3)).then(|| *random.choose(&REFERENCES)),
        }
    }

    /// The rules that a repository has.
    pub fn of(snapshot: &Snapshot) -> Rules {
        let declared = |name| snapshot.type_definition(TypeKind::Entity, name).expect("it is declared");
        let (node, item) = (declared("node"), declared("item"));
        let known =
            |all: &[&'static str], name: &str| *all.iter().find(|known| **known == name).expect("a name");
        let code = item.attributes.iter().find(|attribute| &*attribute.name == "code");
        let reference = code.and_then(|code| code.reference.as_ref());
        let rules = Rules {
            required: node.required_children.first().map(|name| known(&REQUIRED, name)),
            is_together: !item.unique_together.is_empty(),
            reference: reference.map(|path| known(&REFERENCES, path)),
        };
        assert_eq!(rules.types(), [(*node).clone(), (*item).clone()], "the types");
        rules
    }

    pub fn is_empty(&self) -> bool {
        *self == Rules::default()
    }

    /// The types with these rules.
    pub fn types(&self) -> [TypeDefinition; 2] {
        let integer = |name| AttributeDefinition::new(name, ValueType::Integer);
        let n = integer("n").required().within(RANGE[0], RANGE[1]);
        let node = TypeDefinition::entity("node").attribute(n).attribute(integer("code").unique());
        let code = AttributeDefinition { reference: self.reference.map(Into::into), ..integer("code") };
        let item = TypeDefinition::entity("item").attribute(integer("n").key()).attribute(code);
        [
            self.required.iter().fold(node, |node, name| node.requiring_child(name)),
            if self.is_together { item.unique_together(&["code"]) } else { item },
        ]
    }
}

/// True if records are refused for this reason at their end.
pub fn is_of_rules(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Cardinality | ErrorKind::NotUnique | ErrorKind::MissingEnd)
}

/// The live containers and their children.
struct Places<'m> {
    model: &'m Model,
    parents: BTreeMap<Age, Age>,
    children: BTreeMap<Age, Vec<Age>>,
    /// By the container and the name of the child.
    named: BTreeMap<(Age, &'m str), Age>,
}

impl Model {
    /// The entities that break a rule. Copies have the state of their home.
    pub fn broken(&self) -> Vec<(Age, ErrorKind)> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let places = Places::of(self);
        let own =
            self.all.iter().filter(|(_, known)| !known.is_link && !known.is_copy && known.now().is_live);
        own.filter_map(|(age, _)| Some((*age, places.broken_by(*age)?))).collect()
    }
}

impl<'m> Places<'m> {
    fn of(model: &'m Model) -> Places<'m> {
        let (parents, children, named) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut places = Places { model, parents, children, named };
        for known in model.all.values().filter(|known| known.contains() && known.now().is_live) {
            let [from, to] = known.now().ends.expect("a relationship has ends");
            places.parents.insert(to, from);
            places.children.entry(from).or_default().push(to);
            if let Some(name) = known.now().name.as_deref().filter(|_| !places.is_item(to)) {
                places.named.insert((from, name), to);
            }
        }
        places
    }

    fn now(&self, age: Age) -> &Content {
        self.model.all[&age].now()
    }

    fn is_item(&self, age: Age) -> bool {
        self.now(age).type_name == "item"
    }

    fn broken_by(&self, age: Age) -> Option<ErrorKind> {
        let (now, rules) = (self.now(age), &self.model.rules);
        if now.type_name == "node" {
            let is_missing = |name: &&str| self.at_step(age, name).is_empty();
            return rules.required.filter(is_missing).map(|_| ErrorKind::Cardinality);
        }
        let code = now.fields.code.filter(|_| self.is_item(age))?;
        let parent = self.parents.get(&age).copied();
        let beside = parent.map_or(Vec::new(), |parent| self.at_step(parent, "item"));
        let has_code = |item: &Age| *item != age && self.now(*item).fields.code == Some(code);
        if rules.is_together && beside.iter().any(has_code) {
            return Some(ErrorKind::NotUnique);
        }
        let outermost = std::iter::successors(Some(age), |at| self.parents.get(at).copied()).last();
        let (start, steps): (_, &[&str]) = match rules.reference? {
            "../n" => (Some(age), &[]),
            "../../item/n" => (parent, &["item"]),
            "../../a/n" => (parent, &["a"]),
            "/item/n" => (outermost, &["item"]),
            _ => (outermost, &["a", "item"]),
        };
        let targets = steps.iter().fold(Vec::from_iter(start), |at, step| {
            at.into_iter().flat_map(|at| self.at_step(at, step)).collect()
        });
        let is_there = targets.iter().any(|target| self.now(*target).fields.n == Some(code));
        (!is_there).then_some(ErrorKind::MissingEnd)
    }

    /// The child of this name, or the items of the list.
    fn at_step(&self, parent: Age, step: &str) -> Vec<Age> {
        let children = || self.children.get(&parent).into_iter().flatten().copied();
        match step {
            "item" => children().filter(|child| self.is_item(*child)).collect(),
            name => self.named.get(&(parent, name)).copied().into_iter().collect(),
        }
    }
}

impl World {
    /// The declared rules are those of the model, and nothing breaks them.
    pub(crate) fn check_rules(&self, snapshot: &Snapshot) {
        assert_eq!(Rules::of(snapshot), self.model.rules, "the rules: {}", self.what());
        let broken = self.model.broken();
        assert!(broken.is_empty(), "{broken:?} of {:#?}: {}", self.model.all, self.what());
    }

    /// Declares rules, or takes them away, among other changes: also in a record without rules until its end.
    pub(crate) fn declaring(&mut self) -> Vec<Work> {
        let now = self.model.rules.clone();
        let is_less = !now.is_empty() && self.random.one_in(2);
        let next = if is_less { Rules::default() } else { Rules::any(&mut self.random) };
        let declare = |rules: &Rules| Work::Direct(Change::Declare { rules: rules.clone() });
        if self.random.one_in(2) {
            let mut works = if self.random.one_in(2) { Vec::new() } else { self.several() };
            let at = self.random.below(works.len() + 1);
            works.insert(at, declare(&next));
            return works;
        }
        self.model.rules = Rules::default();
        let mut works = match self.random.below(4) {
            0 => vec![Work::Tree(self.any_list_edit())],
            1 | 2 => self.any_large_deletion().map(Work::Direct).into_iter().collect(),
            _ => Vec::new(),
        };
        if works.is_empty() || self.random.one_in(2) {
            works.extend(self.several());
        }
        self.model.rules = now.clone();
        works.insert(0, declare(&Rules::default()));
        let is_back = !now.is_empty() && !self.random.one_in(4);
        works.push(declare(if is_back { &now } else { &next }));
        works
    }

    /// Creates a long list: often in a child that a node must have.
    fn any_list_edit(&mut self) -> TreeEdit {
        let nodes =
            self.model.all.values().filter(|known| known.now().is_live && known.now().type_name == "node");
        let nodes: Vec<String> = nodes.map(|known| known.now().id.clone()).collect();
        let required = self.model.rules.required.filter(|_| !nodes.is_empty() && self.random.one_in(2));
        let (root, path) = match required {
            Some("item") => {
                (self.random.choose(&nodes).clone(), vec![item_step(self.random.below(3) as i64)])
            }
            Some(name) => (self.random.choose(&nodes).clone(), vec![name.to_owned()]),
            None => {
                let root = self.any_edit().root;
                let path = self.any_path(&root, true);
                (root, path)
            }
        };
        let item = Plain { children: self.any_list(), ..Plain::default() };
        TreeEdit { root, kind: EditKind::Merge { path, item } }
    }

    /// Deletes an entity with at least so much below it that it goes as one.
    fn any_large_deletion(&mut self) -> Option<Change> {
        let contains = |known: &Known| known.contains() && known.now().is_live;
        let ends =
            self.model.all.values().filter(|known| contains(known)).filter_map(|known| known.now().ends);
        let children: Vec<Age> = ends.map(|[_, child]| child).collect();
        let large = children.into_iter().filter(|child| self.model.children(*child).len() >= LARGE);
        let large: Vec<String> = large.map(|child| self.model.all[&child].now().id.clone()).collect();
        if large.is_empty() {
            return None;
        }
        Some(Change::Delete { is_link: false, id: self.random.choose(&large).clone() })
    }

    /// Gives an entity with something below it another place, or one for the first time.
    fn any_placing(&mut self) -> Option<Change> {
        let model = &self.model;
        let live = model.all.iter().filter(|(_, known)| !known.is_link && known.now().is_live);
        let all: Vec<Age> = live.map(|(age, _)| *age).collect();
        let has_code = |age: &Age| model.all[age].now().fields.code.is_some();
        let is_any = self.random.one_in(4);
        // Mostly something with values below it that may refer to others.
        let is_parent = |age: &Age| model.children(*age).iter().any(|child| is_any || has_code(child));
        let parents: Vec<Age> = all.iter().copied().filter(is_parent).collect();
        if parents.is_empty() {
            return None;
        }
        let (child, parent) = (*self.random.choose(&parents), *self.random.choose(&all));
        let id = |age: Age| self.model.all[&age].now().id.clone();
        let (to, from, link) = (id(child), id(parent), self.model.parent(child));
        self.count += 1;
        let (new, name) = (format!("r0{}", self.count), Some(format!("n{}", self.count)));
        Some(match link {
            Some((link, _)) => Change::Relink { id: self.model.all[&link].now().id.clone(), from, to: None },
            None => Change::Contain { id: new, from, to, name, n: Some(0) },
        })
    }

    /// Changes an item of a list, to which others may refer, or takes it away.
    fn any_change_of_an_item(&mut self) -> Option<Change> {
        let live =
            self.model.all.values().filter(|known| known.now().is_live && known.now().type_name == "item");
        let all: Vec<String> = live.map(|known| known.now().id.clone()).collect();
        if all.is_empty() {
            return None;
        }
        let (id, is_link, n) = (self.random.choose(&all).clone(), false, self.random.below(10) as i64);
        Some(match self.random.below(4) {
            0 => Change::Delete { is_link, id },
            1 => Change::Purge { is_link, id },
            2 => Change::Retype { id, type_name: "node" },
            _ => Change::Set { is_link, id, n },
        })
    }

    /// Purges something that is deleted.
    fn any_purge(&mut self) -> Option<Change> {
        let is_dead = |known: &&Known| !known.is_link && !known.now().is_live && !known.is_opaque;
        let dead = self.model.all.values().filter(is_dead).filter(|known| !known.is_copy);
        let all: Vec<String> = dead.map(|known| known.now().id.clone()).collect();
        let id = (!all.is_empty()).then(|| self.random.choose(&all).clone())?;
        Some(Change::Purge { is_link: false, id })
    }

    /// Changes of many instances while rules are in force.
    pub(crate) fn work_under_rules(&mut self) {
        for _ in 0..CHANGES {
            let change = match self.random.below(12) {
                0 => self.any_large_deletion(),
                1 | 2 => self.any_placing(),
                3 | 4 => self.any_change_of_an_item(),
                5 => self.any_purge(),
                _ => None,
            };
            let mut works = vec![];
            works.extend(change.map(Work::Direct));
            if works.is_empty() {
                works = match self.random.below(4) {
                    0 => self.declaring(),
                    1 => vec![Work::Tree(self.any_list_edit())],
                    _ => self.any_works(),
                };
            }
            let works = if self.random.one_in(2) { works } else { self.repaired(works) };
            self.commit_all(works);
        }
    }

    /// Adds changes to a record that would break a rule, so that it mostly does not.
    pub(crate) fn repaired(&mut self, mut works: Vec<Work>) -> Vec<Work> {
        let position = self.position() + 1;
        for _ in 0..REPAIRS {
            let mut next = self.model.clone();
            if next.apply_all(position, &works, &mut self.count).is_err() {
                break;
            }
            // The engine names instances whose ids begin so.
            let broken = next.broken().into_iter().map(|(age, kind)| (next.all[&age].now().id.clone(), kind));
            let broken: Vec<_> = broken.filter(|(id, _)| !id.starts_with('?')).take(REPAIRED).collect();
            if broken.is_empty() {
                break;
            }
            for (id, kind) in broken {
                let changes = self.repair(id, kind, next.rules.required);
                works.extend(changes.into_iter().map(Work::Direct));
            }
        }
        works
    }

    fn repair(&mut self, id: String, kind: ErrorKind, required: Option<&str>) -> Vec<Change> {
        if self.random.one_in(4) {
            return vec![Change::Delete { is_link: false, id }];
        }
        if kind != ErrorKind::Cardinality {
            let patch = Patched { code: Some(None), ..Patched::default() };
            return vec![Change::Patch { id, patch }];
        }
        self.count += 1;
        let (child, link) = (format!("e0{}", self.count), format!("r0{}", self.count));
        let fields = Fields::n(self.random.below(3) as i64);
        let name = required.filter(|name| *name != "item").map(str::to_owned);
        let type_name = if name.is_some() { "container" } else { "item" };
        vec![
            Change::Create { id: child.clone(), type_name, fields },
            Change::Contain { id: link, from: id, to: child, name, n: Some(0) },
        ]
    }
}
