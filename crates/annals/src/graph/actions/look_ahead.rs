//! Reads the memory that changes will need before they are applied: the processor then waits for all of it together, and
//! not for each when its turn comes. Nothing but the reading is done, as in [`Home::read_all`].

use crate::graph::actions as action;
use crate::graph::structures::id_map::AHEAD;
use std::hint::black_box;
use std::mem::discriminant;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::graph::structures::id_map::Home;
use crate::graph::{Graph, kind_of};
use crate::model::{Action, Change, InstanceId, TypeKind, Value};

impl Graph {
    /// Reads what the next changes will need.
    pub(crate) fn look_ahead<'c>(&self, changes: impl Iterator<Item = &'c Change>) {
        let changes: SmallVec<[&Change; AHEAD]> = changes.collect();
        read_all(&changes);
        let mut homes: SmallVec<[Home<'_>; 4 * AHEAD]> = SmallVec::new();
        let mut changed: SmallVec<[&InstanceId; AHEAD]> = SmallVec::new();
        for change in changes {
            match &change.action {
                Action::CreateEntity(new) => homes.extend(self.entities.homes_of_new(&new.id)),
                Action::CreateRelationship(new) => {
                    homes.extend(self.relationships.homes_of_new(&new.id));
                    homes.extend([&new.from, &new.to].map(|end| self.entities.home(end)));
                }
                Action::Update(action::Update { instance, .. })
                | Action::Replace(action::Replace { instance, .. }) => {
                    homes.push(self.table(kind_of(instance)).home(instance.id()));
                    changed.push(instance);
                }
                _ => {}
            }
        }
        Home::read_all(&homes);
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            let table = self.table(kind);
            let of_kind = changed.iter().filter(|instance| kind_of(instance) == kind);
            let slots: SmallVec<[u32; AHEAD]> =
                of_kind.filter_map(|instance| table.slot(instance.id())).collect();
            table.read_all(&slots);
        }
    }
}

/// Reads changes, which other threads have made: their memory is in other caches.
fn read_all(changes: &[&Change]) {
    for change in changes {
        black_box(change.valid_from);
    }
    let values = || changes.iter().flat_map(|change| created(&change.action)).map(|(_, value)| value);
    for value in values() {
        black_box(discriminant(value));
    }
    for value in values() {
        if let Value::String(text) = value {
            black_box(text.as_bytes().last().copied());
        }
    }
}

/// The properties of what is created.
fn created(action: &Action) -> &[(Arc<str>, Value)] {
    match action {
        Action::CreateEntity(new) => &new.properties,
        Action::CreateRelationship(new) => &new.properties,
        _ => &[],
    }
}
