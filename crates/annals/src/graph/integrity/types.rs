//! The declared types with everything they inherit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::status::ACTIVE;
use crate::graph::structures::symbols::{Symbol, Symbols};
use crate::model::{
    AttributeDefinition, EndDefinition, EnumElement, TypeDefinition, TypeKind, Value, ValueType, check_name,
};
use crate::{Error, ErrorKind, Result};

/// Deepest chain of supertypes.
const SUPERTYPE_DEPTH_MAX: usize = 64;
/// Most elements of an enum type.
pub(crate) const ENUM_ELEMENTS_MAX: usize = 65_536;
/// Most statuses of a type.
pub(crate) const STATUSES_MAX: usize = 256;

/// Types that stand together: one, as a rule.
pub(crate) type TypeNames = SmallVec<[Symbol; 4]>;

/// All declared types of one graph.
#[derive(Clone, Default)]
pub(crate) struct Types {
    by_name: BTreeMap<(TypeKind, Symbol), Arc<DeclaredType>>,
    /// Names of properties that some type keeps, or kept, out of the index: searches cannot rely on it.
    pub(crate) unindexed: BTreeSet<Symbol>,
    /// Names of attributes that some type declares, or declared, unique.
    pub(crate) unique: BTreeSet<Symbol>,
}

/// A declared type and what follows from its supertypes.
#[derive(Clone)]
pub(crate) struct DeclaredType {
    pub(crate) definition: TypeDefinition,
    /// Record that changed it last.
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
    /// What its instances may have as status, by itself or the nearest supertype that says so; empty for any.
    pub(crate) statuses: Vec<Arc<str>>,
    /// The status of a new instance that gives none; active if `None`.
    pub(crate) initial_status: Option<Arc<str>>,
}

/// An attribute as a type has it: its nearest declaration, as strict as all it inherits together.
#[derive(Clone)]
pub(crate) struct Attribute {
    pub(crate) definition: AttributeDefinition,
    /// The types that declare it unique: within each of them, subtypes included, a value may occur once.
    pub(crate) unique_in: Vec<Symbol>,
}

impl Types {
    pub(crate) fn get(&self, kind: TypeKind, name: Symbol) -> Option<&Arc<DeclaredType>> {
        self.by_name.get(&(kind, name))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The type and its subtypes; just itself if it is not declared.
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

    /// True if instances of this type put this property into the index.
    pub(crate) fn is_indexed(&self, kind: TypeKind, type_name: Symbol, property: Symbol) -> bool {
        self.unindexed.is_empty()
            || self
                .get(kind, type_name)
                .and_then(|declared| declared.attributes.get(&property))
                .is_none_or(|attribute| attribute.definition.is_indexed)
    }

    /// All declared types of one kind.
    pub(crate) fn of_kind(&self, kind: TypeKind) -> impl Iterator<Item = (Symbol, &Arc<DeclaredType>)> {
        let range = self.by_name.range((kind, Symbol(0))..=(kind, Symbol(u32::MAX)));
        range.map(|((_, name), declared)| (*name, declared))
    }

    /// The types after a series of definitions that were accepted before.
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
        Ok(types)
    }

    fn note_checks(&mut self, definition: &TypeDefinition, names: &mut Symbols) {
        for attribute in definition.attributes.iter().filter(|attribute| !attribute.is_indexed) {
            self.unindexed.insert(names.intern(&attribute.name));
        }
        for attribute in definition.attributes.iter().filter(|attribute| attribute.is_unique) {
            self.unique.insert(names.intern(&attribute.name));
        }
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
            return Ok(name);
        }
        let mut definitions: Definitions = self
            .by_name
            .iter()
            .map(|(key, declared)| (*key, (declared.definition.clone(), declared.changed)))
            .collect();
        definitions.insert((definition.kind, name), (definition.clone(), position));
        self.by_name = resolve(&definitions, names)?;
        Ok(name)
    }

    /// Adds a type that nothing inherits from yet: what a model of hundreds of types does hundreds of times.
    fn add(
        &mut self,
        definition: &TypeDefinition,
        name: Symbol,
        names: &mut Symbols,
        position: u64,
    ) -> Result<()> {
        let kind = definition.kind;
        let definition_of = |at: Symbol| match self.by_name.get(&(kind, at)) {
            _ if at == name => Some(definition),
            known => known.map(|known| &known.definition),
        };
        let chain = chain_of(definition, name, names, definition_of)?;
        let mut declared = declare(definition, &chain, names, position, definition_of)?;
        declared.descendants.push(name);
        self.by_name.insert((kind, name), Arc::new(declared));
        for &ancestor in &chain[1..] {
            let above = self.by_name.get_mut(&(kind, ancestor)).expect("supertypes are declared");
            let descendants = &mut Arc::make_mut(above).descendants;
            if let Err(at) = descendants.binary_search(&name) {
                descendants.insert(at, name);
            }
        }
        Ok(())
    }

    /// Refuses names of supertypes and enums that are not declared, and the external id of another type.
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

