//! The contents of a repository as a whole: which ones its log names, re-reading them, copying them, and removing those
//! that no version names.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::sync::PoisonError;

use super::records::for_each_record;
use crate::contents::Contents;
use crate::log::Log;
use crate::model::{InstanceId, Sha256};
use crate::record::each_named_content;
use crate::repository::Repository;
use crate::storage::widen;
use crate::{ErrorKind, Position, Result};

/// Objects removed together, while no commit can name a content.
const REMOVED_AT_ONCE: usize = 256;
/// Most instances named for a damaged content.
const INSTANCES_NAMED_MAX: usize = 100;

/// The contents that the records name, with their sizes in bytes.
pub(crate) type NamedContents = BTreeMap<Sha256, u64>;

/// What a re-reading of all contents found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixityReport {
    /// The position up to which records were read.
    pub position: Position,
    /// Contents that versions name.
    pub contents_count: u64,
    /// Units: bytes that were re-read.
    pub bytes: u64,
    /// Contents that are missing or damaged.
    pub damaged: Vec<DamagedContent>,
}

impl FixityReport {
    /// True if every content is as it was stored.
    pub fn is_clean(&self) -> bool {
        self.damaged.is_empty()
    }
}

/// A content that is not as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedContent {
    /// Its SHA-256, by which versions name it.
    pub sha256: Sha256,
    /// The problem.
    pub problem: String,
    /// Instances of which a version names it, at most 100.
    pub instances: Vec<InstanceId>,
}

impl Repository {
    /// Re-reads every content that a version names, and compares its SHA-256 and its size with what was stored. Writers
    /// and readers continue meanwhile. `progress` gets the bytes read so far and the bytes in all.
    ///
    /// Errors: those of reading the log; `Io` if the store cannot be read. The report lists damaged contents.
    pub fn fixity(&self, mut progress: impl FnMut(u64, u64)) -> Result<FixityReport> {
        let _one = self.inner().maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, position) = (self.inner().committer.source().log(), self.snapshot().position());
        let named = named_contents(&**log, Position(1), position)?;
        let mut report = FixityReport { position, ..FixityReport::default() };
        if named.is_empty() {
            return Ok(report);
        }
        let contents = self.contents()?;
        let all = named.values().sum();
        for (sha256, size) in named {
            report.contents_count += 1;
            match contents.reread(sha256, size, &[], &mut |_| Ok(())) {
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NotFound) => {
                    report.damaged.push(DamagedContent {
                        sha256,
                        problem: error.to_string(),
                        instances: Vec::new(),
                    });
                }
                Err(error) => return Err(error),
            }
            report.bytes += size;
            progress(report.bytes, all);
        }
        let damaged = report.damaged.iter().map(|damage| damage.sha256).collect();
        let mut naming = instances_naming(&**log, position, &damaged)?;
        for damage in &mut report.damaged {
            damage.instances = naming.remove(&damage.sha256).unwrap_or_default();
        }
        Ok(report)
    }
}

/// The contents that records from `first` to `last` name.
pub(crate) fn named_contents(log: &dyn Log, first: Position, last: Position) -> Result<NamedContents> {
    let mut named = NamedContents::new();
    for_each_record(log, first, last, |_, record| {
        record.changes.iter().try_for_each(|change| {
            each_named_content(change, &mut |content| {
                named.insert(content.sha256, content.size);
                Ok(())
            })
        })
    })?;
    Ok(named)
}

/// The instances of which a version names one of the wanted contents, at most 100 for each. It reads the log once.
fn instances_naming(
    log: &dyn Log,
    last: Position,
    wanted: &BTreeSet<Sha256>,
) -> Result<BTreeMap<Sha256, Vec<InstanceId>>> {
    let mut naming = BTreeMap::<Sha256, Vec<InstanceId>>::new();
    if wanted.is_empty() {
        return Ok(naming);
    }
    for_each_record(log, Position(1), last, |_, record| {
        record.changes.iter().try_for_each(|change| {
            let Some(instance) = change.action.instance() else { return Ok(()) };
            each_named_content(change, &mut |content| {
                if wanted.contains(&content.sha256) {
                    let instances = naming.entry(content.sha256).or_default();
                    if instances.len() < INSTANCES_NAMED_MAX && !instances.contains(&instance) {
                        instances.push(instance.clone());
                    }
                }
                Ok(())
            })
        })
    })?;
    Ok(naming)
}

