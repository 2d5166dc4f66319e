//! Instances whose changes no two states show: purged ones, and those of types that were declared anew.

use std::collections::HashSet;

use super::{WATCHED_MAX, Watch, WatchedChange};
use crate::graph::instance_id;
use crate::graph::purges::PurgedInstance;
use crate::graph::structures::symbols::Symbol;
use crate::log::ReadLimit;
use crate::model::{Action, TypeDefinition, TypeKind};
use crate::read::past::compare::InstanceChange;
use crate::read::snapshot::{AsOf, Snapshot};
use crate::read::taken_along::Slot;
use crate::read::tree::Tree;
use crate::record::decode_record;
use crate::tree::TreePath;
use crate::{Position, Result};

/// Purges by some records, as far as a reader may know of them.
#[derive(Default)]
pub(super) struct Gone<'s> {
    known: Vec<&'s PurgedInstance>,
    /// Those of which it is not known whether the reader saw them.
    perhaps_seen: Vec<&'s PurgedInstance>,
    /// True if there may be others.
    has_unknown: bool,
}

impl Snapshot {
    /// The purges by the records after `from`, up to `to`.
    ///
    /// Errors: those of reading the log, which is read only for records from before the graph knew its purges.
    pub(super) fn gone(&self, from: Position, to: Position) -> Result<Gone<'_>> {
        let purges = &self.graph().purges;
        let mut gone = Gone::default();
        if from >= purges.last.max(purges.forgotten) {
            return Ok(gone);
        }
        if from < purges.forgotten {
            gone.has_unknown = self.has_purges(from, to.min(purges.forgotten))?;
        }
        let sight = self.purged_in_sight();
        for purged in purges.known(from.0 + 1..=to.0) {
            match sight.map_or(Some(true), |sight| sight.had(purged)) {
                Some(true) => gone.known.push(purged),
                Some(false) => {}
                None => gone.perhaps_seen.push(purged),
            }
        }
        Ok(gone)
    }

    /// True if one of these records may have purged something that no graph remembers: it has a purge, or a change that a
    /// compaction has removed.
    fn has_purges(&self, from: Position, to: Position) -> Result<bool> {
        let is_purge =
            |action: &Action| matches!(action, Action::Purge(_) | Action::PurgeCopy(_) | Action::Void(_));
        let mut next = from.next();
        while next <= to {
            self.check_cancelled()?;
            let default = ReadLimit::default();
            let left = usize::try_from(to.0 - next.0 + 1).unwrap_or(usize::MAX);
            let limit = ReadLimit { records: left.min(default.records), ..default };
            let records = self.source().log().read(next, limit)?;
            if records.is_empty() {
                break;
            }
            for bytes in records {
                let record = decode_record(next, &bytes)?;
                if record.changes.iter().any(|change| is_purge(&change.action)) {
                    return Ok(true);
                }
                next = next.next();
            }
        }
        Ok(false)
    }

    /// The instances whose types the records after `from`, up to `to`, put below others: they may be hits by that alone.
    /// `None` if they are too many.
    pub(super) fn retyped_by_declarations(
        &self,
        kind: TypeKind,
        from: Position,
        to: Position,
    ) -> Result<Option<Vec<Slot>>> {
        let mut found: Vec<Slot> = Vec::new();
        if self.declared_between(from, to).next().is_none() {
            return Ok(Some(found));
        }
        let before = self.unsighted().as_of(AsOf { position: Some(from), ..AsOf::default() })?;
        for definition in self.declared_between(from, to) {
            let of_kind = definition.kind == kind
                || definition.kind == TypeKind::Classification && kind == TypeKind::Entity;
            let earlier = before.type_definition(definition.kind, &definition.name);
            let supertypes = earlier.map(|earlier| earlier.supertypes.clone()).unwrap_or_default();
            if !of_kind || supertypes == definition.supertypes {
                continue;
            }
            for name in self.types_named(definition.kind, &definition.name) {
                self.check_cancelled()?;
                for extents in self.graph().table(kind).lists.extents_of(definition.kind) {
                    found.extend(
                        extents.of(name).into_iter().flat_map(|slots| slots.iter()).map(|slot| (kind, slot)),
                    );
                }
                if found.len() > WATCHED_MAX {
                    return Ok(None);
                }
            }
        }
        Ok(Some(found))
    }

    fn declared_between(&self, from: Position, to: Position) -> impl Iterator<Item = &TypeDefinition> {
        let changes = &self.graph().type_changes;
        let (mut low, mut high) = (0, changes.len());
        while low < high {
            let middle = low.midpoint(high);
            match changes[middle].0 <= from.0 {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let between = changes.iter_from(low).take_while(move |(position, _)| *position <= to.0);
        between.map(|(_, definition)| &**definition)
    }
}

impl Gone<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.perhaps_seen.is_empty() && !self.has_unknown
    }

    /// The purged instances for a watch by a search. Its condition is not asked, because nothing has the values any more.
    ///
    /// Shape: the purged instances that may have been hits, and whether there may be others.
    pub(super) fn of_search(
        &self,
        kind: TypeKind,
        is_of_type: impl Fn(Symbol) -> bool,
        has_sight: bool,
    ) -> (Vec<WatchedChange>, bool) {
        let is_hit = |purged: &&&PurgedInstance| {
            purged.kind == kind && purged.types.iter().any(|name| is_of_type(*name))
        };
        let mut read_again = self.has_unknown || self.perhaps_seen.iter().any(|purged| is_hit(&purged));
        let mut changes = Vec::new();
        for purged in self.known.iter().filter(is_hit) {
            // A reader with a sight may not have seen each of its ids.
            if has_sight && purged.ids.len() > 1 {
                read_again = true;
                continue;
            }
            let instances = purged.ids.iter().map(|id| instance_id(kind, id.clone()));
            changes.extend(instances.map(|id| WatchedChange::Instance(InstanceChange::Disappeared(id))));
        }
        (changes, read_again)
    }

    /// True if the purges may have removed something from the watched part of the tree below the entity `root`, between
    /// two states of it.
    pub(super) fn is_in_tree(&self, watch: &Watch, sides: [&Snapshot; 2]) -> Result<bool> {
        let Watch::Tree { root, path } = watch else { return Ok(false) };
        if self.has_unknown {
            return Ok(true);
        }
        let root = root.clone().unwrap_or_else(crate::model::Id::root);
        let gone: HashSet<u32> = self.of_kind(TypeKind::Entity).map(|purged| purged.slot).collect();
        if self.of_kind(TypeKind::Entity).any(|purged| purged.ids.contains(&root)) {
            return Ok(true);
        }
        for start in self.of_kind(TypeKind::Relationship).flat_map(|purged| &purged.starts) {
            // Whatever contained it was purged, too, and leads to the answer.
            if gone.contains(start) {
                continue;
            }
            for side in sides {
                if side.graph().entities.row(*start).is_none() {
                    return Ok(true);
                }
                let tree = side.tree_below(&root);
                let Some(place) = tree.path_of(side.id_seen(*start))? else { continue };
                if may_lead_through_child(&place, path) && !is_another_child(&tree, &place, path)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn of_kind(&self, kind: TypeKind) -> impl Iterator<Item = &&PurgedInstance> {
        self.known.iter().chain(&self.perhaps_seen).filter(move |purged| purged.kind == kind)
    }
}

/// True if the path of an item may lead through another path, or the other way round. Only the names of steps are compared.
fn may_lead_through_child(place: &TreePath, path: &TreePath) -> bool {
    place.steps.iter().zip(&path.steps).all(|(one, other)| one.name == other.name)
}

/// True if a path leads to a child of the item at `place` that is still there: names are unique, so another one was purged.
fn is_another_child(tree: &Tree<'_>, place: &TreePath, path: &TreePath) -> Result<bool> {
    let mut child = path.clone();
    child.steps.truncate(place.steps.len() + 1);
    Ok(child.steps.len() > place.steps.len() && tree.look_up(&child)?.is_some())
}
