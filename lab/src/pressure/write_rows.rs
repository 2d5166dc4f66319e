//! The rows of writes: one vertex or edge a request, and batches.

use super::dialect::{Ask, EDGES, VERTICES};
use super::disk::Disk;
use super::session::Session;
use super::suite::{graph_of, introduce};
use super::two_loops::measure_both;
use crate::harness::Cell;
use crate::outcome::Outcome;
use crate::threads::Pending;

/// The insertions of one element, each with the names of its two rows.
pub const SINGLE: [(&str, &str, Ask); 2] = [
    ("insert-vertex", "insert-vertex-rate", Ask::InsertVertex),
    ("insert-edge", "insert-edge-rate", Ask::InsertEdge),
];
/// The batches, and how many elements each has.
pub const BATCHES: [(&str, Ask, u64); 4] = [
    ("vertices-200", Ask::InsertVertices(VERTICES), VERTICES),
    ("edges-500", Ask::InsertEdges(EDGES), EDGES),
    ("import-vertices-200", Ask::ImportVertices(VERTICES), VERTICES),
    ("import-edges-500", Ask::ImportEdges(EDGES), EDGES),
];

/// Measures the rows of writes at each volume.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let volumes = cell.arguments.volumes.clone();
    let rows = SINGLE.iter().flat_map(|(closed, open, _)| [*closed, *open]);
    let rows = rows.chain(BATCHES.iter().map(|(row, _, _)| *row));
    let rows: Vec<&'static str> = rows.filter(|row| cell.wants(row)).collect();
    let wanted = volumes.iter().flat_map(|volume| rows.iter().map(|row| (volume.clone(), *row)));
    let mut pending = Pending::new(wanted.collect::<Vec<_>>());
    let measured = measure(cell, &volumes, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, volumes: &[String], pending: &mut Pending) -> Outcome<()> {
    introduce(cell, None)?;
    for volume in volumes {
        if cell.target.name == "disk" {
            write_files(cell, volume, pending)?;
            continue;
        }
        let mut session = Session::start(cell, graph_of(volume)?)?;
        for rows in SINGLE {
            measure_both(cell, volume, rows, &mut session, pending)?;
        }
        for (row, ask, elements) in BATCHES {
            match session.system.dialect.lacks(ask) {
                Some(reason) => pending.skip(cell, &[row], reason)?,
                None if cell.wants(row) => {
                    let figure = session.closed(ask, elements)?;
                    pending.tell(cell, volume, row, figure)?;
                }
                None => {}
            }
        }
    }
    Ok(())
}

/// The limit of writes: threads that hand bytes to one that writes and syncs them.
fn write_files(cell: &mut Cell, volume: &str, pending: &mut Pending) -> Outcome<()> {
    let disk = Disk::new(cell);
    for (closed, open, _) in SINGLE {
        if cell.wants(closed) {
            let figure = disk.measure(closed, 1)?;
            pending.tell(cell, volume, closed, figure)?;
        }
        pending.skip(cell, &[open], "a file is no server")?;
    }
    for (row, ask, elements) in BATCHES {
        if matches!(ask, Ask::ImportVertices(_) | Ask::ImportEdges(_)) {
            pending.skip(cell, &[row], "as many bytes as the batch")?;
        } else if cell.wants(row) {
            let figure = disk.measure(row, elements)?;
            pending.tell(cell, volume, row, figure)?;
        }
    }
    Ok(())
}
