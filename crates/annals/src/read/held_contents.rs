//! Which contents the instances of a snapshot hold.

use std::collections::BTreeSet;

use super::snapshot::Snapshot;
use crate::Result;
use crate::model::{Sha256, TypeKind, Value};
use crate::record::each_content_in;

impl Snapshot {
    /// True if a live instance of this snapshot holds these bytes, in a property or in a classification, or the default of a
    /// type does.
    ///
    /// Units: it looks at every instance. Errors: those of reading long values; `Cancelled`.
    pub fn holds_content(&self, sha256: Sha256) -> Result<bool> {
        let mut wanted = BTreeSet::from([sha256]);
        self.find_default_contents(&mut wanted)?;
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            for slot in self.graph().table(kind).live_slots().iter().filter(|slot| self.in_sight(kind, *slot))
            {
                if wanted.is_empty() {
                    return Ok(true);
                }
                self.find_contents_of(kind, slot, &mut wanted)?;
            }
        }
        Ok(wanted.is_empty())
    }

    /// Removes from `wanted` the contents that types have as defaults.
    pub(crate) fn find_default_contents(&self, wanted: &mut BTreeSet<Sha256>) -> Result<()> {
        self.graph().types.defaults().try_for_each(|value| remove(wanted, value))
    }

    /// Removes from `wanted` the contents that the last version of the instance at `slot` has.
    ///
    /// Errors: those of reading long values; `Cancelled`.
    pub(crate) fn find_contents_of(
        &self,
        kind: TypeKind,
        slot: u32,
        wanted: &mut BTreeSet<Sha256>,
    ) -> Result<()> {
        self.check_cancelled()?;
        let Some(held) = self.seen(kind, slot, true)? else { return Ok(()) };
        let instance = self.instance(kind, slot, held)?;
        let classified = instance.classifications().iter().flat_map(|known| known.properties.iter());
        instance.properties.iter().chain(classified).try_for_each(|(_, value)| remove(wanted, value))
    }
}

fn remove(wanted: &mut BTreeSet<Sha256>, value: &Value) -> Result<()> {
    each_content_in(value, &mut |content| {
        wanted.remove(&content.sha256);
        Ok(())
    })
}
