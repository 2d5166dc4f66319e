//! The declared types in a snapshot: lists, look-ups, and comparisons with other definitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::snapshot::Snapshot;
use crate::graph::integrity::types::TypeNames;
use crate::model::{AttributeDefinition, TypeDefinition, TypeKind};

/// How a definition relates to the declared type of its kind and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeMatch {
    /// No such type is declared.
    Unknown,
    /// They are equal.
    Equal,
    /// They differ without contradiction: instances of one fit the other.
    Compatible,
    /// They contradict each other.
    Conflicting,
}

impl TypeMatch {
    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            TypeMatch::Unknown => "unknown",
            TypeMatch::Equal => "equal",
            TypeMatch::Compatible => "compatible",
            TypeMatch::Conflicting => "conflicting",
        }
    }
}

/// A place where a definition differs from the declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDifference {
    /// The place, e.g. `attribute size: value type`.
    pub place: String,
    /// The declared value; empty for none.
    pub declared: String,
    /// The given value; empty for none.
    pub given: String,
    /// True if the two contradict each other.
    pub is_conflict: bool,
}

impl Snapshot {
    /// The declared types in this snapshot, by kind and name.
    pub fn types(&self) -> Vec<Arc<TypeDefinition>> {
        let mut types = std::collections::BTreeMap::new();
        for (position, definition) in self.graph().type_changes.iter() {
            if *position <= self.position().0 {
                types.insert((definition.kind, Arc::clone(&definition.name)), Arc::clone(definition));
            }
        }
        types.into_values().collect()
    }

    /// The declared types of one kind, by name.
    pub fn types_of(&self, kind: TypeKind) -> Vec<Arc<TypeDefinition>> {
        let mut types = self.types();
        types.retain(|definition| definition.kind == kind);
        types
    }

    /// One declared type.
    pub fn type_definition(&self, kind: TypeKind, name: &str) -> Option<Arc<TypeDefinition>> {
        if self.has_types_of_now() {
            let declared = self.graph().types.get(kind, self.graph().names.find(name)?)?;
            return Some(Arc::new(declared.definition.clone()));
        }
        self.types().into_iter().find(|definition| definition.kind == kind && *definition.name == *name)
    }

    /// The declared type with this id of another system.
    pub fn type_with_external_id(&self, external_id: &str) -> Option<Arc<TypeDefinition>> {
        let is_it = |known: &Arc<TypeDefinition>| known.external_id.as_deref() == Some(external_id);
        self.types().into_iter().find(is_it)
    }

    /// Compares a definition with the declared type of its kind and name, and returns the differences.
    ///
    /// ```
    /// use annals::{Repository, TypeDefinition, TypeMatch};
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| t.define_type(TypeDefinition::entity("table").closed()))?;
    /// let (outcome, differences) = repository.snapshot().verify_type(&TypeDefinition::entity("table"));
    /// assert_eq!((outcome, &*differences[0].place), (TypeMatch::Conflicting, "closed"));
    /// # Ok::<(), annals::Error>(())
    /// ```
    pub fn verify_type(&self, given: &TypeDefinition) -> (TypeMatch, Vec<TypeDifference>) {
        let Some(declared) = self.type_definition(given.kind, &given.name) else {
            return (TypeMatch::Unknown, Vec::new());
        };
        let differences = differences(&declared, given);
        let outcome = match &differences[..] {
            [] => TypeMatch::Equal,
            found if found.iter().any(|difference| difference.is_conflict) => TypeMatch::Conflicting,
            _ => TypeMatch::Compatible,
        };
        (outcome, differences)
    }

    /// True if a type, or a classification, of this name is one of what the repository stores about itself, such as grants and
    /// candidates: its name, or that of one of its supertypes as declared last, begins with `annals.` or `annals-`.
    pub fn is_internal(&self, type_name: &str) -> bool {
        self.graph().is_internal(type_name)
    }

    /// True if a type is `ancestor` or one of its subtypes, as declared last.
    pub fn is_subtype(&self, kind: TypeKind, type_name: &str, ancestor: &str) -> bool {
        let names = &self.graph().names;
        let known = names.find(type_name).zip(names.find(ancestor));
        type_name == ancestor
            || known.is_some_and(|(name, ancestor)| self.graph().types.is_a(kind, name, ancestor))
    }

    fn has_types_of_now(&self) -> bool {
        let changes = &self.graph().type_changes;
        let last = changes.len().checked_sub(1).and_then(|last| changes.get(last));
        last.is_none_or(|(position, _)| *position <= self.position().0)
    }

    /// Symbols of a type and its subtypes, ascending; empty for an unknown name.
    pub(crate) fn types_named(&self, kind: TypeKind, name: &str) -> TypeNames {
        let Some(symbol) = self.graph().names.find(name) else { return TypeNames::new() };
        let mut types = if self.has_types_of_now() {
            self.graph().types.with_subtypes(kind, symbol)
        } else {
            self.subtypes_then(kind, name)
                .into_iter()
                .filter_map(|name| self.graph().names.find(&name))
                .collect()
        };
        types.sort_unstable();
        types
    }

    /// Names of a type and its subtypes, as declared at the position of this snapshot.
    fn subtypes_then(&self, kind: TypeKind, name: &str) -> BTreeSet<Arc<str>> {
        let declared: Vec<_> = self.types().into_iter().filter(|known| known.kind == kind).collect();
        let mut found = BTreeSet::from([Arc::from(name)]);
        loop {
            let count = found.len();
            for definition in &declared {
                if definition.supertypes.iter().any(|supertype| found.contains(supertype)) {
                    found.insert(Arc::clone(&definition.name));
                }
            }
            if found.len() == count {
                return found;
            }
        }
    }
}

