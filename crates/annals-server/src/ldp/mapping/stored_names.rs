//! The names and ids under which the graph stores what RDF names: predicates, links and nodes.

use annals::Id;
use oxrdf::NamedNodeRef;
use uuid::Uuid;

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
