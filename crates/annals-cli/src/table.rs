//! Tables for people: aligned columns, which fit a terminal without breaking words.

use unicode_width::UnicodeWidthStr;

/// Columns are padded to at most this width. Units: characters.
const COLUMN_WIDTH_MAX: usize = 60;
/// A column that is cut to fit a terminal keeps so much. Units: characters.
const COLUMN_WIDTH_MIN: usize = 12;
/// The same for the columns that a user chose: all of them are to be seen. Units: cells of a terminal.
const CHOSEN_WIDTH_MIN: usize = 4;
/// Spaces between columns.
const GAP: usize = 2;
/// Bold, and its end.
const BOLD: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// Rows of cells, aligned.
pub struct Table {
    // Written with the first rows.
    titles: Option<Vec<String>>,
    // True for names with values: a long value continues on the next line. Other cells are cut.
    is_wrapped: bool,
    rows: Vec<Vec<String>>,
    // Widths of the columns so far. Units: those of `length`.
    widths: Vec<usize>,
    // The width of a text. Units: characters, or cells of a terminal.
    length: fn(&str) -> usize,
    // A column that is cut to fit a terminal keeps so much.
    width_min: usize,
    // True for bold titles.
    is_bold: bool,
}

impl Table {
    /// A table with these column titles. On a terminal its cells are cut to fit a line.
    pub fn new(titles: &[&str]) -> Table {
        let titles = titles.iter().map(|title| (*title).to_owned()).collect();
        Table { titles: Some(titles), is_wrapped: false, ..Table::untitled() }
    }

    /// A table of names and values, without titles. On a terminal long values continue on the next line.
    pub fn untitled() -> Table {
        Table {
            titles: None,
            is_wrapped: true,
            rows: Vec::new(),
            widths: Vec::new(),
            length,
            width_min: COLUMN_WIDTH_MIN,
            is_bold: false,
        }
    }

    /// A table of columns that a user chose. On a terminal no line is longer than its width, however many there are.
    pub fn of_columns(titles: Vec<String>, is_bold: bool) -> Table {
        let titles = Some(titles);
        let (length, width_min) = (<str as UnicodeWidthStr>::width as fn(&str) -> usize, CHOSEN_WIDTH_MIN);
        Table { titles, is_wrapped: false, length, width_min, is_bold, ..Table::untitled() }
    }

    /// True if no row waits to be printed.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Number of the rows that are not taken yet.
    pub fn rows_count(&self) -> usize {
        self.rows.len()
    }

    /// The lines of the rows, at most `width` characters long where that is possible; empties the table.
    pub fn take_lines(&mut self, width: Option<usize>) -> Vec<String> {
        let mut rows = std::mem::take(&mut self.rows);
        let titles = if rows.is_empty() { None } else { self.titles.take() };
        let is_bold = self.is_bold && titles.is_some();
        if let Some(titles) = titles {
            rows.insert(0, titles);
        }
        self.widths.resize(self.widths.len().max(rows.iter().map(Vec::len).max().unwrap_or_default()), 0);
        for row in &rows {
            for (cell, width) in row.iter().zip(&mut self.widths) {
                *width = (*width).max((self.length)(cell).min(COLUMN_WIDTH_MAX));
            }
        }
        let mut lines: Vec<String> = rows.into_iter().flat_map(|row| self.lines_of(&row, width)).collect();
        if let Some(first) = lines.first_mut().filter(|_| is_bold) {
            let [bold, end] = BOLD;
            *first = format!("{bold}{first}{end}");
        }
        lines
    }

    fn lines_of(&self, row: &[String], width: Option<usize>) -> Vec<String> {
        let Some(width) = width else { return vec![self.aligned(row, &self.widths)] };
        if !self.is_wrapped {
            let widths = fitting(&self.widths, width, self.width_min);
            let last = row.len().saturating_sub(1);
            let cell = |(number, cell): (usize, &String)| match widths.get(number) {
                Some(own) if number < last => self.cut(cell, *own),
                // The last column takes what is left.
                _ => self.cut(cell, width.saturating_sub(start_of(&widths, number)).max(self.width_min)),
            };
            let row: Vec<String> = row.iter().enumerate().map(cell).collect();
            let line = self.aligned(&row, &widths);
            return vec![if self.width_min == CHOSEN_WIDTH_MIN { self.cut(&line, width) } else { line }];
        }
        let Some((value, names)) = row.split_last() else { return Vec::new() };
        let start = start_of(&self.widths, names.len());
        let mut lines = wrapped(value, width.saturating_sub(start).max(COLUMN_WIDTH_MIN)).into_iter();
        let mut first = names.to_vec();
        first.extend(lines.next());
        let further = lines.map(|line| format!("{:start$}{line}", ""));
        std::iter::once(self.aligned(&first, &self.widths)).chain(further).collect()
    }

