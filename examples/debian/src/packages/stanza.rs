//! Splits a Debian control file (deb822) into stanzas and fields, and survives damaged ones.

use std::io::{BufRead, Read};
use std::ops::Range;

use annals::Result;
use annals_exchange::import::quote;
use annals_exchange::import::read_error;
use annals_exchange::import::{Checked, Refused};

/// The longest line accepted. The longest in Debian 12 and 13 has 75,649 bytes (Provides of librust-winapi-dev).
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// The longest stanza accepted; with it the memory of a reader is bounded.
pub const STANZA_BYTES_MAX: usize = 4 * LINE_BYTES_MAX;
/// The most fields in one stanza; Debian 12 and 13 stay below 30.
pub const FIELDS_MAX: usize = 256;

/// Reads stanzas one by one into a buffer that is used again.
///
/// Stanzas are separated by empty lines; a line of blanks counts as empty, as Debian Policy allows. A line may end in
/// LF or CR LF.
/// Source: <https://www.debian.org/doc/debian-policy/ch-controlfields.html#syntax-of-control-files>.
pub struct StanzaReader<R> {
    input: R,
    /// Lines read so far.
    line: u64,
    /// The lines of the current stanza.
    text: Vec<u8>,
    fields: Vec<FieldPlace>,
    // True if the last stanza read ended with the input, without an empty line.
    is_cut: bool,
}

/// One stanza, valid until the next is read.
#[derive(Debug)]
pub struct Stanza<'a> {
    /// Its first line.
    pub line: u64,
    text: &'a str,
    fields: &'a [FieldPlace],
}

/// One field of a stanza.
/// Shape: `value` is trimmed; its continuation lines are kept, each behind a line feed and a blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The line its name stands on.
    pub line: u64,
    /// The name as written.
    pub name: &'a str,
    /// The value, which can be empty.
    pub value: &'a str,
}

#[derive(Debug)]
struct FieldPlace {
    line: u64,
    name: Range<usize>,
    value: Range<usize>,
}

/// The outcome of reading one line.
enum Line {
    End,
    Empty,
    Kept,
    TooLong,
}

impl<R: BufRead> StanzaReader<R> {
    /// A reader that starts at line 1.
    pub fn new(input: R) -> StanzaReader<R> {
        StanzaReader { input, line: 0, text: Vec::new(), fields: Vec::new(), is_cut: false }
    }

    /// The next stanza; `None` at the end. A refused stanza is skipped as a whole.
    /// Errors: `Io` if the input breaks; what was read of the stanza until then is dropped.
    pub fn read(&mut self) -> Result<Option<Checked<Stanza<'_>>>> {
        self.text.clear();
        let mut refused = None;
        let mut first_line = 0;
        loop {
            let start = self.text.len();
            match self.read_line()? {
                Line::End if first_line == 0 => return Ok(None),
                Line::Empty if first_line == 0 => continue,
                end @ (Line::End | Line::Empty) => {
                    self.is_cut = matches!(end, Line::End);
                    break;
                }
                Line::Kept if self.text.len() <= STANZA_BYTES_MAX => {}
                Line::Kept => {
                    self.text.truncate(start);
                    let reason =
                        format!("expected a stanza of at most {STANZA_BYTES_MAX} bytes, found a longer one");
                    refused.get_or_insert(Refused::new(self.line, reason));
                }
                Line::TooLong => {
                    self.text.truncate(start);
                    let reason =
                        format!("expected a line of at most {LINE_BYTES_MAX} bytes, found a longer one");
                    refused.get_or_insert(Refused::new(self.line, reason));
                }
            }
            if first_line == 0 {
                first_line = self.line;
            }
        }
        if let Some(refused) = refused {
            return Ok(Some(Err(refused)));
        }
        let text = match std::str::from_utf8(&self.text) {
            Ok(text) => text,
            Err(error) => {
                let before = &self.text[..error.valid_up_to()];
                let line = first_line + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
                return Ok(Some(Err(Refused::new(line, "expected UTF-8, found other bytes"))));
            }
        };
        self.fields.clear();
        if let Err(refused) = split(text, first_line, &mut self.fields) {
            return Ok(Some(Err(refused)));
        }
        Ok(Some(Ok(Stanza { line: first_line, text, fields: &self.fields })))
    }

    /// True if the stanza read last has no empty line behind it.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The input, wherever it stands.
    pub fn into_input(self) -> R {
        self.input
    }

    /// Appends the next line, with its line feed, to `text`; an empty line is not appended.
    fn read_line(&mut self) -> Result<Line> {
        let start = self.text.len();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let broken = |error| read_error(self.line + 1, error);
        let bytes = self.input.by_ref().take(limit).read_until(b'\n', &mut self.text).map_err(broken)?;
        if bytes == 0 {
            return Ok(Line::End);
        }
        self.line += 1;
        if self.text.last() != Some(&b'\n') && bytes as u64 == limit {
            self.input.skip_until(b'\n').map_err(|error| read_error(self.line, error))?;
            return Ok(Line::TooLong);
        }
        if self.text[start..].trim_ascii().is_empty() {
            self.text.truncate(start);
            return Ok(Line::Empty);
        }
        Ok(Line::Kept)
    }
}

