//! The open metadata types: for the repository, and for the generator.

use std::collections::HashMap;
use std::sync::Arc;

use annals::{AttributeDefinition, TypeDefinition, TypeKind, ValueType};
use annals_json::type_from_json;

use crate::outcome::Outcome;

/// The same file that `annals types load` loads.
pub const ARCHIVE: &str = include_str!("../../../examples/open-metadata-types/types.jsonl");
/// Attributes whose values are twice as wide in the original, which makes other numbers for them.
const LONG_ATTRIBUTES: &[&str] = &["karmaPoints", "matchingValues", "nonMatchingValues", "valueFrequency"];

/// All types, each kind by name.
pub struct Archive {
    pub definitions: Vec<TypeDefinition>,
    pub entities: Vec<EntityType>,
    pub relationships: Vec<RelationshipType>,
    pub classifications: Vec<ClassificationType>,
}

/// An entity type.
pub struct EntityType {
    pub name: Arc<str>,
    /// Its own attributes, then those of its supertypes: those that get a value.
    pub attributes: Vec<Attribute>,
    pub supertype: Option<usize>,
    /// Its direct subtypes.
    pub subtypes: Vec<usize>,
    /// The type and all its subtypes.
    pub subtree: Vec<usize>,
    pub initial_status: Arc<str>,
}

/// A relationship type.
pub struct RelationshipType {
    pub name: Arc<str>,
    pub attributes: Vec<Attribute>,
    /// Numbers of the entity types at its ends.
    pub ends: [usize; 2],
}

/// A classification type.
pub struct ClassificationType {
    pub name: Arc<str>,
    pub attributes: Vec<Attribute>,
    /// Number of the last entity type in its list.
    pub entity_type: usize,
}

/// An attribute that gets a value.
#[derive(Clone)]
pub struct Attribute {
    pub name: Arc<str>,
    pub form: Form,
    pub is_unique: bool,
}

/// How values are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Integer,
    Long,
    Float,
    Boolean,
    Timestamp,
}

impl Archive {
    /// The entity types, or the relationship types.
    ///
    /// Shape: `[(name, attributes that get a value)]`.
    pub fn types(&self, kind: TypeKind) -> impl Iterator<Item = (&Arc<str>, &[Attribute])> {
        let (entities, relationships) = match kind {
            TypeKind::Relationship => (&self.entities[..0], &self.relationships[..]),
            _ => (&self.entities[..], &self.relationships[..0]),
        };
        let entities = entities.iter().map(|one| (&one.name, &one.attributes[..]));
        entities.chain(relationships.iter().map(|one| (&one.name, &one.attributes[..])))
    }

    /// The types that come with the repository.
    pub fn new() -> Outcome<Archive> {
        let definitions = ARCHIVE.lines();
        let definitions = definitions.map(|line| Ok(type_from_json(&serde_json::from_str(line)?)?));
        let definitions = definitions.collect::<Outcome<Vec<TypeDefinition>>>()?;
        let of_kind = |kind: TypeKind| {
            let mut of_kind: Vec<&TypeDefinition> =
                definitions.iter().filter(|one| one.kind == kind).collect();
            of_kind.sort_by(|a, b| a.name.cmp(&b.name));
            of_kind
        };
        let entities = of_kind(TypeKind::Entity);
        let numbers: HashMap<&str, usize> =
            entities.iter().enumerate().map(|(number, one)| (&*one.name, number)).collect();
        let number = |name: &str| {
            numbers
                .get(name)
                .copied()
                .ok_or_else(|| format!("type {name}: expected it among the entity types"))
        };
        let relationships = of_kind(TypeKind::Relationship).into_iter().map(|one| {
            let ends = one.ends.as_ref().ok_or_else(|| format!("type {}: expected two ends", one.name))?;
            let end = |at: usize| number(ends[at].type_name.as_deref().unwrap_or_default());
            Ok(RelationshipType {
                name: Arc::clone(&one.name),
                attributes: attributes(one),
                ends: [end(0)?, end(1)?],
            })
        });
        let relationships = relationships.collect::<Outcome<Vec<_>>>()?;
        let classifications = of_kind(TypeKind::Classification).into_iter().map(|one| {
            let last =
                one.applies_to.last().ok_or_else(|| format!("type {}: expected valid types", one.name))?;
            Ok(ClassificationType {
                name: Arc::clone(&one.name),
                attributes: attributes(one),
                entity_type: number(last)?,
            })
        });
        let classifications = classifications.collect::<Outcome<Vec<_>>>()?;
        let entities = entity_types(&entities, &number)?;
        Ok(Archive { entities, relationships, classifications, definitions })
    }
}

