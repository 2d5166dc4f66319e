//! Changes of a type that only add to it.

use std::sync::Arc;

use super::{AttributeDefinition, Deprecation, EnumElement, TypeDefinition, TypeKind};

/// What is added to a declared type. Instances that are there keep working.
///
/// ```
/// use annals::{AttributeDefinition, Repository, TypeDefinition, TypeKind, TypePatch, ValueType};
/// let repository = Repository::in_memory();
/// repository.transact(|t| t.define_type(TypeDefinition::entity("table")))?;
/// let mut patch = TypePatch::new(TypeKind::Entity, "table");
/// patch.attributes.push(AttributeDefinition::new("rows", ValueType::Integer));
/// repository.transact(|t| t.patch_type(&patch))?;
/// let table = repository.snapshot().type_definition(TypeKind::Entity, "table").unwrap();
/// assert_eq!((&*table.attributes[0].name, table.version), ("rows", 2));
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TypePatch {
    /// What the type describes.
    pub kind: TypeKind,
    /// Its name.
    pub name: Arc<str>,
    /// Another description.
    pub description: Option<Arc<str>>,
    /// Supertypes more.
    pub supertypes: Vec<Arc<str>>,
    /// Attributes more; one that is there already is put in its place, which may make it deprecated, not another.
    pub attributes: Vec<AttributeDefinition>,
    /// Statuses more.
    pub statuses: Vec<Arc<str>>,
    /// Another initial status.
    pub initial_status: Option<Arc<str>>,
    /// Elements more of an enum.
    pub elements: Vec<EnumElement>,
    /// Entity types more that a classification fits; none if it fits any.
    pub applies_to: Vec<Arc<str>>,
    /// Says not to use it any more.
    pub deprecation: Option<Deprecation>,
    /// The version of the type after it; one more than before if `None`.
    pub version: Option<u32>,
}

impl TypePatch {
    /// A patch that only counts the version up.
    pub fn new(kind: TypeKind, name: &str) -> TypePatch {
        TypePatch {
            kind,
            name: name.into(),
            description: None,
            supertypes: Vec::new(),
            attributes: Vec::new(),
            statuses: Vec::new(),
            initial_status: None,
            elements: Vec::new(),
            applies_to: Vec::new(),
            deprecation: None,
            version: None,
        }
    }

    /// The type after the patch. Whether it is allowed, declaring it tells.
    pub fn applied_to(&self, before: &TypeDefinition) -> TypeDefinition {
        let mut after = before.clone();
        if let Some(description) = &self.description {
            after.description = Arc::clone(description);
        }
        for attribute in &self.attributes {
            match after.attributes.iter_mut().find(|known| known.name == attribute.name) {
                Some(known) => *known = attribute.clone(),
                None => after.attributes.push(attribute.clone()),
            }
        }
        add_missing(&mut after.supertypes, &self.supertypes);
        // A type without statuses of its own has them from above, or any: a list would take some away.
        add_missing(&mut after.statuses, &self.statuses);
        add_missing(&mut after.elements, &self.elements);
        if !after.applies_to.is_empty() {
            add_missing(&mut after.applies_to, &self.applies_to);
        }
        after.initial_status = self.initial_status.clone().or(after.initial_status);
        after.deprecation = self.deprecation.clone().or(after.deprecation);
        after.version = self.version.unwrap_or(before.version.saturating_add(1));
        after
    }
}

fn add_missing<T: Clone + PartialEq>(known: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !known.contains(item) {
            known.push(item.clone());
        }
    }
}
