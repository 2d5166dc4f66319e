//! The files of checkpoints: names, writing one so that it is whole or absent, choosing one to load.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use super::block::{Damage, length_without_values};
use super::load::load;
use super::save::save;
use crate::graph::Graph;
use crate::graph::spill_file::SpillSettings;
use crate::log::{Log, ReadLimit};
use crate::{Error, Position, Result};

/// Checkpoints kept: the newest, and one to fall back on.
const KEPT: usize = 2;
const SUFFIX: &str = ".checkpoint";
/// Extension of a checkpoint that is being written.
const BUILDING: &str = "building";

fn file_name(position: Position) -> String {
    format!("{:020}{SUFFIX}", position.0)
}

fn parse_file_name(name: &str) -> Option<Position> {
    let digits = name.strip_suffix(SUFFIX)?;
    (digits.len() == 20).then(|| digits.parse().ok().map(Position))?
}

/// The checkpoint files of a folder, newest first.
fn files(folder: &Path) -> Vec<(Position, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(Position, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((parse_file_name(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    files.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
    files
}

/// The graph of the newest whole checkpoint of this log. What is wrong with others becomes a warning.
///
/// Errors: `TooLarge` if the memory budget does not hold it; then it holds neither an older one with the log after it
/// nor the log alone.
pub(crate) fn load_newest(
    folder: &Path,
    log: &dyn Log,
    spill: Option<&SpillSettings>,
    warnings: &mut Vec<String>,
) -> Result<Option<Graph>> {
    let tail = log.tail()?;
    for (position, path) in files(folder) {
        let outcome = match File::open(&path) {
            _ if position > tail => {
                Err(format!("of position {position}, beyond the log's tail {tail}").into())
            }
            Err(error) => Err(format!("cannot be opened: {error}").into()),
            Ok(file) => {
                // Only a refusal tells it.
                let bytes = if spill.is_some() { length_without_values(&file) } else { 0 };
                load(BufReader::with_capacity(1 << 20, file), bytes, spill)
            }
        };
        let why = match outcome {
            Err(Damage::Ignored(why)) => why,
            Err(Damage::TooLarge(error)) => return Err(error.with("checkpoint", path.display())),
            Ok((graph, _)) if graph.position != position => format!("of position {}", graph.position),
            Ok((_, checksum)) if checksum != record_checksum(log, position)? => "of another log".to_owned(),
            Ok((graph, _)) => return Ok(Some(graph)),
        };
        warnings.push(format!("checkpoint {} is {why}; ignored", path.display()));
    }
    Ok(None)
}

/// CRC-32C of the record at `position`; 0 before the first.
fn record_checksum(log: &dyn Log, position: Position) -> Result<u32> {
    if position == Position::ZERO {
        return Ok(0);
    }
    let records = log.read(position, ReadLimit::ONE)?;
    Ok(records.first().map_or(0, |record| crc32c::crc32c(record)))
}

/// Writes a checkpoint of `graph` and removes the ones no longer needed.
pub(crate) fn save_new(folder: &Path, log: &dyn Log, graph: &Graph) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|source| failed("create the folder of checkpoints", folder, source))?;
    remove_unfinished(folder)?;
    let checksum = record_checksum(log, graph.position)?;
    let path = folder.join(file_name(graph.position));
    let building = path.with_extension(BUILDING);
    let write = || {
        let file = File::create(&building)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        save(graph, checksum, &mut out)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&building, &path)?;
        // Sync the folder too, or the new name can be lost after the old ones are gone.
        File::open(folder)?.sync_all()
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&building);
        failed("write a checkpoint", &path, source)
    })?;
    remove(files(folder).into_iter().skip(KEPT).map(|(_, path)| path))
}

/// Removes all checkpoints, durably: none of them may be loaded again.
pub(crate) fn remove_all(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    remove_unfinished(folder)?;
    remove(files(folder).into_iter().map(|(_, path)| path))?;
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| failed("sync the folder of checkpoints", folder, source))
}

/// What a crash left of a checkpoint being written.
fn remove_unfinished(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|source| failed("list checkpoints", folder, source))?;
    let paths = entries.flatten().map(|entry| entry.path());
    remove(paths.filter(|path| path.extension().is_some_and(|extension| extension == BUILDING)))
}

fn remove(paths: impl Iterator<Item = PathBuf>) -> Result<()> {
    for path in paths {
        fs::remove_file(&path).map_err(|source| failed("remove an old checkpoint", &path, source))?;
    }
    Ok(())
}

fn failed(operation: &str, path: &Path, source: std::io::Error) -> Error {
    Error::io(operation.to_owned(), source).with("path", path.display())
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
