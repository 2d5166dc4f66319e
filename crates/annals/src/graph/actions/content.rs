//! Changes of content: properties and classifications.

use super::context::Context;
use crate::graph::Graph;
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::patch::ValueChange;
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::structures::symbols::Symbol;
use crate::model::{ClassificationContent, InstanceId, Patch, PatchStep, TypeKind};
use crate::{Error, ErrorKind, Result};

impl Graph {
    /// Checks the changed values of `after` against its type. The end of the record checks unique values.
    pub(super) fn check_changes(
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
        match kind {
            TypeKind::Relationship => self.check_contained(after, Some(slot)).map(drop),
            _ => self.check_keys(slot, after, changes),
        }
    }

    fn check_keys(&self, slot: u32, after: &Instance, changes: &[ValueChange]) -> Result<()> {
        let keys = if self.types.has_containment { self.keys_of(after.type_name) } else { &[] };
        match changes.iter().any(|change| keys.contains(&change.name())) {
            true => self.check_renamed(slot, after),
            false => Ok(()),
        }
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

    /// The unchanged classification, if it belongs to another collection and must stay.
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

    /// A classification with this content for `entity`: the next version if the entity has the classification already.
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