/// The differences of `given` from `declared`.
fn differences(declared: &TypeDefinition, given: &TypeDefinition) -> Vec<TypeDifference> {
    let mut found = Differences(Vec::new());
    found.compare("description", &declared.description, &given.description, false);
    found.compare("version", declared.version, given.version, false);
    found.compare("closed", declared.is_closed, given.is_closed, true);
    found.compare("advisory", declared.is_advisory, given.is_advisory, false);
    found.compare("propagatable", declared.is_propagatable, given.is_propagatable, false);
    let containment = |of: &TypeDefinition| {
        of.containment.map(|known| if known.is_ordered { "by users" } else { "by keys" })
    };
    found.compare_optional("containment", containment(declared), containment(given), true);
    found.compare_lists("required child", &declared.required_children, &given.required_children);
    let together = |of: &TypeDefinition| -> Vec<Arc<str>> {
        of.unique_together.iter().map(|names| names.join(" ").into()).collect()
    };
    found.compare_lists("unique together", &together(declared), &together(given));
    found.compare_optional(
        "external id",
        declared.external_id.as_deref(),
        given.external_id.as_deref(),
        true,
    );
    let initial = |of: &TypeDefinition| of.initial_status.as_deref().map(str::to_owned);
    found.compare_optional("initial status", initial(declared), initial(given), false);
    found.compare("deprecated", declared.deprecation.is_some(), given.deprecation.is_some(), false);
    found.compare_lists("supertype", &declared.supertypes, &given.supertypes);
    found.compare_lists("status", &declared.statuses, &given.statuses);
    found.compare_lists("applies to", &declared.applies_to, &given.applies_to);
    compare_attributes(&mut found, declared, given);
    compare_elements(&mut found, declared, given);
    match (&declared.ends, &given.ends) {
        (Some(known), Some(ends)) => {
            for (side, (known, end)) in ["from", "to"].into_iter().zip(known.iter().zip(ends)) {
                let types = (known.type_name.as_deref(), end.type_name.as_deref());
                found.compare_optional(&format!("{side}: type"), types.0, types.1, true);
                found.compare(&format!("{side}: many"), known.is_many, end.is_many, true);
                let names = (known.name.as_deref(), end.name.as_deref());
                found.compare_optional(&format!("{side}: name"), names.0, names.1, true);
            }
        }
        (known, ends) => found.compare("ends", known.is_some(), ends.is_some(), false),
    }
    found.0
}

