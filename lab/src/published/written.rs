//! A published page as a document, and the files of all of them.

use std::fs;
use std::path::Path;

use super::drawn::{Drawn, drawn};
use super::page::{Page, Section, Table, pages};
use super::{ABOUT, NOT_IN_TEXT, csv, fact_values, figure_value, notes};
use crate::outcome::Outcome;
use crate::report::document::{self, Block, Cell, Document, Mark};

/// Writes all pages into a folder, in HTML and Markdown with their plots, and as CSV, and prints the name of each file.
///
/// Shape: of each page its HTML file and its title.
pub fn write_pages(out: &Path) -> Outcome<Vec<(String, String)>> {
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut written = Vec::new();
    for page in pages() {
        let name = format!("published-{}", page.name);
        crate::report::write_document(out, &name, &document(page))?;
        crate::report::write(&out.join(format!("{name}.csv")), &csv::csv(page))?;
        written.push((format!("{name}.html"), format!("{}: {}", page.project, page.title)));
    }
    Ok(written)
}

/// The page.
pub fn document(page: &Page) -> Document {
    let drawn = drawn(page);
    let mut blocks = vec![
        Block::Text(format!("*Published there.* {}. {}.", page.project, page.source)),
        Block::Text(page.measured.clone()),
        Block::Text(ABOUT.into()),
        Block::Heading("Environment".into()),
    ];
    let facts = page.environment.iter().map(|fact| [fact.what.clone(), fact.text.clone(), fact_values(fact)]);
    let caption = "The environment, as the page states it";
    blocks.push(words(caption, ["what", "as stated", "numbers"], facts.collect()));
    page.sections.iter().for_each(|part| section(&mut blocks, part, &drawn));
    for drawn in drawn.iter().filter(|drawn| !page.charts().any(|chart| chart.name == drawn.name)) {
        blocks.push(Block::Heading(drawn.heading.into()));
        again(&mut blocks, drawn);
    }
    blocks.push(Block::Heading("Transcribed here".into()));
    blocks.push(Block::Text(format!("{} Left out:", page.totals.text())));
    blocks.push(Block::List(page.omitted.clone()));
    Document { title: page.title.clone(), finding: Vec::new(), blocks }
}

fn section(blocks: &mut Vec<Block>, section: &Section, drawn: &[Drawn]) {
    let heading = section.heading.clone();
    blocks.push(if section.level == 2 { Block::Heading(heading) } else { Block::Subheading(heading) });
    match section.says.as_slice() {
        [] => {}
        [text] => blocks.push(Block::Text(text.clone())),
        texts => blocks.push(Block::List(texts.to_vec())),
    }
    if !section.figures.is_empty() {
        let figures = section.figures.iter();
        let figures = figures.map(|figure| [figure.what.clone(), figure.text.clone(), figure_value(figure)]);
        let caption = format!("Figures in the text: {}", section.heading);
        blocks.push(words(&caption, ["what", "as printed", "number"], figures.collect()));
    }
    for chart in &section.charts {
        let missing = if chart.in_text { "" } else { NOT_IN_TEXT };
        blocks.push(Block::Text(format!("Image of the page: {}. {missing}", chart.what)));
        drawn.iter().filter(|drawn| drawn.name == chart.name).for_each(|drawn| again(blocks, drawn));
    }
    for printed in &section.tables {
        blocks.push(table(printed));
        let notes = notes(printed);
        blocks.extend((!notes.is_empty()).then_some(Block::List(notes)));
    }
}

fn again(blocks: &mut Vec<Block>, drawn: &Drawn) {
    blocks.push(Block::Text(drawn.about.into()));
    blocks.extend(drawn.plots.iter().cloned().map(Block::Plot));
}

/// A table of words. A last column without a word is left out.
fn words(caption: &str, head: [&str; 3], rows: Vec<[String; 3]>) -> Block {
    let width = if rows.iter().all(|row| row[2].is_empty()) { 2 } else { 3 };
    let rows = rows.into_iter().map(|row| row.into_iter().take(width).map(Cell::plain).collect());
    Block::Table(document::Table::new(caption, head.into_iter().take(width), rows.collect()))
}

fn table(table: &Table) -> Block {
    let cell = |cell: &super::page::Cell| match cell.meaning.as_str() {
        _ if cell.colour.is_empty() && table.marks.contains_key(&cell.text) => {
            Cell::marked(cell.text.as_str(), Mark::State)
        }
        _ if cell.colour.is_empty() => Cell::plain(cell.text.as_str()),
        // Colours have words here.
        meaning => {
            let mark = if meaning == "faster" { Mark::Better } else { Mark::Worse };
            Cell::marked(format!("{} {meaning}", cell.text), mark)
        }
    };
    Block::Table(document::Table {
        caption: table.caption.clone(),
        head: table.columns.iter().map(|column| column.text.clone()).collect(),
        row_heads: table.row_heads,
        rows: table.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
    })
}
