//! The plain model: every instance by its age, with its birth and all its versions, whatever it is called.

use std::collections::BTreeMap;

use annals::ErrorKind;

use crate::rules::Rules;
use crate::see::{Name, Seen};

/// The record of a version, and the change in it.
pub type Place = (u64, usize);
/// The outcome of a change: true if it makes a version.
pub type Outcome = Result<bool, ErrorKind>;
/// Which instance, whatever it is called.
pub type Age = usize;

/// The properties of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// Required for nodes, and within [`RANGE`]. The key of items, which names them in lists.
    pub n: Option<i64>,
    /// Unique among nodes.
    pub code: Option<i64>,
    /// The byte of its content.
    pub stored: Option<u8>,
}

/// The declared range of `n` of a node.
pub const RANGE: [i64; 2] = [0, 9];

impl Fields {
    pub fn n(n: i64) -> Fields {
        Fields { n: Some(n), ..Fields::default() }
    }

    /// Fails as a write of an instance of this type must.
    pub fn check(&self, type_name: &str) -> Result<(), ErrorKind> {
        let is_allowed = match type_name {
            "node" => self.n.is_some_and(|n| (RANGE[0]..=RANGE[1]).contains(&n)),
            "item" => self.n.is_some(),
            _ => true,
        };
        if is_allowed { Ok(()) } else { Err(ErrorKind::InvalidProperty) }
    }
}

/// The content of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    pub id: String,
    pub type_name: &'static str,
    pub is_live: bool,
    pub fields: Fields,
    /// The name of the child of a relationship that contains.
    pub name: Option<String>,
    /// The ends of a relationship.
    pub ends: Option<[Age; 2]>,
    /// The license of its provenance.
    pub license: Option<u8>,
}

#[derive(Clone, Debug)]
pub struct Version {
    pub content: Content,
    pub place: Place,
    /// Index of the version that it was made from.
    pub base: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Known {
    pub is_link: bool,
    pub birth: u64,
    pub versions: Vec<Version>,
    /// True if the model does not know all its versions, or with which others it was deleted.
    pub is_opaque: bool,
    /// True if it belongs to the other collection.
    pub is_copy: bool,
    /// The record that made it this repository's own.
    pub adopted_at: Option<u64>,
}

impl Known {
    pub fn now(&self) -> &Content {
        &self.versions.last().expect("it has a version").content
    }

    pub fn place(&self) -> Place {
        self.versions.last().expect("it has a version").place
    }

    pub fn contains(&self) -> bool {
        self.now().type_name == "contains"
    }

    /// True if it is known which version an undo takes back: how many versions several changes of one transaction make
    /// is no business of this test.
    pub fn has_sure_base(&self) -> bool {
        let last = self.place().0;
        !self.is_opaque && self.versions.iter().filter(|version| version.place.0 == last).count() == 1
    }

    /// True if this is so for all its versions: an undo of the content may take back any.
    pub fn has_sure_bases(&self) -> bool {
        let is_single = self.versions.windows(2).all(|pair| pair[0].place.0 != pair[1].place.0);
        !self.is_opaque && is_single
    }

    /// The version after the record at `position`.
    pub fn at(&self, position: u64) -> Option<&Content> {
        let known = self.versions.iter().rev().find(|version| version.place.0 <= position);
        known.map(|version| &version.content)
    }

