//! Checks rows from a file, so that reading them cannot fail.

use super::classified::{Classified, HEAD_BYTES};
use super::headers::HeaderNumber;
use super::past::Past;
use super::row::{ALL_FLAGS, IS_CLASSIFIED, OwnRow, Row, stub_extra};
use super::row_list::checked_list;
use super::row_value::checked_length;
use super::unpacked::{NO_ENDS, RowStamp};
use crate::graph::structures::slot_set::SlotSet;

/// The bounds of references in rows: numbers must be below these.
pub(crate) struct RowLimits {
    pub(crate) names: usize,
    pub(crate) authors: usize,
    pub(crate) headers: usize,
    pub(crate) ends: Ends,
}

/// The allowed ends of relationships.
pub(crate) enum Ends {
    /// None: the rows are entities.
    None,
    /// Slots of existing rows.
    Of(SlotSet),
    /// Checked later.
    Unchecked,
}

/// True if the bytes of a row are consistent, without checking references.
pub(crate) fn is_sound(row: &[u8]) -> bool {
    let (names, authors, headers) = (usize::MAX, usize::MAX, usize::MAX);
    let limits = RowLimits { names, authors, headers, ends: Ends::Unchecked };
    !row.is_empty() && limits.fits(Row::new(row), |_| true).is_some()
}

impl RowLimits {
    /// True if the bytes of an instance in a page can be read without failure. `has_row` returns whether an extra has a
    /// row; `None` if there is no such extra.
    pub(crate) fn fits_in_page(&self, bytes: &[u8], has_row: impl Fn(u32) -> Option<bool>) -> bool {
        if bytes.is_empty() {
            return true;
        }
        match stub_extra(bytes) {
            Some(extra) => has_row(extra) == Some(true),
            None => self.fits(Row::new(bytes), |extra| has_row(extra).is_some()).is_some(),
        }
    }

    /// The same for a row with its own memory.
    pub(crate) fn fits_own(&self, own: &OwnRow, is_extra: impl Fn(u32) -> bool) -> bool {
        self.fits(own.row(), is_extra).is_some()
    }

    fn fits(&self, row: Row, is_extra: impl Fn(u32) -> bool) -> Option<()> {
        let is_known = row.bytes.first()? & !ALL_FLAGS == 0;
        let list = row.bytes.get(row.properties_at()..).filter(|_| is_known)?;
        let is_head_sound = row.type_name().index() < self.names
            && self.is_author(row.updated())
            && self.is_author(row.created())
            && self.are_ends(row.ends())
            && self.is_header(row.header())
            && row.extra().is_none_or(is_extra);
        let mut is_spilled = false;
        let mut rest = checked_list(list, self.names, row.sets.len(), &mut is_spilled)?;
        if row.has(IS_CLASSIFIED) {
            let (count, head) = checked_length(rest)?;
            rest = &rest[head..];
            for _ in 0..count {
                rest.get(..HEAD_BYTES)?;
                let known = Classified::new(rest, row.sets);
                let list = rest.get(known.head_bytes()..)?;
                let is_sound = known.name().index() < self.names
                    && self.is_author(known.created())
                    && self.is_author(known.updated())
                    && self.is_header(known.header());
                rest = checked_list(list, self.names, row.sets.len(), &mut is_spilled)?;
                is_sound.then_some(())?;
            }
        }
        (is_head_sound && rest.is_empty() && is_spilled == row.has_spilled()).then_some(())
    }

    /// The same for versions that are not in force.
    pub(crate) fn fits_past(&self, past: &Past) -> bool {
        past.iter().all(|version| self.is_header(version.header))
    }

    fn is_header(&self, header: HeaderNumber) -> bool {
        (header.0 as usize) < self.headers
    }

    fn is_author(&self, stamp: RowStamp) -> bool {
        stamp.author.index() < self.authors
    }

    fn are_ends(&self, ends: [u32; 2]) -> bool {
        match &self.ends {
            Ends::None => ends == NO_ENDS,
            Ends::Unchecked => true,
            Ends::Of(slots) => ends.iter().all(|&end| slots.contains(end)),
        }
    }
}
