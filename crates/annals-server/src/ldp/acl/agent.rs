//! The client of a request as an agent of ACLs, and the modes of access that it has to each resource.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Direction, Entity, Id, InstanceId, Snapshot, Transaction, TypeKind};

use super::authorization::{Acl, Authorization, objects};
use super::modes::Modes;
use crate::access::{Principal, Verb};
use crate::ldp::mapping::base::{Base, Place};
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::stored_names::node_id;
use crate::ldp::mapping::view::{Found, View};
use crate::ldp::mapping::vocabulary::{LDP, TYPE};
use crate::ldp_types::{ACL, ACL_SOURCE, CONTAINS, NODE};

/// The predicate from a group to its members.
const HAS_MEMBER: &str = "http://www.w3.org/2006/vcard/ns#hasMember";
/// Most members of a group. A larger one has none.
pub const GROUP_MEMBERS_MAX: usize = 10_000;

/// Most classes that clients state about a resource. Of more, none counts for ACLs.
const CLASSES_MAX: usize = 1_000;

/// The client of a request, and the ACLs of one snapshot.
///
/// ACLs of now count for reads of the past, so this snapshot is never one of the past.
pub struct Agent {
    /// All by which ACLs may name the client.
    names: Vec<String>,
    is_known: bool,
    /// Modes that its roles give for every resource.
    by_role: Modes,
    base: Base,
    now: Snapshot,
    /// The answers of earlier reads; the snapshot does not change.
    read: Mutex<Read>,
}

#[derive(Default)]
struct Read {
    /// The ACL that the children of a container inherit, and the container that has it.
    inherited: HashMap<Id, Option<(Arc<Acl>, Id)>>,
    /// Whether the client is a member of a group.
    groups: HashMap<String, bool>,
    /// The entities of ACLs and groups that the answers were read from.
    sources: BTreeSet<Id>,
}

impl Agent {
    /// The client with these names. `base` is the address of the root, for a client that reads everything.
    pub fn new(principal: &Principal, names: Vec<String>, base: Base, now: Snapshot) -> Agent {
        let by_role = if principal.may(Verb::Read) { Modes::READ } else { Modes::NONE };
        Agent { names, is_known: principal.is_named(), by_role, base, now, read: Mutex::default() }
    }

    /// The same client, and the ACLs of another snapshot.
    pub fn at(&self, now: Snapshot) -> Agent {
        let (names, base) = (self.names.clone(), self.base.clone());
        Agent { names, is_known: self.is_known, by_role: self.by_role, base, now, read: Mutex::default() }
    }

    /// Makes a transaction rely on what the answers were read from: on these entities, and that no ACL comes or goes.
    pub fn rely(&self, transaction: &mut Transaction) {
        transaction.rely_on_type(TypeKind::Entity, ACL_SOURCE);
        transaction.rely_on_type(TypeKind::Relationship, ACL);
        for id in &self.read().sources {
            transaction.rely_on(&InstanceId::Entity(id.clone()));
            transaction.rely_on_relationships(id);
        }
    }

    /// The modes that the client has at a path. Where no resource is, these are those of the nearest container, without
    /// Read if the client may not read what would be there.
    ///
    /// Errors: those of reading.
    pub fn modes(&self, path: &Path) -> annals::Result<Modes> {
        if let Some(entity) = self.live(path)? {
            return self.modes_of(&entity);
        }
        let mut next = path.parent();
        while let Some(parent) = next {
            if let Some(container) = self.live(&parent)? {
                let own = self.modes_of(&container)?;
                let child = self.inherited(&container, &path.id(), None)?.and(self.by_role);
                let other = Modes::WRITE.and(Modes::CONTROL);
                return Ok(own.within(other.and(child)));
            }
            next = parent.parent();
        }
        Ok(self.by_role)
    }

    /// The interaction model of the resource at a path; `None` where none is.
    ///
    /// Errors: those of reading.
    pub fn model_at(&self, path: &Path) -> annals::Result<Option<Model>> {
        Ok(match self.view().find(path)? {
            Found::Live(_, model) => Some(model),
            _ => None,
        })
    }

    /// True if the client may read every resource, by its role.
    pub fn reads_all(&self) -> bool {
        self.by_role.has(Modes::READ)
    }

    /// True if the client may write a resource and everything that it contains.
    ///
    /// Errors: those of reading.
    pub fn may_write_all(&self, path: &Path) -> annals::Result<bool> {
        let mut left: Vec<Entity<'_>> = self.live(path)?.into_iter().collect();
        while let Some(entity) = left.pop() {
            if !self.modes_of(&entity)?.has(Modes::WRITE) {
                return Ok(false);
            }
            for child in entity.neighbors(Direction::Out, Some(CONTAINS)).entities() {
                left.push(child?);
            }
        }
        Ok(true)
    }

