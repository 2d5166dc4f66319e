//! The plain model's changes of content: creations, updates, classifications, and what undo comes to.

use annals::action;
use std::sync::Arc;

use annals::*;

use super::plain_patch::{entries, map_of};
use super::reference::*;
use super::reference::{Context, first_shape, kind_of, successor};

impl Reference {
    pub(super) fn create_entity(&mut self, context: Context<'_>, new: &NewEntity) -> Outcome {
        self.check_new(TypeKind::Entity, &new.id)?;
        let provenance = self.own_provenance(new.provenance.as_deref())?;
        let mut image = Image { properties: map_of(&new.properties), ..Image::default() };
        for content in &new.classifications {
            let provenance = self.own_provenance(content.provenance.as_deref())?;
            let next = successor(None, context, map_of(&content.properties), provenance);
            if image.classifications.insert(content.name.to_string(), next).is_some() {
                return Err(ErrorKind::AlreadyExists);
            }
        }
        let status = new.status.as_deref().unwrap_or("active");
        let shape = first_shape(&new.id, &new.type_name, status, provenance);
        self.enter(context, TypeKind::Entity, "create", shape, image);
        Ok(())
    }

    pub(super) fn create_relationship(&mut self, context: Context<'_>, new: &NewRelationship) -> Outcome {
        self.check_new(TypeKind::Relationship, &new.id)?;
        let ends = (self.end(&new.from, context.valid)?, self.end(&new.to, context.valid)?);
        let provenance = self.own_provenance(new.provenance.as_deref())?;
        let image = Image { properties: map_of(&new.properties), ..Image::default() };
        let status = new.status.as_deref().unwrap_or("active");
        let shape = first_shape(&new.id, &new.type_name, status, provenance);
        self.enter(context, TypeKind::Relationship, "create", Shape { ends: Some(ends), ..shape }, image);
        Ok(())
    }

    /// The entity that may be an end from then on.
    pub(super) fn end(&self, id: &Id, valid: i64) -> std::result::Result<u64, ErrorKind> {
        let found = self.find(&InstanceId::Entity(id.clone())).ok().map(|(_, age)| age);
        found.filter(|age| self.is_end(*age, valid)).ok_or(ErrorKind::MissingEnd)
    }

    pub(super) fn is_end(&self, age: u64, valid: i64) -> bool {
        let known = &self.entities[&age];
        known.in_force().status == Status::Active && known.live_from <= valid
    }

    pub(super) fn replace(&mut self, context: Context<'_>, replace: &action::Replace) -> Outcome {
        let action::Replace { instance, properties, classifications: contents, provenance } = replace;
        let key = self.live(instance)?;
        self.check_own_at(key)?;
        let stated = self.stated(context, key, provenance.as_deref())?;
        let mut given = Vec::new();
        if let Some(contents) = contents {
            let present = &self.at(key).in_force().image.classifications;
            let is_foreign = |known: &Classified| !self.is_own(known.provenance.as_ref());
            for content in contents {
                let (name, properties) = (content.name.to_string(), map_of(&content.properties));
                let known = present.get(&name).filter(|known| is_foreign(known));
                // A classification that stays as it is now may have to be attached anew to a corrected version.
                let provenance = self.own_provenance(content.provenance.as_deref());
                match known {
                    Some(known) if known.properties == properties => {}
                    Some(_) => return Err(ErrorKind::NotHome),
                    None => drop(provenance.clone()?),
                }
                if given.iter().any(|(other, _, _)| *other == name) {
                    return Err(ErrorKind::AlreadyExists);
                }
                given.push((name, properties, provenance));
            }
            let is_kept = |name: &String| given.iter().any(|(known, _, _)| known == name);
            if present.iter().any(|(name, known)| is_foreign(known) && !is_kept(name)) {
                return Err(ErrorKind::NotHome);
            }
        }
        let collection = self.clone();
        self.change(context, key, "replace", |image, _| {
            image.properties = map_of(properties);
            if contents.is_none() {
                return Ok(());
            }
            let before = std::mem::take(&mut image.classifications);
            for (name, properties, provenance) in given {
                let known = before.get(&name);
                let next = match known.filter(|known| !collection.is_own(known.provenance.as_ref())) {
                    Some(foreign) => foreign.clone(),
                    None => successor(known, context, properties, provenance?),
                };
                image.classifications.insert(name, next);
            }
            Ok(())
        })?;
        self.state(key, stated);
        Ok(())
    }

    pub(super) fn classify(
        &mut self,
        context: Context<'_>,
        id: &Id,
        content: &ClassificationContent,
    ) -> Outcome {
        let key = self.live(&InstanceId::Entity(id.clone()))?;
        let now = self.at(key).in_force();
        let name = content.name.to_string();
        let provenance = self.own_provenance(content.provenance.as_deref())?;
        if let Some(known) = now.image.classifications.get(&name) {
            self.check_own(known.provenance.as_ref())?;
        }
        self.change(context, key, "classify", |image, is_correction| {
            let known = image.classifications.get(&name);
            if known.is_some() && !is_correction {
                return Err(ErrorKind::AlreadyExists);
            }
            let next = successor(known, context, map_of(&content.properties), provenance);
            image.classifications.insert(name, next);
            Ok(())
        })
    }

    /// Refuses to write a classification, if it is there now and is not corrected, that another collection writes.
    pub(super) fn check_classification(&self, context: Context<'_>, key: Key, name: &str) -> Outcome {
        let now = self.at(key).in_force();
        match now.image.classifications.get(name) {
            Some(known) if context.valid >= now.valid_from => self.check_own(known.provenance.as_ref()),
            _ => Ok(()),
        }
    }

