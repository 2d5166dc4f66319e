//! Deletes instances that the files of a merge do not name, of the types that occur in the files.

use std::fmt;
use std::str::FromStr;

use annals::{
    Entity, Error, ErrorKind, Find, InstanceId, Position, Relationship, Repository, Result, Snapshot,
    TypeKind,
};

use super::loader::LoadOptions;
use super::merge::Named;
use super::report::Report;
use crate::export::{each_entity, each_relationship};
use crate::{Outcome, Stop};

/// Instances looked up together.
const PAGE: usize = 5_000;

/// Greatest share of the existing instances that may be deleted. Units: per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeleteMax(u8);

impl Default for DeleteMax {
    fn default() -> DeleteMax {
        DeleteMax(10)
    }
}

impl FromStr for DeleteMax {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<DeleteMax, String> {
        let percent = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
        percent.map(DeleteMax).ok_or_else(|| format!("expected a share from 0% to 100%, found {text:?}"))
    }
}

impl fmt::Display for DeleteMax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// Options for deleting missing instances.
#[derive(Clone, Copy, Debug)]
pub struct Missing {
    /// The position at which the import began. Later writes, by it or by other writers, stay.
    pub began_at: Position,
    /// A greater share is refused.
    pub delete_max: DeleteMax,
    /// The option that allows a greater share, up to its value, for the message.
    pub option: &'static str,
}

impl Missing {
    /// Deletes existing instances that are not named, unless a line was refused: then the instance that it names is not
    /// known.
    ///
    /// Errors: `Stop::Refused` if the share is too great, and then nothing is deleted; those of the log.
    pub fn delete(&self, repository: &Repository, load: &LoadOptions, report: &mut Report) -> Outcome {
        let Some(named) = report.merge.as_mut().and_then(|merge| merge.take_named()) else { return Ok(()) };
        if report.summary.refused_count > 0 {
            report.remark(format_args!(
                "{} refused, so nothing that the input does not name is deleted",
                report.summary.refused_count
            ));
            return Ok(());
        }
        let snapshot = repository.snapshot();
        self.check(&snapshot, &named)?;
        // Order: entities first, with their relationships, so that restoring an entity restores these.
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            let mut batch = Vec::new();
            self.each_missing(&snapshot, &named, kind, |instance| {
                batch.push(instance);
                if batch.len() < load.batch_changes {
                    Ok(())
                } else {
                    commit(self, repository, load, report, &mut batch)
                }
            })?;
            commit(self, repository, load, report, &mut batch)?;
        }
        Ok(())
    }

    /// Counts before anything is deleted.
    fn check(&self, snapshot: &Snapshot, named: &Named) -> Outcome {
        let (mut missing_count, mut there_count) = (0u64, 0u64);
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            each_of_types(snapshot, named, kind, |instance, position, version| {
                let is_old = position <= self.began_at;
                missing_count += u64::from(is_old && !named.is_unchanged(&instance));
                // A newer instance in its first version did not exist before the import.
                there_count += u64::from(is_old || version > 1);
                Ok(())
            })?;
        }
        if missing_count * 100 <= there_count * u64::from(self.delete_max.0) {
            return Ok(());
        }
        let text = format!(
            "expected to delete at most {} of the {there_count} instances of the types that the input names, found \
             {missing_count} that it does not name; nothing is deleted. If they are to go, say {}{}",
            self.delete_max,
            self.option,
            // No more than is needed: the next import may be broken.
            (missing_count * 100).div_ceil(there_count)
        );
        Err(Stop::Refused(Error::new(ErrorKind::InvalidArgument, text)))
    }

    fn each_missing(
        &self,
        snapshot: &Snapshot,
        named: &Named,
        kind: TypeKind,
        mut work: impl FnMut(InstanceId) -> Outcome,
    ) -> Outcome {
        each_of_types(snapshot, named, kind, |instance, position, _| {
            if position <= self.began_at && !named.is_unchanged(&instance) { work(instance) } else { Ok(()) }
        })
    }

    /// True if it is live, and unchanged since the import began.
    fn is_old(&self, snapshot: &Snapshot, instance: &InstanceId) -> Result<bool> {
        let position = match instance {
            InstanceId::Entity(id) => snapshot.entity(id)?.map(|entity| entity.position()),
            InstanceId::Relationship(id) => snapshot.relationship(id)?.map(|one| one.position()),
        };
        Ok(position.is_some_and(|position| position <= self.began_at))
    }
}

fn commit(
    missing: &Missing,
    repository: &Repository,
    load: &LoadOptions,
    report: &mut Report,
    batch: &mut Vec<InstanceId>,
) -> Outcome {
    let gap = if load.message.is_empty() { "" } else { " " };
    let message = format!("{}{gap}[import deletes what is not named]", load.message);
    let (count, _) = repository.transact(|transaction| {
        transaction.author(&load.author).message(&message);
        let base = transaction.base().clone();
        let mut count = 0;
        for instance in batch.iter() {
            // Another writer may have changed it meanwhile, and relationships are deleted with their entities.
            if missing.is_old(&base, instance)? {
                transaction.delete(instance)?;
                count += 1;
            }
        }
        Ok(count)
    })?;
    batch.clear();
    report.summary.deleted_count += count;
    report.summary.changes_count += count;
    report.summary.records_count += u64::from(count > 0);
    report.progress.note_committed(report.summary.changes_count);
    Ok(())
}

/// Calls `work` for each live instance of the named types, without their subtypes: with its id, and the position and
/// number of its version. Instances of other collections are left out, too.
fn each_of_types(
    snapshot: &Snapshot,
    named: &Named,
    kind: TypeKind,
    mut work: impl FnMut(InstanceId, Position, u32) -> Outcome,
) -> Outcome {
    for (_, name) in named.types.iter().filter(|(known, _)| *known == kind) {
        let find = Find::of(name).limit(PAGE);
        let is_own = |type_name: &str, home: Option<&str>| *type_name == **name && home.is_none();
        match kind {
            TypeKind::Relationship => each_relationship(snapshot, find, |one: &Relationship| {
                if !is_own(one.type_name(), one.home()) {
                    return Ok(());
                }
                work(one.instance_id(), one.position(), one.version())
            })?,
            _ => each_entity(snapshot, find, |one: &Entity| {
                if !is_own(one.type_name(), one.home()) {
                    return Ok(());
                }
                work(one.instance_id(), one.position(), one.version())
            })?,
        }
    }
    Ok(())
}
