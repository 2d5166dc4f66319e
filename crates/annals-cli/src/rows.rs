//! Prints answers as rows of the columns that a user chose: a table, CSV, TSV, or JSON.

use std::collections::BTreeSet;

use annals::{Error, ErrorKind, Header, Result, nearest_name};
use annals_exchange::export::{CellText, RowFormat, RowText, cell_of};
use annals_exchange::text::{count, one_line, value_to_text, visible_json};
use annals_json::Object;
use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use crate::columns::{AnswerColumn, COLUMNS_MAX, Cell, Layout, Shows, columns_of, properties_at};
use crate::context::Context;
use crate::place::{Answer, AnswerLine};
use crate::shown::value_of;
use crate::stop::Outcome;
use crate::table::Table;

/// Most text of items that are kept until the names of all their properties are known. Units: bytes.
const KEPT_BYTES_MAX: usize = 256 << 20;
/// Most names of properties that a hint compares.
const SEEN_NAMES_MAX: usize = 1_000;

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
    /// Aligned columns, for people
    Table,
    /// Commas between cells, as RFC 4180 describes it
    Csv,
    /// Tabs between cells; \t, \n, \r and \\ stand for themselves
    Tsv,
    /// A line of JSON for each item, as with --json, but only with the columns
    Json,
}

/// The columns of rows.
#[derive(Args, Clone, Debug)]
pub struct ColumnsArguments {
    /// Print these columns: properties, @headers such as @type or @updated.author, and * for all properties, with commas
    /// between them; a name with a comma is in double quotes
    #[arg(long, value_name = "COLUMN,…", help_heading = "Output")]
    pub columns: Option<String>,
    /// CSV and TSV for people who open it in a spreadsheet: a text that begins like a formula (= + - @) gets an apostrophe
    /// before it, and control characters are escaped
    #[arg(long = "spreadsheet", help_heading = "Output")]
    pub is_for_spreadsheets: bool,
}

/// The columns of rows, and their format.
#[derive(Args, Clone, Debug)]
pub struct RowsArguments {
    #[command(flatten)]
    pub columns: ColumnsArguments,
    /// Print rows in this format
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<FormatArgument>,
}

impl RowsArguments {
    /// The rows to print; `None` for the usual answer, also in JSON. `usual` are the columns if the user names none.
    ///
    /// Errors: as [`ColumnsArguments::rows`].
    pub fn rows(&self, context: &mut Context, layout: &Layout, usual: &str) -> Result<Option<AnswerRows>> {
        self.columns.rows(context, self.format, layout, usual)
    }

    /// Refuses columns and a format for an answer that has no rows.
    ///
    /// Errors: `InvalidArgument`.
    pub fn refuse_beside(&self, argument: &str) -> Result<()> {
        self.columns.refuse_beside(self.format, argument)
    }
}

impl ColumnsArguments {
    /// The same for a command with formats of its own.
    ///
    /// Errors: `InvalidArgument` for an unknown header, and for arguments that exclude each other.
    pub fn rows(
        &self,
        context: &mut Context,
        format: Option<FormatArgument>,
        layout: &Layout,
        usual: &str,
    ) -> Result<Option<AnswerRows>> {
        let format = self.printed(context, format)?;
        let columns = match (&self.columns, format) {
            (Some(columns), _) => columns_of(columns, layout)?,
            (None, Printed::Text(_)) => columns_of(usual, layout)?,
            (None, _) => return Ok(None),
        };
        Ok(Some(AnswerRows::new(context, columns, format)))
    }

