//! How far an import came, written where it cannot disagree with the log: in the message of each record.
//!
//! A record that holds lines 1 to 5000 of `people.jsonl` ends its message with `[import people.jsonl lines 1-5000]`.
//! Whoever resumes reads the messages of the log and skips the lines that some record holds. A line that was refused
//! is in no range that ends at it, and lines of a batch that was never committed are in no range at all.

use std::collections::BTreeMap;

use annals::{Position, Repository, Result};

use crate::progress::Progress;

const START: &str = "[import ";
const LINES: &str = " lines ";

/// Lines that the log holds already. Shape: first line to last line, disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Adds the lines from `first` to `last`.
    pub fn add(&mut self, first: u64, last: u64) {
        let (mut first, mut last) = (first, last);
        // Takes in every range that overlaps, so that one look finds the answer.
        while let Some((&start, &end)) = self.0.range(..=last).next_back().filter(|(_, end)| **end >= first) {
            self.0.remove(&start);
            first = first.min(start);
            last = last.max(end);
        }
        self.0.insert(first, last);
    }

    /// True if the line is held.
    pub fn has(&self, line: u64) -> bool {
        self.0.range(..=line).next_back().is_some_and(|(_, last)| *last >= line)
    }
}

/// The message of a record that holds the lines `first` to `last` of a file, behind what the user has to say.
pub fn marked_message(message: &str, file: &str, first: u64, last: u64) -> String {
    let gap = if message.is_empty() { "" } else { " " };
    format!("{message}{gap}{START}{file}{LINES}{first}-{last}]")
}

/// The lines that a message says its record holds, if they are of this file.
fn read_mark(message: &str, file: &str) -> Option<(u64, u64)> {
    let mark = message.strip_suffix(']')?;
    let (front, lines) = mark.rsplit_once(LINES)?;
    front.strip_suffix(file)?.strip_suffix(START)?;
    let (first, last) = lines.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// The lines of a file that earlier imports have committed. Reads the whole log.
pub fn covered_lines(repository: &Repository, file: &str) -> Result<Covered> {
    let progress = Progress::new("look for what is there", "records");
    let tail = repository.snapshot().position();
    let mut covered = Covered::default();
    let mut follow = repository.follow(Position(0));
    while let Some((position, record)) = follow.poll()? {
        if let Some((first, last)) = read_mark(&record.message, file) {
            covered.add(first, last);
        }
        progress.set(position.0, Some(tail.0));
    }
    progress.finish();
    Ok(covered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_as_written() {
        for message in ["", "first load", "ends in ]"] {
            let text = marked_message(message, "a lines [1].jsonl", 3, 17);
            assert_eq!(read_mark(&text, "a lines [1].jsonl"), Some((3, 17)));
            assert_eq!(read_mark(&text, "[1].jsonl"), None);
        }
        assert_eq!(read_mark("about [import x] lines 1-2]", "x"), None);
    }

    #[test]
    fn lines_between_ranges_are_not_covered() {
        let mut covered = Covered::default();
        covered.add(1, 4);
        covered.add(7, 8);
        covered.add(6, 9);
        covered.add(8, 9);
        assert_eq!((1..=10).filter(|&line| !covered.has(line)).collect::<Vec<_>>(), [5, 10]);
    }
}
