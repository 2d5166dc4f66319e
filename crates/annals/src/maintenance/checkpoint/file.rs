//! The checkpoints of a repository in their store: their names, writing one, choosing one to load.

use std::io::{self, Seek, SeekFrom};
use std::sync::Arc;

use super::block::{Damage, Loaded, length_without_values};
use super::load::{load, read_origin};
use super::save::{CheckpointOrigin, save};
use super::shared_checkpoints::{SharedName, listed, replace_others};
use super::stoppable::{Stop, Stoppable};
use crate::graph::indexed::Indexed;
use crate::graph::structures::spill_file::SpillSettings;
use crate::log::{Log, ReadLimit, Term};
use crate::storage::{Store, StoreReader};
use crate::upkeep::SharedUpkeep;
use crate::{Error, ErrorKind, Position, Result};

/// Checkpoints kept: the newest, and one in reserve.
pub(super) const KEPT: usize = 2;
pub(super) const SUFFIX: &str = ".checkpoint";

fn file_name(position: Position) -> String {
    format!("{:020}{SUFFIX}", position.0)
}

fn parse_file_name(name: &str) -> Option<Position> {
    let digits = name.strip_suffix(SUFFIX)?;
    (digits.len() == 20).then(|| digits.parse().ok().map(Position))?
}

/// The checkpoints of one repository, or of all repositories of a log with a register.
#[derive(Clone)]
pub(crate) struct Checkpoints {
    pub(super) store: Arc<dyn Store>,
    /// `None` in a store of one repository.
    pub(super) upkeep: Option<Arc<SharedUpkeep>>,
}

impl Checkpoints {
    /// The checkpoints of one repository.
    pub(crate) fn new(store: Arc<dyn Store>) -> Checkpoints {
        Checkpoints { store, upkeep: None }
    }

    /// The checkpoints that several repositories share.
    pub(crate) fn shared(self, upkeep: Arc<SharedUpkeep>) -> Checkpoints {
        Checkpoints { upkeep: Some(upkeep), ..self }
    }

    /// The position of the newest checkpoint, even if it is damaged.
    pub(crate) fn newest_position(&self) -> Result<Option<Position>> {
        Ok(self.names()?.first().map(|(position, _)| *position))
    }

    /// Length of the newest checkpoint; 0 if there is none. Units: bytes.
    pub(crate) fn newest_bytes(&self) -> u64 {
        let names = self.names().unwrap_or_default();
        names.first().and_then(|(_, name)| self.store.length(name).ok()).unwrap_or(0)
    }

    /// The position of the newest checkpoint that says what it is of, and the address of its record in its log. The rest
    /// of it may be damaged.
    pub(crate) fn newest_address(&self) -> Option<(Position, Vec<u8>)> {
        let mut origins = self.names().ok()?.into_iter().filter_map(|(_, name)| self.origin(&name).ok());
        origins.next().map(|origin| (origin.position, origin.address))
    }

    /// The names of the checkpoints, newest first.
    fn names(&self) -> Result<Vec<(Position, String)>> {
        if let Some(upkeep) = &self.upkeep {
            return listed(upkeep);
        }
        let names = self.store.list().map_err(|source| self.failed("list checkpoints", "", source))?;
        let mut names: Vec<(Position, String)> =
            names.into_iter().filter_map(|name| Some((parse_file_name(&name)?, name))).collect();
        names.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        Ok(names)
    }

    fn open(&self, name: &str) -> Loaded<Box<dyn StoreReader>> {
        Ok(self.store.open(name).map_err(|error| format!("cannot be opened: {error}"))?)
    }

    fn origin(&self, name: &str) -> Loaded<CheckpointOrigin> {
        read_origin(self.open(name)?)
    }

    fn load(&self, name: &str, spill: Option<&SpillSettings>) -> Loaded<Indexed> {
        let mut input = self.open(name)?;
        let mut bytes = 0;
        // Only a refusal uses it.
        if spill.is_some() {
            bytes = length_without_values(&mut input);
            input.seek(SeekFrom::Start(0)).map_err(|error| format!("cannot be read: {error}"))?;
        }
        load(input, &self.store.describe(name), bytes, spill)
    }

