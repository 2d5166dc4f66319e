//! Reads a table out of a checkpoint.

use std::sync::OnceLock;
use std::sync::mpsc::Receiver;

use super::block::{BlockKind, Input, Loaded, damaged};
use super::load::{Common, LoadBudget};
use super::load_deletions::DeletionParts;
use super::load_keys::KeySets;
use super::load_past::past;
use super::load_rows::RowParts;
use crate::graph::index::{LoadSets, TableIndexes};
use crate::graph::instance::row_check::{Ends, RowLimits};
use crate::graph::instance::spill::Spill;
use crate::graph::structures::rows::Rows;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::spill_file::SpillSettings;
use crate::graph::table::{Extra, Meanings, Table};
use crate::model::Id;

/// A message to the thread that reads a table.
pub(crate) enum Message {
    Block(BlockKind, Vec<u8>),
    /// The rows are complete: only keys follow.
    RowsEnd,
}

/// The rows and keys of a table, read so far.
pub(crate) struct TableParts {
    ids: Vec<Id>,
    parts: RowParts,
    deletions: DeletionParts,
}

/// All rows of a table, not checked yet.
pub(crate) struct WholeRows {
    ids: Vec<Id>,
    extras: Vec<Extra>,
    spill: Spill,
    rows: Rows,
    deletions: DeletionParts,
}

impl TableParts {
    /// Reads the rows of the table with this number.
    pub(crate) fn read_rows(
        messages: &Receiver<Message>,
        spill: Option<&SpillSettings>,
        common: &OnceLock<Common>,
        number: usize,
        room: &LoadBudget,
    ) -> Loaded<WholeRows> {
        let (parts, deletions) = (RowParts::new(spill), DeletionParts::default());
        let mut table = TableParts { ids: Vec::new(), parts, deletions };
        let next = || messages.recv().map_err(|_| damaged("it is cut off"));
        while let Message::Block(kind, payload) = next()? {
            table.read(kind, &payload)?;
            room.charge(payload.len())?;
        }
        let TableParts { ids, mut parts, deletions } = table;
        let common = common.get().ok_or_else(|| damaged("it is cut off"))?;
        let rows =
            parts.finish(*common.slots.get(number).ok_or_else(|| damaged("the number of a table"))?)?;
        if ids.len() != rows.len() {
            return Err(damaged("something is missing"));
        }
        Ok(WholeRows { ids, extras: parts.extras, spill: parts.spill, rows, deletions })
    }

    fn read(&mut self, kind: BlockKind, payload: &[u8]) -> Loaded<()> {
        let mut input = Input::new(payload);
        input.u8()?;
        while !input.is_empty() {
            match kind {
                BlockKind::Ids => self.ids.push(input.id()?),
                BlockKind::Values => self.parts.read_value(input.bytes()?)?,
                BlockKind::Pages => self.parts.read_page(input.bytes()?)?,
                BlockKind::Deletions => self.deletions.read(&mut input)?,
                _ => self.parts.read_extra(past(&mut input)?, input.bytes()?)?,
            }
        }
        Ok(())
    }
}

impl WholeRows {
    /// The slots with a row: some rows are empty.
    pub(crate) fn slots(&self) -> SlotSet {
        let mut slots = SlotSet::new();
        for (slot, _) in (0..).zip(self.rows.iter()).filter(|(_, row)| !row.is_empty()) {
            slots.insert(slot);
        }
        slots
    }

    /// The table, its indexes and its number of keys, if everything that its rows refer to exists. Its keys are read
    /// meanwhile, because reading the file takes longer than checking the rows.
    pub(crate) fn table(
        self,
        messages: &Receiver<Message>,
        common: &OnceLock<Common>,
        ends: Ends,
        room: &LoadBudget,
    ) -> Loaded<(Table, TableIndexes, u64)> {
        let common = common.get().ok_or_else(|| damaged("it is cut off"))?;
        let (names, authors, headers) = (common.names.len(), common.authors.len(), common.headers.len());
        let limits = RowLimits { names, authors, headers, ends };
        let extra = |number: u32| self.extras.get(usize::try_from(number).ok()?);
        let is_sound = |known: &Extra| {
            known.past.as_ref().is_none_or(|past| limits.fits_past(past))
                && known.row.as_ref().is_none_or(|row| limits.fits_own(row, |number| extra(number).is_some()))
        };
        let has_row = |number: u32| extra(number).map(|known| known.row.is_some());
        if !self.extras.iter().all(is_sound)
            || !self.rows.iter().all(|bytes| limits.fits_in_page(bytes, has_row))
        {
            return Err(damaged("an instance refers to what is not there"));
        }
        let charged = room.charge_derived(self.rows.len())?;
        let extras = self.extras.into_iter().collect();
        let meanings = Meanings { headers: &common.headers, names: &common.names, types: &common.types };
        let deletions = self.deletions.finish(self.rows.len(), authors)?;
        let (mut table, mut indexes) =
            Table::from_rows(self.rows, extras, self.ids, deletions, self.spill, meanings)
                .map_err(|error| damaged(error.text()))?;
        drop(charged);
        let mut keys = KeySets::default();
        for message in messages {
            let Message::Block(BlockKind::Keys, payload) = message else {
                return Err(damaged("the order of blocks"));
            };
            let mut input = Input::new(&payload);
            input.u8()?;
            keys.read(&mut input)?;
            room.charge(payload.len())?;
        }
        keys.close();
        // One more, for the keys that belong to no property.
        let mut take = |code: u8| keys.take_all(code, names.max(1)).collect();
        let mut sets = LoadSets { slots_count: table.slots_count(), take: &mut take };
        let loaded = table.lists.load(&mut sets).and_then(|()| indexes.load(&mut sets));
        loaded.map_err(damaged)?;
        Ok((table, indexes, keys.count))
    }
}
