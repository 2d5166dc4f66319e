//! The filter of a page of the log.

use super::change::{LoggedChange, Written};
use super::query::LogQuery;
use crate::graph::actions as action;
use crate::graph::instance::past::ChangePlace;
use crate::graph::integrity::types::TypeNames;
use crate::graph::kind_of;
use crate::model::{Action, InstanceId, TypeKind};
use crate::read::Snapshot;
use crate::read::sight::snapshot_sight::VersionsInSight;
use crate::record::IndexedRecord;
use crate::{Error, ErrorKind, Position, Result};

/// A query with all names looked up.
pub(super) struct Filter<'s> {
    snapshot: &'s Snapshot,
    query: &'s LogQuery,
    // Instances that have or had the id of the query: an entity, a relationship, or one of each. `None` without an id.
    instances: Option<Vec<(TypeKind, u32)>>,
    // By kind, the types of the query with their subtypes. `None` without a type.
    types: Option<Vec<(TypeKind, TypeNames)>>,
    // `None` without a sight.
    versions_in_sight: Option<VersionsInSight>,
}

impl<'s> Filter<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, query: &'s LogQuery) -> Result<Filter<'s>> {
        if let Some(verb) = &query.verb
            && !Action::verbs().contains(&&**verb)
        {
            let known = Action::verbs().join(", ");
            let text = format!("log of verb {verb:?}: expected one of {known}");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let is_of_kind = |kind: &TypeKind| query.kind.is_none_or(|wanted| wanted == *kind);
        let types = query.type_name.as_ref().map(|name| {
            let kinds = TypeKind::ALL.into_iter().filter(is_of_kind);
            kinds.map(|kind| (kind, snapshot.types_named(kind, name))).collect()
        });
        let mut filter = Filter {
            snapshot,
            query,
            instances: None,
            types,
            versions_in_sight: snapshot.versions_in_sight()?,
        };
        if let Some(id) = &query.id {
            // A change of a classification also changes an entity.
            let kinds = match query.kind {
                Some(TypeKind::Relationship) => &[TypeKind::Relationship][..],
                Some(_) => &[TypeKind::Entity],
                None => &[TypeKind::Entity, TypeKind::Relationship],
            };
            let found = kinds.iter().filter_map(|kind| Some((*kind, snapshot.slot_ever(*kind, id)?)));
            let found: Vec<_> = found.collect();
            if found.is_empty() {
                let text =
                    format!("log of {id}: expected an id that an instance has or had; it may be purged");
                return Err(Error::new(ErrorKind::NotFound, text));
            }
            filter.instances = Some(found);
        }
        Ok(filter)
    }

    /// True if records without a matching change are left out.
    pub(super) fn is_of_changes(&self) -> bool {
        let query = self.query;
        self.instances.is_some()
            || self.types.is_some()
            || query.kind.is_some()
            || query.verb.is_some()
            || self.versions_in_sight.is_some()
    }

    pub(super) fn has_author(&self, author: &str) -> bool {
        self.query.author.as_deref().is_none_or(|wanted| wanted == author)
    }

    /// The positions of all records that may have a matching change, ascending; `None` if no index has them.
    pub(super) fn positions(&self) -> Result<Option<Vec<u64>>> {
        let Some(instances) = &self.instances else { return Ok(None) };
        let mut positions = Vec::new();
        for (kind, slot) in instances {
            let instance = self.snapshot.graph().table(*kind).get(*slot)?;
            let versions = instance.map(|instance| instance.all_versions()).unwrap_or_default();
            positions.extend(versions.iter().map(|version| version.place.position));
        }
        positions.sort_unstable();
        positions.dedup();
        Ok(Some(positions))
    }

    /// A change of a record, if it matches and its instance is not purged.
    pub(super) fn change(
        &self,
        position: Position,
        record: &IndexedRecord,
        number: u32,
    ) -> Result<Option<LoggedChange>> {
        self.snapshot.check_cancelled()?;
        let change = record.change(number)?;
        if self.query.verb.as_deref().is_some_and(|verb| verb != change.action.verb()) {
            return Ok(None);
        }
        let instance = match &change.action {
            // Their records may have hidden changes beside them.
            Action::DefineType(_) | Action::NameCollection(_) if self.versions_in_sight.is_some() => {
                return Ok(None);
            }
            Action::DefineType(definition) => {
                let names = &self.snapshot.graph().names;
                let is_named = |types: &TypeNames| {
                    names.find(&definition.name).is_some_and(|name| types.contains(&name))
                };
                let is_asked_for = self.instances.is_none()
                    && self.query.kind.is_none_or(|kind| kind == definition.kind)
                    && self.types.as_ref().is_none_or(|types| {
                        types.iter().any(|(kind, types)| *kind == definition.kind && is_named(types))
                    });
                return Ok(is_asked_for.then(|| LoggedChange::Type(definition.clone())));
            }
            Action::NameCollection(action::NameCollection { name }) => {
                let is_asked_for =
                    self.instances.is_none() && self.types.is_none() && self.query.kind.is_none();
                return Ok(is_asked_for.then(|| LoggedChange::Collection(name.clone())));
            }
            action => action.instance(),
        };
        let place = ChangePlace { position: position.0, change: number };
        if instance.as_ref().is_some_and(|instance| !self.is_of_kind(instance, &change.action)) {
            return Ok(None);
        }
        let named = instance.map_or(Ok(None), |instance| Written::find(self.snapshot, &instance, place))?;
        let written = match named {
            Some(written) if self.is_of_instance(&written, place)? => written,
            Some(_) => return Ok(None),
            // Its container was purged since: the change still belongs to the instance of the query.
            None if change.action.writes_along() => match self.asked_for(place)? {
                Some(written) => written,
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        let Some(written) = written.within(self.versions_in_sight.as_ref())? else { return Ok(None) };
        let mut is_of_type = self.is_of_type(&written, &change.action);
        // Only these can remove a classification without naming it.
        let may_take_off = matches!(
            change.action,
            Action::Replace(action::Replace { classifications: Some(_), .. }) | Action::SaveEntity(_)
        );
        if !is_of_type && !may_take_off {
            return Ok(None);
        }
        let logged = written.logged(&record.head, &change)?;
        let differing = logged.difference.classifications.iter().map(|known| &*known.name);
        is_of_type = is_of_type || self.are_of_type(differing);
        Ok(is_of_type.then(|| LoggedChange::Instance(Box::new(logged))))
    }

    fn is_of_kind(&self, instance: &InstanceId, action: &Action) -> bool {
        match self.query.kind {
            None => true,
            Some(TypeKind::Classification) => !named_classifications(action).is_empty(),
            Some(kind) => kind == kind_of(instance),
        }
    }

    /// True if the change wrote a version of an instance of the query: of the one it names, or of one that changed with
    /// it.
    fn is_of_instance(&self, written: &Written, place: ChangePlace) -> Result<bool> {
        let Some(instances) = &self.instances else { return Ok(true) };
        for (kind, slot) in instances {
            if (*kind, *slot) == (written.kind, written.slot) {
                return Ok(true);
            }
            let other = self.snapshot.graph().table(*kind).get(*slot)?;
            let Some(version) = other.and_then(|other| other.written_at(place)) else { continue };
            if self
                .versions_in_sight
                .as_ref()
                .map_or(Ok(true), |versions_in_sight| versions_in_sight.has(*kind, *slot, version))?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The version of an instance of the query that the change wrote.
    fn asked_for(&self, place: ChangePlace) -> Result<Option<Written<'s>>> {
        for instance in self.instances.iter().flatten() {
            if let Some(written) = Written::at(self.snapshot, *instance, place)? {
                return Ok(Some(written));
            }
        }
        Ok(None)
    }

    fn is_of_type(&self, written: &Written, action: &Action) -> bool {
        let Some(types) = &self.types else { return true };
        let named = written.types();
        let is_own = types
            .iter()
            .any(|(kind, types)| *kind == written.kind && named.iter().any(|name| types.contains(name)));
        is_own || self.are_of_type(named_classifications(action).into_iter())
    }

    /// True if one of these classifications matches.
    fn are_of_type<'n>(&self, mut classifications: impl Iterator<Item = &'n str>) -> bool {
        let types = self.types.iter().flatten().find(|(kind, _)| *kind == TypeKind::Classification);
        let names = &self.snapshot.graph().names;
        types.is_some_and(|(_, types)| {
            classifications.any(|name| names.find(name).is_some_and(|name| types.contains(&name)))
        })
    }
}

/// The classifications that an action adds to an entity, changes or removes.
fn named_classifications(action: &Action) -> Vec<&str> {
    match action {
        Action::CreateEntity(new) => new.classifications.iter().map(|known| &*known.name).collect(),
        Action::Replace(action::Replace { classifications: Some(classifications), .. }) => {
            classifications.iter().map(|known| &*known.name).collect()
        }
        Action::SaveEntity(copy) => copy.classifications.iter().map(|known| &*known.name).collect(),
        action => action.classification().into_iter().collect(),
    }
}
