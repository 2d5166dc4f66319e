//! The rows of reads: by id, and walks.

use super::dialect::Ask;
use super::generator::Pace;
use super::session::{Session, figure};
use super::suite::{graph_of, introduce};
use super::two_loops::measure_both;
use crate::harness::{Cell, Figure};
use crate::outcome::Outcome;
use crate::threads::Pending;

/// The questions, each with the name of its row. The row of its arrival rate is named so with `-rate`.
pub const READS: [(&str, &str, Ask); 4] = [
    ("vertex", "vertex-rate", Ask::Vertex),
    ("edge", "edge-rate", Ask::Edge),
    ("kout-1", "kout-1-rate", Ask::Kout(1)),
    ("kout-2", "kout-2-rate", Ask::Kout(2)),
];
/// The row of many callers, of whom each reads a vertex once a second, and how many they are.
pub const CALLERS: &str = "callers";
const CALLERS_COUNT: usize = 14_500;

/// Measures the rows of reads at each volume.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let volumes = cell.arguments.volumes.clone();
    let rows = READS.iter().flat_map(|(closed, open, _)| [*closed, *open]).chain([CALLERS]);
    let rows: Vec<&'static str> = rows.filter(|row| cell.wants(row)).collect();
    let wanted = volumes.iter().flat_map(|volume| rows.iter().map(|row| (volume.clone(), *row)));
    let mut pending = Pending::new(wanted.collect::<Vec<_>>());
    let measured = measure(cell, &volumes, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, volumes: &[String], pending: &mut Pending) -> Outcome<()> {
    introduce(cell, None)?;
    if cell.target.name == "disk" {
        let rows: Vec<&str> =
            READS.iter().flat_map(|(closed, open, _)| [*closed, *open]).chain([CALLERS]).collect();
        return pending.skip(cell, &rows, "a file is no server");
    }
    for volume in volumes {
        let mut session = Session::start(cell, graph_of(volume)?)?;
        for rows in READS {
            measure_both(cell, volume, rows, &mut session, pending)?;
        }
        if cell.wants(CALLERS) {
            let figure = callers(&mut session)?;
            pending.tell(cell, volume, CALLERS, figure)?;
        }
    }
    Ok(())
}

/// Many connections that stay open, each with a read a second.
fn callers(session: &mut Session) -> Outcome<Figure> {
    let count = session.size(CALLERS_COUNT, 300).min(session.callers_max);
    let time = std::time::Duration::from_secs(session.size(60, 1)).max(session.step());
    let (loaded, record) = session.load(Ask::Vertex, count, Pace::Rate(count as f64), time)?;
    if loaded.errors > 0 {
        let first = loaded.first_error.clone().or(loaded.first_refusal.clone()).unwrap_or_default();
        session.settle(Ask::Vertex)?;
        let state = format!("ERR({} of {} requests failed, the first: {first})", loaded.errors, loaded.due);
        return Ok(Figure { load: Some(record), ..Figure::state(state) });
    }
    figure(&loaded, record, count as f64)
}
