//! Changes of content: properties and classifications.

use std::sync::Arc;

use super::context::Context;
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::patch::{ValueChange, apply_patch, differences};
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, kind_of};
use crate::model::{ClassificationContent, Id, InstanceId, Patch, PatchStep, TypeKind, Value};
use crate::{Error, ErrorKind, Result};

impl Graph {
    pub(crate) fn update(&mut self, context: Context, instance: &InstanceId, patch: &Patch) -> Result<()> {
        let kind = kind_of(instance);
        let (slot, before) = self.live(instance)?;
        self.check_own(instance, before.header)?;
        check_steps(patch)?;
        if context.valid_from < before.valid_from {
            return self.correct(context, instance, slot, &before, patch);
        }
        let mut after = before.next_version(context);
        let changes = apply_patch(&mut after.properties, patch, |name| self.symbol("property", name))?;
        self.check_growth(instance, &before.properties, &after.properties)?;
        self.check_changes(kind, slot, &after, &changes)?;
        self.change_values(kind, slot, &after, &changes);
        self.table_mut(kind).replace(slot, &after);
        Ok(())
    }

    /// Writes a version into the past: the present stays, as-of searches must find the values of the correction.
    fn correct(
        &mut self,
        context: Context,
        instance: &InstanceId,
        slot: u32,
        before: &Instance,
        patch: &Patch,
    ) -> Result<()> {
        let kind = kind_of(instance);
        let after = self.corrected(instance, before, context)?;
        self.table_mut(kind).stamps.add_past(slot, context.stamp.micros);
        for step in &patch.steps {
            let (name, value) = match step {
                PatchStep::Set(name, value) | PatchStep::Add(name, value) => (name, Some(value)),
                PatchStep::Unset(name) | PatchStep::Remove(name, _) => (name, None),
                PatchStep::Clear => continue,
            };
            let name = self.symbol("property", name)?;
            if let PatchStep::Add(_, value) = step {
                let set = Value::set([value.clone()])?;
                self.table_mut(kind).note_set(name, &set);
            }
            if let Some(value) = value {
                self.remember_past_value(kind, slot, before.type_name, name, value);
            }
        }
        self.table_mut(kind).replace(slot, &after);
        Ok(())
    }

    fn remember_past_value(
        &mut self,
        kind: TypeKind,
        slot: u32,
        type_name: Symbol,
        name: Symbol,
        value: &Value,
    ) {
        if self.types.is_indexed(kind, type_name, name) {
            self.table_mut(kind).add_past_value(name, value, slot);
        }
    }

    /// Checks the changed values of `after` against its type.
    fn check_changes(
        &self,
        kind: TypeKind,
        slot: u32,
        after: &Instance,
        changes: &[ValueChange],
    ) -> Result<()> {
        if self.types.is_empty() {
            return Ok(());
        }
        let touched = changes.iter().map(ValueChange::name);
        self.check_properties(kind, after.type_name, &after.properties, touched)?;
        for change in changes {
            if let ValueChange::Added(name, value) = change {
                self.check_unique(kind, after, Some(slot), *name, value)?;
            }
        }
        Ok(())
    }

    pub(crate) fn replace(
        &mut self,
        context: Context,
        instance: &InstanceId,
        properties: &[(Arc<str>, Value)],
        classifications: Option<&[ClassificationContent]>,
    ) -> Result<()> {
        let kind = kind_of(instance);
        let (slot, before) = self.live(instance)?;
        self.check_own(instance, before.header)?;
        let properties = self.properties(properties)?;
        if context.valid_from < before.valid_from {
            let after = self.corrected(instance, &before, context)?;
            self.table_mut(kind).stamps.add_past(slot, context.stamp.micros);
            for (name, value) in properties.iter() {
                self.remember_past_value(kind, slot, before.type_name, name, value);
            }
            if let Some(contents) = classifications {
                for classification in self.new_classifications(context, &before, contents)? {
                    self.entities.add_past_classified(classification.name, slot);
                }
            }
            self.table_mut(kind).replace(slot, &after);
            return Ok(());
        }
        let mut after = before.next_version(context);
        let changes = differences(&before.properties, &properties);
        after.properties = properties;
        self.check_growth(instance, &before.properties, &after.properties)?;
        self.check_changes(kind, slot, &after, &changes)?;
        if let Some(classifications) = classifications {
            after.set_classifications(self.new_classifications(context, &before, classifications)?);
            self.change_classified(slot, &before, &after);
        }
        self.change_values(kind, slot, &after, &changes);
        self.table_mut(kind).replace(slot, &after);
        Ok(())
    }

