//! Writes resources: the entities, properties and relationships that a graph of a client is.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use annals::{
    Direction, Entity, Id, InstanceId, NewEntity, NewRelationship, Patch, Snapshot, Transaction, Value,
};

use super::base::{Base, stored_iri, stored_path};
use super::model::Model;
use super::path::{PATH_PROPERTY, Path};
use super::statements::{Graph, NodeName, Statements};
use super::stored_names::{is_predicate, link_id, node_id};
use super::view::{Found, View, found};
use crate::ldp::requests::parent::no_container;
use crate::ldp_types::{self, CHANGES, CONTAINS, NODE, PART, PLACEHOLDER, SUBJECT};
use crate::protocol::problem::Problem;

/// The property of a containment relationship that names the child.
pub const NAME: &str = "name";
/// Longest name of a node in its resource. Units: bytes.
const NODE_NAME_BYTES_MAX: usize = 255;

/// Puts changes of resources into a transaction.
pub struct Writer<'t> {
    /// The transaction.
    pub transaction: &'t mut Transaction,
    /// The address of the root.
    pub base: &'t Base,
    /// The snapshot that the transaction reads.
    pub snapshot: &'t Snapshot,
    /// Entities that the transaction makes.
    pub made: HashSet<Id>,
    /// The blank nodes of the request.
    pub blanks: HashMap<String, Id>,
    /// Relationships that the transaction deletes, also those of nodes that it deletes.
    deleted: HashSet<Id>,
}

