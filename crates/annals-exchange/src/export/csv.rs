//! Writes neo4j-admin style CSV: one file of nodes for each type, one file of relationships for each type.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use annals::storage::private_files;
use annals::{Error, Find, Result, Snapshot, TypeKind, Value};
use annals_json::{LINE_COLUMN, line_beside, value_to_json};
use csv::WriterBuilder;

use super::graph_text::{TypeNames, is_json, note_types};
use super::instance_line::InstanceLines;
use super::{PAGE, Selection, each_entity, each_relationship, instances_count};
use crate::text::{one_line, value_to_text};
use crate::{Outcome, Progress, Stop};

const ARRAY_DELIMITER: char = ';';
const BUFFER_BYTES: usize = 256 * 1024;

/// Writes `nodes-TYPE.csv` and `relationships-TYPE.csv` into a folder. It reads each type twice: for the columns, and
/// for the rows. Fields without a column of neo4j, such as statuses and homes, are in an extra column that neo4j skips.
/// Files for spreadsheets hold no formulas and no control characters; an import of them would not bring back such texts.
pub fn export_csv(
    snapshot: &Snapshot,
    selection: &Selection,
    folder: &Path,
    is_for_spreadsheets: bool,
    progress: &dyn Progress,
) -> Result<()> {
    private_files::create_folder(folder).map_err(|error| file_error(folder, error))?;
    let total = 2 * instances_count(snapshot);
    let mut done = 0;
    let mut tick = || {
        done += 1;
        progress.set(done, Some(total));
    };
    for kind in [TypeKind::Entity, TypeKind::Relationship] {
        for type_name in types(snapshot, kind)? {
            if !selection.is_everything() && !selection.types.iter().any(|name| **name == *type_name) {
                continue;
            }
            let path = folder.join(csv_file_name(kind, &type_name));
            let mut file = private_files::create_or_empty(&path).map_err(|error| file_error(&path, error))?;
            let rows = CsvRows { kind, type_name: &type_name, is_for_spreadsheets };
            rows.write(snapshot, &mut file, &mut tick).map_err(|stop| match stop {
                Stop::Failed(error) | Stop::Refused(error) => error,
                Stop::Output(error) => file_error(&path, error),
                Stop::AtRefusal => unreachable!("an export refuses no lines"),
            })?;
            file.sync_all().map_err(|error| file_error(&path, error))?;
        }
    }
    Ok(())
}

/// The name of the file with the rows of a type.
pub fn csv_file_name(kind: TypeKind, type_name: &str) -> String {
    let prefix = if kind == TypeKind::Relationship { "relationships" } else { "nodes" };
    format!("{prefix}-{}.csv", file_name_part(type_name))
}

/// The rows of one type, without its subtypes.
#[derive(Clone, Copy, Debug)]
pub struct CsvRows<'t> {
    /// Entities or relationships.
    pub kind: TypeKind,
    /// Their type.
    pub type_name: &'t str,
    /// True for texts that a spreadsheet does not evaluate.
    pub is_for_spreadsheets: bool,
}

impl CsvRows<'_> {
    /// Writes the header and the rows; calls `tick` for each instance that it reads, twice.
    pub fn write(&self, snapshot: &Snapshot, to: &mut dyn Write, tick: &mut dyn FnMut()) -> Outcome {
        let lines = InstanceLines::new(snapshot);
        let writer = WriterBuilder::new().buffer_capacity(BUFFER_BYTES).from_writer(to);
        let mut writer = Writer { writer, is_for_spreadsheets: self.is_for_spreadsheets };
        match self.kind {
            TypeKind::Relationship => {
                write_relationships(snapshot, &lines, self.type_name, &mut writer, tick)?;
            }
            _ => write_nodes(snapshot, &lines, self.type_name, &mut writer, tick)?,
        }
        Ok(writer.writer.flush()?)
    }
}

/// The types of all instances, including proxies.
fn types(snapshot: &Snapshot, kind: TypeKind) -> Result<BTreeSet<String>> {
    let mut types: BTreeSet<String> =
        snapshot.counts(kind)?.into_iter().map(|(name, _)| name.to_string()).collect();
    if kind == TypeKind::Entity {
        each_entity::<Error>(snapshot, Find::all().with_proxies().limit(PAGE), |entity| {
            if entity.is_proxy() && !types.contains(entity.type_name()) {
                types.insert(entity.type_name().to_owned());
            }
            Ok(())
        })?;
    }
    Ok(types)
}

fn write_nodes(
    snapshot: &Snapshot,
    lines: &InstanceLines,
    type_name: &str,
    writer: &mut Writer,
    tick: &mut dyn FnMut(),
) -> Outcome {
    let find = Find::of(type_name).with_proxies().limit(PAGE);
    let mut columns = TypeNames::new();
    each_entity::<Stop>(snapshot, find.clone(), |entity| {
        tick();
        // Subtypes have files of their own.
        if entity.type_name() == type_name {
            note_types(&mut columns, entity.properties(), column_type);
        }
        Ok(())
    })?;
    writer.row([":ID", ":LABEL", LINE_COLUMN].map(str::to_owned).into_iter().chain(titles(&columns)))?;
    each_entity(snapshot, find, |entity| {
        tick();
        if entity.type_name() != type_name {
            return Ok(());
        }
        let mut labels = vec![entity.type_name().to_owned()];
        labels.extend(entity.classifications().map(|known| known.name().to_owned()));
        let cells = columns.iter().map(|(name, column)| cell(entity.property(name).as_ref(), column));
        let labels = labels.join(&ARRAY_DELIMITER.to_string());
        let line = line_beside(lines.entity(entity), &["id", "type", "properties"]);
        writer.row([entity.id().to_string(), labels, line].into_iter().chain(cells))
    })
}

