//! The file that says which purged instances an unfinished compaction takes out.
//!
//! Shape: text; a title; a line `kind position change id` for each; a last line with their number. It is put in
//! place whole, by renaming, and removed when the compaction is done.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;

use crate::model::{Id, InstanceId};
use crate::{Error, ErrorKind, Position, Result};

const TITLE: &str = "annals compaction 1";

type Purged = HashMap<InstanceId, (Position, usize)>;

pub(super) fn write(path: &Path, purged: &Purged) -> Result<()> {
    let mut text = format!("{TITLE}\n");
    for (instance, (position, change)) in purged {
        let (kind, id) = match instance {
            InstanceId::Entity(id) => ("entity", id),
            InstanceId::Relationship(id) => ("relationship", id),
        };
        writeln!(text, "{kind} {position} {change} {id}").expect("a String takes every write");
    }
    writeln!(text, "{}", purged.len()).expect("a String takes every write");
    let building = path.with_extension("building");
    let write = || {
        fs::write(&building, text)?;
        File::open(&building)?.sync_all()?;
        fs::rename(&building, path)?;
        sync_folder(path)
    };
    write().map_err(|source| failed("write what is compacted", path, source))
}

/// `None` if there is no unfinished compaction.
pub(super) fn read(path: &Path) -> Result<Option<Purged>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|source| failed("read what is compacted", path, source))?,
    };
    parse(&text).map(Some).ok_or_else(|| {
        Error::new(
            ErrorKind::Corrupted,
            format!(
                "{}: expected the purges of a compaction; restore the repository from a backup",
                path.display()
            ),
        )
    })
}

fn parse(text: &str) -> Option<Purged> {
    let mut lines: Vec<&str> = text.lines().collect();
    let count: usize = lines.pop()?.parse().ok()?;
    let (title, lines) = lines.split_first()?;
    if *title != TITLE || lines.len() != count {
        return None;
    }
    lines.iter().map(|line| parse_line(line)).collect()
}

fn parse_line(line: &str) -> Option<(InstanceId, (Position, usize))> {
    let mut parts = line.splitn(4, ' ');
    let kind = parts.next()?;
    let position = Position(parts.next()?.parse().ok()?);
    let change = parts.next()?.parse().ok()?;
    let id = Id::new(parts.next()?).ok()?;
    let instance = match kind {
        "entity" => InstanceId::Entity(id),
        "relationship" => InstanceId::Relationship(id),
        _ => return None,
    };
    Some((instance, (position, change)))
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|source| failed("remove what was compacted", path, source))?,
    }
    sync_folder(path).map_err(|source| failed("sync the repository's folder", path, source))
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

fn failed(operation: &str, path: &Path, source: std::io::Error) -> Error {
    Error::io(operation.to_owned(), source).with("path", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purges_read_back_and_half_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compacting");
        assert_eq!(read(&path).unwrap(), None);
        let purged = Purged::from([
            (InstanceId::Entity(Id::new("an id with spaces").unwrap()), (Position(7), 3)),
            (InstanceId::Relationship(Id::random()), (Position(u64::MAX), 0)),
        ]);
        write(&path, &purged).unwrap();
        assert_eq!(read(&path).unwrap().as_ref(), Some(&purged));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 2]).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::Corrupted);
        remove(&path).unwrap();
        assert_eq!(read(&path).unwrap(), None);
    }
}
