//! Reads JSON Lines, the native form: one type, entity, relationship or record per line; or the same, or plain objects, in
//! an array.

use annals::action;
use std::io::{BufRead, Read};

use annals::{Action, Instant, Position, Result};
use annals_json::{
    array, invalid, json_from_slice, number, object, only, optional_text, recorded_action_from_json, text,
    tree_bytes, type_from_json,
};
use serde_json::Value as Json;

use super::instance_line::{entity_operations, relationship_operations};
use super::json::{Element, Elements, wrapped};
use super::line_sums::{line_sum, without_mark};
use super::operation::Operation;
use super::plain_object::PlainObjects;
use super::source::read_error;
use super::unit::Place;
use super::{Checked, Refused};

/// Longest line. Units: bytes. A record of 64 MiB can need more than twice that in JSON.
pub const LINE_BYTES_MAX: usize = 256 << 20;

/// The bounds of a line.
#[derive(Clone, Copy, Debug)]
pub struct LineBounds {
    /// Longest line. Units: bytes.
    pub bytes_max: usize,
    /// Greatest memory of a parsed line; `None` to bound only its length. Units: bytes.
    pub tree_bytes_max: Option<usize>,
}

impl Default for LineBounds {
    fn default() -> LineBounds {
        LineBounds { bytes_max: LINE_BYTES_MAX, tree_bytes_max: None }
    }
}

/// A line that is not empty.
#[derive(Debug)]
pub struct JsonLine {
    /// Its place.
    pub place: Place,
    /// Its content.
    pub item: Checked<JsonItem>,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonItem {
    /// Changes: a type, an entity or a relationship, or the name of the collection.
    Operations(Vec<Operation>),
    /// A commit with all its changes.
    Record(RecordLine),
}

/// A commit of another repository.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordLine {
    /// Its position there, and here.
    pub position: Position,
    /// Its instant.
    pub instant: Instant,
    /// Its author.
    pub author: String,
    /// Its reason.
    pub message: String,
    /// Its changes.
    pub operations: Vec<Operation>,
}

/// The place of a line, and its text.
pub type TextLine<'t> = (Place, Checked<&'t [u8]>);

/// Reads lines one by one into a buffer that it reuses.
pub struct LineReader<R> {
    input: R,
    bounds: LineBounds,
    line: u64,
    buffer: Vec<u8>,
    is_broken: bool,
    /// True once a line that is not empty was read.
    has_begun: bool,
    /// How plain objects are read, if they are.
    plain: Option<PlainObjects>,
    /// The form of the input, once its first byte is known.
    form: Option<Form>,
}

#[derive(Debug)]
enum Form {
    Lines,
    Array(Elements),
}

impl<R: BufRead> LineReader<R> {
    /// A reader that starts at line 1.
    pub fn new(input: R) -> LineReader<R> {
        LineReader::bounded(input, LineBounds::default())
    }

    /// A reader that refuses lines over these bounds.
    pub fn bounded(input: R, bounds: LineBounds) -> LineReader<R> {
        LineReader {
            input,
            bounds,
            line: 0,
            buffer: Vec::new(),
            is_broken: false,
            has_begun: false,
            plain: None,
            form: None,
        }
    }

    /// Also reads plain objects.
    #[must_use]
    pub fn with_plain(self, plain: Option<PlainObjects>) -> LineReader<R> {
        LineReader { plain, ..self }
    }

    /// Reads the next line that is not empty.
    fn read(&mut self) -> Result<Option<JsonLine>> {
        let plain = self.plain.take();
        let line = self.read_text()?.map(|(place, text)| {
            let refused = |reason| Refused::new(place.line, reason);
            JsonLine { place, item: text.and_then(|text| parse_line(text, plain.as_ref()).map_err(refused)) }
        });
        self.plain = plain;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match line {
            Some(JsonLine { place, item: Err(refused) }) if is_first => {
                Ok(Some(JsonLine { place, item: Err(self.whole_object().unwrap_or(refused)) }))
            }
            line => Ok(line),
        }
    }

