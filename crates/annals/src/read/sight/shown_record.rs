//! Records as a sight shows them.

use super::sighted::ShownVersions;
use crate::graph::instance::past::ChangePlace;
use crate::graph::kind_of;
use crate::model::{Change, Record};
use crate::read::snapshot::Snapshot;
use crate::{Position, Result};

impl Snapshot {
    /// The part of a record that this snapshot shows; `None` if it is nothing. Under a sight these are the changes that
    /// name a visible instance and made a visible version from nothing or from a visible one, without anchors.
    pub(crate) fn shown_record(&self, position: Position, record: Record) -> Result<Option<Record>> {
        let Some(shown) = self.shown_versions()? else { return Ok(Some(record)) };
        let mut changes = Vec::new();
        for (number, change) in (0..).zip(record.changes) {
            if self.is_shown(&shown, ChangePlace { position: position.0, change: number }, &change)? {
                changes.push(Change { anchor: None, ..change });
            }
        }
        Ok((!changes.is_empty()).then_some(Record { changes, ..record }))
    }

    fn is_shown(&self, shown: &ShownVersions, place: ChangePlace, change: &Change) -> Result<bool> {
        let Some(named) = change.action.instance() else { return Ok(false) };
        let kind = kind_of(&named);
        let Some(slot) = self.slot_ever(kind, named.id()) else { return Ok(false) };
        let Some(known) = self.graph().table(kind).get(slot)? else { return Ok(false) };
        let Some(version) = known.written_at(place) else { return Ok(false) };
        // The action may name what the version before had.
        let base = known.version_numbered(version.base);
        Ok(shown.has(kind, slot, version)? && base.map_or(Ok(true), |base| shown.has(kind, slot, base))?)
    }
}
