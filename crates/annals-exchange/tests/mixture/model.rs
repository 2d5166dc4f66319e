//! The plain model: every instance by its age, with its birth and all its versions, whatever it is called.

use std::collections::{BTreeMap, BTreeSet};

use annals::ErrorKind;

use crate::see::{Name, Seen};

/// The record of a version, and the change in it.
pub type Place = (u64, usize);
/// The outcome of a change: true if it makes a version.
pub type Outcome = Result<bool, ErrorKind>;
/// Which instance, whatever it is called.
pub type Age = usize;

/// The content of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    pub id: String,
    pub is_live: bool,
    pub n: i64,
    /// The byte of its content, if it has one.
    pub stored: Option<u8>,
    /// The ends of a relationship.
    pub ends: Option<[Age; 2]>,
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
    pub type_name: &'static str,
    pub birth: u64,
    pub versions: Vec<Version>,
    /// True if the model does not know all its versions, or with which others it was deleted.
    pub is_opaque: bool,
    /// True if it belongs to the other collection.
    pub is_copy: bool,
}

impl Known {
    pub fn now(&self) -> &Content {
        &self.versions.last().expect("it has a version").content
    }

    pub fn place(&self) -> Place {
        self.versions.last().expect("it has a version").place
    }

    pub fn contains(&self) -> bool {
        self.type_name == "contains"
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

#[derive(Clone, Debug)]
pub enum Change {
    Create {
        id: String,
        n: i64,
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
        name: String,
    },
    Set {
        is_link: bool,
        id: String,
        n: i64,
    },
    Store {
        id: String,
        byte: u8,
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
    },
    Relink {
        id: String,
        from: String,
    },
    Reidentify {
        is_link: bool,
        id: String,
        new: String,
    },
    /// An entity of the other collection, as it is there.
    SaveCopy {
        id: String,
        n: i64,
    },
    Rehome {
        id: String,
    },
    PurgeCopy {
        id: String,
    },
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
            Change::Create { .. } | Change::Relate { .. } | Change::Contain { .. } => None,
            Change::Store { id, .. }
            | Change::SaveCopy { id, .. }
            | Change::Rehome { id }
            | Change::PurgeCopy { id } => Some((false, id)),
            Change::Relink { id, .. } => Some((true, id)),
            Change::Set { is_link, id, .. }
            | Change::Delete { is_link, id }
            | Change::Restore { is_link, id, .. }
            | Change::Purge { is_link, id }
            | Change::Undo { is_link, id }
            | Change::Reidentify { is_link, id, .. } => Some((*is_link, id)),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub all: BTreeMap<Age, Known>,
    pub next: Age,
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
    fn is_taken(&self, is_link: bool, id: &str) -> bool {
        let has = |known: &Known| known.versions.iter().any(|version| version.content.id == id);
        self.all.values().any(|known| known.is_link == is_link && has(known))
    }

    fn known(&self, is_link: bool, id: &str) -> Result<Age, ErrorKind> {
        self.find(is_link, id)
            .ok_or_else(|| if self.is_taken(is_link, id) { ErrorKind::Deleted } else { ErrorKind::NotFound })
    }

    fn live(&self, is_link: bool, id: &str) -> Result<Age, ErrorKind> {
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

    fn children(&self, age: Age) -> Vec<Age> {
        self.links_of(age)
            .into_iter()
            .filter(|link| self.all[link].contains())
            .filter_map(|link| self.all[&link].now().ends.filter(|ends| ends[0] == age).map(|ends| ends[1]))
            .collect()
    }

    fn check_contained(&self, link: Option<Age>, [from, to]: [Age; 2]) -> Result<(), ErrorKind> {
        if self.parent(to).is_some_and(|(other, _)| Some(other) != link) {
            return Err(ErrorKind::Cardinality);
        }
        let above = std::iter::successors(Some(from), |at| self.parent(*at).map(|(_, parent)| parent));
        if above.take(self.all.len() + 1).any(|at| at == to) { Err(ErrorKind::InvalidEnds) } else { Ok(()) }
    }

    fn named(&self, is_link: bool, (birth, id): &(u64, String)) -> Option<Age> {
        let is_it =
            |known: &Known| known.is_link == is_link && known.birth == *birth && known.now().id == *id;
        self.all.iter().find(|(_, known)| is_it(known)).map(|(age, _)| *age)
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
            let content = Content { id: id.clone(), is_live: true, n: seen.n, stored: seen.stored, ends };
            let Some(age) = self.named(*is_link, &(*birth, id.clone())) else {
                let known = ["node", "knows", "contains"].into_iter().find(|name| *name == seen.type_name);
                let type_name = known.expect("a type of this test");
                let versions = vec![Version { content, place: (position, self.next), base: None }];
                self.add(Known {
                    is_link: *is_link,
                    type_name,
                    birth: *birth,
                    versions,
                    is_opaque: true,
                    is_copy: false,
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

    fn add(&mut self, known: Known) {
        self.all.insert(self.next, known);
        self.next += 1;
    }

    fn create(
        &mut self,
        place: Place,
        (is_link, type_name): (bool, &'static str),
        id: &str,
        n: i64,
        ends: Option<[&str; 2]>,
    ) -> Outcome {
        if self.is_taken(is_link, id) {
            return Err(ErrorKind::AlreadyExists);
        }
        let ends = ends.map(|ends| ends.map(|end| self.live(false, end)));
        let ends = match ends {
            None => None,
            Some([Ok(from), Ok(to)]) => Some([from, to]),
            Some(_) => return Err(ErrorKind::MissingEnd),
        };
        if let (Some(ends), "contains") = (ends, type_name) {
            self.check_contained(None, ends)?;
        }
        let content = Content { id: id.to_owned(), is_live: true, n, stored: None, ends };
        let versions = vec![Version { content, place, base: None }];
        self.add(Known { is_link, type_name, birth: place.0, versions, is_opaque: false, is_copy: false });
        Ok(true)
    }

    pub fn apply(&mut self, place: Place, change: &Change) -> Outcome {
        match change {
            Change::Create { id, n } => self.create(place, (false, "node"), id, *n, None),
            Change::Relate { id, from, to } => self.create(place, (true, "knows"), id, 0, Some([from, to])),
            Change::Contain { id, from, to, .. } => {
                self.create(place, (true, "contains"), id, 0, Some([from, to]))
            }
            Change::Set { is_link, id, n } => {
                let age = self.own(self.live(*is_link, id)?)?;
                self.write_if(age, place, |content| content.n = *n)
            }
            Change::Store { id, byte } => {
                let age = self.own(self.live(false, id)?)?;
                self.write_if(age, place, |content| content.stored = Some(*byte))
            }
            Change::Delete { is_link, id } => {
                let age = self.own(self.live(*is_link, id)?)?;
                self.delete(age, place);
                Ok(true)
            }
            Change::Restore { is_link, id, with } => {
                let age = self.known(*is_link, id)?;
                if !self.all[&age].now().is_live {
                    self.own(age)?;
                }
                self.restore(age, *with, place)
            }
            Change::Purge { is_link, id } => {
                let age = self.own(self.known(*is_link, id)?)?;
                self.purge(age);
                Ok(true)
            }
            Change::Undo { is_link, id } => {
                let age = self.known(*is_link, id)?;
                self.undo(age, place)
            }
            Change::Relink { id, from } => {
                let age = self.live(true, id)?;
                let from = self.live(false, from).map_err(|_| ErrorKind::MissingEnd)?;
                let [_, to] = self.all[&age].now().ends.expect("a relationship has ends");
                if self.all[&age].contains() {
                    self.check_contained(Some(age), [from, to])?;
                }
                self.write_if(age, place, |content| content.ends = Some([from, to]))
            }
            Change::Reidentify { is_link, id, new } => {
                let age = self.own(self.live(*is_link, id)?)?;
                if self.is_taken(*is_link, new) {
                    return Err(ErrorKind::AlreadyExists);
                }
                self.write_if(age, place, |content| content.id.clone_from(new))
            }
            Change::SaveCopy { id, n } => self.save_copy(id, *n, place),
            Change::Rehome { id } => {
                let age = self.copy(self.live(false, id)?)?;
                self.write(age, place, |_| ());
                self.all.get_mut(&age).expect("it is known").is_copy = false;
                Ok(true)
            }
            Change::PurgeCopy { id } => {
                let age = self.copy(self.known(false, id)?)?;
                self.purge(age);
                Ok(true)
            }
        }
    }

    fn own(&self, age: Age) -> Result<Age, ErrorKind> {
        if self.all[&age].is_copy { Err(ErrorKind::NotHome) } else { Ok(age) }
    }

    fn copy(&self, age: Age) -> Result<Age, ErrorKind> {
        if self.all[&age].is_copy { Ok(age) } else { Err(ErrorKind::HomeConflict) }
    }

    fn save_copy(&mut self, id: &str, n: i64, place: Place) -> Outcome {
        let age = match self.known(false, id) {
            Ok(age) => self.copy(age)?,
            Err(ErrorKind::NotFound) => {
                self.create(place, (false, "node"), id, n, None)?;
                let known = self.all.get_mut(&(self.next - 1)).expect("it was created");
                // Its home decides on its versions.
                (known.is_copy, known.is_opaque) = (true, true);
                return Ok(true);
            }
            Err(kind) => return Err(kind),
        };
        self.write(age, place, |content| {
            (content.is_live, content.n, content.stored) = (true, n, None);
        });
        Ok(true)
    }

    fn write_if(&mut self, age: Age, place: Place, change: impl FnOnce(&mut Content)) -> Outcome {
        let known = self.all.get_mut(&age).expect("it is known");
        let mut content = known.now().clone();
        change(&mut content);
        if !self.is_always && content == *known.now() {
            return Ok(false);
        }
        known.write(place, |now| *now = content);
        Ok(true)
    }

    fn write(&mut self, age: Age, place: Place, change: impl FnOnce(&mut Content)) {
        self.all.get_mut(&age).expect("it is known").write(place, change);
    }

    fn delete(&mut self, age: Age, place: Place) {
        if !self.all[&age].is_link {
            let (children, links) = (self.children(age), self.links_of(age));
            for link in links {
                self.write(link, place, |content| content.is_live = false);
            }
            children.into_iter().for_each(|child| self.delete(child, place));
        }
        self.write(age, place, |content| content.is_live = false);
    }

    fn restore(&mut self, age: Age, with: bool, place: Place) -> Outcome {
        let known = &self.all[&age];
        if known.now().is_live {
            return Err(ErrorKind::NotDeleted);
        }
        if known.is_link {
            let ends = known.now().ends.expect("a relationship has ends");
            if ends.iter().any(|end| !self.all[end].now().is_live) {
                return Err(ErrorKind::MissingEnd);
            }
            if known.contains() {
                self.check_contained(Some(age), ends)?;
            }
            self.write(age, place, |content| content.is_live = true);
            return Ok(true);
        }
        let gone = known.place();
        let went = |known: &Known| !known.now().is_live && known.place() == gone;
        // Everything that went along, from the container down.
        let (mut entities, mut links, mut next) = (vec![age], Vec::new(), 0);
        while let Some(at) = entities.get(next).copied() {
            next += 1;
            for (link, known) in &self.all {
                let Some([from, to]) = known.now().ends else { continue };
                if known.contains()
                    && from == at
                    && went(known)
                    && went(&self.all[&to])
                    && !entities.contains(&to)
                {
                    entities.push(to);
                    links.push(*link);
                }
            }
        }
        let is_back = |end: Age| entities.contains(&end) || self.all[&end].now().is_live;
        let others = self.all.iter().filter(|(link, known)| {
            let Some(ends) = known.now().ends.filter(|_| with && went(known)) else { return false };
            let is_near = ends.iter().any(|end| entities.contains(end));
            // A child that was restored alone, and has another container now, stays there.
            let is_placed = known.contains() && self.parent(ends[1]).is_some();
            is_near && ends.into_iter().all(is_back) && !is_placed && !links.contains(*link)
        });
        let others: Vec<Age> = others.map(|(link, _)| *link).collect();
        for back in entities.into_iter().chain(links).chain(others) {
            self.write(back, place, |content| content.is_live = true);
        }
        Ok(true)
    }

    fn purge(&mut self, age: Age) {
        if self.all[&age].is_link {
            self.all.remove(&age);
            return;
        }
        let (mut gone, mut next) = (vec![age], 0);
        while let Some(at) = gone.get(next).copied() {
            next += 1;
            let place = self.all[&at].place();
            let is_dead = !self.all[&at].now().is_live;
            for known in self.all.values().filter(|known| known.contains()) {
                let [from, to] = known.now().ends.expect("a relationship has ends");
                let child = &self.all[&to];
                let went = is_dead && !child.now().is_live && [known.place(), child.place()] == [place; 2];
                if from == at && (known.now().is_live || went) && !gone.contains(&to) {
                    gone.push(to);
                }
            }
        }
        let gone: BTreeSet<Age> = gone.into_iter().collect();
        let led = |known: &Known| {
            let ends = known.versions.iter().filter_map(|version| version.content.ends);
            ends.flatten().any(|end| gone.contains(&end))
        };
        self.all.retain(|age, known| !gone.contains(age) && !led(known));
    }

    fn undo(&mut self, age: Age, place: Place) -> Outcome {
        let known = &self.all[&age];
        let last = known.versions.last().expect("it has a version");
        let Some(base) = last.base else { return Err(ErrorKind::InvalidArgument) };
        let base = known.versions[base].content.clone();
        match (last.content.is_live, base.is_live) {
            (false, _) => self.restore(age, true, place),
            (_, false) => {
                self.delete(age, place);
                Ok(true)
            }
            _ => {
                if let (Some(before), Some(now)) = (base.ends, last.content.ends)
                    && before != now
                {
                    if before.iter().any(|end| !self.all[end].now().is_live) {
                        return Err(ErrorKind::MissingEnd);
                    }
                    if known.contains() {
                        self.check_contained(Some(age), before)?;
                    }
                }
                self.write(age, place, |content| *content = base);
                Ok(true)
            }
        }
    }
}
