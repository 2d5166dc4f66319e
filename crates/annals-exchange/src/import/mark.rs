//! The progress of an import, stored in the message of each record, where it always agrees with the log.
//!
//! A record that holds the lines 1 to 4 and 6 of `people.jsonl` ends its message with `[import people.jsonl run 0 lines
//! 1-4 SUM, 6-6 SUM]`. The name of a run is the position at its beginning; `--resume` continues the latest run of the
//! file and skips the lines that its records hold. A refused line is in no stretch, so you can repair it in place. Each
//! stretch has a sum over its lines, so that a changed file is noticed.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::RangeInclusive;

use annals::{Error, ErrorKind, Position, Repository, Result, takes_back};

use super::line_sums::LineSums;
use super::source::read_error;
use crate::Progress;

const START: &str = "[import ";
const RUN: &str = " run ";
const LINES: &str = " lines ";

/// Consecutive lines of a file, without a refused one between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first line.
    pub first: u64,
    /// The last line.
    pub last: u64,
    /// The sum over the lines; `None` for imports that cannot be resumed by lines.
    pub sum: Option<u64>,
}

/// Lines that the log holds already. Shape: first line to last line, disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Adds the lines from `first` to `last`.
    pub fn add(&mut self, first: u64, last: u64) {
        let (mut first, mut last) = (first, last);
        // Merges every range that overlaps, so that one look-up finds the answer.
        while let Some((&start, &end)) = self.0.range(..=last).next_back().filter(|(_, end)| **end >= first) {
            self.0.remove(&start);
            first = first.min(start);
            last = last.max(end);
        }
        self.0.insert(first, last);
    }

    /// True if the log holds the line.
    pub fn has(&self, line: u64) -> bool {
        self.0.range(..=line).next_back().is_some_and(|(_, last)| *last >= line)
    }
}

/// One import of a file, with all its continuations.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The position of the repository when it began.
    pub began_at: Position,
    /// The lines it has committed.
    pub covered: Covered,
    stretches: Vec<(Position, Stretch)>,
}

/// The stretches of a run in the order of the log, and those that a later record took back.
#[derive(Default)]
struct Written {
    began_at: Option<Position>,
    stretches: Vec<(Position, Stretch)>,
    /// The records that took others back, in order, with the positions of these.
    taken_back: Vec<(Position, Vec<RangeInclusive<Position>>)>,
}

impl Written {
    /// Begins again for another run.
    fn add(&mut self, position: Position, began_at: Position, stretches: Vec<Stretch>) {
        if self.began_at.replace(began_at) != Some(began_at) {
            self.stretches.clear();
        }
        self.stretches.extend(stretches.into_iter().map(|stretch| (position, stretch)));
    }

    /// The stretches whose records nobody has taken back. A record that takes back a take-back brings back what that took.
    fn in_force(self) -> Vec<(Position, Stretch)> {
        let mut gone: Vec<&RangeInclusive<Position>> = Vec::new();
        let is_gone =
            |gone: &[&RangeInclusive<Position>], at: &Position| gone.iter().any(|range| range.contains(at));
        // Order: a later one decides whether an earlier one counts.
        for (at, ranges) in self.taken_back.iter().rev() {
            if !is_gone(&gone, at) {
                gone.extend(ranges);
            }
        }
        self.stretches.iter().copied().filter(|(at, _)| !is_gone(&gone, at)).collect()
    }
}

impl Run {
    /// A run that begins now.
    pub fn begin(repository: &Repository) -> Run {
        Run { began_at: repository.snapshot().position(), ..Run::default() }
    }

    /// The latest run of a file; a new one if there is none. Reads the whole log.
    ///
    /// Errors: `InvalidArgument` if its marks have the older form, without sums.
    pub fn latest(repository: &Repository, file: &str, progress: &dyn Progress) -> Result<Run> {
        let tail = repository.snapshot().position();
        let mut follow = repository.follow(Position(0));
        let next = || match follow.poll() {
            Ok(None) => None,
            Ok(Some((position, record))) => {
                progress.set(position.0, Some(tail.0));
                Some(Ok((position, record.message.to_string())))
            }
            Err(error) => Some(Err(error)),
        };
        Run::of_messages(std::iter::from_fn(next), file, tail)
    }