    pub fn write(&mut self, place: Place, change: impl FnOnce(&mut Content)) {
        let mut content = self.now().clone();
        change(&mut content);
        let base = Some(self.versions.len() - 1);
        self.versions.push(Version { content, place, base });
    }
}

/// One change. A new instance whose id begins with `?` gets its id from the engine.
#[derive(Clone, Debug)]
pub enum Change {
    Create {
        id: String,
        type_name: &'static str,
        fields: Fields,
    },
    /// Creates a node, or replaces all its properties.
    Upsert {
        id: String,
        fields: Fields,
    },
    Relate {
        id: String,
        from: String,
        to: String,
    },
    Contain {
        id: String,
        from: String,
        to: String,
        name: Option<String>,
        n: Option<i64>,
    },
    Set {
        is_link: bool,
        id: String,
        n: i64,
    },
    /// Gives a property a value, and another provenance, in one version.
    License {
        is_link: bool,
        id: String,
        n: i64,
        license: Option<u8>,
    },
    Store {
        id: String,
        byte: u8,
    },
    /// Gives some properties of an entity a value, or takes it away.
    Patch {
        id: String,
        patch: Patched,
    },
    Replace {
        id: String,
        fields: Fields,
    },
    Rename {
        id: String,
        name: String,
    },
    Delete {
        is_link: bool,
        id: String,
    },
    Restore {
        is_link: bool,
        id: String,
        with: bool,
    },
    Purge {
        is_link: bool,
        id: String,
    },
    Undo {
        is_link: bool,
        id: String,
        /// Only the last change of properties.
        of_content: bool,
    },
    Relink {
        id: String,
        from: String,
        /// Its new end, if that changes, too.
        to: Option<String>,
    },
    Reidentify {
        is_link: bool,
        id: String,
        new: String,
    },
    /// Makes a node an item, or an item a node.
    Retype {
        id: String,
        type_name: &'static str,
    },
    /// Declares the types of nodes and items with these rules.
    Declare {
        rules: Rules,
    },
    /// An entity of the other collection, as it is there.
    SaveCopy {
        id: String,
        fields: Fields,
    },
    Rehome {
        id: String,
    },
    PurgeCopy {
        id: String,
    },
}

/// The properties that a patch concerns, each with its new value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patched {
    pub n: Option<Option<i64>>,
    pub code: Option<Option<i64>>,
    pub stored: Option<Option<u8>>,
}

impl Patched {
    /// The properties that differ, each with its value in `after`.
    pub fn between(before: &Fields, after: &Fields) -> Patched {
        Patched {
            n: (before.n != after.n).then_some(after.n),
            code: (before.code != after.code).then_some(after.code),
            stored: (before.stored != after.stored).then_some(after.stored),
        }
    }

    pub fn apply(&self, fields: &mut Fields) {
        fields.n = self.n.unwrap_or(fields.n);
        fields.code = self.code.unwrap_or(fields.code);
        fields.stored = self.stored.unwrap_or(fields.stored);
    }
}

impl Change {
    /// True if a record with it can be taken back. An undo may give another id.
    pub fn can_be_taken_back(&self) -> bool {
        !matches!(
            self,
            Change::Purge { .. }
                | Change::Reidentify { .. }
                | Change::Undo { .. }
                | Change::SaveCopy { .. }
                | Change::Rehome { .. }
                | Change::PurgeCopy { .. }
        )
    }

    /// True if its effect is planned by what is there when it is added.
    pub fn is_planned(&self) -> bool {
        matches!(self, Change::Upsert { .. } | Change::Undo { .. } | Change::Declare { .. })
    }

    /// The instance that it creates.
    pub fn created(&self) -> Option<(bool, &str)> {
        match self {
            Change::Create { id, .. } => Some((false, id)),
            Change::Relate { id, .. } | Change::Contain { id, .. } => Some((true, id)),
            _ => None,
        }
    }

    /// The instance that it changes; `None` if it creates one.
    pub fn named(&self) -> Option<(bool, &str)> {
        match self {
            Change::Create { .. }
            | Change::Relate { .. }
            | Change::Contain { .. }
            | Change::Declare { .. } => None,
            Change::Store { id, .. }
            | Change::Upsert { id, .. }
            | Change::Patch { id, .. }
            | Change::Replace { id, .. }
            | Change::SaveCopy { id, .. }
            | Change::Rehome { id }
            | Change::Retype { id, .. }
            | Change::PurgeCopy { id } => Some((false, id)),
            Change::Relink { id, .. } | Change::Rename { id, .. } => Some((true, id)),
            Change::Set { is_link, id, .. }
            | Change::License { is_link, id, .. }
            | Change::Delete { is_link, id }
            | Change::Restore { is_link, id, .. }
            | Change::Purge { is_link, id }
            | Change::Undo { is_link, id, .. }
            | Change::Reidentify { is_link, id, .. } => Some((*is_link, id)),
        }
    }

