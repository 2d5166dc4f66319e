//! A published page as HTML.

use super::drawn::Drawn;
use super::page::{Cell, Chart, Page, Section, Table};
use super::{ABOUT, NOT_IN_TEXT, fact_values, figure_value, notes};
use crate::report::html::{self, Column, breakable, escaped};
use crate::report::plot::legend;

/// The width of a legend above plots. Units: pixels.
const LEGEND_WIDTH: f64 = 360.0;

/// The page.
pub fn html(page: &Page, drawn: &[Drawn]) -> String {
    let mut body = format!(
        "<header>\n<p class=\"kind\">published there</p>\n<h1>{}</h1>\n<p>{}. {}.</p>\n<p>{}</p>\n<p class=\"note\">{}</p>\n</header>\n",
        escaped(&page.title),
        escaped(&page.project),
        escaped(&page.source),
        escaped(&page.measured),
        escaped(ABOUT)
    );
    body += "<h2>Environment</h2>\n";
    let facts: Vec<[String; 3]> = page
        .environment
        .iter()
        .map(|fact| [fact.what.clone(), fact.text.clone(), fact_values(fact)])
        .collect();
    body += &words("The environment, as the page states it", ["what", "as stated", "numbers"], &facts);
    for section in &page.sections {
        body += &section_html(section, drawn);
    }
    let is_of_page = |drawn: &&Drawn| !page.charts().any(|chart| chart.name == drawn.name);
    for drawn in drawn.iter().filter(is_of_page) {
        body += &format!("<h2>{}</h2>\n{}", escaped(drawn.heading), drawn_html(drawn));
    }
    body += &format!("<h2>Transcribed here</h2>\n<p>{} Left out:</p>\n", page.totals.text());
    body += &items(&page.omitted);
    html::page(&page.title, &body)
}

fn section_html(section: &Section, drawn: &[Drawn]) -> String {
    let level = section.level;
    let mut text =
        format!("<h{level}>{}</h{level}>\n{}", escaped(&section.heading), paragraphs(&section.says));
    if !section.figures.is_empty() {
        let rows: Vec<[String; 3]> = section
            .figures
            .iter()
            .map(|figure| [figure.what.clone(), figure.text.clone(), figure_value(figure)])
            .collect();
        let caption = format!("Figures in the text: {}", section.heading);
        text += &words(&caption, ["what", "as printed", "number"], &rows);
    }
    for chart in &section.charts {
        text += &chart_html(chart, drawn);
    }
    if !section.tables.is_empty() {
        let tables: String = section.tables.iter().map(table_html).collect();
        text += &format!("<div class=\"tables\">\n{tables}</div>\n");
    }
    text
}

fn paragraphs(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [text] => format!(
            "<p>{}</p>
",
            escaped(text)
        ),
        texts => items(texts),
    }
}

fn items(texts: &[String]) -> String {
    let items: String = texts
        .iter()
        .map(|text| {
            format!(
                "<li>{}</li>
",
                escaped(text)
            )
        })
        .collect();
    format!(
        "<ul>
{items}</ul>
"
    )
}

/// A table of words, whose first column names the row. A last column without a word is left out.
fn words<const N: usize>(caption: &str, heads: [&str; N], rows: &[[String; N]]) -> String {
    let width = if rows.iter().all(|row| row[N - 1].is_empty()) { N - 1 } else { N };
    let columns = heads[..width].iter().map(|text| Column { text: (*text).to_owned(), is_number: false });
    let rows = rows.iter().map(|row| row[..width].iter().map(|text| html::Cell::text(text)).collect());
    let (columns, rows) = (columns.collect(), rows.collect());
    html::Table { caption: caption.to_owned(), columns, row_heads: 1, rows }.html()
}

fn table_html(table: &Table) -> String {
    let columns = table
        .columns
        .iter()
        .map(|column| Column { text: column.text.clone(), is_number: column.unit.is_some() });
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell_html(table, cell)).collect());
    let html = html::Table {
        caption: table.caption.clone(),
        columns: columns.collect(),
        row_heads: table.row_heads,
        rows: rows.collect(),
    };
    let notes: String =
        notes(table).iter().map(|note| format!("<p class=\"note\">{}</p>\n", escaped(note))).collect();
    format!("<div class=\"table\">\n{}{notes}</div>\n", html.html())
}

fn cell_html(table: &Table, cell: &Cell) -> html::Cell {
    let text = breakable(&cell.text);
    match cell.meaning.as_str() {
        "slower" => html::Cell { html: format!("{text} slower"), class: "slower" },
        "faster" => html::Cell { html: format!("{text} faster"), class: "faster" },
        "" if table.marks.contains_key(&cell.text) => html::Cell { html: text, class: "mark" },
        "" => html::Cell { html: text, class: "" },
        meaning => {
            let meaning = escaped(meaning);
            let html =
                format!("<span aria-hidden=\"true\">{text}</span><span class=\"hidden\">{meaning}</span>");
            html::Cell { html, class: "" }
        }
    }
}

fn chart_html(chart: &Chart, drawn: &[Drawn]) -> String {
    let what = escaped(&chart.what);
    let missing = if chart.in_text { "" } else { NOT_IN_TEXT };
    let note = format!("<p class=\"missing\">Image of the page: {what}. {missing}</p>\n");
    let again = drawn.iter().find(|drawn| drawn.name == chart.name);
    note + &again.map_or(String::new(), drawn_html)
}

fn drawn_html(drawn: &Drawn) -> String {
    let figures: String = drawn
        .plots
        .iter()
        .map(|plot| {
            format!(
                "<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n",
                breakable(&plot.caption),
                plot.svg
            )
        })
        .collect();
    let legend = match drawn.legend[..] {
        [] => String::new(),
        _ => format!("<div class=\"legend\">{}</div>\n", legend(&drawn.legend, LEGEND_WIDTH)),
    };
    format!(
        "<section aria-label=\"{}\">\n<p>{}</p>\n{legend}<div class=\"plots\">\n{figures}</div>\n</section>\n",
        escaped(drawn.heading),
        escaped(drawn.about)
    )
}
