//! A page in HTML: one file that loads nothing.

use super::document::{Block, Cell, Document, Mark, Table};
use super::html::{self, escaped};

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
            Block::Subheading(heading) => format!("<h3>{}</h3>\n", escaped(heading)),
            Block::Text(text) => format!("<p>{}</p>\n", inline(text)),
            Block::List(items) => {
                let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item))).collect();
                format!("<ul>\n{items}</ul>\n")
            }
            Block::Table(found) => table(found),
            // The plot has its title in it.
            Block::Plot(plot) => {
                let notes: String =
                    plot.notes.iter().map(|note| format!("<p>{}</p>\n", inline(note))).collect();
                let caption =
                    if notes.is_empty() { notes } else { format!("<figcaption>\n{notes}</figcaption>\n") };
                format!("<figure>\n{}{caption}</figure>\n", plot.svg)
            }
            Block::Code(lines) => format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(lines)),
        };
    }
    if is_in_plots {
        body += "</div>\n";
    }
    html::page(&document.title, &body)
}

/// A table that a screen reader and a phone can read. It scrolls by itself where the page is too narrow for it, also with the
/// keyboard.
fn table(table: &Table) -> String {
    let caption = escaped(&table.caption);
    let heads = table.row_heads.max(1);
    let is_number = |cell: &Cell| {
        let first = cell.text.trim_start_matches(['▲', '▼', '=', ' ', '-']).chars().next();
        cell.mark == Mark::State || first.is_none_or(|first| first.is_ascii_digit())
    };
    let numbers: Vec<bool> = (0..table.head.len())
        .map(|place| place >= heads && table.rows.iter().all(|row| row.get(place).is_none_or(is_number)))
        .collect();
    let class = |place: usize, class: &str| {
        let number = if numbers[place] { "number" } else { "" };
        // Only the last column of heads stays in view, so that a phone has room for figures.
        let head = if place + 1 == heads { "stays" } else { "" };
        let classes: Vec<&str> =
            [number, head, class].into_iter().filter(|class| !class.is_empty()).collect();
        if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
    };
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n\
         <caption>{caption}</caption>\n<thead>\n<tr>"
    );
    for (place, text) in table.head.iter().enumerate() {
        let class = class(place, "");
        // An empty head is no head for a screen reader.
        html += &match escaped(text) {
            text if text.is_empty() => format!("<td{class}></td>"),
            text => format!("<th scope=\"col\"{class}>{text}</th>"),
        };
    }
    html += "</tr>\n</thead>\n<tbody>\n";
    for row in &table.rows {
        html += "<tr>";
        for (place, cell) in row.iter().enumerate() {
            let class = class(
                place,
                match cell.mark {
                    Mark::None => "",
                    Mark::Better => "faster",
                    Mark::Worse => "slower",
                    Mark::State => "state",
                },
            );
            let text = html::breakable(&cell.text);
            html += &match place < heads {
                true => format!("<th scope=\"row\"{class}>{text}</th>"),
                false => format!("<td{class}>{text}</td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
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
    fn a_table_has_a_caption_and_scopes_and_marks_become_classes_beside_their_signs() {
        let found = table(&Table {
            caption: "of \"us\"".into(),
            head: ["row", "ms", ""].map(str::to_owned).to_vec(),
            rows: vec![vec![Cell::plain("a<b"), Cell::marked("▼ 1", Mark::Worse), Cell::plain("")]],
            ..Table::default()
        });
        let expected = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"of &quot;us&quot;\">\n<table>\n\
            <caption>of &quot;us&quot;</caption>\n<thead>\n<tr><th scope=\"col\" class=\"stays\">row</th>\
            <th scope=\"col\" class=\"number\">ms</th><td class=\"number\"></td></tr>\n</thead>\n<tbody>\n\
            <tr><th scope=\"row\" class=\"stays\">a&lt;b</th><td class=\"number slower\">▼ 1</td>\
            <td class=\"number\"></td></tr>\n</tbody>\n</table>\n</div>\n";
        assert_eq!(found, expected);
    }
}
