//! The types of the door, which its first write declares.

use annals::{Id, Snapshot, Transaction, TypeDefinition, TypeKind};
use oxrdf::NamedNodeRef;
use uuid::Uuid;

use super::model::Model;

/// The relationship from a container to its children.
pub const CONTAINS: &str = "ldp.contains";
/// The relationship from a resource to its nodes.
pub const PART: &str = "ldp.part";
/// The relationship from a resource to its ACL.
pub const ACL: &str = "ldp.acl";
/// An entity that stands for a resource which others refer to, and which is not there.
pub const PLACEHOLDER: &str = "ldp.Placeholder";
/// A node of the graph of a resource other than the resource itself.
pub const NODE: &str = "ldp.Node";
/// The property of a placeholder whose resource was deleted: its address is not free.
pub const TOMBSTONE: &str = "ldp.tombstone";
/// The property of a node that holds its IRI; a blank node has none.
pub const SUBJECT: &str = "ldp.subject";
/// The property of a resource that counts the changes which neither its properties nor its number of children show.
pub const CHANGES: &str = "ldp.changes";

/// True once the types are declared.
pub fn are_declared(snapshot: &Snapshot) -> bool {
    snapshot.type_definition(TypeKind::Relationship, PART).is_some()
}

/// Declares the types, unless they are declared.
pub fn declare(transaction: &mut Transaction) -> annals::Result<()> {
    match are_declared(transaction.base()) {
        true => Ok(()),
        false => transaction.define_types(definitions()),
    }
}

/// Declares the types of ACLs, unless they are declared. The first ACL needs them.
pub fn declare_acls(transaction: &mut Transaction) -> annals::Result<()> {
    match transaction.base().type_definition(TypeKind::Relationship, ACL) {
        Some(_) => Ok(()),
        None => transaction.define_types(definitions_of_acls()),
    }
}

/// True for a type as the door declares it. Every client that writes at the door may be the first.
pub fn is_of_door(definition: &TypeDefinition) -> bool {
    definition.name.starts_with("ldp.")
        && (definitions().contains(definition) || definitions_of_acls().contains(definition))
}

/// True for the names of the types that ACLs have, and the relationships to them.
pub fn is_of_acls(type_name: &str) -> bool {
    type_name == ACL || type_name == Model::Acl.type_name()
}

fn definitions_of_acls() -> Vec<TypeDefinition> {
    vec![
        TypeDefinition {
            description: "The access control list of a resource.".into(),
            ..TypeDefinition::entity(Model::Acl.type_name())
        },
        TypeDefinition {
            description: "From a resource to its access control list.".into(),
            ..TypeDefinition::relationship(ACL).containing()
        },
    ]
}

fn definitions() -> Vec<TypeDefinition> {
    let entity = |name: &str, supertype: &str, description: &str| TypeDefinition {
        description: description.into(),
        supertypes: if supertype.is_empty() { Vec::new() } else { vec![supertype.into()] },
        ..TypeDefinition::entity(name)
    };
    let containment = |name: &str, description: &str| TypeDefinition {
        description: description.into(),
        ..TypeDefinition::relationship(name).containing()
    };
    vec![
        entity("ldp.Resource", "", "A resource of the LDP door."),
        entity(Model::RdfSource.type_name(), "ldp.Resource", "A resource in RDF."),
        entity(Model::NonRdfSource.type_name(), "ldp.Resource", "A binary."),
        entity("ldp.Container", Model::RdfSource.type_name(), "A container."),
        entity(Model::Basic.type_name(), "ldp.Container", "A container without members of its own."),
        entity(Model::Direct.type_name(), "ldp.Container", "Its children are members of a resource."),
        entity(Model::Indirect.type_name(), "ldp.Container", "Its children name the members of a resource."),
        entity(PLACEHOLDER, "", "A resource that others refer to, and that is not there."),
        entity(NODE, "", "A node of the graph of a resource: a blank node, or another IRI."),
        containment(CONTAINS, "From a container to its children."),
        containment(PART, "From a resource to the nodes of its graph."),
    ]
}

/// The predicate that the name of a property or of a relationship type is; `None` for the names of the door, which have no
/// colon, and for any other name that is no IRI: other doors take every name.
pub fn predicate(name: &str) -> Option<NamedNodeRef<'_>> {
    if name.contains(':') { NamedNodeRef::new(name).ok() } else { None }
}

/// True for the names of properties and relationship types that are predicates.
pub fn is_predicate(name: &str) -> bool {
    predicate(name).is_some()
}

/// The id of the relationship that a triple is.
pub fn link_id(from: &Id, predicate: &str, to: &Id) -> Id {
    Id::from(Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{from}\n{predicate}\n{to}").as_bytes()))
}

/// The id of the node of a resource that has an IRI.
pub fn node_id(resource: &Id, subject: &str) -> Id {
    Id::from(Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{resource}\n{subject}").as_bytes()))
}
