//! A published page as CSV: one line for each figure, in tables and in the text.

use std::fmt::Write;

use super::page::{Page, Table};

const HEAD: &str = "section,table,row,column,text,value,to,unit\n";

/// All figures of the page, and the words and marks of its tables.
pub fn csv(page: &Page) -> String {
    let mut csv = String::from(HEAD);
    let mut line = |fields: [&str; 5], numbers: [Option<f64>; 2], unit: Option<&String>| {
        fields.iter().for_each(|field| csv += &format!("{},", quoted(field)));
        let [value, to] = numbers.map(|number| number.map_or(String::new(), |number| number.to_string()));
        let _ = writeln!(csv, "{value},{to},{}", quoted(unit.map_or("", String::as_str)));
    };
    for fact in &page.environment {
        for figure in &fact.figures {
            let what = format!("{}: {}", fact.what, figure.what);
            let fields = ["Environment", "", &what, "", &figure.text];
            line(fields, [figure.value, figure.to], figure.unit.as_ref());
        }
    }
    for section in &page.sections {
        for figure in &section.figures {
            let fields = [&section.heading, "", &figure.what, "", &figure.text];
            line(fields, [figure.value, figure.to], figure.unit.as_ref());
        }
        for table in &section.tables {
            for row in &table.rows {
                let name = row_name(table, row);
                for (column, cell) in table.columns.iter().zip(row).skip(table.row_heads) {
                    let fields = [&section.heading, &table.name, &name, column.name(), &cell.text];
                    line(fields, [cell.value, None], cell.unit.as_ref());
                }
            }
        }
    }
    csv
}

fn row_name(table: &Table, row: &[super::Cell]) -> String {
    row[..table.row_heads].iter().map(super::Cell::name).collect::<Vec<_>>().join(": ")
}

/// A field, in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
