//! Cursors of counted pages: the position of the snapshot, and the number of items on earlier pages.

use annals::{AsOf, Position, Snapshot};

use super::call::Call;
use crate::protocol::problem::Problem;

/// The start of a counted page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// Items on earlier pages.
    pub skipped: usize,
    /// The position of the first page; later pages show the same position, even after further writes.
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
            // The parameters of the request give an earlier time already.
            Some(position) if position >= snapshot.position() => Ok(snapshot),
            position => Ok(snapshot.as_of(AsOf { position, ..AsOf::default() })?),
        }
    }

    /// The cursor of the page after this one, if there is one.
    pub fn next(&self, has_more: bool, limit: usize, snapshot: &Snapshot) -> Option<String> {
        has_more.then(|| format!("{}-{}", snapshot.position(), self.skipped.saturating_add(limit)))
    }
}