impl<'a> Stanza<'a> {
    /// The field called `name`, whatever its case; `None` if it is not there or empty.
    pub fn get(&self, name: &str) -> Option<Field<'a>> {
        let place =
            self.fields.iter().find(|place| self.text[place.name.clone()].eq_ignore_ascii_case(name))?;
        let field = self.field(place);
        (!field.value.is_empty()).then_some(field)
    }

    /// All fields in their order, empty ones included.
    #[cfg(test)]
    pub fn fields(&self) -> impl Iterator<Item = Field<'a>> {
        self.fields.iter().map(|place| self.field(place))
    }

    fn field(&self, place: &FieldPlace) -> Field<'a> {
        Field {
            line: place.line,
            name: &self.text[place.name.clone()],
            value: &self.text[place.value.clone()],
        }
    }
}

/// Finds the fields of the stanza `text`, which starts at `first_line`.
fn split(text: &str, first_line: u64, fields: &mut Vec<FieldPlace>) -> Checked<()> {
    let mut start = 0;
    for (line, content) in (first_line..).zip(text.split_inclusive('\n')) {
        let end = start + content.len();
        if content.starts_with([' ', '\t']) {
            let Some(field) = fields.last_mut() else {
                return Err(Refused::new(
                    line,
                    "expected `name: value`, found a continuation line of no field",
                ));
            };
            field.value.end = end;
        } else {
            let name = start..start + name_bytes(content).map_err(|reason| Refused::new(line, reason))?;
            if fields.len() == FIELDS_MAX {
                return Err(Refused::new(line, format!("expected at most {FIELDS_MAX} fields, found more")));
            }
            if fields.iter().any(|other| text[other.name.clone()].eq_ignore_ascii_case(&text[name.clone()])) {
                return Err(Refused::new(
                    line,
                    format!("expected {} once, found it again", quote(&text[name])),
                ));
            }
            fields.push(FieldPlace { line, value: name.end + 1..end, name });
        }
        start = end;
    }
    for field in fields {
        let value = &text[field.value.clone()];
        let front = value.len() - value.trim_ascii_start().len();
        field.value = field.value.start + front..field.value.start + front + value.trim_ascii().len();
    }
    Ok(())
}

