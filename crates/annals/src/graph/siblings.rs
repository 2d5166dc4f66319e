//! Values by which parents list their children: those that are unique together, and references.

use super::Graph;
use super::index::key::for_each_indexed;
use super::instance::unpacked::Instance;
use super::integrity::constraints::{Constraints, Together};
use super::integrity::types::Types;
use super::integrity::values::shown;
use super::structures::slot_set::SlotSet;
use super::structures::symbols::Symbol;
use crate::model::{TypeKind, Value};
use crate::{Error, ErrorKind, Result};

/// Longer values are listed as their beginning and a checksum. Units: bytes.
const VALUES_BYTES_MAX: usize = 256;

impl Graph {
    /// The keys of the values by which a child is listed, according to these types; none for missing values. `child` is
    /// the new state of the entity, if it changes.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn listed_values(
        &self,
        types: &Types,
        slot: u32,
        child: Option<&Instance>,
    ) -> Result<Vec<Vec<u8>>> {
        let type_name = child.map(|child| child.type_name);
        let Some(type_name) = type_name.or_else(|| Some(self.entities.row(slot)?.type_name())) else {
            return Ok(Vec::new());
        };
        let Some(declared) = types.get(TypeKind::Entity, type_name) else { return Ok(Vec::new()) };
        let value = |name: Symbol| match child {
            Some(child) => Ok(child.properties.get(name).cloned()),
            None => self.entities.read_value(slot, name),
        };
        let Constraints { unique_together, references, .. } = &declared.constraints;
        let mut listed = Vec::new();
        for together in unique_together {
            listed.extend(key_of(together, value)?);
        }
        for (attribute, _) in references {
            let Some(value) = value(*attribute)? else { continue };
            for_each_indexed(&value, |scalar| listed.push(referring_key(*attribute, scalar)));
        }
        Ok(listed)
    }

    /// Lists the children of a type again if they were listed by other values before.
    pub(crate) fn relist_children(&mut self, type_name: Symbol, before: &Types) -> Result<()> {
        let constraints = |types: &Types| {
            let declared = types.get(TypeKind::Entity, type_name);
            declared.map_or_else(Constraints::default, |declared| declared.constraints.clone())
        };
        if constraints(before) == constraints(&self.types) {
            return Ok(());
        }
        let slots = self.entities.lists.by_type.extents.of(type_name).into_iter().flat_map(SlotSet::iter);
        for slot in slots.collect::<Vec<u32>>() {
            let Some(link) = self.container_link(slot) else { continue };
            let was = self.listed_values(before, slot, None)?;
            let is = self.listed_values(&self.types, slot, None)?;
            let children = &mut self.relationships.lists.children;
            for (listed, is_added) in [(was, false), (is, true)] {
                let change = |values: &Vec<u8>| {
                    children.change_values(link.relationship, link.other, values, is_added)
                };
                listed.iter().for_each(change);
            }
        }
        Ok(())
    }

    /// Entities in a container whose attribute refers to this value.
    pub(super) fn referring_in(&self, container: u32, attribute: Symbol, value: &Value) -> Vec<u32> {
        let key = referring_key(attribute, value);
        let found = self.relationships.lists.children.with_values(container, &key);
        found.map(|found| self.relationships.known_row(found).ends()[1]).collect()
    }

    /// Refuses an entity with the same values together as a sibling.
    pub(super) fn check_together(&self, slot: u32, constraints: &Constraints) -> Result<()> {
        if constraints.unique_together.is_empty() {
            return Ok(());
        }
        let Some(link) = self.container_link(slot) else { return Ok(()) };
        for together in &constraints.unique_together {
            let Some(values) = self.values_together(slot, together)? else { continue };
            let Some(key) = key_of(together, |name| self.entities.read_value(slot, name))? else { continue };
            for other in self.relationships.lists.children.with_values(link.other, &key) {
                let [_, sibling] = self.relationships.known_row(other).ends();
                if sibling != slot && self.values_together(sibling, together)?.as_ref() == Some(&values) {
                    return Err(self.not_unique(link.other, together, &values, [slot, sibling]));
                }
            }
        }
        Ok(())
    }

    fn values_together(&self, slot: u32, together: &Together) -> Result<Option<Vec<Value>>> {
        together.attributes.iter().map(|name| self.entities.read_value(slot, *name)).collect()
    }

    fn not_unique(&self, parent: u32, together: &Together, values: &[Value], both: [u32; 2]) -> Error {
        let names: Vec<&str> = together.attributes.iter().map(|name| &**self.names.name(*name)).collect();
        let [own, sibling] = both.map(|slot| self.entities.id(slot));
        let text = format!(
            "entity {own}: expected other values of {} than its sibling {sibling} has in {}, found {} in both; choose others",
            names.join(" and "),
            self.entities.id(parent),
            values.iter().map(shown).collect::<Vec<_>>().join(" and ")
        );
        Error::new(ErrorKind::NotUnique, text)
    }
}

fn key_of(together: &Together, value: impl Fn(Symbol) -> Result<Option<Value>>) -> Result<Option<Vec<u8>>> {
    let mut key = together.declaring.0.to_be_bytes().to_vec();
    for name in &together.attributes {
        // A copy may have any values.
        let Some(value) = value(*name)?.filter(Value::is_scalar) else { return Ok(None) };
        append_value(*name, &value, &mut key);
    }
    Ok(Some(bounded(key)))
}

/// No type has the number that is used here for the declaring type.
fn referring_key(attribute: Symbol, value: &Value) -> Vec<u8> {
    let mut key = u32::MAX.to_be_bytes().to_vec();
    append_value(attribute, value, &mut key);
    bounded(key)
}

fn append_value(name: Symbol, value: &Value, key: &mut Vec<u8>) {
    key.extend_from_slice(&name.0.to_be_bytes());
    value.append_exact_key(key);
}

fn bounded(mut key: Vec<u8>) -> Vec<u8> {
    if key.len() > VALUES_BYTES_MAX {
        let checksum = crc32c::crc32c(&key);
        key.truncate(VALUES_BYTES_MAX);
        key.extend_from_slice(&checksum.to_be_bytes());
    }
    key
}