    /// All classifications of an entity, each name once.
    pub(crate) fn new_classifications(
        &mut self,
        context: Context,
        entity: &Instance,
        contents: &[ClassificationContent],
    ) -> Result<Vec<Classification>> {
        let mut classifications: Vec<Classification> = Vec::with_capacity(contents.len());
        for content in contents {
            let classification = match self.kept_classification(entity, content)? {
                Some(kept) => kept,
                None => self.new_classification(context, entity, content)?,
            };
            if classifications.iter().any(|known| known.name == classification.name) {
                return Err(Error::new(
                    ErrorKind::AlreadyExists,
                    format!(
                        "entity {}: classification {} is given twice; give it once",
                        entity.id, content.name
                    ),
                ));
            }
            classifications.push(classification);
        }
        let is_kept = |known: &Classification| classifications.iter().any(|kept| kept.name == known.name);
        for known in entity.classifications().iter().filter(|known| !is_kept(known)) {
            let name = self.names.name(known.name);
            self.check_own(format_args!("classification {name} of {}", entity.id), known.header)?;
        }
        Ok(classifications)
    }

    /// The classification as it is, if it is another collection's and is to stay what it is.
    fn kept_classification(
        &mut self,
        entity: &Instance,
        content: &ClassificationContent,
    ) -> Result<Option<Classification>> {
        let name = self.symbol("classification", &content.name)?;
        let Some(known) = entity.classification(name).filter(|known| !self.is_own(known.header)) else {
            return Ok(None);
        };
        let is_same = self.properties(&content.properties)? == known.properties;
        Ok(is_same.then(|| known.clone()))
    }

    /// A classification with this content for `entity`: the next version if it carries the classification already.
    pub(crate) fn new_classification(
        &mut self,
        context: Context,
        entity: &Instance,
        content: &ClassificationContent,
    ) -> Result<Classification> {
        let name = self.symbol("classification", &content.name)?;
        let properties = self.properties(&content.properties)?;
        let touched = properties.iter().map(|(name, _)| name);
        self.check_properties(TypeKind::Classification, name, &properties, touched)?;
        self.check_applies(name, entity)?;
        let provenance = content.provenance.as_ref().map(|given| self.own_provenance(given)).transpose()?;
        let known = entity.classification(name);
        if let Some(known) = known {
            self.check_own(format_args!("classification {} of {}", content.name, entity.id), known.header)?;
        }
        let header = self.provenance_header(provenance.flatten());
        Ok(Classification { header, ..successor(known, name, context, properties) })
    }

