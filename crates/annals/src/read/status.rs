//! Which statuses a read asks for.

use std::sync::Arc;

use super::snapshot::Snapshot;
use crate::model::{Status, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Most statuses of one filter.
const STATUSES_MAX: usize = 64;

/// The statuses that are asked for.
#[derive(Clone, Default)]
pub(crate) enum Statuses {
    /// All but deleted.
    #[default]
    Live,
    /// These.
    Named(Arc<[String]>),
}

impl Statuses {
    /// The statuses with these names; all but deleted if there are none.
    ///
    /// Errors: `InvalidArgument` for more than 64, or one that is no status.
    pub(crate) fn new(names: &[String]) -> Result<Statuses> {
        if names.is_empty() {
            return Ok(Statuses::Live);
        }
        if names.len() > STATUSES_MAX {
            let text = format!("statuses: expected at most {STATUSES_MAX}, found {}", names.len());
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let known = [Status::Active.name(), Status::Deleted.name()];
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            let text = format!("status {name:?}: expected {}", known.join(" or "));
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(Statuses::Named(names.into()))
    }

    /// True if no instance needs a look at its status, because a snapshot of the present shows only live ones.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Statuses::Live)
    }
}

impl Snapshot {
    /// True if this snapshot sees the instance at `slot` with one of these statuses. Reads nothing from the log.
    #[inline]
    pub(crate) fn sees_status(&self, kind: TypeKind, slot: u32, statuses: &Statuses) -> bool {
        match statuses {
            Statuses::Live => self.sees(kind, slot),
            Statuses::Named(names) => {
                let status = self.status_of(kind, slot);
                status.is_some_and(|status| names.iter().any(|name| *name == status))
            }
        }
    }

    /// Name of the status that the instance at `slot` has in this snapshot; `None` if it is not there.
    pub(crate) fn status_of(&self, kind: TypeKind, slot: u32) -> Option<&str> {
        let table = self.graph().table(kind);
        match self.view() {
            None => Some(table.row(slot)?.status().name()),
            Some(view) => Some(table.version_in(slot, view)?.status.name()),
        }
    }
}
