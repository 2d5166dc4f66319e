//! Containers: the name and the place of a child in its parent, and the rules for both.

use super::instance::unpacked::Instance;
use super::integrity::types::ContainmentRule;
use super::structures::child::{
    Child, ChildGroup, NAME_PROPERTY, NAMED_GROUP, ORDER_PROPERTY, append_name, group_of_type,
};
use super::structures::link::Link;
use super::structures::symbols::Symbol;
use super::{Graph, past_link_prefix};
use crate::model::{Direction, TypeKind, Value};
use crate::{Error, ErrorKind, Result};

/// Longest name of a child, with its keys together. Units: bytes of their index keys.
pub(crate) const CHILD_NAME_BYTES_MAX: usize = 400;
/// Longest order of a child. Units: bytes.
pub(crate) const ORDER_BYTES_MAX: usize = 64;
/// Most levels of containers.
pub(crate) const DEPTH_MAX: usize = 256;

impl Graph {
    /// The rule of a relationship type that leads from containers to children.
    #[inline]
    pub(crate) fn containment(&self, type_name: Symbol) -> Option<ContainmentRule> {
        if !self.types.has_containment {
            return None;
        }
        self.types.get(TypeKind::Relationship, type_name)?.containment
    }

    /// The attributes whose values name a child of this type, in order.
    pub(crate) fn keys_of(&self, type_name: Symbol) -> &[Symbol] {
        self.types.get(TypeKind::Entity, type_name).map_or(&[], |declared| &declared.keys)
    }

    /// The type with keys and this name: its children form a list.
    pub(crate) fn list_type(&self, name: &str) -> Option<Symbol> {
        let symbol = self.names.find(name)?;
        (!self.keys_of(symbol).is_empty()).then_some(symbol)
    }

    /// The live relationship that contains an entity, from the side of the entity.
    pub(crate) fn container_link(&self, entity: u32) -> Option<Link> {
        if !self.types.has_containment {
            return None;
        }
        let neighbors = self.neighbors(entity, Direction::In);
        self.types.containments.iter().find_map(|name| neighbors.iter(Some(*name)).next())
    }

    /// The live containment relationships of an entity to its children.
    pub(crate) fn child_links(&self, entity: u32) -> impl Iterator<Item = Link> {
        let types = if self.types.has_containment { &self.types.containments[..] } else { &[] };
        types.iter().flat_map(move |name| self.neighbors(entity, Direction::Out).iter(Some(*name)))
    }

    /// True if an entity contains a child, or did.
    pub(crate) fn ever_contained(&self, entity: u32) -> bool {
        let prefix = past_link_prefix(entity, Direction::Out);
        let is_past = |name: &Symbol| {
            let prefix = [&prefix[..], &name.0.to_be_bytes()].concat();
            self.past_links.prefix(&prefix).next().is_some()
        };
        self.types.has_containment
            && (self.children_count(entity) > 0 || self.types.containments.iter().any(is_past))
    }

    /// True if a relationship that contained a child may have been purged by the record at `position` or a later one.
    pub(crate) fn has_purged_containment_since(&self, position: u64) -> bool {
        let table = &self.relationships;
        let known = table.live_slots().len() + table.dead_slots().len();
        let is_later = position <= self.purged_relationship_at.0;
        self.types.has_containment && is_later && known < table.slots_count()
    }

    /// Counts the children of an entity.
    pub(crate) fn children_count(&self, entity: u32) -> usize {
        let neighbors = self.neighbors(entity, Direction::Out);
        self.types.containments.iter().map(|name| neighbors.degree(Some(*name))).sum()
    }

