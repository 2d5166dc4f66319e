//! Reads a table out of a checkpoint.

use std::sync::Arc;

use super::block::{Input, Kind, Loaded, damaged};
use super::load_instance::{instance, past};
use super::load_keys::KeySets;
use super::load_rows::RowParts;
use super::save::SetKind;
use crate::graph::headers::Headers;
use crate::graph::instance::Instance;
use crate::graph::row_check::Limits;
use crate::graph::rows::Rows;
use crate::graph::spill_file::SpillSettings;
use crate::graph::symbols::Symbols;
use crate::graph::table::{Extra, Table};
use crate::model::Id;

/// What has been read of a table.
pub(super) struct TableParts {
    ids: Vec<Id>,
    extras: Vec<Extra>,
    rows: RowParts,
    pub(super) keys: KeySets,
}

impl TableParts {
    pub(super) fn new(spill: Option<&SpillSettings>) -> TableParts {
        TableParts {
            ids: Vec::new(),
            extras: Vec::new(),
            rows: RowParts::new(spill),
            keys: KeySets::default(),
        }
    }

    /// Reads one block.
    pub(super) fn read(&mut self, kind: Kind, input: &mut Input) -> Loaded<()> {
        if kind == Kind::Keys {
            self.rows.forget_packed();
            return self.keys.read(input);
        }
        while !input.is_empty() {
            match kind {
                Kind::Ids => self.ids.push(input.id()?),
                Kind::Values => self.rows.read_value(input.bytes()?)?,
                Kind::Pages => self.rows.read_page(input.bytes()?, &self.ids, &mut self.extras)?,
                _ => {
                    let extra = self.rows.take_extra(self.extras.len(), extra(input)?);
                    self.extras.push(extra);
                }
            }
        }
        Ok(())
    }

    /// The rows, which are not looked into yet.
    pub(super) fn rows(&mut self, len: usize) -> Loaded<Rows> {
        self.rows.finish(len)
    }

    /// The table, if everything that its rows refer to is there.
    pub(super) fn table(
        mut self,
        rows: Rows,
        limits: &Limits,
        headers: &Headers,
        names: &Symbols,
    ) -> Loaded<Table> {
        if self.ids.len() != rows.len() {
            return Err(damaged("something is missing"));
        }
        let is_sound = |extra: &Extra| match extra {
            Extra::Whole(instance) => {
                limits.admit(instance) && instance.past.as_ref().is_none_or(|past| limits.admit_past(past))
            }
            Extra::Past(past) => limits.admit_past(past),
            Extra::Gone => true,
        };
        let is_whole =
            |extra: u32| self.extras.get(extra as usize).map(|extra| matches!(extra, Extra::Whole(_)));
        if !self.extras.iter().all(is_sound) || !rows.iter().all(|row| limits.admit_row(row, is_whole)) {
            return Err(damaged("an instance refers to what is not there"));
        }
        let mut table = Table::from_rows(
            rows,
            self.extras.into_iter().collect(),
            self.ids,
            self.rows.spill,
            headers,
            names,
        );
        let keys = &mut self.keys;
        table.past_values_of = keys.take(SetKind::PastValuesOf, 0);
        table.set_past_classified(keys.take(SetKind::PastClassifiedOf, 0));
        let updated = keys.take(SetKind::Updated, 0);
        let past_updated = keys.take(SetKind::PastUpdated, 0);
        table.stamps.set_updated(updated, past_updated);
        table.multi_valued = keys.take(SetKind::MultiValued, 0);
        table.values = keys.take_all(SetKind::Values, limits.names).collect();
        table.past_values = keys.take_all(SetKind::PastValues, limits.names).collect();
        Ok(table)
    }
}

fn extra(input: &mut Input) -> Loaded<Extra> {
    Ok(match input.u8()? {
        0 => Extra::Gone,
        1 => Extra::Past(past(input)?.ok_or_else(|| damaged("a past"))?),
        2 => Extra::Whole(Arc::<Instance>::new(instance(input)?)),
        _ => return Err(damaged("the kind of an extra")),
    })
}