    /// Refuses an object that begins on the first line and goes on behind it, and then reads no more.
    fn whole_object(&mut self) -> Option<Refused> {
        if !matches!(self.form, Some(Form::Lines)) {
            return None;
        }
        let more = self.input.fill_buf().map(<[u8]>::to_vec).unwrap_or_default();
        let reason = wrapped::reason(self.text(), &more)?;
        self.is_broken = true;
        Some(Refused::new(self.line, reason))
    }

    /// Reads the next line that is not empty as text, without blanks around it.
    ///
    /// Errors: those of reading. The inner one means that the line exceeds a bound.
    pub fn read_text(&mut self) -> Result<Option<TextLine<'_>>> {
        let LineBounds { bytes_max, .. } = self.bounds;
        let form = match self.form.take() {
            Some(form) => form,
            None => match Elements::is_array(&mut self.input).map_err(|error| read_error(1, error))? {
                true => Form::Array(Elements::default()),
                false => Form::Lines,
            },
        };
        if let Form::Array(elements) = self.form.insert(form) {
            let element = elements.read(&mut self.input, &mut self.buffer, bytes_max);
            let element = element.map_err(|error| read_error(self.line + 1, error))?;
            let Some(Element { lines, text }) = element else { return Ok(None) };
            // Several elements may be on one line, so each has its number as its line.
            self.line += 1;
            let line = self.line;
            let place = Place::unsummed(line, self.buffer.len());
            return Ok(Some(match text {
                Ok(()) => self.bounded_text(place),
                Err(reason) => {
                    let reason = format!("lines {} to {} of the array: {reason}", lines.0, lines.1);
                    (place, Err(Refused::new(line, reason)))
                }
            }));
        }
        loop {
            self.buffer.clear();
            let limit = bytes_max as u64 + 1;
            let broken = |error| read_error(self.line + 1, error);
            let bytes =
                self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(broken)?;
            if bytes == 0 {
                return Ok(None);
            }
            self.line += 1;
            let line = self.line;
            if bytes as u64 == limit && self.buffer.last() != Some(&b'\n') {
                self.input.skip_until(b'\n').map_err(|error| read_error(line, error))?;
                let reason = format!("expected a line of at most {bytes_max} bytes, found a longer one");
                return Ok(Some((Place::unsummed(line, bytes), Err(Refused::new(line, reason)))));
            }
            if !self.text().trim_ascii().is_empty() {
                break;
            }
        }
        let (line, text) = (self.line, self.text());
        let place = Place { line, last: line, sum: Some(line_sum(line, text)), bytes: self.buffer.len() };
        Ok(Some(self.bounded_text(place)))
    }

    /// The text at `place`, unless its tree would be too large.
    fn bounded_text(&self, place: Place) -> TextLine<'_> {
        let text = match self.form {
            Some(Form::Array(_)) => &self.buffer,
            _ => self.text(),
        };
        let Some(tree_bytes_max) = self.bounds.tree_bytes_max else {
            return (place, Ok(text.trim_ascii()));
        };
        // A line with a bound on its tree counts by the size of its tree for its batch, too.
        let bytes = tree_bytes(text);
        let place = Place { bytes, ..place };
        if bytes > tree_bytes_max {
            let reason = format!(
                "expected a line that takes at most {tree_bytes_max} bytes when it is parsed, found one that takes {bytes}"
            );
            return (Place { sum: None, ..place }, Err(Refused::new(place.line, reason)));
        }
        (place, Ok(text.trim_ascii()))
    }

    // A byte order mark is not JSON, but some editors write one.
    fn text(&self) -> &[u8] {
        if self.line == 1 { without_mark(&self.buffer) } else { &self.buffer }
    }
}

impl<R: BufRead> Iterator for LineReader<R> {
    type Item = Result<JsonLine>;

    fn next(&mut self) -> Option<Result<JsonLine>> {
        if self.is_broken {
            return None;
        }
        let read = self.read();
        self.is_broken |= read.is_err();
        read.transpose()
    }
}

/// Reads one line without blanks around it. Errors: the reason.
pub fn parse_line(text: &[u8], plain: Option<&PlainObjects>) -> std::result::Result<JsonItem, String> {
    // For the parser the line is always 1, and the caller knows the real one; only the column helps.
    let json: Json = json_from_slice(text).map_err(|fault| {
        format!("expected JSON, found a fault at column {}: {}", fault.column, fault.reason())
    })?;
    item_from_json(&json, plain).map_err(|error| error.to_string())
}

