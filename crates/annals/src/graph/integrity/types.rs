//! The declared types with everything they inherit.
#![expect(clippy::expect_used, reason = "a chain of supertypes is looked up whole first")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use regex::{Regex, RegexBuilder};
use smallvec::{SmallVec, smallvec};

use super::by_kind::ByKind;
use super::constraints::{Constraints, Reference, declared_references};
use super::definitions::{check_definition, check_extension, violation};
use super::status::ACTIVE;
use crate::graph::structures::child::{NAME_PROPERTY, ORDER_PROPERTY};
use crate::graph::structures::symbols::{Symbol, Symbols};
use crate::model::{
    AttributeDefinition, Containment, EndDefinition, TypeDefinition, TypeKind, Value, ValueType,
};
use crate::{Error, ErrorKind, Result};

/// Deepest chain of supertypes.
const SUPERTYPE_DEPTH_MAX: usize = 64;

/// Most memory of the pattern of an attribute. Units: bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A group of types: usually one.
pub(crate) type TypeNames = SmallVec<[Symbol; 4]>;

/// All declared types of one graph.
#[derive(Clone, Default)]
pub(crate) struct Types {
    by_name: ByKind<Arc<DeclaredType>>,
    /// Names of properties that a type keeps, or kept, out of the index, so that searches cannot rely on it.
    pub(crate) unindexed: BTreeSet<Symbol>,
    /// Names of attributes whose values commits search for: a type declares, or declared, them as unique, or as
    /// references; or such a reference leads to them in items that no look-up finds.
    pub(crate) unique: BTreeSet<Symbol>,
    /// True if a type has rules for the end of each record.
    pub(crate) has_constraints: bool,
    /// True if a type has a unique attribute.
    pub(crate) has_unique: bool,
    /// By the target property of references: the referring attributes, and the references.
    pub(crate) referring: BTreeMap<Symbol, Vec<(Symbol, Arc<Reference>)>>,
    /// All references that were ever declared.
    references: Vec<Arc<Reference>>,
    /// Relationship types that lead from containers to children, ascending.
    pub(crate) containments: Vec<Symbol>,
    /// True if there are any.
    pub(crate) has_containment: bool,
}

/// How relationships of a type lead from containers to children.
#[derive(Clone, Copy)]
pub(crate) struct ContainmentRule {
    /// True if users order the children.
    pub(crate) is_ordered: bool,
    /// The properties with the name and the place of the child.
    pub(crate) name: Symbol,
    pub(crate) order: Symbol,
}

/// A declared type and what follows from its supertypes.
#[derive(Clone)]
pub(crate) struct DeclaredType {
    pub(crate) definition: TypeDefinition,
    /// Position of the record that changed it last.
    pub(crate) changed: u64,
    /// Itself and all its supertypes.
    pub(crate) ancestors: Vec<Symbol>,
    /// Itself and all its subtypes.
    pub(crate) descendants: Vec<Symbol>,
    /// Own and inherited attributes.
    pub(crate) attributes: HashMap<Symbol, Attribute>,
    /// True if it or a supertype refuses undeclared properties.
    pub(crate) is_closed: bool,
    /// Declared ends of it and its supertypes, each with the type that declares them.
    pub(crate) ends: Vec<(Symbol, [EndDefinition; 2])>,
    /// The allowed statuses of its instances, from itself or the nearest supertype that has some; empty for any.
    pub(crate) statuses: Vec<Arc<str>>,
    /// The initial status of new instances; active if `None`.
    pub(crate) initial_status: Option<Arc<str>>,
    /// Entity types: the attributes whose values form the name of an instance in its parent, in order.
    pub(crate) keys: Vec<Symbol>,
    /// Relationship types: whether they lead from containers to children.
    pub(crate) containment: Option<ContainmentRule>,
    /// Entity types: the rules for their instances at the end of each record.
    pub(crate) constraints: Constraints,
}

/// An attribute of a type: its nearest declaration, together with the restrictions of all inherited ones.
#[derive(Clone)]
pub(crate) struct Attribute {
    pub(crate) definition: AttributeDefinition,
    /// The types that declare it unique: within each of them, including subtypes, a value may occur once.
    pub(crate) unique_in: Vec<Symbol>,
    /// The pattern that its strings must match as a whole.
    pub(crate) pattern: Option<Regex>,
}

impl Types {
    /// The default values of all attributes.
    pub(crate) fn defaults(&self) -> impl Iterator<Item = &Value> {
        let attributes = self.by_name.values().flat_map(|declared| declared.attributes.values());
        attributes.filter_map(|attribute| attribute.definition.default.as_ref())
    }

