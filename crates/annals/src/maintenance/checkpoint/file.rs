//! The files of checkpoints: names, writing one so that it is whole or absent, choosing one to load.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::block::{Damage, Loaded, length_without_values};
use super::load::{load, read_origin};
use super::save::{Origin, save};
use super::stoppable::Stoppable;
use crate::graph::Graph;
use crate::graph::structures::spill_file::SpillSettings;
use crate::log::{Log, ReadLimit};
use crate::storage::{Access, Disk, DiskFile, FileReader, UNFINISHED_SUFFIX, put_whole};
use crate::{Error, ErrorKind, Position, Result};

/// Checkpoints kept: the newest, and one to fall back on.
const KEPT: usize = 2;
const SUFFIX: &str = ".checkpoint";

fn file_name(position: Position) -> String {
    format!("{:020}{SUFFIX}", position.0)
}

fn parse_file_name(name: &str) -> Option<Position> {
    let digits = name.strip_suffix(SUFFIX)?;
    (digits.len() == 20).then(|| digits.parse().ok().map(Position))?
}

/// Where the checkpoints of one repository are.
#[derive(Clone, Copy)]
pub(crate) struct CheckpointFolder<'f> {
    pub(crate) disk: &'f dyn Disk,
    pub(crate) path: &'f Path,
}

