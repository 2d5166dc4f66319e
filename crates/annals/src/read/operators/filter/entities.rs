//! The entities that a read holds_at: by type, classification and status.

use crate::graph::structures::symbols::Symbol;
use crate::model::TypeKind;
use crate::read::nearest;
use crate::read::operators::filter::condition::Filter;
use crate::read::operators::filter::status::Statuses;
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// Most names of one kind.
const NAMES_MAX: usize = 1_024;

/// The entities that a read holds_at.
pub(in crate::read) struct EntityFilter<'s> {
    pub(in crate::read) snapshot: &'s Snapshot,
    /// Ascending; `None` for any.
    pub(in crate::read) types: Option<Vec<Symbol>>,
    /// Ascending; `None` holds_at every entity.
    pub(in crate::read) classifications: Option<Vec<Symbol>>,
    pub(in crate::read) statuses: Statuses,
    /// `None` if all entities fulfil it.
    pub(in crate::read) condition: Option<Filter>,
}

impl EntityFilter<'_> {
    /// True if every entity at the end of a link fulfils it, so that none needs a check.
    pub(in crate::read) fn holds_for_all(&self) -> bool {
        let is_any = self.types.is_none() && self.classifications.is_none() && self.condition.is_none();
        is_any && self.statuses.is_live()
    }

    /// True if the read holds_at the entity at `slot`, which is at the end of a link.
    ///
    /// Errors: those of reading history, for classifications as of an earlier time and for a condition; for a condition
    /// also `TooLarge` and `Cancelled`.
    pub(in crate::read) fn holds_at(&self, slot: u32) -> Result<bool> {
        // Order: the condition last, because it reads the row; the other checks only look slots up.
        match &self.condition {
            None => self.is_of(slot),
            Some(condition) => Ok(self.is_of(slot)? && condition.holds_at(self.snapshot, slot)?),
        }
    }

    /// True if the entity at `slot` has one of the statuses, types and classifications.
    fn is_of(&self, slot: u32) -> Result<bool> {
        let table = &self.snapshot.graph().entities;
        if !self.statuses.is_live() && !self.snapshot.sees_status(TypeKind::Entity, slot, &self.statuses) {
            return Ok(false);
        }
        if let Some(types) = &self.types {
            let is_there = table.row(slot).is_some();
            let is_of =
                is_there && types.binary_search(&self.snapshot.type_seen(TypeKind::Entity, slot)).is_ok();
            if !is_of {
                return Ok(false);
            }
        }
        let Some(names) = &self.classifications else { return Ok(true) };
        if self.snapshot.view().is_none() && self.statuses.is_live() {
            return Ok(names.iter().any(|name| table.lists.classified.present.contains(*name, slot)));
        }
        // An entity that has none of them now, and never had, needs no read of the log.
        let may_be = |name: &Symbol| table.lists.classified.ever(*name, slot);
        let is_deleted = !table.is_live(slot);
        if !is_deleted && !names.iter().any(may_be) {
            return Ok(false);
        }
        let Some(held) = self.snapshot.seen(TypeKind::Entity, slot, true)? else { return Ok(false) };
        let row = self.snapshot.row(TypeKind::Entity, slot, &held);
        Ok(row.classifications().any(|known| names.binary_search(&known.name()).is_ok()))
    }
}

impl Snapshot {
    /// Symbols of the named types with their subtypes, ascending; `None` if no name is given.
    ///
    /// Errors: `NotFound` for a name that is not declared and that no instance has or had; `InvalidArgument` for more
    /// than 1,024 names.
    pub(crate) fn known_types(&self, kind: TypeKind, names: &[String]) -> Result<Option<Vec<Symbol>>> {
        if names.is_empty() {
            return Ok(None);
        }
        if names.len() > NAMES_MAX {
            let text = format!("{} types: expected at most {NAMES_MAX}, found {}", kind.name(), names.len());
            return Err(invalid(text));
        }
        let mut symbols = Vec::new();
        for name in names {
            self.check_type_known(kind, name)?;
            symbols.extend(self.types_named(kind, name));
        }
        symbols.sort_unstable();
        symbols.dedup();
        Ok(Some(symbols))
    }

    /// Errors: `NotFound` for a name that is not declared and that no instance has or had.
    pub(crate) fn check_type_known(&self, kind: TypeKind, name: &str) -> Result<()> {
        let graph = self.graph();
        // A refusal would tell whether hidden instances are of the type.
        if self.sight().is_some() {
            return Ok(());
        }
        if graph.names.find(name).is_some_and(|symbol| graph.is_type_known(kind, symbol)) {
            return Ok(());
        }
        let what = if kind == TypeKind::Classification { "" } else { " type" };
        let hint = self.type_hint(kind, name);
        let text = format!("{}{what} {name}: nothing is of it, and it is not declared{hint}", kind.name());
        Err(Error::new(ErrorKind::NotFound, text))
    }

    /// The advice for an unknown type.
    pub(crate) fn type_hint(&self, kind: TypeKind, name: &str) -> String {
        let graph = self.graph();
        let known = (0..)
            .map(Symbol)
            .zip(graph.names.iter())
            .filter(|(symbol, _)| graph.is_type_known(kind, *symbol));
        nearest::hint(name, known.map(|(_, known)| &**known), "see the declared types")
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}
