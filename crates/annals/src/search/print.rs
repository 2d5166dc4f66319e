//! Writes searches in their text form, which reads back as the same search.

use std::fmt::{self, Display, Formatter, Write};

use super::expression::{Condition, Expression, Field, LinkDirection, Operator};
use super::find::{Deleted, Find, Order, OrderBy};
use super::lex::is_word_character;
use super::parse::KEYWORDS;
use crate::model::{Meaning, Value};

impl Display for Find {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.types.is_empty() {
            f.write_str("*")?
        } else {
            separated(f, &self.types, write_name)?
        }
        if !self.subtypes.is_empty() {
            f.write_str(" only ")?;
            separated(f, &self.subtypes, write_name)?;
        }
        if self.filter != Expression::everything() {
            write!(f, " where {}", self.filter)?;
        }
        if !self.statuses.is_empty() {
            f.write_str(" status ")?;
            separated(f, &self.statuses, write_name)?;
        }
        match self.deleted {
            Deleted::Without => {}
            Deleted::With => f.write_str(" deleted with")?,
            Deleted::Only => f.write_str(" deleted only")?,
        }
        if self.with_proxies {
            f.write_str(" proxies with")?;
        }
        if !self.order.is_empty() {
            f.write_str(" order by ")?;
            separated(f, &self.order, |f, sort| write!(f, "{sort}"))?;
        }
        write!(f, " limit {}", self.limit)?;
        if self.offset > 0 {
            write!(f, " offset {}", self.offset)?;
        }
        if let Some(after) = &self.after {
            f.write_str(" after ")?;
            write_text(f, after)?;
        }
        Ok(())
    }
}

impl Display for OrderBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.field, if self.order == Order::Descending { " desc" } else { "" })
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Field::Property(name) => write_name(f, name),
            Field::Header(header) => write!(f, "@{}", header.name()),
            Field::AnyText => f.write_str("@text"),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_group = |part: &Expression| matches!(part, Expression::All(parts) | Expression::Any(parts) if parts.len() > 1);
        let bracketed = |f: &mut Formatter<'_>, part: &Expression| {
            if is_group(part) { write!(f, "({part})") } else { write!(f, "{part}") }
        };
        let inner = |f: &mut Formatter<'_>, inner: &Option<Box<Expression>>| match inner {
            Some(inner) => write!(f, " ({inner})"),
            None => Ok(()),
        };
        match self {
            Expression::All(parts) if parts.len() > 1 => joined(f, parts, " and ", bracketed),
            Expression::Any(parts) if parts.len() > 1 => joined(f, parts, " or ", bracketed),
            Expression::All(parts) => group(f, "all", parts),
            Expression::Any(parts) => group(f, "any", parts),
            Expression::None(parts) => group(f, "none", parts),
            Expression::Condition(condition) => write!(f, "{condition}"),
            Expression::Type(name) => {
                f.write_str("is ")?;
                write_name(f, name)
            }
            Expression::Classified { name, matching } => {
                f.write_str("classified ")?;
                write_name(f, name)?;
                inner(f, matching)
            }
            Expression::Linked { direction, type_name, matching, other } => {
                f.write_str(match direction {
                    LinkDirection::Out => "has out ",
                    LinkDirection::In => "has in ",
                    LinkDirection::Any => "has any ",
                })?;
                match type_name {
                    Some(name) => write_name(f, name)?,
                    None => f.write_str("*")?,
                }
                inner(f, matching)?;
                match other {
                    Some(other) => write!(f, " to ({other})"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.field)?;
        match (self.operator, &self.values[..]) {
            (Operator::Exists, _) => f.write_str(" is not null")?,
            (Operator::Missing, _) => f.write_str(" is null")?,
            (Operator::Between, [low, high]) => {
                f.write_str(" between ")?;
                write_value(f, low)?;
                f.write_str(" and ")?;
                write_value(f, high)?;
            }
            (Operator::In, values) => {
                f.write_str(" in (")?;
                separated(f, values, write_value)?;
                f.write_str(")")?;
            }
            (operator, values) => {
                write!(f, " {} ", operator.sign())?;
                separated(f, values, write_value)?;
            }
        }
        if self.ignores_case { f.write_str(" nocase") } else { Ok(()) }
    }
}

fn group(f: &mut Formatter<'_>, word: &str, parts: &[Expression]) -> fmt::Result {
    write!(f, "{word}(")?;
    separated(f, parts, |f, part| write!(f, "{part}"))?;
    f.write_str(")")
}

fn separated<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    joined(f, items, ", ", write)
}

