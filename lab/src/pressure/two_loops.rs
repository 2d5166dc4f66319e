//! One question in two loops: closed, and open at an arrival rate.

use super::dialect::Ask;
use super::session::Session;
use crate::harness::Cell;
use crate::outcome::Outcome;
use crate::threads::Pending;

/// Measures a question in a closed loop, and at the highest arrival rate, each in the row of its name.
pub fn measure_both(
    cell: &mut Cell,
    volume: &str,
    (closed, open, ask): (&'static str, &'static str, Ask),
    session: &mut Session,
    pending: &mut Pending,
) -> Outcome<()> {
    if let Some(reason) = session.system.dialect.lacks(ask) {
        return pending.skip(cell, &[closed, open], reason);
    }
    let mut peak = None;
    if cell.wants(closed) {
        let figure = session.closed(ask, 1)?;
        peak = figure.value;
        pending.tell(cell, volume, closed, figure)?;
    }
    if cell.wants(open) {
        let figure = session.rate(ask, peak)?;
        pending.tell(cell, volume, open, figure)?;
    }
    Ok(())
}
