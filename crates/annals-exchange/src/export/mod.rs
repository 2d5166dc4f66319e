//! Writes the content of a snapshot, one instance at a time: memory does not grow with the repository.

mod jsonl;
mod instance_line;
mod csv;
mod graph_part;
mod graph_file;
mod graphml;
mod dot;
mod graph_text;
mod answer_rows;

use annals::{Entity, Find, Relationship, Result, Snapshot};

pub use answer_rows::{CellText, RowFormat, RowText, cell_of};
pub use csv::{CsvRows, csv_file_name, export_csv};
pub use graph_file::GraphFormat;
pub use graph_part::{GraphNode, GraphPart, Selected, TakeEdge, TakeNode};
pub use jsonl::{export_history, export_jsonl};

/// Instances read together.
const PAGE: usize = 5_000;

/// Stored bytes of the instances read together: a server may run many exports. Units: bytes.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// The types to export.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only these types and their subtypes; all if empty.
    pub types: Vec<String>,
}

impl Selection {
    /// The search that finds everything selected.
    fn find(&self) -> Find {
        let types = self.types.iter().map(|name| name.as_str().into()).collect();
        Find { types, bytes_max: PAGE_BYTES_MAX, ..Find::all().limit(PAGE) }
    }

    /// True if everything is selected.
    fn is_everything(&self) -> bool {
        self.types.is_empty()
    }
}

/// Calls `work` with every entity that the search finds.
pub fn each_entity<E: From<annals::Error>>(
    snapshot: &Snapshot,
    mut find: Find,
    mut work: impl FnMut(&Entity) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    loop {
        let page = snapshot.find_entities(&find)?;
        page.items.iter().try_for_each(&mut work)?;
        match page.next {
            Some(next) => find.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Calls `work` with every relationship that the search finds.
pub fn each_relationship<E: From<annals::Error>>(
    snapshot: &Snapshot,
    mut find: Find,
    mut work: impl FnMut(&Relationship) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    loop {
        let page = snapshot.find_relationships(&find)?;
        page.items.iter().try_for_each(&mut work)?;
        match page.next {
            Some(next) => find.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// The number of instances in a snapshot, for the progress bar.
fn instances_count(snapshot: &Snapshot) -> u64 {
    snapshot.entities_count() + snapshot.relationships_count()
}

/// The earliest valid time of a relationship without its past: not before the versions of its ends.
fn valid_from(snapshot: &Snapshot, relationship: &Relationship) -> Result<annals::Instant> {
    let mut from = relationship.valid_from();
    for end in [relationship.from(), relationship.to()] {
        if let Some(entity) = snapshot.entity_summary(end)? {
            from = from.max(entity.valid_from());
        }
    }
    Ok(from)
}
