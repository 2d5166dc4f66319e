//! Cursors of pages that are counted off: the position they were read at, and how many items went before.

use annals::{AsOf, Position, Snapshot};

use super::call::Call;
use super::problem::Problem;

/// Where a counted page starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// Items that pages before have shown.
    pub skipped: usize,
    /// The position that the first page showed; later pages show the same, whatever is written meanwhile.
    position: Option<Position>,
}

impl Offset {
    /// The offset in the parameter `after`, written as `position-skipped`.
    pub fn of(call: &Call) -> Result<Offset, Problem> {
        let Some(text) = call.query.get("after") else { return Ok(Offset::default()) };
        let parsed = text.split_once('-').and_then(|(position, skipped)| {
            Some(Offset { skipped: skipped.parse().ok()?, position: Some(Position(position.parse().ok()?)) })
        });
        parsed.ok_or_else(|| {
            Problem::invalid(format!("after {text:?}: expected the `next` of the page before"))
                .with("parameter", "after")
        })
    }

    /// The snapshot that the first page showed.
    pub fn pin(&self, snapshot: Snapshot) -> Result<Snapshot, Problem> {
        match self.position {
            None => Ok(snapshot),
            // Already as of an earlier time, which the parameters of the request repeat.
            Some(position) if position >= snapshot.position() => Ok(snapshot),
            position => Ok(snapshot.as_of(AsOf { position, ..AsOf::default() })?),
        }
    }

    /// The cursor of the page after this one, if there is one.
    pub fn next(&self, has_more: bool, limit: usize, snapshot: &Snapshot) -> Option<String> {
        has_more.then(|| format!("{}-{}", snapshot.position(), self.skipped.saturating_add(limit)))
    }
}
