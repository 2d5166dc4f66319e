//! Reads nodes and edges from CSV with neo4j-admin style headers, one row at a time.

mod header;
mod record;
mod value;

use std::io::BufRead;
use std::sync::Arc;

use annals::{Error, ErrorKind, Result};

use header::{Column, Role};
use header::{Header, Kind};
use record::{Record, RecordReader};
pub use value::Field;
use value::ValueType;

use crate::import::refused::quote;
use crate::import::unit::Place;
use crate::import::{Checked, Refused};

/// The field delimiters a file can have.
const FIELD_DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// How a file is written, and what it does not say itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Between the cells: `,`, `;`, TAB or `|`.
    pub field_delimiter: char,
    /// Between the values of one list cell, and between labels.
    pub array_delimiter: char,
    /// Labels for all nodes of the file, besides those of the `:LABEL` column.
    pub labels: Vec<String>,
    /// The type of edges that have no `:TYPE` column or an empty cell in it.
    pub edge_type: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { field_delimiter: ',', array_delimiter: ';', labels: Vec::new(), edge_type: None }
    }
}

/// What one row says.
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
    /// What else an export of Annals tells of it, in JSON.
    pub line_cell: Option<String>,
    /// Its properties in the order of the columns; an empty cell sets none.
    pub properties: Vec<(Arc<str>, Field)>,
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
    /// What else an export of Annals tells of it, in JSON.
    pub line_cell: Option<String>,
    /// Its properties in the order of the columns; an empty cell sets none.
    pub properties: Vec<(Arc<str>, Field)>,
}

/// The id of a node, unique in its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// The group in parentheses behind `ID`, `START_ID` or `END_ID`; empty if there is none.
    pub group: Arc<str>,
    /// The cell, blanks around it left off.
    pub key: String,
}

/// Reads the rows of one file in their order.
/// Shape: one item per row; a refused row does not end the reading, an outer error does.
/// Memory does not grow with the file: one row is held at a time, and it is bounded.
///
/// ```text
/// for row in RowReader::new(Source::open(path)?, Options::default())? {
///     match row? {
///         Ok(Row::Node(node)) => …,
///         Ok(Row::Edge(edge)) => …,
///         Err(refused) => eprintln!("{refused}"),
///     }
/// }
/// ```
pub struct RowReader<R> {
    records: RecordReader<R>,
    header: Header,
    options: Options,
    header_sum: u64,
    is_broken: bool,
}

impl<R: BufRead> RowReader<R> {
    /// Reads the header line of `input`; the iterator gives the rows behind it.
    /// Errors: `InvalidArgument` naming every problem of header or options; `Io`.
    pub fn new(input: R, options: Options) -> Result<RowReader<R>> {
        check_options(&options)?;
        let mut records = RecordReader::new(input, options.field_delimiter as u8);
        let header = match records.read()? {
            Some(Ok(record)) => Header::parse(record.fields(), options.edge_type.is_some())?,
            Some(Err(refused)) => return Err(invalid(format!("csv header: {refused}"))),
            None => return Err(invalid("csv header: expected a header line, found an empty file")),
        };
        let header_sum = records.place().sum.unwrap_or_default();
        Ok(RowReader { records, header, options, header_sum, is_broken: false })
    }

    /// The sum over the lines of the header.
    pub fn header_sum(&self) -> u64 {
        self.header_sum
    }

    /// Where the last row stands.
    pub fn place(&self) -> Place {
        self.records.place()
    }
}

impl<R: BufRead> Iterator for RowReader<R> {
    type Item = Result<Checked<Row>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_broken {
            return None;
        }
        match self.records.read() {
            Ok(None) => None,
            Ok(Some(record)) => {
                Some(Ok(record.and_then(|record| decode(&record, &self.header, &self.options))))
            }
            Err(error) => {
                self.is_broken = true;
                Some(Err(error))
            }
        }
    }
}

/// Finds the delimiter that a user named: the character itself, `TAB` or `\t`.
/// Errors: `InvalidArgument` if it is more than one character.
pub fn parse_delimiter(name: &str) -> Result<char> {
    let mut characters = name.chars();
    match (name, characters.next(), characters.next()) {
        ("\\t", ..) => Ok('\t'),
        (name, ..) if name.eq_ignore_ascii_case("tab") => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err(invalid(format!("delimiter: expected one character or TAB, found {}", quote(name)))),
    }
}