    /// Gives new instances their ids.
    pub fn learn_ids(&mut self, given: &BTreeMap<String, String>) {
        let learn = |id: &mut String| *id = given.get(id).unwrap_or(id).clone();
        match self {
            Change::Create { id, .. } => learn(id),
            Change::Contain { id, from, to, .. } => [id, from, to].into_iter().for_each(learn),
            Change::Patch { id, .. } | Change::Delete { id, .. } | Change::Rename { id, .. } => learn(id),
            _ => {}
        }
    }

    /// The instance that it creates or changes.
    pub fn instance(&self) -> (bool, &str) {
        self.created().or(self.named()).expect("it creates or changes one")
    }
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub all: BTreeMap<Age, Known>,
    pub next: Age,
    pub rules: Rules,
    /// True for state that is pushed: in parts, and its values need not be unique.
    pub is_pushed: bool,
    /// True if a change makes a version also if it changes nothing.
    pub is_always: bool,
}

impl Model {
    /// The instance that has this id now.
    pub fn find(&self, is_link: bool, id: &str) -> Option<Age> {
        self.all
            .iter()
            .find(|(_, known)| known.is_link == is_link && known.now().id == id)
            .map(|(age, _)| *age)
    }

    /// True if an instance has, or had, the id.
    pub fn is_taken(&self, is_link: bool, id: &str) -> bool {
        let has = |known: &Known| known.versions.iter().any(|version| version.content.id == id);
        self.all.values().any(|known| known.is_link == is_link && has(known))
    }

    pub fn known(&self, is_link: bool, id: &str) -> Result<Age, ErrorKind> {
        self.find(is_link, id)
            .ok_or_else(|| if self.is_taken(is_link, id) { ErrorKind::Deleted } else { ErrorKind::NotFound })
    }

    pub fn live(&self, is_link: bool, id: &str) -> Result<Age, ErrorKind> {
        let age = self.known(is_link, id)?;
        if self.all[&age].now().is_live { Ok(age) } else { Err(ErrorKind::Deleted) }
    }

    /// Live relationships of an entity.
    pub fn links_of(&self, age: Age) -> Vec<Age> {
        let is_linked = |known: &Known| known.now().ends.is_some_and(|ends| ends.contains(&age));
        let live = self.all.iter().filter(|(_, known)| known.now().is_live && is_linked(known));
        live.map(|(link, _)| *link).collect()
    }

    /// The live relationship that contains an entity, and its container.
    pub fn parent(&self, age: Age) -> Option<(Age, Age)> {
        self.all.iter().find_map(|(link, known)| {
            let [from, to] = known.now().ends?;
            (known.contains() && known.now().is_live && to == age).then_some((*link, from))
        })
    }

    pub fn children(&self, age: Age) -> Vec<Age> {
        self.links_of(age)
            .into_iter()
            .filter(|link| self.all[link].contains())
            .filter_map(|link| self.all[&link].now().ends.filter(|ends| ends[0] == age).map(|ends| ends[1]))
            .collect()
    }

    /// The live relationships that contain something in an entity, each with the step of a path to the child, and the
    /// child.
    pub fn steps(&self, age: Age) -> Vec<(Age, String, Age)> {
        let live = self.all.iter().filter(|(_, known)| known.contains() && known.now().is_live);
        let children = live.filter_map(|(link, known)| {
            let [_, to] = known.now().ends.filter(|ends| ends[0] == age)?;
            Some((*link, self.step(known.now().name.as_deref(), to)?, to))
        });
        children.collect()
    }