fn write_relationships(
    snapshot: &Snapshot,
    lines: &InstanceLines,
    type_name: &str,
    writer: &mut Writer,
    tick: &mut dyn FnMut(),
) -> Outcome {
    let find = Find::of(type_name).limit(PAGE);
    let mut columns = TypeNames::new();
    each_relationship::<Stop>(snapshot, find.clone(), |relationship| {
        tick();
        if relationship.type_name() == type_name {
            note_types(&mut columns, relationship.properties(), column_type);
        }
        Ok(())
    })?;
    let fixed = [":START_ID", ":END_ID", ":TYPE", LINE_COLUMN].map(str::to_owned);
    writer.row(fixed.into_iter().chain(titles(&columns)))?;
    each_relationship(snapshot, find, |relationship| {
        tick();
        if relationship.type_name() != type_name {
            return Ok(());
        }
        let [from, to] = [relationship.from(), relationship.to()].map(ToString::to_string);
        let line = line_beside(lines.relationship(relationship)?, &["type", "from", "to", "properties"]);
        let fixed = [from, to, type_name.to_owned(), line];
        let cells = columns.iter().map(|(name, column)| cell(relationship.property(name).as_ref(), column));
        writer.row(fixed.into_iter().chain(cells))
    })
}

fn column_type(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "boolean",
        Value::Integer(_) => "long",
        Value::Float(_) => "double",
        Value::Date(_) => "date",
        Value::Timestamp(_) => "datetime",
        Value::Duration(_) => "duration",
        Value::List(values) => list_type(values.iter().cloned()),
        Value::Set(values) => list_type(values.iter()),
        _ => "string",
    }
}

/// The type of a list whose members have one type and contain no delimiter; otherwise text.
fn list_type(mut values: impl Iterator<Item = Value>) -> &'static str {
    let Some(first) = values.next() else { return "string" };
    let is_plain = |value: &Value| {
        value.is_scalar()
            && !is_json(value)
            && value.as_str().is_none_or(|text| !text.is_empty() && !text.contains(ARRAY_DELIMITER))
    };
    let member = column_type(&first);
    if !is_plain(&first) || values.any(|value| column_type(&value) != member || !is_plain(&value)) {
        return "string";
    }
    match member {
        "boolean" => "boolean[]",
        "long" => "long[]",
        "double" => "double[]",
        "date" => "date[]",
        "datetime" => "datetime[]",
        "duration" => "duration[]",
        _ => "string[]",
    }
}

fn titles(columns: &TypeNames) -> impl Iterator<Item = String> {
    columns.iter().map(|(name, column)| format!("{name}:{column}"))
}

fn cell(value: Option<&Value>, column: &str) -> String {
    match value {
        None => String::new(),
        Some(Value::List(values)) if column.ends_with("[]") => joined(values.iter().cloned()),
        Some(Value::Set(values)) if column.ends_with("[]") => joined(values.iter()),
        Some(value) if is_json(value) => value_to_json(value).to_string(),
        Some(value) => scalar(value),
    }
}

fn joined(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| scalar(&value)).collect::<Vec<_>>().join(&ARRAY_DELIMITER.to_string())
}

/// A scalar unchanged, including control characters: quotes keep them.
fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value_to_text(value), str::to_owned)
}

/// A type name as part of a file name.
fn file_name_part(name: &str) -> String {
    let is_safe = |one: char| one.is_alphanumeric() || "-_ .".contains(one);
    name.chars()
        .map(|one| if is_safe(one) { one.to_string() } else { format!("%{:02X}", u32::from(one)) })
        .collect()
}

struct Writer<'w> {
    writer: csv::Writer<&'w mut dyn Write>,
    is_for_spreadsheets: bool,
}

/// A cell that a spreadsheet shows and does not evaluate: a text that it would take for a formula gets an apostrophe
/// before it. Numbers stay.
/// Source: <https://owasp.org/www-community/attacks/CSV_Injection>.
pub(super) fn harmless(cell: String) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    let cell = if is_formula { format!("'{cell}") } else { cell };
    one_line(&cell)
}

impl Writer<'_> {
    fn row(&mut self, cells: impl Iterator<Item = String>) -> Outcome {
        let cells: Box<dyn Iterator<Item = String>> =
            if self.is_for_spreadsheets { Box::new(cells.map(harmless)) } else { Box::new(cells) };
        Ok(self.writer.write_record(cells).map_err(io::Error::from)?)
    }
}

fn file_error(path: &Path, error: io::Error) -> Error {
    Error::io("write the export", error).with("path", path.display())
}
