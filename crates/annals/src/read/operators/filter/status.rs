//! The statuses of the instances that a read returns.

use std::sync::Arc;

use crate::graph::instance::headers::HeaderNumber;
use crate::model::{Status, TypeKind};
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// Most statuses of one filter.
const STATUSES_MAX: usize = 64;

/// The statuses that it returns.
#[derive(Clone, Default)]
pub(in crate::read) enum Statuses {
    /// All but deleted.
    #[default]
    Live,
    /// These.
    Named(Arc<[String]>),
}

impl Statuses {
    /// The statuses with these names; all but deleted if there are none.
    ///
    /// Errors: `InvalidArgument` for more than 64, or an unknown status.
    pub(in crate::read) fn new(snapshot: &Snapshot, names: &[String]) -> Result<Statuses> {
        check_statuses(snapshot, names)?;
        Ok(if names.is_empty() { Statuses::Live } else { Statuses::Named(names.into()) })
    }

    /// True if no instance needs a check of its status, because a snapshot of the present shows only live ones.
    pub(in crate::read) fn is_live(&self) -> bool {
        matches!(self, Statuses::Live)
    }
}

/// Errors: `InvalidArgument` for more than 64 names, or an unknown status.
pub(crate) fn check_statuses(snapshot: &Snapshot, names: &[impl AsRef<str>]) -> Result<()> {
    if names.len() > STATUSES_MAX {
        let text = format!("statuses: expected at most {STATUSES_MAX}, found {}", names.len());
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    match names.iter().map(AsRef::as_ref).find(|name| !snapshot.knows_status(name)) {
        None => Ok(()),
        Some(name) => {
            let text =
                format!("status {name:?}: expected active, deleted, or one that a type or an instance has");
            Err(Error::new(ErrorKind::InvalidArgument, text))
        }
    }
}

impl Snapshot {
    /// True if this snapshot sees the instance at `slot` with one of these statuses. Reads nothing from the log.
    #[inline]
    pub(in crate::read) fn sees_status(&self, kind: TypeKind, slot: u32, statuses: &Statuses) -> bool {
        match statuses {
            Statuses::Live => self.sees(kind, slot),
            Statuses::Named(names) => {
                let status = self.status_of(kind, slot);
                status.is_some_and(|status| names.iter().any(|name| *name == status))
            }
        }
    }

    /// True if an instance can have this status, or has had it.
    fn knows_status(&self, name: &str) -> bool {
        let graph = self.graph();
        let kinds = [TypeKind::Entity, TypeKind::Relationship];
        // A refusal would tell whether a hidden instance has the status.
        self.sight().is_some()
            || [Status::Active.name(), Status::Deleted.name()].contains(&name)
            || kinds.iter().any(|kind| {
                graph
                    .types
                    .of_kind(*kind)
                    .any(|(_, known)| known.statuses.iter().any(|status| **status == *name))
            })
            || graph.headers.iter().any(|header| header.status.as_deref() == Some(name))
    }

    /// Name of the status of the instance at `slot` in this snapshot; `None` if the snapshot does not see it.
    pub(crate) fn status_of(&self, kind: TypeKind, slot: u32) -> Option<&str> {
        if !self.in_sight(kind, slot) {
            return None;
        }
        let table = self.graph().table(kind);
        match self.view() {
            None => {
                let row = table.row(slot)?;
                Some(self.name_of_status(row.status(), row.header()))
            }
            Some(view) => {
                let version = table.version_in(slot, view)?;
                Some(self.name_of_status(version.status, version.header))
            }
        }
    }

    pub(crate) fn name_of_status(&self, status: Status, header: HeaderNumber) -> &str {
        let own = || self.graph().headers.get(header).status.as_deref();
        if status == Status::Active { own().unwrap_or(status.name()) } else { status.name() }
    }
}
