//! All entities, or all relationships: by slot, by id, by type, by property value, now and in the past.

use std::sync::Arc;

mod by_id;
mod derive;

use super::former_ids::FormerIds;
use super::index::Lists;
use super::index::event::Event;
use super::instance::past::{Past, PastVersion, View};
use super::instance::row::{NO_EXTRA, Packed, Row, pack_whole};
use super::instance::spill::Spill;
use super::instance::unpacked::Instance;
use super::structures::column::Columns;
use super::structures::rows::Rows;
use super::structures::slot_set::SlotSet;
use super::structures::spill_file::SpillPlace;
use super::structures::symbols::Symbol;
use crate::Result;
use crate::model::{INDEX_KEY_BYTES_MAX, Id, Value};
use crate::structures::key_set::leaf::KEY_BYTES_MAX;
use crate::structures::vector::Vector;
use by_id::SlotsById;
pub(crate) use derive::Meanings;

// The longest key holds a value and a slot.
const _: () = assert!(INDEX_KEY_BYTES_MAX + 4 <= KEY_BYTES_MAX);

/// Room for most rows. Units: bytes.
const ROW_BYTES: usize = 160;

/// One kind of instances with its indexes.
#[derive(Clone)]
pub(crate) struct Table {
    /// Versions in force by slot, in the order of creation; empty where an instance was purged.
    pub(crate) rows: Rows,
    /// What does not fit the rows.
    pub(crate) extras: Vector<Extra>,
    /// True if an instance is, or was, too large for a row.
    pub(crate) has_whole: bool,
    /// Long values of the rows, if the repository has a memory budget.
    pub(crate) spill: Spill,
    /// Ids by slot; a nil UUID where an instance was purged.
    pub(crate) ids: Vector<Id>,
    slots: SlotsById,
    /// Ids that instances had before they got others.
    pub(crate) former_ids: FormerIds,
    /// Short values held now, by property and slot.
    pub(super) columns: Columns,
    /// By type, by home, and whatever else what is sequenced is checked against.
    pub(crate) lists: Lists,
    /// What became of instances and no index has taken yet. Shape: empty in graphs that are published.
    pub(super) events: Vector<Event>,
}

/// What a row does not hold itself.
#[derive(Clone)]
pub(crate) enum Extra {
    /// The versions that are not in force.
    Past(Arc<Past>),
    /// The instance, which is too large for a row.
    Whole(Arc<Instance>),
    /// Nothing any more: the instance was purged.
    Gone,
}

impl Table {
    pub(crate) fn new(spill: Spill) -> Table {
        Table {
            rows: Rows::new(),
            extras: Vector::new(),
            has_whole: false,
            spill,
            ids: Vector::new(),
            slots: SlotsById::new(),
            former_ids: FormerIds::new(),
            columns: Columns::new(),
            lists: Lists::default(),
            events: Vector::new(),
        }
    }

    /// Number of slots, those of purged instances included.
    pub(crate) fn slots_count(&self) -> usize {
        self.rows.len()
    }

