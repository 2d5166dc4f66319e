//! The effects of commits on resources, as messages in Activity Streams 2.0: one for each changed resource and commit.

use std::collections::HashSet;
use std::sync::Arc;

use annals::{
    AsOf, Change, Direction, Entity, Follow, Id, InstanceId, Position, Record, Repository, Snapshot,
};
use oxrdf::Term;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::headers;
use crate::answer::event_stream::{Place, Sent, Source};
use crate::ldp::binary::bytes::content_of;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::stored_names::is_predicate;
use crate::ldp::mapping::triples::each_object;
use crate::ldp::mapping::view::View;
use crate::ldp::mapping::vocabulary::{INBOX, LDP, MEMBERSHIP_RESOURCE, TYPE};
use crate::ldp_types::{CONTAINS, NODE, PART, PLACEHOLDER};
use crate::protocol::problem::Problem;
use crate::request::door::Door;

/// Most records that are read for one event: between them others may use the thread.
const RECORDS_MAX: usize = 10_000;

/// The messages of all commits.
pub struct Activities {
    door: Arc<Door>,
    follow: Follow,
    base: Base,
    place: Place,
    commit: Option<Commit>,
}

/// A commit with messages.
struct Commit {
    position: Position,
    record: Record,
    before: Snapshot,
    after: Snapshot,
    messages: Vec<Message>,
}

/// The event of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    id: Id,
    kind: Kind,
    is_description: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Create,
    Update,
    Delete,
}

impl Activities {
    /// The messages after a place.
    pub fn new(door: &Arc<Door>, repository: &Repository, base: Base, place: Place) -> Activities {
        let follow = repository.follow(place.position);
        Activities { door: Arc::clone(door), follow, base, place, commit: None }
    }
}

impl Source for Activities {
    fn place(&self) -> Place {
        self.place
    }

    fn next(&mut self) -> Result<Option<Sent>, Problem> {
        for _ in 0..RECORDS_MAX {
            let Some(commit) = &self.commit else {
                let Some((position, record)) = self.follow.poll()? else { return Ok(None) };
                let present = self.door.snapshot()?;
                self.commit = Some(Commit::of(&present, position, record)?);
                continue;
            };
            let (index, count) = (self.place.sent, commit.messages.len());
            let message = commit.messages.get(index);
            let data =
                message.map(|message| commit.data(message, &self.base, &self.door.source())).transpose()?;
            let is_last = index + 1 >= count;
            let position = is_last.then_some(commit.position);
            match position {
                Some(position) => {
                    self.place = Place { position, sent: 0 };
                    self.commit = None;
                }
                None => self.place.sent += 1,
            }
            if let Some(data) = data {
                return Ok(Some(Sent { position, data }));
            }
        }
        Ok(None)
    }
}

impl Commit {
    fn of(present: &Snapshot, position: Position, record: Record) -> Result<Commit, Problem> {
        let at = |position| present.as_of(AsOf { position: Some(position), ..AsOf::default() });
        let (before, after) = (at(Position(position.0.saturating_sub(1)))?, at(position)?);
        let mut touched = Touched { before: &before, after: &after, ids: Vec::new(), known: HashSet::new() };
        record.changes.iter().try_for_each(|change| touched.add_change(change))?;
        let mut messages = Vec::new();
        for id in touched.ids {
            add_messages(&before, &after, id, &mut messages)?;
        }
        // The changes are in the log; only the head is needed.
        let record = Record { changes: Vec::new(), ..record };
        Ok(Commit { position, record, before, after, messages })
    }

    /// The message as JSON-LD.
    ///
    /// Source: <https://www.w3.org/TR/activitystreams-vocabulary/>.
    fn data(&self, message: &Message, base: &Base, source: &str) -> Result<Json, Problem> {
        let snapshot = if message.kind == Kind::Delete { &self.before } else { &self.after };
        let view = View { snapshot, base };
        let entity = snapshot.entity(&message.id)?;
        let entity = entity.ok_or_else(|| Problem::not_found("the resource is not in this commit"))?;
        let path = Path::of_entity(&entity).unwrap_or_else(Path::root);
        let iri = headers::address(base, &path, message.is_description);
        let model = if message.is_description { Model::RdfSource } else { model_of(&entity) };
        let mut types: Vec<String> = model.classes().iter().map(|class| format!("{LDP}{class}")).collect();
        let mut inbox = None;
        if message.is_description || model != Model::NonRdfSource {
            each_object(view, &entity, TYPE, |object| {
                if let Term::NamedNode(class) = object {
                    types.push(class.into_string());
                }
                Ok(())
            })?;
            each_object(view, &entity, INBOX, |object| {
                if let Term::NamedNode(node) = object {
                    inbox = Some(node.into_string());
                }
                Ok(())
            })?;
        }
        let name = format!("{source}\n{}\n{}\n{}", self.position, message.id, message.is_description);
        let mut data = json!({
            "@context": "https://www.w3.org/ns/activitystreams",
            "id": format!("urn:uuid:{}", Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())),
            "type": message.kind.name(),
            "published": self.record.instant.to_string(),
            "object": { "id": iri, "type": types },
        });
        if let Some(inbox) = inbox {
            data["object"]["inbox"] = inbox.into();
        }
        if !self.record.author.is_empty() {
            data["actor"] = json!({ "type": "Person", "name": *self.record.author });
        }
        if !self.record.message.is_empty() {
            data["summary"] = (*self.record.message).into();
        }
        Ok(data)
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Create => "Create",
            Kind::Update => "Update",
            Kind::Delete => "Delete",
        }
    }
}