impl CheckpointFolder<'_> {
    /// The position of the newest checkpoint, whatever it holds.
    pub(crate) fn newest_position(self) -> Result<Option<Position>> {
        Ok(self.files()?.first().map(|(position, _)| *position))
    }

    /// The checkpoint files, newest first.
    fn files(self) -> Result<Vec<(Position, PathBuf)>> {
        let mut files: Vec<(Position, PathBuf)> = self
            .names()?
            .into_iter()
            .filter_map(|name| Some((parse_file_name(&name)?, self.path.join(name))))
            .collect();
        files.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        Ok(files)
    }

    fn names(self) -> Result<Vec<String>> {
        match self.disk.list(self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|source| failed("list checkpoints", self.path, source)),
        }
    }

    fn open(self, path: &Path) -> Loaded<Arc<dyn DiskFile>> {
        let file = self.disk.open(path, Access::Read);
        Ok(file.map_err(|error| format!("cannot be opened: {error}"))?)
    }

    fn origin(self, path: &Path) -> Loaded<Origin> {
        read_origin(FileReader::new(self.open(path)?))
    }

    fn load(self, path: &Path, spill: Option<&SpillSettings>) -> Loaded<Graph> {
        let file = self.open(path)?;
        // Only a refusal tells it.
        let bytes = if spill.is_some() { length_without_values(&*file) } else { 0 };
        load(BufReader::with_capacity(1 << 20, FileReader::new(file)), bytes, spill)
    }

    /// The graph of the newest whole checkpoint of this log, in the generation that is in force. What is wrong with
    /// others becomes a warning.
    ///
    /// Errors: `Gap` if a checkpoint of this log is beyond its tail: then records are missing. `TooLarge` if a memory
    /// budget has no room for it. Those of the log.
    pub(crate) fn load_newest(
        self,
        log: &dyn Log,
        spill: Option<&SpillSettings>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Graph>> {
        // A cache that cannot be looked at is none.
        let files = self.files().unwrap_or_else(|error| {
            warnings.push(format!("no checkpoint is used: {error}"));
            Vec::new()
        });
        for (position, path) in files {
            let mut ignore =
                |why: String| warnings.push(format!("checkpoint {} is {why}; ignored", path.display()));
            let origin = match self.origin(&path) {
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
                // A compaction that ended before it could remove it.
                continue;
            }
            if origin.position != position {
                ignore(format!("of position {}", origin.position));
                continue;
            }
            // Order: the tail is asked for now, as a writer at work may have taken the checkpoint a moment ago.
            let tail = log.tail()?;
            if position > tail {
                return Err(beyond_tail(&path, log, tail));
            }
            if origin.record_checksum != record_checksum(log, position)? {
                ignore("of another log".to_owned());
                continue;
            }
            match self.load(&path, spill) {
                Ok(graph) => return Ok(Some(graph)),
                // Neither an older one with the log after it nor the log alone takes less.
                Err(Damage::TooLarge(error)) => return Err(error.with("checkpoint", path.display())),
                Err(Damage::Ignored(why)) => ignore(why),
            }
        }
        Ok(None)
    }

    /// Writes a checkpoint of `graph` and removes the ones no longer needed.
    ///
    /// Errors: `Conflict` if the log was rewritten since the graph was made; `NoRoom`; `Io`, also when `is_stopping` is set
    /// meanwhile; those of the log. Nothing is left of the checkpoint then.
    pub(crate) fn save_new(self, log: &dyn Log, graph: &Graph, is_stopping: &AtomicBool) -> Result<()> {
        let CheckpointFolder { disk, path: folder } = self;
        if graph.generation != log.generation() {
            let text = format!("{}: the log was compacted since; take another checkpoint", folder.display());
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        disk.create_folder(folder)
            .map_err(|source| failed("create the folder of checkpoints", folder, source))?;
        let origin = Origin {
            position: graph.position,
            record_checksum: record_checksum(log, graph.position)?,
            log_id: log.id(),
            generation: graph.generation,
        };
        let name = file_name(graph.position);
        put_whole(disk, folder, &name, |out| save(graph, origin, Stoppable::new(out, is_stopping)))
            .map_err(|source| failed("write a checkpoint", &folder.join(&name), source))?;
        self.remove(self.files()?.into_iter().skip(KEPT).map(|(_, path)| path))
    }

    /// Removes, durably, what a crash left of a checkpoint being written, and the checkpoints of this log from before
    /// it was rewritten: they hold what was taken out.
    pub(crate) fn remove_stale(self, log: &dyn Log) -> Result<()> {
        let is_stale = |origin: Loaded<Origin>| {
            origin.is_ok_and(|origin| origin.log_id == log.id() && origin.generation != log.generation())
        };
        self.remove_if(is_stale)
    }

    /// The same, and all others that are not known to be of the log as it is: those of an earlier version, for one,
    /// may hold what was taken out, too.
    pub(crate) fn remove_others(self, log: &dyn Log) -> Result<()> {
        let is_own = |origin: Loaded<Origin>| {
            origin.is_ok_and(|origin| origin.log_id == log.id() && origin.generation == log.generation())
        };
        self.remove_if(|origin| !is_own(origin))
    }

    fn remove_if(self, is_stale: impl Fn(Loaded<Origin>) -> bool) -> Result<()> {
        let unfinished = self.names()?.into_iter().filter(|name| name.ends_with(UNFINISHED_SUFFIX));
        let mut stale: Vec<PathBuf> = unfinished.map(|name| self.path.join(name)).collect();
        let files = self.files()?.into_iter().map(|(_, path)| path);
        stale.extend(files.filter(|path| is_stale(self.origin(path))));
        if stale.is_empty() {
            return Ok(());
        }
        self.remove(stale)?;
        self.disk
            .sync_folder(self.path)
            .map_err(|source| failed("sync the folder of checkpoints", self.path, source))
    }

    fn remove(self, paths: impl IntoIterator<Item = PathBuf>) -> Result<()> {
        for path in paths {
            self.disk.remove(&path).map_err(|source| failed("remove an old checkpoint", &path, source))?;
        }
        Ok(())
    }
}

/// The error for a log that lacks records which a checkpoint of it has.
fn beyond_tail(path: &Path, log: &dyn Log, tail: Position) -> Error {
    Error::new(
        ErrorKind::Gap,
        format!(
            "{}: expected the log to reach the position of this checkpoint, found its tail at {tail} in {}: records \
             are missing; put the log back, or restore from a backup, or remove the checkpoint to accept the loss",
            path.display(),
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

fn failed(operation: &str, path: &Path, source: io::Error) -> Error {
    Error::of_disk(operation, source).with("path", path.display())
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
