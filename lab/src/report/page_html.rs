//! A page in HTML: one file that loads nothing.

use super::document::{Block, Document, Mark, Table};
use super::html::{self, Cell, Column, escaped};

/// The whole page, with its plots inside.
pub fn html(document: &Document) -> String {
    let mut body = format!("<h1>{}</h1>\n", escaped(&document.title));
    for finding in &document.finding {
        body += &format!("<p class=\"finding\"><strong>{}</strong></p>\n", inline(finding));
    }
    let mut is_in_plots = false;
    for block in &document.blocks {
        let is_plot = matches!(block, Block::Plot(_));
        if is_plot != is_in_plots {
            body += if is_plot { "<div class=\"plots\">\n" } else { "</div>\n" };
            is_in_plots = is_plot;
        }
        body += &match block {
            Block::Heading(heading) => format!("<h2>{}</h2>\n", escaped(heading)),
            Block::Text(text) => format!("<p>{}</p>\n", inline(text)),
            Block::List(items) => {
                let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item))).collect();
                format!("<ul>\n{items}</ul>\n")
            }
            Block::Table(found) => table(found),
            Block::Plot(plot) => {
                format!("<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n", escaped(&plot.text), plot.svg)
            }
            Block::Code(lines) => format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(lines)),
        };
    }
    if is_in_plots {
        body += "</div>\n";
    }
    html::page(&document.title, &body)
}

fn table(table: &Table) -> String {
    let is_number = |column: usize| {
        column > 0
            && table.rows.iter().all(|row| {
                row.get(column).is_none_or(|cell| {
                    let first = cell.text.trim_start_matches(['▲', '▼', '=', ' ', '-']).chars().next();
                    cell.mark == Mark::State || first.is_none_or(|first| first.is_ascii_digit())
                })
            })
    };
    let columns = table
        .head
        .iter()
        .enumerate()
        .map(|(place, text)| Column { text: text.clone(), is_number: is_number(place) })
        .collect();
    let cell = |cell: &super::document::Cell| Cell {
        html: html::breakable(&cell.text),
        class: match cell.mark {
            Mark::None => "",
            Mark::Better => "faster",
            Mark::Worse => "slower",
            Mark::State => "state",
        },
    };
    let rows = table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    html::Table { caption: table.caption.clone(), columns, row_heads: 1, rows }.html()
}

/// Text with `code` and *emphasis*, as Markdown has them.
fn inline(text: &str) -> String {
    let mut html = String::new();
    for (place, part) in text.split('`').enumerate() {
        if place % 2 == 1 {
            html += &format!("<code>{}</code>", escaped(part));
            continue;
        }
        for (place, part) in part.split('*').enumerate() {
            let part = escaped(part);
            html += &if place % 2 == 1 { format!("<em>{part}</em>") } else { part };
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_its_code_and_no_markup() {
        assert_eq!(inline("a `b<c` *d*"), "a <code>b&lt;c</code> <em>d</em>");
    }

    #[test]
    fn marks_become_classes_beside_their_signs() {
        use super::super::document::Cell;
        let table = super::super::document::Table {
            caption: "ratios".into(),
            head: vec!["row".into(), "Bitsy".into()],
            rows: vec![vec![Cell::plain("commit"), Cell::marked("▲ 2.00 (1.9–2.1)", Mark::Better)]],
        };
        let found = table_html(&table);
        assert!(found.contains("class=\"number faster\">▲ 2.00"), "{found}");
    }

    fn table_html(found: &Table) -> String {
        table(found)
    }
}
