//! All entities, or all relationships: by slot, by id, by type, by property value, now and in the past.
#![expect(clippy::expect_used, reason = "links, lists and handles name slots with instances")]

use std::sync::Arc;

mod by_id;
mod derive;

use super::former_ids::FormerIds;
use super::index::Lists;
use super::index::event::Told;
use super::instance::deletions::{Deletion, Deletions};
use super::instance::past::{Past, PastVersion, View};
use super::instance::row::{NO_EXTRA, OwnRow, Row, SHORT_BYTES_MAX, stub, stub_extra};
use super::instance::row_pack::{pack_again, pack_with};
use super::instance::spill::Spill;
use super::instance::unpacked::Instance;
use super::structures::column::{Column, Columns};
use super::structures::late::Late;
use super::structures::rows::Rows;
use super::structures::slot_set::SlotSet;
use super::structures::spill_file::SpillPlace;
use super::structures::symbols::Symbol;
use crate::Result;
use crate::model::{INDEX_KEY_BYTES_MAX, Id, Value};
use crate::structures::key_set::leaf::KEY_BYTES_MAX;
use crate::structures::number::narrow;
use crate::structures::vector::Vector;
use by_id::SlotsById;
pub(crate) use derive::Meanings;

// The longest key holds a value and a slot.
const _: () = assert!(INDEX_KEY_BYTES_MAX + 4 <= KEY_BYTES_MAX);

/// Room for most rows. Units: bytes.
const ROW_BYTES: usize = 160;

/// Rows that are replaced together.
const ROWS_TOGETHER: usize = 1_024;

const KNOWN: &str = "links, lists and handles of a graph lead to instances in its tables";

/// One kind of instances with its indexes.
#[derive(Clone)]
pub(crate) struct Table {
    /// Versions in force by slot, in the order of creation; empty for purged instances.
    pub(crate) rows: Rows,
    /// The past of instances, and rows that are too long for a page.
    pub(crate) extras: Vector<Extra>,
    /// True if a row is, or was, too long for a page.
    pub(crate) has_long: bool,
    /// Deletions of instances whose rows still hold the version before.
    pub(crate) deletions: Deletions,
    /// Long values of the rows, if the repository has a memory budget.
    pub(crate) spill: Spill,
    /// Ids by slot; a nil UUID for purged instances.
    pub(crate) ids: Vector<Id>,
    slots: Late<SlotsById>,
    /// Former ids of instances.
    pub(crate) former_ids: Late<FormerIds>,
    /// Present short values, by property and slot.
    pub(super) columns: Late<Columns>,
    /// Lists by type, by home, and further ones for the checks of sequencing.
    pub(crate) lists: Late<Lists>,
    /// Events that no index has taken yet. Shape: empty in published graphs.
    pub(super) events: Vector<Told>,
}

/// The part of an instance outside the page of its row. Empty if its row holds all of it, or it is purged.
#[derive(Clone, Default)]
pub(crate) struct Extra {
    /// The versions that are not in force.
    pub(crate) past: Option<Arc<Past>>,
    /// The version in force, if its row has its own memory.
    pub(crate) row: Option<Arc<OwnRow>>,
}

/// How many slots a read of the present may take without a check. Zero if it must check one of them, or if that is not
/// known yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct PlainSlots {
    /// All slots, if each has an instance whose version in force is in memory.
    pub(crate) held: u32,
    /// The same, if each of these instances is live, too, and none is a proxy.
    pub(crate) live: u32,
}

impl Table {
    pub(crate) fn new(spill: Spill) -> Table {
        Table {
            rows: Rows::new(),
            extras: Vector::new(),
            has_long: false,
            deletions: Deletions::new(),
            spill,
            ids: Vector::new(),
            slots: Late::Made(SlotsById::new()),
            former_ids: Late::Made(FormerIds::new()),
            columns: Late::Made(Columns::new()),
            lists: Late::default(),
            events: Vector::new(),
        }
    }

    /// Only the instances, without what finds them.
    pub(crate) fn instances(&self) -> Table {
        Table {
            rows: self.rows.clone(),
            extras: self.extras.clone(),
            has_long: self.has_long,
            deletions: self.deletions.clone(),
            ids: self.ids.clone(),
            ..Table::new(self.spill.clone())
        }
    }