fn entity_types(
    definitions: &[&TypeDefinition],
    number: &impl Fn(&str) -> Result<usize, String>,
) -> Outcome<Vec<EntityType>> {
    let mut entities = Vec::with_capacity(definitions.len());
    for one in definitions {
        let supertype = one.supertypes.first().map(|name| number(name)).transpose()?;
        entities.push(EntityType {
            name: Arc::clone(&one.name),
            attributes: attributes(one),
            supertype,
            subtypes: Vec::new(),
            subtree: Vec::new(),
            initial_status: one.initial_status.clone().unwrap_or_else(|| "active".into()),
        });
    }
    let own: Vec<Vec<Attribute>> = entities.iter().map(|one| one.attributes.clone()).collect();
    for at in 0..entities.len() {
        if let Some(above) = entities[at].supertype {
            entities[above].subtypes.push(at);
        }
        entities[at].subtree.push(at);
        let mut above = entities[at].supertype;
        while let Some(number) = above {
            entities[number].subtree.push(at);
            let inherited = own[number].iter().cloned();
            entities[at].attributes.extend(inherited);
            above = entities[number].supertype;
        }
    }
    Ok(entities)
}

/// Its own attributes that get a value: those of a plain type that are not deprecated.
fn attributes(definition: &TypeDefinition) -> Vec<Attribute> {
    let attribute = |one: &AttributeDefinition| {
        let form = match one.value_type {
            _ if one.enum_type.is_some() || one.deprecation.is_some() => return None,
            ValueType::String => Form::Text,
            ValueType::Integer if LONG_ATTRIBUTES.contains(&&*one.name) => Form::Long,
            ValueType::Integer => Form::Integer,
            ValueType::Float => Form::Float,
            ValueType::Boolean => Form::Boolean,
            ValueType::Timestamp => Form::Timestamp,
            _ => return None,
        };
        Some(Attribute { name: Arc::clone(&one.name), form, is_unique: one.is_unique })
    };
    definition.attributes.iter().filter_map(attribute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_that_of_the_published_runs() {
        let archive = Archive::new().unwrap();
        let counts = (archive.entities.len(), archive.relationships.len(), archive.classifications.len());
        assert_eq!(counts, (274, 218, 108));
        // A sweep over all types pages through every subtree.
        assert_eq!(archive.entities.iter().map(|one| one.subtree.len()).sum::<usize>(), 1_231);
        let subtree =
            |name: &str| archive.entities.iter().find(|one| &*one.name == name).unwrap().subtree.len();
        assert_eq!(
            ["OpenMetadataRoot", "Referenceable", "Asset", "SchemaElement"].map(subtree),
            [274, 243, 55, 52]
        );
        let with_attributes = archive.relationships.iter().filter(|one| !one.attributes.is_empty()).count();
        // Its rows "update" have 98 samples per instance.
        assert_eq!(with_attributes, 98);
        assert_eq!(archive.entities.iter().filter(|one| !one.attributes.is_empty()).count(), 272);
        assert_eq!(archive.entities.iter().filter(|one| !one.subtypes.is_empty()).count(), 63);
        let first = &archive.entities[0];
        assert!(first.attributes.iter().any(|one| &*one.name == "qualifiedName" && one.is_unique));
    }
}
