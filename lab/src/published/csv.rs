//! A published page as CSV: one line for each figure, in tables and in the text.

use super::page::{Cell, Page, Table};

const HEAD: [&str; 8] = ["section", "table", "row", "column", "text", "value", "to", "unit"];

/// All figures of the page, and the words and marks of its tables.
pub fn csv(page: &Page) -> String {
    let mut csv = ::csv::Writer::from_writer(Vec::new());
    csv.write_record(HEAD).expect("memory takes all");
    let mut line = |[a, b, c, d, e]: [&str; 5], numbers: [Option<f64>; 2], unit: Option<&String>| {
        let [value, to] = numbers.map(|number| number.map_or(String::new(), |number| number.to_string()));
        let unit = unit.map_or("", String::as_str);
        csv.write_record([a, b, c, d, e, &value, &to, unit]).expect("memory takes all");
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
    let bytes = csv.into_inner().expect("memory takes all");
    String::from_utf8(bytes).expect("its fields are texts")
}

fn row_name(table: &Table, row: &[Cell]) -> String {
    row[..table.row_heads].iter().map(Cell::name).collect::<Vec<_>>().join(": ")
}
