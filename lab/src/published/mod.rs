//! The performance pages of five other projects, as data, and their rendering.

// In the order a newcomer should read them.
mod page;
mod samples;
mod interval;
mod drawn;
mod written;
mod csv;
#[cfg(test)]
mod tests;

pub use page::{Cell, Table, page};
pub use written::write_pages;

use page::{Fact, Figure};

use crate::report::plot::number;

/// The introduction of every page.
const ABOUT: &str = "\
Other people measured these figures, on their machines: none of them compares with a figure of ours. Headings, tables and \
figures are as printed there; sentences say in short, in our words, what the page says.";
/// Below an image whose figures are nowhere else.
const NOT_IN_TEXT: &str = "The text of the page does not have its figures, so they are not transcribed.";

/// The number of a figure with its unit; nothing if the page has it in words.
fn figure_value(figure: &Figure) -> String {
    let (Some(value), Some(unit)) = (figure.value, &figure.unit) else { return String::new() };
    let to = figure.to.map_or(String::new(), |to| format!(" to {}", number(to)));
    format!("{}{to} {unit}", number(value))
}

/// The numbers of a fact.
fn fact_values(fact: &Fact) -> String {
    let value = |figure: &Figure| {
        let is_named = figure.what == fact.what || figure.unit.as_ref() == Some(&figure.what);
        let name = if is_named { String::new() } else { format!("{} ", figure.what) };
        name + &figure_value(figure)
    };
    fact.figures.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The notes of a table: its units, and the meanings of its heads and marks.
fn notes(table: &Table) -> Vec<String> {
    let heads = table.columns.iter().filter(|column| !column.text.is_empty() && !column.meaning.is_empty());
    let heads = heads.map(|column| format!("{}: {}.", column.text, column.meaning));
    let marks = table.marks.iter().map(|(mark, meaning)| {
        let mark = if mark.is_empty() { "Empty" } else { mark };
        format!("{mark}: {meaning}.")
    });
    units(table).into_iter().chain(heads).chain(marks).chain(table.notes.iter().cloned()).collect()
}

/// A sentence with the units of a table, if it has numbers.
fn units(table: &Table) -> Option<String> {
    let mut units: Vec<&str> = table.columns.iter().filter_map(|column| column.unit.as_deref()).collect();
    units.dedup();
    match units[..] {
        [] => None,
        [unit] => Some(format!("Units: {unit}.")),
        _ => {
            let named = table.columns.iter().filter_map(|column| {
                let name = if column.meaning.is_empty() { &column.text } else { &column.meaning };
                Some(format!("{name} in {}", column.unit.as_ref()?))
            });
            Some(format!("Units: {}.", named.collect::<Vec<_>>().join(", ")))
        }
    }
}
