//! The instances and types that the changes of a transaction touch. Computed on demand: most transactions never need
//! it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::graph::actions::act::Touches;
use crate::model::{Action, Change, InstanceId, TypeKind};

/// Instances and types that changes name.
#[derive(Default)]
pub(super) struct Touched {
    instances: HashSet<InstanceId>,
    types: HashSet<(TypeKind, Arc<str>)>,
    /// True if one of the changes may change instances that it does not name.
    is_wide: bool,
    /// How many changes are listed.
    listed: usize,
}

impl Touched {
    /// True if one of `changes` names `instance`. Between calls changes are only added.
    pub(super) fn names(&mut self, changes: &[Change], instance: &InstanceId) -> bool {
        self.list(changes);
        self.instances.contains(instance)
    }

    /// True if one of `changes` may have changed `instance`.
    pub(super) fn is_changed(&mut self, changes: &[Change], instance: &InstanceId) -> bool {
        self.names(changes, instance) || self.is_wide
    }

    /// True if one of `changes` may have changed an instance of `action`.
    pub(super) fn concerns(&mut self, changes: &[Change], action: &Action) -> bool {
        match (action.instance(), action) {
            (Some(instance), _) => self.is_changed(changes, &instance),
            (None, Action::DefineType(definition)) => {
                self.list(changes);
                self.types.contains(&(definition.kind, Arc::clone(&definition.name)))
            }
            (None, _) => !changes.is_empty(),
        }
    }

    fn list(&mut self, changes: &[Change]) {
        for Change { action, .. } in &changes[self.listed..] {
            if let Action::DefineType(definition) = action {
                self.types.insert((definition.kind, Arc::clone(&definition.name)));
            } else {
                self.instances.extend(action.instance());
                self.is_wide |=
                    !matches!(action.touches(), Touches::Nothing | Touches::Instance | Touches::Shape);
            }
        }
        self.listed = changes.len();
    }
}
