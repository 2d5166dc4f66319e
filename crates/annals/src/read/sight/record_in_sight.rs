//! The parts of records that are in sight.

use super::snapshot_sight::VersionsInSight;
use crate::graph::instance::past::ChangePlace;
use crate::model::{Change, Record};
use crate::read::past::without_purged::WrittenVersion;
use crate::read::snapshot::Snapshot;
use crate::{Position, Result};

impl Snapshot {
    /// The part of a record that is in sight; `None` if it is nothing. Under a sight these are the changes that name an
    /// instance in sight and made a version in sight from nothing or from one in sight, without anchors.
    pub(crate) fn record_in_sight(&self, position: Position, record: Record) -> Result<Option<Record>> {
        let Some(versions) = self.versions_in_sight()? else { return Ok(Some(record)) };
        let mut changes = Vec::new();
        for (number, change) in (0..).zip(record.changes) {
            if self.is_change_in_sight(
                &versions,
                ChangePlace { position: position.0, change: number },
                &change,
            )? {
                changes.push(Change { anchor: None, ..change });
            }
        }
        Ok((!changes.is_empty()).then_some(Record { changes, ..record }))
    }

    fn is_change_in_sight(
        &self,
        versions: &VersionsInSight,
        place: ChangePlace,
        change: &Change,
    ) -> Result<bool> {
        let Some(named) = change.action.instance() else { return Ok(false) };
        let Some(written) = self.written_version(&named, place)? else { return Ok(false) };
        let WrittenVersion { slot: (kind, slot), instance, version } = written;
        // The action may name what the version before had.
        let base = instance.version_numbered(version.base);
        Ok(versions.has(kind, slot, version)?
            && base.map_or(Ok(true), |base| versions.has(kind, slot, base))?)
    }
}
