//! Reads the options for files of CSV.

use std::path::{Path, PathBuf};

use annals::Result;
use annals_exchange::import::Source;
use annals_exchange::import::csv::{self, Plain, RowReader};
use clap::Args;

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
    /// The header in a file of its own, if there is one.
    layout: Option<csv::Layout>,
}

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
            let layout =
                Source::open(path).and_then(|source| csv::Layout::read(source, &header.options_of(path)));
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
            Some(layout) => RowReader::without_header(source, layout),
            None => RowReader::new(source, &self.options_of(path)),
        }
    }
}

/// The end of a name, that of a packed file left off.
pub fn extension(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".gz").unwrap_or(file);
    Path::new(name).extension()?.to_str()
}
