//! New instances that passed all checks, and are not in the graph yet. A check that is in doubt stops the run: then the
//! creation is applied alone, which allows it or says why not.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::graph::Graph;
use crate::graph::actions::apply::SLOTS_MAX;
use crate::graph::actions::context::Context;
use crate::graph::actions::version::first_version;
use crate::graph::containment::{CHILD_NAME_BYTES_MAX, DEPTH_MAX, is_order};
use crate::graph::index::key_changes::KeyChanges;
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Instance, NO_ENDS};
use crate::graph::integrity::types::{ContainmentRule, DeclaredType};
use crate::graph::structures::child::{NAMED_GROUP, append_name, group_of_type, key_of_order, prefix_of};
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::{Action, Direction, Id, NewEntity, NewRelationship, TypeKind, Value};
use crate::structures::number::narrow;

/// New instances that passed all checks.
pub(super) struct Checked<'c> {
    pub(super) entities: Vec<New<'c>>,
    pub(super) relationships: Vec<New<'c>>,
    pub(super) types: Vec<NewType>,
    /// Names of new children.
    pub(super) named: KeyChanges,
    /// Places of new children that users order.
    pub(super) ordered: KeyChanges,
    // The slots that the next entities and relationships get.
    first: [u32; 2],
    // The instant up to which an entity may have begun to exist.
    last_instant: i64,
    // The properties of all, each instance's ordered by symbol.
    properties: Vec<(Symbol, &'c Value)>,
    // By id, once one of them is asked for: the first ones, as many as it has.
    by_id: [HashMap<&'c Id, u32>; 2],
    // The greatest fresh ids.
    latest: [Option<&'c [u8; 16]>; 2],
    type_indexes: HashMap<(TypeKind, Symbol), usize>,
    latest_type: [usize; 2],
    // An entity outside, with its slot.
    latest_end: Option<(&'c Id, u32)>,
    // For new entities: their containers.
    containers: HashMap<u32, u32>,
    // Entities with new children, with the number of containers from them up.
    levels: HashMap<u32, usize>,
    // Hashes of the names of new children: two that are equal by chance only stop the run.
    names: HashSet<u64>,
    // Ends that allow only one relationship, with a new one.
    taken: HashSet<(Symbol, u32, Direction)>,
}

/// A new instance.
pub(super) struct New<'c> {
    id: &'c Id,
    /// Number of its change.
    number: u32,
    pub(super) type_index: usize,
    ends: [u32; 2],
    // Where its properties end.
    properties: [usize; 2],
}

/// The type of new instances.
pub(super) struct NewType {
    pub(super) name: Symbol,
    declared: Option<Arc<DeclaredType>>,
    required: Vec<Symbol>,
    keys: Vec<Symbol>,
    containment: Option<ContainmentRule>,
    ends: Vec<NewEnd>,
    /// An instance of it without id, properties and ends.
    first: Instance,
    /// The new instances.
    pub(super) slots: Vec<u32>,
}

/// The rules of a type of relationships for one of its ends.
struct NewEnd {
    declaring: Symbol,
    side: usize,
    expected: Option<Option<Symbol>>,
    is_many: bool,
}

impl<'c> Checked<'c> {
    pub(super) fn new(graph: &Graph) -> Checked<'c> {
        Checked {
            entities: Vec::new(),
            relationships: Vec::new(),
            types: Vec::new(),
            named: KeyChanges::default(),
            ordered: KeyChanges::default(),
            first: [narrow(graph.entities.slots_count()), narrow(graph.relationships.slots_count())],
            last_instant: graph.last_instant(),
            properties: Vec::new(),
            by_id: [HashMap::new(), HashMap::new()],
            latest: [None; 2],
            type_indexes: HashMap::new(),
            latest_type: [usize::MAX; 2],
            latest_end: None,
            containers: HashMap::new(),
            levels: HashMap::new(),
            names: HashSet::new(),
            taken: HashSet::new(),
        }
    }

    /// The new relationships, with their types and ends.
    pub(super) fn links(&self) -> impl Iterator<Item = (u32, Symbol, [u32; 2])> {
        (self.first[1]..)
            .zip(&self.relationships)
            .map(|(slot, new)| (slot, self.types[new.type_index].name, new.ends))
    }

    pub(super) fn properties_of(&self, new: &New) -> &[(Symbol, &'c Value)] {
        &self.properties[new.properties[0]..new.properties[1]]
    }

    /// Adds a new instance to its table.
    pub(super) fn push_to(&mut self, table: &mut Table, new: &New) -> u32 {
        let first = &mut self.types[new.type_index].first;
        first.place.change = new.number;
        first.ends = new.ends;
        table.push_with(new.id, first, &self.properties[new.properties[0]..new.properties[1]])
    }

    /// Adds a creation that passes all checks; otherwise `None`, and the run ends before it. Changes only the names, and
    /// those as applying it alone does.
    pub(super) fn add(&mut self, graph: &mut Graph, context: Context, action: &'c Action) -> Option<()> {
        let is_plain = context.valid_from == context.stamp.micros
            && context.valid_from >= self.last_instant
            && !context.is_anchored
            && !context.is_amending;
        if !is_plain {
            return None;
        }
        match action {
            Action::CreateEntity(new) => self.add_entity(graph, context, new),
            Action::CreateRelationship(new) => self.add_relationship(graph, context, new),
            _ => None,
        }
    }

    fn add_entity(&mut self, graph: &mut Graph, context: Context, new: &'c NewEntity) -> Option<()> {
        if !new.classifications.is_empty() || new.status.is_some() || new.provenance.is_some() {
            return None;
        }
        self.check_id(graph, TypeKind::Entity, &new.id)?;
        let type_index = self.type_index(graph, TypeKind::Entity, &new.type_name, context)?;
        let properties = self.add_properties(graph, TypeKind::Entity, type_index, &new.properties)?;
        let number = context.place.change;
        self.entities.push(New { id: &new.id, number, type_index, ends: NO_ENDS, properties });
        Some(())
    }

    fn add_relationship(
        &mut self,
        graph: &mut Graph,
        context: Context,
        new: &'c NewRelationship,
    ) -> Option<()> {
        if new.status.is_some() || new.provenance.is_some() {
            return None;
        }
        let slot = self.check_id(graph, TypeKind::Relationship, &new.id)?;
        let ends = [self.end(graph, &new.from)?, self.end(graph, &new.to)?];
        let type_index = self.type_index(graph, TypeKind::Relationship, &new.type_name, context)?;
        self.check_ends(graph, type_index, ends)?;
        let properties = self.add_properties(graph, TypeKind::Relationship, type_index, &new.properties)?;
        self.contain(graph, type_index, slot, ends, properties)?;
        let number = context.place.change;
        self.relationships.push(New { id: &new.id, number, type_index, ends, properties });
        Some(())
    }

    /// The slot of a new instance.
    fn check_id(&mut self, graph: &Graph, kind: TypeKind, id: &'c Id) -> Option<u32> {
        graph.check_new(kind, id).ok()?;
        let side = side_of(kind);
        // Fresh ids ascend, so most of them need no look-up.
        let fresh = id.fresh_bytes();
        if fresh.is_some() && fresh > self.latest[side] {
            self.latest[side] = fresh;
        } else if self.slot_of_new(side, id).is_some() {
            return None;
        }
        let count = if side == 0 { self.entities.len() } else { self.relationships.len() };
        let slot = self.first[side].checked_add(narrow(count))?;
        ((slot as usize) < SLOTS_MAX).then_some(slot)
    }

    fn slot_of_new(&mut self, side: usize, id: &Id) -> Option<u32> {
        let new = if side == 0 { &self.entities } else { &self.relationships };
        let by_id = &mut self.by_id[side];
        let first = self.first[side];
        by_id.extend(new.iter().zip(first..).skip(by_id.len()).map(|(new, slot)| (new.id, slot)));
        by_id.get(id).copied()
    }

    fn type_index(
        &mut self,
        graph: &mut Graph,
        kind: TypeKind,
        name: &Arc<str>,
        context: Context,
    ) -> Option<usize> {
        let name = graph.symbol("type", name).ok()?;
        let latest = self.latest_type[side_of(kind)];
        if self.types.get(latest).is_some_and(|known| known.name == name) {
            return Some(latest);
        }
        let found = match self.type_indexes.get(&(kind, name)) {
            Some(found) => *found,
            None => {
                let header = graph.new_header(kind, name, None, None).ok()?;
                let declared = graph.types.get(kind, name).cloned();
                self.types.push(NewType::new(graph, name, declared, context, header));
                self.type_indexes.insert((kind, name), self.types.len() - 1);
                self.types.len() - 1
            }
        };
        self.latest_type[side_of(kind)] = found;
        Some(found)
    }

    /// The range of the added properties.
    fn add_properties(
        &mut self,
        graph: &mut Graph,
        kind: TypeKind,
        type_index: usize,
        given: &'c [(Arc<str>, Value)],
    ) -> Option<[usize; 2]> {
        let start = self.properties.len();
        let spilled_min = graph.table(kind).spill.value_bytes_min();
        for (name, value) in given {
            value.check(name).ok()?;
            if spilled_min < usize::MAX && !is_shorter(value, spilled_min) {
                return None;
            }
            self.properties.push((graph.symbol("property", name).ok()?, value));
        }
        let added = &mut self.properties[start..];
        if !added.is_sorted_by_key(|(name, _)| *name) {
            added.sort_unstable_by_key(|(name, _)| *name);
        }
        // Of two with one name the later counts.
        if added.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let NewType { declared, required, .. } = &self.types[type_index];
        if let Some(declared) = declared {
            added.iter().try_for_each(|(name, value)| graph.check_property(declared, *name, value)).ok()?;
            let has = |name: &Symbol| added.iter().any(|(known, _)| known == name);
            if !required.iter().all(has) {
                return None;
            }
        }
        Some([start, self.properties.len()])
    }

    /// The slot of a live entity.
    fn end(&mut self, graph: &Graph, id: &'c Id) -> Option<u32> {
        // An entity is usually linked right after it was created, and a container has many children.
        if self.entities.last().is_some_and(|last| last.id == id) {
            return Some(self.first[0] + narrow::<u32, usize>(self.entities.len()) - 1);
        }
        if let Some((_, slot)) = self.latest_end.filter(|(latest, _)| *latest == id) {
            return Some(slot);
        }
        let slot = match self.slot_of_new(0, id) {
            Some(slot) => slot,
            None => graph.entities.slot(id).filter(|slot| graph.entities.is_live(*slot))?,
        };
        self.latest_end = Some((id, slot));
        Some(slot)
    }

    fn new_entity(&self, slot: u32) -> Option<&New<'c>> {
        self.entities.get(slot.checked_sub(self.first[0])? as usize)
    }

    fn type_of(&self, graph: &Graph, entity: u32) -> Symbol {
        match self.new_entity(entity) {
            Some(new) => self.types[new.type_index].name,
            None => graph.entities.known_row(entity).type_name(),
        }
    }

    fn check_ends(&mut self, graph: &Graph, type_index: usize, ends: [u32; 2]) -> Option<()> {
        for NewEnd { declaring, side, expected, is_many } in &self.types[type_index].ends {
            if let Some(expected) = expected {
                let found = self.type_of(graph, ends[*side]);
                if !graph.types.is_a(TypeKind::Entity, found, (*expected)?) {
                    return None;
                }
            }
            if *is_many {
                continue;
            }
            // At most one entity at this end, seen from the entity at the other end.
            let (slot, direction) = (ends[1 - side], if *side == 1 { Direction::Out } else { Direction::In });
            let is_taken = slot < self.first[0] && {
                let neighbors = graph.neighbors(slot, direction);
                let subtypes = graph.types.with_subtypes(TypeKind::Relationship, *declaring);
                subtypes.iter().any(|subtype| neighbors.degree(Some(*subtype)) > 0)
            };
            if is_taken || !self.taken.insert((*declaring, slot, direction)) {
                return None;
            }
        }
        Some(())
    }

    /// Checks a relationship that may contain a child, and adds the keys of the child.
    fn contain(
        &mut self,
        graph: &Graph,
        type_index: usize,
        slot: u32,
        [parent, child]: [u32; 2],
        properties: [usize; 2],
    ) -> Option<()> {
        let Some(rule) = self.types[type_index].containment else { return Some(()) };
        let of_child = self.new_entity(child)?;
        let is_first = parent != child && !self.levels.contains_key(&child);
        if !is_first || self.containers.contains_key(&child) {
            return None;
        }
        let properties = &self.properties[properties[0]..properties[1]];
        let value = |properties: &[(Symbol, &'c Value)], name: Symbol| -> Option<&'c Value> {
            properties.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        };
        let child_type = &self.types[of_child.type_index];
        let group = if child_type.keys.is_empty() { NAMED_GROUP } else { group_of_type(child_type.name) };
        let mut key = Vec::with_capacity(64);
        key.extend_from_slice(&prefix_of(parent, group));
        let prefix_bytes = key.len();
        if child_type.keys.is_empty() {
            let Some(Value::String(text)) = value(properties, rule.name) else { return None };
            append_name(text, &mut key);
        }
        for name in &child_type.keys {
            value(self.properties_of(of_child), *name)?.append_exact_key(&mut key);
        }
        let name = &key[prefix_bytes..];
        let is_known = || {
            let is_there = graph.relationships.lists.children.named(parent, group, name).next().is_some();
            parent < self.first[0] && is_there
        };
        if name.len() > CHILD_NAME_BYTES_MAX || is_known() {
            return None;
        }
        let order = match value(properties, rule.order) {
            _ if !rule.is_ordered => None,
            Some(Value::Bytes(order)) if is_order(order) => Some(order),
            _ => return None,
        };
        if self.levels_of(graph, parent) > DEPTH_MAX {
            return None;
        }
        if !self.names.insert(FixedState::default().hash_one(&key)) {
            return None;
        }
        self.containers.insert(child, parent);
        key.extend_from_slice(&slot.to_be_bytes());
        self.named.push(Symbol(0), |keys| keys.extend_from_slice(&key), true);
        if let Some(order) = order {
            let key = key_of_order(slot, parent, group, order);
            self.ordered.push(Symbol(0), |keys| keys.extend_from_slice(&key), true);
        }
        Some(())
    }

    /// Counts an entity and the containers above it; notes that it has a child.
    fn levels_of(&mut self, graph: &Graph, entity: u32) -> usize {
        if let Some(known) = self.levels.get(&entity) {
            return *known;
        }
        let above = match self.new_entity(entity) {
            Some(_) => self.containers.get(&entity).copied(),
            None => graph.container_link(entity).map(|link| link.other),
        };
        // A container has this child, so it is noted, unless it is not new.
        let levels = match above {
            Some(above) => 1 + self.levels.get(&above).copied().unwrap_or_else(|| levels_in(graph, above)),
            None => 1,
        };
        self.levels.insert(entity, levels);
        levels
    }
}

impl<'c> New<'c> {
    pub(super) fn id(&self) -> &'c Id {
        self.id
    }
}

impl NewType {
    fn new(
        graph: &Graph,
        name: Symbol,
        declared: Option<Arc<DeclaredType>>,
        context: Context,
        header: HeaderNumber,
    ) -> NewType {
        let first = first_version(context, Id::from_uuid_bytes([0; 16]), name, Properties::new());
        let first = Instance { header, ..first };
        let (mut required, mut ends) = (Vec::new(), Vec::new());
        if let Some(declared) = &declared {
            let is_required = declared.attributes.iter().filter(|(_, known)| known.definition.is_required);
            required.extend(is_required.map(|(name, _)| *name));
            for (declaring, definitions) in graph.enforced_ends(declared) {
                for (side, end) in definitions.iter().enumerate() {
                    let expected = end.type_name.as_ref().map(|expected| graph.names.find(expected));
                    if expected.is_some() || !end.is_many {
                        ends.push(NewEnd { declaring, side, expected, is_many: end.is_many });
                    }
                }
            }
        }
        let keys = declared.as_ref().map_or_else(Vec::new, |declared| declared.keys.clone());
        let containment = declared.as_ref().and_then(|declared| declared.containment);
        NewType { name, declared, required, keys, containment, ends, first, slots: Vec::new() }
    }
}

/// Counts an entity of the graph and the containers above it, up to one too many.
fn levels_in(graph: &Graph, entity: u32) -> usize {
    let above = |entity: &u32| graph.container_link(*entity).map(|link| link.other);
    std::iter::successors(Some(entity), above).take(DEPTH_MAX + 1).count()
}

/// True if the value is surely encoded in fewer bytes.
fn is_shorter(value: &Value, bytes: usize) -> bool {
    match value {
        Value::Boolean(_) | Value::Integer(_) | Value::Float(_) | Value::Timestamp(_) => true,
        Value::String(text) => text.len() < bytes,
        Value::Bytes(content) => content.len() + 16 < bytes,
        _ => false,
    }
}

fn side_of(kind: TypeKind) -> usize {
    usize::from(kind == TypeKind::Relationship)
}