    /// The version in force of the instance at `slot`.
    #[inline]
    pub(crate) fn row(&self, slot: u32) -> Option<Row<'_>> {
        let bytes = self.rows.get(slot as usize).filter(|bytes| !bytes.is_empty())?;
        let packed = Packed::new(bytes);
        if packed.is_whole() { self.whole(packed) } else { Some(Row::Packed(packed)) }
    }

    #[inline(never)]
    fn whole(&self, packed: Packed) -> Option<Row<'_>> {
        match self.extra(packed)? {
            Extra::Whole(instance) => Some(Row::Whole(instance)),
            Extra::Past(_) | Extra::Gone => None,
        }
    }

    fn extra(&self, packed: Packed) -> Option<&Extra> {
        self.extras.get(packed.extra()? as usize)
    }

    fn packed(&self, slot: u32) -> Option<Packed<'_>> {
        let bytes = self.rows.get(slot as usize).filter(|bytes| !bytes.is_empty())?;
        Some(Packed::new(bytes))
    }

    /// The versions of the instance at `slot` that are not in force.
    pub(crate) fn past(&self, slot: u32) -> Option<&Arc<Past>> {
        self.past_in(self.packed(slot)?.extra()?)
    }

    fn past_in(&self, extra: u32) -> Option<&Arc<Past>> {
        match self.extras.get(extra as usize)? {
            Extra::Past(past) => Some(past),
            Extra::Whole(instance) => instance.past.as_ref(),
            Extra::Gone => None,
        }
    }

    /// The version of the instance at `slot` that `view` sees; `None` if it sees none.
    pub(crate) fn version_in(&self, slot: u32, view: View) -> Option<PastVersion> {
        match self.version_or_past(slot, view)? {
            Ok(in_force) => Some(in_force),
            Err(extra) => self.past_in(extra)?.find(view).copied(),
        }
    }

    /// The version in force if `view` sees it; otherwise where the others are.
    #[inline]
    fn version_or_past(&self, slot: u32, view: View) -> Option<std::result::Result<PastVersion, u32>> {
        let packed = self.packed(slot)?;
        let row = if packed.is_whole() { self.whole(packed)? } else { Row::Packed(packed) };
        // Invariant: no version has a later valid time than the one in force.
        if view.admits(row.place(), row.valid_from()) {
            return Some(Ok(row.in_force()));
        }
        packed.extra().map(Err)
    }

    /// The same for up to as many slots as `found` has room for: faster, because the processor waits for their memory
    /// together. `found` gets a version, or none, for each slot.
    pub(crate) fn versions_in<const N: usize>(
        &self,
        slots: &[u32],
        view: View,
        found: &mut [Option<PastVersion>; N],
    ) {
        found.fill(None);
        let mut extras = [None; N];
        for ((slot, found), extra) in slots.iter().zip(&mut *found).zip(&mut extras) {
            match self.version_or_past(*slot, view) {
                Some(Ok(in_force)) => *found = Some(in_force),
                Some(Err(past)) => *extra = Some(past),
                None => {}
            }
        }
        let mut pasts = [None; N];
        for (extra, past) in extras.iter().zip(&mut pasts) {
            *past = extra.and_then(|extra| self.past_in(extra));
        }
        for (past, found) in pasts.iter().zip(found) {
            if let Some(past) = past {
                *found = past.find(view).copied();
            }
        }
    }

    /// The instance at `slot`, taken apart.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn get(&self, slot: u32) -> Result<Option<Arc<Instance>>> {
        let Some(packed) = self.packed(slot) else { return Ok(None) };
        if let Some(Extra::Whole(instance)) = self.extra(packed) {
            return Ok(Some(Arc::clone(instance)));
        }
        let Some(row) = self.row(slot) else { return Ok(None) };
        let past = self.past(slot).cloned();
        let instance = row.unpack(self.id(slot), past, &mut |place| self.spill.read(place))?;
        Ok(Some(Arc::new(instance)))
    }

    /// True if some values of the instance at `slot` are in spill files: its row is read through [`Table::get`] then.
    #[inline]
    pub(crate) fn has_spilled(&self, slot: u32) -> bool {
        self.spill.is_used() && self.packed(slot).is_some_and(Packed::has_spilled)
    }

    /// A property of the version in force of the instance at `slot`, also a spilled one.
    pub(crate) fn read_value(&self, slot: u32, name: Symbol) -> Result<Option<Value>> {
        match (self.columns.get(name, slot), self.row(slot)) {
            (None, Some(row)) => row.read_property(name, &mut |place| self.spill.read(place)),
            (value, _) => Ok(value),
        }
    }

    /// A property of the version in force of the instance at `slot`, which has no spilled ones.
    #[inline]
    pub(crate) fn value(&self, slot: u32, name: Symbol) -> Option<Value> {
        let value = self.columns.get(name, slot);
        if value.is_some() { value } else { self.value_in_row(slot, name) }
    }

    // Not inlined, so that reading a column is.
    #[inline(never)]
    fn value_in_row(&self, slot: u32, name: Symbol) -> Option<Value> {
        self.row(slot)?.property(name)
    }

    /// Calls `take` with the same at each of `slots`, in order: faster, because the processor waits for their memory
    /// together. `None` stands also for spilled values.
    #[inline]
    pub(crate) fn each_value(&self, slots: &[u32], name: Symbol, mut take: impl FnMut(Option<&Value>)) {
        self.columns.each(name, slots, |slot, value| match value {
            Some(value) => take(Some(value)),
            None => take(self.value_in_row_here(slot, name).as_ref()),
        });
    }

    #[inline(never)]
    fn value_in_row_here(&self, slot: u32, name: Symbol) -> Option<Value> {
        self.row(slot)?.property_here(name).ok()?
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

    /// True if every slot has a live instance, and none is a proxy: many repositories never have another.
    #[inline]
    pub(crate) fn are_all_live(&self) -> bool {
        self.live_slots().len() == self.rows.len()
    }

    /// All live instances.
    pub(crate) fn live(&self) -> impl Iterator<Item = (u32, &Id, Row<'_>)> {
        self.live_slots().iter().filter_map(|slot| Some((slot, self.id(slot), self.row(slot)?)))
    }

    /// The id of the instance at `slot`.
    #[inline(always)] // Whoever lists ids asks for nothing else.
    pub(crate) fn id(&self, slot: u32) -> &Id {
        self.ids.get(slot as usize).expect("every slot has an id")
    }

    /// The slot of the instance with this id.
    #[inline]
    pub(crate) fn slot(&self, id: &Id) -> Option<u32> {
        self.slots.get(id, &self.ids)
    }

    /// Gives the instance at `slot` another id, and remembers the one it had.
    pub(super) fn set_id(&mut self, slot: u32, id: &Id) {
        let before = self.id(slot).clone();
        self.slots.remove(&before, slot);
        self.slots.insert(id, slot);
        self.ids.set(slot as usize, id.clone());
        self.former_ids.remove(id);
        self.former_ids.insert(&before, slot, id);
    }

    /// The instance with this id, taken apart, and its slot. Errors: as [`Table::get`].
    pub(crate) fn find(&self, id: &Id) -> Result<Option<(u32, Arc<Instance>)>> {
        let Some(slot) = self.slot(id) else { return Ok(None) };
        Ok(self.get(slot)?.map(|instance| (slot, instance)))
    }

    /// Puts a new instance into the next slot.
    pub(crate) fn push(&mut self, instance: &Instance) -> u32 {
        let slot = u32::try_from(self.rows.len()).expect("checked against SLOTS_MAX");
        self.slots.insert(&instance.id, slot);
        self.ids.push(instance.id.clone());
        let mut row = Vec::with_capacity(ROW_BYTES);
        self.pack(instance, None, &[], &mut row);
        self.rows.push(&row);
        for (name, value) in instance.properties.iter() {
            self.columns.put(name, slot, Some(value));
        }
        slot
    }

    /// Puts a later version in the place of the one at `slot`. What changes in columns, the caller says.
    pub(crate) fn replace(&mut self, slot: u32, instance: &Instance) {
        let before = self.packed(slot);
        let extra = before.and_then(Packed::extra);
        let places = before.map(Packed::places).unwrap_or_default();
        let mut row = Vec::with_capacity(ROW_BYTES);
        self.pack(instance, extra, &places, &mut row);
        self.rows.set(slot as usize, &row);
        // Order: after the new row has counted what it goes on using.
        places.into_iter().for_each(|place| self.spill.release(place));
    }

    // Packs an instance into `row`, and what does not fit into an extra: the one it has, or the next. `places` are
    // those of its spilled values before.
    fn pack(&mut self, instance: &Instance, extra: Option<u32>, places: &[SpillPlace], row: &mut Vec<u8>) {
        let next = extra.unwrap_or_else(|| u32::try_from(self.extras.len()).expect("no more than slots"));
        let past = instance.past.as_ref().map(|past| Extra::Past(Arc::clone(past)));
        let own = if past.is_some() { Some(next) } else { extra };
        let kept = if self.spill.pack(instance, own.unwrap_or(NO_EXTRA), places, row) {
            past
        } else {
            pack_whole(next, row);
            self.has_whole = true;
            Some(Extra::Whole(Arc::new(instance.clone())))
        };
        match (extra, kept) {
            (Some(extra), kept) => self.extras.set(extra as usize, kept.unwrap_or(Extra::Gone)),
            (None, Some(kept)) => self.extras.push(kept),
            (None, None) => {}
        }
    }

    /// Takes an instance away for good.
    pub(crate) fn remove(&mut self, slot: u32) {
        for name in self.row(slot).map(Row::names).unwrap_or_default() {
            self.columns.put(name, slot, None);
        }
        let Some(packed) = self.packed(slot) else { return };
        let places = packed.places();
        if let Some(extra) = packed.extra() {
            self.extras.set(extra as usize, Extra::Gone);
        }
        places.into_iter().for_each(|place| self.spill.release(place));
        self.slots.remove(self.ids.get(slot as usize).expect("every slot has an id"), slot);
        self.ids.set(slot as usize, Id::from_uuid_bytes([0; 16]));
        self.rows.set(slot as usize, &[]);
    }

    /// True if some instance holds, or held, a set as this property.
    pub(crate) fn is_multi_valued(&self, name: Symbol) -> bool {
        self.lists.sets.has(name)
    }
}
