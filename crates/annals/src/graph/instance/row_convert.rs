//! Rows in a checkpoint: large sets are within their bytes, and spilled values are stored apart.
#![expect(clippy::expect_used, reason = "its closure writes every value of a row")]

use super::row::{HAS_SPILLED, IS_CLASSIFIED, OwnRow, Row};
use super::row_list::{List, append_list};
use super::row_pack::{Packing, append_content};
use super::row_value::{OTHER, SPILLED_STRING, STRING, Tagged, append_length, decode_whole};
use crate::graph::structures::spill_file::SpillPlace;
use crate::record::encode_value_into;

/// The new place of a value that the saving graph had spilled.
pub(crate) enum SpilledValue {
    /// In the spill file of this graph.
    At(SpillPlace),
    /// In memory.
    Content(Vec<u8>),
}

impl Row<'_> {
    /// Its bytes, including large sets.
    pub(crate) fn inlined(self) -> Vec<u8> {
        if self.sets.is_empty() {
            return self.bytes.to_vec();
        }
        let mut spill = |_: &[u8]| None;
        let mut packing = Packing::new(usize::MAX, &mut spill);
        let rewritten = self.rewritten(&mut packing, &mut |tagged, packing, out| {
            packing.has_spilled |= tagged.place().is_some();
            match tagged.large_set() {
                Some(set) => {
                    let mut content = Vec::new();
                    encode_value_into(set, &mut content);
                    append_content(OTHER, &content, out);
                }
                None => out.extend_from_slice(tagged.own_bytes()),
            }
            Some(())
        });
        rewritten.expect("all values are copied")
    }

    /// The same row for the graph that `packing` writes for; `None` if a value is damaged. `next` gives the new place
    /// of each spilled value, in the order of the row.
    pub(crate) fn converted(
        self,
        mut packing: Packing,
        next: &mut dyn FnMut() -> Option<SpilledValue>,
    ) -> Option<OwnRow> {
        let bytes = self.rewritten(&mut packing, &mut |tagged, packing, out| {
            let is_text = matches!(tagged.tag(), STRING | SPILLED_STRING);
            match tagged.place().map(|place| Some((place, next()?))) {
                None if matches!(tagged.tag(), STRING | OTHER) => {
                    packing.append_loaded(is_text, tagged.content(), out)
                }
                None => {
                    out.extend_from_slice(tagged.own_bytes());
                    Some(())
                }
                Some(None) => None,
                Some(Some((before, SpilledValue::At(place)))) => {
                    let is_same = (place.length, place.checksum) == (before.length, before.checksum);
                    is_same.then(|| packing.append_place(tagged.tag(), place, out))
                }
                Some(Some((before, SpilledValue::Content(content)))) => {
                    before.fits(&content).then(|| packing.append_loaded(is_text, &content, out))?
                }
            }
        })?;
        Some(OwnRow::new(bytes, packing.sets))
    }

    fn rewritten(self, packing: &mut Packing, append: Append) -> Option<Vec<u8>> {
        let mut out = self.bytes[..self.properties_at()].to_vec();
        append_rewritten(self.properties(), packing, append, &mut out)?;
        if self.has(IS_CLASSIFIED) {
            append_length(self.classifications().count(), &mut out);
            for known in self.classifications() {
                out.extend_from_slice(known.head());
                append_rewritten(known.properties(), packing, append, &mut out)?;
            }
        }
        out[0] = out[0] & !HAS_SPILLED | packing.flags();
        Some(out)
    }
}

/// Appends a value of another row; `None` if it cannot.
type Append<'a> = &'a mut dyn FnMut(Tagged, &mut Packing, &mut Vec<u8>) -> Option<()>;

fn append_rewritten(list: List, packing: &mut Packing, append: Append, out: &mut Vec<u8>) -> Option<()> {
    let mut outcome = Some(());
    append_list(list.len(), list.each(), out, |tagged, out| {
        outcome = outcome.and_then(|()| append(tagged, packing, out));
    });
    outcome
}

impl Packing<'_> {
    /// Appends a string, or another value, of these bytes; `None` if they are malformed.
    fn append_loaded(&mut self, is_text: bool, content: &[u8], out: &mut Vec<u8>) -> Option<()> {
        if is_text {
            self.append_text(std::str::from_utf8(content).ok()?, out);
        } else if !self.puts_beside(&decode_whole(content)?, out) {
            self.append_other(content, out);
        }
        Some(())
    }
}