/// Re-reads the named contents. Shape: their number, and their bytes.
///
/// Errors: as [`Contents::reread`] for the first damaged one.
pub(crate) fn verify_contents(contents: &Contents, named: &NamedContents) -> Result<(u64, u64)> {
    for (sha256, size) in named {
        contents.reread(*sha256, *size, &[], &mut |_| Ok(()))?;
    }
    Ok((widen(named.len()), named.values().sum()))
}

/// Copies the named contents into another store, durably, and proves each while it is copied. Shape: as
/// [`verify_contents`].
///
/// Errors: as [`Contents::reread`]; those of the other store.
pub(crate) fn copy_contents(from: &Contents, to: &Contents, named: &NamedContents) -> Result<(u64, u64)> {
    for (sha256, size) in named {
        let mut refused = None;
        let copied = to.store().put_named(&mut |out| {
            let mut write = |bytes: &[u8]| {
                out.write_all(bytes).map_err(|error| to.failed("copy a content", &sha256.to_string(), error))
            };
            match from.reread(*sha256, *size, &[], &mut write) {
                Ok(_) => Ok(sha256.to_string()),
                Err(error) => {
                    refused = Some(error);
                    Err(io::Error::other("the content was refused"))
                }
            }
        });
        if let Some(error) = refused {
            return Err(error);
        }
        copied.map_err(|error| to.failed("copy a content", &sha256.to_string(), error))?;
    }
    Ok((widen(named.len()), named.values().sum()))
}

/// The differences between the contents that the records up to `last` name and the store, without reading the contents.
/// Each names the instances that it concerns.
pub(crate) fn missing_contents(
    contents: Option<&Contents>,
    log: &dyn Log,
    last: Position,
) -> Result<Vec<String>> {
    /// Most lines of a report.
    const LINES_MAX: usize = 100;
    let mut lines = BTreeMap::new();
    for (sha256, size) in named_contents(log, Position(1), last)? {
        let name = sha256.to_string();
        let found = match contents.map(|contents| (contents, contents.store().length(&name))) {
            Some((_, Ok(found))) if found == size => continue,
            Some((_, Ok(found))) => format!("{found} bytes"),
            Some((contents, Err(error))) if error.kind() != io::ErrorKind::NotFound => {
                return Err(contents.failed("look up a content", &name, error));
            }
            _ => "none".to_owned(),
        };
        if lines.len() < LINES_MAX {
            let line = format!(
                "content {name}: expected {size} bytes in the store, found {found}; restore it from a backup"
            );
            lines.insert(sha256, line);
        }
    }
    let naming = instances_naming(log, last, &lines.keys().copied().collect())?;
    let line = |(sha256, line): (Sha256, String)| {
        let instances = naming.get(&sha256).into_iter().flatten();
        let instances: Vec<String> = instances.map(ToString::to_string).collect();
        format!("{line} ({})", instances.join(", "))
    };
    Ok(lines.into_iter().map(line).collect())
}

/// Removes the contents that no record names, and that no commit in progress has pinned. Shape: their number and bytes.
///
/// The caller holds the maintenance lock. `tail` is the position of the last durable record.
pub(crate) fn collect(
    contents: &Contents,
    log: &dyn Log,
    tail: &dyn Fn() -> Result<Position>,
) -> Result<(u64, u64)> {
    let store = contents.store();
    let stored = store.list().map_err(|error| contents.failed("list contents", "", error))?;
    let mut unnamed: HashSet<Sha256> = stored.iter().filter_map(|name| Sha256::parse(name)).collect();
    if unnamed.is_empty() {
        return Ok((0, 0));
    }
    let mut known = Position::ZERO;
    let mut removed = (0, 0);
    loop {
        let last = tail()?;
        for sha256 in named_contents(log, known.next(), last)?.keys() {
            unnamed.remove(sha256);
        }
        known = last;
        // While the pins are held, no commit can name another content: it pins it first.
        let pins = contents.pins().lock();
        if tail()? != known {
            continue;
        }
        unnamed.retain(|sha256| !pins.contains_key(sha256));
        let taken: Vec<Sha256> = unnamed.iter().copied().take(REMOVED_AT_ONCE).collect();
        if taken.is_empty() {
            return Ok(removed);
        }
        let names: Vec<String> = taken.iter().map(Sha256::to_string).collect();
        let bytes: u64 = names.iter().map(|name| store.length(name).unwrap_or(0)).sum();
        store.remove(&names).map_err(|error| contents.failed("remove contents", "", error))?;
        drop(pins);
        for sha256 in taken {
            unnamed.remove(&sha256);
        }
        removed = (removed.0 + widen(names.len()), removed.1 + bytes);
    }
}
