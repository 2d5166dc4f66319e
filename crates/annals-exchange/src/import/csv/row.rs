//! Decodes the cells of a row: a node or an edge.

use std::sync::Arc;

use super::Layout;
use super::header::{Column, CsvKind, Role};
use super::record::CsvRecord;
use super::value::{CellType, CsvField};
use crate::import::refused::quote;
use crate::import::{Checked, Refused};

/// The most labels of a node. Each is compared with those before it.
const LABELS_MAX: usize = 1_000;

/// The node or edge of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// A row of a file with an `:ID` column.
    Node(Node),
    /// A row of a file with `:START_ID` and `:END_ID` columns.
    Edge(Edge),
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line its row starts on.
    pub line: u64,
    /// Its id.
    pub id: Id,
    /// Its labels: those of the options, then those of the file, each once.
    pub labels: Vec<String>,
    /// Everything else that an export of Annals writes about it, in JSON.
    pub line_cell: Option<String>,
    /// Its properties in the order of the columns; an empty cell sets none.
    pub properties: Vec<(Arc<str>, CsvField)>,
    /// The properties whose cells are empty.
    pub empty: Vec<Arc<str>>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The line its row starts on.
    pub line: u64,
    /// The node it starts at.
    pub start: Id,
    /// The node it ends at.
    pub end: Id,
    /// Its type.
    pub edge_type: String,
    /// Everything else that an export of Annals writes about it, in JSON.
    pub line_cell: Option<String>,
    /// Its properties in the order of the columns; an empty cell sets none.
    pub properties: Vec<(Arc<str>, CsvField)>,
    /// The properties whose cells are empty.
    pub empty: Vec<Arc<str>>,
}

/// The id of a node, unique in its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// The group in parentheses behind `ID`, `START_ID` or `END_ID`; empty if there is none.
    pub group: Arc<str>,
    /// The cell, blanks around it left off.
    pub key: String,
}

/// The row of a record, by the header of its file.
pub(super) fn decode(record: &CsvRecord<'_>, layout: &Layout) -> Checked<Row> {
    let line = record.line;
    let cells = record.fields();
    let Layout { header, array_delimiter, .. } = layout;
    let (expected, found) = (header.columns.len(), cells.len());
    if expected != found {
        return Err(Refused::new(line, format!("expected {expected} columns, found {found}")));
    }
    let (mut id, mut start, mut end) = (None, None, None);
    let mut labels = layout.labels.clone();
    let mut edge_type = layout.edge_type.clone();
    let (mut properties, mut empty) = (Vec::new(), Vec::new());
    let mut line_cell = None;
    for (index, (column, cell)) in header.columns.iter().zip(cells).enumerate() {
        match &column.role {
            Role::Ignored => {}
            Role::Untitled if cell.trim().is_empty() => {}
            Role::Untitled => {
                let number = index + 1;
                let reason =
                    format!("column {number}: expected nothing below an empty title, found {}", quote(cell));
                return Err(Refused::new(line, reason));
            }
            Role::Line => line_cell = Some(cell.to_owned()).filter(|cell| !cell.is_empty()),
            Role::Id { group, property } => {
                id = Some(decode_id(line, column, group, cell)?);
                let property =
                    property.as_ref().map(|name| (Arc::clone(name), CsvField::Text(cell.trim().to_string())));
                properties.extend(property);
            }
            Role::Start { group } => start = Some(decode_id(line, column, group, cell)?),
            Role::End { group } => end = Some(decode_id(line, column, group, cell)?),
            Role::Labels => add_labels(line, &mut labels, cell, *array_delimiter)?,
            Role::Type if cell.trim().is_empty() => {}
            Role::Type => edge_type = Some(cell.trim().to_string()),
            Role::Property { name, .. } if cell.is_empty() => empty.push(Arc::clone(name)),
            Role::Property { name, cell_type, is_list } => {
                let list_delimiter = is_list.then_some(*array_delimiter);
                properties
                    .push((Arc::clone(name), decode_value(line, column, *cell_type, list_delimiter, cell)?));
            }
        }
    }
    match header.kind {
        CsvKind::Nodes => {
            let id = id.expect("a header of nodes has an id column");
            Ok(Row::Node(Node { line, id, labels, line_cell, properties, empty }))
        }
        CsvKind::Edges => {
            let start = start.expect("a header of edges has a start column");
            let end = end.expect("a header of edges has an end column");
            let no_type = || Refused::new(line, "column `:TYPE`: expected a type, found an empty cell");
            let edge_type = edge_type.ok_or_else(no_type)?;
            Ok(Row::Edge(Edge { line, start, end, edge_type, line_cell, properties, empty }))
        }
    }
}

fn decode_id(line: u64, column: &Column, group: &Arc<str>, cell: &str) -> Checked<Id> {
    match cell.trim() {
        "" => {
            Err(Refused::new(line, format!("column `{}`: expected an id, found an empty cell", column.title)))
        }
        key => Ok(Id { group: Arc::clone(group), key: key.to_string() }),
    }
}

fn add_labels(line: u64, labels: &mut Vec<String>, cell: &str, delimiter: char) -> Checked<()> {
    for label in cell.split(delimiter).map(str::trim).filter(|label| !label.is_empty()) {
        if labels.len() > LABELS_MAX {
            return Err(Refused::new(line, format!("expected at most {LABELS_MAX} labels, found more")));
        }
        if !labels.iter().any(|other| other == label) {
            labels.push(label.to_string());
        }
    }
    Ok(())
}

/// Decodes a cell as one value, or as a list if it has a delimiter.
fn decode_value(
    line: u64,
    column: &Column,
    cell_type: CellType,
    list_delimiter: Option<char>,
    cell: &str,
) -> Checked<CsvField> {
    let decode_one = |cell: &str| {
        cell_type.decode(cell).ok_or_else(|| {
            let (title, expected) = (&column.title, cell_type.expected());
            Refused::new(line, format!("column `{title}`: expected {expected}, found {}", quote(cell)))
        })
    };
    match list_delimiter {
        None => decode_one(cell),
        Some(delimiter) => Ok(CsvField::List(cell.split(delimiter).map(decode_one).collect::<Checked<_>>()?)),
    }
}