    pub(crate) fn classify(
        &mut self,
        context: Context,
        entity: &Id,
        content: &ClassificationContent,
    ) -> Result<()> {
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = self.live(&instance)?;
        self.check_whole(&instance, &before)?;
        let classification = self.new_classification(context, &before, content)?;
        let name = classification.name;
        if context.valid_from < before.valid_from {
            let after = self.corrected(&instance, &before, context)?;
            self.entities.stamps.add_past(slot, context.stamp.micros);
            self.entities.add_past_classified(name, slot);
            self.entities.replace(slot, &after);
            return Ok(());
        }
        if before.classification(name).is_some() {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("{instance} already carries the classification {}; reclassify it", content.name),
            ));
        }
        let mut after = self.next_version_here(&before, context);
        let mut classifications = before.classifications().to_vec();
        classifications.push(classification);
        after.set_classifications(classifications);
        self.entities.set_classified(name, slot, true);
        self.entities.replace(slot, &after);
        Ok(())
    }

    pub(crate) fn reclassify(
        &mut self,
        context: Context,
        entity: &Id,
        name: &Arc<str>,
        patch: &Patch,
    ) -> Result<()> {
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = self.live(&instance)?;
        check_steps(patch)?;
        let symbol = self.symbol("classification", name)?;
        if context.valid_from < before.valid_from {
            let after = self.corrected(&instance, &before, context)?;
            self.entities.stamps.add_past(slot, context.stamp.micros);
            // Reading history needs every name of the record.
            for name in patch.steps.iter().filter_map(PatchStep::name) {
                self.symbol("property", name)?;
            }
            self.entities.add_past_classified(symbol, slot);
            self.entities.replace(slot, &after);
            return Ok(());
        }
        let known = before.classification(symbol).ok_or_else(|| not_classified(&instance, name))?;
        self.check_own(format_args!("classification {name} of {instance}"), known.header)?;
        let mut properties = known.properties.clone();
        let changes = apply_patch(&mut properties, patch, |name| self.symbol("property", name))?;
        self.check_growth(
            format_args!("classification {name} of {instance}"),
            &known.properties,
            &properties,
        )?;
        let touched = changes.iter().map(ValueChange::name);
        self.check_properties(TypeKind::Classification, symbol, &properties, touched)?;
        let changed = successor(Some(known), symbol, context, properties);
        let mut after = self.next_version_here(&before, context);
        let others = before.classifications().iter().filter(|other| other.name != symbol).cloned();
        after.set_classifications(others.chain([changed]).collect());
        self.entities.replace(slot, &after);
        Ok(())
    }

    pub(crate) fn declassify(&mut self, context: Context, entity: &Id, name: &Arc<str>) -> Result<()> {
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = self.live(&instance)?;
        let symbol = self.symbol("classification", name)?;
        if context.valid_from < before.valid_from {
            let after = self.corrected(&instance, &before, context)?;
            self.entities.stamps.add_past(slot, context.stamp.micros);
            self.entities.replace(slot, &after);
            return Ok(());
        }
        let known = before.classification(symbol).ok_or_else(|| not_classified(&instance, name))?;
        self.check_own(format_args!("classification {name} of {instance}"), known.header)?;
        let mut after = self.next_version_here(&before, context);
        let others = before.classifications().iter().filter(|other| other.name != symbol).cloned();
        after.set_classifications(others.collect());
        self.entities.set_classified(symbol, slot, false);
        self.entities.replace(slot, &after);
        Ok(())
    }

    fn change_classified(&mut self, slot: u32, before: &Instance, after: &Instance) {
        for classification in before.classifications() {
            if after.classification(classification.name).is_none() {
                self.entities.set_classified(classification.name, slot, false);
            }
        }
        for classification in after.classifications() {
            self.entities.set_classified(classification.name, slot, true);
        }
    }
}

pub(crate) fn successor(
    known: Option<&Classification>,
    name: Symbol,
    context: Context,
    properties: crate::graph::instance::properties::Properties,
) -> Classification {
    Classification {
        name,
        version: known.map_or(1, |known| known.version + 1),
        created: known.map_or(context.stamp, |known| known.created),
        updated: context.stamp,
        header: known.map_or(PLAIN, |known| known.header),
        properties,
    }
}

pub(crate) fn not_classified(instance: &InstanceId, name: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("{instance} does not carry the classification {name}; classify it first"),
    )
}

pub(super) fn check_steps(patch: &Patch) -> Result<()> {
    patch.steps.iter().try_for_each(|step| match step {
        PatchStep::Set(name, value) | PatchStep::Add(name, value) | PatchStep::Remove(name, value) => {
            value.check(name)
        }
        PatchStep::Unset(_) | PatchStep::Clear => Ok(()),
    })
}