    /// Writes a new version; before the version in force, as a correction of what was true then.
    pub(super) fn change(
        &mut self,
        context: Context<'_>,
        key: Key,
        verb: &'static str,
        edit: impl FnOnce(&mut Image, bool) -> Outcome,
    ) -> Outcome {
        let known = self.at(key);
        let now = known.in_force();
        let is_correction = context.valid < now.valid_from;
        let base = if is_correction {
            let then = View { position: u64::MAX, valid: context.valid };
            known.live(then).ok_or(ErrorKind::Deleted)?
        } else {
            now
        };
        let (number, before) = (base.number, base.image.clone());
        let mut image = before.clone();
        edit(&mut image, is_correction)?;
        // A classification that another collection attached stays as it is, then as now.
        for (name, known) in &before.classifications {
            if !self.is_own(known.provenance.as_ref()) && image.classifications.get(name) != Some(known) {
                return Err(ErrorKind::NotHome);
            }
        }
        self.write(context, key, verb, number, Status::Active, image);
        Ok(())
    }

    pub(super) fn undo(&self, instance: &InstanceId) -> std::result::Result<Vec<Action>, ErrorKind> {
        let known = self.at(self.find(instance)?);
        let now = known.in_force();
        let before = known.version(now.base).ok_or(ErrorKind::InvalidArgument)?;
        match (now.status, before.status) {
            (Status::Deleted, _) => {
                return Ok(vec![Action::Restore(action::Restore {
                    instance: instance.clone(),
                    with_relationships: true,
                })]);
            }
            (_, Status::Deleted) => {
                return Ok(vec![Action::Delete(action::Delete { instance: instance.clone() })]);
            }
            _ => {}
        }
        let (was, is) = (&before.shape, &now.shape);
        if was.id != is.id {
            return Ok(vec![Action::Reidentify(action::Reidentify {
                instance: instance.clone(),
                id: was.id.clone(),
            })]);
        }
        if was.type_name != is.type_name {
            return Ok(vec![Action::Retype(action::Retype {
                instance: instance.clone(),
                type_name: was.type_name.as_str().into(),
            })]);
        }
        if let (Some(was), Some(is)) = (was.ends, is.ends)
            && was != is
        {
            let other = |was: u64, is: u64| (was != is).then(|| self.entities[&was].id().clone());
            let id = instance.id().clone();
            return Ok(vec![Action::Relink(action::Relink {
                id,
                from: other(was.0, is.0),
                to: other(was.1, is.1),
            })]);
        }
        if let (None, Some(home)) = (was.home(), is.home()) {
            return Ok(vec![Action::Rehome(action::Rehome {
                instance: instance.clone(),
                home: Arc::clone(home),
            })]);
        }
        if was.status_name != is.status_name {
            return Ok(vec![Action::SetStatus(action::SetStatus {
                instance: instance.clone(),
                status: was.status_name.as_str().into(),
            })]);
        }
        let (old, new) = (&before.image, &now.image);
        let is_other = (&was.provenance, was.is_proxy) != (&is.provenance, is.is_proxy);
        let provenance = is_other.then(|| Arc::new(was.provenance.clone().unwrap_or_default()));
        if let (Some(given), true) = (&provenance, old == new) {
            return Ok(vec![Action::SetProvenance(action::SetProvenance {
                instance: instance.clone(),
                provenance: Box::new(Provenance::clone(given)),
            })]);
        }
        if old == new {
            return Ok(vec![Action::Update(action::Update {
                instance: instance.clone(),
                patch: Patch::new(),
                provenance: None,
            })]);
        }
        if !self.is_own(is.provenance.as_ref()) && old.properties == new.properties {
            let actions = undone_classifications(instance.id(), old, new);
            if !actions.is_empty() {
                return Ok(actions);
            }
        }
        let is_classified_otherwise = old.classifications != new.classifications;
        let contents = old.classifications.iter().map(|(name, known)| content_of(name, known));
        let contents = is_classified_otherwise.then(|| contents.collect());
        Ok(vec![Action::Replace(action::Replace {
            instance: instance.clone(),
            properties: entries(&old.properties),
            classifications: contents,
            provenance,
        })])
    }
}

fn content_of(name: &str, known: &Classified) -> ClassificationContent {
    ClassificationContent {
        name: name.into(),
        properties: entries(&known.properties),
        provenance: known.provenance.clone().map(Arc::new),
    }
}

fn undone_classifications(id: &Id, old: &Image, new: &Image) -> Vec<Action> {
    let gone = new.classifications.keys().filter(|name| !old.classifications.contains_key(*name));
    let mut actions: Vec<Action> = gone
        .map(|name| Action::Declassify(action::Declassify { entity: id.clone(), name: name.as_str().into() }))
        .collect();
    for (name, known) in &old.classifications {
        match new.classifications.get(name) {
            None => actions.push(Action::Classify(action::Classify {
                entity: id.clone(),
                content: content_of(name, known),
            })),
            Some(other)
                if (&other.properties, &other.provenance) != (&known.properties, &known.provenance) =>
            {
                let is_other = other.provenance != known.provenance;
                let provenance = || Arc::new(known.provenance.clone().unwrap_or_default());
                let set = |patch: Patch, (name, value): (&String, &Value)| patch.set(name, value.clone());
                let patch = known.properties.iter().fold(Patch::new().clear(), set);
                actions.push(Action::Reclassify(action::Reclassify {
                    entity: id.clone(),
                    name: name.as_str().into(),
                    patch,
                    provenance: is_other.then(provenance),
                }));
            }
            Some(_) => {}
        }
    }
    actions
}
