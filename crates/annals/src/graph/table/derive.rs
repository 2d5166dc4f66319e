//! A table from its rows: what a checkpoint does not hold.

use super::by_id::SlotsById;
use super::{Extra, Table};
use crate::graph::index::key::slot_of_key;
use crate::graph::instance::classified::Classified;
use crate::graph::instance::headers::{Header, Headers};
use crate::graph::instance::spill::Spill;
use crate::graph::structures::rows::Rows;
use crate::graph::structures::symbols::{Symbol, Symbols};
use crate::model::Id;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

impl Table {
    /// A table of parts that somebody else wrote, whose other indexes are still empty.
    pub(crate) fn from_rows(
        rows: Rows,
        extras: Vector<Extra>,
        ids: Vec<Id>,
        spill: Spill,
        headers: &Headers,
        names: &Symbols,
    ) -> Table {
        let slots = SlotsById::of(&ids, |slot| rows.get(slot as usize).is_some_and(|row| !row.is_empty()));
        let has_whole = extras.iter().any(|extra| matches!(extra, Extra::Whole(_)));
        let mut table =
            Table { slots, rows, extras, has_whole, ids: ids.into_iter().collect(), ..Table::new(spill) };
        table.derive(headers, names);
        table
    }

    // Fills the indexes that follow from the rows.
    fn derive(&mut self, headers: &Headers, names: &Symbols) {
        let rows = self.rows.clone();
        let whole = self.clone();
        for slot in 0..u32::try_from(rows.len()).unwrap_or(u32::MAX) {
            let Some(row) = whole.row(slot) else { continue };
            self.stamps.derive(slot, row);
            for (name, value) in row.short_properties() {
                self.columns.put(name, slot, Some(&value));
            }
            if headers.len() > 1 {
                self.derive_from_headers(slot, &whole, headers, names);
            }
            if self.proxies.contains(slot) {
                continue;
            }
            if row.is_live() {
                self.live.insert(slot);
                self.extents.insert(row.type_name(), slot);
                for name in row.classifications().map(Classified::name) {
                    self.classified.insert(name, slot);
                }
            } else {
                self.dead.insert(slot);
                self.past_extents.insert(row.type_name(), slot);
            }
        }
    }

    // Former ids, types and homes, and which entities are proxies.
    fn derive_from_headers(&mut self, slot: u32, whole: &Table, headers: &Headers, names: &Symbols) {
        let Some(row) = whole.row(slot) else { return };
        let header = headers.get(row.header());
        if header.is_proxy {
            self.ever_proxies.insert(slot);
            if row.is_live() {
                self.proxies.insert(slot);
            }
        }
        let home = |header: &Header| header.home().and_then(|home| names.find(home));
        let present = home(header);
        for version in whole.past(slot).into_iter().flat_map(|past| past.iter()) {
            let before = headers.get(version.header);
            if before.is_proxy {
                self.ever_proxies.insert(slot);
            }
            if let Some(identity) = &header.identity {
                let shape = before.identity.as_ref().map_or(&identity.original, |identity| &identity.own);
                if shape.type_name != row.type_name() {
                    self.past_extents.insert(shape.type_name, slot);
                }
                self.former_ids.insert(&shape.id, slot, whole.id(slot));
            }
            if let Some(home) = home(before).filter(|home| Some(*home) != present) {
                self.past_homed.insert(home, slot);
            }
        }
        if let Some(home) = present {
            let list = if row.is_live() { &mut self.homed } else { &mut self.past_homed };
            list.insert(home, slot);
        }
    }

    /// Puts in place which classifications entities carried. Shape: as `past_classified_of`.
    pub(crate) fn set_past_classified(&mut self, keys: KeySet) {
        for key in keys.iter() {
            let slot = u32::from_be_bytes(key[..4].try_into().expect("keys have eight bytes"));
            self.past_classified.insert(Symbol(slot_of_key(key)), slot);
        }
        self.past_classified_of = keys;
    }
}
