//! The permit of a request: what it needs of ACLs, checked when it comes and again when it commits.

use std::fmt::Display;
use std::sync::Arc;

use annals::{Id, InstanceId, Snapshot, Transaction};

use super::agent::Agent;
use super::modes::Modes;
use crate::access::{Principal, unauthenticated};
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::path::Path;
use crate::ldp::mapping::vocabulary::MEMBERSHIP_RESOURCE;
use crate::protocol::problem::Problem;

/// The purpose of a request for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Needs all of these modes.
    Do(Modes),
    /// Adds a child to a container. Nothing can be added to another resource, so that this needs to write it.
    Post,
    /// Makes the resource, or replaces it.
    Put,
    /// Deletes it with everything that it contains.
    Delete,
}

impl Purpose {
    /// The modes that it needs of the resource, as it is now.
    fn modes(self, agent: &Agent, path: &Path) -> annals::Result<Modes> {
        let is_adding = match self {
            Purpose::Do(modes) => return Ok(modes),
            Purpose::Post => agent.model_at(path)?.is_none_or(Model::is_container),
            Purpose::Put => agent.model_at(path)?.is_none(),
            Purpose::Delete => false,
        };
        Ok(if is_adding { Modes::APPEND } else { Modes::WRITE })
    }

    /// Its modes, and further ones, in words that do not tell whether there is a resource.
    fn text(self, also: Modes) -> String {
        let own = match self {
            Purpose::Do(modes) => modes.to_string(),
            Purpose::Post => "acl:Append of a container, or acl:Write".to_owned(),
            Purpose::Put => "acl:Append to make it, or acl:Write to replace it".to_owned(),
            Purpose::Delete => Modes::WRITE.to_string(),
        };
        if also == Modes::NONE { own } else { format!("{own}, with {also}") }
    }
}

/// The permit of a client whose roles do not give what it asks for.
#[derive(Clone)]
pub struct Permit {
    agent: Arc<Agent>,
    principal: Arc<Principal>,
    path: Path,
    purpose: Purpose,
    /// Needed further, because the request asks for the state of the resource.
    also: Modes,
    iri: String,
}

impl Permit {
    /// The permit to do something with the resource at a path.
    pub fn new(
        (agent, principal): (Arc<Agent>, Arc<Principal>),
        path: Path,
        (purpose, also): (Purpose, Modes),
        base: &Base,
    ) -> Permit {
        let iri = base.iri(&path);
        Permit { agent, principal, path, purpose, also, iri }
    }

    /// True if the client has modes of access to the resource.
    ///
    /// Errors: those of reading ACLs.
    pub fn may(&self, modes: Modes) -> annals::Result<bool> {
        Ok(self.agent.modes(&self.path)?.has(modes))
    }

    /// Refuses the request if the ACLs do not give what it needs.
    ///
    /// Errors: `forbidden`; `unauthenticated` for a client without credentials.
    pub fn check(&self) -> Result<(), Problem> {
        self.check_by(&self.agent)
    }

    /// The same by the ACLs of the snapshot that a transaction reads. The transaction relies on them.
    pub fn check_at(&self, transaction: &mut Transaction) -> Result<(), Problem> {
        let agent = self.agent.at(transaction.base().clone());
        self.check_by(&agent)?;
        agent.rely(transaction);
        Ok(())
    }

    fn check_by(&self, agent: &Agent) -> Result<(), Problem> {
        let needed = self.purpose.modes(agent, &self.path)?.and(self.also);
        if !agent.modes(&self.path)?.has(needed) {
            return Err(self.forbidden(self.purpose.text(self.also), &self.iri));
        }
        if self.purpose == Purpose::Delete && !agent.may_write_all(&self.path)? {
            let all = format!("all that {} contains", self.iri);
            return Err(self.forbidden(Modes::WRITE, all));
        }
        Ok(())
    }

    /// Refuses an update that removes statements or asks for some, if the client may not write or not read.
    ///
    /// Errors: as [`Permit::check`].
    pub fn check_update(&self, is_adding: bool, is_ground: bool) -> Result<(), Problem> {
        // The ACL itself: to control it is to read and to write it.
        if self.purpose == Purpose::Do(Modes::CONTROL) {
            return Ok(());
        }
        let add = if is_adding { Modes::APPEND } else { Modes::WRITE };
        let needed = if is_ground { add } else { add.and(Modes::READ) };
        if self.may(needed)? { Ok(()) } else { Err(self.forbidden(needed, &self.iri)) }
    }