    /// The cells on one line, padded to the widths.
    fn aligned(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub((self.length)(cell)) + GAP));
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// The text, or its beginning with an ellipsis.
    fn cut(&self, text: &str, width: usize) -> String {
        if (self.length)(text) <= width {
            return text.to_owned();
        }
        let (mut kept, mut letter) = (String::new(), [0; 4]);
        let mut left = width.saturating_sub(1);
        for one in text.chars() {
            let Some(rest) = left.checked_sub((self.length)(one.encode_utf8(&mut letter))) else { break };
            kept.push(one);
            left = rest;
        }
        format!("{}…", kept.trim_end())
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Where a column starts. Units: characters.
fn start_of(widths: &[usize], number: usize) -> usize {
    widths.iter().take(number).map(|width| width + GAP).sum()
}

/// The widths of columns of which all but the last leave room for it: the widest ones shrink first.
fn fitting(widths: &[usize], width: usize, width_min: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    let Some(last) = widths.len().checked_sub(1) else { return widths };
    let rest = widths[last].min(COLUMN_WIDTH_MIN);
    while start_of(&widths, last) + rest > width {
        let Some(widest) = widths[..last].iter_mut().max().filter(|widest| **widest > width_min) else {
            break;
        };
        *widest -= 1;
    }
    widths
}

/// The text in lines that end between words. A word that is longer than a line stays whole.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() {
            line.push_str(word);
        } else if length(line) + 1 + length(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_an_empty_one_leaves_no_line() {
        let mut table = Table::new(&["ID", "TYPE"]);
        assert_eq!(table.take_lines(None).len(), 0);
        table.row(["package:bash".into(), "package".into()]);
        assert_eq!(table.take_lines(None), ["ID            TYPE", "package:bash  package"]);
        // A later part of the table is aligned with the parts before.
        table.row(["x".into(), "y".into()]);
        assert_eq!(table.take_lines(None), ["x             y"]);
    }

    /// Story: rows on a terminal of 80 columns went on in the next line in the middle of a word.
    #[test]
    fn rows_fit_a_terminal_and_a_pipe_gets_them_whole() {
        let cells =
            || ["01a21b82-630f-762c-8cda-05d0f24ff3f8".into(), "airport".into(), "city=Zürich ".repeat(9)];
        let lines = |width| {
            let mut table = Table::new(&["ID", "TYPE", "PROPERTIES"]);
            table.row(cells());
            table.take_lines(width)
        };
        assert_eq!(
            lines(Some(80)),
            [
                "ID                                    TYPE     PROPERTIES",
                "01a21b82-630f-762c-8cda-05d0f24ff3f8  airport  city=Zürich city=Zürich city=Zür…"
            ]
        );
        assert_eq!(length(&lines(None)[1]), 154);
        // The id leaves room for the others.
        let narrow = lines(Some(40));
        assert_eq!(narrow[1], "01a21b82-630f-76…  airport  city=Zürich…");
        assert!(narrow.iter().all(|line| length(line) <= 40), "{narrow:?}");
        // Nothing fits 10 columns, and nothing fails.
        assert_eq!(lines(Some(10)).len(), 2);
    }

    #[test]
    fn chosen_columns_fit_any_terminal_and_wide_characters_count_twice() {
        let lines = |titles: &[&str], row: &[&str], width| {
            let mut table =
                Table::of_columns(titles.iter().map(|title| (*title).to_owned()).collect(), false);
            table.row(row.iter().map(|cell| (*cell).to_owned()));
            table.take_lines(width)
        };
        assert_eq!(lines(&["名前", "n"], &["東京都", "1"], None), ["名前    n", "東京都  1"]);
        let narrow = lines(&["名前", "n"], &["東京都千代田区丸の内", "12"], Some(16));
        assert_eq!(narrow[1], "東京都千代…   12");
        let (titles, cells) = (["a long title"; 30], ["a long cell"; 30]);
        for width in [1, 7, 40, 80] {
            let lines = lines(&titles, &cells, Some(width));
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
        }
        let mut table = Table::of_columns(vec!["a".to_owned()], true);
        table.row(["1".to_owned()]);
        assert_eq!(table.take_lines(Some(80)), ["\u{1b}[1ma\u{1b}[0m", "1"]);
    }

    #[test]
    fn a_long_value_goes_on_below_its_beginning() {
        let mut table = Table::untitled();
        table.row(["text".into(), "one two three four five".into()]);
        table.row(["x".into(), "a-word-that-is-longer-than-the-line".into()]);
        assert_eq!(
            table.take_lines(Some(20)),
            ["text  one two three", "      four five", "x     a-word-that-is-longer-than-the-line"]
        );
    }
}