fn joined<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    between: &str,
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        write(f, item)?;
    }
    Ok(())
}

/// A name as it is written in a search.
pub(crate) fn name_text(name: &str) -> String {
    struct Name<'n>(&'n str);
    impl Display for Name<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            write_name(f, &self.0)
        }
    }
    Name(name).to_string()
}

/// A value as it is written in a search.
pub(crate) fn value_text(value: &Value) -> String {
    struct Written<'v>(&'v Value);
    impl Display for Written<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            write_value(f, self.0)
        }
    }
    Written(value).to_string()
}

fn write_name(f: &mut Formatter<'_>, name: &impl AsRef<str>) -> fmt::Result {
    let name = name.as_ref();
    // `status` is a keyword only before a name.
    let is_keyword = KEYWORDS.iter().chain(&["status"]).any(|known| name.eq_ignore_ascii_case(known));
    if !name.is_empty()
        && !is_keyword
        && !name.starts_with('/')
        && !name.contains('~')
        && name.chars().all(is_word_character)
    {
        return f.write_str(name);
    }
    quoted(f, name, '`')
}

fn write_text(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    quoted(f, text, '\'')
}

fn quoted(f: &mut Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for character in text.chars() {
        match character {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            _ if character == quote => write!(f, "\\{quote}")?,
            _ if character.is_control() => write!(f, "\\u{{{:x}}}", u32::from(character))?,
            _ => f.write_char(character)?,
        }
    }
    f.write_char(quote)
}

fn write_value(f: &mut Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Boolean(boolean) => write!(f, "{boolean}"),
        Value::Integer(number) => write!(f, "{number}"),
        Value::Float(number) if number.is_finite() => write!(f, "{number:?}"),
        Value::Float(number) => write!(f, "float({number})"),
        Value::Decimal(number) => write!(f, "decimal({number})"),
        Value::String(text) => write_text(f, text),
        Value::Iri(iri) => {
            f.write_str("iri(")?;
            write_text(f, iri)?;
            f.write_str(")")
        }
        Value::Literal(literal) => {
            f.write_str("literal(")?;
            write_text(f, literal.text())?;
            f.write_str(", ")?;
            match literal.meaning() {
                Meaning::Language(language) => write_text(f, language)?,
                Meaning::Datatype(datatype) => {
                    f.write_str("iri(")?;
                    write_text(f, datatype)?;
                    f.write_str(")")?;
                }
            }
            f.write_str(")")
        }
        Value::Content(content) => write!(f, "content('{}')", content.sha256),
        Value::Bytes(bytes) => {
            f.write_str("bytes('")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str("')")
        }
        Value::Date(date) => write!(f, "date('{date}')"),
        Value::Timestamp(instant) => write!(f, "timestamp('{instant}')"),
        Value::Duration(duration) => write!(f, "duration('{duration}')"),
        Value::Uuid(bytes) => write!(f, "uuid('{}')", uuid::Uuid::from_bytes(*bytes)),
        Value::List(values) => {
            f.write_str("list(")?;
            separated(f, values, write_value)?;
            f.write_str(")")
        }
        Value::Set(values) => {
            f.write_str("set(")?;
            let values: Vec<Value> = values.iter().collect();
            separated(f, &values, write_value)?;
            f.write_str(")")
        }
        Value::Map(entries) => {
            f.write_str("map(")?;
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    f.write_str(", ")?;
                }
                write_text(f, key)?;
                f.write_str(" = ")?;
                write_value(f, value)?;
            }
            f.write_str(")")
        }
    }
}
