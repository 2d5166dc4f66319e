//! Tables for people: aligned columns, which fit a terminal without breaking words.

/// Columns are padded to at most this width. Units: characters.
const COLUMN_WIDTH_MAX: usize = 60;
/// A column that is cut to fit a terminal keeps so much. Units: characters.
const COLUMN_WIDTH_MIN: usize = 12;
/// Spaces between columns.
const GAP: usize = 2;

/// Rows of cells, aligned.
pub struct Table {
    // Written with the first rows.
    titles: Option<Vec<String>>,
    // True for names with values: a long value continues on the next line. Other cells are cut.
    is_wrapped: bool,
    rows: Vec<Vec<String>>,
    // Widths of the columns so far. Units: characters.
    widths: Vec<usize>,
}

impl Table {
    /// A table with these column titles. On a terminal its cells are cut to fit a line.
    pub fn new(titles: &[&str]) -> Table {
        let titles = titles.iter().map(|title| (*title).to_owned()).collect();
        Table { titles: Some(titles), is_wrapped: false, ..Table::untitled() }
    }

    /// A table of names and values, without titles. On a terminal long values continue on the next line.
    pub fn untitled() -> Table {
        Table { titles: None, is_wrapped: true, rows: Vec::new(), widths: Vec::new() }
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
        if !rows.is_empty()
            && let Some(titles) = self.titles.take()
        {
            rows.insert(0, titles);
        }
        self.widths.resize(self.widths.len().max(rows.iter().map(Vec::len).max().unwrap_or_default()), 0);
        for row in &rows {
            for (cell, width) in row.iter().zip(&mut self.widths) {
                *width = (*width).max(length(cell).min(COLUMN_WIDTH_MAX));
            }
        }
        rows.into_iter().flat_map(|row| self.lines_of(&row, width)).collect()
    }

    fn lines_of(&self, row: &[String], width: Option<usize>) -> Vec<String> {
        let Some(width) = width else { return vec![aligned(row, &self.widths)] };
        if !self.is_wrapped {
            let widths = fitting(&self.widths, width);
            let last = row.len().saturating_sub(1);
            let cell = |(number, cell): (usize, &String)| match widths.get(number) {
                Some(own) if number < last => cut(cell, *own),
                // The last column takes what is left.
                _ => cut(cell, width.saturating_sub(start_of(&widths, number)).max(COLUMN_WIDTH_MIN)),
            };
            let row: Vec<String> = row.iter().enumerate().map(cell).collect();
            return vec![aligned(&row, &widths)];
        }
        let Some((value, names)) = row.split_last() else { return Vec::new() };
        let start = start_of(&self.widths, names.len());
        let mut lines = wrapped(value, width.saturating_sub(start).max(COLUMN_WIDTH_MIN)).into_iter();
        let mut first = names.to_vec();
        first.extend(lines.next());
        let further = lines.map(|line| format!("{:start$}{line}", ""));
        std::iter::once(aligned(&first, &self.widths)).chain(further).collect()
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Where a column starts. Units: characters.
fn start_of(widths: &[usize], number: usize) -> usize {
    widths.iter().take(number).map(|width| width + GAP).sum()
}

/// The cells on one line, padded to the widths.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(length(cell)) + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}

/// The widths of columns of which all but the last leave room for it: the widest ones shrink first.
fn fitting(widths: &[usize], width: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    let Some(last) = widths.len().checked_sub(1) else { return widths };
    let rest = widths[last].min(COLUMN_WIDTH_MIN);
    while start_of(&widths, last) + rest > width {
        let Some(widest) = widths[..last].iter_mut().max().filter(|widest| **widest > COLUMN_WIDTH_MIN)
        else {
            break;
        };
        *widest -= 1;
    }
    widths
}

/// The text, or its beginning with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
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