/// The length of the field name before the colon of a line.
fn name_bytes(line: &str) -> std::result::Result<usize, String> {
    let name = line.split_once(':').map(|(name, _)| name).unwrap_or_default();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) && !name.starts_with(['#', '-']);
    if is_name {
        Ok(name.len())
    } else {
        Err(format!("expected `name: value`, found {}", quote(line.trim_end())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first line of a stanza and its fields, or the refusal.
    type Outcome = Checked<(u64, Vec<(String, String)>)>;

    fn read(input: &[u8]) -> Vec<Outcome> {
        let mut reader = StanzaReader::new(input);
        let mut stanzas = Vec::new();
        while let Some(stanza) = reader.read().unwrap() {
            stanzas.push(stanza.map(|stanza| {
                let fields = stanza.fields().map(|field| (field.name.to_string(), field.value.to_string()));
                (stanza.line, fields.collect())
            }));
        }
        stanzas
    }

    fn stanza(line: u64, fields: &[(&str, &str)]) -> Outcome {
        Ok((line, fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()))
    }

    fn refused(line: u64, reason: &str) -> Outcome {
        Err(Refused::new(line, reason))
    }

    #[test]
    fn stanzas_know_their_first_line_and_fields() {
        let input = b"\n\nPackage: a\nVersion:1\n \t\n\nPackage: b";
        let expected = [stanza(3, &[("Package", "a"), ("Version", "1")]), stanza(7, &[("Package", "b")])];
        assert_eq!(read(input), expected);
    }

    #[test]
    fn continuation_lines_belong_to_the_field_above() {
        let input = b"Tag: a::b,\n c::d,\n\te::f\nSize: 1\n";
        assert_eq!(read(input), [stanza(1, &[("Tag", "a::b,\n c::d,\n\te::f"), ("Size", "1")])]);
    }

    #[test]
    fn lines_may_end_in_carriage_returns() {
        let input = b"Package: a\r\n\r\nPackage: b\r\n";
        assert_eq!(read(input), [stanza(1, &[("Package", "a")]), stanza(3, &[("Package", "b")])]);
    }

    #[test]
    fn an_empty_input_has_no_stanza() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"\n \n\t\n\r\n"), []);
    }

    #[test]
    fn a_colon_may_stand_in_a_value_and_a_value_may_be_empty() {
        assert_eq!(
            read(b"Homepage: https://a:1/\nX:\n"),
            [stanza(1, &[("Homepage", "https://a:1/"), ("X", "")])]
        );
    }

    #[test]
    fn a_damaged_stanza_is_refused_as_a_whole_and_reading_goes_on() {
        let good = stanza(4, &[("Package", "b")]);
        let continuation = refused(1, "expected `name: value`, found a continuation line of no field");
        assert_eq!(read(b" lost\nPackage: a\n\nPackage: b\n"), [continuation, good.clone()]);
        let no_colon = refused(2, "expected `name: value`, found `no colon`");
        assert_eq!(read(b"Package: a\nno colon\n\nPackage: b\n"), [no_colon, good.clone()]);
        let comment = refused(1, "expected `name: value`, found `# a: b`");
        assert_eq!(read(b"# a: b\nPackage: a\n\nPackage: b\n"), [comment, good.clone()]);
        let bytes = refused(2, "expected UTF-8, found other bytes");
        assert_eq!(read(b"Package: a\nX: \xff\n\nPackage: b\n"), [bytes, good.clone()]);
        let twice = refused(2, "expected `PACKAGE` once, found it again");
        assert_eq!(read(b"Package: a\nPACKAGE: a\n\nPackage: b\n"), [twice, good]);
    }

    #[test]
    fn an_overlong_line_is_refused_and_skipped() {
        let mut input = b"Package: a\nX: ".to_vec();
        input.resize(input.len() + 3 * LINE_BYTES_MAX, b'x');
        input.extend(b"\nY: y\n\nPackage: b\n");
        let reason = format!("expected a line of at most {LINE_BYTES_MAX} bytes, found a longer one");
        assert_eq!(read(&input), [refused(2, &reason), stanza(5, &[("Package", "b")])]);
    }

    #[test]
    fn a_line_of_the_greatest_length_is_accepted() {
        for end in ["", "\n"] {
            let value = "x".repeat(LINE_BYTES_MAX - 3);
            assert_eq!(read(format!("X: {value}{end}").as_bytes()), [stanza(1, &[("X", &value)])]);
        }
    }

    #[test]
    fn an_endless_stanza_is_refused_in_bounded_memory() {
        let input = format!("X{}: y\n", "x".repeat(1_000)).repeat(20_000);
        let mut reader = StanzaReader::new(input.as_bytes());
        let refused = reader.read().unwrap().unwrap().unwrap_err();
        assert_eq!(refused.line, (STANZA_BYTES_MAX / 1_005) as u64 + 1);
        assert!(reader.text.capacity() <= 2 * (STANZA_BYTES_MAX + LINE_BYTES_MAX));
        assert!(reader.read().unwrap().is_none());
    }

    #[test]
    fn more_fields_than_the_bound_are_refused() {
        let input: String = (0..=FIELDS_MAX).map(|number| format!("X{number}: y\n")).collect();
        assert_eq!(read(input.as_bytes()), [refused(257, "expected at most 256 fields, found more")]);
    }

    #[test]
    fn a_broken_input_is_an_error_that_names_the_line() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("unplugged"))
            }
        }
        let input = std::io::BufReader::new(b"Package: a\n".chain(Broken));
        let error = StanzaReader::new(input).read().err().unwrap();
        assert_eq!(error.to_string(), "read input (line: 2): unplugged");
    }
}
