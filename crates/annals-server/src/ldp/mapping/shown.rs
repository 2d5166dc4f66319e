//! A short digest of all that a resource shows beside its own properties: its links, parts and children, the containers
//! that make members of it, and what others say about it. [`resource_graph`](super::resource_graph) reads the same for an answer.
//!
//! An instance stands for itself by id and first record, so that one that was deleted and made again is another one, and
//! by its version where its properties are shown.

use annals::{DigestAlgorithm, Direction, Entity, Hashing};

use super::membership::Rule;
use super::stored_names::is_predicate;
use super::view::View;
use super::vocabulary::MEMBERSHIP_RESOURCE;
use crate::ldp_types::{CONTAINS, NODE, PART};

/// Units: bytes of a digest, of the 32 that SHA-256 has.
const DIGEST_BYTES: usize = 8;
/// Units: bytes that are hashed at once.
const PART_BYTES: usize = 4 << 10;

/// The digest of what the statements of a resource come from, beside its own properties; `0` for nothing.
pub fn digest(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    let mut shown = Shown::default();
    shown.add_links(view, entity)?;
    for container in entity.neighbors(Direction::In, Some(MEMBERSHIP_RESOURCE)).entities() {
        let container = container?;
        if view.is_readable(&container)? {
            shown.add_members(view, &container)?;
        }
    }
    if let Some(container) = view.container(entity)?
        && Rule::of(view, &container).is_some()
        && view.is_readable(&container)?
    {
        shown.add_rule(view, &container)?;
    }
    Ok(shown.finish())
}

/// The digest of what the statements of others about a resource come from; `0` for nothing.
pub fn inbound_digest(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    let mut shown = Shown::default();
    for neighbor in entity.neighbors(Direction::In, None) {
        let neighbor = neighbor?;
        let (type_name, other) = (neighbor.relationship.type_name(), &neighbor.entity);
        if !view.is_readable(other)? {
            continue;
        }
        if type_name == CONTAINS && Rule::of(view, other).is_some() {
            shown.add_rule(view, other)?;
        }
        if !is_predicate(type_name) {
            continue;
        }
        shown.add_link(type_name, other);
        // It may be a proxy in an indirect container.
        if let Some(container) = view.container(other)?
            && Rule::of(view, &container).is_some()
            && view.is_readable(&container)?
        {
            shown.add_rule(view, &container)?;
        }
    }
    Ok(shown.finish())
}

/// The hash so far.
#[derive(Default)]
struct Shown {
    part: Vec<u8>,
    hashing: Option<Hashing>,
}

impl Shown {
    /// The links of a resource to others, its children, and its parts with their links.
    fn add_links(&mut self, view: View<'_>, entity: &Entity<'_>) -> annals::Result<()> {
        for neighbor in entity.neighbors(Direction::Out, None) {
            let neighbor = neighbor?;
            match neighbor.relationship.type_name() {
                PART => {
                    self.add_whole(b"part", &neighbor.entity);
                    self.add_own_links(&neighbor.entity)?;
                }
                CONTAINS if view.is_readable(&neighbor.entity)? => self.add(b"child", &neighbor.entity),
                name if is_predicate(name) => self.add_link(name, &neighbor.entity),
                _ => {}
            }
        }
        Ok(())
    }

    fn add_own_links(&mut self, entity: &Entity<'_>) -> annals::Result<()> {
        for neighbor in entity.neighbors(Direction::Out, None) {
            let neighbor = neighbor?;
            let type_name = neighbor.relationship.type_name();
            if is_predicate(type_name) {
                self.add_link(type_name, &neighbor.entity);
            }
        }
        Ok(())
    }

