//! Models instances of other collections: copies, proxies, homes.

use std::sync::Arc;

use annals::*;

use super::plain_patch::map_of;
use super::reference::*;
use super::reference::{Context, first_shape, something};

impl Reference {
    /// The known instance that a copy with this provenance may replace, if there is one.
    pub(super) fn known_copy(
        &self,
        context: Context<'_>,
        instance: &InstanceId,
        provenance: &Provenance,
    ) -> std::result::Result<Option<Key>, ErrorKind> {
        let home = self.foreign_home(provenance)?;
        let key = match self.find(instance) {
            Err(ErrorKind::NotFound) => return Ok(None),
            found => found?,
        };
        let now = self.at(key).in_force();
        if !now.shape.is_proxy && now.shape.home() != Some(&home) {
            return Err(ErrorKind::HomeConflict);
        }
        if context.valid < now.valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        Ok(Some(key))
    }

    pub(super) fn copied(&self, copy: &ClassificationCopy) -> Classified {
        let mut provenance = copy.provenance.clone();
        if provenance.home == self.collection {
            provenance.home = None;
        }
        Classified {
            version: copy.version,
            created: stamp_of(&copy.created),
            updated: stamp_of(&copy.updated),
            properties: map_of(&copy.properties),
            provenance: something(provenance),
        }
    }

    pub(super) fn save_entity(&mut self, context: Context<'_>, copy: &EntityCopy) -> Outcome {
        let instance = InstanceId::Entity(copy.id.clone());
        let home = &copy.header.provenance.home;
        let mut image = Image { properties: map_of(&copy.properties), ..Image::default() };
        let is_known = self.find(&instance).ok().and_then(|key| self.at(key).live(PRESENT)).is_some();
        for given in &copy.classifications {
            if is_known && self.collection.is_some() && given.provenance.home == self.collection {
                continue;
            }
            let mut given = given.clone();
            given.provenance.home = given.provenance.home.or_else(|| home.clone());
            let copied = self.copied(&given);
            if image.classifications.insert(given.name.to_string(), copied).is_some() {
                return Err(ErrorKind::AlreadyExists);
            }
        }
        let known = self.known_copy(context, &instance, &copy.header.provenance)?;
        if let Some(now) = known.and_then(|key| self.at(key).live(PRESENT)) {
            for (name, known) in &now.image.classifications {
                let theirs = known.provenance.as_ref().and_then(|known| known.home.as_ref());
                if theirs != home.as_ref() && !image.classifications.contains_key(name) {
                    image.classifications.insert(name.clone(), known.clone());
                }
            }
        }
        let shape = first_shape(&copy.id, &copy.type_name, "active", None);
        self.put_copy(context, known, TypeKind::Entity, shape, image, &copy.header);
        Ok(())
    }

    pub(super) fn save_relationship(&mut self, context: Context<'_>, copy: &RelationshipCopy) -> Outcome {
        let instance = InstanceId::Relationship(copy.id.clone());
        let known = self.known_copy(context, &instance, &copy.header.provenance)?;
        let ends = (self.end(&copy.from, context.valid)?, self.end(&copy.to, context.valid)?);
        let image = Image { properties: map_of(&copy.properties), ..Image::default() };
        let shape = first_shape(&copy.id, &copy.type_name, "active", None);
        let shape = Shape { ends: Some(ends), ..shape };
        self.put_copy(context, known, TypeKind::Relationship, shape, image, &copy.header);
        Ok(())
    }

    pub(super) fn put_copy(
        &mut self,
        context: Context<'_>,
        known: Option<Key>,
        kind: TypeKind,
        shape: Shape,
        image: Image,
        header: &CopyHeader,
    ) {
        let shape = Shape {
            status_name: header.status.as_deref().unwrap_or("active").to_string(),
            provenance: Some(header.provenance.clone()),
            home_version: u64::from(header.version),
            ..shape
        };
        let key = match known {
            None => self.enter(context, kind, "save-copy", shape, image),
            Some(key) => {
                let was_live = self.at(key).in_force().status == Status::Active;
                self.next(context, key, "save-copy", |own| *own = image);
                let known = self.at_mut(key);
                let version = known.versions.last_mut().expect("just written");
                version.status = Status::Active;
                let reidentified_from = version.shape.reidentified_from.take();
                version.shape = Shape { reidentified_from, ..shape };
                if !was_live {
                    known.live_from = context.valid;
                }
                key
            }
        };
        let version = self.at_mut(key).versions.last_mut().expect("just written");
        version.created = stamp_of(&header.created);
        version.updated = stamp_of(&header.updated);
    }

