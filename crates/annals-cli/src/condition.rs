//! Conditions as people type them: `name=bash`, `size>=10`, `name^=lib`, `name~=foo`, `name?`, `!name`.

use annals::{Condition, Error, ErrorKind, Operator, Result, Value};

use crate::wire::value_from_json;

/// Signs between property and value; of two that start at the same place the longer one is meant.
const SIGNS: [(&str, Operator); 8] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("!=", Operator::NotEqual),
    ("^=", Operator::Prefix),
    ("~=", Operator::Contains),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// True if `text` is a condition and not a type name.
pub fn is_condition(text: &str) -> bool {
    text.starts_with('!') || text.ends_with('?') || find_sign(text).is_some()
}

/// Reads a condition.
///
/// Errors: `InvalidArgument` if it has no sign or no property.
pub fn parse_condition(text: &str) -> Result<Condition> {
    if let Some((at, sign, operator)) = find_sign(text) {
        let value = &text[at + sign.len()..];
        let value = match operator {
            // A text is searched in texts, even if it looks like a number.
            Operator::Prefix | Operator::Contains => text_value(value),
            _ => parse_value(value)?,
        };
        return condition(text, &text[..at], operator, value);
    }
    if let Some(property) = text.strip_prefix('!') {
        return condition(text, property, Operator::Missing, Value::Boolean(true));
    }
    if let Some(property) = text.strip_suffix('?') {
        return condition(text, property, Operator::Exists, Value::Boolean(true));
    }
    Err(malformed(text))
}

/// Reads a value: JSON if it is JSON, otherwise the text itself.
///
/// Errors: `InvalidArgument` for JSON that is no value, such as null or an unknown `$` form.
pub fn parse_value(text: &str) -> Result<Value> {
    match serde_json::from_str(text) {
        Ok(json) => value_from_json(&json),
        Err(_) => Ok(Value::from(text)),
    }
}

fn text_value(text: &str) -> Value {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::String(text)) => Value::from(text.as_str()),
        Ok(json @ serde_json::Value::Object(_)) => {
            value_from_json(&json).unwrap_or_else(|_| Value::from(text))
        }
        _ => Value::from(text),
    }
}

fn condition(text: &str, property: &str, operator: Operator, value: Value) -> Result<Condition> {
    if property.is_empty() {
        return Err(malformed(text));
    }
    Ok(Condition { property: property.into(), operator, value })
}

fn find_sign(text: &str) -> Option<(usize, &'static str, Operator)> {
    // A sign at the very start would leave no property: `!=x` is not "missing =x".
    text.char_indices().skip(1).find_map(|(at, _)| {
        let rest = &text[at..];
        SIGNS
            .into_iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .map(|(sign, operator)| (at, sign, operator))
    })
}

fn malformed(text: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!(
            "condition {text:?}: expected property, sign and value, such as name=bash, size>=10, name^=lib, \
             name~=foo, name!=x, name? or !name"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, Operator, Value) {
        let Condition { property, operator, value } = parse_condition(text).unwrap();
        (property.to_string(), operator, value)
    }

    #[test]
    fn every_sign_is_read() {
        for (text, operator, value) in [
            ("a=x", Operator::Equal, Value::from("x")),
            ("a=5", Operator::Equal, Value::Integer(5)),
            ("a=\"5\"", Operator::Equal, Value::from("5")),
            ("a=", Operator::Equal, Value::from("")),
            ("a=b=c", Operator::Equal, Value::from("b=c")),
            ("a!=true", Operator::NotEqual, Value::Boolean(true)),
            ("a<1.5", Operator::Less, Value::Float(1.5)),
            ("a<=1", Operator::LessOrEqual, Value::Integer(1)),
            ("a>1", Operator::Greater, Value::Integer(1)),
            (
                "a>={\"$date\":\"2025-08-09\"}",
                Operator::GreaterOrEqual,
                Value::Date("2025-08-09".parse().unwrap()),
            ),
            ("a^=5", Operator::Prefix, Value::from("5")),
            ("a~=x y", Operator::Contains, Value::from("x y")),
            ("a?", Operator::Exists, Value::Boolean(true)),
            ("!a", Operator::Missing, Value::Boolean(true)),
        ] {
            assert_eq!(parts(text), ("a".to_owned(), operator, value), "{text}");
        }
    }

    #[test]
    fn what_has_no_property_or_sign_is_refused() {
        for text in ["", "name", "=x", "!", "?", "a=null", "a={\"$dat\":1}"] {
            assert_eq!(parse_condition(text).unwrap_err().kind(), ErrorKind::InvalidArgument, "{text}");
        }
        assert!(!is_condition("package"));
    }
}
