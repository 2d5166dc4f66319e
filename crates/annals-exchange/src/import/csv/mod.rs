//! Reads nodes and edges from CSV, one row at a time: with headers in the style of neo4j-admin, or plain ones.

// In the order a newcomer should read them.
mod lines;
mod record;
mod delimiter;
mod header;
mod plain;
mod value;
mod row;
mod untyped;

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

use annals::{Error, ErrorKind, Result};

pub use delimiter::parse as parse_delimiter;
use header::{CsvHeader, CsvKind};
pub use plain::Plain;
use record::RecordReader;
use row::decode;
pub use row::{Edge, Id, Node, Row};
pub(super) use untyped::{Looks, Samples, Untyped};
pub use value::{CellType, CsvField};

use crate::import::Checked;
use crate::import::unit::Place;

/// How a file is written, and what it does not say itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Between the cells: `,`, `;`, TAB or `|`; the one that stands most often in the header if left out.
    pub field_delimiter: Option<char>,
    /// Between the values of one list cell, and between labels. If left out it is `;`, or `,` where `;` stands between the
    /// cells.
    pub array_delimiter: Option<char>,
    /// Labels for all nodes of the file, besides those of the `:LABEL` column.
    pub labels: Vec<String>,
    /// The type of edges that have no `:TYPE` column or an empty cell in it; and the first label of nodes below a plain header.
    pub type_name: Option<String>,
    /// The header is plain, and these columns of it hold ids.
    pub plain: Option<Plain>,
}

/// The layout of rows, by their header and the options.
#[derive(Clone, Debug)]
pub struct Layout {
    header: CsvHeader,
    field_delimiter: char,
    array_delimiter: char,
    labels: Vec<String>,
    edge_type: Option<String>,
    header_sum: u64,
    /// The properties whose columns have no type in the title.
    untyped: BTreeSet<Arc<str>>,
}

impl Layout {
    /// Reads a header from a file of its own.
    /// Errors: `InvalidArgument` naming every problem of header or options, or if rows follow the header; `Io`.
    pub fn read(input: impl BufRead, options: &Options) -> Result<Layout> {
        let mut records = open(input, options)?;
        let layout = Layout::of(&mut records, options)?;
        match records.read()? {
            None => Ok(layout),
            Some(_) => {
                let line = records.place().line;
                let text = format!("csv header: expected nothing behind the header, found line {line}");
                Err(invalid(text))
            }
        }
    }

    fn of(records: &mut RecordReader<impl BufRead>, options: &Options) -> Result<Layout> {
        let field_delimiter = records.field_delimiter();
        let array_delimiter = delimiter::of_lists(field_delimiter, options.array_delimiter)?;
        let has_type = options.type_name.is_some();
        let header = match records.read()? {
            Some(Ok(record)) => CsvHeader::parse(record.fields(), has_type, options.plain.as_ref())?,
            Some(Err(refused)) => return Err(invalid(format!("csv header: {refused}"))),
            None => return Err(invalid("csv header: expected a header line, found an empty file")),
        };
        let is_typed = options.plain.is_some() && header.kind == CsvKind::Nodes;
        let type_name = options.type_name.iter().filter(|_| is_typed);
        let untyped = header.columns.iter().filter_map(header::Column::untyped).cloned().collect();
        Ok(Layout {
            header,
            untyped,
            field_delimiter,
            array_delimiter,
            labels: type_name.chain(&options.labels).cloned().collect(),
            edge_type: options.type_name.clone(),
            header_sum: records.place().sum.unwrap_or_default(),
        })
    }
}

/// The records of a file.
fn open<R: BufRead>(input: R, options: &Options) -> Result<RecordReader<R>> {
    if let Some(field_delimiter) = options.field_delimiter {
        // Order: the parser takes any byte for a delimiter.
        delimiter::of_lists(field_delimiter, options.array_delimiter)?;
    }
    RecordReader::new(input, options.field_delimiter)
}

fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

/// Reads the rows of one file in their order.
/// Shape: one item per row; a refused row does not end the reading, an outer error does.
/// Memory does not grow with the file: one row is held at a time, and it is bounded.
///
/// ```text
/// for row in RowReader::new(Source::open(path)?, &Options::default())? {
///     match row? {
///         Ok(Row::Node(node)) => …,
///         Ok(Row::Edge(edge)) => …,
///         Err(refused) => eprintln!("{refused}"),
///     }
/// }
/// ```
pub struct RowReader<R> {
    records: RecordReader<R>,
    layout: Layout,
    is_broken: bool,
}

impl<R: BufRead> RowReader<R> {
    /// Reads the header of `input`; the iterator gives the rows behind it.
    /// Errors: `InvalidArgument` naming every problem of header or options; `Io`.
    pub fn new(input: R, options: &Options) -> Result<RowReader<R>> {
        let mut records = open(input, options)?;
        let layout = Layout::of(&mut records, options)?;
        Ok(RowReader { records, layout, is_broken: false })
    }

    /// Reads rows from the first line on: their header is in another file.
    /// Errors: `Io`.
    pub fn without_header(input: R, layout: &Layout) -> Result<RowReader<R>> {
        let records = RecordReader::new(input, Some(layout.field_delimiter))?;
        Ok(RowReader { records, layout: layout.clone(), is_broken: false })
    }

    /// Refuses longer records than these. Units: bytes.
    pub fn set_bytes_max(&mut self, bytes_max: usize) {
        self.records.set_bytes_max(bytes_max);
    }

    /// The sum over the lines of the header.
    pub fn header_sum(&self) -> u64 {
        self.layout.header_sum
    }

    /// The input of the rows.
    pub fn input(&self) -> &R {
        self.records.input()
    }

    /// The properties whose columns have no type in the title, without those of ids.
    pub fn untyped(&self) -> &BTreeSet<Arc<str>> {
        &self.layout.untyped
    }

    /// Between the values of one list cell.
    pub fn array_delimiter(&self) -> char {
        self.layout.array_delimiter
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
            Ok(Some(record)) => Some(Ok(record.and_then(|record| decode(&record, &self.layout)))),
            Err(error) => {
                self.is_broken = true;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests;
