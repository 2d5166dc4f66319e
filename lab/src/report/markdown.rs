//! A page in Markdown.

use super::document::{Block, Document, Table};
use crate::run::page::escaped;

/// The whole page. Plots are in files beside it.
pub fn markdown(document: &Document) -> String {
    let mut text = format!("# {}\n", document.title);
    for finding in &document.finding {
        text += &format!("\n**{finding}**\n");
    }
    for block in &document.blocks {
        text.push('\n');
        text += &match block {
            Block::Heading(heading) => format!("## {heading}\n"),
            Block::Subheading(heading) => format!("### {heading}\n"),
            Block::Text(paragraph) => format!("{paragraph}\n"),
            Block::List(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
            Block::Table(found) => table(found),
            Block::Plot(plot) => {
                let notes: String = plot.notes.iter().map(|note| format!("\n*{note}*\n")).collect();
                format!("![{}](plots/{}.svg)\n{notes}", plot.text.replace(['[', ']'], ""), plot.name)
            }
            Block::Code(lines) => format!("```sh\n{}\n```\n", lines.trim_end()),
        };
    }
    text
}

fn table(table: &Table) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(escaped).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = format!("*{}*\n\n", table.caption);
    text += &line(&mut table.head.iter().map(String::as_str));
    text += &line(&mut table.head.iter().map(|_| "---"));
    for row in &table.rows {
        text += &line(&mut row.iter().map(|cell| cell.text.as_str()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::document::Cell;
    use super::*;

    #[test]
    fn a_table_stays_a_table_whatever_its_cells_hold() {
        let table = Table {
            caption: "numbers".into(),
            head: vec!["a".into(), "b".into()],
            rows: vec![vec![Cell::plain("x|y"), Cell::plain("1\n2")]],
            ..Table::default()
        };
        let document = Document {
            title: "page".into(),
            finding: vec!["found".into()],
            blocks: vec![Block::Table(table), Block::List(vec!["one".into()])],
        };
        let expected =
            "# page\n\n**found**\n\n*numbers*\n\n| a | b |\n| --- | --- |\n| x\\|y | 1 2 |\n\n- one\n";
        assert_eq!(markdown(&document), expected);
    }
}
