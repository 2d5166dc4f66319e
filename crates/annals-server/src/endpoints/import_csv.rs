//! Imports of CSV: their parameters, and the rows of a body.

use annals::{Error, ErrorKind};
use annals_exchange::import::Source;
use annals_exchange::import::csv::{self, Layout, Plain, RowReader};

use crate::protocol::header_text::content_type;
use crate::protocol::names::CSV;
use crate::protocol::problem::Problem;
use crate::request::call::Call;

/// Parameters that only CSV has.
const OF_CSV: [&str; 4] = ["label", "delimiter", "arrayDelimiter", "header"];
/// The options that messages about headers name, as parameters. Order: an option before one that is a part of it.
const OPTIONS: [(&str, &str); 6] = [
    ("--array-delimiter", "parameter arrayDelimiter"),
    ("--delimiter", "parameter delimiter"),
    ("--id", "parameter id"),
    ("--from", "parameter from"),
    ("--to", "parameter to"),
    ("--type", "parameter type"),
];

/// How the rows of a body are read.
pub struct Rows {
    options: csv::Options,
    /// The header, if the rows have none.
    layout: Option<Layout>,
}

/// True if the body is CSV.
pub fn is_csv(call: &Call) -> bool {
    let media_type = content_type(&call.headers).split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case(CSV)
}

/// The special columns of a plain header, or members of plain objects.
///
/// Errors: `invalid-argument` for ids of entities beside ends of relationships.
pub fn plain(call: &Call) -> Result<Option<Plain>, Problem> {
    let given = |name: &'static str| call.query.get(name).map(str::to_owned);
    match (given("id"), given("from"), given("to")) {
        (Some(id), None, None) => Ok(Some(Plain::Nodes { id })),
        (None, Some(from), Some(to)) => Ok(Some(Plain::Edges { from, to })),
        (None, None, None) => Ok(None),
        _ => Err(no_plain()),
    }
}

/// The problem of parameters that do not go together.
pub fn no_plain() -> Problem {
    let text = "parameters id, from, to and type: expected id, or from and to, and beside them a type; or none of them \
                for lines of the native form";
    Problem::invalid(text).with("parameter", "id")
}

/// Refuses the parameters of CSV for other bodies.
///
/// Errors: `invalid-argument`.
pub fn refuse_parameters(call: &Call) -> Result<(), Problem> {
    let Some(name) = OF_CSV.into_iter().find(|name| call.query.get(name).is_some()) else { return Ok(()) };
    let text = format!("parameter {name}: expected a body of {CSV}, found lines of JSON; leave it out");
    Err(Problem::invalid(text).with("parameter", name))
}

impl Rows {
    /// Errors: `invalid-argument` for parameters that do not go together, or a wrong header in them.
    pub fn of(call: &Call) -> Result<Rows, Problem> {
        let delimiter = |name: &'static str| {
            let parsed =
                call.query.get(name).map(|text| csv::parse_delimiter(&format!("parameter {name}"), text));
            parsed.transpose()
        };
        let options = csv::Options {
            field_delimiter: delimiter("delimiter")?,
            array_delimiter: delimiter("arrayDelimiter")?,
            labels: call.query.all("label").map(str::to_owned).collect(),
            type_name: call.query.get("type").map(str::to_owned),
            plain: plain(call)?,
        };
        let header = call.query.get("header");
        let layout = header.map(|header| Layout::read(header.as_bytes(), &options)).transpose();
        Ok(Rows { layout: layout.map_err(of_parameters)?, options })
    }

    /// The rows of a body, its header read.
    ///
    /// Errors: what is wrong with the header; `Io`.
    pub fn open(&self, source: Source) -> annals::Result<RowReader<Source>> {
        match &self.layout {
            Some(layout) => RowReader::without_header(source, layout),
            None => RowReader::new(source, &self.options).map_err(of_parameters),
        }
    }
}

/// The same error in the words of parameters.
fn of_parameters(error: Error) -> Error {
    if error.kind() != ErrorKind::InvalidArgument {
        return error;
    }
    let text = OPTIONS
        .iter()
        .fold(error.text().to_owned(), |text, (option, parameter)| text.replace(option, parameter));
    Error::new(ErrorKind::InvalidArgument, text)
}
