//! Deletes instances that the files of a merge do not name, of the types that occur in the files.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

use annals::action;
use annals::{
    Action, Entity, Error, ErrorKind, Find, InstanceId, Position, Relationship, Repository, Result, Snapshot,
    Transaction, TypeKind,
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
    /// known. An entity whose deletion would delete a named or a newer instance stays, and is reported.
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
        self.check(repository, &snapshot, &named)?;
        // Order: entities first, with their relationships, so that restoring an entity restores these.
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            let mut batch = Vec::new();
            self.each_missing(&snapshot, &named, kind, |instance| {
                batch.push(instance);
                if batch.len() < load.batch_changes {
                    Ok(())
                } else {
                    self.commit(&named, repository, load, report, &mut batch)
                }
            })?;
            self.commit(&named, repository, load, report, &mut batch)?;
        }
        Ok(())
    }

    /// Counts before anything is deleted, with all instances that a deletion takes along.
    fn check(&self, repository: &Repository, snapshot: &Snapshot, named: &Named) -> Outcome {
        let mut going = Going::default();
        let mut there_count = 0u64;
        let mut probe = repository.transaction();
        for kind in [TypeKind::Entity, TypeKind::Relationship] {
            each_of_types(snapshot, named, kind, |instance, position, version| {
                let is_old = position <= self.began_at;
                // A newer instance in its first version did not exist before the import.
                there_count += u64::from(is_old || version > 1);
                if !is_old || named.has(&instance) || going.has(&instance) {
                    return Ok(());
                }
                let along = probe.taken_along(&deletion(&instance))?;
                if self.kept(&mut probe, named, &deletion(&instance), &along)?.is_none() {
                    going.add(&instance);
                    for instance in &along {
                        let is_new = going.add(instance);
                        there_count += u64::from(is_new && !is_of_types(snapshot, named, instance)?);
                    }
                }
                Ok(())
            })?;
        }
        let going_count = going.0.len() as u64;
        if going_count * 100 <= there_count * u64::from(self.delete_max.0) {
            return Ok(());
        }
        let text = format!(
            "expected to delete at most {} of the {there_count} instances of the types that the input names and of those \
             that go with them, found {going_count}; nothing is deleted. If they are to go, say {}{}",
            self.delete_max,
            self.option,
            // No more than is needed: the next import may be broken.
            (going_count * 100).div_ceil(there_count)
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
            if position <= self.began_at && !named.has(&instance) { work(instance) } else { Ok(()) }
        })
    }

    /// Why an entity stays: the first instance that its deletion would take along, and that must not go.
    fn kept(
        &self,
        transaction: &mut Transaction,
        named: &Named,
        deletion: &Action,
        along: &[InstanceId],
    ) -> Result<Option<(InstanceId, &'static str)>> {
        if let Some(instance) = along.iter().find(|instance| named.has(instance)) {
            return Ok(Some((instance.clone(), "which the input names")));
        }
        let later = transaction.built_on_along(deletion, self.began_at)?;
        Ok(later.map(|(instance, _)| (instance, "which was written after the import began")))
    }

    /// True if it is live, and unchanged since the import began.
    fn is_old(&self, snapshot: &Snapshot, instance: &InstanceId) -> Result<bool> {
        let position = match instance {
            InstanceId::Entity(id) => snapshot.entity_summary(id)?.map(|entity| entity.position()),
            InstanceId::Relationship(id) => snapshot.relationship(id)?.map(|one| one.position()),
        };
        Ok(position.is_some_and(|position| position <= self.began_at))
    }

    fn commit(
        &self,
        named: &Named,
        repository: &Repository,
        load: &LoadOptions,
        report: &mut Report,
        batch: &mut Vec<InstanceId>,
    ) -> Outcome {
        let gap = if load.message.is_empty() { "" } else { " " };
        let message = format!("{}{gap}[import deletes what is not named]", load.message);
        let (deleted, _) = repository.transact(|transaction| {
            transaction.author(&load.author).message(&message);
            let base = transaction.base().clone();
            let mut deleted = Deleted::default();
            // Order: decide on all before the first deletion, because until then reads of the transaction cost little.
            for instance in batch.iter() {
                // Another writer may have changed it meanwhile, and an earlier deletion may take it along.
                if deleted.gone.contains(instance) || !self.is_old(&base, instance)? {
                    continue;
                }
                let action = deletion(instance);
                let along = transaction.taken_along(&action)?;
                if let Some((other, reason)) = self.kept(transaction, named, &action, &along)? {
                    deleted.kept.push((instance.clone(), other, reason));
                    continue;
                }
                // If another writer links it, or puts a child into it, before the commit, this is decided again.
                transaction.expect_taken_along(&action)?;
                deleted.roots.push(instance.clone());
                deleted.gone.insert(instance.clone());
                for instance in along {
                    deleted.along_count += u64::from(deleted.gone.insert(instance));
                }
            }
            deleted.roots.iter().try_for_each(|instance| transaction.delete(instance))?;
            load.check.as_ref().map_or(Ok(()), |check| check.check(transaction))?;
            Ok(deleted)
        })?;
        let count = deleted.roots.len() as u64;
        batch.clear();
        let summary = &mut report.summary;
        summary.deleted_count += count;
        summary.taken_along_count += deleted.along_count;
        summary.changes_count += count;
        summary.records_count += u64::from(count > 0);
        report.progress.note_committed(summary.changes_count);
        for (instance, other, reason) in &deleted.kept {
            let text = format!("{instance} stays: deleting it would delete {other}, {reason}");
            report.keep(instance, &text);
        }
        Ok(())
    }
}

/// The deletions of one transaction.
#[derive(Default)]
struct Deleted {
    /// The instances to delete.
    roots: Vec<InstanceId>,
    along_count: u64,
    /// These, and the instances that they take along.
    gone: HashSet<InstanceId>,
    /// Entities that stay, each with an instance that must not go, and why.
    kept: Vec<(InstanceId, InstanceId, &'static str)>,
}

fn deletion(instance: &InstanceId) -> Action {
    Action::from(action::Delete { instance: instance.clone() })
}

/// Hashes of instances that would be deleted. Units: some 20 bytes for each.
#[derive(Default)]
struct Going(HashSet<u64>, RandomState);

impl Going {
    fn has(&self, instance: &InstanceId) -> bool {
        self.0.contains(&self.1.hash_one(instance))
    }

    fn add(&mut self, instance: &InstanceId) -> bool {
        self.0.insert(self.1.hash_one(instance))
    }
}

/// True if the type of the instance is one that the input names.
fn is_of_types(snapshot: &Snapshot, named: &Named, instance: &InstanceId) -> Result<bool> {
    let found = match instance {
        InstanceId::Entity(id) => {
            snapshot.entity_summary(id)?.map(|known| (TypeKind::Entity, known.type_name(), known.home()))
        }
        InstanceId::Relationship(id) => {
            snapshot.relationship(id)?.map(|known| (TypeKind::Relationship, known.type_name(), known.home()))
        }
    };
    Ok(found.is_some_and(|(kind, type_name, home)| {
        home.is_none() && named.types.contains(&(kind, type_name.into()))
    }))
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