    /// The format of rows.
    ///
    /// Errors: `InvalidArgument` for arguments that exclude each other.
    pub fn printed(&self, context: &mut Context, format: Option<FormatArgument>) -> Result<Printed> {
        let invalid = |text: &str| Err(Error::new(ErrorKind::InvalidArgument, text.to_owned()));
        let row_format = match format {
            None | Some(FormatArgument::Table) => None,
            Some(FormatArgument::Json) => {
                context.output.set_json();
                None
            }
            Some(FormatArgument::Csv) => Some(RowFormat::Csv),
            Some(FormatArgument::Tsv) => Some(RowFormat::Tsv),
        };
        if context.output.is_json() && !matches!(format, None | Some(FormatArgument::Json)) {
            return invalid("--format: expected no --json beside it, found both; leave one out");
        }
        let text = match (self.is_for_spreadsheets, context.output.is_terminal()) {
            (true, _) => CellText::ForSpreadsheets,
            (false, true) => CellText::Visible,
            (false, false) => CellText::Exact,
        };
        Ok(match row_format {
            Some(format) => Printed::Text(RowText { format, text }),
            None if self.is_for_spreadsheets => {
                return invalid("--spreadsheet: expected --format csv or tsv beside it, found none; add one");
            }
            None if context.output.is_json() => Printed::Json,
            None => Printed::Table,
        })
    }

    /// The format of groups, which have columns of their own.
    ///
    /// Errors: `InvalidArgument` if the user names columns; those of [`ColumnsArguments::printed`].
    pub fn printed_groups(&self, context: &mut Context, format: Option<FormatArgument>) -> Result<Printed> {
        if self.columns.is_some() {
            let text = "--columns: expected none beside --group-by, --sum, --min and --max, whose answer has columns of its own; \
                        leave it out";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        self.printed(context, format)
    }

    /// Refuses columns, and a format of rows, for an answer that has no rows.
    ///
    /// Errors: `InvalidArgument`.
    pub fn refuse_beside(&self, format: Option<FormatArgument>, argument: &str) -> Result<()> {
        let is_of_rows = matches!(format, Some(FormatArgument::Csv | FormatArgument::Tsv));
        let name = match self.columns {
            Some(_) => "--columns",
            None if is_of_rows => "--format",
            None if self.is_for_spreadsheets => "--spreadsheet",
            None => return Ok(()),
        };
        let text =
            format!("{name}: expected no {argument} beside it, whose answer has no rows; leave one out");
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }
}

/// How rows are printed.
#[derive(Clone, Copy, Debug)]
pub enum Printed {
    /// As a table for people.
    Table,
    /// As JSON.
    Json,
    /// As lines of text for programs.
    Text(RowText),
}

/// Rows that are printed while they come.
pub struct AnswerRows {
    columns: Vec<AnswerColumn>,
    printed: Printed,
    table: Table,
    /// The text of an empty cell of a table.
    missing: &'static str,
    /// Items in JSON that wait until the names of all properties are known, if a column asks for all.
    kept: Option<Kept>,
    /// True once the titles are printed.
    is_begun: bool,
    rows_count: u64,
    /// For each column, true once a row had something there.
    is_used: Vec<bool>,
    /// Names of properties that items have.
    seen: BTreeSet<String>,
}

#[derive(Default)]
struct Kept {
    items: Vec<Vec<u8>>,
    bytes: usize,
    /// The paths of objects with properties, and the names of the properties.
    names: BTreeSet<(String, String)>,
}

impl AnswerRows {
    /// Rows of these columns.
    pub fn new(context: &Context, columns: Vec<AnswerColumn>, printed: Printed) -> AnswerRows {
        let is_of_all = columns.iter().any(|column| matches!(column.shows, Shows::All(_)));
        let kept = (is_of_all && !matches!(printed, Printed::Json)).then(Kept::default);
        let table = Table::of_columns(titles(&columns), context.output.has_colours());
        let is_used = vec![false; columns.len()];
        let (missing, seen) = ("", BTreeSet::new());
        AnswerRows { columns, printed, table, missing, kept, is_begun: false, rows_count: 0, is_used, seen }
    }

    /// With this text in cells of a table that have nothing.
    #[must_use]
    pub fn with_missing(self, missing: &'static str) -> AnswerRows {
        AnswerRows { missing, ..self }
    }

    /// True if they are JSON.
    pub fn is_json(&self) -> bool {
        matches!(self.printed, Printed::Json)
    }

    /// True if no item came.
    pub fn is_empty(&self) -> bool {
        self.rows_count == 0
    }

    /// True if a table for people shows them.
    pub fn is_table(&self) -> bool {
        matches!(self.printed, Printed::Table)
    }

