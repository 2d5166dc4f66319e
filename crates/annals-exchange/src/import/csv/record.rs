//! Splits CSV into records (RFC 4180, quoted fields may hold line ends) with bounded memory.
//!
//! It drives `csv-core`, not `csv`: the buffer of `csv` grows without bound when a quote is never closed.

use std::io::{self, BufRead, Chain, Cursor, Read};

use annals::Result;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::import::line_sums::{BYTE_ORDER_MARK, LineSums};
use crate::import::source::read_error;
use crate::import::unit::Place;
use crate::import::{Checked, Refused};

/// The longest record accepted, without quotes and delimiters: that of one record of a log.
pub const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most columns.
pub const COLUMNS_MAX: usize = 16_384;

/// Reads records one by one into buffers that are used again. Empty lines are skipped; a byte order mark too.
pub struct RecordReader<R> {
    /// The first bytes, once they are read and are no byte order mark; then the rest.
    input: Chain<Cursor<Vec<u8>>, R>,
    is_started: bool,
    core: Reader,
    /// Line feeds taken from `input` so far.
    line_ends: u64,
    /// Sums over the lines taken.
    sums: LineSums,
    /// The lines of the last record.
    place: Place,
    text: Vec<u8>,
    /// Where each field ends in `text`.
    ends: Vec<usize>,
}

/// One record, valid until the next is read.
pub struct Record<'a> {
    /// The line it starts on.
    pub line: u64,
    text: &'a str,
    ends: &'a [usize],
}

impl<'a> Record<'a> {
    /// The fields without their quotes, at least one.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &'a str> {
        let (text, ends) = (self.text, self.ends);
        (0..ends.len()).map(move |index| {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            &text[start..ends[index]]
        })
    }
}

impl<R: BufRead> RecordReader<R> {
    /// A reader that starts at line 1.
    pub fn new(input: R, field_delimiter: u8) -> RecordReader<R> {
        let core = ReaderBuilder::new().delimiter(field_delimiter).build();
        let input = Cursor::new(Vec::new()).chain(input);
        RecordReader {
            input,
            is_started: false,
            core,
            line_ends: 0,
            sums: LineSums::default(),
            place: Place::unsummed(0, 0),
            text: vec![0; 4 * 1024],
            ends: vec![0; 32],
        }
    }

    /// Where the last record stands, and the sum over its lines.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The next record; `None` at the end. A refused record is skipped as a whole.
    /// Errors: `Io` if the input breaks.
    pub fn read(&mut self) -> Result<Option<Checked<Record<'_>>>> {
        if !self.is_started {
            self.skip_byte_order_mark().map_err(|error| read_error(1, error))?;
        }
        if !self.skip_empty_lines()? {
            return Ok(None);
        }
        let line = self.line_ends + 1;
        let before = self.sums.total();
        let (mut text_bytes, mut fields_count, mut too_long) = (0, 0, None);
        loop {
            wait_for_input(&mut self.input).map_err(|error| read_error(line, error))?;
            let input = self.input.fill_buf().map_err(|error| read_error(line, error))?;
            let is_at_end = input.is_empty();
            // A line end closes the last record unless it stands in quotes, and so tells a quote that was never closed.
            let input = if is_at_end { b"\n" } else { input };
            let (text, ends) = (&mut self.text[text_bytes..], &mut self.ends[fields_count..]);
            let (result, taken, bytes, fields) = self.core.read_record(input, text, ends);
            text_bytes += bytes;
            fields_count += fields;
            if !is_at_end {
                self.line_ends += count_line_ends(&input[..taken]);
                self.sums.take(&input[..taken]);
                self.input.consume(taken);
            }
            match result {
                ReadRecordResult::Record => break,
                ReadRecordResult::InputEmpty if is_at_end && text_bytes == 0 && fields_count == 0 => {
                    return Ok(None);
                }
                ReadRecordResult::InputEmpty if is_at_end => {
                    let reason = "expected a closing quote, found the end of the file";
                    return Ok(Some(Err(too_long.unwrap_or_else(|| Refused::new(line, reason)))));
                }
                // `End` is the answer to empty input, which is never given (but for a second byte order mark).
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
                ReadRecordResult::OutputFull if text_bytes < RECORD_BYTES_MAX => {
                    self.text.resize((2 * text_bytes).min(RECORD_BYTES_MAX), 0);
                }
                ReadRecordResult::OutputFull => {
                    // The rest is read over the start: the record is refused, only its end matters now.
                    text_bytes = 1;
                    too_long.get_or_insert_with(|| Refused::new(line, text_too_long()));
                }
                ReadRecordResult::OutputEndsFull if fields_count < COLUMNS_MAX => {
                    self.ends.resize((2 * fields_count).min(COLUMNS_MAX), 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    fields_count = 1;
                    let reason = format!("expected at most {COLUMNS_MAX} columns, found more");
                    too_long.get_or_insert_with(|| Refused::new(line, reason));
                }
            }
        }
        let last = self.line_ends + u64::from(self.sums.is_in_line());
        let sum = self.sums.total().wrapping_sub(before);
        self.place = Place { line, last, sum: Some(sum), bytes: text_bytes };
        if let Some(refused) = too_long {
            return Ok(Some(Err(refused)));
        }
        let ends = &self.ends[..fields_count];
        let text = std::str::from_utf8(&self.text[..text_bytes]).ok();
        // A delimiter is one ASCII byte, but a damaged character can be cut by it and whole again without it.
        let text = text.filter(|text| ends.iter().all(|&end| text.is_char_boundary(end)));
        Ok(Some(match text {
            Some(text) => Ok(Record { line, text, ends }),
            None => Err(Refused::new(line, "expected UTF-8, found other bytes")),
        }))
    }

