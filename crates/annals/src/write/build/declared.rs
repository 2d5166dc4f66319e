//! Changes whose values are read as types declare them.

use std::sync::Arc;

use super::transaction::Transaction;
use crate::Result;
use crate::graph::{Graph, actions as action, kind_of};
use crate::model::{Action, InstanceId, Patch, PatchStep, TypeKind};

impl Transaction {
    /// Reads the values of following changes as the attributes of their types declare them, as
    /// [`Snapshot::read_as_declared`](crate::Snapshot::read_as_declared) does: for callers whose values come from a form
    /// with fewer kinds, such as JSON.
    pub fn as_declared(&mut self, is_as_declared: bool) -> &mut Transaction {
        self.is_as_declared = is_as_declared;
        self
    }

    /// True if it reads values as types declare them.
    pub fn is_as_declared(&self) -> bool {
        self.is_as_declared
    }

    /// Reads the values of `action` as their types declare them.
    ///
    /// Errors: those of earlier changes, if a type or an instance depends on them.
    pub(super) fn read_declared(&mut self, action: &mut Action) -> Result<()> {
        if self.base.graph().types.is_empty() && !self.defines_types {
            return Ok(());
        }
        match action {
            Action::CreateEntity(new) => {
                let graph = self.typed()?.graph();
                graph.read_as_declared(TypeKind::Entity, &new.type_name, &mut new.properties);
                graph.read_classifications_as_declared(&mut new.classifications);
            }
            Action::CreateRelationship(new) => {
                let graph = self.typed()?.graph();
                graph.read_as_declared(TypeKind::Relationship, &new.type_name, &mut new.properties);
            }
            Action::Update(action::Update { instance, patch, .. }) => {
                let Some(type_name) = self.type_of(instance)? else { return Ok(()) };
                read_patch(self.typed()?.graph(), kind_of(instance), &type_name, patch);
            }
            Action::Replace(action::Replace { instance, properties, classifications, .. }) => {
                if let Some(contents) = classifications {
                    self.typed()?.graph().read_classifications_as_declared(contents);
                }
                let Some(type_name) = self.type_of(instance)? else { return Ok(()) };
                self.typed()?.graph().read_as_declared(kind_of(instance), &type_name, properties);
            }
            Action::Classify(action::Classify { content, .. }) => {
                let graph = self.typed()?.graph();
                graph.read_as_declared(TypeKind::Classification, &content.name, &mut content.properties);
            }
            Action::Reclassify(action::Reclassify { name, patch, .. }) => {
                read_patch(self.typed()?.graph(), TypeKind::Classification, name, patch);
            }
            _ => {}
        }
        Ok(())
    }

    /// The type of an instance, after the changes so far; `None` if there is none with this id.
    fn type_of(&mut self, instance: &InstanceId) -> Result<Option<Arc<str>>> {
        let graph = self.graph_of(instance)?;
        let table = graph.table(kind_of(instance));
        let row = table.slot(instance.id()).and_then(|slot| table.row(slot));
        Ok(row.map(|row| Arc::clone(graph.names.name(row.type_name()))))
    }
}

fn read_patch(graph: &Graph, kind: TypeKind, type_name: &str, patch: &mut Patch) {
    let values = patch.steps.iter_mut().filter_map(|step| match step {
        PatchStep::Set(name, value) | PatchStep::Add(name, value) | PatchStep::Remove(name, value) => {
            Some((&**name, value))
        }
        PatchStep::Unset(_) | PatchStep::Clear => None,
    });
    graph.read_each_as_declared(kind, type_name, values);
}