impl<'t> Writer<'t> {
    /// A writer; `snapshot` is the base of the transaction. It declares the types and makes the root, if they are not
    /// there.
    pub fn new(
        transaction: &'t mut Transaction,
        snapshot: &'t Snapshot,
        base: &'t Base,
    ) -> Result<Writer<'t>, Problem> {
        ldp_types::declare(transaction)?;
        let mut writer = Writer {
            transaction,
            base,
            snapshot,
            made: HashSet::new(),
            blanks: HashMap::new(),
            deleted: HashSet::new(),
        };
        let root = Path::root();
        if matches!(writer.view().find(&root)?, Found::Missing) {
            writer.make(&root, Model::Basic, Vec::new())?;
        }
        Ok(writer)
    }

    /// True if the transaction makes the root.
    pub fn has_new_root(&self) -> bool {
        self.made.contains(&Path::root().id())
    }

    /// The snapshot that the transaction reads.
    pub fn view(&self) -> View<'t> {
        View { snapshot: self.snapshot, base: self.base }
    }

    /// Creates a resource in its container, which it creates too if it is missing.
    ///
    /// Errors: those of [`Writer::container`]; refusals of the engine.
    pub fn create(&mut self, path: &Path, model: Model, graph: &Graph) -> Result<(), Problem> {
        self.create_with(path, model, graph, Vec::new())
    }

    /// The same, with properties that are no statements.
    pub fn create_with(
        &mut self,
        path: &Path,
        model: Model,
        graph: &Graph,
        mut properties: Vec<(Arc<str>, Value)>,
    ) -> Result<(), Problem> {
        let id = path.id();
        // Order: containers first, because a link to one of them would make a placeholder of it.
        path.parent().map(|parent| self.container(&parent)).transpose()?;
        let own = self.resolved(&id, &graph.own)?;
        properties.extend(own.properties()?);
        self.place(path, model, properties)?;
        self.write_nodes(&id, graph)?;
        self.attach_all(&id, &own)
    }

    /// The id of the container at a path; it and the containers above it are created if they are missing.
    ///
    /// Errors: a refusal for a resource that is no container; `deleted`.
    pub fn container(&mut self, path: &Path) -> Result<Id, Problem> {
        let id = path.id();
        if self.made.contains(&id) {
            return Ok(id);
        }
        match self.view().find(path)? {
            Found::Live(_, model) if model.is_container() => Ok(id),
            Found::Live(_, model) => Err(no_container(self.view(), path, model)),
            Found::Gone(_) => Err(self.view().gone(path)),
            Found::Placeholder | Found::Missing => {
                self.made.insert(id.clone());
                self.place(path, Model::Basic, Vec::new())?;
                Ok(id)
            }
        }
    }

    /// Makes the entity of a resource, and puts it into its container.
    fn place(
        &mut self,
        path: &Path,
        model: Model,
        properties: Vec<(Arc<str>, Value)>,
    ) -> Result<(), Problem> {
        let parent = path.parent().map(|parent| self.container(&parent)).transpose()?;
        self.make(path, model, properties)?;
        let Some(parent) = parent else { return Ok(()) };
        let contains = NewRelationship::new(CONTAINS, parent, path.id()).property(NAME, path.name());
        self.transaction.create_relationship(contains)?;
        Ok(())
    }

    /// Makes the entity of a resource, also from a placeholder.
    fn make(
        &mut self,
        path: &Path,
        model: Model,
        mut properties: Vec<(Arc<str>, Value)>,
    ) -> Result<(), Problem> {
        let id = path.id();
        if path.needs_property() {
            properties.push((PATH_PROPERTY.into(), Value::from(path.text())));
        }
        match found(self.snapshot, &id)? {
            Found::Placeholder | Found::Gone(Some(_)) => {
                let instance = InstanceId::Entity(id.clone());
                self.transaction.retype(&instance, model.type_name())?;
                self.transaction.replace(&instance, properties)?;
            }
            _ => {
                self.transaction.create_entity(new_entity(model.type_name(), &id, properties))?;
            }
        }
        self.made.insert(id);
        Ok(())
    }

    /// Replaces the graph of a resource. If anything changes, the resource gets a version.
    pub fn replace(&mut self, entity: &Entity<'_>, graph: &Graph) -> Result<(), Problem> {
        let start = self.transaction.changes_count();
        let own = self.resolved(entity.id(), &graph.own)?;
        let has_version = self.write_properties(entity, &own)?;
        let base = self.base;
        self.delete_nodes(entity, |name| match name {
            // Blank nodes have no names by which they could be compared.
            None => true,
            // A name that is no IRI was not shown.
            Some(name) if !annals::is_iri(&base.restored(name)) => false,
            Some(name) => !graph.nodes.contains_key(&NodeName::Iri(name.to_owned())),
        })?;
        self.write_nodes(entity.id(), graph)?;
        self.attach_all(entity.id(), &own)?;
        if has_version || self.transaction.changes_count() == start { Ok(()) } else { self.touch(entity) }
    }

    /// Gives an entity the values of a subject, and removes its links to others that the subject has not. True if the
    /// values changed.
    fn write_properties(&mut self, entity: &Entity<'_>, own: &Statements) -> Result<bool, Problem> {
        let instance = entity.instance_id();
        let kept = entity.properties().filter(|(name, _)| !is_predicate(name));
        let mut properties: Vec<(Arc<str>, Value)> = kept.map(|(name, value)| (name.into(), value)).collect();
        properties.extend(own.properties()?);
        let before = self.transaction.changes_count();
        self.transaction.replace(&instance, properties)?;
        let has_version = self.transaction.changes_count() > before;
        let wanted: HashSet<(&str, Id)> =
            own.links.iter().map(|(predicate, path)| (predicate.as_str(), path.id())).collect();
        for neighbor in entity.neighbors(Direction::Out, None) {
            let neighbor = neighbor?;
            let predicate = neighbor.relationship.type_name();
            let is_wanted = wanted.contains(&(predicate, neighbor.entity.id().clone()));
            if is_predicate(predicate) && !is_wanted {
                self.delete_link(neighbor.relationship.id())?;
            }
        }
        Ok(has_version)
    }

    /// The statements, with links to deleted resources as IRIs: no relationship can lead to a deleted entity. Makes
    /// placeholders for resources that are not there.
    fn resolved(&mut self, from: &Id, statements: &Statements) -> Result<Statements, Problem> {
        let mut resolved = statements.clone();
        for (predicate, path) in &statements.links {
            let id = path.id();
            if id == *from || self.can_link(path, &id)? {
                continue;
            }
            resolved.links.remove(&(predicate.clone(), path.clone()));
            resolved.values.entry(predicate.clone()).or_default().push(stored_iri(path));
        }
        Ok(resolved)
    }

    /// True if a relationship can lead to the resource at a path; makes a placeholder if nothing is there.
    pub fn can_link(&mut self, path: &Path, id: &Id) -> Result<bool, Problem> {
        if self.made.contains(id) {
            return Ok(true);
        }
        match self.view().find(path)? {
            Found::Gone(None) => Ok(false),
            Found::Missing => {
                let mut properties = Vec::new();
                if path.needs_property() {
                    properties.push((PATH_PROPERTY.into(), Value::from(path.text())));
                }
                self.transaction.create_entity(new_entity(PLACEHOLDER, id, properties))?;
                self.made.insert(id.clone());
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    /// Makes the relationships of an entity to resources and blank nodes.
    pub fn attach_all(&mut self, from: &Id, statements: &Statements) -> Result<(), Problem> {
        for (predicate, path) in &statements.links {
            self.attach(from, predicate, &path.id())?;
        }
        for (predicate, label) in &statements.blanks {
            let to = self.blank(label);
            self.attach(from, predicate, &to)?;
        }
        Ok(())
    }

    /// Makes the relationship that a triple is, unless it is there.
    pub fn attach(&mut self, from: &Id, predicate: &str, to: &Id) -> Result<(), Problem> {
        let id = link_id(from, predicate, to);
        let instance = InstanceId::Relationship(id.clone());
        if self.snapshot.relationship(&id)?.is_some() {
            return Ok(());
        }
        if self.snapshot.versions(&instance, 0, 1).is_ok() {
            return Ok(self.transaction.restore(&instance)?);
        }
        let link = NewRelationship { id, ..NewRelationship::new(predicate, from.clone(), to.clone()) };
        self.transaction.create_relationship(link)?;
        Ok(())
    }

    /// The id of a blank node of the request.
    pub fn blank(&mut self, label: &str) -> Id {
        self.blanks.entry(label.to_owned()).or_insert_with(Id::random).clone()
    }

    /// Writes the nodes of a graph: those with an IRI keep their entity.
    pub fn write_nodes(&mut self, resource: &Id, graph: &Graph) -> Result<(), Problem> {
        let mut links = Vec::new();
        for (name, statements) in &graph.nodes {
            let id = match name {
                NodeName::Blank(label) => self.blank(label),
                NodeName::Iri(iri) => node_id(resource, iri),
            };
            let resolved = self.resolved(resource, statements)?;
            let is_blank = matches!(name, NodeName::Blank(_));
            match if is_blank { None } else { self.snapshot.entity(&id)? } {
                Some(node) => {
                    let mut with_subject = resolved.clone();
                    with_subject.values.remove(SUBJECT);
                    self.write_properties(&node, &with_subject)?;
                }
                None => self.make_node(resource, &id, name, resolved.properties()?)?,
            }
            links.push((id, resolved));
        }
        // Order: when all nodes are there, because they may lead to each other.
        for (id, statements) in links {
            self.attach_all(&id, &statements)?;
        }
        Ok(())
    }

    /// Makes a node of a resource, also one that was deleted.
    pub fn make_node(
        &mut self,
        resource: &Id,
        id: &Id,
        name: &NodeName,
        mut properties: Vec<(Arc<str>, Value)>,
    ) -> Result<(), Problem> {
        let name = match name {
            // A slash, so that no child of the resource has this name.
            NodeName::Blank(_) => format!("/{}", super::view::label(id)),
            NodeName::Iri(iri) => {
                properties.push((SUBJECT.into(), Value::Iri(iri.as_str().into())));
                let fragment = stored_path(iri).and_then(|(_, fragment)| fragment);
                let name = fragment.map_or_else(|| format!("/{iri}"), |fragment| format!("/#{fragment}"));
                // A node of another resource's IRI may have the same fragment.
                let is_own = stored_path(iri).is_some_and(|(path, _)| path.id() == *resource);
                if is_own && name.len() <= NODE_NAME_BYTES_MAX { name } else { format!("/{id}") }
            }
        };
        let instance = InstanceId::Entity(id.clone());
        match found(self.snapshot, id)? {
            Found::Gone(_) => {
                self.transaction.restore_alone(id)?;
                self.transaction.replace(&instance, properties)?;
            }
            _ => {
                self.transaction.create_entity(new_entity(NODE, id, properties))?;
            }
        }
        self.made.insert(id.clone());
        let part = NewRelationship::new(PART, resource.clone(), id.clone()).property(NAME, name.as_str());
        self.transaction.create_relationship(part)?;
        Ok(())
    }

    /// Deletes the nodes of a resource whose IRI, or `None` for a blank node, is one of these.
    pub fn delete_nodes(
        &mut self,
        resource: &Entity<'_>,
        is_deleted: impl Fn(Option<&str>) -> bool,
    ) -> Result<(), Problem> {
        for node in resource.neighbors(Direction::Out, Some(PART)).entities() {
            let node = node?;
            let subject = node.property(SUBJECT);
            if !is_deleted(subject.as_ref().and_then(Value::as_str)) {
                continue;
            }
            self.delete_node(&node)?;
        }
        Ok(())
    }

    /// Deletes a node, with its relationships.
    pub fn delete_node(&mut self, node: &Entity<'_>) -> Result<(), Problem> {
        for direction in [Direction::Out, Direction::In] {
            for neighbor in node.neighbors(direction, None) {
                self.deleted.insert(neighbor?.relationship.id().clone());
            }
        }
        Ok(self.transaction.delete(&node.instance_id())?)
    }

    /// Deletes a relationship, unless the transaction deletes it already.
    pub fn delete_link(&mut self, relationship: &Id) -> Result<(), Problem> {
        if self.deleted.insert(relationship.clone()) {
            self.transaction.delete(&InstanceId::Relationship(relationship.clone()))?;
        }
        Ok(())
    }

    /// Deletes the relationships of an entity that are statements of clients.
    pub fn delete_links(&mut self, entity: &Entity<'_>, direction: Direction) -> Result<(), Problem> {
        for neighbor in entity.neighbors(direction, None) {
            let relationship = neighbor?.relationship;
            if is_predicate(relationship.type_name()) {
                self.delete_link(relationship.id())?;
            }
        }
        Ok(())
    }

    /// Gives a resource a new version, because something changed that is not in its properties: a link, a part, or its
    /// children in a way that their number does not show.
    pub fn touch(&mut self, resource: &Entity<'_>) -> Result<(), Problem> {
        let changes = resource.property(CHANGES).and_then(|value| value.as_integer()).unwrap_or(0);
        let patch = Patch::new().set(CHANGES, changes.wrapping_add(1));
        Ok(self.transaction.update(&resource.instance_id(), patch)?)
    }

    /// Touches the container of a resource if that names members by the statements of its children.
    pub fn touch_indirect(&mut self, entity: &Entity<'t>) -> Result<(), Problem> {
        let container = self.view().container(entity)?;
        match container.filter(|container| Model::of_entity(container) == Some(Model::Indirect)) {
            Some(container) => self.touch(&container),
            None => Ok(()),
        }
    }
}

/// A new entity with an id.
pub fn new_entity(type_name: &str, id: &Id, properties: Vec<(Arc<str>, Value)>) -> NewEntity {
    NewEntity { id: id.clone(), properties, ..NewEntity::new(type_name) }
}
