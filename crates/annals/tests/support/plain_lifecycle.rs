//! Delete, restore, purge, and other shapes in the plain model.

use annals::*;

use super::reference::Context;
use super::reference::*;

impl Reference {
    /// Writes a version with another shape.
    pub(super) fn reshape(
        &mut self,
        context: Context<'_>,
        key: Key,
        verb: &'static str,
        edit: impl FnOnce(&mut Shape),
    ) {
        self.next(context, key, verb, |_| ());
        edit(&mut self.at_mut(key).versions.last_mut().expect("just written").shape);
    }

    pub(super) fn relink(
        &mut self,
        context: Context<'_>,
        id: &Id,
        from: Option<&Id>,
        to: Option<&Id>,
    ) -> Outcome {
        let key = self.own_live(context, &InstanceId::Relationship(id.clone()))?;
        if from.is_none() && to.is_none() {
            return Err(ErrorKind::InvalidArgument);
        }
        let end = |end: Option<&Id>| end.map(|end| self.end(end, context.valid)).transpose();
        let (from, to) = (end(from)?, end(to)?);
        self.reshape(context, key, "relink", |shape| {
            let (old_from, old_to) = shape.ends.expect("a relationship has ends");
            shape.ends = Some((from.unwrap_or(old_from), to.unwrap_or(old_to)));
        });
        Ok(())
    }

    pub(super) fn relationships_of(&self, age: u64) -> Vec<u64> {
        self.relationships_in(age, |known| vec![known.in_force()])
    }

    /// Also those that led to or from it in any version.
    pub(super) fn relationships_ever_of(&self, age: u64) -> Vec<u64> {
        self.relationships_in(age, |known| known.versions.iter().collect())
    }

    pub(super) fn relationships_in(&self, age: u64, versions: impl Fn(&Known) -> Vec<&Version>) -> Vec<u64> {
        let is_end =
            |version: &Version| version.shape.ends.is_some_and(|(from, to)| from == age || to == age);
        let found = self.relationships.iter().filter(|(_, known)| versions(known).into_iter().any(is_end));
        found.map(|(age, _)| *age).collect()
    }

    pub(super) fn delete(&mut self, context: Context<'_>, instance: &InstanceId) -> Outcome {
        let key = self.live(instance)?;
        self.check_own_at(key)?;
        let mut taken = vec![key];
        if key.0 == TypeKind::Entity {
            let ever = self.relationships_ever_of(key.1);
            taken.extend(ever.into_iter().map(|age| (TypeKind::Relationship, age)));
        }
        // Also relationships that are gone: each was there until its deletion became true.
        if taken.iter().any(|key| self.at(*key).in_force().valid_from > context.valid) {
            return Err(ErrorKind::InvalidArgument);
        }
        if key.0 == TypeKind::Entity {
            let own = self.relationships_of(key.1);
            taken.retain(|taken| *taken == key || own.contains(&taken.1));
        }
        taken.retain(|key| self.at(*key).in_force().status == Status::Active);
        for key in taken {
            self.set_status(context, key, "delete", Status::Deleted);
        }
        Ok(())
    }

    pub(super) fn set_status(&mut self, context: Context<'_>, key: Key, verb: &'static str, status: Status) {
        self.next(context, key, verb, |_| ());
        let known = self.at_mut(key);
        known.versions.last_mut().expect("just written").status = status;
        if status == Status::Active {
            known.live_from = context.valid;
        }
    }

    pub(super) fn restore(&mut self, context: Context<'_>, instance: &InstanceId, with: bool) -> Outcome {
        let key = self.find(instance)?;
        let deleted = self.at(key).in_force();
        if deleted.status == Status::Active {
            return Err(ErrorKind::NotDeleted);
        }
        self.check_own_at(key)?;
        if context.valid < deleted.valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        if let Some((from, to)) = deleted.shape.ends
            && (!self.is_end(from, context.valid) || !self.is_end(to, context.valid))
        {
            return Err(ErrorKind::MissingEnd);
        }
        let place = (deleted.position, deleted.change);
        self.set_status(context, key, "restore", Status::Active);
        if key.0 == TypeKind::Entity && with {
            for age in self.relationships_of(key.1) {
                let key = (TypeKind::Relationship, age);
                let now = self.at(key).in_force();
                let went_along = now.status == Status::Deleted && (now.position, now.change) == place;
                let (from, to) = now.shape.ends.expect("a relationship has ends");
                if went_along && self.is_end(from, context.valid) && self.is_end(to, context.valid) {
                    self.set_status(context, key, "restore", Status::Active);
                }
            }
        }
        Ok(())
    }

    pub(super) fn purge(&mut self, (kind, age): Key) {
        if kind == TypeKind::Relationship {
            self.relationships.remove(&age);
            return;
        }
        for relationship in self.relationships_ever_of(age) {
            self.relationships.remove(&relationship);
        }
        self.entities.remove(&age);
    }
}
