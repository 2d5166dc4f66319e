//! A published page as data: its sections, figures and tables, as printed there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// A page. `published/README.md` describes each field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub name: String,
    pub title: String,
    pub project: String,
    pub source: String,
    pub measured: String,
    pub environment: Vec<Fact>,
    pub sections: Vec<Section>,
    pub omitted: Vec<String>,
    pub totals: Totals,
}

/// A fact about the machine or the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub what: String,
    pub text: String,
    #[serde(default)]
    pub figures: Vec<Figure>,
}

/// A heading and all below it, up to the next one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub heading: String,
    /// From 2.
    pub level: usize,
    #[serde(default)]
    pub says: Vec<String>,
    #[serde(default)]
    pub figures: Vec<Figure>,
    #[serde(default)]
    pub tables: Vec<Table>,
    #[serde(default)]
    pub charts: Vec<Chart>,
}

/// A figure in running text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub what: String,
    pub text: String,
    pub value: Option<f64>,
    /// The end of a range.
    pub to: Option<f64>,
    pub unit: Option<String>,
}

/// An image of the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    pub name: String,
    pub what: String,
    /// Whether the text has its figures too.
    pub in_text: bool,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub name: String,
    pub caption: String,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// So many of the first columns name the row.
    pub row_heads: usize,
    /// The meanings of texts in columns of numbers.
    #[serde(default)]
    pub marks: BTreeMap<String, String>,
    #[serde(default)]
    pub notes: Vec<String>,
    pub columns: Vec<Column>,
    /// Shape: each row has as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// The head of a column.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub text: String,
    /// Of its numbers; columns of words have none.
    pub unit: Option<String>,
    #[serde(default)]
    pub meaning: String,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// A cell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub text: String,
    pub value: Option<f64>,
    pub unit: Option<String>,
    #[serde(default)]
    pub colour: String,
    #[serde(default)]
    pub meaning: String,
}

/// The contents of a page, counted.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    pub tables: usize,
    pub rows: usize,
    pub cells: usize,
    /// Cells with a value.
    pub numbers: usize,
    /// Cells without a value that are no marks.
    pub words: usize,
    /// Cells whose text is one of the marks of their table.
    pub marks: usize,
    /// In running text and in facts.
    pub figures: usize,
    pub charts: usize,
}

const FILES: [&str; 5] = [
    include_str!("../../published/metadata-repository.json"),
    include_str!("../../published/datastore-plugins.json"),
    include_str!("../../published/graph-server.json"),
    include_str!("../../published/embedded-graph.json"),
    include_str!("../../published/many-members.json"),
];

/// All pages.
pub fn pages() -> &'static [Page] {
    static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
        FILES
            .iter()
            .map(|file| serde_json::from_str(file).expect("a published page is well formed"))
            .collect()
    });
    &PAGES
}

/// The page with this name, which is that of its file.
pub fn page(name: &str) -> &'static Page {
    pages().iter().find(|page| page.name == name).expect("a suite names a published page")
}

impl Page {
    /// All tables, in the order of the page.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.tables)
    }

    /// The table with this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables().find(|table| table.name == name)
    }

    /// All charts, in the order of the page.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.sections.iter().flat_map(|section| &section.charts)
    }
}

impl Table {
    /// The place of the column with this head, or with this meaning. The case of letters does not count.
    pub fn column(&self, head: &str) -> Option<usize> {
        let is = |text: &str| text.eq_ignore_ascii_case(head);
        self.columns.iter().position(|column| is(&column.text) || is(&column.meaning))
    }

    /// The place of the column with all these labels.
    pub fn column_with(&self, labels: &[(&str, &str)]) -> Option<usize> {
        let has = |column: &Column, (name, value): &(&str, &str)| {
            column.labels.get(*name).is_some_and(|found| found == value)
        };
        self.columns.iter().position(|column| labels.iter().all(|label| has(column, label)))
    }
}

impl Column {
    /// Its text, or what stands for it.
    pub fn name(&self) -> &str {
        if self.text.is_empty() { &self.meaning } else { &self.text }
    }
}

impl Totals {
    /// The totals in words.
    pub fn text(&self) -> String {
        let Totals { tables, rows, cells, numbers, words, marks, figures, charts } = self;
        format!(
            "{tables} tables with {rows} rows and {cells} cells ({numbers} numbers, {words} words, {marks} marks), \
             {figures} figures in the text, {charts} images named."
        )
    }
}

impl Cell {
    /// Its text, or what stands for it.
    pub fn name(&self) -> &str {
        if self.meaning.is_empty() { &self.text } else { &self.meaning }
    }
}
