//! Self-contained HTML: the page around a body, and tables that a screen reader and a phone can read.

use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
/// Longer words may break.
const WORD_LETTERS_MAX: usize = 16;

/// Text as part of HTML or SVG, also within quotes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A whole page. It loads nothing from elsewhere.
///
/// Shape: `body` is HTML; `title` is text.
pub fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{plots}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the page</a>\n<main id=\"main\">\n{body}</main>\n</body>\n</html>\n",
        plots = super::plot::STYLE,
    )
}

/// A table.
pub struct Table {
    pub caption: String,
    pub columns: Vec<Column>,
    /// So many of the first cells name their row.
    pub row_heads: usize,
    /// Shape: each row has as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// The head of a column.
pub struct Column {
    /// Text. An empty head is no head for a screen reader.
    pub text: String,
    pub is_number: bool,
}

/// A cell.
pub struct Cell {
    /// HTML.
    pub html: String,
    /// A class of the style, or nothing.
    pub class: &'static str,
}

impl Cell {
    /// A cell with this text.
    pub fn text(text: &str) -> Cell {
        Cell { html: breakable(text), class: "" }
    }
}

impl Table {
    /// The table as HTML. It scrolls by itself where the page is too narrow for it, also with the keyboard.
    pub fn html(&self) -> String {
        let caption = escaped(&self.caption);
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n\
             <caption>{caption}</caption>\n<thead>\n<tr>"
        );
        for (place, column) in self.columns.iter().enumerate() {
            let class = self.class(place, "");
            let text = escaped(&column.text);
            let _ = match text.as_str() {
                "" => write!(html, "<td{class}></td>"),
                _ => write!(html, "<th scope=\"col\"{class}>{text}</th>"),
            };
        }
        html += "</tr>\n</thead>\n<tbody>\n";
        for row in &self.rows {
            html += "<tr>";
            for (place, cell) in row.iter().enumerate() {
                let class = self.class(place, cell.class);
                let text = &cell.html;
                let _ = if place < self.row_heads {
                    write!(html, "<th scope=\"row\"{class}>{text}</th>")
                } else {
                    write!(html, "<td{class}>{text}</td>")
                };
            }
            html += "</tr>\n";
        }
        html + "</tbody>\n</table>\n</div>\n"
    }

    /// The attribute with the classes of a cell.
    fn class(&self, place: usize, class: &str) -> String {
        let number = if self.columns[place].is_number { "number" } else { "" };
        // Only the last column of heads stays in view, so that a phone has room for figures.
        let head = if place + 1 == self.row_heads { "stays" } else { "" };
        let classes: Vec<&str> =
            [number, head, class].into_iter().filter(|class| !class.is_empty()).collect();
        if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
    }
}

/// Text whose long words may break: before a capital letter within a name, and after a slash or an underscore.
pub fn breakable(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(breakable_word).collect();
    words.join(" ")
}

fn breakable_word(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= WORD_LETTERS_MAX {
        return escaped(word);
    }
    let mut html = String::new();
    let mut start = 0;
    for place in 1..letters.len() {
        let is_name = letters[place - 1].is_lowercase() && letters[place].is_uppercase();
        if is_name || matches!(letters[place - 1], '/' | '_') {
            html += &escaped(&letters[start..place].iter().collect::<String>());
            html += "<wbr>";
            start = place;
        }
    }
    html + &escaped(&letters[start..].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(escaped("<a href='x'>\"&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;");
        assert!(page("<b>", "<p>x</p>").contains("<title>&lt;b&gt;</title>"));
        let broken = breakable("JanusGraph findEntitiesByValue 3 GiB <B>");
        assert_eq!(broken, "JanusGraph find<wbr>Entities<wbr>By<wbr>Value 3 GiB &lt;B&gt;");
    }

    #[test]
    fn a_page_loads_nothing_from_elsewhere() {
        let page = page("t", "");
        assert!(!page.contains("http") && !page.contains("@import") && !page.contains("url("), "{page}");
    }

    #[test]
    fn a_table_has_a_caption_and_scopes() {
        let column = |text: &str, is_number| Column { text: text.into(), is_number };
        let table = Table {
            caption: "of \"us\"".into(),
            columns: vec![column("row", false), column("ms", true), column("", false)],
            row_heads: 1,
            rows: vec![vec![Cell::text("a<b"), Cell { html: "1".into(), class: "slower" }, Cell::text("")]],
        };
        let expected = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"of &quot;us&quot;\">\n<table>\n\
            <caption>of &quot;us&quot;</caption>\n<thead>\n<tr><th scope=\"col\" class=\"stays\">row</th>\
            <th scope=\"col\" class=\"number\">ms</th><td></td></tr>\n</thead>\n<tbody>\n\
            <tr><th scope=\"row\" class=\"stays\">a&lt;b</th><td class=\"number slower\">1</td><td></td></tr>\n\
            </tbody>\n</table>\n</div>\n";
        assert_eq!(table.html(), expected);
    }
}
