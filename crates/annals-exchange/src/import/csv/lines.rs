//! Gives the parser one line at a time: so it never reads beyond the record it is at, and the numbers and sums of lines are exact.
//!
//! The parser itself neither bounds a record nor reports a quote that is never closed; it counts the line end of `\r\n`
//! and empty lines to the record behind them.

use std::io::{self, BufRead, Chain, Cursor, Read};

use crate::import::line_sums::{LineSums, without_mark};

/// The longest record accepted, with its quotes: that of one record of a log. Units: bytes.
pub const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most field delimiters in a record, those in quotes included: the parser keeps eight bytes for each.
pub const DELIMITERS_MAX: usize = 2 * 1024 * 1024 - 1;
/// So much of the first line is looked at before it is parsed. Units: bytes.
const FIRST_LINE_BYTES_MAX: u64 = 64 * 1024;

/// The lines of one input, without a byte order mark.
pub struct Lines<R> {
    /// The first line, which was looked at, then the rest.
    input: Chain<Cursor<Vec<u8>>, R>,
    field_delimiter: u8,
    /// Sums over the lines given.
    sums: LineSums,
    /// Bytes given to the parser.
    bytes_given: u64,
    record: Measure,
    /// The longest record, and the most delimiters in it.
    bytes_max: usize,
    delimiters_max: usize,
    /// The line on which the record begins.
    line: u64,
    /// Sum of the lines before it.
    sum_before: u64,
    end: End,
    /// Why the record is refused; then the parser is told that the input ends.
    excess: Option<String>,
}

/// The size of a record so far.
#[derive(Clone, Copy, Default)]
struct Measure {
    bytes: usize,
    quotes: usize,
    delimiters: usize,
}

/// How the parser learnt, in this record, that the input ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Untold,
    /// It got one more line end. This closes the last record, unless a quote is open.
    LineEndGiven,
    Told,
}

impl<R: BufRead> Lines<R> {
    /// Reads the first line that is not empty, or as much of it as it looks at.
    /// Errors: those of `input`.
    pub fn new(mut input: R) -> io::Result<Lines<R>> {
        let mut head = Vec::new();
        loop {
            let room = FIRST_LINE_BYTES_MAX - head.len() as u64;
            let bytes = input.by_ref().take(room).read_until(b'\n', &mut head)?;
            if bytes == 0 || !without_mark(&head).iter().all(is_line_end) {
                break;
            }
        }
        let head = without_mark(&head).to_vec();
        Ok(Lines {
            input: Cursor::new(head).chain(input),
            field_delimiter: b',',
            sums: LineSums::default(),
            bytes_given: 0,
            record: Measure::default(),
            bytes_max: RECORD_BYTES_MAX,
            delimiters_max: DELIMITERS_MAX,
            line: 0,
            sum_before: 0,
            end: End::Untold,
            excess: None,
        })
    }

    /// The input below.
    pub fn input(&self) -> &R {
        self.input.get_ref().1
    }

    /// The start of the input, read to find the delimiter.
    pub fn head(&self) -> &[u8] {
        self.input.get_ref().0.get_ref()
    }

    /// Refuses longer records. Units: bytes.
    pub fn set_bytes_max(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max.min(RECORD_BYTES_MAX);
        // The parser keeps eight bytes for each.
        self.delimiters_max = (bytes_max / 8).min(DELIMITERS_MAX);
    }

    /// Counts these as field delimiters.
    pub fn set_field_delimiter(&mut self, field_delimiter: u8) {
        self.field_delimiter = field_delimiter;
    }

    /// Skips empty lines before the next record. `bytes_taken` is how much of what it was given the parser has taken.
    /// Errors: those of the input.
    pub fn begin_record(&mut self, bytes_taken: u64) -> io::Result<()> {
        self.record = Measure::default();
        self.end = End::Untold;
        self.sum_before = self.sums.total();
        let bytes_left = self.bytes_given - bytes_taken;
        if self.sums.is_in_line() {
            self.line = self.sums.lines_count() + 1;
        } else if bytes_left > 1 {
            // Several records on one line: it has single `\r` in it.
            self.line = self.sums.lines_count();
        } else {
            // One byte is the line feed behind `\r`.
            self.skip_empty_lines()?;
            self.line = self.sums.lines_count() + 1;
        }
        Ok(())
    }

