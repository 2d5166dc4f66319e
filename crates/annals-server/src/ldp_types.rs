//! The types in which the LDP door stores resources. Its first write declares them; access must recognise them, whichever
//! door writes.

use annals::{Snapshot, Transaction, TypeDefinition, TypeKind};

/// Any resource.
const RESOURCE: &str = "ldp.Resource";
/// A resource in RDF.
pub const RDF_SOURCE: &str = "ldp.RDFSource";
/// A container.
pub const BASIC_CONTAINER: &str = "ldp.BasicContainer";
/// A container whose children are members of another resource.
pub const DIRECT_CONTAINER: &str = "ldp.DirectContainer";
/// A container whose children name the members of another resource.
pub const INDIRECT_CONTAINER: &str = "ldp.IndirectContainer";
/// Bytes of any media type.
pub const NON_RDF_SOURCE: &str = "ldp.NonRDFSource";
/// The ACL of a resource, in RDF.
pub const ACL_SOURCE: &str = "ldp.Acl";
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

/// True for the types of entities whose ids are addresses: resources, and what stays of them.
pub fn is_addressed(snapshot: &Snapshot, type_name: &str) -> bool {
    type_name == PLACEHOLDER || snapshot.is_subtype(TypeKind::Entity, type_name, RESOURCE)
}

/// True for the names of the types that ACLs have, and the relationships to them.
pub fn is_of_acls(type_name: &str) -> bool {
    type_name == ACL || type_name == ACL_SOURCE
}

fn definitions_of_acls() -> Vec<TypeDefinition> {
    vec![
        TypeDefinition {
            description: "The access control list of a resource.".into(),
            ..TypeDefinition::entity(ACL_SOURCE)
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
        entity(RESOURCE, "", "A resource of the LDP door."),
        entity(RDF_SOURCE, RESOURCE, "A resource in RDF."),
        entity(NON_RDF_SOURCE, RESOURCE, "A binary."),
        entity("ldp.Container", RDF_SOURCE, "A container."),
        entity(BASIC_CONTAINER, "ldp.Container", "A container without members of its own."),
        entity(DIRECT_CONTAINER, "ldp.Container", "Its children are members of a resource."),
        entity(INDIRECT_CONTAINER, "ldp.Container", "Its children name the members of a resource."),
        entity(PLACEHOLDER, "", "A resource that others refer to, and that is not there."),
        entity(NODE, "", "A node of the graph of a resource: a blank node, or another IRI."),
        containment(CONTAINS, "From a container to its children."),
        containment(PART, "From a resource to the nodes of its graph."),
    ]
}