    /// The latest run of a file, from the messages of all records in order; one that begins at the tail if there is none.
    ///
    /// Errors: those of `messages`; `InvalidArgument` if its marks have the older form, without sums.
    pub fn of_messages<E: From<Error>>(
        messages: impl IntoIterator<Item = std::result::Result<(Position, String), E>>,
        file: &str,
        tail: Position,
    ) -> std::result::Result<Run, E> {
        let mut written = Written::default();
        let mut unsummed = None;
        for message in messages {
            let (position, message) = message?;
            match read_mark(&message, file) {
                Some(Mark::Summed(began_at, stretches)) => {
                    if unsummed.take().is_some() {
                        written.began_at = None;
                    }
                    written.add(position, began_at, stretches);
                }
                Some(Mark::Unsummed) => unsummed = Some(position),
                None => match takes_back(&message) {
                    ranges if ranges.is_empty() => {}
                    ranges => written.taken_back.push((position, ranges)),
                },
            }
        }
        if let Some(position) = unsummed {
            let text = format!(
                "{file}: expected marks with sums, found one of an older version, or of a JSON array, in record {position}: whether the \
                 file has changed cannot be known; import the lines that are missing from a file of their own, \
                 without --resume"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        let began_at = written.began_at.unwrap_or(tail);
        let stretches = written.in_force();
        // A run that was taken back whole is as if it had never been.
        let mut run = Run { began_at: if stretches.is_empty() { tail } else { began_at }, ..Run::default() };
        for (_, stretch) in &stretches {
            run.covered.add(stretch.first, stretch.last);
        }
        run.stretches = stretches;
        Ok(run)
    }

    /// True if it has committed no line.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Checks that the committed lines have not changed or moved. `header_sum` is the sum of the header of a CSV file.
    ///
    /// Errors: `InvalidArgument` if they have; those of reading.
    pub fn check(&self, file: &str, input: impl BufRead, header_sum: u64) -> Result<()> {
        let mut totals: BTreeMap<u64, u64> = BTreeMap::new();
        for (_, stretch) in &self.stretches {
            totals.insert(stretch.first - 1, 0);
            totals.insert(stretch.last, 0);
        }
        let Some((&last, _)) = totals.last_key_value() else { return Ok(()) };
        let lines_count = sum_lines(input, &mut totals, last)?;
        for (position, stretch) in &self.stretches {
            let total = totals[&stretch.last].wrapping_sub(totals[&(stretch.first - 1)]);
            if stretch.last > lines_count || Some(total.wrapping_add(header_sum)) != stretch.sum {
                let lines = match (stretch.first, stretch.last) {
                    (first, last) if first == last => format!("line {first}"),
                    (first, last) => format!("lines {first} to {last}"),
                };
                let text = format!(
                    "{file}: expected {lines}, and the header if there is one, as record {position} committed them, found \
                     other text; nothing was written. For --resume, repair only refused lines and add lines only at the end, \
                     or import new lines from a file of their own"
                );
                return Err(Error::new(ErrorKind::InvalidArgument, text));
            }
        }
        Ok(())
    }
}

/// Fills in the sum of all lines up to each line in `totals`; returns the number of lines, up to `last`.
fn sum_lines(mut input: impl BufRead, totals: &mut BTreeMap<u64, u64>, last: u64) -> Result<u64> {
    let mut sums = LineSums::default();
    let mut line = 0;
    while line < last {
        let mut is_ended = false;
        // Order: in pieces, because a line may be long.
        loop {
            let bytes = match input.fill_buf() {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                bytes => bytes.map_err(|error| read_error(line + 1, error))?,
            };
            if bytes.is_empty() {
                break;
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            sums.take(&bytes[..taken]);
            input.consume(taken);
            is_ended = end.is_some();
            if is_ended {
                break;
            }
        }
        let is_begun = is_ended || sums.is_in_line();
        line += u64::from(is_begun);
        if let Some(total) = totals.get_mut(&line) {
            *total = sums.total();
        }
        if !is_ended {
            break;
        }
    }
    Ok(line)
}

/// The message of a record that holds these lines of a file, after the message of the user.
pub fn marked_message(message: &str, file: &str, began_at: Position, stretches: &[Stretch]) -> String {
    let gap = if message.is_empty() { "" } else { " " };
    if let [Stretch { first, last, sum: None }] = stretches {
        return format!("{message}{gap}{START}{file}{LINES}{first}-{last}]");
    }
    let lines = stretches.iter().map(|stretch| {
        format!("{}-{} {:016x}", stretch.first, stretch.last, stretch.sum.unwrap_or_default())
    });
    let lines = lines.collect::<Vec<_>>().join(", ");
    format!("{message}{gap}{START}{file}{RUN}{began_at}{LINES}{lines}]")
}

#[derive(Debug, PartialEq)]
enum Mark {
    Summed(Position, Vec<Stretch>),
    /// Of the older form, without sums.
    Unsummed,
}

/// The lines that a message names, if it is of this file.
fn read_mark(message: &str, file: &str) -> Option<Mark> {
    let mark = message.strip_suffix(']')?;
    let (front, lines) = mark.rsplit_once(LINES)?;
    if front.strip_suffix(file).is_some_and(|front| front.ends_with(START)) {
        return Some(Mark::Unsummed);
    }
    let (front, began_at) = front.rsplit_once(RUN)?;
    front.strip_suffix(file)?.strip_suffix(START)?;
    let stretches = lines.split(", ").map(read_stretch).collect::<Option<_>>()?;
    Some(Mark::Summed(Position(began_at.parse().ok()?), stretches))
}

fn read_stretch(text: &str) -> Option<Stretch> {
    let (lines, sum) = text.split_once(' ')?;
    let (first, last) = lines.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    let sum = u64::from_str_radix(sum, 16).ok()?;
    (1 <= first && first <= last).then_some(Stretch { first, last, sum: Some(sum) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_as_written() {
        let stretches = [(3, 17, 5), (19, 19, u64::MAX)];
        let stretches = stretches.map(|(first, last, sum)| Stretch { first, last, sum: Some(sum) });
        for message in ["", "first load", "ends in ]"] {
            let text = marked_message(message, "a lines [1].jsonl", Position(7), &stretches);
            let expected = Mark::Summed(Position(7), stretches.to_vec());
            assert_eq!(read_mark(&text, "a lines [1].jsonl"), Some(expected));
            assert_eq!(read_mark(&text, "[1].jsonl"), None);
        }
        assert_eq!(read_mark("about [import x] lines 1-2]", "x"), None);
        assert_eq!(read_mark("first load [import x lines 1-2]", "x"), Some(Mark::Unsummed));
    }

    #[test]
    fn a_take_back_ends_marks_and_its_own_take_back_brings_them_back() {
        let mark = |first: u64, last: u64| {
            marked_message("", "a", Position(0), &[Stretch { first, last, sum: Some(0) }])
        };
        let run = |more: &[&str]| {
            let marks = [mark(1, 4), mark(5, 9)];
            let messages = marks.iter().map(String::as_str).chain(more.iter().copied());
            let messages =
                (1..).zip(messages).map(|(at, message)| Ok::<_, Error>((Position(at), message.to_owned())));
            Run::of_messages(messages, "a", Position(100)).expect("marks")
        };
        let covered = |run: &Run| (1..=9).filter(|line| run.covered.has(*line)).collect::<Vec<u64>>();
        assert_eq!(covered(&run(&[])), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let first = run(&["undone [takes back 1-1]"]);
        assert_eq!((covered(&first), first.began_at), (vec![5, 6, 7, 8, 9], Position(0)));
        let both = run(&["[takes back 2-2]", "[takes back 1-1]"]);
        assert_eq!((both.is_empty(), both.began_at), (true, Position(100)));
        assert_eq!(covered(&run(&["[takes back 1-2]", "redone [takes back 3-3]"])).len(), 9);
        assert_eq!(covered(&run(&["[takes back 1-2]", "[takes back 3-3]", "[takes back 4-4]"])).len(), 0);
        // Lines that a resumed import loads again.
        assert_eq!(covered(&run(&["[takes back 1-2]", &mark(1, 4)])), [1, 2, 3, 4]);
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

    #[test]
    fn a_stretch_is_checked_wherever_the_buffers_end() {
        let text = "a\nb\n\nc";
        let mut sums = LineSums::default();
        sums.take(b"a\n");
        let before = sums.total();
        sums.take(b"b\n\nc");
        let stretch = Stretch { first: 2, last: 4, sum: Some(sums.total().wrapping_sub(before)) };
        let run = Run { stretches: vec![(Position(1), stretch)], ..Run::default() };
        let check = |text: &str, buffer_bytes| {
            run.check("x", std::io::BufReader::with_capacity(buffer_bytes, text.as_bytes()), 0).is_ok()
        };
        for buffer_bytes in [1, 2, 3, 100] {
            assert!(check(text, buffer_bytes));
            assert!(check("a\nb\n\nc\nd\n", buffer_bytes), "other lines behind");
            assert!(check("other\nb\n\nc\n", buffer_bytes), "another line before");
            for changed in ["a\nc\n\nb", "a\nb\nc\n", "a\nb\nc\n\n", "a\nb\n\n", "a\nb\n", "\na\nb\n\nc", ""]
            {
                assert!(!check(changed, buffer_bytes), "{changed:?}");
            }
        }
    }
}