/// Works out ancestors, descendants and inherited attributes of every type.
fn resolve(
    definitions: &Definitions,
    names: &mut Symbols,
) -> Result<BTreeMap<(TypeKind, Symbol), Arc<DeclaredType>>> {
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
    let mut resolved = BTreeMap::new();
    for (&(kind, name), (definition, changed)) in definitions {
        let definition_of = |at: Symbol| definitions.get(&(kind, at)).map(|(known, _)| known);
        let mut declared = declare(definition, &ancestors[&(kind, name)], names, *changed, definition_of)?;
        declared.descendants = descendants.remove(&(kind, name)).unwrap_or_default();
        resolved.insert((kind, name), Arc::new(declared));
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

/// A type with what it inherits from the rest of its chain; its descendants are still missing.
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
    // From the furthest supertype down, so that the nearest declaration of a name counts.
    for &ancestor in chain.iter().rev() {
        let inherited = inherited_from(ancestor);
        for attribute in &inherited.attributes {
            let symbol = names.intern(&attribute.name);
            let is_enforced = !inherited.is_advisory;
            let above = attributes.remove(&symbol);
            let merged = inherit(definition, ancestor, attribute, is_enforced, above)?;
            attributes.insert(symbol, merged);
        }
        if let Some(mut declared) = inherited.ends.clone() {
            declared.iter_mut().for_each(|end| end.is_many |= inherited.is_advisory);
            ends.push((ancestor, declared));
        }
    }
    let nearest = |is_told: fn(&TypeDefinition) -> bool| {
        chain.iter().map(|&ancestor| inherited_from(ancestor)).find(|known| is_told(known))
    };
    let statuses = nearest(|known| !known.statuses.is_empty()).map_or(&[][..], |known| &known.statuses);
    let initial_status = nearest(|known| known.initial_status.is_some())
        .and_then(|known| known.initial_status.as_ref())
        .filter(|initial| statuses.is_empty() || statuses.contains(initial))
        .or_else(|| statuses.first().filter(|_| !statuses.iter().any(|known| **known == *ACTIVE)));
    Ok(DeclaredType {
        statuses: statuses.to_vec(),
        initial_status: initial_status.cloned(),
        definition: definition.clone(),
        changed,
        ancestors: chain.to_vec(),
        descendants: Vec::new(),
        attributes,
        is_closed: chain.iter().any(|&ancestor| inherited_from(ancestor).is_closed),
        ends,
    })
}

/// The attribute that `ancestor` declares, below what is `inherited` under the same name.
fn inherit(
    definition: &TypeDefinition,
    ancestor: Symbol,
    declared: &AttributeDefinition,
    is_enforced: bool,
    inherited: Option<Attribute>,
) -> Result<Attribute> {
    let mut merged = Attribute { definition: declared.clone(), unique_in: Vec::new() };
    if let Some(Attribute { definition: above, unique_in }) = inherited {
        let is_narrower = above.value_type == ValueType::Any || above.value_type == declared.value_type;
        let is_other_enum = above.enum_type.is_some() && above.enum_type != declared.enum_type;
        let is_other_item = above.item_type.is_some() && above.item_type != declared.item_type;
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
        merged.unique_in = unique_in;
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

fn violation(definition: &TypeDefinition, text: String) -> Error {
    Error::new(
        ErrorKind::TypeViolation,
        format!("{} type {}: {text}", definition.kind.name(), definition.name),
    )
}

fn check_definition(definition: &TypeDefinition) -> Result<()> {
    check_name("type", &definition.name)?;
    let mut seen = BTreeSet::new();
    for attribute in &definition.attributes {
        check_name("attribute", &attribute.name)?;
        if !seen.insert(&attribute.name) {
            return Err(violation(definition, format!("attribute {} is declared twice", attribute.name)));
        }
        if attribute.is_unique && !attribute.is_indexed {
            return Err(violation(
                definition,
                format!("attribute {} is unique, which needs the index; leave it indexed", attribute.name),
            ));
        }
        check_attribute_type(definition, attribute)?;
        if let Some(value) = &attribute.default {
            value.check(&attribute.name)?;
            crate::graph::integrity::values::check_value(&definition.name, attribute, value)
                .map_err(|error| violation(definition, error.text().into()))?;
        }
    }
    let is_unique = definition.attributes.iter().any(|attribute| attribute.is_unique);
    if is_unique && definition.kind == TypeKind::Classification {
        return Err(violation(definition, "attributes of classifications cannot be unique".into()));
    }
    if definition.ends.is_some() && definition.kind != TypeKind::Relationship {
        return Err(violation(definition, "only relationship types have ends".into()));
    }
    if !definition.applies_to.is_empty() && definition.kind != TypeKind::Classification {
        return Err(violation(definition, "only classifications apply to entity types".into()));
    }
    if definition.is_propagatable && definition.kind != TypeKind::Classification {
        return Err(violation(definition, "only classifications are propagatable".into()));
    }
    check_enumeration(definition)?;
    check_statuses(definition)
}

fn check_attribute_type(definition: &TypeDefinition, attribute: &AttributeDefinition) -> Result<()> {
    let AttributeDefinition { name, value_type, .. } = attribute;
    if attribute.enum_type.is_some() && *value_type != ValueType::String {
        let text = format!(
            "attribute {name} holds elements of an enum, which are strings; expected the value type string, found {}",
            value_type.name()
        );
        return Err(violation(definition, text));
    }
    if attribute.item_type.is_some() && !matches!(value_type, ValueType::List | ValueType::Map) {
        let text = format!(
            "attribute {name}: only lists and maps have items, found the value type {}",
            value_type.name()
        );
        return Err(violation(definition, text));
    }
    Ok(())
}

fn check_enumeration(definition: &TypeDefinition) -> Result<()> {
    if definition.kind != TypeKind::Enum {
        return match definition.elements.is_empty() {
            true => Ok(()),
            false => Err(violation(definition, "only enum types have elements".into())),
        };
    }
    let is_plain = definition.attributes.is_empty()
        && definition.supertypes.is_empty()
        && definition.statuses.is_empty()
        && definition.initial_status.is_none();
    if !is_plain {
        let text = "an enum type has elements; expected no attributes, supertypes and statuses";
        return Err(violation(definition, text.into()));
    }
    if definition.elements.len() > ENUM_ELEMENTS_MAX {
        let text =
            format!("expected at most {ENUM_ELEMENTS_MAX} elements, found {}", definition.elements.len());
        return Err(violation(definition, text));
    }
    let mut seen = BTreeSet::new();
    for element in &definition.elements {
        check_name("enum element", &element.name)?;
        // Ordinals may repeat: published enums have such, and it is the name that a property holds.
        if !seen.insert(&element.name) {
            let text = format!("element {} is there twice; names are unique", element.name);
            return Err(violation(definition, text));
        }
    }
    Ok(())
}

fn check_statuses(definition: &TypeDefinition) -> Result<()> {
    let TypeDefinition { statuses, initial_status, .. } = definition;
    if statuses.len() > STATUSES_MAX {
        let text = format!("expected at most {STATUSES_MAX} statuses, found {}", statuses.len());
        return Err(violation(definition, text));
    }
    for status in statuses.iter().chain(initial_status) {
        check_status_name(status)?;
    }
    match initial_status {
        Some(initial) if !statuses.is_empty() && !statuses.contains(initial) => Err(violation(
            definition,
            format!("initial status {initial}: expected one of {}", statuses.join(", ")),
        )),
        _ => Ok(()),
    }
}

/// A type may grow, never break what its instances rely on.
fn check_extension(before: &TypeDefinition, after: &TypeDefinition) -> Result<()> {
    for old in &before.attributes {
        let Some(new) = after.attributes.iter().find(|new| new.name == old.name) else {
            return Err(violation(
                after,
                format!("attribute {} is missing; attributes cannot be taken away", old.name),
            ));
        };
        let is_other_enum = old.enum_type.is_some() && new.enum_type != old.enum_type;
        let is_other_item = old.item_type.is_some() && new.item_type != old.item_type;
        if (new.value_type, new.is_many) != (old.value_type, old.is_many) || is_other_enum || is_other_item {
            return Err(violation(
                after,
                format!(
                    "attribute {} holds {} {}; its value type cannot change",
                    old.name,
                    if old.is_many { "many" } else { "one" },
                    old.value_type.name()
                ),
            ));
        }
    }
    for supertype in &before.supertypes {
        if !after.supertypes.contains(supertype) {
            return Err(violation(
                after,
                format!("supertype {supertype} is missing; it cannot be taken away"),
            ));
        }
    }
    for status in &before.statuses {
        if !after.statuses.contains(status) {
            return Err(violation(
                after,
                format!("status {status} is missing; statuses cannot be taken away"),
            ));
        }
    }
    for old in &before.elements {
        let is_kept = |new: &&EnumElement| (new.ordinal, &new.name) == (old.ordinal, &old.name);
        if !after.elements.iter().any(|new| is_kept(&new)) {
            return Err(violation(
                after,
                format!("element {} ({}) is missing or changed; elements stay", old.name, old.ordinal),
            ));
        }
    }
    match &before.external_id {
        Some(old) if after.external_id.as_ref() != Some(old) => {
            Err(violation(after, format!("its external id is {old}; it cannot change")))
        }
        _ => Ok(()),
    }
}

/// Checks a value of an attribute against the enum that it is of.
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
            "type {type_name}, attribute {}: expected an element of the enum {}, found {value:?}",
            attribute.name, enumeration.name
        ),
    ))
}

/// Checks the name of a status. `deleted` is none: it is what `delete` makes of an instance.
///
/// Errors: `InvalidArgument` if it is no name; `StatusNotAllowed` for `deleted`.
pub(crate) fn check_status_name(status: &str) -> Result<()> {
    check_name("status", status)?;
    if status == "deleted" {
        return Err(Error::new(
            ErrorKind::StatusNotAllowed,
            "status deleted: expected another name; an instance gets it by being deleted, and has its status besides",
        ));
    }
    Ok(())
}