    /// True if a column shows a member that begins with this name.
    pub fn asks_for(&self, name: &str) -> bool {
        self.columns.iter().any(|column| match &column.shows {
            Shows::Member(path) | Shows::Property(path, _) | Shows::All(path) => path.starts_with(name),
            Shows::Side(..) | Shows::Leaf => false,
        })
    }

    /// Prints an item.
    ///
    /// Errors: `TooLarge` for more items than can be kept, if a column asks for all properties.
    pub fn item(&mut self, context: &mut Context, item: &Json) -> Outcome {
        self.rows_count += 1;
        if self.is_json() {
            let copied = self.copied(item, |_| true);
            return json_line(context, &Json::Object(copied));
        }
        if let Some(kept) = &mut self.kept {
            return Ok(kept.keep(&self.columns, item)?);
        }
        self.row(context, item)
    }

    /// Prints the items of an answer as they come; returns the cursor of the next page, if there is one.
    pub fn take(&mut self, context: &mut Context, answer: &mut Answer) -> Outcome<Option<String>> {
        while let Some(line) = answer.line()? {
            match line {
                AnswerLine::Next(next) => return Ok(Some(next)),
                AnswerLine::Item(line) => {
                    let item = serde_json::from_slice(&line);
                    self.item(context, &item.map_err(|error| Error::io("read an answer", error.into()))?)?;
                }
            }
        }
        Ok(None)
    }

    /// The members that columns show, those of some paths.
    pub fn copied(&self, item: &Json, is_wanted: impl Fn(&str) -> bool) -> Object {
        let mut copied = Object::new();
        for column in &self.columns {
            let is_wanted = match &column.shows {
                Shows::Member(path) | Shows::Property(path, _) | Shows::All(path) => is_wanted(path),
                Shows::Side(..) | Shows::Leaf => is_wanted(""),
            };
            if is_wanted {
                column.copy(item, &mut copied);
            }
        }
        copied
    }

    fn row(&mut self, context: &mut Context, item: &Json) -> Outcome {
        let cells: Vec<Option<Cell>> = self.columns.iter().map(|column| column.cell(item)).collect();
        for (number, cell) in cells.iter().enumerate() {
            self.is_used[number] |= cell.is_some();
        }
        if !self.is_used.iter().all(|is_used| *is_used) {
            self.note_names(item);
        }
        match self.printed {
            Printed::Text(text) => {
                self.begin(context, text)?;
                let cells = cells.into_iter().map(|cell| cell.map(exact_text).unwrap_or_default());
                context.output.text(&text.line(cells))
            }
            _ => {
                let missing = self.missing;
                let cell = |cell: Option<Cell>| cell.map_or_else(|| missing.to_owned(), shown_text);
                let cells: Vec<String> = cells.into_iter().map(cell).collect();
                context.output.row(&mut self.table, cells)
            }
        }
    }

    fn note_names(&mut self, item: &Json) {
        for column in &self.columns {
            let Shows::Property(path, _) = &column.shows else { continue };
            for name in properties_at(item, path).into_iter().flat_map(Object::keys) {
                if self.seen.len() < SEEN_NAMES_MAX && !self.seen.contains(name) {
                    self.seen.insert(name.clone());
                }
            }
        }
    }

    fn begin(&mut self, context: &mut Context, text: RowText) -> Outcome {
        if std::mem::replace(&mut self.is_begun, true) {
            return Ok(());
        }
        context.output.text(&text.line(self.columns.iter().map(|column| column.title.clone())))
    }

    /// Prints the remaining rows, and how to get the next page: CSV and TSV have only rows.
    pub fn end(mut self, context: &mut Context, argument: &str, next: Option<Json>) -> Outcome {
        if let Some(kept) = self.kept.take() {
            self.columns = kept.columns(&self.columns)?;
            self.table = Table::of_columns(titles(&self.columns), context.output.has_colours());
            self.is_used = vec![false; self.columns.len()];
            for text in kept.items {
                let item = serde_json::from_slice(&text);
                self.row(context, &item.map_err(|error| Error::io("read an item", error.into()))?)?;
            }
        }
        match self.printed {
            Printed::Json => {
                return next.map_or(Ok(()), |next| context.output.json(&json!({ "next": next })));
            }
            Printed::Text(text) => self.begin(context, text)?,
            Printed::Table => {
                context.output.table(&mut self.table)?;
                context.output.end_list();
            }
        }
        self.print_hints();
        let Some(next) = next else { return Ok(()) };
        let next = next.as_str().map_or_else(|| next.to_string(), str::to_owned);
        match self.printed {
            Printed::Table => context.output.line(format!("more: {argument} {next}")),
            _ => {
                context.output.flush()?;
                tell!("more: {argument} {next}");
                Ok(())
            }
        }
    }