    pub(super) fn save_proxy(&mut self, context: Context<'_>, proxy: &EntityProxy) -> Outcome {
        self.check_new(TypeKind::Entity, &proxy.id)?;
        self.foreign_home(&proxy.provenance)?;
        let mut image = Image { properties: map_of(&proxy.properties), ..Image::default() };
        for given in &proxy.classifications {
            if image.classifications.insert(given.name.to_string(), self.copied(given)).is_some() {
                return Err(ErrorKind::AlreadyExists);
            }
        }
        let status = proxy.status.as_deref().unwrap_or("active");
        let shape = first_shape(&proxy.id, &proxy.type_name, status, Some(proxy.provenance.clone()));
        let home_version = proxy.origin.as_ref().map_or(1, |(version, ..)| u64::from(*version));
        let shape = Shape { is_proxy: true, home_version, ..shape };
        let key = self.enter(context, TypeKind::Entity, "save-proxy", shape, image);
        if let Some((_, created, updated)) = &proxy.origin {
            let version = self.at_mut(key).versions.last_mut().expect("just written");
            (version.created, version.updated) = (stamp_of(created), stamp_of(updated));
        }
        Ok(())
    }

    pub(super) fn save_classification(
        &mut self,
        context: Context<'_>,
        id: &Id,
        copy: &ClassificationCopy,
    ) -> Outcome {
        let key = self.live(&InstanceId::Entity(id.clone()))?;
        let now = self.at(key).in_force();
        if context.valid < now.valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        let home = self.foreign_home(&copy.provenance)?;
        if let Some(known) = now.image.classifications.get(&*copy.name)
            && known.provenance.as_ref().and_then(|known| known.home.as_ref()) != Some(&home)
        {
            return Err(ErrorKind::HomeConflict);
        }
        let copied = self.copied(copy);
        self.next(context, key, "save-classification-copy", |image| {
            image.classifications.insert(copy.name.to_string(), copied);
        });
        Ok(())
    }

    pub(super) fn set_provenance(
        &mut self,
        context: Context<'_>,
        instance: &InstanceId,
        given: &Provenance,
    ) -> Outcome {
        let key = self.own_live(context, instance)?;
        let known = self.at(key);
        let now = known.in_force();
        let home = now.shape.home().cloned();
        if given.home.is_some() && given.home != home && given.home != self.collection {
            // A re-homed instance returns to its former home.
            let before = known.version(now.base).map(|before| before.shape.clone());
            let before = before.filter(|before| before.provenance.as_ref() == Some(given));
            let before = before.ok_or(ErrorKind::InvalidArgument)?;
            self.reshape(context, key, "set-provenance", |shape| {
                shape.provenance = before.provenance;
                shape.home_version = before.home_version;
            });
            return Ok(());
        }
        let given = Provenance { home: home.clone(), ..given.clone() };
        let kept = if home.is_some() { Some(given) } else { self.own_provenance(Some(&given))? };
        self.reshape(context, key, "set-provenance", |shape| shape.provenance = kept);
        Ok(())
    }

    /// The provenance after a change of content that states one; `None` if it states none.
    pub(super) fn stated(
        &self,
        context: Context<'_>,
        key: Key,
        given: Option<&Provenance>,
    ) -> std::result::Result<Option<Option<Provenance>>, ErrorKind> {
        let Some(given) = given else { return Ok(None) };
        let now = self.at(key).in_force();
        let home = now.shape.home().cloned();
        let is_other_home = given.home.is_some() && given.home != home && given.home != self.collection;
        if is_other_home {
            return Err(ErrorKind::InvalidArgument);
        }
        let given = Provenance { home: home.clone(), ..given.clone() };
        let stated = if home.is_some() { Some(given) } else { self.own_provenance(Some(&given))? };
        match stated == now.shape.provenance {
            true => Ok(None),
            false if context.valid < now.valid_from => Err(ErrorKind::InvalidArgument),
            false => Ok(Some(stated)),
        }
    }

    /// Gives the version that was just written the stated provenance.
    pub(super) fn state(&mut self, key: Key, stated: Option<Option<Provenance>>) {
        if let Some(provenance) = stated {
            self.at_mut(key).versions.last_mut().expect("just written").shape.provenance = provenance;
        }
    }

    pub(super) fn rehome(&mut self, context: Context<'_>, instance: &InstanceId, home: &Arc<str>) -> Outcome {
        let key = self.live(instance)?;
        let now = self.at(key).in_force();
        if context.valid < now.valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        if now.shape.home() != Some(home) {
            return Err(ErrorKind::HomeConflict);
        }
        if now.shape.is_proxy {
            return Err(ErrorKind::ProxyOnly);
        }
        let home_version = now.shape.home_version + 1;
        self.reshape(context, key, "rehome", |shape| {
            let kept = shape.provenance.take().map(|known| Provenance {
                home: None,
                kind: ProvenanceKind::Local,
                replicated_by: None,
                ..known
            });
            shape.provenance = kept.and_then(something);
            shape.home_version = home_version;
        });
        Ok(())
    }
}

fn stamp_of(stamp: &Stamp) -> (i64, String) {
    (stamp.instant.micros(), stamp.author.to_string())
}
