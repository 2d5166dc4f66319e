//! Live instances, and instances by type.

use super::event::{Event, Known, Put};
use super::{Index, Stored};
use crate::Result;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::{Extents, SlotSet};
use crate::graph::structures::symbols::Symbol;

/// Instances by type. Proxies are in none of the lists of the present.
#[derive(Clone, Default)]
pub(crate) struct ByType {
    /// Live instances.
    pub(crate) live: SlotSet,
    /// Instances that were live and are not now.
    pub(crate) dead: SlotSet,
    /// Live instances, by type.
    pub(crate) extents: Extents,
    /// Instances with a version of the type that is not in force, and deleted instances of it.
    pub(crate) past_extents: Extents,
}

impl ByType {
    fn put(&mut self, put: &Put) {
        let slot = put.slot;
        if let Some(proxy) = put.before.as_ref().filter(|before| before.is_live_proxy())
            && !put.after.is_live_proxy()
        {
            // Searches for proxies as of an earlier time find it there.
            self.past_extents.insert(proxy.instance.type_name, slot);
        }
        let listed = |known: &Known| known.is_listed().then_some(known.instance.type_name);
        let (before, after) = (put.before.as_ref().and_then(listed), listed(&put.after));
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.live.remove(slot);
            self.dead.insert(slot);
            self.extents.remove(before, slot);
            self.past_extents.insert(before, slot);
        }
        if let Some(after) = after {
            self.live.insert(slot);
            self.dead.remove(slot);
            self.extents.insert(after, slot);
            self.past_extents.remove(after, slot);
        }
    }

    /// Adds instances of a type that were created together. Shape: slots of live instances, none of them a proxy;
    /// ascending.
    pub(crate) fn create(&mut self, type_name: Symbol, slots: &[u32]) {
        self.live.insert_sorted(slots);
        self.extents.insert_sorted(type_name, slots);
    }

    /// Moves instances of a type that were deleted together. Shape: slots of live instances, none of them a proxy;
    /// ascending.
    pub(crate) fn delete(&mut self, type_name: Symbol, slots: &[u32]) {
        self.live.remove_sorted(slots);
        self.dead.insert_sorted(slots);
        self.extents.remove_sorted(type_name, slots);
        self.past_extents.insert_sorted(type_name, slots);
    }

    /// Moves instances of a type back that were restored together. Shape: slots of deleted instances, none of them a
    /// proxy; ascending.
    pub(crate) fn restore(&mut self, type_name: Symbol, slots: &[u32]) {
        self.live.insert_sorted(slots);
        self.dead.remove_sorted(slots);
        self.extents.insert_sorted(type_name, slots);
        self.past_extents.remove_sorted(type_name, slots);
    }

    /// Forgets instances that always had this type and were purged together. Shape: slots of instances, none of them a
    /// proxy; ascending.
    pub(crate) fn purge(&mut self, type_name: Symbol, slots: &[u32]) {
        self.live.remove_sorted(slots);
        self.dead.remove_sorted(slots);
        self.extents.remove_sorted(type_name, slots);
        self.past_extents.remove_sorted(type_name, slots);
    }

    fn forget(&mut self, slot: u32, types: &[Symbol]) {
        self.live.remove(slot);
        self.dead.remove(slot);
        for name in types {
            self.extents.remove(*name, slot);
            self.past_extents.remove(*name, slot);
        }
    }
}

impl Index for ByType {
    const NAME: &'static str = "types";

    fn update(&mut self, events: &[&Event]) {
        for event in events {
            match event {
                Event::Put(put) => self.put(put),
                Event::Purge(purge) => self.forget(purge.slot, &purge.types),
                Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        for Stored { slot, row, past, .. } in stored {
            let type_name = row.type_name();
            for version in past.iter().filter(|version| version.type_name != type_name) {
                self.past_extents.insert(version.type_name, *slot);
            }
        }
        for is_live in [true, false] {
            let listed = stored.iter().filter(|stored| stored.row.is_live() == is_live);
            let listed = listed.filter(|stored| !is_live || !stored.is_proxy);
            let mut listed: Vec<_> = listed.map(|stored| (stored.row.type_name(), stored.slot)).collect();
            listed.sort_unstable();
            for of_type in listed.chunk_by(|(one, _), (next, _)| one == next) {
                let slots: Vec<u32> = of_type.iter().map(|(_, slot)| *slot).collect();
                let (all, extents) = match is_live {
                    true => (&mut self.live, &mut self.extents),
                    false => (&mut self.dead, &mut self.past_extents),
                };
                all.insert_sorted(&slots);
                extents.insert_sorted(of_type[0].0, &slots);
            }
        }
        Ok(())
    }

    fn compare(&self, found: &ByType, report: &mut Differences) {
        report.compare_extents("type extents", &self.extents, &found.extents);
        report.compare_extents("past type extents", &self.past_extents, &found.past_extents);
        if (&self.live, &self.dead) != (&found.live, &found.dead) {
            report.add(|| "types: other instances are live, or deleted".into());
        }
    }
}
