//! The contents of a repository as a whole: which ones its log names, re-reading them, copying them, and removing those
//! that no version names.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::records::for_each_record;
use crate::contents::Contents;
use crate::log::Log;
use crate::model::{InstanceId, Sha256};
use crate::record::each_named_content;
use crate::repository::{Inner, Repository};
use crate::storage::widen;
use crate::{Error, ErrorKind, Position, Result};

/// Objects removed together, while no commit can name a content.
const REMOVED_AT_ONCE: usize = 256;
/// Most instances named for a damaged content.
const INSTANCES_NAMED_MAX: usize = 100;

/// The contents that the records name, with their sizes in bytes.
pub(crate) type NamedContents = BTreeMap<Sha256, u64>;

/// The result of reading all contents again.
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
    /// Re-reads every content that a version names, and compares its SHA-256 and its size with what was stored. Writers,
    /// readers and other maintenance continue meanwhile: it holds the lock of maintenance for one content at a time.
    /// `progress` gets the bytes read so far and the bytes in all.
    ///
    /// Errors: those of reading the log; `Closed` if the repository is closed meanwhile. The report lists contents that
    /// are missing, damaged or unreadable.
    pub fn fixity(&self, mut progress: impl FnMut(u64, u64)) -> Result<FixityReport> {
        let (log, position) = (self.inner().committer.source().log(), self.try_snapshot()?.position());
        let mut generation = log.generation();
        let named = named_contents(&**log, Position(1), position)?;
        let mut report = FixityReport { position, ..FixityReport::default() };
        if named.is_empty() {
            return Ok(report);
        }
        let contents = self.contents()?;
        let all = named.values().sum();
        let holder = Holder(Some(self.inner()));
        // The contents that the log names after it was compacted.
        let mut left: Option<NamedContents> = None;
        for (sha256, size) in named {
            let held = holder.hold()?;
            let outcome = contents.reread(sha256, size, &[], &mut |_| holder.check());
            drop(held);
            if outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                // Another process may have compacted the log.
                self.refresh()?;
                if log.generation() != generation {
                    generation = log.generation();
                    left = Some(named_contents(&**log, Position(1), position)?);
                }
                if left.as_ref().is_some_and(|left| !left.contains_key(&sha256)) {
                    continue;
                }
            }
            report.contents_count += 1;
            report.bytes += size;
            match outcome {
                Err(error) if error.kind() == ErrorKind::Closed => return Err(error),
                Err(error) => report.damaged.push(DamagedContent::of(sha256, &error)),
                Ok(_) => {}
            }
            progress(report.bytes, all);
        }
        name_instances(&**log, position, &mut report.damaged)?;
        Ok(report)
    }
}

impl DamagedContent {
    pub(crate) fn of(sha256: Sha256, error: &Error) -> DamagedContent {
        DamagedContent { sha256, problem: error.to_string(), instances: Vec::new() }
    }
}

/// The right to read contents for a moment: compactions remove none meanwhile. Without a repository nobody else may
/// work on them.
pub(crate) struct Holder<'r>(pub(crate) Option<&'r Inner>);

impl<'r> Holder<'r> {
    /// Errors: `Closed` once the repository is being closed.
    pub(crate) fn hold(&self) -> Result<Option<MutexGuard<'r, ()>>> {
        self.check()?;
        Ok(self.0.map(|inner| inner.maintenance.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Errors: as [`Holder::hold`].
    fn check(&self) -> Result<()> {
        match self.0.is_some_and(|inner| inner.is_stopping.load(Ordering::SeqCst)) {
            true => Err(Error::new(ErrorKind::Closed, "the repository is being closed; open it again")),
            false => Ok(()),
        }
    }
}

/// Names the instances of damaged contents. It reads the log once.
pub(crate) fn name_instances(log: &dyn Log, last: Position, damaged: &mut [DamagedContent]) -> Result<()> {
    let wanted = damaged.iter().map(|damage| damage.sha256).collect();
    let mut naming = instances_naming(log, last, &wanted)?;
    for damage in damaged {
        damage.instances = naming.remove(&damage.sha256).unwrap_or_default();
    }
    Ok(())
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

/// Copies the named contents into another store, durably, and proves each while it is copied. It skips those of `copied`,
/// which earlier attempts have copied. Shape: the contents that it could not read.
///
/// Errors: those of the other store; `Closed` if the repository is closed meanwhile.
pub(crate) fn copy_contents(
    from: &Contents,
    to: &Contents,
    named: &NamedContents,
    copied: &mut HashSet<Sha256>,
    holder: &Holder<'_>,
) -> Result<Vec<DamagedContent>> {
    let mut unreadable = Vec::new();
    for (sha256, size) in named {
        if copied.contains(sha256) {
            continue;
        }
        let name = sha256.to_string();
        let _held = holder.hold()?;
        let (mut refused, mut is_full) = (None, false);
        let outcome = to.store().put_named(&mut |out| {
            let mut write = |bytes: &[u8]| {
                holder.check()?;
                out.write_all(bytes).map_err(|error| {
                    is_full = true;
                    to.failed("copy a content", &name, error)
                })
            };
            match from.reread(*sha256, *size, &[], &mut write) {
                Ok(_) => Ok(name.clone()),
                Err(error) => {
                    refused = Some(error);
                    Err(io::Error::other("the content was refused"))
                }
            }
        });
        match refused {
            Some(error) if is_full || error.kind() == ErrorKind::Closed => return Err(error),
            Some(error) => unreadable.push(DamagedContent::of(*sha256, &error)),
            None => {
                outcome.map_err(|error| to.failed("copy a content", &name, error))?;
                copied.insert(*sha256);
            }
        }
    }
    Ok(unreadable)
}

/// Removes from a copy what its log does not name: contents that an earlier attempt copied, and that are purged since.
///
/// Errors: those of the store.
pub(crate) fn remove_others(copied: &Contents, named: &NamedContents) -> Result<()> {
    let store = copied.store();
    let stored = store.list().map_err(|error| copied.failed("list contents", "", error))?;
    let is_other = |name: &String| Sha256::parse(name).is_some_and(|sha256| !named.contains_key(&sha256));
    let others: Vec<String> = stored.into_iter().filter(is_other).collect();
    match others.is_empty() {
        true => Ok(()),
        false => store.remove(&others).map_err(|error| copied.failed("remove contents", "", error)),
    }
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
        let found = match contents.map(|contents| (contents, contents.find(sha256, None))) {
            Some((_, Ok((_, found)))) if found == size => continue,
            Some((_, Ok((_, found)))) => format!("{found} bytes"),
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
