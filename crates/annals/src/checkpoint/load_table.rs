//! Reads a table out of a checkpoint.

use std::sync::Arc;

use super::block::{Input, Kind, Loaded, damaged};
use super::load_instance::{instance, past};
use super::load_keys::KeySets;
use super::save::SetKind;
use crate::graph::instance::Instance;
use crate::graph::row::Limits;
use crate::graph::rows::Rows;
use crate::graph::table::{Extra, Table};
use crate::model::Id;

/// What has been read of a table.
#[derive(Default)]
pub(super) struct TableParts {
    ids: Vec<Id>,
    extras: Vec<Extra>,
    // Pages side by side, with the end of each.
    pages: Vec<u8>,
    page_ends: Vec<usize>,
    pub(super) keys: KeySets,
}

impl TableParts {
    /// Reads one block.
    pub(super) fn read(&mut self, kind: Kind, input: &mut Input) -> Loaded<()> {
        if kind == Kind::Keys {
            return self.keys.read(input);
        }
        while !input.is_empty() {
            match kind {
                Kind::Ids => self.ids.push(input.id()?),
                Kind::Pages => {
                    self.pages.extend_from_slice(input.bytes()?);
                    self.page_ends.push(self.pages.len());
                }
                _ => self.extras.push(extra(input)?),
            }
        }
        Ok(())
    }

    /// The rows, which are not looked into yet.
    pub(super) fn rows(&mut self, len: usize) -> Loaded<Rows> {
        let starts = std::iter::once(&0).chain(&self.page_ends);
        let pages: Vec<&[u8]> =
            starts.zip(&self.page_ends).map(|(&start, &end)| &self.pages[start..end]).collect();
        let rows = Rows::from_pages(&pages, len).ok_or_else(|| damaged("a page of rows"))?;
        (self.pages, self.page_ends) = Default::default();
        Ok(rows)
    }

    /// The table, if everything that its rows refer to is there.
    pub(super) fn table(mut self, rows: Rows, limits: &Limits) -> Loaded<Table> {
        if self.ids.len() != rows.len() {
            return Err(damaged("something is missing"));
        }
        let is_sound = |extra: &Extra| match extra {
            Extra::Whole(instance) => limits.admit(instance),
            Extra::Past(_) | Extra::Gone => true,
        };
        let is_whole =
            |extra: u32| self.extras.get(extra as usize).map(|extra| matches!(extra, Extra::Whole(_)));
        if !self.extras.iter().all(is_sound) || !rows.iter().all(|row| limits.admit_row(row, is_whole)) {
            return Err(damaged("an instance refers to what is not there"));
        }
        let mut table = Table::from_rows(rows, self.extras.into_iter().collect(), self.ids);
        let keys = &mut self.keys;
        table.past_values_of = keys.take(SetKind::PastValuesOf, 0);
        table.set_past_classified(keys.take(SetKind::PastClassifiedOf, 0));
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
