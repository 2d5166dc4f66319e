//! The authorizations of an ACL, read from its entity and its nodes.

use annals::{Direction, Entity, Id, Value};

use super::modes::{ACL, Modes};
use crate::ldp::mapping::base::{Base, Place};
use crate::ldp::mapping::model::Model;
use crate::ldp::mapping::vocabulary::TYPE;
use crate::ldp_types;

/// The class of all agents: the public.
pub const PUBLIC: &str = "http://xmlns.com/foaf/0.1/Agent";
/// The class of all agents that the server knows.
pub const KNOWN: &str = "http://www.w3.org/ns/auth/acl#AuthenticatedAgent";

/// The ACL of a resource.
#[derive(Clone, Debug, Default)]
pub struct Acl {
    /// Its authorizations, whatever their order.
    pub authorizations: Vec<Authorization>,
    /// The entities that it was read from.
    pub sources: Vec<Id>,
}

/// An authorization: which agents get which modes of access to what.
#[derive(Clone, Debug, Default)]
pub struct Authorization {
    /// The modes.
    pub modes: Modes,
    /// WebIDs or names of agents.
    pub agents: Vec<String>,
    /// True if every client is an agent of it.
    pub is_public: bool,
    /// True if every client with a name is one.
    pub is_for_known: bool,
    /// Addresses of groups of agents.
    pub groups: Vec<String>,
    /// The resources that it is about.
    pub resources: Vec<Id>,
    /// The classes whose resources it is about.
    pub classes: Vec<String>,
    /// True if it counts for what the resource contains, too.
    pub is_default: bool,
}

impl Acl {
    /// The ACL of a resource; `None` if it has none.
    ///
    /// Errors: those of reading.
    pub fn of(resource: &Entity<'_>, base: &Base) -> annals::Result<Option<Acl>> {
        let mut found = None;
        for entity in resource.neighbors(Direction::Out, Some(ldp_types::ACL)).entities() {
            let entity = entity?;
            if entity.type_name() == Model::Acl.type_name() {
                let acl: &mut Acl = found.get_or_insert_default();
                acl.add(&entity, resource.id(), base)?;
            }
        }
        Ok(found)
    }

    /// True if an authorization is about a class.
    pub fn has_classes(&self) -> bool {
        self.authorizations.iter().any(|one| !one.classes.is_empty())
    }

    /// True if an authorization counts for what the resource contains.
    pub fn is_inherited(&self) -> bool {
        self.authorizations.iter().any(|one| one.is_default)
    }

    fn add(&mut self, acl: &Entity<'_>, resource: &Id, base: &Base) -> annals::Result<()> {
        self.authorizations.extend(Authorization::of(acl, resource, base)?);
        self.sources.push(acl.id().clone());
        for node in acl.neighbors(Direction::Out, Some(ldp_types::PART)).entities() {
            let node = node?;
            self.authorizations.extend(Authorization::of(&node, resource, base)?);
            self.sources.push(node.id().clone());
        }
        Ok(())
    }
}

impl Authorization {
    /// The authorization that a node is; `None` for a node without the class of authorizations.
    fn of(node: &Entity<'_>, resource: &Id, base: &Base) -> annals::Result<Option<Authorization>> {
        let class = format!("{ACL}Authorization");
        let all_of = |predicate: &str| Ok(objects(node, predicate, base, usize::MAX)?.unwrap_or_default());
        let classes: annals::Result<Vec<String>> = all_of(TYPE);
        if !classes?.contains(&class) {
            return Ok(None);
        }
        let all = |name: &str| all_of(&format!("{ACL}{name}"));
        let resources = |name: &str| -> annals::Result<Vec<Id>> {
            let places = all(name)?;
            let ids = places.iter().filter_map(|iri| match base.place(iri) {
                Place::Resource(path) => Some(path.id()),
                _ => None,
            });
            Ok(ids.collect())
        };
        let agent_classes = all("agentClass")?;
        Ok(Some(Authorization {
            modes: all("mode")?.iter().filter_map(|iri| Modes::of_iri(iri)).fold(Modes::NONE, Modes::and),
            agents: all("agent")?,
            is_public: agent_classes.iter().any(|class| class == PUBLIC),
            is_for_known: agent_classes.iter().any(|class| class == KNOWN),
            groups: all("agentGroup")?,
            resources: resources("accessTo")?,
            classes: all("accessToClass")?,
            is_default: resources("default")?.contains(resource),
        }))
    }

    /// True if it is about a resource, of its own ACL or of the one that it inherits from `holder`.
    pub fn is_about(&self, resource: &Id, classes: &[String], holder: Option<&Id>) -> bool {
        let is_named = self.resources.contains(resource) || self.has_class_of(classes);
        match holder {
            None => is_named,
            Some(_) if !self.is_default => false,
            // The default alone is about everything below.
            Some(holder) => {
                let is_about_all = self.resources.is_empty() && self.classes.is_empty();
                is_named || is_about_all || self.resources.contains(holder)
            }
        }
    }

    fn has_class_of(&self, classes: &[String]) -> bool {
        self.classes.iter().any(|class| classes.contains(class))
    }
}

/// The IRIs and plain texts that are objects of a predicate; `None` for more than `max` objects.
///
/// Errors: those of reading.
pub fn objects(
    node: &Entity<'_>,
    predicate: &str,
    base: &Base,
    max: usize,
) -> annals::Result<Option<Vec<String>>> {
    let text = |value: &Value| match value {
        Value::Iri(iri) => Some(base.restored(iri)),
        Value::String(text) => Some((**text).to_owned()),
        _ => None,
    };
    let mut objects: Vec<String> = match node.property(predicate) {
        Some(Value::Set(set)) if set.len() > max => return Ok(None),
        Some(Value::Set(set)) => set.iter().filter_map(|value| text(&value)).collect(),
        Some(value) => text(&value).into_iter().collect(),
        None => Vec::new(),
    };
    for target in node.neighbors(Direction::Out, Some(predicate)).entities() {
        objects.extend(base.iri_of(&target?));
        if objects.len() > max {
            return Ok(None);
        }
    }
    Ok(Some(objects))
}
