//! Builds a table from its rows: the parts that a checkpoint does not hold.

use super::by_id::SlotsById;
use super::{Extra, Table};
use crate::Result;
use crate::graph::index::{Lists, Stored, StoredVersion, TableIndexes};
use crate::graph::instance::deletions::Deletions;
use crate::graph::instance::headers::{Headers, RowHeader};
use crate::graph::instance::spill::Spill;
use crate::graph::integrity::types::Types;
use crate::graph::structures::rows::Rows;
use crate::graph::structures::symbols::Symbols;
use crate::model::Id;
use crate::structures::vector::Vector;

/// Rows that are passed to indexes together.
const ROWS_TOGETHER: usize = 1024;

/// Data that the rows of both tables refer to.
#[derive(Clone, Copy)]
pub(crate) struct Meanings<'m> {
    pub(crate) headers: &'m Headers,
    pub(crate) names: &'m Symbols,
    pub(crate) types: &'m Types,
}

impl Table {
    /// A table from parts of a file, with the data derived from its rows.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn from_rows(
        rows: Rows,
        extras: Vector<Extra>,
        ids: Vec<Id>,
        deletions: Deletions,
        spill: Spill,
        meanings: Meanings,
    ) -> Result<(Table, TableIndexes)> {
        let slots = SlotsById::of(&ids, |slot| rows.get(slot as usize).is_some_and(|row| !row.is_empty()));
        let has_long = extras.iter().any(|extra| extra.row.is_some());
        let mut table = Table {
            slots,
            rows,
            extras,
            has_long,
            deletions,
            ids: ids.into_iter().collect(),
            ..Table::new(spill)
        };
        let whole = table.clone();
        let (mut lists, mut indexes) = (Lists::default(), TableIndexes::default());
        // Order: before the rows, because there may be none.
        meanings.types.unique.iter().for_each(|name| lists.unique.cover(*name));
        let slots: Vec<u32> = (0..u32::try_from(whole.slots_count()).unwrap_or(u32::MAX)).collect();
        for slots in slots.chunks(ROWS_TOGETHER) {
            let stored: Vec<Stored> = slots.iter().filter_map(|slot| whole.stored(*slot, meanings)).collect();
            for Stored { slot, row, id, past, .. } in &stored {
                for (name, value) in row.short_properties() {
                    table.columns.put(name, *slot, Some(&value));
                }
                past.iter().for_each(|version| table.former_ids.insert(&version.id, *slot, id));
            }
            lists.derive(&stored)?;
            indexes.derive(&stored)?;
        }
        table.lists = lists;
        Ok((table, indexes))
    }

    fn stored<'t>(&'t self, slot: u32, meanings: Meanings<'t>) -> Option<Stored<'t>> {
        let (row, id) = (self.row(slot)?, self.id(slot));
        let Meanings { headers, names, .. } = meanings;
        let mut stored = Stored { table: self, slot, row, id, is_proxy: false, home: None, past: Vec::new() };
        if headers.len() == 1 {
            return Some(stored);
        }
        let home = |header: &RowHeader| header.home().and_then(|home| names.find(home));
        let header = headers.get(row.header());
        (stored.is_proxy, stored.home) = (header.is_proxy, home(header));
        let past = self.past(slot);
        for version in past.iter().flat_map(|past| past.iter()) {
            let before = headers.get(version.header);
            let shape = header.identity.as_ref().map(|identity| {
                before.identity.as_ref().map_or(&identity.original, |identity| &identity.own)
            });
            stored.past.push(StoredVersion {
                id: shape.map_or(id, |shape| &shape.id).clone(),
                type_name: shape.map_or_else(|| row.type_name(), |shape| shape.type_name),
                home: home(before),
                is_proxy: before.is_proxy,
            });
        }
        Some(stored)
    }
}
