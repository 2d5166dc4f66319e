//! Splits CSV into records (RFC 4180, quoted fields may hold line ends) with bounded memory.

use std::io::BufRead;

use annals::{Error, Result};
use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};

use super::delimiter;
use super::lines::Lines;
use crate::import::source::read_error;
use crate::import::unit::Place;
use crate::import::{Checked, Refused};

/// The most columns.
pub const COLUMNS_MAX: usize = 16_384;

const PARSER: &str = "there is a parser but for the moment in which another takes its place";

/// Reads records one by one into a buffer that is used again. Empty lines are skipped; a byte order mark too.
pub struct RecordReader<R> {
    /// `None` only while another takes its place.
    parser: Option<Reader<Lines<R>>>,
    field_delimiter: char,
    record: StringRecord,
    /// The lines of the last record.
    place: Place,
}

/// One record, valid until the next is read.
pub struct CsvRecord<'a> {
    /// The line it starts on.
    pub line: u64,
    fields: &'a StringRecord,
}

impl<'a> CsvRecord<'a> {
    /// The fields without their quotes, at least one.
    pub fn fields(&self) -> &'a StringRecord {
        self.fields
    }
}

impl<R: BufRead> RecordReader<R> {
    /// A reader that starts at line 1. Without a delimiter it takes the one that is found in the first line.
    /// Errors: `Io` if the input breaks; `InvalidArgument` if no delimiter can be found.
    pub fn new(input: R, field_delimiter: Option<char>) -> Result<RecordReader<R>> {
        let mut lines = Lines::new(input).map_err(|error| read_error(1, error))?;
        let field_delimiter = field_delimiter.map_or_else(|| delimiter::find(lines.head()), Ok)?;
        lines.set_field_delimiter(field_delimiter as u8);
        Ok(RecordReader {
            parser: Some(new_parser(lines, field_delimiter)),
            field_delimiter,
            record: StringRecord::new(),
            place: Place::unsummed(0, 0),
        })
    }

    /// Refuses longer records. Units: bytes.
    pub fn set_bytes_max(&mut self, bytes_max: usize) {
        self.parser.as_mut().expect(PARSER).get_mut().set_bytes_max(bytes_max);
    }

    /// The input below.
    pub fn input(&self) -> &R {
        self.parser.as_ref().expect(PARSER).get_ref().input()
    }

    /// The character between fields.
    pub fn field_delimiter(&self) -> char {
        self.field_delimiter
    }

    /// Where the last record stands, and the sum over its lines.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The next record; `None` at the end. A refused record is skipped as a whole.
    /// Errors: `Io` if the input breaks.
    pub fn read(&mut self) -> Result<Option<Checked<CsvRecord<'_>>>> {
        let parser = self.parser.as_mut().expect(PARSER);
        let bytes_taken = parser.position().byte();
        let begun = parser.get_mut().begin_record(bytes_taken);
        let line = parser.get_ref().line();
        begun.map_err(|error| read_error(line, error))?;
        let mut refused = None;
        match parser.read_record(&mut self.record).map_err(csv::Error::into_kind) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(ErrorKind::Io(error)) => return Err(read_error(line, error)),
            Err(ErrorKind::Utf8 { .. }) => refused = Some("expected UTF-8, found other bytes".to_owned()),
            Err(error) => return Err(Error::io("read input", std::io::Error::other(format!("{error:?}")))),
        }
        let lines = parser.get_mut();
        if lines.is_unclosed() {
            refused = Some("expected a closing quote, found the end of the file".to_owned());
        } else if let Some(reason) = lines.skip_excess().map_err(|error| read_error(line, error))? {
            refused = Some(reason);
            let lines = self.parser.take().map(Reader::into_inner);
            self.parser = lines.map(|lines| new_parser(lines, self.field_delimiter));
        } else if self.record.len() > COLUMNS_MAX {
            refused = Some(format!("expected at most {COLUMNS_MAX} columns, found more"));
        }
        let (last, sum) = self.parser.as_ref().expect(PARSER).get_ref().last_and_sum();
        self.place = Place { line, last, sum: Some(sum), bytes: self.record.as_slice().len() };
        Ok(Some(match refused {
            Some(reason) => Err(Refused::new(line, reason)),
            None => Ok(CsvRecord { line, fields: &self.record }),
        }))
    }
}

fn new_parser<R: BufRead>(lines: Lines<R>, field_delimiter: char) -> Reader<Lines<R>> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(field_delimiter as u8).from_reader(lines)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;
    use crate::import::csv::lines::{DELIMITERS_MAX, RECORD_BYTES_MAX};

    type Outcome = Checked<(u64, Vec<String>)>;

    fn read(input: &[u8]) -> Vec<Outcome> {
        // A buffer of three bytes ends in the middle of most things.
        let whole = read_in(input, 64 * 1024);
        assert_eq!(whole, read_in(input, 3));
        whole
    }

    fn read_in(input: &[u8], buffer_bytes: usize) -> Vec<Outcome> {
        let input = BufReader::with_capacity(buffer_bytes, input);
        let mut reader = RecordReader::new(input, Some(',')).unwrap();
        let mut records = Vec::new();
        while let Some(record) = reader.read().unwrap() {
            records.push(
                record.map(|record| (record.line, record.fields().iter().map(str::to_string).collect())),
            );
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
        input.extend(b"x\n".repeat(100));
        input.resize(2 * RECORD_BYTES_MAX + 100, b'x');
        input.extend(b"\"\",\nx\"\nb\n");
        let lines = input.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let reason =
            "expected a record of at most 16777216 bytes, found a longer one; is a quote in it never closed?";
        let expected = [record(1, &["a"]), refused(2, reason), record(lines, &["b"])];
        assert_eq!(read_in(&input, 64 * 1024), expected);
        let mut reader = RecordReader::new(input.as_slice(), Some(',')).unwrap();
        while reader.read().unwrap().is_some() {
            assert!(reader.record.as_slice().len() <= RECORD_BYTES_MAX);
        }
        assert_eq!(reader.place().last, lines);
    }

    #[test]
    fn more_delimiters_than_the_bound_are_refused() {
        let input = format!("a\n{},\nb\n", ",".repeat(DELIMITERS_MAX));
        let reason =
            "expected at most 2097151 delimiters in a record, found more; is a quote in it never closed?";
        assert_eq!(
            read_in(input.as_bytes(), 1000),
            [record(1, &["a"]), refused(2, reason), record(3, &["b"])]
        );
    }

    #[test]
    fn records_between_single_carriage_returns_stand_on_one_line() {
        assert_eq!(
            read(b"a\rb\r\"\n\nc\"\rd"),
            [record(1, &["a"]), record(1, &["b"]), record(1, &["\n\nc"]), record(3, &["d"]),]
        );
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