    /// The members that the children of a container make.
    fn add_members(&mut self, view: View<'_>, container: &Entity<'_>) -> annals::Result<()> {
        self.add_whole(b"container", container);
        let Some(rule) = Rule::of(view, container).filter(|rule| rule.has_member.is_some()) else {
            return Ok(());
        };
        for child in container.neighbors(Direction::Out, Some(CONTAINS)).entities() {
            let child = child?;
            if !view.is_readable(&child)? {
                continue;
            }
            match &rule.inserted {
                None => self.add(b"member", &child),
                Some(relation) => {
                    self.add_whole(b"proxy", &child);
                    for member in child.neighbors(Direction::Out, Some(relation.as_str())).entities() {
                        let member = member?;
                        if view.is_readable(&member)? {
                            self.add(b"member", &member);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The statements of a container about its members, and whose members they are.
    fn add_rule(&mut self, view: View<'_>, container: &Entity<'_>) -> annals::Result<()> {
        self.add_whole(b"rule", container);
        for resource in container.neighbors(Direction::Out, Some(MEMBERSHIP_RESOURCE)).entities() {
            let resource = resource?;
            if view.is_readable(&resource)? {
                self.add(b"resource", &resource);
            }
        }
        Ok(())
    }

    fn add_link(&mut self, type_name: &str, other: &Entity<'_>) {
        self.add(type_name.as_bytes(), other);
    }

    /// An entity of which only the name is shown. The name of a node is one of its properties.
    fn add(&mut self, role: &[u8], entity: &Entity<'_>) {
        let has_name =
            entity.type_name() == NODE || entity.id().text().is_none_or(|id| !id.starts_with("ldp:/"));
        self.put(role, entity, if has_name { entity.version() } else { 0 });
    }

    /// An entity of which properties are shown.
    fn add_whole(&mut self, role: &[u8], entity: &Entity<'_>) {
        self.put(role, entity, entity.version());
    }

    fn put(&mut self, role: &[u8], entity: &Entity<'_>, version: u32) {
        let id = entity.id();
        let id = match id.text() {
            Some(text) => text.as_bytes(),
            None => id.uuid_bytes().map_or(&[][..], |bytes| bytes),
        };
        // Lengths first, so that no two lists of entities have the same bytes.
        for text in [role, id] {
            self.part.extend_from_slice(&(text.len() as u64).to_le_bytes());
            self.part.extend_from_slice(text);
        }
        self.part.extend_from_slice(&entity.birth().0.to_le_bytes());
        self.part.extend_from_slice(&version.to_le_bytes());
        if self.part.len() >= PART_BYTES {
            self.hash();
        }
    }

    fn hash(&mut self) {
        let new = || Hashing::of(&[DigestAlgorithm::Sha256]);
        self.hashing.get_or_insert_with(new).update(&self.part);
        self.part.clear();
    }

    fn finish(mut self) -> String {
        if self.hashing.is_none() && self.part.is_empty() {
            return "0".to_owned();
        }
        self.hash();
        let digests = self.hashing.map(Hashing::finish).unwrap_or_default();
        let bytes = digests.iter().flat_map(|digest| digest.bytes().iter().copied()).take(DIGEST_BYTES);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use annals::{AsOf, Id, NewEntity, NewRelationship, Patch, Repository, Snapshot, Transaction};
    use http::{HeaderMap, Uri};

    use super::*;
    use crate::ldp::mapping::base::Base;
    use crate::ldp::mapping::vocabulary::{HAS_MEMBER_RELATION, INSERTED_CONTENT_RELATION};

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    fn link(t: &mut Transaction, type_name: &str, from: &str, to: &str) -> annals::Result<()> {
        t.create_relationship(NewRelationship::new(type_name, id(from), id(to))).map(drop)
    }

    fn make(t: &mut Transaction, name: &str, type_name: &str) -> annals::Result<()> {
        t.create_entity(NewEntity { id: id(name), ..NewEntity::new(type_name) }).map(drop)
    }

    /// A resource with children, a part and links, and members by an indirect container.
    fn fill(t: &mut Transaction) -> annals::Result<()> {
        for (name, type_name) in
            [("ldp:/a", "ldp.BasicContainer"), ("ldp:/t", "ldp.RDFSource"), ("part", NODE)]
        {
            make(t, name, type_name)?;
        }
        let iri = |text: &str| annals::Value::Iri(text.into());
        let list = NewEntity::new("ldp.IndirectContainer")
            .property(HAS_MEMBER_RELATION, iri("urn:has"))
            .property(INSERTED_CONTENT_RELATION, iri("urn:for"));
        t.create_entity(NewEntity { id: id("ldp:/list"), ..list })?;
        link(t, MEMBERSHIP_RESOURCE, "ldp:/list", "ldp:/a")?;
        link(t, PART, "ldp:/a", "part")?;
        link(t, "urn:ref", "ldp:/a", "ldp:/t")?;
        link(t, "urn:ref", "part", "ldp:/t")?;
        for number in 0..40 {
            let (child, proxy) = (format!("ldp:/a/{number}"), format!("ldp:/list/{number}"));
            make(t, &child, "ldp.RDFSource")?;
            link(t, CONTAINS, "ldp:/a", &child)?;
            make(t, &proxy, "ldp.RDFSource")?;
            link(t, CONTAINS, "ldp:/list", &proxy)?;
            link(t, "urn:for", &proxy, &child)?;
        }
        Ok(())
    }

    fn digests(snapshot: &Snapshot) -> [String; 2] {
        let base = Base::of(&HeaderMap::new(), &Uri::from_static("/"), "/ldp", None);
        let view = View { snapshot, base: &base };
        let entity = snapshot.entity(&id("ldp:/a")).unwrap().unwrap();
        [digest(view, &entity).unwrap(), inbound_digest(view, &entity).unwrap()]
    }

    /// The answer to a write is made of the past if other writes came since.
    #[test]
    fn a_digest_is_the_same_in_the_present_and_as_of_a_later_time() {
        let repository = Repository::in_memory();
        repository.transact(fill).unwrap();
        let (position, before) = (repository.snapshot().position(), digests(&repository.snapshot()));
        let changes: [fn(&mut Transaction) -> annals::Result<()>; 6] = [
            |t| t.update(&annals::InstanceId::Entity(id("part")), Patch::new().set("urn:p", 1)),
            |t| t.delete(&annals::InstanceId::Entity(id("ldp:/a/7"))),
            |t| t.update(&annals::InstanceId::Entity(id("ldp:/list/9")), Patch::new().set("urn:for", "x")),
            |t| link(t, "urn:ref", "ldp:/a", "ldp:/list"),
            |t| link(t, "urn:ref", "ldp:/t", "ldp:/a"),
            |t| t.update(&annals::InstanceId::Entity(id("ldp:/list")), Patch::new().set("urn:p", 1)),
        ];
        let mut latest = before.clone();
        for change in changes {
            repository.transact(change).unwrap();
            let now = digests(&repository.snapshot());
            assert_ne!(now, latest);
            latest = now;
            let then = AsOf { position: Some(position), ..AsOf::default() };
            assert_eq!(digests(&repository.snapshot().as_of(then).unwrap()), before);
        }
        let nothing = Repository::in_memory();
        nothing.transact(|t| make(t, "ldp:/a", "ldp.RDFSource")).unwrap();
        assert_eq!(digests(&nothing.snapshot()), ["0", "0"]);
    }
}