    /// The place of the child of a containment relationship; `None` for other relationships, for those that are not
    /// live, and for children without a name. `child` is the new state of the entity, if it changes.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn child_of(
        &self,
        relationship: &Instance,
        child: Option<&Instance>,
    ) -> Result<Option<Child>> {
        let Some(rule) = self.containment(relationship.type_name).filter(|_| relationship.is_live()) else {
            return Ok(None);
        };
        let [parent, slot] = relationship.ends;
        let Some((group, name)) = self.child_name(rule, relationship, slot, child)? else { return Ok(None) };
        let order = match relationship.properties.get(rule.order) {
            Some(Value::Bytes(bytes)) if rule.is_ordered => Some(bytes.to_vec()),
            _ => None,
        };
        let values = self.listed_values(&self.types, slot, child)?;
        Ok(Some(Child { parent, group, name, order, values }))
    }

    fn child_name(
        &self,
        rule: ContainmentRule,
        relationship: &Instance,
        slot: u32,
        child: Option<&Instance>,
    ) -> Result<Option<(ChildGroup, Vec<u8>)>> {
        let type_name = match (child, self.entities.row(slot)) {
            (Some(child), _) => child.type_name,
            (None, Some(row)) => row.type_name(),
            (None, None) => return Ok(None),
        };
        let mut name = Vec::with_capacity(32);
        let keys = self.keys_of(type_name);
        if keys.is_empty() {
            let named = relationship.properties.get(rule.name);
            let Some(Value::String(text)) = named else { return Ok(None) };
            append_name(text, &mut name);
            return Ok(Some((NAMED_GROUP, name)));
        }
        for key in keys {
            let value = match child {
                Some(child) => child.properties.get(*key).cloned(),
                None => self.entities.read_value(slot, *key)?,
            };
            let Some(value) = value else { return Ok(None) };
            value.append_exact_key(&mut name);
        }
        Ok(Some((group_of_type(type_name), name)))
    }

    /// Checks a containment relationship that becomes live or changes: its child has no other parent, does not contain
    /// its parent, and has a name of its own. Returns the place of the child. Other relationships pass.
    ///
    /// Errors: `Cardinality`, `InvalidEnds`, `InvalidProperty`, `NotUnique`.
    pub(crate) fn check_contained(
        &self,
        relationship: &Instance,
        own_slot: Option<u32>,
    ) -> Result<Option<Child>> {
        let Some(rule) = self.containment(relationship.type_name) else { return Ok(None) };
        let [parent, child] = relationship.ends;
        let entity = |slot: u32| self.entities.id(slot);
        if let Some(other) = self.container_link(child).filter(|other| Some(other.relationship) != own_slot) {
            let text = format!(
                "entity {}: expected at most one parent, found {} beside {}; move it instead",
                entity(child),
                entity(other.other),
                entity(parent)
            );
            return Err(Error::new(ErrorKind::Cardinality, text));
        }
        self.check_acyclic(parent, child)?;
        let Some(place) = self.child_of(relationship, None)? else {
            let text = format!(
                "relationship {}: expected the property {NAME_PROPERTY}, a string that names the child {}, found none; name it, or \
                 declare keys of its type",
                relationship.id,
                entity(child)
            );
            // A copy may lead to a proxy, which has few fields.
            return if self.is_own(relationship.header) { Err(invalid(text)) } else { Ok(None) };
        };
        if rule.is_ordered {
            check_order(relationship, relationship.properties.get(rule.order))?;
        }
        self.check_child_name(&place, own_slot)?;
        Ok(Some(place))
    }

    /// The same check for an entity whose keys or type change.
    pub(crate) fn check_renamed(&self, slot: u32, after: &Instance) -> Result<()> {
        let Some(link) = self.container_link(slot) else { return Ok(()) };
        let relationship = self.relationships.known(link.relationship)?;
        match self.child_of(&relationship, Some(after))? {
            Some(place) => self.check_child_name(&place, Some(link.relationship)),
            None if !self.is_own(after.header) => Ok(()),
            None => {
                let text = format!(
                    "entity {}: it is contained, and has no name as it is to be; expected a type with keys, or a property \
                     {NAME_PROPERTY} of the relationship {} that contains it",
                    after.id, relationship.id
                );
                Err(invalid(text))
            }
        }
    }

    fn check_child_name(&self, place: &Child, own_slot: Option<u32>) -> Result<()> {
        if place.name.len() > CHILD_NAME_BYTES_MAX {
            let text = format!(
                "child of entity {}: expected a name, or keys, of at most {CHILD_NAME_BYTES_MAX} bytes together, found {}",
                self.entities.id(place.parent),
                place.name.len()
            );
            return Err(invalid(text));
        }
        let children = &self.relationships.lists.children;
        let mut others = children.named(place.parent, place.group, &place.name);
        let Some(other) = others.find(|found| Some(*found) != own_slot) else { return Ok(()) };
        let [_, child] = self.relationships.known_row(other).ends();
        let text = format!(
            "entity {}: it has a child of this name already, {}; names of children are unique in their parent",
            self.entities.id(place.parent),
            self.entities.id(child)
        );
        Err(Error::new(ErrorKind::NotUnique, text))
    }

    fn check_acyclic(&self, parent: u32, child: u32) -> Result<()> {
        // An entity without children cannot contain its parent, unless it is its own parent.
        if parent != child && self.children_count(child) == 0 && self.container_link(parent).is_none() {
            return Ok(());
        }
        let mut at = parent;
        for _ in 0..DEPTH_MAX {
            if at == child {
                let [child, parent] = [child, parent].map(|slot| self.entities.id(slot));
                let text = format!("entity {child}: it contains {parent}, so {parent} cannot contain it");
                return Err(Error::new(ErrorKind::InvalidEnds, text));
            }
            match self.container_link(at) {
                Some(link) => at = link.other,
                None => return Ok(()),
            }
        }
        let text =
            format!("entity {}: expected at most {DEPTH_MAX} containers above it", self.entities.id(child));
        Err(Error::new(ErrorKind::TooLarge, text))
    }

    /// Lists a child under its new name before its keys or its type change.
    pub(crate) fn rename_child(&mut self, slot: u32, after: &Instance) -> Result<()> {
        let Some(link) = self.container_link(slot) else { return Ok(()) };
        let relationship = self.relationships.known(link.relationship)?;
        let (was, is) = (self.child_of(&relationship, None)?, self.child_of(&relationship, Some(after))?);
        if was != is {
            let children = &mut self.relationships.lists.children;
            was.iter().for_each(|child| children.leave(link.relationship, child));
            is.iter().for_each(|child| children.enter(link.relationship, child));
        }
        Ok(())
    }

    /// True if the entry of an entity in its parent may change with its keys, its type, or its values.
    pub(crate) fn may_rename(&self, before: &Instance, after: &Instance) -> bool {
        let is_other = |name: &Symbol| before.properties.get(*name) != after.properties.get(*name);
        let Some(declared) = self.types.get(TypeKind::Entity, after.type_name) else {
            return self.types.has_containment && after.is_live() && before.type_name != after.type_name;
        };
        let listed = declared.constraints.listed_attributes();
        self.types.has_containment
            && after.is_live()
            && (before.type_name != after.type_name || declared.keys.iter().chain(listed).any(is_other))
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidProperty, text)
}

/// True if this can be the order of a child.
pub(crate) fn is_order(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.len() <= ORDER_BYTES_MAX
        && bytes.len().is_multiple_of(4)
        && bytes.chunks(4).all(|digit| digit != [0; 4])
}

/// Refuses a malformed order.
fn check_order(relationship: &Instance, order: Option<&Value>) -> Result<()> {
    if matches!(order, Some(Value::Bytes(bytes)) if is_order(bytes)) {
        return Ok(());
    }
    let text = format!(
        "relationship {}: expected the property {ORDER_PROPERTY}, up to {ORDER_BYTES_MAX} bytes in groups of four that are not all \
         zero; insert the child first, last, before or after another instead",
        relationship.id
    );
    Err(invalid(text))
}
