//! Snapshots under a sight: which of their instances it shows.

use std::sync::{Arc, PoisonError};

use super::rules::Rules;
use super::{Kept, Seen, Sight, Visible};
use crate::graph::instance::past::{PastVersion, View};
use crate::graph::structures::slot_set::SlotSet;
use crate::model::{Record, TypeKind};
use crate::read::snapshot::{AsOf, Snapshot};
use crate::read::taken_along::Slot;
use crate::{Position, Result};

/// Over this count of records a sight is made anew. Units: records.
const RECORDS_BEHIND_MAX: u64 = 1_000;

/// Tells which versions of instances a sight shows.
pub(in crate::read) struct ShownVersions {
    whole: Snapshot,
    /// In the present.
    rules: Rules,
    present: Arc<Visible>,
}

impl ShownVersions {
    /// True if the sight shows this version of the instance at `slot`, which it shows in the present. One of a relationship
    /// that is not in force any more needs the ends as they were then, too.
    pub(in crate::read) fn has(&self, kind: TypeKind, slot: u32, version: PastVersion) -> Result<bool> {
        let whole = &self.whole;
        if kind != TypeKind::Relationship {
            return self.rules.admit(whole, slot, &whole.content(kind, slot, version)?);
        }
        let row = whole.graph().relationships.known_row(slot);
        let shape = whole.graph().shape(kind, slot, version.header);
        let (ends, type_name) =
            shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
        if !self.rules.admit_link(type_name) || ends.iter().any(|end| !self.present.entities.contains(*end)) {
            return Ok(false);
        }
        if row.version() == version.version {
            return Ok(true);
        }
        let then = whole.with_view(Some(View { position: version.place.position, valid: i64::MAX }));
        for end in ends {
            let held = then.seen(TypeKind::Entity, end, true)?;
            if !held.map_or(Ok(false), |held| self.rules.admit(&then, end, &held))? {
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
        let present = now.visible_by(sight)?;
        let visible = match self.view() {
            None => Arc::clone(&present),
            Some(_) => Arc::new(Rules::for_all(&whole, sight)?.visible(&whole, Some(&present))?),
        };
        Ok(whole.with_sight(Arc::new(Seen { sight: Arc::clone(sight), present, visible })))
    }

    /// The state of a transaction on `base` that has the changes of `record`, with the sight of `base`.
    pub(crate) fn seen_after(self, base: &Snapshot, position: Position, record: &Record) -> Result<Snapshot> {
        let Some(Seen { sight, present, .. }) = base.sight() else { return Ok(self) };
        let rules = Rules::for_few(&self, sight)?;
        let touched = self.touched_by(position, record)?;
        let mut visible = match rules.updated(&self, present, base.position(), touched)? {
            Some(visible) => visible,
            None => Rules::for_all(&self, sight)?.visible(&self, None)?,
        };
        // No transaction reads what only its own changes show: a page in a container that it moved.
        for (kind, set, known) in [
            (TypeKind::Entity, &mut visible.entities, &present.entities),
            (TypeKind::Relationship, &mut visible.relationships, &present.relationships),
        ] {
            let was_live = |slot: &u32| base.graph().table(kind).is_live(*slot);
            let shown: Vec<u32> =
                set.iter().filter(|slot| !known.contains(*slot) && was_live(slot)).collect();
            shown.into_iter().for_each(|slot| {
                set.remove(slot);
            });
        }
        let visible = Arc::new(visible);
        let seen = Seen { sight: Arc::clone(sight), present: Arc::clone(&visible), visible };
        Ok(self.with_sight(Arc::new(seen)))
    }

    /// The state at a position, in which only the instances `touched`, and the ends of relationships among them, may be
    /// visible: faster than [`Snapshot::as_of`].
    pub(in crate::read) fn touched_then(&self, position: Position, touched: &[Slot]) -> Result<Snapshot> {
        let as_of = AsOf { position: Some(position), ..AsOf::default() };
        let Some(Seen { sight, present, .. }) = self.sight() else { return self.as_of(as_of) };
        let then = self.unsighted().as_of(as_of)?;
        let rules = Rules::for_few(&then, sight)?;
        let visible = rules.visible_of(&then, present, touched)?;
        let (sight, present) = (Arc::clone(sight), Arc::clone(present));
        Ok(then.with_sight(Arc::new(Seen { sight, present, visible: Arc::new(visible) })))
    }

    /// The sight of another view of the same graph.
    pub(in crate::read) fn sight_then(&self, view: Option<View>) -> Result<Option<Arc<Seen>>> {
        let Some(Seen { sight, present, .. }) = self.sight() else { return Ok(None) };
        let then = self.unsighted().with_view(view);
        let visible = match view {
            None => Arc::clone(present),
            Some(_) => Arc::new(Rules::for_all(&then, sight)?.visible(&then, Some(present))?),
        };
        Ok(Some(Arc::new(Seen { sight: Arc::clone(sight), present: Arc::clone(present), visible })))
    }

    /// True if this snapshot has no sight, or its sight shows the instance at `slot`.
    #[inline]
    pub(crate) fn in_sight(&self, kind: TypeKind, slot: u32) -> bool {
        self.sight_set(kind).is_none_or(|set| set.contains(slot))
    }

    /// The visible instances; `None` for all.
    #[inline]
    pub(in crate::read) fn sight_set(&self, kind: TypeKind) -> Option<&SlotSet> {
        let Seen { visible, .. } = self.sight()?;
        Some(if kind == TypeKind::Relationship { &visible.relationships } else { &visible.entities })
    }

    /// The number of the sight; `None` without one.
    pub(in crate::read) fn sight_number(&self) -> Option<u64> {
        self.sight().map(|seen| seen.visible.number)
    }

    /// The versions that the sight shows; `None` without a sight: all.
    pub(in crate::read) fn shown_versions(&self) -> Result<Option<ShownVersions>> {
        let Some(Seen { sight, present, .. }) = self.sight() else { return Ok(None) };
        let whole = self.unsighted();
        let rules = Rules::for_few(&whole.with_view(None), sight)?;
        Ok(Some(ShownVersions { whole, rules, present: Arc::clone(present) }))
    }

    /// Leaves out the versions of the instance at `slot` that the sight hides.
    pub(in crate::read) fn retain_seen(
        &self,
        kind: TypeKind,
        slot: u32,
        versions: &mut Vec<PastVersion>,
    ) -> Result<()> {
        let Some(shown) = self.shown_versions()? else { return Ok(()) };
        let mut kept = Vec::with_capacity(versions.len());
        for version in versions.drain(..) {
            if shown.has(kind, slot, version)? {
                kept.push(version);
            }
        }
        *versions = kept;
        Ok(())
    }

    /// True if the sight shows this version of the instance at `slot`.
    pub(crate) fn shows(&self, kind: TypeKind, slot: u32, version: PastVersion) -> Result<bool> {
        self.shown_versions()?.map_or(Ok(true), |shown| shown.has(kind, slot, version))
    }

    /// The instances of the present that a sight shows; made from those of an earlier position, if they are kept.
    fn visible_by(&self, sight: &Sight) -> Result<Arc<Visible>> {
        let (generation, position) = (self.graph().generation, self.position());
        let known = sight.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let source = Arc::downgrade(self.source());
        let known = known.filter(|kept| kept.generation == generation && kept.source.ptr_eq(&source));
        if let Some(kept) =
            known.as_ref().filter(|kept| kept.position == position && self.pending().is_none())
        {
            return Ok(Arc::clone(&kept.sets));
        }
        let newer = match known.filter(|kept| kept.position < position && self.pending().is_none()) {
            Some(kept) if position.0 - kept.position.0 <= RECORDS_BEHIND_MAX => {
                let touched = self.touched(kept.position, position)?;
                Rules::for_few(self, sight)?.updated(self, &kept.sets, kept.position, touched)?
            }
            _ => None,
        };
        let sets = Arc::new(match newer {
            Some(sets) => sets,
            None => Rules::for_all(self, sight)?.visible(self, None)?,
        });
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