fn compare_attributes(found: &mut Differences, declared: &TypeDefinition, given: &TypeDefinition) {
    for attribute in &given.attributes {
        let place = |what: &str| format!("attribute {}: {what}", attribute.name);
        let Some(known) = declared.attributes.iter().find(|known| known.name == attribute.name) else {
            found.add(format!("attribute {}", attribute.name), "", attribute.value_type.name(), false);
            continue;
        };
        let types = (known.value_type.name(), attribute.value_type.name());
        found.compare(&place("value type"), types.0, types.1, true);
        found.compare(&place("many"), known.is_many, attribute.is_many, true);
        let enums = (known.enum_type.as_deref(), attribute.enum_type.as_deref());
        found.compare_optional(&place("enum"), enums.0, enums.1, true);
        let items =
            (known.item_type.map(|items| items.name()), attribute.item_type.map(|items| items.name()));
        found.compare_optional(&place("items"), items.0, items.1, true);
        found.compare(&place("required"), known.is_required, attribute.is_required, false);
        found.compare(&place("unique"), known.is_unique, attribute.is_unique, false);
        found.compare(&place("indexed"), known.is_indexed, attribute.is_indexed, false);
        let deprecated = (known.deprecation.is_some(), attribute.deprecation.is_some());
        found.compare(&place("deprecated"), deprecated.0, deprecated.1, false);
        found.compare(&place("key"), known.is_key, attribute.is_key, true);
        let texts = |of: &AttributeDefinition| [of.pattern.clone(), of.reference.clone()];
        for (what, (known, given)) in
            ["pattern", "reference"].into_iter().zip(texts(known).into_iter().zip(texts(attribute)))
        {
            found.compare_optional(&place(what), known, given, false);
        }
        for (what, known, given) in [
            ("default", &known.default, &attribute.default),
            ("minimum", &known.minimum, &attribute.minimum),
            ("maximum", &known.maximum, &attribute.maximum),
        ] {
            let text = |value: &Option<crate::Value>| value.as_ref().map(|value| format!("{value:?}"));
            found.compare_optional(&place(what), text(known), text(given), false);
        }
    }
    for known in &declared.attributes {
        if !given.attributes.iter().any(|attribute| attribute.name == known.name) {
            found.add(format!("attribute {}", known.name), known.value_type.name(), "", false);
        }
    }
}

fn compare_elements(found: &mut Differences, declared: &TypeDefinition, given: &TypeDefinition) {
    for element in &given.elements {
        let known = declared.elements.iter().find(|known| known.name == element.name);
        if known.is_none_or(|known| known.ordinal != element.ordinal) {
            let before = known.map_or(String::new(), |known| known.ordinal.to_string());
            let place = format!("element {}", element.name);
            found.add(place, &before, &element.ordinal.to_string(), known.is_some());
        }
    }
    for known in &declared.elements {
        if !given.elements.iter().any(|element| element.name == known.name) {
            found.add(format!("element {}", known.name), &known.ordinal.to_string(), "", false);
        }
    }
}

struct Differences(Vec<TypeDifference>);

impl Differences {
    fn add(&mut self, place: String, declared: &str, given: &str, is_conflict: bool) {
        let (declared, given) = (declared.to_owned(), given.to_owned());
        self.0.push(TypeDifference { place, declared, given, is_conflict });
    }

    fn compare<T: PartialEq + ToString>(&mut self, place: &str, declared: T, given: T, is_conflict: bool) {
        if declared != given {
            self.add(place.to_owned(), &declared.to_string(), &given.to_string(), is_conflict);
        }
    }

    /// A value that only one of them has is no conflict.
    fn compare_optional<T>(&mut self, place: &str, declared: Option<T>, given: Option<T>, is_conflict: bool)
    where
        T: PartialEq + ToString,
    {
        if declared != given {
            let is_conflict = is_conflict && declared.is_some() && given.is_some();
            let text = |value: Option<T>| value.map(|value| value.to_string()).unwrap_or_default();
            self.add(place.to_owned(), &text(declared), &text(given), is_conflict);
        }
    }

    /// A list that contains the other is no conflict.
    fn compare_lists(&mut self, place: &str, declared: &[Arc<str>], given: &[Arc<str>]) {
        let only = |these: &[Arc<str>], those: &[Arc<str>]| -> Vec<String> {
            these.iter().filter(|name| !those.contains(name)).map(ToString::to_string).collect()
        };
        let (here, there) = (only(declared, given), only(given, declared));
        if !here.is_empty() || !there.is_empty() {
            let is_conflict = !here.is_empty() && !there.is_empty();
            self.add(place.to_owned(), &here.join(", "), &there.join(", "), is_conflict);
        }
    }
}
