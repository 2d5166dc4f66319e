//! The files of checkpoints: names, writing one so that it is whole or absent, choosing one to load.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use super::load::load;
use super::save::save;
use crate::graph::Graph;
use crate::{Error, Position, Result};

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

/// The graph of the newest whole checkpoint at or before `tail`. What is wrong with others becomes a warning.
pub(crate) fn load_newest(folder: &Path, tail: Position, warnings: &mut Vec<String>) -> Option<Graph> {
    for (position, path) in files(folder) {
        let outcome = match File::open(&path) {
            _ if position > tail => Err(format!("of position {position}, beyond the log's tail {tail}")),
            Err(error) => Err(format!("cannot be opened: {error}")),
            Ok(file) => load(BufReader::with_capacity(1 << 20, file)),
        };
        match outcome {
            Ok(graph) if graph.position == position => return Some(graph),
            Ok(graph) => warnings.push(format!(
                "checkpoint {} is of position {}; ignored",
                path.display(),
                graph.position
            )),
            Err(why) => warnings.push(format!("checkpoint {} is {why}; ignored", path.display())),
        }
    }
    None
}

/// Writes a checkpoint of `graph` and removes the ones no longer needed.
pub(crate) fn save_new(folder: &Path, graph: &Graph, keeps_older: bool) -> Result<()> {
    let io = |operation: &str, path: &Path, source| {
        Error::io(operation.to_owned(), source).with("path", path.display())
    };
    fs::create_dir_all(folder).map_err(|source| io("create the folder of checkpoints", folder, source))?;
    let path = folder.join(file_name(graph.position));
    let building = path.with_extension("building");
    let write = || {
        let file = File::create(&building)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        save(graph, &mut out)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&building, &path)?;
        // Sync the folder too, or the new name can be lost after the old ones are gone.
        File::open(folder)?.sync_all()
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&building);
        io("write a checkpoint", &path, source)
    })?;
    for (_, old) in files(folder).into_iter().skip(if keeps_older { KEPT } else { 1 }) {
        fs::remove_file(&old).map_err(|source| io("remove an old checkpoint", &old, source))?;
    }
    Ok(())
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
