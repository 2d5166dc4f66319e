//! A published page as Markdown.

use std::fmt::Write;

use super::drawn::Drawn;
use super::page::{Cell, Page, Section, Table};
use super::{ABOUT, NOT_IN_TEXT, fact_values, figure_value, notes};
use crate::run::page::escaped;
use crate::run::table::aligned;

/// The page. `file` gives the name of the file with a plot.
pub fn markdown(page: &Page, drawn: &[Drawn], file: &dyn Fn(&Drawn) -> String) -> String {
    let mut text = format!(
        "# {}\n\n*Published there.* {}. {}.\n\n{}\n\n{ABOUT}\n\n## Environment\n\n",
        page.title, page.project, page.source, page.measured
    );
    let facts = page.environment.iter().map(|fact| [fact.what.clone(), fact.text.clone(), fact_values(fact)]);
    text += &words(["what", "as stated", "numbers"], facts);
    for section in &page.sections {
        text += &section_markdown(section, drawn, file);
    }
    let left_out: String = page.omitted.iter().map(|text| format!("- {text}\n")).collect();
    text + &format!("\n## Transcribed here\n\n{} Left out:\n\n{left_out}", page.totals.text())
}

fn section_markdown(section: &Section, drawn: &[Drawn], file: &dyn Fn(&Drawn) -> String) -> String {
    let mut text = format!("\n{} {}\n", "#".repeat(section.level), section.heading);
    if !section.says.is_empty() {
        let _ = write!(text, "\n{}", items(&section.says));
    }
    if !section.figures.is_empty() {
        let figures = section
            .figures
            .iter()
            .map(|figure| [figure.what.clone(), figure.text.clone(), figure_value(figure)]);
        let _ = write!(text, "\n{}", words(["what", "as printed", "number"], figures));
    }
    for chart in &section.charts {
        let missing = if chart.in_text { "" } else { NOT_IN_TEXT };
        let _ = writeln!(text, "\nImage of the page: {}. {missing}", chart.what);
        if let Some(drawn) = drawn.iter().find(|drawn| drawn.name == chart.name && drawn.whole.is_some()) {
            let _ = writeln!(text, "\n{}\n\n![{}]({})", drawn.about, drawn.heading, file(drawn));
        }
    }
    text + &section.tables.iter().map(table_markdown).collect::<String>()
}

fn items(texts: &[String]) -> String {
    match texts {
        [text] => format!("{text}\n"),
        texts => texts.iter().map(|text| format!("- {text}\n")).collect(),
    }
}

/// A table of words. A last column without a word is left out.
fn words<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = rows.map(|row| row.map(|text| escaped(&text))).collect();
    let width = if rows.iter().all(|row| row[N - 1].is_empty()) { N - 1 } else { N };
    let heads = heads[..width].iter().map(|text| (*text).to_owned()).collect();
    let lines = rows.iter().map(|row| row[..width].to_vec());
    aligned(&[heads].into_iter().chain(lines).collect::<Vec<_>>())
}

fn table_markdown(table: &Table) -> String {
    let heads = table.columns.iter().map(|column| escaped(&column.text)).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(cell_markdown).collect());
    let lines: Vec<Vec<String>> = [heads].into_iter().chain(rows).collect();
    let mut text = format!("\n**{}**\n\n{}", table.caption, aligned(&lines));
    let notes: String = notes(table).iter().map(|note| format!("- {}\n", escaped(note))).collect();
    if !notes.is_empty() {
        let _ = write!(text, "\n{notes}");
    }
    text
}

/// Colours have words here.
fn cell_markdown(cell: &Cell) -> String {
    let text = escaped(&cell.text);
    if cell.colour.is_empty() { text } else { format!("{text} {}", cell.meaning) }
}
