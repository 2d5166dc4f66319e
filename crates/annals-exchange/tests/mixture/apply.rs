//! The effect of each change on the model.

use std::collections::BTreeSet;

use annals::ErrorKind;

use crate::edit::Work;
use crate::model::{Age, Change, Content, Fields, Known, Model, Outcome, Place, Version};

impl Model {
    /// Applies the changes of one record; returns those that made a version. `number` counts new ids.
    pub fn attempt(
        &mut self,
        position: u64,
        works: &[Work],
        number: &mut usize,
    ) -> Result<Vec<Change>, ErrorKind> {
        let made = self.apply_all(position, works, number)?;
        self.check_end(position)?;
        Ok(made)
    }

    /// The same without the checks at the end of the record.
    pub fn apply_all(
        &mut self,
        position: u64,
        works: &[Work],
        number: &mut usize,
    ) -> Result<Vec<Change>, ErrorKind> {
        let mut made = Vec::new();
        let mut at = 0;
        for work in works {
            let changes = match work {
                Work::Direct(change) => vec![change.clone()],
                Work::Tree(edit) => self.planned(edit, number)?,
            };
            for change in changes {
                if self.apply((position, at), &change)? {
                    made.push(change);
                }
                at += 1;
            }
        }
        Ok(made)
    }

    fn check_fields(&self, fields: &Fields, type_name: &str) -> Result<(), ErrorKind> {
        let is_part = self.is_pushed && type_name == "node" && fields.n.is_none();
        if is_part { Ok(()) } else { fields.check(type_name) }
    }

