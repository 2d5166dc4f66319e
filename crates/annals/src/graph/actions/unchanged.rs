//! Checks whether content would stay unchanged.

use std::sync::Arc;

use super::content::check_steps;
use crate::Result;
use crate::graph::instance::patch::apply_patch;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, kind_of};
use crate::model::{ClassificationContent, InstanceId, Patch, TypeKind, Value, check_name};
use crate::structures::number::narrow;

impl Graph {
    /// The live instance, if this repository may write it.
    pub(super) fn own(&self, instance: &InstanceId) -> Result<Arc<Instance>> {
        let (_, known) = self.live(instance)?;
        self.check_own(instance, known.header)?;
        Ok(known)
    }

    /// True if `patch` leaves the properties of this instance unchanged, and this repository may write it. It reads
    /// only the properties that the patch names.
    pub(super) fn leaves_instance(&self, instance: &InstanceId, patch: &Patch) -> Result<bool> {
        let table = self.table(kind_of(instance));
        let Some(slot) = table.slot(instance.id()) else { return Ok(false) };
        let Some(row) = table.row(slot).filter(|row| row.is_live()) else { return Ok(false) };
        self.check_own(instance, row.header())?;
        let mut known = Vec::new();
        for step in &patch.steps {
            let names: Vec<Symbol> = match step.name() {
                Some(name) => self.names.find(name).into_iter().collect(),
                None => row.names(),
            };
            for name in names {
                known.extend(table.read_value(slot, name)?.map(|value| (name, value)));
            }
        }
        self.leaves(&Properties::from_entries(known), patch)
    }

    /// True if `patch` leaves these properties unchanged.
    pub(super) fn leaves(&self, properties: &Properties, patch: &Patch) -> Result<bool> {
        check_steps(patch)?;
        let mut after = properties.clone();
        let mut new: Vec<Arc<str>> = Vec::new();
        let changes = apply_patch(&mut after, patch, |name| {
            if let Some(symbol) = self.names.find(name) {
                return Ok(symbol);
            }
            check_name("property", name)?;
            let at = new.iter().position(|known| known == name).unwrap_or_else(|| {
                new.push(Arc::clone(name));
                new.len() - 1
            });
            // A number beyond all existing symbols.
            Ok(Symbol(narrow(self.names.len() + at)))
        })?;
        // A value may have been changed and changed back.
        Ok(changes.iter().all(|change| properties.get(change.name()) == after.get(change.name())))
    }

    /// True if the properties equal the given ones, of which the later of two with one name counts.
    pub(super) fn are_equal(&self, known: &Properties, given: &[(Arc<str>, Value)]) -> bool {
        let entries = given.iter().map(|(name, value)| Some((self.names.find(name)?, value.clone())));
        let entries: Option<Vec<(Symbol, Value)>> = entries.collect();
        entries.is_some_and(|entries| Properties::from_entries(entries) == *known)
    }

    /// True if the entity has exactly these classifications.
    pub(super) fn carries_just(&self, entity: &Instance, contents: &[ClassificationContent]) -> Result<bool> {
        if contents.len() != entity.classifications().len() {
            return Ok(false);
        }
        // Invariant: an entity has a classification once, so if one is given twice, another one is missing.
        for known in entity.classifications() {
            let name = self.names.name(known.name);
            let Some(content) = contents.iter().find(|content| content.name == *name) else {
                return Ok(false);
            };
            if !self.is_like(known, content)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_like(&self, known: &Classification, content: &ClassificationContent) -> Result<bool> {
        if !self.are_equal(&known.properties, &content.properties) {
            return Ok(false);
        }
        if !self.is_own(known.header) {
            // For a classification of another collection only the properties are given.
            return Ok(true);
        }
        let given = content.provenance.as_ref().map(|given| self.own_provenance(given)).transpose()?;
        Ok(given.flatten() == self.headers.get(known.header).provenance)
    }

    /// The live instance with this id, including the fields that an upsert may not change; `None` if there is none.
    ///
    /// Errors: `ProxyOnly`.
    pub(crate) fn live_instance(&self, instance: &InstanceId) -> Result<Option<Arc<Instance>>> {
        let kind: TypeKind = kind_of(instance);
        let found = self.table(kind).find(instance.id())?.map(|(_, known)| known);
        let Some(known) = found.filter(|known| known.is_live()) else { return Ok(None) };
        if self.headers.get(known.header).is_proxy {
            return Err(super::headers::proxy_only(instance));
        }
        Ok(Some(known))
    }
}
