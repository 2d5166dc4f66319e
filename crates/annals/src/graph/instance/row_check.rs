//! Checks rows that somebody else wrote, so that reading them cannot fail.

use super::headers::HeaderNumber;
use super::past::Past;
use super::properties::Properties;
use super::row::{
    CLASSIFICATION_HEAD_BYTES, EXTRA_OF_WHOLE, IS_CLASSIFIED, IS_LATER, IS_WHOLE, LATER_BYTES,
    PROPERTIES_COUNT, Packed, Row,
};
use super::row_value::checked;
use super::unpacked::{Instance, NO_ENDS, Stamp};
use crate::graph::structures::slot_set::SlotSet;

/// What rows may refer to: numbers below these.
pub(crate) struct Limits {
    pub(crate) names: usize,
    pub(crate) authors: usize,
    pub(crate) headers: usize,
    pub(crate) ends: Ends,
}

/// What the ends of relationships may be.
pub(crate) enum Ends {
    /// There are none: the rows are of entities.
    None,
    /// Slots of rows that are there.
    Of(SlotSet),
    /// They are looked at later.
    Unchecked,
}

/// True if the bytes of a row fit together, whatever it may refer to.
pub(crate) fn is_sound(row: &[u8]) -> bool {
    let (names, authors, headers) = (usize::MAX, usize::MAX, usize::MAX);
    let limits = Limits { names, authors, headers, ends: Ends::Unchecked };
    limits.admit_row(row, |_| Some(Packed(row).is_whole()))
}

impl Limits {
    /// True if reading this row, which somebody else wrote, cannot fail. `is_whole` tells of an extra, if it is
    /// there, whether it is a whole instance.
    pub(crate) fn admit_row(&self, row: &[u8], is_whole: impl Fn(u32) -> Option<bool>) -> bool {
        row.is_empty() || self.admit_packed(row, is_whole).is_some()
    }

    fn admit_packed(&self, row: &[u8], is_whole: impl Fn(u32) -> Option<bool>) -> Option<()> {
        let packed = Packed(row);
        if packed.has(IS_WHOLE) {
            let is_sound = row.len() == EXTRA_OF_WHOLE + 4 && is_whole(packed.extra()?)?;
            return is_sound.then_some(());
        }
        let later = packed.later();
        let properties_at = later + if packed.has(IS_LATER) { LATER_BYTES } else { 0 };
        if row.len() < properties_at {
            return None;
        }
        let whole = Row::Packed(packed);
        let is_head_sound = whole.type_name().index() < self.names
            && self.is_author(whole.updated())
            && self.is_author(whole.created())
            && self.are_ends(whole.ends())
            && self.is_header(whole.header())
            && packed.extra().is_none_or(|extra| is_whole(extra) == Some(false));
        let mut is_spilled = false;
        let mut rest = checked(&row[properties_at..], row[PROPERTIES_COUNT], self.names, &mut is_spilled)?;
        if packed.has(IS_CLASSIFIED) {
            let (&count, following) = rest.split_first()?;
            rest = following;
            for _ in 0..count {
                let head = Packed(rest.get(..CLASSIFICATION_HEAD_BYTES)?);
                let is_sound = (head.u32(0) as usize) < self.names
                    && self.is_author(head.stamp(8))
                    && self.is_author(head.stamp(20));
                let count = is_sound.then(|| rest[CLASSIFICATION_HEAD_BYTES - 1])?;
                let following = rest.get(head.classification_head_bytes()..)?;
                let header = Packed(rest).classification_header();
                rest = checked(following, count, self.names, &mut is_spilled)?;
                self.is_header(header).then_some(())?;
            }
        }
        (is_head_sound && rest.is_empty() && is_spilled == packed.has_spilled()).then_some(())
    }

    /// The same of an instance that is kept whole.
    pub(crate) fn admit(&self, instance: &Instance) -> bool {
        let are_names =
            |properties: &Properties| properties.iter().all(|(name, _)| name.index() < self.names);
        instance.type_name.index() < self.names
            && self.is_author(instance.created)
            && self.is_author(instance.updated)
            && self.are_ends(instance.ends)
            && self.is_header(instance.header)
            && are_names(&instance.properties)
            && instance.classifications().iter().all(|known| {
                known.name.index() < self.names
                    && self.is_author(known.created)
                    && self.is_author(known.updated)
                    && self.is_header(known.header)
                    && are_names(&known.properties)
            })
    }

    /// The same of versions that are not in force.
    pub(crate) fn admit_past(&self, past: &Past) -> bool {
        past.iter().all(|version| self.is_header(version.header))
    }

    fn is_header(&self, header: HeaderNumber) -> bool {
        (header.0 as usize) < self.headers
    }

    fn is_author(&self, stamp: Stamp) -> bool {
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
