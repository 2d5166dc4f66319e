//! Terms of RDF as values, and back. A value is native only if it prints exactly as the literal was written.

use std::str::FromStr;

use annals::{Date, Instant, Literal as LiteralValue, Meaning, Value};
use oxrdf::{Literal, NamedNode, Term};
use rust_decimal::Decimal;

use super::base::Base;
use super::constraints::Refusal;
use super::vocabulary::{RDF_JSON, XSD, node, node_in};

/// The value of a literal.
///
/// Errors: a refusal for a language or a datatype that no value can have.
pub fn literal_value(literal: &Literal) -> Result<Value, Refusal> {
    let text = literal.value();
    if let Some(language) = literal.language() {
        let value =
            LiteralValue::in_language(text, language).map_err(|error| Refusal::of(literal, &error))?;
        return Ok(Value::Literal(value.into()));
    }
    let datatype = literal.datatype();
    if let Some(name) = datatype.as_str().strip_prefix(XSD)
        && let Some(value) = native_value(name, text)
    {
        return Ok(value);
    }
    let value = LiteralValue::with_datatype(text, datatype.as_str());
    Ok(Value::Literal(value.map_err(|error| Refusal::of(literal, &error))?.into()))
}

/// A value that prints as `text`; `None` if no native value does.
fn native_value(datatype: &str, text: &str) -> Option<Value> {
    match datatype {
        "string" => Some(Value::String(text.into())),
        "boolean" => exact(text).map(Value::Boolean),
        "integer" => exact(text).map(Value::Integer),
        "decimal" => exact::<Decimal>(text).map(Value::Decimal),
        // Both zeros, and all numbers that are none, are one value in a set.
        "double" => {
            exact::<f64>(text).filter(|number| number.is_finite() && *number != 0.0).map(Value::Float)
        }
        "dateTime" => exact::<Instant>(text).map(Value::Timestamp),
        "date" => exact::<Date>(text).map(Value::Date),
        _ => None,
    }
}

fn exact<T: FromStr + ToString>(text: &str) -> Option<T> {
    text.parse::<T>().ok().filter(|value| value.to_string() == text)
}

/// The term of a value; `None` for a value that RDF has no form for, and for a text of an older log that is no IRI.
pub fn term_of(value: &Value, base: &Base) -> Option<Term> {
    let typed =
        |text: String, name: &'static str| Some(Literal::new_typed_literal(text, node_in(XSD, name)).into());
    match value {
        Value::String(text) => Some(Literal::new_simple_literal(&**text).into()),
        Value::Iri(iri) => NamedNode::new(base.restored(iri)).ok().map(Term::from),
        Value::Literal(literal) => match literal.meaning() {
            Meaning::Language(language) => is_language(language)
                .then(|| Literal::new_language_tagged_literal_unchecked(literal.text(), &**language).into()),
            Meaning::Datatype(datatype) => {
                let datatype = NamedNode::new(&**datatype).ok()?;
                Some(Literal::new_typed_literal(literal.text(), datatype).into())
            }
        },
        Value::Boolean(value) => typed(value.to_string(), "boolean"),
        Value::Integer(value) => typed(value.to_string(), "integer"),
        Value::Decimal(value) => typed(value.to_string(), "decimal"),
        Value::Float(value) => typed(float_text(*value), "double"),
        Value::Timestamp(value) => typed(value.to_string(), "dateTime"),
        Value::Date(value) => typed(value.to_string(), "date"),
        Value::Duration(value) => typed(value.to_string(), "dayTimeDuration"),
        Value::Bytes(bytes) => typed(bytes.iter().map(|byte| format!("{byte:02X}")).collect(), "hexBinary"),
        Value::Uuid(bytes) => {
            let uuid = uuid::Uuid::from_bytes(*bytes);
            NamedNode::new(format!("urn:uuid:{}", uuid.hyphenated())).ok().map(Term::from)
        }
        Value::List(_) | Value::Map(_) => {
            let json = String::from_utf8_lossy(&annals_json::json_of(value)).into_owned();
            Some(Literal::new_typed_literal(json, node(RDF_JSON)).into())
        }
        _ => None,
    }
}

/// True for a language tag that the formats can write: its first part has only letters. The engine checks the rest.
fn is_language(tag: &str) -> bool {
    tag.split('-').next().is_some_and(|first| first.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

// XML Schema writes infinity in its own way.
fn float_text(value: f64) -> String {
    if value.is_infinite() { if value > 0.0 { "INF" } else { "-INF" }.to_owned() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Uri};

    use super::*;

    #[test]
    fn literals_come_back_as_they_were_written() {
        let base = Base::of(&HeaderMap::new(), &Uri::from_static("/"), "/ldp", None);
        for (name, text, is_native) in [
            ("string", "a\nb", true),
            ("boolean", "true", true),
            ("boolean", "1", false),
            ("integer", "-7", true),
            ("integer", "007", false),
            ("integer", "9223372036854775808", false),
            ("decimal", "1.50", true),
            ("decimal", "+1.5", false),
            ("double", "1.5", true),
            ("double", "1.0E3", false),
            ("double", "-0", false),
            ("double", "NaN", false),
            ("dateTime", "2026-01-02T03:04:05Z", true),
            ("dateTime", "2026-01-02T03:04:05+01:00", false),
            ("dateTime", "2026", false),
            ("date", "2026-01-02", true),
            ("date", "2026-01-02Z", false),
            ("gYear", "2026", false),
        ] {
            let literal = Literal::new_typed_literal(text, NamedNode::new_unchecked(format!("{XSD}{name}")));
            let value = literal_value(&literal).unwrap();
            assert_eq!(!matches!(value, Value::Literal(_)), is_native, "{literal}");
            assert_eq!(term_of(&value, &base), Some(literal.into()));
        }
        let tagged = Literal::new_language_tagged_literal("hé", "fr-ca").unwrap();
        assert_eq!(term_of(&literal_value(&tagged).unwrap(), &base), Some(tagged.into()));
    }

    #[test]
    fn a_text_of_an_older_log_that_is_no_iri_is_no_term() {
        let base = Base::of(&HeaderMap::new(), &Uri::from_static("/"), "/ldp", None);
        for text in ["urn:x> <urn:y> <urn:z> .\n<urn:a", "x", "urn:a b", "ldp:/a b", "ldp:!x"] {
            assert_eq!(term_of(&Value::Iri(text.into()), &base), None, "{text:?}");
        }
        assert!(term_of(&Value::Iri("ldp:/a%20b".into()), &base).is_some());
        let typed = |datatype| LiteralValue::with_datatype("1", datatype).unwrap().into();
        assert_eq!(term_of(&typed("urn:x%2"), &base), None);
        assert!(term_of(&typed("urn:x"), &base).is_some());
        let tagged = |language| LiteralValue::in_language("1", language).unwrap().into();
        assert_eq!(term_of(&tagged("a1"), &base), None);
        assert!(term_of(&tagged("de-CH-1996"), &base).is_some());
    }
}