    pub(crate) fn get(&self, kind: TypeKind, name: Symbol) -> Option<&Arc<DeclaredType>> {
        self.by_name.get(kind, name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The type and its subtypes; only itself if it is not declared.
    pub(crate) fn with_subtypes(&self, kind: TypeKind, name: Symbol) -> TypeNames {
        match self.get(kind, name) {
            Some(declared) => declared.descendants.as_slice().into(),
            None => smallvec![name],
        }
    }

    /// True if `name` is `ancestor` or one of its subtypes.
    pub(crate) fn is_a(&self, kind: TypeKind, name: Symbol, ancestor: Symbol) -> bool {
        name == ancestor
            || self.get(kind, name).is_some_and(|declared| declared.ancestors.contains(&ancestor))
    }

    /// True if the index has this property of instances of this type.
    pub(crate) fn is_indexed(&self, kind: TypeKind, type_name: Symbol, property: Symbol) -> bool {
        self.unindexed.is_empty()
            || self
                .get(kind, type_name)
                .and_then(|declared| declared.attributes.get(&property))
                .is_none_or(|attribute| attribute.definition.is_indexed)
    }

    /// Those of these properties that the index of a type lacks.
    pub(crate) fn unindexed_among(
        &self,
        kind: TypeKind,
        type_name: Symbol,
        names: impl Iterator<Item = Symbol>,
    ) -> Vec<Symbol> {
        if self.unindexed.is_empty() {
            return Vec::new();
        }
        names.filter(|name| !self.is_indexed(kind, type_name, *name)).collect()
    }

    /// All declared types of one kind.
    pub(crate) fn of_kind(&self, kind: TypeKind) -> impl Iterator<Item = (Symbol, &Arc<DeclaredType>)> {
        self.by_name.of_kind(kind)
    }

    /// The types after a series of definitions, which were checked before.
    pub(crate) fn from_changes<'c>(
        changes: impl IntoIterator<Item = &'c (u64, Arc<TypeDefinition>)>,
        names: &mut Symbols,
    ) -> Result<Types> {
        let mut definitions = Definitions::new();
        let mut types = Types::default();
        for (position, definition) in changes {
            let name = names.intern(&definition.name);
            types.note_checks(definition, names);
            definitions.insert((definition.kind, name), ((**definition).clone(), *position));
        }
        types.by_name = resolve(&definitions, names)?;
        types.note_containments();
        types.note_constraints(names);
        Ok(types)
    }

    fn note_checks(&mut self, definition: &TypeDefinition, names: &mut Symbols) {
        for attribute in definition.attributes.iter().filter(|attribute| !attribute.is_indexed) {
            self.unindexed.insert(names.intern(&attribute.name));
        }
        let is_searched =
            |attribute: &&AttributeDefinition| attribute.is_unique || attribute.reference.is_some();
        for attribute in definition.attributes.iter().filter(is_searched) {
            self.unique.insert(names.intern(&attribute.name));
        }
        for reference in declared_references(definition, names) {
            if !self.references.contains(&reference) {
                self.references.push(reference);
            }
        }
    }

    fn note_constraints(&mut self, names: &Symbols) {
        let of_all = self.by_name.values().map(|declared| &declared.constraints);
        self.has_constraints = of_all.clone().any(|constraints| !constraints.is_empty());
        let is_unique = |attribute: &Attribute| !attribute.unique_in.is_empty();
        self.has_unique = self.by_name.values().any(|known| known.attributes.values().any(is_unique));
        self.referring = BTreeMap::new();
        for told in of_all.flat_map(|constraints| &constraints.references) {
            let referring = self.referring.entry(told.1.leaf).or_default();
            if !referring.contains(told) {
                referring.push(told.clone());
            }
        }
        // Invariant: a path that look-ups cannot follow to its end never becomes one that they can, because keys and
        // lists stay. So this follows from the present types, in any order.
        let searched = self.references.iter().filter(|reference| !self.is_look_up(reference, names));
        let leaves: Vec<Symbol> = searched.map(|reference| reference.leaf).collect();
        self.unique.extend(leaves);
    }

    /// The attributes whose values name the items of a list, in order; empty if there is no list of this name.
    pub(crate) fn list_keys(&self, name: &str, names: &Symbols) -> &[Symbol] {
        let declared = names.find(name).and_then(|name| self.get(TypeKind::Entity, name));
        declared.map_or(&[], |declared| &declared.keys)
    }

    /// True if look-ups can follow a reference to its end: each step leads to one item, at the latest when the value is
    /// known.
    fn is_look_up(&self, reference: &Reference, names: &Symbols) -> bool {
        let Some((last, before)) = reference.steps.split_last() else { return true };
        let is_named = |step: &Arc<str>| self.list_keys(step, names).is_empty();
        before.iter().all(is_named) && (is_named(last) || self.list_keys(last, names) == [reference.leaf])
    }

    fn note_containments(&mut self) {
        let relationships = self.of_kind(TypeKind::Relationship);
        let containments = relationships.filter(|(_, declared)| declared.containment.is_some());
        self.containments = containments.map(|(name, _)| name).collect();
        self.has_containment = !self.containments.is_empty();
    }

    /// Declares a type, or extends the declared one.
    pub(crate) fn define(
        &mut self,
        definition: &TypeDefinition,
        names: &mut Symbols,
        position: u64,
    ) -> Result<Symbol> {
        check_definition(definition)?;
        let name = names.intern(&definition.name);
        let before = self.get(definition.kind, name).map(|before| before.definition.clone());
        if let Some(before) = &before {
            check_extension(before, definition)?;
        }
        self.check_references(definition, names)?;
        self.note_checks(definition, names);
        if before.is_none() {
            self.add(definition, name, names, position)?;
            self.note_containments();
            self.note_constraints(names);
            return Ok(name);
        }
        let mut definitions: Definitions = self
            .by_name
            .iter()
            .map(|(key, declared)| (key, (declared.definition.clone(), declared.changed)))
            .collect();
        definitions.insert((definition.kind, name), (definition.clone(), position));
        self.by_name = resolve(&definitions, names)?;
        self.note_containments();
        self.note_constraints(names);
        Ok(name)
    }

    /// Adds a type without subtypes. A model of hundreds of types does this hundreds of times.
    fn add(
        &mut self,
        definition: &TypeDefinition,
        name: Symbol,
        names: &mut Symbols,
        position: u64,
    ) -> Result<()> {
        let kind = definition.kind;
        let definition_of = |at: Symbol| match self.by_name.get(kind, at) {
            _ if at == name => Some(definition),
            known => known.map(|known| &known.definition),
        };
        let chain = chain_of(definition, name, names, definition_of)?;
        let mut declared = declare(definition, &chain, names, position, definition_of)?;
        declared.descendants.push(name);
        self.by_name.insert(kind, name, Arc::new(declared));
        for &ancestor in &chain[1..] {
            let above = self.by_name.get_mut(kind, ancestor).expect("supertypes are declared");
            let descendants = &mut Arc::make_mut(above).descendants;
            if let Err(at) = descendants.binary_search(&name) {
                descendants.insert(at, name);
            }
        }
        Ok(())
    }

    /// Refuses undeclared names of supertypes and enums, and an external id of another type.
    fn check_references(&self, definition: &TypeDefinition, names: &Symbols) -> Result<()> {
        let find = |kind: TypeKind, name: &str| names.find(name).and_then(|name| self.get(kind, name));
        for supertype in &definition.supertypes {
            if find(definition.kind, supertype).is_none() {
                return Err(violation(
                    definition,
                    format!("supertype {supertype} is not declared; declare it first"),
                ));
            }
        }
        for attribute in &definition.attributes {
            let Some(enum_type) = &attribute.enum_type else { continue };
            let declared = find(TypeKind::Enum, enum_type).ok_or_else(|| {
                let text = format!(
                    "attribute {}: enum {enum_type} is not declared; declare it first",
                    attribute.name
                );
                violation(definition, text)
            })?;
            if let Some(value) = &attribute.default {
                check_element(&definition.name, attribute, &declared.definition, value)
                    .map_err(|error| violation(definition, error.text().into()))?;
            }
        }
        let Some(external_id) = &definition.external_id else { return Ok(()) };
        let is_other =
            |known: &TypeDefinition| (known.kind, &known.name) != (definition.kind, &definition.name);
        let holder = self
            .by_name
            .values()
            .map(|known| &known.definition)
            .find(|known| known.external_id.as_ref() == Some(external_id) && is_other(known));
        match holder {
            None => Ok(()),
            Some(holder) => Err(violation(
                definition,
                format!(
                    "external id {external_id} is that of {} type {}; give it another one",
                    holder.kind.name(),
                    holder.name
                ),
            )),
        }
    }

    /// The elements of an enum.
    pub(crate) fn enumeration(&self, name: &str, names: &Symbols) -> Option<&TypeDefinition> {
        let declared = self.get(TypeKind::Enum, names.find(name)?)?;
        Some(&declared.definition)
    }
}

type Definitions = BTreeMap<(TypeKind, Symbol), (TypeDefinition, u64)>;

/// Computes ancestors, descendants and inherited attributes of every type.
fn resolve(definitions: &Definitions, names: &mut Symbols) -> Result<ByKind<Arc<DeclaredType>>> {
    let mut ancestors: BTreeMap<(TypeKind, Symbol), Vec<Symbol>> = BTreeMap::new();
    let mut descendants: BTreeMap<(TypeKind, Symbol), Vec<Symbol>> = BTreeMap::new();
    for (&(kind, name), (definition, _)) in definitions {
        let definition_of = |at: Symbol| definitions.get(&(kind, at)).map(|(known, _)| known);
        let chain = chain_of(definition, name, names, definition_of)?;
        for &ancestor in &chain {
            descendants.entry((kind, ancestor)).or_default().push(name);
        }
        ancestors.insert((kind, name), chain);
    }
    let mut resolved = ByKind::default();
    for (&(kind, name), (definition, changed)) in definitions {
        let definition_of = |at: Symbol| definitions.get(&(kind, at)).map(|(known, _)| known);
        let mut declared = declare(definition, &ancestors[&(kind, name)], names, *changed, definition_of)?;
        declared.descendants = descendants.remove(&(kind, name)).unwrap_or_default();
        resolved.insert(kind, name, Arc::new(declared));
    }
    Ok(resolved)
}

/// The type called `name` and all its supertypes, nearest first.
fn chain_of<'d>(
    definition: &TypeDefinition,
    name: Symbol,
    names: &Symbols,
    definition_of: impl Fn(Symbol) -> Option<&'d TypeDefinition>,
) -> Result<Vec<Symbol>> {
    let undeclared = || violation(definition, "a supertype is not declared; declare it first".into());
    let mut chain = vec![name];
    let mut next = 0;
    while let Some(&at) = chain.get(next) {
        next += 1;
        for supertype in &definition_of(at).ok_or_else(undeclared)?.supertypes {
            let supertype = names.find(supertype).ok_or_else(undeclared)?;
            if definition_of(supertype).is_none() {
                return Err(undeclared());
            }
            if supertype == name {
                return Err(violation(
                    definition,
                    "its supertypes lead back to itself; break the cycle".into(),
                ));
            }
            if !chain.contains(&supertype) {
                chain.push(supertype);
            }
        }
        if chain.len() > SUPERTYPE_DEPTH_MAX {
            return Err(violation(definition, format!("it has more than {SUPERTYPE_DEPTH_MAX} supertypes")));
        }
    }
    Ok(chain)
}