    /// The graph of the newest whole checkpoint of this log, in the generation in force. Defects of newer ones become a
    /// warning.
    ///
    /// Errors: `Gap` if a checkpoint of this log is beyond its tail: then records are missing. `TooLarge` if a memory
    /// budget has no room for it. Those of the log.
    pub(crate) fn load_newest(
        &self,
        log: &dyn Log,
        spill: Option<&SpillSettings>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Indexed>> {
        // A store that cannot be listed counts as empty.
        let names = self.names().unwrap_or_else(|error| {
            warnings.push(format!("no checkpoint is used: {error}"));
            Vec::new()
        });
        for (position, name) in names {
            let place = self.store.describe(&name);
            let mut ignore = |why: String| warnings.push(format!("checkpoint {place} is {why}; ignored"));
            let origin = match self.origin(&name) {
                Ok(origin) => origin,
                Err(Damage::TooLarge(error)) => return Err(error),
                Err(Damage::Ignored(why)) => {
                    ignore(why);
                    continue;
                }
            };
            if origin.log_id != log.id() {
                ignore("of another log".to_owned());
                continue;
            }
            if origin.generation != log.generation() {
                // A compaction was interrupted before it could remove this checkpoint.
                continue;
            }
            if origin.position != position {
                ignore(format!("of position {}", origin.position));
                continue;
            }
            // Order: read the tail now, because a writer at work may have written the checkpoint a moment ago.
            let tail = log.tail()?;
            if position > tail {
                return Err(beyond_tail(&place, log, tail));
            }
            if origin.record_checksum != record_checksum(log, position)? {
                ignore("of another log".to_owned());
                continue;
            }
            match self.load(&name, spill) {
                Ok(graph) => return Ok(Some(graph)),
                // An older one with the log after it, or the log alone, would take as much.
                Err(Damage::TooLarge(error)) => return Err(error.with("checkpoint", &place)),
                Err(Damage::Ignored(why)) => ignore(why),
            }
        }
        Ok(None)
    }

    /// Writes a checkpoint of a graph whose indexes have all records, and removes the checkpoints that are no longer
    /// needed. In a store of several repositories it is in force once it is listed, and earlier ones stay for the grace.
    ///
    /// Errors: `Conflict` if the log was rewritten since the graph was made; `NotWriter` if `term` is not in force any more;
    /// `NoRoom`; `Io`, also when it is stopped meanwhile; those of the log. Then the checkpoint is removed.
    pub(crate) fn save_new(
        &self,
        log: &dyn Log,
        indexed: &Indexed,
        term: Term,
        stop: Stop<'_>,
    ) -> Result<()> {
        let graph = &indexed.graph;
        let name = match &self.upkeep {
            None => file_name(graph.position),
            Some(_) => SharedName::of(graph, term).to_string(),
        };
        // Order: before it is written, because a checkpoint may be large.
        if let Some(upkeep) = &self.upkeep
            && upkeep.load_of(term)?.checkpoints.contains(&name)
        {
            return Ok(());
        }
        if graph.generation != log.generation() {
            let text = format!(
                "{}: the log was compacted since; take another checkpoint",
                self.store.describe(&name)
            );
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        let origin = CheckpointOrigin {
            position: graph.position,
            record_checksum: record_checksum(log, graph.position)?,
            log_id: log.id(),
            generation: graph.generation,
            address: log.address_of(graph.position),
        };
        self.store
            .put(&name, &mut |out| save(indexed, &origin, Stoppable::new(out, stop)))
            .map_err(|source| self.failed("write a checkpoint", &name, source))?;
        if let Some(upkeep) = &self.upkeep {
            return self.put_in_force(upkeep, term, name);
        }
        self.remove(self.names()?.into_iter().skip(KEPT).map(|(_, name)| name).collect())
    }

    /// Removes, durably, unfinished checkpoints, and the checkpoints of this log from before it was rewritten: they
    /// hold purged instances.
    pub(crate) fn remove_stale(&self, log: &dyn Log) -> Result<()> {
        let is_stale = |origin: Loaded<CheckpointOrigin>| {
            origin.is_ok_and(|origin| origin.log_id == log.id() && origin.generation != log.generation())
        };
        self.remove_if(is_stale)
    }

    /// The same; also removes all others that are not known to belong to the present log: checkpoints of an earlier
    /// version, for example, may hold purged instances, too.
    pub(crate) fn remove_others(&self, log: &dyn Log, term: Term) -> Result<()> {
        if let Some(upkeep) = &self.upkeep {
            return replace_others(upkeep, term, log.generation());
        }
        let is_own = |origin: Loaded<CheckpointOrigin>| {
            origin.is_ok_and(|origin| origin.log_id == log.id() && origin.generation == log.generation())
        };
        self.remove_if(|origin| !is_own(origin))
    }

    fn remove_if(&self, is_stale: impl Fn(Loaded<CheckpointOrigin>) -> bool) -> Result<()> {
        let unfinished = self.store.remove_unfinished();
        unfinished.map_err(|source| self.failed("remove what is left of a checkpoint", "", source))?;
        let names = self.names()?.into_iter().map(|(_, name)| name);
        self.remove(names.filter(|name| is_stale(self.origin(name))).collect())
    }

    pub(super) fn remove(&self, names: Vec<String>) -> Result<()> {
        let first = names.first().cloned().unwrap_or_default();
        self.store.remove(&names).map_err(|source| self.failed("remove old checkpoints", &first, source))
    }

    pub(super) fn failed(&self, operation: &str, name: &str, source: io::Error) -> Error {
        Error::of_disk(operation, source).with("path", self.store.describe(name))
    }
}

/// The error for a log that lacks records of its own checkpoint.
fn beyond_tail(place: &str, log: &dyn Log, tail: Position) -> Error {
    Error::new(
        ErrorKind::Gap,
        format!(
            "{}: expected the log to reach the position of this checkpoint, found its tail at {tail} in {}: records \
             are missing; put the log back, or restore from a backup, or remove the checkpoint to accept the loss",
            place,
            log.describe()
        ),
    )
}

/// CRC-32C of the record at `position`; 0 before the first.
fn record_checksum(log: &dyn Log, position: Position) -> Result<u32> {
    if position == Position::ZERO {
        return Ok(0);
    }
    let records = log.read(position, ReadLimit::ONE)?;
    Ok(records.first().map_or(0, |record| crc32c::crc32c(record)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_read_back() {
        assert_eq!(parse_file_name(&file_name(Position(42))), Some(Position(42)));
        assert_eq!(parse_file_name("42.checkpoint"), None);
        assert_eq!(parse_file_name("x"), None);
    }
}
