//! Reads values in the text form.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lex::Token;
use super::parse::Parser;
use crate::Result;
use crate::model::{Literal, NESTING_MAX, Value};

/// Names of values that are written as `name(text)`.
const TYPED: [&str; 10] =
    ["date", "timestamp", "duration", "uuid", "iri", "decimal", "float", "bytes", "list", "set"];

impl Parser<'_> {
    /// A value; if `is_text`, all words are texts.
    pub(super) fn value(&mut self, is_text: bool) -> Result<Value> {
        self.nested(is_text, 0)
    }

    /// Values with commas between, up to the closing bracket.
    pub(super) fn values(&mut self, is_text: bool) -> Result<Vec<Value>> {
        self.nested_values(is_text, 0)
    }

    fn nested_values(&mut self, is_text: bool, depth: usize) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        if self.takes_sign(")") {
            return Ok(values);
        }
        loop {
            values.push(self.nested(is_text, depth)?);
            if self.takes_sign(")") {
                return Ok(values);
            }
            if !self.takes_sign(",") {
                return Err(self.expected(", or )"));
            }
        }
    }

    fn nested(&mut self, is_text: bool, depth: usize) -> Result<Value> {
        let at = self.place();
        if depth > NESTING_MAX {
            return Err(self.error(at, &format!("expected at most {NESTING_MAX} levels of lists and maps")));
        }
        self.note_value();
        match self.peek() {
            Token::Text(_) | Token::Pattern(_) | Token::Word(_) => {}
            _ => return Err(self.expected("a value; put texts in quotes")),
        }
        let word = match self.take() {
            Token::Text(text) | Token::Pattern(text) => return Ok(Value::from(text)),
            Token::Word(word) => word,
            _ => unreachable!("looked at before it was taken"),
        };
        if self.takes_sign("(") {
            return self.typed(&word, at, depth);
        }
        if is_text {
            return Ok(Value::from(word));
        }
        Ok(plain(&word))
    }

    // The rest after `name(`.
    fn typed(&mut self, name: &str, at: usize, depth: usize) -> Result<Value> {
        match name {
            "list" => return Ok(Value::List(self.nested_values(false, depth + 1)?.into())),
            "set" => {
                let values = self.nested_values(false, depth + 1)?;
                return Value::set(values).map_err(|error| self.error(at, &error.to_string()));
            }
            "map" => return self.map(depth),
            "literal" => return self.literal(at),
            _ => {}
        }
        let inner = match self.peek() {
            Token::Text(text) | Token::Word(text) => text.clone(),
            _ => return Err(self.expected(&format!("a text in {name}(…)"))),
        };
        self.take();
        self.sign(")")?;
        let value = match name {
            "date" => inner.parse().map(Value::Date).ok(),
            "timestamp" => inner.parse().map(Value::Timestamp).ok(),
            "duration" => inner.parse().map(Value::Duration).ok(),
            "uuid" => uuid::Uuid::parse_str(&inner).ok().map(|uuid| Value::Uuid(uuid.into_bytes())),
            "iri" => Some(Value::Iri(inner.as_str().into())),
            "decimal" => rust_decimal::Decimal::from_str_exact(&inner).ok().map(Value::Decimal),
            "float" => inner.parse().ok().map(Value::Float),
            "bytes" => bytes(&inner).map(|bytes| Value::Bytes(bytes.into())),
            _ => {
                let known = TYPED.join(", ");
                return Err(self.error(
                    at,
                    &format!("unknown kind of value {name:?}; expected one of {known}, map or literal"),
                ));
            }
        };
        value.ok_or_else(|| self.error(at, &format!("{inner:?} is no {name}")))
    }

    // `literal('text', 'language')` or `literal('text', iri('datatype'))`, after the bracket.
    fn literal(&mut self, at: usize) -> Result<Value> {
        let text = self.text("a text")?;
        self.sign(",")?;
        let meaning = self.text("a language, or iri('…') for a datatype")?;
        let literal = if meaning == "iri" && self.takes_sign("(") {
            let datatype = self.text("the IRI of a datatype")?;
            self.sign(")")?;
            Literal::with_datatype(&text, &datatype)
        } else {
            Literal::in_language(&text, &meaning)
        };
        self.sign(")")?;
        literal.map(Value::from).map_err(|error| self.error(at, &error.to_string()))
    }

    fn text(&mut self, expected: &str) -> Result<String> {
        match self.peek() {
            Token::Text(text) | Token::Word(text) => {
                let text = text.clone();
                self.take();
                Ok(text)
            }
            _ => Err(self.expected(expected)),
        }
    }

    // `map( 'key' = value, … )`, after the bracket.
    fn map(&mut self, depth: usize) -> Result<Value> {
        let mut entries: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        while !self.takes_sign(")") {
            if !entries.is_empty() {
                self.sign(",")?;
            }
            let key = match self.peek() {
                Token::Text(text) | Token::Word(text) => text.as_str().into(),
                _ => return Err(self.expected("a key")),
            };
            self.take();
            self.sign("=")?;
            entries.insert(key, self.nested(false, depth + 1)?);
        }
        Ok(Value::Map(Arc::new(entries)))
    }
}

/// The value of a word: a truth value, a number, or the word.
fn plain(word: &str) -> Value {
    match word {
        "true" => return Value::Boolean(true),
        "false" => return Value::Boolean(false),
        _ => {}
    }
    if let Ok(number) = word.parse::<i64>() {
        return Value::Integer(number);
    }
    // Some words parse as numbers but do not look like them: `inf`, `nan`, `1e5`.
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && word.bytes().any(|byte| byte.is_ascii_digit());
    match word.parse::<f64>() {
        Ok(number) if is_number && number.is_finite() => Value::Float(number),
        _ => Value::from(word),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    is_hex.then(|| (0..digits.len()).step_by(2).filter_map(byte).collect())
}