    fn skip_empty_lines(&mut self) -> io::Result<()> {
        loop {
            let input = fill(&mut self.input)?;
            let bytes = input.iter().take_while(|byte| is_line_end(byte)).count();
            if bytes == 0 {
                return Ok(());
            }
            self.sums.take(&input[..bytes]);
            self.input.consume(bytes);
        }
    }

    /// The line on which the record begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The line on which the record ends, and the sum over its lines.
    pub fn last_and_sum(&self) -> (u64, u64) {
        let last = self.sums.lines_count() + u64::from(self.sums.is_in_line());
        (last, self.sums.total().wrapping_sub(self.sum_before))
    }

    /// True if the input ended within quotes.
    pub fn is_unclosed(&self) -> bool {
        self.end == End::Told
    }

    /// Skips the rest of a record that is too long, and returns why it is refused. The parser that was told that the input ends
    /// needs a successor.
    ///
    /// Errors: those of the input.
    pub fn skip_excess(&mut self) -> io::Result<Option<String>> {
        let Some(reason) = self.excess.take() else { return Ok(None) };
        self.bytes_given = 0;
        loop {
            let line = next_line(fill(&mut self.input)?);
            let bytes = line.len();
            self.record.quotes += count(line, b'"');
            self.sums.take(line);
            self.input.consume(bytes);
            // A record ends at a line end outside quotes, and a doubled quote counts two.
            if bytes == 0 || !self.sums.is_in_line() && self.record.quotes.is_multiple_of(2) {
                return Ok(Some(reason));
            }
        }
    }
}

impl<R: BufRead> Read for Lines<R> {
    /// Gives one line, or a part of it.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.excess.is_some() || buffer.is_empty() {
            return Ok(0);
        }
        let input = fill(&mut self.input)?;
        // Look no further than the parser has room: the input may be one long line in memory.
        let line = next_line(&input[..input.len().min(buffer.len())]);
        if line.is_empty() {
            if self.end != End::Untold {
                self.end = End::Told;
                return Ok(0);
            }
            self.end = End::LineEndGiven;
            self.bytes_given += 1;
            buffer[0] = b'\n';
            return Ok(1);
        }
        let record = self.record.with(line, self.field_delimiter);
        self.excess = record.excess(self.bytes_max, self.delimiters_max);
        if self.excess.is_some() {
            return Ok(0);
        }
        let bytes = line.len();
        buffer[..bytes].copy_from_slice(line);
        self.record = record;
        self.sums.take(line);
        self.bytes_given += bytes as u64;
        self.input.consume(bytes);
        Ok(bytes)
    }
}

impl Measure {
    fn with(self, piece: &[u8], field_delimiter: u8) -> Measure {
        Measure {
            bytes: self.bytes + piece.len(),
            quotes: self.quotes + count(piece, b'"'),
            delimiters: self.delimiters + count(piece, field_delimiter),
        }
    }

    /// Why it is too long, if it is.
    fn excess(&self, bytes_max: usize, delimiters_max: usize) -> Option<String> {
        if self.bytes > bytes_max {
            return Some(format!(
                "expected a record of at most {bytes_max} bytes, found a longer one; is a quote in it never closed?"
            ));
        }
        (self.delimiters > delimiters_max).then(|| {
            format!("expected at most {delimiters_max} delimiters in a record, found more; is a quote in it never closed?")
        })
    }
}

/// Fills the buffer of `input`; a signal in between does not count as an error.
fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            // The buffer is full: this call reads nothing.
            Ok(_) => return input.fill_buf(),
        }
    }
}

/// Up to the first line end and with it, or all of it.
fn next_line(bytes: &[u8]) -> &[u8] {
    bytes.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &bytes[..=end])
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn count(bytes: &[u8], wanted: u8) -> usize {
    bytes.iter().filter(|&&byte| byte == wanted).count()
}