    /// The step of a path to a child: an item is named by its key, and others by the relationship that contains them.
    pub fn step(&self, name: Option<&str>, child: Age) -> Option<String> {
        match self.all[&child].now().type_name {
            "item" => self.all[&child].now().fields.n.map(item_step),
            _ => name.map(str::to_owned),
        }
    }

    /// The child of an entity at this step, and the relationship that contains it.
    pub fn child(&self, age: Age, step: &str) -> Option<(Age, Age)> {
        let found = self.steps(age).into_iter().find(|(_, known, _)| known == step);
        found.map(|(link, _, child)| (link, child))
    }

    /// Fails if an entity cannot contain a child of this name.
    pub fn check_contained(
        &self,
        link: Option<Age>,
        [from, to]: [Age; 2],
        name: Option<&str>,
    ) -> Result<(), ErrorKind> {
        if self.parent(to).is_some_and(|(other, _)| Some(other) != link) {
            return Err(ErrorKind::Cardinality);
        }
        // A relationship that moves contains nothing meanwhile.
        let holder = |at: &Age| self.parent(*at).filter(|(other, _)| Some(*other) != link);
        let above = std::iter::successors(Some(from), |at| holder(at).map(|(_, parent)| parent));
        if above.take(self.all.len() + 1).any(|at| at == to) {
            return Err(ErrorKind::InvalidEnds);
        }
        self.check_name(link, [from, to], name)
    }

    /// Fails if another child has the name.
    pub fn check_name(
        &self,
        link: Option<Age>,
        [from, to]: [Age; 2],
        name: Option<&str>,
    ) -> Result<(), ErrorKind> {
        // Without a name, the child has none, and cannot be contained.
        let step = self.step(name, to).ok_or(ErrorKind::InvalidProperty)?;
        self.check_step(link, from, &step)
    }

    /// Fails if another child is at the step.
    pub fn check_step(&self, link: Option<Age>, from: Age, step: &str) -> Result<(), ErrorKind> {
        let children = self.steps(from);
        match children.iter().any(|(other, known, _)| known == step && Some(*other) != link) {
            true => Err(ErrorKind::NotUnique),
            false => Ok(()),
        }
    }

    /// Fails if an entity cannot get this key, or this type, where it is.
    pub fn check_key(&self, age: Age, content: &Content) -> Result<(), ErrorKind> {
        let types = [self.all[&age].now().type_name, content.type_name];
        let Some((link, from)) = self.parent(age).filter(|_| types.contains(&"item")) else { return Ok(()) };
        let step = match content.type_name {
            "item" => content.fields.n.map(item_step),
            _ => self.all[&link].now().name.clone(),
        };
        self.check_step(Some(link), from, &step.ok_or(ErrorKind::InvalidProperty)?)
    }

    fn named(&self, is_link: bool, (birth, id): &(u64, String)) -> Option<Age> {
        let is_it =
            |known: &Known| known.is_link == is_link && known.birth == *birth && known.now().id == *id;
        self.all.iter().find(|(_, known)| is_it(known)).map(|(age, _)| *age)
    }

