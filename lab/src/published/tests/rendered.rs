//! The rendered pages have every cell and figure of their data, and are well formed.

use std::sync::LazyLock;

use tempfile::TempDir;

use crate::published::page::{Page, pages};
use crate::published::write_pages;
use crate::report::html::escaped;

/// Elements without an end.
const VOID: [&str; 4] = ["meta", "link", "wbr", "!doctype"];

/// All pages, written once.
static FILES: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    write_pages(folder.path()).unwrap();
    folder
});

/// A file of a page.
fn file(page: &Page, end: &str) -> String {
    std::fs::read_to_string(FILES.path().join(format!("published-{}{end}", page.name))).unwrap()
}

/// All plots of this name.
fn plots(name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(FILES.path().join("plots")).unwrap().map(|entry| entry.unwrap().path());
    let is_one = |path: &std::path::PathBuf| path.to_str().unwrap().contains(&format!("published-{name}-"));
    entries.filter(is_one).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// The text between the elements; fails if an element is not closed by its own end.
fn text_of(html: &str) -> String {
    let (mut open, mut text) = (Vec::new(), String::new());
    for part in html.split('<').skip(1) {
        let (element, rest) = part.split_once('>').unwrap();
        let name = element.split([' ', '\n']).next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{element}"),
            None if VOID.contains(&name) || element.ends_with('/') => (),
            None => open.push(name),
        }
        text += rest;
    }
    assert_eq!(open, Vec::<&str>::new());
    text
}

#[test]
fn html_has_every_cell_and_figure_and_closes_its_elements() {
    for page in pages() {
        let html = file(page, ".html");
        let text = text_of(&html);
        let cells = page.tables().flat_map(|table| table.rows.iter().flatten()).map(|cell| &cell.text);
        let figures = page.sections.iter().flat_map(|section| &section.figures).map(|figure| &figure.text);
        let headings = page.sections.iter().map(|section| &section.heading);
        for expected in cells.chain(figures).chain(headings) {
            assert!(text.contains(&escaped(expected)), "{}: {expected:?}", page.name);
        }
        let data_cells: usize =
            page.tables().map(|table| table.rows.len() * (table.columns.len() - table.row_heads)).sum();
        assert!(html.matches("<td").count() >= data_cells);
        assert_eq!(html.matches("<table>").count(), html.matches("<caption>").count());
        for outside in ["<script", "<img", "@import", "url(", "src="] {
            assert!(!html.contains(outside), "{}: {outside}", page.name);
        }
    }
}

#[test]
fn rows_of_markdown_are_as_wide_as_their_heads() {
    for page in pages() {
        let text = file(page, ".md");
        let mut width = None;
        let mut rows = 0;
        for line in text.lines() {
            let is_row = line.starts_with("| ");
            let cells = line.replace("\\|", "").matches('|').count();
            assert!(!is_row || width.is_none_or(|width| width == cells), "{}: {line}", page.name);
            width = is_row.then_some(cells);
            rows += usize::from(is_row);
        }
        assert!(rows > page.totals.rows, "{}", page.name);
    }
}

#[test]
fn csv_has_a_line_for_each_cell_and_figure() {
    for page in pages() {
        let heads: usize = page.tables().map(|table| table.rows.len() * table.row_heads).sum();
        let lines = file(page, ".csv").lines().count();
        assert_eq!(lines, 1 + page.totals.cells - heads + page.totals.figures, "{}", page.name);
    }
    let csv = file(&pages()[0], ".csv");
    let line = "Graphical comparison,xtdb-volumes,Entity search: findEntitiesByProperty,\"0320-10 (314,880)\",1530.0,1530,,ms";
    assert!(csv.lines().any(|found| found == line), "{csv}");
}

#[test]
fn the_point_plots_have_a_mark_for_each_median_and_a_line_for_each_run() {
    let found = plots("xtdb-volumes");
    let svg = found.concat();
    // 56 methods at 7 volumes, less the graph queries that were left out, and the legend of each plot.
    assert_eq!(svg.matches("class=\"mark\"").count(), 56 * 7 - 4 * 4 + 7 * found.len());
    assert_eq!(svg.matches("class=\"whisker\"").count(), 56 * 4 - 4);
    assert!(svg.contains("<title>findEntities, 0005-02 (4,920): 28 (28 to 29)</title>"));
    let svg = plots("xtdb-janusgraph").concat();
    assert_eq!(svg.matches("class=\"whisker\"").count(), 548 - (56 * 4 - 4));
    assert!(!svg.contains("NaN"));
}
