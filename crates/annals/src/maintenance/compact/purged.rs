//! Which changes a compaction takes out: those that wrote versions of instances that were purged since.
//!
//! Applying the records decides it, as it decides everything about history: [`Graph`] tells where the versions were
//! written that a purge removes.

use crate::graph::actions as action;
use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::indexed::Indexed;
use crate::graph::{Graph, kind_of};
use crate::log::{Log, ReadLimit};
use crate::maintenance::recover;
use crate::memory::Memory;
use crate::model::{Action, Record, TypeKind};
use crate::record::{decode_record, void_changes};
use crate::{Error, ErrorKind, Position, Result};

/// The changes that a compaction takes out.
#[derive(Default)]
pub(crate) struct Purged {
    /// By position: numbers of changes that wrote a version of a purged instance, and of which kind it was. A deletion
    /// of an entity also wrote versions of its relationships, and stays when only one of those is purged.
    versions: HashMap<u64, Vec<(u32, TypeKind)>>,
    changes_count: u64,
}

impl Purged {
    /// What the purges among the records up to `last` removed. `like` tells where the graph that finds out may put
    /// long values.
    ///
    /// Errors: those of the log; `Corrupted` if a record does not fit those before it.
    pub(crate) fn collect(log: &dyn Log, last: Position, like: &Graph) -> Result<Purged> {
        let mut purges: Vec<(u64, u32, TypeKind)> = Vec::new();
        for_each_record(log, last, |position, record| {
            for (number, change) in (0..).zip(&record.changes) {
                if let Some(kind) = purged_kind(&change.action) {
                    purges.push((position.0, number, kind));
                }
            }
        })?;
        let mut purged = Purged::default();
        if purges.is_empty() {
            return Ok(purged);
        }
        let mut indexed = Indexed::new(like.rebuilt_from_nothing(), Arc::default());
        indexed.graph.purged = Some(Vec::new());
        recover::replay_to(log, &mut indexed, last, &Memory::new(None), |_| {})?;
        for (place, kind) in indexed.graph.purged.take().unwrap_or_default() {
            purged.versions.entry(place.position).or_default().push((place.change, kind));
        }
        for (position, number, kind) in purges {
            purged.versions.entry(position).or_default().push((number, kind));
        }
        // Only now is it known which of them name an instance of that kind.
        let mut count = 0;
        for_each_record(log, last, |position, record| {
            count += purged.named(position, &record).count() as u64;
        })?;
        purged.changes_count = count;
        Ok(purged)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes_count == 0
    }

    /// How many changes are taken out.
    pub(crate) fn changes_count(&self) -> u64 {
        self.changes_count
    }

    /// Numbers of the changes of a record that are taken out.
    fn named<'p>(&'p self, position: Position, record: &'p Record) -> impl Iterator<Item = u32> + 'p {
        let versions = self.versions.get(&position.0).map(Vec::as_slice).unwrap_or_default();
        (0..).zip(&record.changes).filter_map(move |(number, change)| {
            let kind = change.action.instance().map(|instance| kind_of(&instance))?;
            versions.contains(&(number, kind)).then_some(number)
        })
    }

    /// The record without the changes of purged instances: a void stands in the place of each, so that the others keep
    /// their numbers. `None` if there are none.
    pub(crate) fn take_out(&self, position: Position, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        if !self.versions.contains_key(&position.0) {
            return Ok(None);
        }
        let record = decode_record(position, bytes)?;
        let taken: Vec<u32> = self.named(position, &record).collect();
        if taken.is_empty() {
            return Ok(None);
        }
        void_changes(position, bytes, &taken).map(Some)
    }
}

/// The kind of instance that a purge removes. It may be the copy of one.
fn purged_kind(action: &Action) -> Option<TypeKind> {
    match action {
        Action::Purge(action::Purge { instance }) | Action::PurgeCopy(action::PurgeCopy { instance, .. }) => {
            Some(kind_of(instance))
        }
        _ => None,
    }
}

fn for_each_record(log: &dyn Log, last: Position, mut take: impl FnMut(Position, Record)) -> Result<()> {
    let mut next = Position(1);
    while next <= last {
        let records = log.read(next, ReadLimit::default())?;
        if records.is_empty() {
            let text = format!("{}: expected a record at {next}, found none", log.describe());
            return Err(Error::new(ErrorKind::Gap, text));
        }
        for bytes in records {
            if next > last {
                break;
            }
            take(next, decode_record(next, &bytes)?);
            next = next.next();
        }
    }
    Ok(())
}
