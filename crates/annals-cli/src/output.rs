//! Answers on standard output: aligned text for people, JSON lines for programs.

use std::fmt::Display;
use std::io::{BufWriter, IsTerminal, Stdout, Write};
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use annals::{Instant, Provenance, ProvenanceKind, Value};
use annals_exchange::text::{count, joined, one_line, value_to_text};
use annals_json::{Form, json_of};
use serde_json::json;

use crate::stop::Outcome;
use crate::table::Table;

/// Summaries of properties are cut here. Units: characters.
const SUMMARY_LENGTH_MAX: usize = 100;

/// Rows of a table that are aligned together; a longer table is printed in parts.
const ROWS_ALIGNED_MAX: usize = 1_000;
/// Buffered text is written at the latest after this time.
const BUFFER_TIME: Duration = Duration::from_millis(100);

/// Standard output, buffered.
pub struct Output {
    writer: BufWriter<Stdout>,
    flushed: Clock,
    is_json: bool,
    // The columns of the terminal; `None` for a file or a pipe, which get whole lines.
    width: Option<usize>,
    // True after the first line is written.
    has_lines: bool,
}

impl Output {
    /// Standard output, as JSON or text.
    pub fn new(is_json: bool) -> Output {
        let writer = BufWriter::with_capacity(64 * 1024, std::io::stdout());
        Output { writer, flushed: Clock::now(), is_json, width: terminal_width(), has_lines: false }
    }

    /// True if answers are to be JSON.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// Makes answers JSON from now on.
    pub fn set_json(&mut self) {
        self.is_json = true;
    }

    /// True if a terminal shows the answers.
    pub fn is_terminal(&self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// True if a terminal shows the answers, and the user wants colours there.
    /// Source: <https://no-color.org>.
    pub fn has_colours(&self) -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_plain = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        self.is_terminal() && !is_set("NO_COLOR") && !is_plain
    }

    /// True once a line was written.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Writes one line of text.
    pub fn line(&mut self, text: impl Display) -> Outcome {
        self.has_lines = true;
        Ok(writeln!(self.writer, "{text}")?)
    }

    /// Writes a count: a number, or an object with it.
    pub fn count(&mut self, number: u64) -> Outcome {
        match self.is_json {
            true => self.json(&json!({ "count": number })),
            false => self.line(count(number)),
        }
    }

    /// Ends a list: in text form it reports an empty list. In JSON an empty list has no lines.
    pub fn end_list(&self) {
        if !self.is_json && !self.has_lines {
            tell!("nothing found");
        }
    }

    /// Writes one JSON value on a line.
    pub fn json(&mut self, json: &impl Form) -> Outcome {
        self.writer.write_all(&json_of(json))?;
        self.writer.write_all(b"\n")?;
        if self.flushed.elapsed() >= BUFFER_TIME { self.flush() } else { Ok(()) }
    }

    /// Writes one line that is JSON already.
    pub fn json_line(&mut self, line: &[u8]) -> Outcome {
        self.has_lines = true;
        self.writer.write_all(line)?;
        self.writer.write_all(b"\n")?;
        if self.flushed.elapsed() >= BUFFER_TIME { self.flush() } else { Ok(()) }
    }

    /// Writes lines that have their ends.
    pub fn text(&mut self, text: &[u8]) -> Outcome {
        self.has_lines = true;
        self.writer.write_all(text)?;
        if self.flushed.elapsed() >= BUFFER_TIME { self.flush() } else { Ok(()) }
    }

    /// Writes the rows of a table and empties it; writes nothing for an empty table.
    pub fn table(&mut self, table: &mut Table) -> Outcome {
        for line in table.take_lines(self.width) {
            self.line(line)?;
        }
        Ok(())
    }

    /// Adds a row, and writes the rows when there are many, so that the user sees a long table while it is made.
    pub fn row(&mut self, table: &mut Table, cells: impl IntoIterator<Item = String>) -> Outcome {
        table.row(cells);
        if table.rows_count() < ROWS_ALIGNED_MAX {
            return Ok(());
        }
        self.table(table)?;
        self.flush()
    }

    /// Writes the buffered text.
    pub fn flush(&mut self) -> Outcome {
        self.flushed = Clock::now();
        Ok(self.writer.flush()?)
    }

    /// The buffered writer, for output that is neither line nor table.
    pub fn writer(&mut self) -> &mut impl Write {
        &mut self.writer
    }
}

/// The columns of the terminal that shows the answers. Units: characters.
fn terminal_width() -> Option<usize> {
    let out = std::io::stdout();
    // A terminal that does not know its size has 0.
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok())??;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// The fields of a provenance as text; missing fields are left out.
///
/// Shape: `[(field, text)]`, fields named as in searches, without `@`.
pub fn provenance_texts(provenance: &Provenance) -> Vec<(&'static str, String)> {
    let text = |text: &Option<Arc<str>>| text.as_ref().map(|text| one_line(text));
    let instant = |instant: Option<Instant>| instant.map(|instant| instant.to_string());
    let is_usual = provenance.kind == ProvenanceKind::Local;
    let maintainers = joined(provenance.maintained_by.iter().map(|name| one_line(name)));
    let mappings = provenance.mappings.iter();
    let mappings = joined(mappings.map(|(key, text)| format!("{} = {}", one_line(key), one_line(text))));
    let fields = [
        ("home", text(&provenance.home)),
        ("provenance", (!is_usual).then(|| provenance.kind.name().to_owned())),
        ("replicatedBy", text(&provenance.replicated_by)),
        ("license", text(&provenance.license)),
        ("maintainedBy", Some(maintainers).filter(|text| !text.is_empty())),
        ("mappings", Some(mappings).filter(|text| !text.is_empty())),
        ("effectiveFrom", instant(provenance.effective_from)),
        ("effectiveTo", instant(provenance.effective_to)),
        ("propagatedFrom", provenance.propagated_from.as_ref().map(|id| one_line(&id.to_string()))),
    ];
    fields.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// The properties on one line, shortened.
pub fn properties_summary<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> String {
    let mut named: Vec<(&str, Value)> = properties.collect();
    named.sort_unstable_by_key(|(name, _)| *name);
    let text = joined(
        named.into_iter().map(|(name, value)| format!("{}={}", one_line(name), value_to_text(&value))),
    );
    match text.char_indices().nth(SUMMARY_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A size in the largest unit that leaves at least 1.
pub fn bytes(number: u64) -> String {
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().expect("there are units");
    #[allow(clippy::cast_precision_loss)] // The number is shown with one decimal digit.
    let mut size = number as f64;
    for larger in units {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{number} B") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_largest_unit() {
        assert_eq!([bytes(1023), bytes(1536), bytes(3 << 30)], ["1023 B", "1.5 KiB", "3.0 GiB"]);
    }
}