    /// Number of slots, including those of purged instances.
    pub(crate) fn slots_count(&self) -> usize {
        self.rows.len()
    }

    /// The version in force of the instance at `slot`.
    #[inline]
    pub(crate) fn row(&self, slot: u32) -> Option<Row<'_>> {
        let bytes = self.rows.get(slot as usize).filter(|bytes| !bytes.is_empty())?;
        let row = match stub_extra(bytes) {
            None => Row::new(bytes),
            Some(extra) => self.own_row(extra)?,
        };
        Some(row.deleted_by(self.deletions.get(slot)))
    }

    /// The same for an instance that the caller found in this table.
    #[inline]
    #[track_caller]
    pub(crate) fn known_row(&self, slot: u32) -> Row<'_> {
        self.row(slot).expect(KNOWN)
    }

    #[inline(never)]
    fn own_row(&self, extra: u32) -> Option<Row<'_>> {
        Some(self.extras.get(extra as usize)?.row.as_ref()?.row())
    }

    /// The number of the extra of the instance at `slot`, if it has one.
    fn extra(&self, slot: u32) -> Option<u32> {
        let bytes = self.rows.get(slot as usize).filter(|bytes| !bytes.is_empty())?;
        stub_extra(bytes).or_else(|| Row::new(bytes).extra())
    }

    /// The versions of the instance at `slot` that are not in force.
    pub(crate) fn past(&self, slot: u32) -> Option<Arc<Past>> {
        let past = self.stored_past(slot).cloned();
        match self.row(slot)?.before_deletion() {
            None => past,
            Some(before) => Some(Past::push(past, before.in_force())),
        }
    }

    /// The versions before the one in the row of the instance at `slot`.
    fn stored_past(&self, slot: u32) -> Option<&Arc<Past>> {
        self.extras.get(self.extra(slot)? as usize)?.past.as_ref()
    }

    /// The version of the instance at `slot` that `view` sees; `None` if there is none.
    pub(crate) fn version_in(&self, slot: u32, view: View) -> Option<PastVersion> {
        let row = self.row(slot)?;
        // Invariant: no version has a later valid time than the one in force.
        if view.covers(row.place(), row.valid_from()) {
            return Some(row.in_force());
        }
        if let Some(before) = row.before_deletion()
            && view.covers(before.place(), before.valid_from())
        {
            return Some(before.in_force());
        }
        self.stored_past(slot)?.find(view).copied()
    }

    /// The position of the record that wrote the first version of the instance at `slot`: with its kind, its identity.
    pub(crate) fn birth(&self, slot: u32) -> Option<u64> {
        let row = self.row(slot)?;
        let row = row.before_deletion().unwrap_or(row);
        let is_first = row.version() == 1;
        let first = if is_first { None } else { self.stored_past(slot).and_then(|past| past.version(1)) };
        Some(first.map_or_else(|| row.place(), |first| first.place).position)
    }

    /// The number of the latest version of the instance at `slot` that was written up to `position`.
    pub(crate) fn latest_version(&self, slot: u32, position: u64) -> Option<u32> {
        let row = self.row(slot)?;
        if row.changed() <= position {
            return Some(row.versions());
        }
        // Not deleted yet then.
        let row = row.before_deletion().unwrap_or(row);
        if row.changed() <= position {
            return Some(row.versions());
        }
        let in_force = (row.place().position <= position).then(|| row.version());
        in_force.max(self.stored_past(slot).and_then(|past| past.latest_version(position)))
    }

    /// The instance at `slot`, decoded.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn get(&self, slot: u32) -> Result<Option<Arc<Instance>>> {
        let Some(row) = self.row(slot) else { return Ok(None) };
        self.unpack(slot, row, self.past(slot)).map(Some)
    }

    fn unpack(&self, slot: u32, row: Row<'_>, past: Option<Arc<Past>>) -> Result<Arc<Instance>> {
        let instance = row.unpack(self.id(slot), past, &mut |place| self.spill.read(place))?;
        Ok(Arc::new(instance))
    }

    /// The instance at `slot` before and after its deletion, if its row still holds the version before.
    ///
    /// Errors: as [`Table::get`].
    pub(crate) fn around_deletion(&self, slot: u32) -> Result<Option<[Arc<Instance>; 2]>> {
        let Some(row) = self.row(slot) else { return Ok(None) };
        let Some(before) = row.before_deletion() else { return Ok(None) };
        let before = self.unpack(slot, before, self.stored_past(slot).cloned())?;
        Ok(Some([before, self.unpack(slot, row, self.past(slot))?]))
    }

    /// Deletes instances, whose rows stay. The caller updates lists and links.
    ///
    /// Shape: deletions, and slots with the index of their deletion; slots ascending, each once, all live.
    pub(crate) fn delete(&mut self, deletions: &[Deletion], slots: &[(u32, usize)]) {
        self.deletions.forget_unused();
        let mut numbers = vec![None; deletions.len()];
        let slots: Vec<(u32, u32)> = slots
            .iter()
            .map(|(slot, index)| {
                let number = *numbers[*index].get_or_insert_with(|| self.deletions.push(deletions[*index]));
                (*slot, number)
            })
            .collect();
        self.deletions.put_sorted(&slots);
    }

    /// The same for an instance that the caller found in this table. Errors: as [`Table::get`].
    #[track_caller]
    pub(crate) fn known(&self, slot: u32) -> Result<Arc<Instance>> {
        self.get(slot).map(|instance| instance.expect(KNOWN))
    }

    /// True if values of the instance at `slot` are in spill files: then [`Table::get`] must read its row.
    #[inline]
    pub(crate) fn has_spilled(&self, slot: u32) -> bool {
        self.spill.is_used() && self.row(slot).is_some_and(Row::has_spilled)
    }

    /// A property of the version in force of the instance at `slot`, even a spilled one.
    pub(crate) fn read_value(&self, slot: u32, name: Symbol) -> Result<Option<Value>> {
        match (self.columns.get(name, slot), self.row(slot)) {
            (None, Some(row)) => row.read_property(name, &mut |place| self.spill.read(place)),
            (value, _) => Ok(value),
        }
    }

    /// A property of the version in force of the instance at `slot`, which has no spilled values.
    #[inline]
    pub(crate) fn value(&self, slot: u32, name: Symbol) -> Option<Value> {
        self.value_beside(self.column(name), slot, name)
    }

    /// The short values of a property, for [`Table::value_beside`].
    #[inline]
    pub(crate) fn column(&self, name: Symbol) -> Option<&Column> {
        self.columns.of(name)
    }

    /// As [`Table::value`], with the column of the property: for reads of many.
    #[inline(always)] // Otherwise moving the result takes a third of the time.
    pub(crate) fn value_beside(&self, column: Option<&Column>, slot: u32, name: Symbol) -> Option<Value> {
        column.and_then(|column| column.get(slot)).or_else(|| self.value_of_row(slot, name))
    }

    #[inline(never)]
    fn value_of_row(&self, slot: u32, name: Symbol) -> Option<Value> {
        self.row(slot)?.property(name)
    }

    pub(crate) fn live_slots(&self) -> &SlotSet {
        &self.lists.by_type.live
    }

    pub(crate) fn dead_slots(&self) -> &SlotSet {
        &self.lists.by_type.dead
    }

    /// True if the instance at `slot` is live.
    #[inline]
    pub(crate) fn is_live(&self, slot: u32) -> bool {
        let is_one = self.are_all_live() && (slot as usize) < self.rows.len();
        is_one || self.live_slots().contains(slot) || self.lists.proxies.present.contains(slot)
    }

    /// True if every slot has a live instance, and none is a proxy: the case of many repositories.
    #[inline]
    pub(crate) fn are_all_live(&self) -> bool {
        self.live_slots().len() == self.rows.len()
    }

    /// See [`PlainSlots`].
    pub(crate) fn plain_slots(&self) -> PlainSlots {
        let known = self.lists.made().filter(|_| !self.spill.is_used());
        let Some(by_type) = known.map(|lists| &lists.by_type) else { return PlainSlots::default() };
        let all = self.rows.len();
        let if_all = |count| if count == all { narrow(all) } else { 0 };
        // No instance is in both, and neither has purged ones or live proxies.
        let live = by_type.live.len();
        PlainSlots { held: if_all(live + by_type.dead.len()), live: if_all(live) }
    }

    /// All live instances.
    pub(crate) fn live(&self) -> impl Iterator<Item = (u32, &Id, Row<'_>)> {
        self.live_slots().iter().filter_map(|slot| Some((slot, self.id(slot), self.row(slot)?)))
    }

    /// The id of the instance at `slot`.
    #[inline(always)] // Lists of ids call only this.
    pub(crate) fn id(&self, slot: u32) -> &Id {
        &self.ids[slot as usize]
    }

    /// The slot of the instance with this id.
    #[inline]
    pub(crate) fn slot(&self, id: &Id) -> Option<u32> {
        self.slots.get(id, &self.ids)
    }

    /// True for a fresh id that is greater than all that instances of this table ever had.
    #[inline]
    pub(crate) fn is_later(&self, id: &Id) -> bool {
        self.slots.is_later(id)
    }

    /// Sets another id of the instance at `slot`, and stores the former one.
    pub(super) fn set_id(&mut self, slot: u32, id: &Id) {
        let before = self.id(slot).clone();
        self.slots.remove(&before, slot);
        self.slots.insert(id, slot);
        self.ids.set(slot as usize, id.clone());
        self.former_ids.remove(id);
        self.former_ids.insert(&before, slot, id);
    }

    /// The instance with this id, decoded, and its slot. Errors: as [`Table::get`].
    pub(crate) fn find(&self, id: &Id) -> Result<Option<(u32, Arc<Instance>)>> {
        let Some(slot) = self.slot(id) else { return Ok(None) };
        Ok(self.get(slot)?.map(|instance| (slot, instance)))
    }

    /// Adds a new instance in the next slot.
    pub(crate) fn push(&mut self, instance: &Instance) -> u32 {
        let slot = narrow(self.rows.len());
        self.slots.insert(&instance.id, slot);
        self.ids.push(instance.id.clone());
        let row = self.pack(instance, None, &[]);
        self.rows.push(&row);
        for (name, value) in instance.properties.iter() {
            self.columns.put(name, slot, Some(value));
        }
        slot
    }

    /// The same for an instance with the head of `instance`, which has no properties, and with these, ordered by symbol.
    /// Then [`Table::enter_ids`] must make it known by its id.
    pub(crate) fn push_with(&mut self, id: &Id, instance: &Instance, properties: &[(Symbol, &Value)]) -> u32 {
        let slot = narrow(self.rows.len());
        self.ids.push(id.clone());
        let mut row = Vec::with_capacity(ROW_BYTES);
        let sets = self.spill.packing(&[], |packing| pack_with(instance, properties, packing, &mut row));
        let own = self.own_memory(&mut row, sets, narrow(self.extras.len()));
        if own.is_some() {
            self.extras.push(Extra { past: None, row: own });
        }
        self.rows.push(&row);
        for (name, value) in properties {
            self.columns.put(*name, slot, Some(value));
        }
        slot
    }

    /// Makes new instances known by their ids.
    pub(crate) fn enter_ids<'i>(&mut self, ids: impl Iterator<Item = (&'i Id, u32)> + Clone) {
        self.slots.insert_all(ids);
    }

    /// Replaces the instance at `slot` by a later version. The caller updates columns.
    pub(crate) fn replace(&mut self, slot: u32, instance: &Instance) {
        let row = self.pack_later(slot, instance);
        self.rows.set(slot as usize, &row);
        self.deletions.remove(slot);
    }

    /// The same for several instances. Shape: slots ascending, each once.
    pub(crate) fn replace_sorted<'i>(&mut self, later: impl Iterator<Item = (u32, &'i Instance)>) {
        let rows: Vec<(u32, Vec<u8>)> =
            later.map(|(slot, instance)| (slot, self.pack_later(slot, instance))).collect();
        self.rows.set_sorted(&rows);
        rows.iter().for_each(|(slot, _)| self.deletions.remove(*slot));
    }

    /// Replaces instances by later versions with the properties that their rows have, none of which is spilled. `next`
    /// makes the head of the later version from that of the version in force.
    ///
    /// Shape: slots ascending, each once; instances without classifications that were deleted together with others.
    pub(crate) fn restore(&mut self, slots: &[u32], next: impl Fn(&Instance) -> Instance) {
        for together in slots.chunks(ROWS_TOGETHER) {
            let mut rows = Vec::with_capacity(together.len());
            for slot in together {
                let head = self.known_row(*slot).head(self.id(*slot), self.past(*slot));
                let later = next(&head);
                let extra = self.extra(*slot);
                let number = extra.unwrap_or_else(|| narrow(self.extras.len()));
                let mut bytes = Vec::with_capacity(ROW_BYTES);
                let sets = pack_again(&later, number, self.known_row(*slot), &mut bytes);
                let row = self.own_memory(&mut bytes, sets, number);
                let kept = Extra { past: later.past, row };
                match extra {
                    Some(extra) => self.extras.set(extra as usize, kept),
                    None => self.extras.push(kept),
                }
                rows.push((*slot, bytes));
            }
            self.rows.set_sorted(&rows);
        }
        self.deletions.remove_sorted(slots);
    }

    // The bytes in a page for a later version of the instance at `slot`.
    fn pack_later(&mut self, slot: u32, instance: &Instance) -> Vec<u8> {
        let places = self.row(slot).map(Row::places).unwrap_or_default();
        let row = self.pack(instance, self.extra(slot), &places);
        // Order: after the new row has counted the places that it keeps.
        places.into_iter().for_each(|place| self.spill.release(place));
        row
    }

    // The bytes in a page for an instance. Its past, and a row with its own memory, go into its extra, or a new one.
    // `places` are those of its spilled values before.
    fn pack(&mut self, instance: &Instance, extra: Option<u32>, places: &[SpillPlace]) -> Vec<u8> {
        let next = extra.unwrap_or_else(|| narrow(self.extras.len()));
        let past = instance.past.clone();
        let own = if past.is_some() { Some(next) } else { extra };
        let mut bytes = Vec::with_capacity(ROW_BYTES);
        let sets = self.spill.pack(instance, own.unwrap_or(NO_EXTRA), places, &mut bytes);
        let row = self.own_memory(&mut bytes, sets, next);
        let has_extra = past.is_some() || row.is_some();
        let kept = Extra { past, row };
        match extra {
            Some(extra) => self.extras.set(extra as usize, kept),
            None if has_extra => self.extras.push(kept),
            None => {}
        }
        bytes
    }

    // The row with its own memory, if it is too long for a page: then a stub with the number of its extra replaces it.
    fn own_memory(&mut self, bytes: &mut Vec<u8>, sets: Vec<Value>, extra: u32) -> Option<Arc<OwnRow>> {
        if bytes.len() <= SHORT_BYTES_MAX && sets.is_empty() {
            return None;
        }
        self.has_long = true;
        let row = std::mem::replace(bytes, stub(extra).to_vec());
        Some(Arc::new(OwnRow::new(row, sets)))
    }

    /// Removes an instance permanently.
    pub(crate) fn remove(&mut self, slot: u32) {
        for name in self.row(slot).map(Row::names).unwrap_or_default() {
            self.columns.put(name, slot, None);
        }
        let Some(row) = self.row(slot) else { return };
        let places = row.places();
        if let Some(extra) = self.extra(slot) {
            self.extras.set(extra as usize, Extra::default());
        }
        places.into_iter().for_each(|place| self.spill.release(place));
        self.slots.remove(&self.ids[slot as usize], slot);
        self.ids.set(slot as usize, Id::from_uuid_bytes([0; 16]));
        self.rows.set(slot as usize, &[]);
        self.deletions.remove(slot);
    }

    /// Removes several instances permanently. Shape: slots ascending, each once; none with spilled values.
    pub(crate) fn remove_sorted(&mut self, slots: &[u32]) {
        for slot in slots {
            for name in self.row(*slot).map(Row::names).unwrap_or_default() {
                self.columns.put(name, *slot, None);
            }
            if let Some(extra) = self.extra(*slot) {
                self.extras.set(extra as usize, Extra::default());
            }
        }
        self.slots.remove_all(slots.iter().map(|slot| (&self.ids[*slot as usize], *slot)));
        for slot in slots {
            self.ids.set(*slot as usize, Id::from_uuid_bytes([0; 16]));
        }
        let emptied: Vec<(u32, [u8; 0])> = slots.iter().map(|slot| (*slot, [])).collect();
        self.rows.set_sorted(&emptied);
        let deleted: Vec<u32> =
            slots.iter().copied().filter(|slot| self.deletions.get(*slot).is_some()).collect();
        self.deletions.remove_sorted(&deleted);
    }

    /// True if an instance has, or had, a set as this property.
    pub(crate) fn is_multi_valued(&self, name: Symbol) -> bool {
        self.lists.sets.has(name)
    }
}
