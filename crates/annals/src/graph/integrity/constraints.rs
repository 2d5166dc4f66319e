//! Rules for items of a tree at the end of each record: required children, values that are unique together, references.

use std::sync::Arc;

use foldhash::HashMap;

use super::definitions::violation;
use super::types::Attribute;
use crate::Result;
use crate::graph::structures::symbols::{Symbol, Symbols};
use crate::model::{AttributeDefinition, TypeDefinition, TypeKind, ValueType};
use crate::tree::{NameTest, TreePath, TreeStep};

/// The rules of a type, including inherited ones, for its instances at the end of each record.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Constraints {
    /// Names of children, or of lists with at least one item.
    pub(crate) required_children: Vec<Arc<str>>,
    pub(crate) unique_together: Vec<Together>,
    /// By the referring attribute.
    pub(crate) references: Vec<(Symbol, Arc<Reference>)>,
}

/// Attributes whose values together may occur once among the children of one entity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Together {
    /// The declaring type; children of its subtypes are compared, too.
    pub(crate) declaring: Symbol,
    pub(crate) attributes: Vec<Symbol>,
}

/// A path to a property; at the end of the path, an item must have the value of the attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) path: Arc<str>,
    /// Number of levels above the referring item at which it starts; `None` for the outermost container.
    pub(crate) levels_up: Option<usize>,
    /// Names of children, or of lists, which stand for any item.
    pub(crate) steps: Vec<Arc<str>>,
    /// The property with the value.
    pub(crate) leaf: Symbol,
}

impl Constraints {
    pub(crate) fn is_empty(&self) -> bool {
        self.required_children.is_empty() && self.unique_together.is_empty() && self.references.is_empty()
    }

    /// The attributes by whose values parents list their children.
    pub(crate) fn listed_attributes(&self) -> impl Iterator<Item = &Symbol> {
        let together = self.unique_together.iter().flat_map(|together| &together.attributes);
        together.chain(self.references.iter().map(|(attribute, _)| attribute))
    }

    /// The constraints of a type: `chain` is the type and its supertypes, `attributes` are all their attributes.
    pub(super) fn of<'d>(
        definition: &TypeDefinition,
        chain: impl Iterator<Item = (Symbol, &'d TypeDefinition)>,
        attributes: &HashMap<Symbol, Attribute>,
        names: &mut Symbols,
    ) -> Result<Constraints> {
        let mut constraints = Constraints::default();
        for (declaring, known) in chain.filter(|(_, known)| !known.is_advisory) {
            let Constraints { required_children, unique_together, .. } = &mut constraints;
            let is_new = |name: &&Arc<str>| !required_children.contains(name);
            let more: Vec<_> = known.required_children.iter().filter(is_new).cloned().collect();
            required_children.extend(more);
            for told in &known.unique_together {
                let told = told.iter().map(|name| comparable(definition, name, attributes, names));
                unique_together.push(Together { declaring, attributes: told.collect::<Result<_>>()? });
            }
        }
        for (name, attribute) in attributes {
            let reference = reference_of(definition, &attribute.definition, names)?;
            constraints.references.extend(reference.map(|reference| (*name, reference)));
        }
        constraints.references.sort_by_key(|(name, _)| *name);
        Ok(constraints)
    }
}

fn comparable(
    definition: &TypeDefinition,
    name: &Arc<str>,
    attributes: &HashMap<Symbol, Attribute>,
    names: &Symbols,
) -> Result<Symbol> {
    match names.find(name).and_then(|symbol| attributes.get_key_value(&symbol)) {
        Some((symbol, Attribute { definition, .. })) if is_scalar(definition) && !definition.is_many => {
            Ok(*symbol)
        }
        found => {
            let found = if found.is_some() { "another attribute" } else { "no such attribute" };
            let text = format!(
                "unique together: expected {name} to be an attribute with one scalar value, found {found}"
            );
            Err(violation(definition, text))
        }
    }
}

fn is_scalar(attribute: &AttributeDefinition) -> bool {
    !matches!(attribute.value_type, ValueType::Any | ValueType::List | ValueType::Map | ValueType::Content)
}

/// The references that a definition itself declares.
pub(super) fn declared_references<'d>(
    definition: &'d TypeDefinition,
    names: &'d mut Symbols,
) -> impl Iterator<Item = Arc<Reference>> {
    // Malformed references were refused before.
    let reference = |attribute| reference_of(definition, attribute, names).unwrap_or_default();
    definition.attributes.iter().filter_map(reference)
}

/// The reference of an attribute: `/name/…/property`, or `../…/property`, which starts at the attribute, so that the
/// first `..` is the item with the attribute.
///
/// Errors: `TypeViolation` for another path, or an attribute that cannot refer.
pub(super) fn reference_of(
    definition: &TypeDefinition,
    attribute: &AttributeDefinition,
    names: &mut Symbols,
) -> Result<Option<Arc<Reference>>> {
    let Some(path) = &attribute.reference else { return Ok(None) };
    let refuse =
        |text: &str| violation(definition, format!("attribute {}, reference {path}: {text}", attribute.name));
    if definition.kind != TypeKind::Entity || !is_scalar(attribute) {
        return Err(refuse("expected an attribute of an entity type with scalar values"));
    }
    let mut rest = &**path;
    let mut ups = 0;
    while let Some(after) = rest.strip_prefix("../") {
        (rest, ups) = (after, ups + 1);
    }
    let form = "expected names of children and lists, and of a property at the end, such as /interface/name or ../../interface/name";
    let parsed = match ups {
        0 => TreePath::parse(rest),
        _ => TreePath::parse(&format!("/{rest}")),
    };
    let parsed = parsed.map_err(|error| refuse(&format!("{form}; {}", error.text())))?;
    let name_of = |step: &TreeStep| match &step.name {
        NameTest::Name(name) if *step == TreeStep::named(name) && ![".", ".."].contains(&&**name) => {
            Some(Arc::clone(name))
        }
        _ => None,
    };
    let told: Option<Vec<Arc<str>>> = parsed.steps.iter().map(name_of).collect();
    let Some((leaf, steps)) = told.as_ref().and_then(|told| told.split_last()) else {
        return Err(refuse(&format!("{form}, without keys, places, conditions, * and //")));
    };
    let (levels_up, leaf) = (usize::checked_sub(ups, 1), names.intern(leaf));
    Ok(Some(Arc::new(Reference { path: Arc::clone(path), levels_up, steps: steps.to_vec(), leaf })))
}