    fn view(&self) -> View<'_> {
        View { snapshot: &self.now, base: &self.base }
    }

    fn live(&self, path: &Path) -> annals::Result<Option<Entity<'_>>> {
        Ok(match self.view().find(path)? {
            Found::Live(entity, _) => Some(entity),
            _ => None,
        })
    }

    fn modes_of(&self, entity: &Entity<'_>) -> annals::Result<Modes> {
        let given = match self.acl_of(entity)? {
            Some(acl) => self.given(&acl, entity.id(), Some(entity), None)?,
            None => match self.view().container(entity)? {
                Some(container) => self.inherited(&container, entity.id(), Some(entity))?,
                // Without any ACL, and outside of all containers: admins only.
                None => Modes::NONE,
            },
        };
        Ok(given.and(self.by_role))
    }

    fn acl_of(&self, entity: &Entity<'_>) -> annals::Result<Option<Acl>> {
        let acl = Acl::of(entity, &self.base)?;
        self.read().sources.extend(acl.iter().flat_map(|acl| &acl.sources).cloned());
        Ok(acl)
    }

    /// The modes for a child of a container that has no ACL of its own; `entity` is the child, if it is there.
    fn inherited(
        &self,
        container: &Entity<'_>,
        child: &Id,
        entity: Option<&Entity<'_>>,
    ) -> annals::Result<Modes> {
        match self.inherited_acl(container)? {
            Some((acl, holder)) => self.given(&acl, child, entity, Some(&holder)),
            None => Ok(Modes::NONE),
        }
    }

    /// The ACL that the children of a container inherit: that of the nearest container with a default.
    fn inherited_acl(&self, container: &Entity<'_>) -> annals::Result<Option<(Arc<Acl>, Id)>> {
        let known = |id: &Id| self.read().inherited.get(id).cloned();
        let (mut next, mut asked) = (Some(container.clone()), Vec::new());
        let mut found = None;
        while let Some(above) = next {
            if let Some(known) = known(above.id()) {
                found = known;
                break;
            }
            asked.push(above.id().clone());
            if let Some(acl) = self.acl_of(&above)?.filter(Acl::is_inherited) {
                found = Some((Arc::new(acl), above.id().clone()));
                break;
            }
            next = self.view().container(&above)?;
        }
        let mut read = self.read();
        read.inherited.extend(asked.into_iter().map(|id| (id, found.clone())));
        Ok(found)
    }

    /// The modes that an ACL gives for a resource, whose entity is there or not; `holder` has the ACL, if the resource
    /// inherits it.
    fn given(
        &self,
        acl: &Acl,
        resource: &Id,
        entity: Option<&Entity<'_>>,
        holder: Option<&Id>,
    ) -> annals::Result<Modes> {
        let classes = match entity.filter(|_| acl.has_classes()) {
            Some(entity) => self.classes(entity)?,
            None => Vec::new(),
        };
        let mut modes = Modes::NONE;
        for one in acl.authorizations.iter().filter(|one| one.is_about(resource, &classes, holder)) {
            if !modes.has(one.modes) && self.is_agent_of(one)? {
                modes = modes.and(one.modes);
            }
        }
        Ok(modes)
    }

    fn is_agent_of(&self, one: &Authorization) -> annals::Result<bool> {
        if one.is_public || one.is_for_known && self.is_known {
            return Ok(true);
        }
        if one.agents.iter().any(|agent| self.names.contains(agent)) {
            return Ok(true);
        }
        for group in &one.groups {
            if self.is_member_of(group)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_member_of(&self, group: &str) -> annals::Result<bool> {
        if self.names.is_empty() {
            return Ok(false);
        }
        let known = self.read().groups.get(group).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let id = match self.base.place(group) {
            Place::Resource(path) => path.id(),
            Place::Part(path, _) => node_id(&path.id(), &self.base.stored(group)),
            Place::Outside => return Ok(false),
        };
        self.read().sources.insert(id.clone());
        let is_member = match self.now.entity(&id)? {
            Some(listed) => {
                let members = objects(&listed, HAS_MEMBER, &self.base, GROUP_MEMBERS_MAX)?;
                if members.is_none() {
                    tracing::warn!(
                        target: "annals::access", group, max = GROUP_MEMBERS_MAX,
                        "the group has too many members, so that it gives nothing"
                    );
                }
                members.is_some_and(|members| members.iter().any(|member| self.names.contains(member)))
            }
            None => false,
        };
        self.read().groups.insert(group.to_owned(), is_member);
        Ok(is_member)
    }

    /// The classes of a resource: those that clients stated, and those of LDP.
    fn classes(&self, entity: &Entity<'_>) -> annals::Result<Vec<String>> {
        if entity.type_name() == NODE {
            return Ok(Vec::new());
        }
        let mut classes = objects(entity, TYPE, &self.base, CLASSES_MAX)?.unwrap_or_default();
        let model = Model::of_entity(entity).map_or(&[][..], Model::classes);
        classes.extend(model.iter().map(|class| format!("{LDP}{class}")));
        Ok(classes)
    }

    fn read(&self) -> std::sync::MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