fn item_from_json(json: &Json, plain: Option<&PlainObjects>) -> Result<JsonItem> {
    let expected = "expected one of the keys type, entity, relationship, record, collection";
    let fields = object(json, "line")?;
    if let Some(plain) = plain.filter(|_| PlainObjects::is_plain(fields)) {
        return plain.operation(fields).map(|operation| JsonItem::Operations(vec![operation]));
    }
    let mut entries = fields.iter();
    let (Some((key, inner)), None) = (entries.next(), entries.next()) else {
        return Err(invalid(format!(
            "line: {expected}, found {} keys; for plain objects say which member is the id, or from and to",
            fields.len()
        )));
    };
    let operation = |action| JsonItem::Operations(vec![Operation::new(action, None)]);
    Ok(match key.as_str() {
        "collection" => operation(Action::NameCollection(action::NameCollection {
            name: text(fields, "line", "collection")?.into(),
        })),
        "type" => operation(Action::DefineType(Box::new(type_from_json(inner)?))),
        "entity" => JsonItem::Operations(entity_operations(inner)?),
        "relationship" => JsonItem::Operations(relationship_operations(inner)?),
        "record" => JsonItem::Record(record(inner)?),
        unknown => {
            let advice = wrapped::advice(fields);
            return Err(invalid(format!("line: {expected}, found {unknown:?}{advice}")));
        }
    })
}

fn record(json: &Json) -> Result<RecordLine> {
    let what = "record";
    let fields = object(json, what)?;
    only(fields, what, &["position", "instant", "author", "message", "changes"])?;
    let position = number(fields, what, "position")?.filter(|position| *position > 0);
    let position = position.ok_or_else(|| invalid("record: expected a number from 1 as \"position\""))?;
    let changes = array(fields, what, "changes")?;
    let operations = changes.iter().map(|change| {
        let fields = object(change, "operation")?;
        Ok(Operation::new(recorded_action_from_json(change)?, valid_from(fields, "operation")?))
    });
    Ok(RecordLine {
        position: Position(position),
        instant: text(fields, what, "instant")?.parse()?,
        author: optional_text(fields, what, "author")?.unwrap_or_default().to_owned(),
        message: optional_text(fields, what, "message")?.unwrap_or_default().to_owned(),
        operations: operations.collect::<Result<_>>()?,
    })
}

fn valid_from(fields: &annals_json::Object, what: &str) -> Result<Option<Instant>> {
    optional_text(fields, what, "validFrom")?.map(str::parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        parse_line(text.as_bytes(), None).unwrap_err()
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let lines = [
            r#"{"type": {"kind": "entity", "name": "person"}}"#,
            r#"{"entity": {"id": "a", "type": "person", "properties": {"n": 1}, "classifications": [{"name": "c"}]}}"#,
            r#"{"relationship": {"id": "r", "type": "knows", "from": "a", "to": "a", "validFrom": "2024-01-01"}}"#,
            r#"{"record": {"position": 1, "instant": "2024-01-01T00:00:00Z", "changes": [{"action": "void"}]}}"#,
        ];
        let text = format!("\u{feff}{}\n\n  \n{}", lines[..2].join("\r\n"), lines[2..].join("\n"));
        let read: Vec<_> = LineReader::new(text.as_bytes()).map(Result::unwrap).collect();
        assert_eq!(read.iter().map(|line| line.place.line).collect::<Vec<_>>(), [1, 2, 5, 6]);
        assert!(read.iter().all(|line| line.item.is_ok()), "{read:?}");
    }

    #[test]
    fn a_bad_line_says_what_is_wrong() {
        assert!(reason(r#"{"entity": {"id": "a""#).contains("column 21"));
        assert!(reason(r#"{"entity": {"id": "a"}}"#).contains("\"type\""));
        assert!(reason(r#"{"entity": {"type": "a", "propertys": {}}}"#).contains("propertys"));
        assert!(reason(r#"{"node": {}}"#).contains("node"));
        assert!(reason("[]").contains("an array"));
        assert!(reason(r#"{"record": {"position": 0, "instant": "2024-01-01"}}"#).contains("position"));
    }
}
