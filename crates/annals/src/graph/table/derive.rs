//! Builds a table from its rows: the parts that a checkpoint does not hold.

use std::sync::Arc;

use super::by_id::SlotsById;
use super::{Extra, Table};
use crate::Result;
use crate::graph::former_ids::FormerIds;
use crate::graph::index::{Lists, Stored, StoredVersion, TableIndexes};
use crate::graph::instance::deletions::Deletions;
use crate::graph::instance::headers::{Headers, RowHeader};
use crate::graph::instance::spill::Spill;
use crate::graph::integrity::types::Types;
use crate::graph::structures::column::Columns;
use crate::graph::structures::late::Late;
use crate::graph::structures::rows::Rows;
use crate::graph::structures::symbols::Symbols;
use crate::model::Id;
use crate::structures::vector::Vector;

/// Rows that are passed to indexes together.
const ROWS_TOGETHER: usize = 1024;

const UNSPILLED: &str = "only values on disk can fail to be read";

/// Data that the rows of both tables refer to.
#[derive(Clone)]
pub(crate) struct Meanings {
    pub(crate) headers: Headers,
    pub(crate) names: Symbols,
    pub(crate) types: Arc<Types>,
}

impl Table {
    /// A table from parts of a file, without what finds its instances.
    pub(crate) fn of_rows(
        rows: Rows,
        extras: Vector<Extra>,
        ids: Vector<Id>,
        deletions: Deletions,
        spill: Spill,
    ) -> Table {
        let has_long = extras.iter().any(|extra| extra.row.is_some());
        Table { rows, extras, has_long, deletions, ids, ..Table::new(spill) }
    }

    /// The same with everything that is derived from its rows; `lists` are those parts of its lists that are not.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn with_derived(self, meanings: &Meanings, lists: Lists) -> Result<Table> {
        Ok(Table {
            slots: Late::Made(self.derived_slots()),
            former_ids: Late::Made(self.derived_former_ids(meanings)),
            columns: Late::Made(self.derived_columns()),
            lists: Late::Made(self.derived_lists(meanings, lists)?),
            ..self
        })
    }

    /// The same, each part made when it is first asked for: many commands ask for none. No value may be spilled.
    #[expect(clippy::expect_used, reason = "the caller has no spilled values")]
    pub(crate) fn with_late(self, meanings: &Meanings, lists: Lists) -> Table {
        let (by_id, former, by_column, listed) = (self.clone(), self.clone(), self.clone(), self.clone());
        let (of_former, of_listed) = (meanings.clone(), meanings.clone());
        Table {
            slots: Late::waiting(move || by_id.derived_slots()),
            former_ids: Late::waiting(move || former.derived_former_ids(&of_former)),
            columns: Late::waiting(move || by_column.derived_columns()),
            lists: Late::waiting(move || listed.derived_lists(&of_listed, lists).expect(UNSPILLED)),
            ..self
        }
    }

    /// Makes what is made late.
    pub(crate) fn make_derived(&self) {
        let Table { slots, former_ids, columns, lists, .. } = self;
        let _: (&SlotsById, &FormerIds, &Columns, &Lists) = (slots, former_ids, columns, lists);
    }

    fn derived_slots(&self) -> SlotsById {
        SlotsById::of(&self.ids, |slot| self.rows.get(slot as usize).is_some_and(|row| !row.is_empty()))
    }

    fn derived_columns(&self) -> Columns {
        let mut columns = Columns::new();
        for slot in self.all_slots() {
            for (name, value) in self.row(slot).into_iter().flat_map(|row| row.short_properties()) {
                columns.put(name, slot, Some(&value));
            }
        }
        columns
    }

    fn derived_former_ids(&self, meanings: &Meanings) -> FormerIds {
        let mut former_ids = FormerIds::new();
        if meanings.headers.len() > 1 {
            for Stored { slot, id, past, .. } in
                self.all_slots().filter_map(|slot| self.stored(slot, meanings))
            {
                past.iter().for_each(|version| former_ids.insert(&version.id, slot, id));
            }
        }
        former_ids
    }

    fn derived_lists(&self, meanings: &Meanings, mut lists: Lists) -> Result<Lists> {
        // Order: before the rows, because there may be none.
        meanings.types.unique.iter().for_each(|name| lists.unique.cover(*name));
        self.for_each_stored(meanings, |stored| lists.derive(stored))?;
        Ok(lists)
    }

    /// The indexes of a table from a file, as far as they are derived from its rows.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn derived_indexes(&self, meanings: &Meanings) -> Result<TableIndexes> {
        let mut indexes = TableIndexes::default();
        self.for_each_stored(meanings, |stored| indexes.derive(stored))?;
        Ok(indexes)
    }

    fn all_slots(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.slots_count()).unwrap_or(u32::MAX)
    }

    fn for_each_stored(
        &self,
        meanings: &Meanings,
        mut derive: impl FnMut(&[Stored]) -> Result<()>,
    ) -> Result<()> {
        let slots: Vec<u32> = self.all_slots().collect();
        slots.chunks(ROWS_TOGETHER).try_for_each(|slots| {
            let stored = slots.iter().filter_map(|slot| self.stored(*slot, meanings));
            derive(&stored.collect::<Vec<Stored>>())
        })
    }

    fn stored<'t>(&'t self, slot: u32, meanings: &Meanings) -> Option<Stored<'t>> {
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