    /// Skips a byte order mark. The core would miss one that is cut by the end of a buffer.
    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        let (head, rest) = self.input.get_mut();
        rest.take(BYTE_ORDER_MARK.len() as u64).read_to_end(head.get_mut())?;
        if head.get_ref() == BYTE_ORDER_MARK {
            head.get_mut().clear();
        }
        self.is_started = true;
        Ok(())
    }

    /// Skips line ends; false if nothing follows them.
    fn skip_empty_lines(&mut self) -> Result<bool> {
        loop {
            let line = self.line_ends + 1;
            wait_for_input(&mut self.input).map_err(|error| read_error(line, error))?;
            let input = self.input.fill_buf().map_err(|error| read_error(line, error))?;
            let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            let bytes = input.iter().take_while(|byte| is_line_end(byte)).count();
            if bytes == 0 {
                return Ok(!input.is_empty());
            }
            self.line_ends += count_line_ends(&input[..bytes]);
            self.sums.take(&input[..bytes]);
            self.input.consume(bytes);
        }
    }
}

/// Fills the buffer of `input`; a signal in between does not count as an error.
fn wait_for_input(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(()),
        }
    }
}

fn count_line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

fn text_too_long() -> String {
    format!(
        "expected a record of at most {RECORD_BYTES_MAX} bytes, found a longer one; is a quote in it never closed?"
    )
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    type Outcome = Checked<(u64, Vec<String>)>;

    fn read(input: &[u8]) -> Vec<Outcome> {
        // A buffer of three bytes ends in the middle of most things.
        let whole = read_in(input, 64 * 1024);
        assert_eq!(whole, read_in(input, 3));
        whole
    }

    fn read_in(input: &[u8], buffer_bytes: usize) -> Vec<Outcome> {
        let mut reader = RecordReader::new(BufReader::with_capacity(buffer_bytes, input), b',');
        let mut records = Vec::new();
        while let Some(record) = reader.read().unwrap() {
            records.push(record.map(|record| (record.line, record.fields().map(str::to_string).collect())));
        }
        records
    }

    fn record(line: u64, fields: &[&str]) -> Outcome {
        Ok((line, fields.iter().map(|field| field.to_string()).collect()))
    }

    fn refused(line: u64, reason: &str) -> Outcome {
        Err(Refused::new(line, reason))
    }

    #[test]
    fn records_know_the_line_they_start_on() {
        let input = b"a,b\n\n\"c\nd\",e\r\n\r\nf,\ng,h";
        let expected = [
            record(1, &["a", "b"]),
            record(3, &["c\nd", "e"]),
            record(6, &["f", ""]),
            record(7, &["g", "h"]),
        ];
        assert_eq!(read(input), expected);
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_doubled_quotes() {
        assert_eq!(read(b"\"a,\"\"b\"\"\r\nc\",\"\"\n"), [record(1, &["a,\"b\"\r\nc", ""])]);
    }

    #[test]
    fn an_empty_input_has_no_record() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"\n\r\n\n"), []);
        assert_eq!(read(b"\xef\xbb\xbf"), []);
        assert_eq!(read(b"\xef\xbb\xbf\n"), []);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_field() {
        assert_eq!(read_in(b"\xef\xbb\xbfa,b\n", 1), [record(1, &["a", "b"])]);
        assert_eq!(read(b"\xef\xbb\xbfa,b\n"), [record(1, &["a", "b"])]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_refused_where_it_was_opened() {
        let expected = [record(1, &["a"]), refused(2, "expected a closing quote, found the end of the file")];
        assert_eq!(read(b"a\n\"b\nc\nd"), expected);
        assert_eq!(read(b"a\n\""), expected);
        assert_eq!(read(b"a\nb,\"\"\"\n"), expected);
    }

    #[test]
    fn a_quote_closed_at_the_end_of_the_file_is_closed() {
        assert_eq!(read(b"\"a\""), [record(1, &["a"])]);
        assert_eq!(read(b"\"a\"\"\""), [record(1, &["a\""])]);
        assert_eq!(read(b"a,"), [record(1, &["a", ""])]);
        assert_eq!(read(b"\"\""), [record(1, &[""])]);
    }

    #[test]
    fn other_bytes_than_utf8_refuse_one_record() {
        let bad = |line| refused(line, "expected UTF-8, found other bytes");
        assert_eq!(read(b"a\n\xff\n\xc3,\xa4\nb\n"), [record(1, &["a"]), bad(2), bad(3), record(4, &["b"])]);
    }

    #[test]
    fn an_overlong_record_is_refused_in_bounded_memory() {
        let mut input = b"a\n\"".to_vec();
        input.resize(2 * RECORD_BYTES_MAX + 100, b'\n');
        input.extend(b"\"\nb\n");
        let lines = input.iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert_eq!(
            read_in(&input, 64 * 1024),
            [record(1, &["a"]), refused(2, &text_too_long()), record(lines, &["b"])]
        );
        let mut reader = RecordReader::new(input.as_slice(), b',');
        while reader.read().unwrap().is_some() {}
        assert_eq!(reader.text.len(), RECORD_BYTES_MAX);
    }

    #[test]
    fn more_columns_than_the_bound_are_refused() {
        let most = ",".repeat(COLUMNS_MAX - 1);
        let input = format!("{most}\n{most},\na\n");
        let expected = [
            record(1, &vec![""; COLUMNS_MAX]),
            refused(2, "expected at most 16384 columns, found more"),
            record(3, &["a"]),
        ];
        assert_eq!(read(input.as_bytes()), expected);
    }
}
