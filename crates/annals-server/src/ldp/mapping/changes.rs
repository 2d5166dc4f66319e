//! Adds and removes single triples of a resource. It reads only what the triples name, so that a change of a resource
//! with ten thousand values costs as much as one of a resource with ten.

use std::collections::{BTreeMap, HashSet};

use annals::{Direction, Entity, Id, InstanceId, Patch, PatchStep, Value};
use oxrdf::Triple;

use super::base::stored_iri;
use super::path::Path;
use super::statements::{Managed, NodeName, Object, Statements, Subject, object_of, subject_of};
use super::stored_names::{link_id, node_id};
use super::view::labelled;
use super::writer::Writer;
use crate::ldp_types::NODE;
use crate::protocol::problem::Problem;

/// The entities that a change writes.
#[derive(Default)]
struct Targets {
    patches: BTreeMap<Id, Patch>,
    new_nodes: BTreeMap<Id, (NodeName, Statements)>,
    /// Shape: `[(from, predicate, to)]`.
    links: Vec<(Id, String, Id)>,
    /// The same objects as IRIs, which say the same if they were written while the resources were deleted.
    /// Shape: `{(from, predicate): [IRI]}`.
    iris: BTreeMap<(Id, String), Vec<Value>>,
}

impl Writer<'_> {
    /// Removes triples from the graph of a resource, then adds others. If anything changes, the resource gets a version.
    ///
    /// Errors: refusals.
    pub fn change(
        &mut self,
        entity: &Entity<'_>,
        managed: &mut Managed<'_>,
        path: &Path,
        removed: &[Triple],
        added: &[Triple],
    ) -> Result<(), Problem> {
        // Most updates only add, and then nothing needs to be kept.
        let kept: HashSet<&Triple> = if removed.is_empty() { HashSet::new() } else { added.iter().collect() };
        let mut targets = Targets::default();
        let start = self.transaction.changes_count();
        for triple in removed.iter().filter(|triple| !kept.contains(triple)) {
            if managed.makes(triple)? {
                return Err(super::constraints::Refusal::of_triple(
                    triple,
                    "the server makes this statement, and a client cannot remove it",
                )
                .into_problem());
            }
            self.remove(entity, path, triple, &mut targets)?;
        }
        for triple in added {
            if !managed.makes(triple)? {
                self.add(entity, path, triple, &mut targets)?;
            }
        }
        self.remove_iris(&mut targets)?;
        let Targets { mut patches, new_nodes, links, .. } = targets;
        let before = self.transaction.changes_count();
        if let Some(patch) = patches.remove(entity.id()) {
            self.transaction.update(&entity.instance_id(), patch)?;
        }
        let has_version = self.transaction.changes_count() > before;
        for (id, (name, statements)) in &new_nodes {
            self.make_node(entity.id(), id, name, statements.properties()?)?;
        }
        for (id, patch) in patches {
            self.transaction.update(&InstanceId::Entity(id), patch)?;
        }
        for (from, predicate, to) in links {
            self.attach(&from, &predicate, &to)?;
        }
        if has_version || self.transaction.changes_count() == start { Ok(()) } else { self.touch(entity) }
    }

    fn remove(
        &mut self,
        entity: &Entity<'_>,
        path: &Path,
        triple: &Triple,
        targets: &mut Targets,
    ) -> Result<(), Problem> {
        let Some(from) = self.known_subject(entity, path, triple)? else { return Ok(()) };
        let predicate = triple.predicate.as_str();
        let object = object_of(self.base, path, triple).map_err(|refusal| refusal.into_problem())?;
        let (to, value) = match object {
            Object::Value(value) => (None, Some(value)),
            Object::Resource(path) => (Some(path.id()), Some(stored_iri(&path))),
            Object::Blank(label) => (labelled(&label), None),
        };
        if let Some(value) = value {
            patch_of(targets, &from).steps.push(PatchStep::Remove(predicate.into(), value));
        }
        let Some(to) = to else { return Ok(()) };
        let link = link_id(&from, predicate, &to);
        if self.snapshot.relationship(&link)?.is_some() {
            return self.delete_link(&link);
        }
        // Another door may have made the relationship, with an id of its own.
        let Some(from) = self.snapshot.entity(&from)? else { return Ok(()) };
        for neighbor in from.neighbors(Direction::Out, Some(predicate)) {
            let neighbor = neighbor?;
            if *neighbor.entity.id() == to {
                self.delete_link(neighbor.relationship.id())?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        entity: &Entity<'_>,
        path: &Path,
        triple: &Triple,
        targets: &mut Targets,
    ) -> Result<(), Problem> {
        let predicate = triple.predicate.as_str();
        let from = match self.known_subject(entity, path, triple)? {
            Some(known) => known,
            None => self.new_node(entity, subject_of(self.base, path, &triple.subject), targets),
        };
        let object = object_of(self.base, path, triple).map_err(|refusal| refusal.into_problem())?;
        let value = match object {
            Object::Value(value) => value,
            Object::Resource(target) => {
                let (to, iri) = (target.id(), stored_iri(&target));
                if self.can_link(&target, &to)? {
                    let iris = targets.iris.entry((from.clone(), predicate.to_owned())).or_default();
                    iris.push(iri);
                    targets.links.push((from, predicate.to_owned(), to));
                    return Ok(());
                }
                iri
            }
            Object::Blank(label) => {
                let to = match self.known_blank(&label)? {
                    Some(known) => known,
                    None => self.new_node(entity, Subject::Node(NodeName::Blank(label)), targets),
                };
                targets.links.push((from, predicate.to_owned(), to));
                return Ok(());
            }
        };
        match targets.new_nodes.get_mut(&from) {
            Some((_, statements)) => statements.add(predicate, Object::Value(value)),
            None => patch_of(targets, &from).steps.push(PatchStep::Add(predicate.into(), value)),
        }
        Ok(())
    }

    /// Removes the IRIs that say the same as the new links, so that no statement is there twice.
    fn remove_iris(&self, targets: &mut Targets) -> Result<(), Problem> {
        for ((from, predicate), iris) in std::mem::take(&mut targets.iris) {
            // Most predicates of links have no values, and then the entity needs no patch.
            let values = self.snapshot.entity(&from)?.and_then(|entity| entity.property(&predicate));
            if values.is_some() {
                let steps = iris.into_iter().map(|iri| PatchStep::Remove(predicate.as_str().into(), iri));
                patch_of(targets, &from).steps.extend(steps);
            }
        }
        Ok(())
    }

    /// The entity of a subject, if it is there.
    fn known_subject(
        &self,
        entity: &Entity<'_>,
        path: &Path,
        triple: &Triple,
    ) -> Result<Option<Id>, Problem> {
        Ok(match subject_of(self.base, path, &triple.subject) {
            Subject::Resource => Some(entity.id().clone()),
            Subject::Node(NodeName::Iri(iri)) => {
                let id = node_id(entity.id(), &iri);
                self.snapshot.entity(&id)?.map(|_| id)
            }
            Subject::Node(NodeName::Blank(label)) => self.known_blank(&label)?,
        })
    }

    /// The node that a label of an answer of the server names.
    fn known_blank(&self, label: &str) -> Result<Option<Id>, Problem> {
        let Some(id) = labelled(label) else { return Ok(None) };
        let node = self.snapshot.entity(&id)?;
        Ok(node.filter(|node| node.type_name() == NODE).map(|_| id))
    }

    fn new_node(&mut self, entity: &Entity<'_>, subject: Subject, targets: &mut Targets) -> Id {
        let Subject::Node(name) = subject else { return entity.id().clone() };
        let id = match &name {
            NodeName::Blank(label) => self.blank(label),
            NodeName::Iri(iri) => node_id(entity.id(), iri),
        };
        targets.new_nodes.entry(id.clone()).or_insert_with(|| (name, Statements::default()));
        id
    }
}

fn patch_of<'t>(targets: &'t mut Targets, id: &Id) -> &'t mut Patch {
    targets.patches.entry(id.clone()).or_default()
}