    fn create(
        &mut self,
        place: Place,
        type_name: &'static str,
        id: &str,
        (fields, name): (Fields, Option<&str>),
        ends: Option<[&str; 2]>,
    ) -> Outcome {
        let is_link = ends.is_some();
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
            self.check_contained(None, ends, name)?;
        }
        self.check_fields(&fields, type_name)?;
        let name = name.map(str::to_owned);
        let content =
            Content { id: id.to_owned(), type_name, is_live: true, fields, name, ends, license: None };
        let versions = vec![Version { content, place, base: None }];
        self.add(Known {
            is_link,
            birth: place.0,
            versions,
            is_opaque: false,
            is_copy: false,
            adopted_at: None,
        });
        Ok(true)
    }

    pub fn apply(&mut self, place: Place, change: &Change) -> Outcome {
        match change {
            Change::Create { id, type_name, fields } => {
                self.create(place, type_name, id, (fields.clone(), None), None)
            }
            Change::Upsert { id, fields } => match self.live(false, id) {
                Ok(age) if self.all[&age].now().type_name != "node" => Err(ErrorKind::WrongType),
                Ok(_) => self.write_if((false, id), place, |content| content.fields = fields.clone()),
                // A deleted one is not restored.
                Err(_) => self.create(place, "node", id, (fields.clone(), None), None),
            },
            Change::Relate { id, from, to } => {
                self.create(place, "knows", id, (Fields::n(0), None), Some([from, to]))
            }
            Change::Contain { id, from, to, name, n } => {
                let fields = Fields { n: *n, ..Fields::default() };
                self.create(place, "contains", id, (fields, name.as_deref()), Some([from, to]))
            }
            Change::Set { is_link, id, n } => {
                self.write_if((*is_link, id), place, |content| content.fields.n = Some(*n))
            }
            Change::License { is_link, id, n, license } => self.write_if((*is_link, id), place, |content| {
                (content.fields.n, content.license) = (Some(*n), *license);
            }),
            Change::Store { id, byte } => {
                self.write_if((false, id), place, |content| content.fields.stored = Some(*byte))
            }
            Change::Patch { id, patch } => {
                self.write_if((false, id), place, |content| patch.apply(&mut content.fields))
            }
            Change::Replace { id, fields } => {
                self.write_if((false, id), place, |content| content.fields = fields.clone())
            }
            Change::Rename { id, name } => {
                let age = self.live(true, id)?;
                let ends = self.all[&age].now().ends.expect("a relationship has ends");
                if self.all[&age].contains() {
                    self.check_name(Some(age), ends, Some(name))?;
                }
                self.write_if((true, id), place, |content| content.name = Some(name.clone()))
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
            Change::Undo { is_link, id, of_content } => {
                let age = self.known(*is_link, id)?;
                if *of_content { self.undo_content(age, place) } else { self.undo(age, place) }
            }
            Change::Relink { id, from, to } => {
                let age = self.live(true, id)?;
                let end = |id: &String| self.live(false, id).map_err(|_| ErrorKind::MissingEnd);
                let from = end(from)?;
                let [_, known] = self.all[&age].now().ends.expect("a relationship has ends");
                let to = to.as_ref().map_or(Ok(known), end)?;
                if self.all[&age].contains() {
                    let name = self.all[&age].now().name.as_deref();
                    self.check_contained(Some(age), [from, to], name)?;
                }
                self.write_if((true, id), place, |content| content.ends = Some([from, to]))
            }
            Change::Reidentify { is_link, id, new } => {
                self.own(self.live(*is_link, id)?)?;
                if self.is_taken(*is_link, new) {
                    return Err(ErrorKind::AlreadyExists);
                }
                self.write_if((*is_link, id), place, |content| content.id.clone_from(new))
            }
            Change::Retype { id, type_name } => {
                self.write_if((false, id), place, |content| content.type_name = type_name)
            }
            Change::Declare { rules } => {
                let before = std::mem::replace(&mut self.rules, rules.clone());
                Ok(before != *rules)
            }
            Change::SaveCopy { id, fields } => self.save_copy(id, fields, place),
            Change::Rehome { id } => {
                let age = self.copy(self.live(false, id)?)?;
                self.write(age, place, |_| ());
                let known = self.all.get_mut(&age).expect("it is known");
                (known.is_copy, known.adopted_at) = (false, Some(place.0));
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

    fn save_copy(&mut self, id: &str, fields: &Fields, place: Place) -> Outcome {
        let age = match self.known(false, id) {
            Ok(age) => self.copy(age)?,
            Err(ErrorKind::NotFound) => {
                self.create(place, "node", id, (fields.clone(), None), None)?;
                let known = self.all.get_mut(&(self.next - 1)).expect("it was created");
                // Its home decides on its versions.
                (known.is_copy, known.is_opaque) = (true, true);
                return Ok(true);
            }
            Err(kind) => return Err(kind),
        };
        fields.check("node")?;
        self.write(age, place, |content| {
            (content.is_live, content.fields, content.license) = (true, fields.clone(), None);
        });
        Ok(true)
    }

    /// Changes a live instance of this repository, unless the change changes nothing.
    fn write_if(
        &mut self,
        (is_link, id): (bool, &str),
        place: Place,
        change: impl FnOnce(&mut Content),
    ) -> Outcome {
        let age = self.own(self.live(is_link, id)?)?;
        let known = &self.all[&age];
        let mut content = known.now().clone();
        change(&mut content);
        if !self.is_always && content == *known.now() {
            return Ok(false);
        }
        self.check_fields(&content.fields, content.type_name)?;
        self.check_key(age, &content)?;
        let known = self.all.get_mut(&age).expect("it is known");
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
                self.check_contained(Some(age), ends, known.now().name.as_deref())?;
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
        for back in entities.into_iter().chain(links.iter().chain(&others).copied()) {
            self.write(back, place, |content| content.is_live = true);
        }
        for link in links.into_iter().chain(others).filter(|link| self.all[link].contains()) {
            let now = self.all[&link].now();
            self.check_contained(Some(link), now.ends.expect("it has ends"), now.name.as_deref())?;
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

    fn undo_content(&mut self, age: Age, place: Place) -> Outcome {
        let known = &self.all[&age];
        let now = known.now();
        let mut next = known.versions.last().expect("it has a version").base;
        let before = loop {
            let version = &known.versions[next.ok_or(ErrorKind::InvalidArgument)?];
            let content = &version.content;
            if content.is_live && (&content.fields, &content.name) != (&now.fields, &now.name) {
                break content.clone();
            }
            next = version.base;
        };
        if !now.is_live {
            return Err(ErrorKind::Deleted);
        }
        self.own(age)?;
        if let Some(ends) = now.ends.filter(|_| known.contains()) {
            self.check_name(Some(age), ends, before.name.as_deref())?;
        }
        let content = Content { fields: before.fields, name: before.name, ..now.clone() };
        self.check_key(age, &content)?;
        self.write(age, place, |now| *now = content);
        Ok(true)
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
                        self.check_contained(Some(age), before, base.name.as_deref())?;
                    }
                } else if let Some(ends) = base.ends.filter(|_| known.contains()) {
                    self.check_name(Some(age), ends, base.name.as_deref())?;
                }
                self.check_key(age, &base)?;
                self.write(age, place, |content| *content = base);
                Ok(true)
            }
        }
    }
}
