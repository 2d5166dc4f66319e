//! Reads the options for files of CSV.

use std::io::Read;
use std::path::{Path, PathBuf};

use annals::{Error, ErrorKind, Result};
use annals_exchange::import::Source;
use annals_exchange::import::csv::{self, Plain, RowReader};
use clap::Args;

use crate::request::Request;
use crate::stop::{Outcome, Stop};

/// Options of CSV.
#[derive(Args, Debug)]
#[command(next_help_heading = "CSV, and plain objects of JSON")]
pub struct CsvArguments {
    /// Between the cells: , ; | or tab [default: tab for .tsv, else the one that stands most often in the header]
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,
    /// Between the values of a list, and between labels [default: ; or , where ; stands between the cells]
    #[arg(long, value_name = "CHARACTER")]
    array_delimiter: Option<String>,
    /// The header of all files, which then have none
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// The header is plain, the rows are entities, and this is the column of their ids; COLUMN(GROUP) puts GROUP: in
    /// front of them. For JSON the same with plain objects and their members
    #[arg(long, value_name = "COLUMN", conflicts_with = "from")]
    id: Option<String>,
    /// The header is plain, the rows are relationships, and this column has the ids they lead from
    #[arg(long, value_name = "COLUMN", requires = "to")]
    from: Option<String>,
    /// The column of the ids they lead to
    #[arg(long, value_name = "COLUMN", requires = "from")]
    to: Option<String>,
    /// The type of relationships that have none in the file; with --id, that of the entities
    #[arg(long = "type", value_name = "TYPE")]
    type_name: Option<String>,
    /// Label for all entities, before those of the file; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
}

/// Options of these that plain objects of JSON have, too.
pub const PLAIN_OPTIONS: [&str; 4] = ["--id", "--from", "--to", "--type"];

impl CsvArguments {
    /// The options that are given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            (self.delimiter.is_some(), "--delimiter"),
            (self.array_delimiter.is_some(), "--array-delimiter"),
            (self.header.is_some(), "--header"),
            (!self.labels.is_empty(), "--label"),
            (self.id.is_some(), "--id"),
            (self.from.is_some(), "--from"),
            (self.to.is_some(), "--to"),
            (self.type_name.is_some(), "--type"),
        ];
        all.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// The special columns of a plain header, or members of plain objects.
    pub fn plain(&self) -> Option<Plain> {
        let nodes = self.id.clone().map(|id| Plain::Nodes { id });
        nodes.or_else(|| {
            let ends = self.from.clone().zip(self.to.clone());
            ends.map(|(from, to)| Plain::Edges { from, to })
        })
    }

    /// The type of all rows or objects.
    pub fn type_name(&self) -> Option<String> {
        self.type_name.clone()
    }
}

/// The options for files of CSV, and their common header.
pub struct Header {
    options: csv::Options,
    /// The header in a file of its own, if there is one, and its text.
    layout: Option<(csv::Layout, String)>,
}

/// Longest header in a file of its own that is sent to a server. Units: bytes.
const HEADER_SENT_MAX: usize = 16 << 10;
/// Longest header: a longer one is refused when it is read. Units: bytes.
const HEADER_BYTES_MAX: u64 = 32 << 20;

impl Header {
    /// Errors: what is wrong with the options, or with a header in a file of its own.
    pub fn read(arguments: &CsvArguments) -> Outcome<Header> {
        let delimiter = |option, name: &Option<String>| {
            name.as_deref().map(|name| csv::parse_delimiter(option, name)).transpose()
        };
        let options = csv::Options {
            field_delimiter: delimiter("--delimiter", &arguments.delimiter)?,
            array_delimiter: delimiter("--array-delimiter", &arguments.array_delimiter)?,
            labels: arguments.labels.clone(),
            type_name: arguments.type_name.clone(),
            plain: arguments.plain(),
        };
        let mut header = Header { options, layout: None };
        if let Some(path) = &arguments.header {
            let layout = read_whole(path)
                .and_then(|text| Ok((csv::Layout::read(text.as_bytes(), &header.options_of(path))?, text)));
            header.layout = Some(layout.map_err(|error| Stop::from(error).in_file(path))?);
        }
        Ok(header)
    }

    fn options_of(&self, path: &Path) -> csv::Options {
        let is_tsv = path.to_str().and_then(extension) == Some("tsv");
        let field_delimiter = self.options.field_delimiter.or(is_tsv.then_some('\t'));
        csv::Options { field_delimiter, ..self.options.clone() }
    }

    /// The rows of a file, its header read.
    ///
    /// Errors: what is wrong with the header.
    pub fn rows(&self, path: &Path, source: Source) -> Result<RowReader<Source>> {
        match &self.layout {
            Some((layout, _)) => RowReader::without_header(source, layout),
            None => RowReader::new(source, &self.options_of(path)),
        }
    }

    /// The parameters that say to a server how to read the rows of a file.
    ///
    /// Errors: `TooLarge` for a long header in a file of its own.
    pub fn described(&self, request: Request, path: &Path) -> Result<Request> {
        let options = self.options_of(path);
        let header = self.layout.as_ref().map(|(_, text)| text);
        if header.is_some_and(|text| text.len() > HEADER_SENT_MAX) {
            let text = format!("--header: expected at most {HEADER_SENT_MAX} bytes for a server, found more");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        Ok(request
            .with_all("label", options.labels)
            .with_all("delimiter", options.field_delimiter)
            .with_all("arrayDelimiter", options.array_delimiter)
            .with_all("header", header))
    }
}

/// The text of a file with a header.
fn read_whole(path: &Path) -> Result<String> {
    let mut text = Vec::new();
    let read = Source::open(path)?.take(HEADER_BYTES_MAX).read_to_end(&mut text);
    read.map_err(|error| Error::io("read input", error))?;
    String::from_utf8(text).map_err(|_| {
        Error::new(ErrorKind::InvalidArgument, "csv header: line 1: expected UTF-8, found other bytes")
    })
}

/// The end of a name, that of a packed file left off.
pub fn extension(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".gz").unwrap_or(file);
    Path::new(name).extension()?.to_str()
}