    /// Gives new items of trees the ids that they have in a repository, from the top down.
    pub fn learn_ids(&mut self, found: &BTreeMap<Name, Seen>) {
        let is_new = |id: &str| id.starts_with('?');
        let mut given: BTreeMap<Age, String> = BTreeMap::new();
        let id_of = |given: &BTreeMap<Age, String>, age: Age| {
            given
                .get(&age)
                .cloned()
                .or_else(|| Some(self.all[&age].now().id.clone()).filter(|id| !is_new(id)))
        };
        loop {
            let before = given.len();
            for (age, link) in self.all.iter().filter(|(_, link)| link.contains() && link.now().is_live) {
                let [from, to] = link.now().ends.expect("a relationship has ends");
                let Some(above) = id_of(&given, from).filter(|_| id_of(&given, *age).is_none()) else {
                    continue;
                };
                let above = (self.all[&from].birth, above);
                let child = &self.all[&to];
                // A child whose id is not known yet has its key, if it is an item.
                let is_child = |seen: &Seen| {
                    let Some([_, (birth, id)]) = &seen.ends else { return false };
                    let known = id_of(&given, to).is_none_or(|known| known == *id);
                    let found = found.get(&(false, *birth, id.clone()));
                    let has_key = child.now().type_name != "item"
                        || found.is_some_and(|found| found.fields.n == child.now().fields.n);
                    known && *birth == child.birth && has_key
                };
                let is_it = |((_, birth, _), seen): &(&Name, &Seen)| {
                    let is_here = seen.ends.as_ref().is_some_and(|ends| ends[0] == above);
                    *birth == link.birth && is_here && seen.name == link.now().name && is_child(seen)
                };
                let Some(((.., id), seen)) = found.iter().find(is_it) else { continue };
                given.insert(*age, id.clone());
                let child = seen.ends.as_ref().map(|ends| ends[1].1.clone()).expect("it has ends");
                if is_new(&self.all[&to].now().id) {
                    given.insert(to, child);
                }
            }
            if given.len() == before {
                break;
            }
        }
        for (age, id) in given {
            let known = self.all.get_mut(&age).expect("it is known");
            let news = known.versions.iter_mut().filter(|version| is_new(&version.content.id));
            news.for_each(|version| version.content.id.clone_from(&id));
        }
        // The others are gone already, and nothing can name them.
        let lost = self.all.values_mut().filter(|known| is_new(&known.now().id));
        lost.for_each(|known| known.is_opaque = true);
    }

    /// Takes what a repository shows, whose last record is at `position`: for changes that the model cannot predict.
    pub fn take(&mut self, seen: &BTreeMap<Name, Seen>, position: u64) {
        for (age, known) in &mut self.all {
            let name = (known.is_link, known.birth, known.now().id.clone());
            if known.now().is_live && !seen.contains_key(&name) {
                known.write((position, *age), |content| content.is_live = false);
                known.is_opaque = true;
            }
        }
        // Entities first, because relationships lead to them.
        let (links, entities): (Vec<_>, Vec<_>) = seen.iter().partition(|((is_link, ..), _)| *is_link);
        for ((is_link, birth, id), seen) in entities.into_iter().chain(links) {
            let end = |end: &(u64, String)| self.named(false, end).expect("an end is there");
            let ends = seen.ends.as_ref().map(|ends| ends.each_ref().map(end));
            let content = Content {
                id: id.clone(),
                type_name: type_named(&seen.type_name),
                is_live: true,
                fields: seen.fields.clone(),
                name: seen.name.clone(),
                ends,
                license: seen.license,
            };
            let Some(age) = self.named(*is_link, &(*birth, id.clone())) else {
                let versions = vec![Version { content, place: (position, self.next), base: None }];
                self.add(Known {
                    is_link: *is_link,
                    birth: *birth,
                    versions,
                    is_opaque: true,
                    is_copy: false,
                    adopted_at: None,
                });
                continue;
            };
            let known = self.all.get_mut(&age).expect("it is named");
            if *known.now() != content {
                known.write((position, age), |now| *now = content);
                known.is_opaque = true;
            }
        }
    }

    pub fn add(&mut self, known: Known) {
        self.all.insert(self.next, known);
        self.next += 1;
    }
}

/// One of the types of this test.
pub fn type_named(name: &str) -> &'static str {
    let all = ["node", "item", "knows", "contains", "container", "root"];
    all.into_iter().find(|known| *known == name).expect("a type of this test")
}

/// The step of a path to an item of a list.
pub fn item_step(n: i64) -> String {
    format!("item[n={n}]")
}

/// The key in a step to an item of a list.
pub fn key_of(step: &str) -> Option<i64> {
    let key = step.strip_prefix("item[n=")?.strip_suffix(']')?;
    Some(key.parse().expect("a key is a number"))
}
