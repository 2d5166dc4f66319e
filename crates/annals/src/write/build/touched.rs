//! The instances and types that the changes of a transaction touch. Computed on demand: most transactions never need
//! it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::graph::actions::act::Touches;
use crate::model::{Action, Change, InstanceId, TypeKind};

/// Instances and types that changes name.
#[derive(Default)]
pub(super) struct Touched {
    /// Each with the number of the last change that names it.
    instances: HashMap<InstanceId, usize>,
    types: HashSet<(TypeKind, Arc<str>)>,
    /// The number of the last change that may change instances that it does not name.
    last_wide: Option<usize>,
    /// True if a change may give an instance that it names another id, type or end, or declares a type.
    has_shape: bool,
    /// How many changes are listed.
    listed: usize,
}

impl Touched {
    /// True if one of `changes` names `instance`. Between calls changes are only added.
    pub(super) fn names(&mut self, changes: &[Change], instance: &InstanceId) -> bool {
        self.list(changes);
        self.instances.contains_key(instance)
    }

    /// The number of the last of `changes` that names `instance`; `None` if a later one may have changed it, too.
    pub(super) fn last_naming(&mut self, changes: &[Change], instance: &InstanceId) -> Option<usize> {
        self.list(changes);
        self.instances
            .get(instance)
            .copied()
            .filter(|number| self.last_wide.is_none_or(|wide| wide < *number))
    }

    /// True if one of `changes` may have changed `instance`.
    pub(super) fn is_changed(&mut self, changes: &[Change], instance: &InstanceId) -> bool {
        self.names(changes, instance) || self.last_wide.is_some()
    }

    /// True if `changes` leave the fields of `instance`, those of its ends and the types as they are.
    pub(super) fn leaves(&mut self, changes: &[Change], instance: &InstanceId) -> bool {
        !self.is_changed(changes, instance) && !self.has_shape
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
        for (number, Change { action, .. }) in changes.iter().enumerate().skip(self.listed) {
            self.has_shape |= !matches!(action.touches(), Touches::Nothing | Touches::Instance);
            if let Action::DefineType(definition) = action {
                self.types.insert((definition.kind, Arc::clone(&definition.name)));
            } else {
                self.instances.extend(action.instance().map(|instance| (instance, number)));
                if !matches!(action.touches(), Touches::Nothing | Touches::Instance | Touches::Shape) {
                    self.last_wide = Some(number);
                }
            }
        }
        self.listed = changes.len();
    }
}
