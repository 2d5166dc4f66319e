//! Reads a table out of a checkpoint.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender};

use super::block::{BlockKind, Input, Loaded, damaged};
use super::load::LoadBudget;
use super::load_deletions::DeletionParts;
use super::load_keys::{IndexParts, KeySets};
use super::load_past::past;
use super::load_rows::RowParts;
use super::table_basis::TableBasis;
use crate::graph::index::{Lists, TableIndexes};
use crate::graph::instance::row_check::{Ends, RowLimits};
use crate::graph::instance::spill::Spill;
use crate::graph::structures::rows::Rows;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::spill_file::SpillSettings;
use crate::graph::table::{Extra, Table};
use crate::model::Id;
use crate::structures::vector::Vector;

/// A message to the thread that reads a table.
pub(crate) enum Message {
    Block(BlockKind, Vec<u8>),
    /// The rows are complete: only keys follow.
    RowsEnd,
}

/// The rows and keys of a table, read so far.
pub(crate) struct TableParts {
    ids: Vector<Id>,
    parts: RowParts,
    deletions: DeletionParts,
}

/// All rows of a table, not checked yet.
pub(crate) struct WholeRows {
    ids: Vector<Id>,
    extras: Vec<Extra>,
    spill: Spill,
    rows: Rows,
    deletions: DeletionParts,
}

impl TableParts {
    /// Reads the rows of the table with this number.
    ///
    /// It sends back the memory of blocks that it has read.
    pub(crate) fn read_rows(
        messages: &Receiver<Message>,
        used: &Sender<Vec<u8>>,
        spill: Option<&SpillSettings>,
        common: &OnceLock<TableBasis>,
        number: usize,
        room: &LoadBudget,
    ) -> Loaded<WholeRows> {
        let (parts, deletions) = (RowParts::new(spill), DeletionParts::default());
        let mut table = TableParts { ids: Vector::new(), parts, deletions };
        let next = || messages.recv().map_err(|_| damaged("it is cut off"));
        while let Message::Block(kind, payload) = next()? {
            table.read(kind, &payload)?;
            room.charge(payload.len())?;
            // The reader may have ended.
            let _ = used.send(payload);
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

    /// The table, the parts of its indexes and the number of keys of its lists, if everything that its rows refer to
    /// exists. Its keys are read meanwhile, because reading the file takes longer than checking the rows. The keys of
    /// indexes stay unread without a memory budget, which would not know how much they take later.
    pub(crate) fn table(
        self,
        messages: &Receiver<Message>,
        common: &OnceLock<TableBasis>,
        ends: Ends,
        room: &LoadBudget,
    ) -> Loaded<(Table, IndexParts, u64)> {
        let common = common.get().ok_or_else(|| damaged("it is cut off"))?;
        let (names, authors, headers) =
            (common.meanings.names.len(), common.authors.len(), common.meanings.headers.len());
        let is_of_relationships = matches!(ends, Ends::Of(_));
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
        let extras = self.extras.into_iter().collect();
        let deletions = self.deletions.finish(self.rows.len(), authors)?;
        let whole = Table::of_rows(self.rows, extras, self.ids, deletions, self.spill);
        let (mut own, mut of_indexes, mut blocks) = (KeySets::default(), KeySets::default(), Vec::new());
        for message in messages {
            let Message::Block(BlockKind::Keys, payload) = message else {
                return Err(damaged("the order of blocks"));
            };
            let code = payload.get(1).copied();
            let is_of_index = TableIndexes::codes().any(|index| Some(index) == code);
            room.charge(payload.len())?;
            match is_of_index {
                true if room.is_bounded() => of_indexes.read_numbered(&payload)?,
                true => blocks.push(payload),
                false => own.read_numbered(&payload)?,
            }
        }
        own.close();
        let mut lists = Lists::default();
        own.load(whole.slots_count(), names, |sets| lists.load(sets))?;
        // Most commands look up entities only.
        let table = if is_of_relationships && !room.is_bounded() {
            whole.with_late(&common.meanings, lists)
        } else {
            let _charged = room.charge_derived(whole.slots_count())?;
            whole.with_derived(&common.meanings, lists).map_err(|error| damaged(error.text()))?
        };
        let (table_of, common) = (table.clone(), common.clone());
        let parts = IndexParts { blocks, keys: of_indexes, keys_count: 0, table: table_of, common };
        Ok((table, parts, own.count))
    }
}