    /// Says of which properties no row has one: their names may be wrong.
    fn print_hints(&self) {
        let names = self.columns.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used);
        for (column, _) in names.filter(|_| self.rows_count > 0) {
            let Shows::Property(_, name) = &column.shows else { continue };
            let meant = match Header::named(name) {
                Some(header) => Some(format!("@{}", header.name())),
                None => nearest_name(name, self.seen.iter().map(String::as_str)).map(str::to_owned),
            };
            let meant = meant.map(|name| format!("; did you mean {}?", one_line(&name))).unwrap_or_default();
            let rows = count(self.rows_count);
            tell!("hint: column {}: it is empty in all rows ({rows}){meant}", one_line(&column.title));
        }
    }
}

impl Kept {
    fn keep(&mut self, columns: &[AnswerColumn], item: &Json) -> Result<()> {
        for column in columns {
            let Shows::All(path) = &column.shows else { continue };
            for name in properties_at(item, path).into_iter().flat_map(Object::keys) {
                let name = (path.clone(), name.clone());
                if !self.names.contains(&name) {
                    self.names.insert(name);
                }
            }
        }
        let text = item.to_string().into_bytes();
        self.bytes += text.len();
        self.items.push(text);
        let too_large = |text: String| Err(Error::new(ErrorKind::TooLarge, text));
        if self.bytes > KEPT_BYTES_MAX {
            return too_large(format!(
                "column *: expected items of at most {KEPT_BYTES_MAX} bytes, because their columns are known at the end, found \
                 more; name the columns with --columns, or ask for fewer"
            ));
        }
        if self.names.len() > COLUMNS_MAX {
            return too_large(format!(
                "column *: expected at most {COLUMNS_MAX} properties with different names, found more; name the columns with \
                 --columns"
            ));
        }
        Ok(())
    }

    /// The columns, with one for each property in the place of all: those that have no column of their own.
    fn columns(&self, columns: &[AnswerColumn]) -> Result<Vec<AnswerColumn>> {
        let mut all = Vec::new();
        for column in columns {
            let Shows::All(path) = &column.shows else {
                all.push(column.clone());
                continue;
            };
            let prefix = column.title.strip_suffix('*').unwrap_or_default();
            let names = self.names.iter().filter(|(of, _)| of == path);
            let new = names.map(|(path, name)| AnswerColumn {
                title: format!("{prefix}{name}"),
                shows: Shows::Property(path.clone(), name.clone()),
            });
            all.extend(new.filter(|new| !columns.iter().any(|column| column.shows == new.shows)));
        }
        Ok(all)
    }
}

fn titles(columns: &[AnswerColumn]) -> Vec<String> {
    columns.iter().map(|column| one_line(&column.title)).collect()
}

/// A line of JSON. A terminal gets no control characters.
pub fn json_line(context: &mut Context, json: &Json) -> Outcome {
    let text = json.to_string();
    let text = if context.output.is_terminal() { visible_json(&text) } else { text };
    context.output.json_line(text.as_bytes())
}

/// The text of a cell for programs.
fn exact_text(cell: Cell) -> String {
    match cell {
        Cell::Member(json) => member_text(json),
        Cell::Value(json) => cell_of(&value_of(json)),
    }
}

/// The text of a cell for people, on one line.
fn shown_text(cell: Cell) -> String {
    match cell {
        Cell::Member(json) => one_line(&member_text(json)),
        Cell::Value(json) => value_to_text(&value_of(json)),
    }
}

fn member_text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}