fn check_options(options: &Options) -> Result<()> {
    let Options { field_delimiter, array_delimiter, .. } = options;
    if !FIELD_DELIMITERS.contains(field_delimiter) {
        return Err(invalid(format!(
            "field delimiter: expected one of `,`, `;`, TAB, `|`, found {field_delimiter:?}"
        )));
    }
    if field_delimiter == array_delimiter {
        let text =
            format!("array delimiter: expected another than the field delimiter, found {array_delimiter:?}");
        return Err(invalid(text));
    }
    if ['"', '\n', '\r'].contains(array_delimiter) {
        return Err(invalid(format!(
            "array delimiter: expected no quote or line end, found {array_delimiter:?}"
        )));
    }
    Ok(())
}

fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

fn decode(record: &Record<'_>, header: &Header, options: &Options) -> Checked<Row> {
    let line = record.line;
    let cells = record.fields();
    let (expected, found) = (header.columns.len(), cells.len());
    if expected != found {
        return Err(Refused::new(line, format!("expected {expected} columns, found {found}")));
    }
    let (mut id, mut start, mut end) = (None, None, None);
    let mut labels = options.labels.clone();
    let mut edge_type = options.edge_type.clone();
    let mut properties = Vec::new();
    let mut line_cell = None;
    for (column, cell) in header.columns.iter().zip(cells) {
        match &column.role {
            Role::Ignored => {}
            Role::Line => line_cell = Some(cell.to_owned()).filter(|cell| !cell.is_empty()),
            Role::Id { group, property } => {
                id = Some(decode_id(line, column, group, cell)?);
                let property =
                    property.as_ref().map(|name| (Arc::clone(name), Field::Text(cell.trim().to_string())));
                properties.extend(property);
            }
            Role::Start { group } => start = Some(decode_id(line, column, group, cell)?),
            Role::End { group } => end = Some(decode_id(line, column, group, cell)?),
            Role::Labels => add_labels(&mut labels, cell, options.array_delimiter),
            Role::Type if cell.trim().is_empty() => {}
            Role::Type => edge_type = Some(cell.trim().to_string()),
            Role::Property { .. } if cell.is_empty() => {}
            Role::Property { name, value_type, is_list } => {
                let list_delimiter = is_list.then_some(options.array_delimiter);
                properties
                    .push((Arc::clone(name), decode_value(line, column, *value_type, list_delimiter, cell)?));
            }
        }
    }
    match header.kind {
        Kind::Nodes => {
            let id = id.expect("a header of nodes has an id column");
            Ok(Row::Node(Node { line, id, labels, line_cell, properties }))
        }
        Kind::Edges => {
            let start = start.expect("a header of edges has a start column");
            let end = end.expect("a header of edges has an end column");
            let no_type = || Refused::new(line, "column `:TYPE`: expected a type, found an empty cell");
            let edge_type = edge_type.ok_or_else(no_type)?;
            Ok(Row::Edge(Edge { line, start, end, edge_type, line_cell, properties }))
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

fn add_labels(labels: &mut Vec<String>, cell: &str, delimiter: char) {
    for label in cell.split(delimiter).map(str::trim).filter(|label| !label.is_empty()) {
        if !labels.iter().any(|other| other == label) {
            labels.push(label.to_string());
        }
    }
}

/// Decodes a cell as one value, or as a list if it has a delimiter.
fn decode_value(
    line: u64,
    column: &Column,
    value_type: ValueType,
    list_delimiter: Option<char>,
    cell: &str,
) -> Checked<Field> {
    let decode_one = |cell: &str| {
        value_type.decode(cell).ok_or_else(|| {
            let (title, expected) = (&column.title, value_type.expected());
            Refused::new(line, format!("column `{title}`: expected {expected}, found {}", quote(cell)))
        })
    };
    match list_delimiter {
        None => decode_one(cell),
        Some(delimiter) => Ok(Field::List(cell.split(delimiter).map(decode_one).collect::<Checked<_>>()?)),
    }
}

#[cfg(test)]
mod tests;
