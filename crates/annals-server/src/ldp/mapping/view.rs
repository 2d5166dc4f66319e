//! A snapshot as resources: what is at a path, and the terms that entities are.

use annals::{Direction, Entity, ErrorKind, Id, InstanceId, Snapshot};
use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term};

use super::base::{Base, Place};
use super::model::Model;
use super::path::Path;
use crate::ldp_types::{CONTAINS, NODE, PART, PLACEHOLDER, SUBJECT, TOMBSTONE};
use crate::protocol::problem::Problem;

/// The resource, or its remains, at a path.
#[derive(Clone, Debug)]
pub enum Found<'s> {
    /// A resource.
    Live(Entity<'s>, Model),
    /// Nothing, but others refer to it.
    Placeholder,
    /// A resource was here, and its address is not free. Shape: the entity, if others refer to it.
    Gone(Option<Entity<'s>>),
    /// Nothing.
    Missing,
}

/// A snapshot, as a client sees it.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The snapshot.
    pub snapshot: &'v Snapshot,
    /// The address of the root.
    pub base: &'v Base,
}

impl<'v> View<'v> {
    /// The resource, or its remains, at a path.
    pub fn find(self, path: &Path) -> annals::Result<Found<'v>> {
        found(self.snapshot, &path.id())
    }

    /// The resource at a path.
    ///
    /// Errors: `not-found`; `deleted`.
    pub fn live(self, path: &Path) -> Result<(Entity<'v>, Model), Problem> {
        match self.find(path)? {
            Found::Live(entity, model) => Ok((entity, model)),
            Found::Gone(_) => Err(self.gone(path)),
            Found::Placeholder | Found::Missing => {
                Err(Problem::not_found(format!("{}: there is no such resource", self.base.iri(path))))
            }
        }
    }

    /// The answer for a deleted resource: it links the tombstone.
    pub fn gone(self, path: &Path) -> Problem {
        let iri = self.base.iri(path);
        let text = format!("{iri}: the resource was deleted; delete its tombstone to free the address");
        let problem = Problem::from(annals::Error::new(ErrorKind::Deleted, text));
        let map = format!("<{}>; rel=\"timemap\"", crate::ldp::requests::headers::time_map(&iri));
        let problem = match map.try_into() {
            Ok(link) => problem.header(http::header::LINK, link),
            Err(_) => problem,
        };
        match format!("<{iri}/{TOMBSTONE_SEGMENT}>; rel=\"hasTombstone\"").try_into() {
            Ok(link) => problem.header(http::header::LINK, link),
            Err(_) => problem,
        }
    }

    /// The term that an entity is; `None` if it is neither a resource nor a node, and for a node with a name that is no IRI.
    pub fn node(self, entity: &Entity<'_>) -> Option<NamedOrBlankNode> {
        if entity.type_name() != NODE {
            return self.base.node_of(entity).map(NamedOrBlankNode::from);
        }
        match entity.property(SUBJECT) {
            Some(subject) => {
                let iri = self.base.restored(subject.as_str()?);
                NamedNode::new(iri).ok().map(NamedOrBlankNode::from)
            }
            None => BlankNode::new(label(entity.id())).ok().map(NamedOrBlankNode::from),
        }
    }

    /// True if the client may read a resource, or the resource that a node belongs to.
    ///
    /// Errors: those of reading its ACL.
    pub fn is_readable(self, entity: &Entity<'_>) -> annals::Result<bool> {
        if self.base.is_whole() {
            return Ok(true);
        }
        let owner = match entity.type_name() {
            NODE => entity.neighbors(Direction::In, Some(PART)).entities().next().transpose()?,
            _ => Some(entity.clone()),
        };
        match owner.as_ref().and_then(Path::of_entity) {
            Some(path) => self.base.is_readable(&path),
            None => Ok(false),
        }
    }

    /// True for a term that names no resource of this server, or one that the client may read.
    ///
    /// Errors: those of reading its ACL.
    pub fn shows(self, term: &Term) -> annals::Result<bool> {
        let Term::NamedNode(node) = term else { return Ok(true) };
        match self.base.place(node.as_str()) {
            Place::Resource(path) | Place::Part(path, _) => self.base.is_readable(&path),
            Place::Outside => Ok(true),
        }
    }

    /// The container of a resource; `None` for the root.
    pub fn container(self, entity: &Entity<'v>) -> annals::Result<Option<Entity<'v>>> {
        entity.neighbors(Direction::In, Some(CONTAINS)).entities().next().transpose()
    }
}

/// The segment of a tombstone, below the resource.
pub const TOMBSTONE_SEGMENT: &str = "fcr:tombstone";

/// The kind of the entity with an id.
pub fn found<'s>(snapshot: &'s Snapshot, id: &Id) -> annals::Result<Found<'s>> {
    let Some(entity) = snapshot.entity(id)? else {
        return match snapshot.versions(&InstanceId::Entity(id.clone()), 0, 1) {
            Ok(versions) if !versions.is_empty() => Ok(Found::Gone(None)),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(Found::Missing),
        };
    };
    if entity.type_name() == PLACEHOLDER {
        let is_gone = entity.property(TOMBSTONE).is_some();
        return Ok(if is_gone { Found::Gone(Some(entity)) } else { Found::Placeholder });
    }
    let model = Model::of_entity(&entity).unwrap_or(Model::RdfSource);
    Ok(Found::Live(entity, model))
}

/// The label of a blank node.
pub fn label(id: &Id) -> String {
    match id.uuid_bytes() {
        Some(bytes) => format!("n{}", uuid::Uuid::from_bytes(*bytes).simple()),
        // Another door made the node, with an id of its own.
        None => {
            let digits = id.to_string().into_bytes().into_iter().map(|byte| format!("{byte:02x}"));
            format!("x{}", digits.collect::<String>())
        }
    }
}

/// The id of the node with a label; `None` for a label that a client made.
pub fn labelled(label: &str) -> Option<Id> {
    let digits = label.strip_prefix('n').filter(|digits| digits.len() == 32)?;
    uuid::Uuid::try_parse(digits).ok().map(Id::from)
}