/// A type with everything it inherits from the rest of its chain, without its descendants.
fn declare<'d>(
    definition: &TypeDefinition,
    chain: &[Symbol],
    names: &mut Symbols,
    changed: u64,
    definition_of: impl Fn(Symbol) -> Option<&'d TypeDefinition>,
) -> Result<DeclaredType> {
    let inherited_from = |ancestor: Symbol| definition_of(ancestor).expect("the chain was looked up");
    let mut attributes = HashMap::new();
    let mut ends = Vec::new();
    // From the farthest supertype down, so that the nearest declaration of a name counts.
    for &ancestor in chain.iter().rev() {
        let inherited = inherited_from(ancestor);
        for attribute in &inherited.attributes {
            let symbol = names.intern(&attribute.name);
            let is_enforced = !inherited.is_advisory;
            let above = attributes.remove(&symbol);
            let merged = inherit(definition, ancestor, attribute, is_enforced, above)?;
            attributes.insert(symbol, merged);
        }
        ends.extend(inherited.ends.clone().map(|declared| (ancestor, declared)));
    }
    let nearest = |is_told: fn(&TypeDefinition) -> bool| {
        chain.iter().map(|&ancestor| inherited_from(ancestor)).find(|known| is_told(known))
    };
    let containment = nearest(|known| known.containment.is_some()).and_then(|known| known.containment);
    let containment = containment.map(|Containment { is_ordered }| ContainmentRule {
        is_ordered,
        name: names.intern(&NAME_PROPERTY.into()),
        order: names.intern(&ORDER_PROPERTY.into()),
    });
    let keys = chain.iter().rev().flat_map(|&ancestor| &inherited_from(ancestor).attributes);
    let keys = keys.filter(|attribute| attribute.is_key).map(|attribute| names.intern(&attribute.name));
    let mut own_keys: Vec<Symbol> = Vec::new();
    keys.for_each(|key| {
        if !own_keys.contains(&key) {
            own_keys.push(key)
        }
    });
    let told = chain.iter().map(|&ancestor| (ancestor, inherited_from(ancestor)));
    let constraints = Constraints::of(definition, told, &attributes, names)?;
    let statuses = nearest(|known| !known.statuses.is_empty()).map_or(&[][..], |known| &known.statuses);
    let initial_status = nearest(|known| known.initial_status.is_some())
        .and_then(|known| known.initial_status.as_ref())
        .filter(|initial| statuses.is_empty() || statuses.contains(initial))
        .or_else(|| statuses.first().filter(|_| !statuses.iter().any(|known| **known == *ACTIVE)));
    Ok(DeclaredType {
        statuses: statuses.to_vec(),
        initial_status: initial_status.cloned(),
        keys: own_keys,
        containment,
        constraints,
        definition: definition.clone(),
        changed,
        ancestors: chain.to_vec(),
        descendants: Vec::new(),
        attributes,
        is_closed: chain.iter().any(|&ancestor| inherited_from(ancestor).is_closed),
        ends,
    })
}

