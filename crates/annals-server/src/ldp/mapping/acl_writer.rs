//! Writes ACLs: each is an entity that its resource contains, beside its children.

use annals::{Direction, Id, InstanceId, NewRelationship, Value};

use super::model::Model;
use super::path::{ACL_SEGMENT, PATH_PROPERTY, Path};
use super::statements::Graph;
use super::view::{Found, found};
use super::writer::{NAME, Writer, new_entity};
use crate::ldp_types::{ACL, PART, declare_acls};
use crate::protocol::problem::Problem;

impl Writer<'_> {
    /// Creates the ACL of a resource, also one that was deleted.
    ///
    /// Errors: refusals of the engine.
    pub fn create_acl(&mut self, resource: &Path, graph: &Graph) -> Result<(), Problem> {
        declare_acls(self.transaction)?;
        let path = resource.acl()?;
        let id = path.id();
        let mut properties = graph.own.properties()?;
        if path.needs_property() {
            properties.push((PATH_PROPERTY.into(), Value::from(path.text())));
        }
        match found(self.snapshot, &id)? {
            Found::Gone(_) => {
                self.restore_bare(&id)?;
                self.transaction.replace(&InstanceId::Entity(id.clone()), properties)?;
            }
            _ => {
                self.transaction.create_entity(new_entity(Model::Acl.type_name(), &id, properties))?;
            }
        }
        self.made.insert(id.clone());
        let link = NewRelationship::new(ACL, resource.id(), id.clone()).property(NAME, ACL_SEGMENT);
        self.transaction.create_relationship(link)?;
        self.write_nodes(&id, graph)?;
        self.attach_all(&id, &graph.own)
    }

    /// Restores an ACL without its nodes, because what an earlier ACL said must not count again.
    fn restore_bare(&mut self, id: &Id) -> Result<(), Problem> {
        self.transaction.restore_alone(id)?;
        let restored = self.transaction.view()?.clone();
        let Some(acl) = restored.entity(id)? else { return Ok(()) };
        for node in acl.neighbors(Direction::Out, Some(PART)).entities() {
            self.transaction.delete(&node?.instance_id())?;
        }
        Ok(())
    }
}
