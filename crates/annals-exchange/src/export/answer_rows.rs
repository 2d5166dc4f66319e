//! Rows of answers as lines of text: CSV as RFC 4180 describes it, and lines with tabs between the cells.

use annals::Value;
use csv::{Terminator, WriterBuilder};

use super::csv::harmless;
use super::graph_text::plain_text;
use crate::text::one_line;

/// Room for a line. Units: bytes.
const LINE_BYTES: usize = 256;

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Commas between the cells. A cell with a comma, a quote or a line break is in quotes, and lines end with CR LF.
    /// Source: <https://www.rfc-editor.org/rfc/rfc4180>.
    Csv,
    /// Tabs between the cells. In a cell `\t`, `\n`, `\r` and `\\` stand for a tab, the line breaks and a backslash.
    Tsv,
}

/// The texts in the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellText {
    /// Exactly the values, for programs.
    Exact,
    /// Control characters are escaped, because a terminal would obey them.
    Visible,
    /// The same, and a text that a spreadsheet would take for a formula gets an apostrophe before it.
    ForSpreadsheets,
}

/// Writes rows.
#[derive(Clone, Copy, Debug)]
pub struct RowText {
    /// The format.
    pub format: RowFormat,
    /// The texts in the cells.
    pub text: CellText,
}

impl RowText {
    /// The line of a row, with its end.
    pub fn line(self, cells: impl IntoIterator<Item = String>) -> Vec<u8> {
        let cells = cells.into_iter().map(|cell| match self.text {
            CellText::Exact => cell,
            CellText::Visible => one_line(&cell),
            CellText::ForSpreadsheets => harmless(cell),
        });
        match self.format {
            RowFormat::Csv => csv_line(cells),
            RowFormat::Tsv => {
                let cells: Vec<String> = cells.map(|cell| tab_escaped(&cell)).collect();
                (cells.join("\t") + "\n").into_bytes()
            }
        }
    }
}

/// The text of a value in a cell: texts unchanged, numbers and times as in searches; lists, sets, maps, bytes, literals and
/// contents as JSON.
pub fn cell_of(value: &Value) -> String {
    plain_text(value)
}

fn csv_line(cells: impl Iterator<Item = String>) -> Vec<u8> {
    let mut builder = WriterBuilder::new();
    let mut writer = builder.terminator(Terminator::CRLF).buffer_capacity(LINE_BYTES).from_writer(Vec::new());
    writer.write_record(cells).expect("memory takes what is written");
    writer.into_inner().expect("memory takes what is written")
}

fn tab_escaped(cell: &str) -> String {
    if !cell.contains(['\t', '\n', '\r', '\\']) {
        return cell.to_owned();
    }
    let mut text = String::with_capacity(cell.len() + 2);
    for one in cell.chars() {
        match one {
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\\' => text.push_str("\\\\"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: RowFormat, text: CellText, cells: &[&str]) -> String {
        let cells = cells.iter().map(|cell| (*cell).to_owned());
        String::from_utf8(RowText { format, text }.line(cells)).unwrap()
    }

    #[test]
    fn csv_quotes_what_needs_it_and_a_reader_gets_the_cells_back() {
        let cells = ["a,b", "say \"x\"", "two\r\nlines", "", " edge ", "ü\u{202e}", "=1+1"];
        let text = line(RowFormat::Csv, CellText::Exact, &cells);
        let expected = "\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\",, edge ,ü\u{202e},=1+1\r\n";
        assert_eq!(text, expected);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let back = reader.records().next().unwrap().unwrap();
        assert_eq!(back.iter().collect::<Vec<_>>(), cells);
        // A line with one empty cell is not an empty line, which readers skip.
        assert_eq!(line(RowFormat::Csv, CellText::Exact, &[""]), "\"\"\r\n");
    }

    #[test]
    fn tabs_and_line_breaks_of_a_cell_are_escaped_in_tsv() {
        let cells = ["a\tb", "c\nd\re", "f\\n", "\"g\""];
        assert_eq!(line(RowFormat::Tsv, CellText::Exact, &cells), "a\\tb\tc\\nd\\re\tf\\\\n\t\"g\"\n");
    }

    #[test]
    fn a_terminal_gets_no_control_characters_and_a_spreadsheet_no_formula() {
        let cells = ["\u{1b}[31m", "=1+1", "-5", "-a", "x\ny", "\u{9b}2J"];
        let visible = line(RowFormat::Csv, CellText::Visible, &cells);
        assert_eq!(visible, "\\u{1b}[31m,=1+1,-5,-a,x\\ny,\\u{9b}2J\r\n");
        let harmless = line(RowFormat::Csv, CellText::ForSpreadsheets, &cells);
        assert_eq!(harmless, "\\u{1b}[31m,'=1+1,-5,'-a,x\\ny,\\u{9b}2J\r\n");
    }

    #[test]
    fn a_cell_keeps_what_a_value_is() {
        let set = Value::set([Value::from("b"), Value::from("a")]).unwrap();
        let cells =
            [Value::from("x\ny"), Value::from(1.5), Value::from(true), set, Value::Bytes([0, 1].into())];
        let expected = ["x\ny", "1.5", "true", r#"{"$set":["a","b"]}"#, r#"{"$bytes":"AAE="}"#];
        assert_eq!(cells.each_ref().map(cell_of), expected);
    }
}
