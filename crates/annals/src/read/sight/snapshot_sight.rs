//! Snapshots under a sight: which of their instances and versions are in it.

use std::sync::{Arc, PoisonError};

use super::resolved_grants::ResolvedGrants;
use super::{InSight, Kept, PurgedInSight, Sight, SnapshotSight};
use crate::graph::instance::past::{PastVersion, View};
use crate::graph::structures::slot_set::SlotSet;
use crate::model::{Record, TypeKind};
use crate::read::past::versions::History;
use crate::read::snapshot::{AsOf, Snapshot};
use crate::read::taken_along::Slot;
use crate::{Position, Result};

/// Over this count of records a sight is made anew. Units: records.
const RECORDS_BEHIND_MAX: u64 = 1_000;
/// A sight of which records changed more than this part is made anew: to look for the changes costs more than to ask again.
const CHANGED_PART: usize = 4;
/// In a small graph a change of nearly all may be looked for. Units: instances.
const CHANGED_MIN: usize = if cfg!(test) { 4 } else { 1_000 };

/// The versions of instances that are in sight.
pub(in crate::read) struct VersionsInSight {
    whole: Snapshot,
    /// In the present.
    grants: ResolvedGrants,
    present: Arc<InSight>,
}

impl VersionsInSight {
    /// True if this version of the instance at `slot`, which is in sight in the present, is in sight. One of a relationship
    /// that is not in force any more needs the ends as they were then, too.
    pub(in crate::read) fn has(&self, kind: TypeKind, slot: u32, version: PastVersion) -> Result<bool> {
        let whole = &self.whole;
        if kind != TypeKind::Relationship {
            return self.grants.admit(whole, slot, &whole.content(kind, slot, version)?);
        }
        let row = whole.graph().relationships.known_row(slot);
        let shape = whole.graph().shape(kind, slot, version.header);
        let (ends, type_name) =
            shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
        if !self.grants.admit_link(type_name) || ends.iter().any(|end| !self.present.entities.contains(*end))
        {
            return Ok(false);
        }
        if row.version() == version.version {
            return Ok(true);
        }
        let then = whole.with_view(Some(View { position: version.place.position, valid: i64::MAX }));
        for end in ends {
            let held = then.seen(TypeKind::Entity, end, true)?;
            if !held.map_or(Ok(false), |held| self.grants.admit(&then, end, &held))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Sight {
    /// True if seeing this snapshot takes no longer than a look-up.
    pub fn is_ready_for(&self, snapshot: &Snapshot) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().is_some_and(|kept| {
            kept.generation == snapshot.graph().generation
                && kept.position == snapshot.position()
                && kept.source.ptr_eq(&Arc::downgrade(snapshot.source()))
        })
    }
}

impl Snapshot {
    /// The same snapshot as a reader with the grants of `sight` sees it: everything hidden is as if it were absent.
    ///
    /// Errors: those of reading long values; `Cancelled`.
    pub fn seen_by(&self, sight: &Arc<Sight>) -> Result<Snapshot> {
        let whole = self.unsighted();
        let now = whole.with_view(None);
        let present = now.in_sight_of(sight)?;
        let in_sight = match self.view() {
            None => Arc::clone(&present),
            Some(_) => {
                Arc::new(ResolvedGrants::for_all(&whole, sight)?.all_in_sight(&whole, Some(&present))?)
            }
        };
        Ok(whole.with_sight(Arc::new(SnapshotSight { sight: Arc::clone(sight), present, in_sight })))
    }

    /// The state of a transaction on `base` that has the changes of `record`, with the sight of `base`.
    pub(crate) fn seen_after(self, base: &Snapshot, position: Position, record: &Record) -> Result<Snapshot> {
        let Some(SnapshotSight { sight, present, .. }) = base.sight() else { return Ok(self) };
        let grants = ResolvedGrants::for_few(&self, sight)?;
        let touched = self.touched_by(position, record)?;
        let mut in_sight = match grants.updated(&self, present, base.position(), touched)? {
            Some(in_sight) => in_sight,
            None => ResolvedGrants::for_all(&self, sight)?.all_in_sight(&self, None)?,
        };
        // No transaction reads what only its own changes show: a page in a container that it moved.
        for (kind, set, known) in [
            (TypeKind::Entity, &mut in_sight.entities, &present.entities),
            (TypeKind::Relationship, &mut in_sight.relationships, &present.relationships),
            (TypeKind::Entity, &mut in_sight.ways.entities, &present.ways.entities),
            (TypeKind::Relationship, &mut in_sight.ways.links, &present.ways.links),
        ] {
            let was_live = |slot: &u32| base.graph().table(kind).is_live(*slot);
            let new: Vec<u32> = set.iter().filter(|slot| !known.contains(*slot) && was_live(slot)).collect();
            new.into_iter().for_each(|slot| {
                set.remove(slot);
            });
        }
        let in_sight = Arc::new(in_sight);
        let seen = SnapshotSight { sight: Arc::clone(sight), present: Arc::clone(&in_sight), in_sight };
        Ok(self.with_sight(Arc::new(seen)))
    }

    /// The state at a position, in which only the instances `touched`, and the ends of relationships among them, may be
    /// in sight: faster than [`Snapshot::as_of`].
    pub(in crate::read) fn touched_then(&self, position: Position, touched: &[Slot]) -> Result<Snapshot> {
        let as_of = AsOf { position: Some(position), ..AsOf::default() };
        let Some(SnapshotSight { sight, present, .. }) = self.sight() else { return self.as_of(as_of) };
        let then = self.unsighted().as_of(as_of)?;
        let grants = ResolvedGrants::for_few(&then, sight)?;
        let in_sight = grants.few_in_sight(&then, present, touched)?;
        let (sight, present) = (Arc::clone(sight), Arc::clone(present));
        Ok(then.with_sight(Arc::new(SnapshotSight { sight, present, in_sight: Arc::new(in_sight) })))
    }

    /// The sight of another view of the same graph.
    pub(in crate::read) fn sight_then(&self, view: Option<View>) -> Result<Option<Arc<SnapshotSight>>> {
        let Some(SnapshotSight { sight, present, .. }) = self.sight() else { return Ok(None) };
        let then = self.unsighted().with_view(view);
        let in_sight = match view {
            None => Arc::clone(present),
            Some(_) => Arc::new(ResolvedGrants::for_all(&then, sight)?.all_in_sight(&then, Some(present))?),
        };
        Ok(Some(Arc::new(SnapshotSight { sight: Arc::clone(sight), present: Arc::clone(present), in_sight })))
    }

    /// True if the instance at `slot` is in sight: always without a sight.
    #[inline]
    pub(crate) fn in_sight(&self, kind: TypeKind, slot: u32) -> bool {
        self.slots_in_sight(kind).is_none_or(|set| set.contains(slot))
    }

    /// The instances in sight; `None` for all.
    #[inline]
    pub(in crate::read) fn slots_in_sight(&self, kind: TypeKind) -> Option<&SlotSet> {
        let SnapshotSight { in_sight, .. } = self.sight()?;
        Some(if kind == TypeKind::Relationship { &in_sight.relationships } else { &in_sight.entities })
    }

    /// The purged instances that were in sight; `None` without a sight: all.
    pub(in crate::read) fn purged_in_sight(&self) -> Option<&PurgedInSight> {
        self.sight().map(|seen| &*seen.present.purged)
    }

    /// The number of the sight; `None` without one.
    pub(in crate::read) fn sight_number(&self) -> Option<u64> {
        self.sight().map(|seen| seen.in_sight.number)
    }

    /// The versions in sight; `None` without a sight: all.
    pub(in crate::read) fn versions_in_sight(&self) -> Result<Option<VersionsInSight>> {
        let Some(SnapshotSight { sight, present, .. }) = self.sight() else { return Ok(None) };
        let whole = self.unsighted();
        let grants = ResolvedGrants::for_few(&whole.with_view(None), sight)?;
        Ok(Some(VersionsInSight { whole, grants, present: Arc::clone(present) }))
    }

    /// Leaves out the versions of the instance at `slot` that the sight hides.
    pub(in crate::read) fn retain_in_sight(
        &self,
        kind: TypeKind,
        slot: u32,
        versions: &mut Vec<PastVersion>,
    ) -> Result<()> {
        let Some(versions_in_sight) = self.versions_in_sight()? else { return Ok(()) };
        let mut kept = Vec::with_capacity(versions.len());
        for version in versions.drain(..) {
            if versions_in_sight.has(kind, slot, version)? {
                kept.push(version);
            }
        }
        *versions = kept;
        Ok(())
    }

    /// The versions of a page of a history that are in sight, of `versions` in the order of the page. Versions behind the page
    /// are not asked.
    pub(in crate::read) fn page_in_sight(
        &self,
        kind: TypeKind,
        slot: u32,
        versions: Vec<PastVersion>,
        history: &History,
    ) -> Result<Vec<PastVersion>> {
        let Some(versions_in_sight) = self.versions_in_sight()? else {
            return Ok(versions.into_iter().skip(history.skip).take(history.limit).collect());
        };
        let (mut page, mut skipped) = (Vec::new(), 0);
        for version in versions {
            if page.len() == history.limit {
                break;
            }
            self.check_cancelled()?;
            if !versions_in_sight.has(kind, slot, version)? {
                continue;
            }
            if skipped < history.skip {
                skipped += 1;
            } else {
                page.push(version);
            }
        }
        Ok(page)
    }

    /// True if this version of the instance at `slot` is in sight.
    pub(crate) fn is_version_in_sight(
        &self,
        kind: TypeKind,
        slot: u32,
        version: PastVersion,
    ) -> Result<bool> {
        self.versions_in_sight()?.map_or(Ok(true), |versions| versions.has(kind, slot, version))
    }

    /// The instances of the present in sight; made from those of an earlier position, if they are kept.
    fn in_sight_of(&self, sight: &Sight) -> Result<Arc<InSight>> {
        let (generation, position) = (self.graph().generation, self.position());
        let known = sight.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let source = Arc::downgrade(self.source());
        let known = known.filter(|kept| kept.generation == generation && kept.source.ptr_eq(&source));
        if let Some(kept) =
            known.as_ref().filter(|kept| kept.position == position && self.pending().is_none())
        {
            return Ok(Arc::clone(&kept.sets));
        }
        let earlier = known.filter(|kept| kept.position < position && self.pending().is_none());
        let newer = match &earlier {
            Some(kept) if position.0 - kept.position.0 <= RECORDS_BEHIND_MAX => {
                let [entities, relationships] =
                    [&self.graph().entities, &self.graph().relationships].map(|table| table.slots_count());
                let at_most = CHANGED_MIN.max((entities + relationships) / CHANGED_PART);
                match self.touched(kept.position, position, at_most)? {
                    Some(touched) => ResolvedGrants::for_few(self, sight)?.updated(
                        self,
                        &kept.sets,
                        kept.position,
                        touched,
                    )?,
                    None => None,
                }
            }
            _ => None,
        };
        let mut sets = match newer {
            Some(sets) => sets,
            None => ResolvedGrants::for_all(self, sight)?.all_in_sight(self, None)?,
        };
        sets.purged = Arc::new(match &earlier {
            Some(Kept { sets, position, .. }) => sets.purged.later(sets, *position, self.graph()),
            None => PurgedInSight::after(position),
        });
        let sets = Arc::new(sets);
        if self.pending().is_none() {
            let mut kept = sight.kept.lock().unwrap_or_else(PoisonError::into_inner);
            // Another reader may have made those of a later position meanwhile.
            let is_older = |kept: &Kept| {
                !kept.source.ptr_eq(&source) || (kept.generation, kept.position) < (generation, position)
            };
            if kept.as_ref().is_none_or(is_older) {
                *kept = Some(Kept { source, generation, position, sets: Arc::clone(&sets) });
            }
        }
        Ok(sets)
    }
}