    /// Refuses a transaction that gives members to a resource that the client may not write.
    ///
    /// Errors: as [`Permit::check`].
    pub fn check_members(&self, transaction: &mut Transaction) -> Result<(), Problem> {
        let base = &transaction.base().clone();
        let agent = self.agent.at(base.clone());
        for action in transaction.actions() {
            let bag = action.bag();
            let mut targets: Vec<Id> = Vec::new();
            if bag.name.is_some_and(|name| **name == *MEMBERSHIP_RESOURCE) && bag.from != bag.to {
                targets.extend(bag.to.cloned());
            }
            if let (Some(InstanceId::Relationship(id)), "restore") = (action.instance(), action.verb()) {
                targets.extend(target_before(base, &id)?);
            }
            for target in targets {
                let path = Path::of_id(&target);
                if path.as_ref() == Some(&self.path) {
                    continue;
                }
                let modes = path.map_or(Ok(Modes::NONE), |path| agent.modes(&path))?;
                if !modes.has(Modes::WRITE) {
                    return Err(self.forbidden(Modes::WRITE, "the membership resource"));
                }
            }
        }
        agent.rely(transaction);
        Ok(())
    }

    /// The answer to a client that may not do this. It says the same of resources that are there and of others.
    fn forbidden(&self, needed: impl Display, of: impl Display) -> Problem {
        if self.principal.is_nobody() {
            return unauthenticated(
                "expected credentials, found none; send a token as Authorization: Bearer",
            );
        }
        let client = self.principal.shown();
        let text = format!(
            "{client}: expected {needed} for {of}, found less; ask for an authorization in its ACL, or for a role"
        );
        Problem::door("forbidden", text)
    }
}

/// The membership resource to which a deleted relationship led.
fn target_before(base: &Snapshot, id: &Id) -> annals::Result<Option<Id>> {
    let versions = base.versions(&InstanceId::Relationship(id.clone()), 0, 2)?;
    for version in versions {
        if let Some(known) = base.relationship_version(id, version.version)?
            && known.type_name() == MEMBERSHIP_RESOURCE
            && known.from() != known.to()
        {
            return Ok(Some(known.to().clone()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use annals::{NewEntity, NewRelationship, Repository, Value};
    use http::{HeaderMap, Uri};

    use super::*;
    use crate::ldp::acl::modes;
    use crate::ldp::mapping::vocabulary::TYPE;
    use crate::ldp_types::{ACL, NODE, PART};

    /// A resource whose ACL lets the public read it.
    fn open_resource(transaction: &mut Transaction) -> annals::Result<()> {
        let id = |text: &str| Id::new(text).expect("an id");
        let iri = |name: &str| Value::Iri(format!("{}{name}", modes::ACL).into());
        let node = NewEntity::new(NODE)
            .property(TYPE, iri("Authorization"))
            .property(&format!("{}mode", modes::ACL), iri("Read"))
            .property(
                &format!("{}agentClass", modes::ACL),
                Value::Iri("http://xmlns.com/foaf/0.1/Agent".into()),
            )
            .property(&format!("{}accessTo", modes::ACL), Value::Iri("ldp:/a".into()));
        for (name, entity) in [
            ("ldp:/a", NewEntity::new("ldp.RDFSource")),
            ("ldp:/a/fcr:acl", NewEntity::new("ldp.Acl")),
            ("node", node),
        ] {
            transaction.create_entity(NewEntity { id: id(name), ..entity })?;
        }
        let link = |kind: &str, from: &str, to: &str| NewRelationship::new(kind, id(from), id(to));
        transaction.create_relationship(link(ACL, "ldp:/a", "ldp:/a/fcr:acl"))?;
        transaction.create_relationship(link(PART, "ldp:/a/fcr:acl", "node")).map(drop)
    }

    #[test]
    fn a_permit_ends_when_the_acl_changes_before_the_commit() {
        let repository = Repository::in_memory();
        repository.transact(open_resource).unwrap();
        let base = Base::of(&HeaderMap::new(), &Uri::from_static("/"), "/ldp", None);
        let principal = Principal::nobody();
        let agent = Arc::new(Agent::new(&principal, Vec::new(), base.clone(), repository.snapshot()));
        let path = Path::root().child("a").unwrap();
        let permit = Permit::new((agent, principal), path, (Purpose::Do(Modes::READ), Modes::NONE), &base);
        permit.check().unwrap();
        permit.check_at(&mut repository.transaction()).unwrap();
        let node = InstanceId::Entity(Id::new("node").unwrap());
        repository.transact(|transaction| transaction.delete(&node)).unwrap();
        assert_eq!(permit.check_at(&mut repository.transaction()).unwrap_err().status(), 401);
        // The request itself reads the ACLs of the time when it came.
        permit.check().unwrap();
    }
}
