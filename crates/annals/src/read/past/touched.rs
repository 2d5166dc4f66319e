//! The instances that records wrote, regardless of their ids.

use std::collections::BTreeSet;

use crate::graph::actions as action;
use crate::graph::instance::past::ChangePlace;
use crate::log::ReadLimit;
use crate::model::{Action, InstanceId, Record, TypeKind};
use crate::read::snapshot::Snapshot;
use crate::read::taken_along::Slot;
use crate::record::decode_record;
use crate::{Error, Position, Result};

/// The instances that records wrote, found so far.
struct Touched<'s> {
    snapshot: &'s Snapshot,
    seen: BTreeSet<(bool, u32)>,
    touched: Vec<Slot>,
    /// Changes of purged containers; the instances changed with them may be anywhere.
    lost: BTreeSet<ChangePlace>,
}

impl Touched<'_> {
    fn note(&mut self, (kind, slot): Slot) {
        if self.seen.insert((kind == TypeKind::Relationship, slot)) {
            self.touched.push((kind, slot));
        }
    }

    fn note_record(&mut self, position: Position, record: &Record) -> Result<()> {
        for (number, change) in (0..).zip(&record.changes) {
            let place = ChangePlace { position: position.0, change: number };
            let Some((named, others)) = self.snapshot.written_at(&change.action, place)? else {
                self.lost.insert(place);
                continue;
            };
            // Relationships lead to what went along; one of them may have been purged since.
            let graph = self.snapshot.graph();
            if change.action.writes_along() && graph.has_purged_containment_since(place.position) {
                self.lost.insert(place);
            }
            others.into_iter().chain(named).for_each(|slot| self.note(slot));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Slot>> {
        self.snapshot.written_by(&self.lost)?.into_iter().for_each(|slot| self.note(slot));
        Ok(self.touched)
    }
}

impl Snapshot {
    fn nothing_touched(&self) -> Touched<'_> {
        Touched { snapshot: self, seen: BTreeSet::new(), touched: Vec::new(), lost: BTreeSet::new() }
    }

    /// The instances that a record of this snapshot wrote, in the order of first change, each once.
    pub(crate) fn touched_by(&self, position: Position, record: &Record) -> Result<Vec<Slot>> {
        let mut touched = self.nothing_touched();
        touched.note_record(position, record)?;
        touched.finish()
    }

    /// The instances that records `from + 1 ..= to` wrote, in the order of first change, each once. `None` if they are more
    /// than `at_most`: each caller has a bound of its own, and another way beyond it.
    pub(crate) fn touched(&self, from: Position, to: Position, at_most: usize) -> Result<Option<Vec<Slot>>> {
        let mut touched = self.nothing_touched();
        let mut next = from.next();
        while next <= to {
            self.check_cancelled()?;
            let records = self.source().log().read(next, ReadLimit::default())?;
            if records.is_empty() {
                break;
            }
            for bytes in records {
                if next > to {
                    break;
                }
                touched.note_record(next, &decode_record(next, &bytes)?)?;
                if touched.touched.len() > at_most {
                    return Ok(None);
                }
                next = next.next();
            }
        }
        Ok(Some(touched.finish()?).filter(|touched| touched.len() <= at_most))
    }

    /// The instance that the change at `place` named, unless it is purged, and the further instances that it wrote.
    /// `None` if only a check of all instances can find them.
    fn written_at(&self, action: &Action, place: ChangePlace) -> Result<Option<(Option<Slot>, Vec<Slot>)>> {
        let find = |id: &InstanceId| {
            let written = self.written_version(id, place)?;
            Ok::<_, Error>(written.map(|written| written.slot))
        };
        if let Action::DeleteTaken(action::DeleteTaken { instances })
        | Action::RestoreTaken(action::RestoreTaken { instances }) = action
        {
            let mut written = Vec::new();
            for id in instances {
                written.extend(find(id)?);
            }
            return Ok(Some((None, written)));
        }
        let Some(id) = action.instance() else { return Ok(Some((None, Vec::new()))) };
        let named = find(&id)?;
        match named {
            _ if !action.writes_along() => Ok(Some((named, Vec::new()))),
            Some((_, slot)) => Ok(Some((named, self.taken_along(slot, place, usize::MAX)?))),
            // It was purged since.
            None if self.graph().types.has_containment => Ok(None),
            None => Ok(Some((None, Vec::new()))),
        }
    }
}
