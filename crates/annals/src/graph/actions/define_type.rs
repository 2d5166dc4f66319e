//! Declares a type, or extends one.
#![expect(clippy::expect_used, reason = "a declared type is there, and indexes list no others")]

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::graph::Graph;
use crate::graph::integrity::types::Types;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, TypeDefinition, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Declares a type, or extends one.
pub type DefineType = Box<TypeDefinition>;

impl Act for DefineType {
    const NAME: &'static str = "define-type";
    const CODES: Codes = Codes::Other(16);
    const FIELDS: &'static [Field] = &[Field::required(Key::Type, "type")];
    const TOUCHES: Touches = Touches::Everything;
    const CAN_BE_TAKEN_BACK: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { definition: Some(self), ..BagRef::default() }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Box::new(bag.definition?))
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        let name = graph.names.find(&self.name);
        let declared = name.and_then(|name| graph.types.get(self.kind, name));
        Ok(declared.is_some_and(|declared| declared.definition == **self))
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let definition: &TypeDefinition = self;
        let before = Arc::clone(&graph.types);
        let position = context.place.position;
        let name = Arc::make_mut(&mut graph.types).define(definition, &mut graph.names, position)?;
        graph.type_changes.push((position, Arc::new(definition.clone())));
        graph.cover_unique()?;
        let declared = Arc::clone(graph.types.get(definition.kind, name).expect("just defined"));
        match definition.kind {
            TypeKind::Classification => return graph.check_classified(&declared.descendants),
            // Elements can only be added.
            TypeKind::Enum => return Ok(()),
            TypeKind::Entity | TypeKind::Relationship => {}
        }
        for &subtype in &declared.descendants {
            graph.check_same_places(definition.kind, subtype, &before)?;
            graph.check_and_reindex(definition.kind, subtype, &before)?;
            if definition.kind == TypeKind::Entity {
                graph.relist_children(subtype, &before)?;
            }
        }
        Ok(())
    }
}

impl Graph {
    /// Existing instances keep the place in their parents that their type gave them.
    fn check_same_places(&self, kind: TypeKind, type_name: Symbol, before: &Types) -> Result<()> {
        let places = |types: &Types| {
            let declared = types.get(kind, type_name);
            let keys = declared.map_or(Vec::new(), |declared| declared.keys.clone());
            (keys, declared.and_then(|declared| declared.containment).map(|rule| rule.is_ordered))
        };
        let is_used = || {
            let extents = self.table(kind).lists.extents_of(kind);
            extents.iter().any(|extents| extents.of(type_name).is_some_and(|slots| slots.len() > 0))
        };
        if places(before) == places(&self.types) || !is_used() {
            return Ok(());
        }
        let text = format!(
            "{} type {}: it has instances already; keys, and whether a type leads from containers to children, are declared before",
            kind.name(),
            self.names.name(type_name)
        );
        Err(Error::new(ErrorKind::TypeViolation, text))
    }

    /// Checks that a changed type fits the existing instances, and updates which of their properties are indexed.
    fn check_and_reindex(&mut self, kind: TypeKind, type_name: Symbol, before: &Types) -> Result<()> {
        let types = Arc::clone(&self.types);
        // A copy may have brought a value that an instance here has: that is no matter of this declaration.
        let is_newly_unique = |name| {
            let [now, before] = [&types, before].map(|types| unique_in(types, (kind, type_name), name));
            now != before
        };
        let table = self.table(kind);
        let slots: Vec<u32> =
            table.lists.by_type.extents.of(type_name).into_iter().flat_map(SlotSet::iter).collect();
        for slot in slots {
            let instance = self.table(kind).known(slot)?;
            self.check_instance(kind, &instance, Some(slot))
                .and_then(|()| self.check_unique_values_of(kind, slot, is_newly_unique))
                .and_then(|()| match kind {
                    TypeKind::Relationship => self.check_linked_ends(type_name, instance.ends),
                    TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => Ok(()),
                })
                .map_err(|error| already_there(error, &instance.id))?;
            self.reindex(kind, slot, instance, before);
        }
        Ok(())
    }

    /// Lists the values of newly unique properties.
    fn cover_unique(&mut self) -> Result<()> {
        let types = Arc::clone(&self.types);
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            for name in &types.unique {
                let table = self.table_mut(kind);
                if table.lists.unique.has(*name) {
                    continue;
                }
                table.lists.unique.cover(*name);
                let slots: Vec<u32> = table.live_slots().iter().collect();
                for slot in slots {
                    if let Some(value) = table.read_value(slot, *name)? {
                        table.lists.unique.change(slot, *name, &value, true);
                    }
                }
            }
        }
        Ok(())
    }

    fn check_classified(&self, classifications: &[Symbol]) -> Result<()> {
        for &name in classifications {
            for slot in self.entities.lists.classified.present.of(name).into_iter().flat_map(SlotSet::iter) {
                let entity = self.entities.known(slot)?;
                let classification = entity.classification(name).expect("the index says so");
                let touched = classification.properties.iter().map(|(name, _)| name);
                self.check_properties(TypeKind::Classification, name, &classification.properties, touched)
                    .and_then(|()| self.check_applies(name, &entity))
                    .map_err(|error| already_there(error, &entity.id))?;
            }
        }
        Ok(())
    }
}

/// The error of a declaration that does not fit an instance: its properties were valid when they were written.
fn already_there(error: Error, id: &Id) -> Error {
    let kind =
        if error.kind() == ErrorKind::InvalidProperty { ErrorKind::TypeViolation } else { error.kind() };
    Error::new(kind, error.text()).with("already there", id)
}

/// The types within which an attribute is unique.
fn unique_in(types: &Types, (kind, type_name): (TypeKind, Symbol), name: Symbol) -> Option<&[Symbol]> {
    Some(&types.get(kind, type_name)?.attributes.get(&name)?.unique_in)
}
