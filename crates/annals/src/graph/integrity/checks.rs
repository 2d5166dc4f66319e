//! The rules for every instance: declared types, unique attributes, existing ends, cardinalities.

use super::types::{Attribute, DeclaredType, check_element};
use super::values::{check_limits, check_value, shown};
use crate::graph::index::key::for_each_indexed;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::row::Row;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, instance_id};
use crate::model::time::display_micros;
use crate::model::{Direction, EndDefinition, Id, TypeKind, Value};
use crate::{Error, ErrorKind, Result};

impl Graph {
    /// Checks the properties of an instance (or classification) of this type; those in `touched` in detail.
    pub(crate) fn check_properties(
        &self,
        kind: TypeKind,
        type_name: Symbol,
        properties: &Properties,
        touched: impl Iterator<Item = Symbol>,
    ) -> Result<()> {
        let Some(declared) = self.types.get(kind, type_name) else { return Ok(()) };
        self.check_touched(kind, type_name, properties, touched)?;
        for (name, attribute) in &declared.attributes {
            if attribute.definition.is_required && properties.get(*name).is_none() {
                return Err(Error::new(
                    ErrorKind::InvalidProperty,
                    format!(
                        "type {}: expected the required attribute {}, found none; give it a value",
                        declared.definition.name, attribute.definition.name
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The same without checking for required ones.
    pub(crate) fn check_touched(
        &self,
        kind: TypeKind,
        type_name: Symbol,
        properties: &Properties,
        mut touched: impl Iterator<Item = Symbol>,
    ) -> Result<()> {
        let Some(declared) = self.types.get(kind, type_name) else { return Ok(()) };
        touched.try_for_each(|name| match properties.get(name) {
            Some(value) => self.check_property(declared, name, value),
            None => Ok(()),
        })
    }

    /// Checks all properties of an instance, and of its classifications, against their types.
    pub(crate) fn check_content(&self, kind: TypeKind, instance: &Instance) -> Result<()> {
        if self.types.is_empty() {
            return Ok(());
        }
        let names = instance.properties.iter().map(|(name, _)| name);
        self.check_properties(kind, instance.type_name, &instance.properties, names)?;
        instance.classifications().iter().try_for_each(|known| {
            let names = known.properties.iter().map(|(name, _)| name);
            self.check_properties(TypeKind::Classification, known.name, &known.properties, names)?;
            self.check_applies(known.name, instance)
        })
    }

    /// Checks one value against the type, which may declare it.
    pub(crate) fn check_property(&self, declared: &DeclaredType, name: Symbol, value: &Value) -> Result<()> {
        match declared.attributes.get(&name) {
            Some(attribute) => {
                let Attribute { definition: attribute, pattern, .. } = attribute;
                let type_name = &declared.definition.name;
                check_value(type_name, attribute, value)?;
                check_limits(type_name, attribute, pattern.as_ref(), value)?;
                let enumeration = attribute.enum_type.as_ref();
                match enumeration.and_then(|name| self.types.enumeration(name, &self.names)) {
                    Some(enumeration) => check_element(type_name, attribute, enumeration, value),
                    None => Ok(()),
                }
            }
            None if declared.is_closed => Err(Error::new(
                ErrorKind::InvalidProperty,
                format!(
                    "closed type {}: expected only declared attributes, found {}; declare it or leave it out",
                    declared.definition.name,
                    self.names.name(name)
                ),
            )),
            None => Ok(()),
        }
    }

    /// Refuses values of some unique attributes that another live instance of the declaring type has, too.
    /// Copies have the state of their home, so they are not checked.
    pub(crate) fn check_unique_values_of(
        &self,
        kind: TypeKind,
        slot: u32,
        is_wanted: impl Fn(Symbol) -> bool,
    ) -> Result<()> {
        let table = self.table(kind);
        let Some(row) = table.row(slot).filter(|row| row.is_live() && self.is_own(row.header())) else {
            return Ok(());
        };
        let Some(declared) = self.types.get(kind, row.type_name()) else { return Ok(()) };
        for (name, attribute) in &declared.attributes {
            if attribute.unique_in.is_empty() || !is_wanted(*name) {
                continue;
            }
            if let Some(value) = table.read_value(slot, *name)? {
                self.check_unique(kind, declared, slot, (*name, attribute), &value)?;
            }
        }
        Ok(())
    }

    fn check_unique(
        &self,
        kind: TypeKind,
        declared: &DeclaredType,
        own_slot: u32,
        (name, attribute): (Symbol, &Attribute),
        value: &Value,
    ) -> Result<()> {
        let table = self.table(kind);
        let (mut taken, mut unread) = (None, Ok(()));
        for_each_indexed(value, |scalar| {
            for found in table.lists.unique.holders(name, scalar) {
                let Some(other) = table.row(found).filter(|_| found != own_slot) else { continue };
                let held = table.read_value(found, name).unwrap_or_else(|error| {
                    unread = Err(error);
                    None
                });
                let holds = held.is_some_and(|held| match held {
                    Value::Set(held) => held.contains(scalar),
                    held => held == *scalar,
                });
                let is_within = |declaring: &Symbol| self.types.is_a(kind, other.type_name(), *declaring);
                if holds && attribute.unique_in.iter().any(is_within) {
                    taken = Some((scalar.clone(), table.id(found).clone()));
                }
            }
        });
        let Some((scalar, other)) = taken else { return unread };
        let text = format!(
            "type {}, attribute {}: expected a unique value, found {} also in {other}",
            declared.definition.name,
            self.names.name(name),
            shown(&scalar)
        );
        let own = instance_id(kind, table.id(own_slot).clone());
        Err(Error::new(ErrorKind::NotUnique, text).with("holder", other).with("instance", own))
    }

    /// The slot of a live entity that has existed without a break since `valid_from`.
    pub(crate) fn live_end(&self, id: &Id, valid_from: i64) -> Result<u32> {
        let missing =
            |text: String| Error::new(ErrorKind::MissingEnd, format!("relationship end {id}: {text}"));
        let Some(slot) = self.entities.slot(id) else {
            return Err(missing("expected an entity, found none; create it first".into()));
        };
        if !self.entities.is_live(slot) {
            return Err(missing("the entity is deleted; restore it first".into()));
        }
        // An entity that is live now is live at the latest instant.
        if valid_from < self.last_instant()
            && let Some(live_from) = self.entities.row(slot).map(Row::live_from)
            && live_from > valid_from
        {
            let (since, asked) = (display_micros(live_from), display_micros(valid_from));
            return Err(missing(format!(
                "the entity exists since {since}, the relationship would be valid from {asked}; use a later instant"
            )));
        }
        Ok(slot)
    }

    /// Checks types and cardinalities of the ends of a new live relationship.
    pub(crate) fn check_ends(&self, type_name: Symbol, ends: [u32; 2]) -> Result<()> {
        self.check_ends_beside(type_name, ends, 0)
    }

    /// The same for an existing relationship.
    pub(crate) fn check_linked_ends(&self, type_name: Symbol, ends: [u32; 2]) -> Result<()> {
        self.check_ends_beside(type_name, ends, 1)
    }

    fn check_ends_beside(&self, type_name: Symbol, ends: [u32; 2], linked: usize) -> Result<()> {
        let Some(declared) = self.types.get(TypeKind::Relationship, type_name) else { return Ok(()) };
        for (declaring, definitions) in self.enforced_ends(declared) {
            for (side, definition) in definitions.iter().enumerate() {
                self.check_end_type(declared, definition, ends[side])?;
                if !definition.is_many {
                    // At most one entity at this end, seen from the entity at the other end.
                    let direction = if side == 1 { Direction::Out } else { Direction::In };
                    self.check_cardinality(declared, declaring, ends[1 - side], direction, linked)?;
                }
            }
        }
        Ok(())
    }

    /// Checks types of the ends only.
    pub(crate) fn check_end_types(&self, type_name: Symbol, ends: [u32; 2]) -> Result<()> {
        let Some(declared) = self.types.get(TypeKind::Relationship, type_name) else { return Ok(()) };
        let mut ends = self.enforced_ends(declared).flat_map(|(_, definitions)| definitions.iter().zip(ends));
        ends.try_for_each(|(definition, slot)| self.check_end_type(declared, definition, slot))
    }

    /// The ends that a type of relationships and its supertypes declare, without those of advisory types.
    pub(crate) fn enforced_ends<'d>(
        &'d self,
        declared: &'d DeclaredType,
    ) -> impl Iterator<Item = (Symbol, &'d [EndDefinition; 2])> {
        declared.ends.iter().map(|(declaring, ends)| (*declaring, ends)).filter(|(declaring, _)| {
            let declaring = self.types.get(TypeKind::Relationship, *declaring);
            declaring.is_none_or(|declaring| !declaring.definition.is_advisory)
        })
    }

    fn check_end_type(&self, declared: &DeclaredType, end: &EndDefinition, slot: u32) -> Result<()> {
        let Some(expected) = &end.type_name else { return Ok(()) };
        let type_name = self.entities.known_row(slot).type_name();
        let fits = self
            .names
            .find(expected)
            .is_some_and(|expected| self.types.is_a(TypeKind::Entity, type_name, expected));
        if fits {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::InvalidEnds,
            format!(
                "relationship type {}: expected an end of type {expected}, found {} of type {}",
                declared.definition.name,
                self.entities.id(slot),
                self.names.name(type_name)
            ),
        ))
    }

    fn check_cardinality(
        &self,
        declared: &DeclaredType,
        declaring: Symbol,
        slot: u32,
        direction: Direction,
        linked: usize,
    ) -> Result<()> {
        let neighbors = self.neighbors(slot, direction);
        let subtypes = self.types.with_subtypes(TypeKind::Relationship, declaring);
        if subtypes.iter().map(|&subtype| neighbors.degree(Some(subtype))).sum::<usize>() <= linked {
            return Ok(());
        }
        let way = if direction == Direction::Out { "from" } else { "to" };
        Err(Error::new(
            ErrorKind::Cardinality,
            format!(
                "relationship type {}: expected at most one {way} {}, which has one; delete that first",
                declared.definition.name,
                self.entities.id(slot)
            ),
        ))
    }

    /// Refuses a classification that does not fit the entity's type.
    pub(crate) fn check_applies(&self, classification: Symbol, entity: &Instance) -> Result<()> {
        let Some(declared) = self.types.get(TypeKind::Classification, classification) else { return Ok(()) };
        // A classification may be narrower than its supertypes, but not wider.
        for &ancestor in &declared.ancestors {
            let Some(ancestor) = self.types.get(TypeKind::Classification, ancestor) else { continue };
            let allowed = &ancestor.definition.applies_to;
            let fits = allowed.is_empty()
                || ancestor.definition.is_advisory
                || allowed.iter().any(|allowed| {
                    self.names
                        .find(allowed)
                        .is_some_and(|allowed| self.types.is_a(TypeKind::Entity, entity.type_name, allowed))
                });
            if !fits {
                return Err(Error::new(
                    ErrorKind::InvalidClassification,
                    format!(
                        "classification {}: expected an entity of type {}, found {} of type {}",
                        declared.definition.name,
                        allowed.join(" or "),
                        entity.id,
                        self.names.name(entity.type_name)
                    ),
                ));
            }
        }
        Ok(())
    }
}
