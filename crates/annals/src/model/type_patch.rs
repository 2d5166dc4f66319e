//! Changes of a type that only add to it.

use std::sync::Arc;

use super::{AttributeDefinition, Deprecation, EnumElement, TypeDefinition, TypeKind};

/// Additions to a declared type. Existing instances keep working.
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
    /// The kind of the type.
    pub kind: TypeKind,
    /// Its name.
    pub name: Arc<str>,
    /// A new description.
    pub description: Option<Arc<str>>,
    /// More supertypes.
    pub supertypes: Vec<Arc<str>>,
    /// More attributes. An existing one is replaced, which may only mark it as deprecated.
    pub attributes: Vec<AttributeDefinition>,
    /// More statuses.
    pub statuses: Vec<Arc<str>>,
    /// A new initial status.
    pub initial_status: Option<Arc<str>>,
    /// More elements of an enum.
    pub elements: Vec<EnumElement>,
    /// More entity types for a classification; must be empty if it fits any.
    pub applies_to: Vec<Arc<str>>,
    /// Marks it as deprecated.
    pub deprecation: Option<Deprecation>,
    /// The new version of the type; by default one more than before.
    pub version: Option<u32>,
}

impl TypePatch {
    /// A patch that only increments the version.
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

    /// The type after the patch. Declaring it checks whether the change is allowed.
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
        // A type without statuses of its own inherits them, or allows any: a list here would remove some.
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