/// The attribute that `ancestor` declares, merged with the `inherited` one of the same name.
fn inherit(
    definition: &TypeDefinition,
    ancestor: Symbol,
    declared: &AttributeDefinition,
    is_enforced: bool,
    inherited: Option<Attribute>,
) -> Result<Attribute> {
    let pattern =
        declared.pattern.as_ref().map(|pattern| compiled(definition, declared, pattern)).transpose()?;
    let mut merged = Attribute { definition: declared.clone(), unique_in: Vec::new(), pattern };
    if let Some(Attribute { definition: above, unique_in, pattern }) = inherited {
        let is_narrower = above.value_type == ValueType::Any || above.value_type == declared.value_type;
        let is_other_enum = above.enum_type.is_some() && above.enum_type != declared.enum_type;
        let is_other_item = above.item_type.is_some() && above.item_type != declared.item_type;
        if above.reference.is_some() && declared.reference.is_some() && above.reference != declared.reference
        {
            let text = format!(
                "attribute {} is inherited with another reference; leave it out, or give the attribute another name",
                declared.name
            );
            return Err(violation(definition, text));
        }
        if !is_narrower || above.is_many != declared.is_many || is_other_enum || is_other_item {
            return Err(violation(
                definition,
                format!(
                    "attribute {} is inherited with another value type; give it another name",
                    declared.name
                ),
            ));
        }
        merged.definition.is_required |= above.is_required;
        merged.definition.is_unique |= above.is_unique;
        merged.definition.is_key |= above.is_key;
        merged.unique_in = unique_in;
        merged.pattern = merged.pattern.or(pattern);
        merged.definition.minimum = merged.definition.minimum.or(above.minimum);
        merged.definition.maximum = merged.definition.maximum.or(above.maximum);
        merged.definition.reference = merged.definition.reference.or(above.reference);
    }
    if declared.is_unique && is_enforced {
        merged.unique_in.push(ancestor);
    }
    if merged.definition.is_unique && !merged.definition.is_indexed {
        return Err(violation(
            definition,
            format!("attribute {} is unique, which needs the index; leave it indexed", declared.name),
        ));
    }
    Ok(merged)
}

/// The pattern of an attribute, which strings match as a whole.
fn compiled(definition: &TypeDefinition, attribute: &AttributeDefinition, pattern: &str) -> Result<Regex> {
    let whole = format!("^(?:{pattern})$");
    RegexBuilder::new(&whole).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
        let text =
            format!("attribute {}: expected a regular expression as its pattern: {error}", attribute.name);
        violation(definition, text)
    })
}

/// Checks a value of an attribute against its enum.
///
/// Errors: `InvalidProperty`.
pub(crate) fn check_element(
    type_name: &str,
    attribute: &AttributeDefinition,
    enumeration: &TypeDefinition,
    value: &Value,
) -> Result<()> {
    let is_element = |value: &Value| {
        value.as_str().is_some_and(|text| enumeration.elements.iter().any(|known| *known.name == *text))
    };
    let is_right = match value {
        Value::Set(values) => values.iter().all(|value| is_element(&value)),
        value => is_element(value),
    };
    if is_right {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidProperty,
        format!(
            "type {type_name}, attribute {}: expected an element of the enum {}, found {}",
            attribute.name,
            enumeration.name,
            super::values::shown(value)
        ),
    ))
}
