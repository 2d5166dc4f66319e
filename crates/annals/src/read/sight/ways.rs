//! Ways: what leads to the containers that grants name. A reader walks them by path, and sees nothing else of them.

use super::resolved_grants::ResolvedGrants;
use super::{Sight, Ways};
use crate::Result;
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::past::ChangePlace;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Instance, RowStamp};
use crate::graph::structures::link::Link;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Status, TypeKind};
use crate::read::past::held::Held;
use crate::read::past::version::Version;
use crate::read::snapshot::Snapshot;

impl ResolvedGrants {
    /// The ways in the view of `snapshot`, which has no sight. Of an earlier time only those that are ways in the present,
    /// too: grants of now open nothing of the past alone.
    pub(super) fn ways(&self, snapshot: &Snapshot, present: Option<&Ways>) -> Result<Ways> {
        let mut ways = Ways::default();
        let mut open: Vec<u32> = self.roots.iter().flatten().copied().collect();
        while let Some(slot) = open.pop() {
            snapshot.check_cancelled()?;
            let is_open = present.is_none_or(|present| present.entities.contains(slot))
                && !self.is_internal(snapshot.type_seen(TypeKind::Entity, slot));
            // As of a valid time an entity may have several containers, and be below itself: each is passed once.
            if !is_open || !ways.entities.insert(slot) {
                continue;
            }
            for link in snapshot.containers_seen(slot) {
                // No path leads to a child without a name.
                if snapshot.child_then(Link { other: slot, ..link })?.is_none() {
                    continue;
                }
                ways.links.insert(link.relationship);
                open.push(link.other);
            }
        }
        let named = self.roots.iter().flatten().filter(|slot| ways.entities.contains(**slot));
        for slot in named {
            ways.containers.insert(*slot);
        }
        Ok(ways)
    }
}

impl Sight {
    /// True if paths lead through the entity to a container that a grant names, or if it is that container, as `snapshot` has
    /// it: for those who explain grants.
    ///
    /// Errors: those of reading long values.
    pub fn leads_through(&self, snapshot: &Snapshot, entity: &Id) -> Result<bool> {
        let whole = snapshot.unsighted();
        let Some(slot) = whole.slot_known(TypeKind::Entity, entity) else { return Ok(false) };
        Ok(ResolvedGrants::for_few(&whole, self)?.ways(&whole, None)?.entities.contains(slot))
    }
}

impl Snapshot {
    /// True if a path may lead through the instance at `slot`: it is in sight, or a way. Always without a sight.
    pub(crate) fn walks(&self, kind: TypeKind, slot: u32) -> bool {
        self.in_sight(kind, slot) || self.is_way(kind, slot)
    }

    /// True if the reader sees of the instance at `slot` only that it leads to something.
    #[inline]
    pub(crate) fn only_leads(&self, kind: TypeKind, slot: u32) -> bool {
        self.sight().is_some() && !self.in_sight(kind, slot) && self.is_way(kind, slot)
    }

    fn is_way(&self, kind: TypeKind, slot: u32) -> bool {
        let Some(ways) = self.sight().map(|seen| &seen.in_sight.ways) else { return false };
        match kind {
            TypeKind::Relationship => ways.links.contains(slot) || self.leads_into(&ways.containers, slot),
            _ => ways.entities.contains(slot),
        }
    }

    /// True if the relationship at `slot` puts an entity in sight into one of these containers, which is not in sight.
    fn leads_into(&self, containers: &SlotSet, slot: u32) -> bool {
        let Some(row) = self.graph().relationships.row(slot) else { return false };
        let shape = self.shape_seen(TypeKind::Relationship, slot);
        let ([container, child], type_name) =
            shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
        containers.contains(container)
            && !self.in_sight(TypeKind::Entity, container)
            && self.in_sight(TypeKind::Entity, child)
            && self.graph().containment(type_name).is_some()
    }

    /// As [`Snapshot::sees`], also for ways.
    pub(crate) fn walks_live(&self, kind: TypeKind, slot: u32) -> bool {
        self.sees(kind, slot) || (self.only_leads(kind, slot) && self.unsighted().sees(kind, slot))
    }

    /// As [`Snapshot::seen`] without deleted ones, also for ways: without anything but their names and types.
    pub(crate) fn walked(&self, kind: TypeKind, slot: u32) -> Result<Option<Held>> {
        if !self.only_leads(kind, slot) {
            return self.seen(kind, slot, false);
        }
        let whole = self.unsighted();
        let held = whole.seen(kind, slot, false)?;
        Ok(held.map(|held| whole.bare(kind, slot, &held)))
    }

    /// A version with the type of another one, and with the properties that name it, or its child: its keys, or the name
    /// and the place in a relationship.
    fn bare(&self, kind: TypeKind, slot: u32, held: &Held) -> Held {
        let row = self.row(kind, slot, held);
        let graph = self.graph();
        let kept: Vec<Symbol> =
            match graph.containment(row.type_name()).filter(|_| kind == TypeKind::Relationship) {
                Some(rule) => vec![rule.name, rule.order],
                None => graph.keys_of(row.type_name()).to_vec(),
            };
        let named = kept.into_iter().filter_map(|name| Some((name, self.value(kind, slot, held, name)?)));
        let nobody = RowStamp { micros: 0, author: row.created().author };
        Held::Read(Version::new(&Instance {
            properties: Properties::from_entries(named.collect()),
            type_name: row.type_name(),
            version: 0,
            versions: 0,
            status: Status::Active,
            header: PLAIN,
            id: self.id_of(kind, slot).clone(),
            ends: row.ends(),
            valid_from: 0,
            place: ChangePlace { position: 0, change: 0 },
            past: None,
            classifications: None,
            created: nobody,
            updated: nobody,
            live_from: 0,
            changed: 0,
            base: 0,
            since_anchor: 0,
        }))
    }
}