/// Adds what happened to the resource with an id, and to its description if it is a binary.
fn add_messages(
    before: &Snapshot,
    after: &Snapshot,
    id: Id,
    messages: &mut Vec<Message>,
) -> Result<(), Problem> {
    let (was, is) = (resource(before, &id)?, resource(after, &id)?);
    let kind = match (&was, &is) {
        (None, None) => return Ok(()),
        (None, Some(_)) => Kind::Create,
        (Some(_), Some(_)) => Kind::Update,
        (Some(_), None) => Kind::Delete,
    };
    let is_binary =
        is.as_ref().or(was.as_ref()).is_some_and(|entity| model_of(entity) == Model::NonRdfSource);
    let has_other_bytes = was.as_ref().and_then(content_of) != is.as_ref().and_then(content_of);
    if !is_binary || kind != Kind::Update || has_other_bytes {
        messages.push(Message { id: id.clone(), kind, is_description: false });
    }
    if is_binary {
        messages.push(Message { id, kind, is_description: true });
    }
    Ok(())
}

/// The resources that a commit touches, each once, in the order of its changes.
struct Touched<'s> {
    before: &'s Snapshot,
    after: &'s Snapshot,
    ids: Vec<Id>,
    known: HashSet<Id>,
}

impl<'s> Touched<'s> {
    fn add_change(&mut self, change: &Change) -> Result<(), Problem> {
        let bag = change.action.bag();
        // Undoing a commit deletes and restores several instances at once.
        let listed = bag.instances.unwrap_or_default().iter().cloned();
        let instances: Vec<InstanceId> = change.action.instance().into_iter().chain(listed).collect();
        let is_deep = matches!(change.action.verb(), "delete" | "restore");
        for instance in instances {
            match instance {
                InstanceId::Entity(id) => self.add_entity(&id, is_deep)?,
                InstanceId::Relationship(id) => self.add_relationship(&id)?,
            }
        }
        Ok(())
    }

    fn add_entity(&mut self, id: &Id, is_deep: bool) -> Result<(), Problem> {
        for snapshot in [self.before, self.after] {
            let Some(entity) = snapshot.entity(id)? else { continue };
            self.add_owner(&entity)?;
            let mut below = if is_deep { vec![entity] } else { Vec::new() };
            while let Some(entity) = below.pop() {
                for child in entity.neighbors(Direction::Out, Some(CONTAINS)).entities() {
                    let child = child?;
                    self.add_owner(&child)?;
                    below.push(child);
                }
            }
        }
        Ok(())
    }

    /// A link is a statement of the resource that it comes from.
    fn add_relationship(&mut self, id: &Id) -> Result<(), Problem> {
        for snapshot in [self.before, self.after] {
            let Some(link) = snapshot.relationship(id)? else { continue };
            if is_predicate(link.type_name()) || link.type_name() == CONTAINS {
                let from = link.from().clone();
                if let Some(entity) = snapshot.entity(&from)? {
                    self.add_owner(&entity)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the resource that an entity is, or is a part of, and the resource that gets members by it.
    fn add_owner(&mut self, entity: &Entity<'_>) -> Result<(), Problem> {
        if entity.type_name() == NODE {
            if let Some(owner) = entity.neighbors(Direction::In, Some(PART)).entities().next() {
                self.add(owner?.id());
            }
            return Ok(());
        }
        if Path::of_entity(entity).is_none() {
            return Ok(());
        }
        self.add(entity.id());
        if model_of(entity).has_members() {
            for resource in entity.neighbors(Direction::Out, Some(MEMBERSHIP_RESOURCE)).entities() {
                self.add(resource?.id());
            }
        }
        Ok(())
    }

    fn add(&mut self, id: &Id) {
        if self.known.insert(id.clone()) {
            self.ids.push(id.clone());
        }
    }
}

/// The resource with an id; `None` if there is none.
fn resource<'s>(snapshot: &'s Snapshot, id: &Id) -> Result<Option<Entity<'s>>, Problem> {
    let entity = snapshot.entity(id)?;
    Ok(entity.filter(|entity| {
        entity.type_name() != PLACEHOLDER && entity.type_name() != NODE && Path::of_entity(entity).is_some()
    }))
}

fn model_of(entity: &Entity<'_>) -> Model {
    Model::of_entity(entity).unwrap_or(Model::RdfSource)
}
