//! Names of the vocabularies that the door knows.

use oxrdf::{NamedNode, NamedNodeRef};

/// The namespace of LDP.
pub const LDP: &str = "http://www.w3.org/ns/ldp#";
/// A child of a container.
pub const CONTAINS: &str = "http://www.w3.org/ns/ldp#contains";
/// The resource whose members the children of a container are.
pub const MEMBERSHIP_RESOURCE: &str = "http://www.w3.org/ns/ldp#membershipResource";
/// The predicate that leads from that resource to its members.
pub const HAS_MEMBER_RELATION: &str = "http://www.w3.org/ns/ldp#hasMemberRelation";
/// The predicate that leads from the members to that resource.
pub const IS_MEMBER_OF_RELATION: &str = "http://www.w3.org/ns/ldp#isMemberOfRelation";
/// The predicate of a child whose objects are the members.
pub const INSERTED_CONTENT_RELATION: &str = "http://www.w3.org/ns/ldp#insertedContentRelation";
/// The child itself is the member.
pub const MEMBER_SUBJECT: &str = "http://www.w3.org/ns/ldp#MemberSubject";
/// The usual predicate of membership.
pub const MEMBER: &str = "http://www.w3.org/ns/ldp#member";
/// The relation to the document with the constraints of the server.
pub const CONSTRAINED_BY: &str = "http://www.w3.org/ns/ldp#constrainedBy";
/// The class of a resource.
pub const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// The namespace of the datatypes of XML Schema.
pub const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// The datatype of JSON.
pub const RDF_JSON: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";
/// The namespace of Memento.
pub const MEMENTO: &str = "http://mementoweb.org/ns#";
/// The number of bytes of a binary.
pub const SIZE: &str = "http://www.loc.gov/premis/rdf/v1#hasSize";
/// A digest of the bytes of a binary.
pub const MESSAGE_DIGEST: &str = "http://www.loc.gov/premis/rdf/v1#hasMessageDigest";
/// The media type of a binary.
pub const MEDIA_TYPE: &str = "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType";
/// The file name of a binary.
pub const FILE_NAME: &str = "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#filename";
/// Where the bytes of a binary are, which the server reads for each GET.
pub const PROXY_FOR: &str = "http://fedora.info/definitions/v4/repository#proxyFor";
/// Where the bytes of a binary are, to which the server sends clients.
pub const REDIRECTS_TO: &str = "http://fedora.info/definitions/v4/repository#redirectsTo";
/// The relation of a request to an external content.
pub const EXTERNAL_CONTENT: &str = "http://fedora.info/definitions/fcrepo#ExternalContent";
/// Where a resource takes notifications.
pub const INBOX: &str = "http://www.w3.org/ns/ldp#inbox";

/// The node of a name of these vocabularies.
pub const fn node(name: &'static str) -> NamedNodeRef<'static> {
    // The names are constants of this file.
    NamedNodeRef::new_unchecked(name)
}

/// The node of a name in one of these namespaces.
pub fn node_in(namespace: &'static str, name: &'static str) -> NamedNode {
    // Both are constants of the door, and no name has characters that an IRI must not have.
    NamedNode::new_unchecked(format!("{namespace}{name}"))
}
