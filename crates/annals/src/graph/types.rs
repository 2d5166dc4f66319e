//! The declared types with everything they inherit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::symbols::{Symbol, Symbols};
use crate::model::{AttributeDefinition, EndDefinition, TypeDefinition, TypeKind, ValueType, check_name};
use crate::{Error, ErrorKind, Result};

/// Deepest chain of supertypes.
const SUPERTYPE_DEPTH_MAX: usize = 64;

/// All declared types of one graph.
#[derive(Clone, Default)]
pub(crate) struct Types {
    by_name: BTreeMap<(TypeKind, Symbol), Arc<DeclaredType>>,
    /// Names of properties that some type keeps, or kept, out of the index: searches cannot rely on it.
    pub(crate) unindexed: BTreeSet<Symbol>,
}

/// A declared type and what follows from its supertypes.
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
}

/// An attribute as a type has it: its nearest declaration, as strict as all it inherits together.
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
    pub(crate) fn with_subtypes(&self, kind: TypeKind, name: Symbol) -> Vec<Symbol> {
        match self.get(kind, name) {
            Some(declared) => declared.descendants.clone(),
            None => vec![name],
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

    /// The types after a series of definitions that were accepted before.
    pub(crate) fn from_changes<'c>(
        changes: impl IntoIterator<Item = &'c (u64, Arc<TypeDefinition>)>,
        names: &mut Symbols,
    ) -> Result<Types> {
        let mut definitions = Definitions::new();
        let mut types = Types::default();
        for (position, definition) in changes {
            let name = names.intern(&definition.name);
            types.note_unindexed(definition, names);
            definitions.insert((definition.kind, name), ((**definition).clone(), *position));
        }
        types.by_name = resolve(&definitions, names)?;
        Ok(types)
    }

    fn note_unindexed(&mut self, definition: &TypeDefinition, names: &mut Symbols) {
        for attribute in definition.attributes.iter().filter(|attribute| !attribute.is_indexed) {
            self.unindexed.insert(names.intern(&attribute.name));
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
        if let Some(before) = self.get(definition.kind, name) {
            check_extension(&before.definition, definition)?;
        }
        for supertype in &definition.supertypes {
            let is_declared =
                names.find(supertype).is_some_and(|supertype| self.get(definition.kind, supertype).is_some());
            if !is_declared {
                return Err(violation(
                    definition,
                    format!("supertype {supertype} is not declared; declare it first"),
                ));
            }
        }
        self.note_unindexed(definition, names);
        let mut definitions: Definitions = self
            .by_name
            .iter()
            .map(|(key, declared)| (*key, (declared.definition.clone(), declared.changed)))
            .collect();
        definitions.insert((definition.kind, name), (definition.clone(), position));
        self.by_name = resolve(&definitions, names)?;
        Ok(name)
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
        let mut chain = vec![name];
        let mut next = 0;
        while let Some(&at) = chain.get(next) {
            next += 1;
            for supertype in &definitions[&(kind, at)].0.supertypes {
                let supertype = names.intern(supertype);
                if !definitions.contains_key(&(kind, supertype)) {
                    return Err(violation(
                        definition,
                        "a supertype is not declared; declare it first".into(),
                    ));
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
                return Err(violation(
                    definition,
                    format!("it has more than {SUPERTYPE_DEPTH_MAX} supertypes"),
                ));
            }
        }
        for &ancestor in &chain {
            descendants.entry((kind, ancestor)).or_default().push(name);
        }
        ancestors.insert((kind, name), chain);
    }
    let mut resolved = BTreeMap::new();
    for (&(kind, name), (definition, changed)) in definitions {
        let chain = &ancestors[&(kind, name)];
        let mut attributes = HashMap::new();
        let mut ends = Vec::new();
        // From the furthest supertype down, so that the nearest declaration of a name counts.
        for &ancestor in chain.iter().rev() {
            let inherited = &definitions[&(kind, ancestor)].0;
            for attribute in &inherited.attributes {
                let symbol = names.intern(&attribute.name);
                let merged = inherit(definition, ancestor, attribute, attributes.remove(&symbol))?;
                attributes.insert(symbol, merged);
            }
            ends.extend(inherited.ends.clone().map(|ends| (ancestor, ends)));
        }
        let is_closed = chain.iter().any(|&ancestor| definitions[&(kind, ancestor)].0.is_closed);
        resolved.insert(
            (kind, name),
            Arc::new(DeclaredType {
                definition: definition.clone(),
                changed: *changed,
                ancestors: chain.clone(),
                descendants: descendants.remove(&(kind, name)).unwrap_or_default(),
                attributes,
                is_closed,
                ends,
            }),
        );
    }
    Ok(resolved)
}

/// The attribute that `ancestor` declares, below what is `inherited` under the same name.
fn inherit(
    definition: &TypeDefinition,
    ancestor: Symbol,
    declared: &AttributeDefinition,
    inherited: Option<Attribute>,
) -> Result<Attribute> {
    let mut merged = Attribute { definition: declared.clone(), unique_in: Vec::new() };
    if let Some(Attribute { definition: above, unique_in }) = inherited {
        let is_narrower = above.value_type == ValueType::Any || above.value_type == declared.value_type;
        if !is_narrower || above.is_many != declared.is_many {
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
    if declared.is_unique {
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
        if let Some(value) = &attribute.default {
            value.check(&attribute.name)?;
            super::integrity::check_value(&definition.name, attribute, value)?;
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
    Ok(())
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
        if (new.value_type, new.is_many) != (old.value_type, old.is_many) {
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
    Ok(())
}
