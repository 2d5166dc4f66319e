//! The reads of a serializable transaction, and whether a later record touches them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::actions::act::Touches;
use crate::graph::{Graph, kind_of};
use crate::model::{Id, InstanceId, Record, TypeKind};

/// Most single reads that are stored one by one; with more, the transaction counts as having read everything.
const READS_MAX: usize = 100_000;

/// The reads. They are coarse where exact ones would cost more than a retry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads {
    everything: bool,
    instances: BTreeSet<InstanceId>,
    /// Entities whose relationships were listed or counted.
    neighborhoods: BTreeSet<Id>,
    /// Types whose instances were searched; `None` for all types of the kind.
    types: BTreeSet<(TypeKind, Option<Arc<str>>)>,
}

/// The effect of one change, for checking reads.
#[derive(Clone, Debug)]
pub(crate) enum Touched {
    /// A type: any instance may depend on it.
    Type,
    Instance {
        id: InstanceId,
        /// True if the change also affects relationships, and the content of a container.
        takes_along: bool,
    },
}

/// Everything that a record touches.
pub(crate) fn touched_by(record: &Record) -> Vec<Touched> {
    record
        .changes
        .iter()
        .filter_map(|change| {
            let touches = change.action.touches();
            match touches {
                Touches::Nothing => None,
                Touches::Shape | Touches::Everything => Some(Touched::Type),
                Touches::Instance | Touches::WithRelationships => {
                    let id = change.action.instance()?;
                    let takes_along =
                        touches == Touches::WithRelationships && matches!(id, InstanceId::Entity(_));
                    Some(Touched::Instance { id, takes_along })
                }
            }
        })
        .collect()
}

impl Reads {
    pub(crate) fn everything(&mut self) {
        *self = Reads { everything: true, ..Reads::default() };
    }

    pub(crate) fn instance(&mut self, id: InstanceId) {
        self.instances.insert(id);
        self.bound();
    }

    pub(crate) fn extend(&mut self, instances: impl IntoIterator<Item = InstanceId>) {
        instances.into_iter().for_each(|id| self.instance(id));
    }

    pub(crate) fn neighborhood(&mut self, id: &Id) {
        self.neighborhoods.insert(id.clone());
        self.bound();
    }

    pub(crate) fn search(&mut self, kind: TypeKind, type_name: Option<Arc<str>>) {
        self.types.insert((kind, type_name));
        self.bound();
    }

    /// True if nothing was read.
    pub(crate) fn are_none(&self) -> bool {
        !self.everything
            && self.instances.is_empty()
            && self.neighborhoods.is_empty()
            && self.types.is_empty()
    }

    fn bound(&mut self) {
        if self.everything || self.instances.len() + self.neighborhoods.len() + self.types.len() > READS_MAX {
            self.everything();
        }
    }

    /// True if a record that is applied to `graph` touched one of the reads.
    pub(crate) fn are_touched_by(&self, graph: &Graph, touched: &[Touched]) -> bool {
        self.everything || touched.iter().any(|touched| self.is_touched_by(graph, touched))
    }

    fn is_touched_by(&self, graph: &Graph, touched: &Touched) -> bool {
        let Touched::Instance { id, takes_along } = touched else { return true };
        if self.instances.contains(id) {
            return true;
        }
        let reads_relationships = !self.neighborhoods.is_empty()
            || self.types.iter().any(|(kind, _)| *kind == TypeKind::Relationship)
            || self.instances.iter().any(|read| matches!(read, InstanceId::Relationship(_)));
        if *takes_along && reads_relationships {
            return true;
        }
        let kind = kind_of(id);
        let table = graph.table(kind);
        let slot = table.slot(id.id());
        let Some((slot, row)) = slot.and_then(|slot| Some((slot, table.row(slot)?))) else { return true };
        // The content of a container may include any read.
        if *takes_along && graph.ever_contained(slot) {
            return !self.instances.is_empty() || !self.types.is_empty() || !self.neighborhoods.is_empty();
        }
        let is_searched = self.types.iter().any(|(read_kind, name)| {
            *read_kind == kind
                && name.as_ref().is_none_or(|name| {
                    graph.names.find(name).is_some_and(|name| graph.types.is_a(kind, row.type_name(), name))
                })
        });
        is_searched
            || (kind == TypeKind::Relationship
                && row.ends().iter().any(|&end| self.neighborhoods.contains(graph.entities.id(end))))
    }
}
