//! Orders values as searches do.

use std::cmp::Ordering;

use annals::{Literal, Meaning, Value};

/// Texts are ordered by their beginning, and then by age.
const ORDERED_TEXT_BYTES: usize = 120;
/// The text of a string, an IRI, or a literal with a language.
pub fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::Literal(literal) if matches!(literal.meaning(), Meaning::Language(_)) => Some(literal.text()),
        value => value.as_str(),
    }
}

/// Equal numbers go by their kind there: integers, floats, decimals; floats by their bits, decimals by their scale.
pub fn order_in_index(a: &Value, b: &Value) -> Ordering {
    let kind = |value: &Value| match value {
        Value::Integer(_) => (1, 0, 0),
        Value::Float(number) => (2, number.to_bits(), 0),
        Value::Decimal(number) => (3, 0, number.scale()),
        _ => (0, 0, 0),
    };
    order_of(a, b).then_with(|| kind(a).cmp(&kind(b)))
}

/// The order of a search: by kind, numbers together, texts by their beginning.
pub fn order_of(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Boolean(_) => 0,
        Value::Integer(_) | Value::Float(_) | Value::Decimal(_) => 1,
        Value::String(_) => 2,
        Value::Iri(_) => 3,
        Value::Literal(_) if text_of(value).is_some() => 4,
        Value::Literal(_) => 5,
        Value::Bytes(_) => 6,
        Value::Date(_) => 7,
        Value::Timestamp(_) => 8,
        Value::Duration(_) => 9,
        _ => 10,
    };
    // One that goes on comes behind one that ends there.
    let beginning = |text: &str, bytes_max: usize| {
        let bytes = text.as_bytes()[..text.len().min(bytes_max)].to_vec();
        (bytes, text.len() > bytes_max)
    };
    // A language, or a datatype, has the room that its text leaves.
    let beginnings = |literal: &Literal| {
        let text = beginning(literal.text(), ORDERED_TEXT_BYTES);
        let room = ORDERED_TEXT_BYTES.checked_sub(literal.text().len());
        (text, room.map(|room| beginning(literal.meaning().text(), room)))
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Value::Literal(a), Value::Literal(b)) => beginnings(a).cmp(&beginnings(b)),
        (Value::String(a) | Value::Iri(a), Value::String(b) | Value::Iri(b)) => {
            beginning(a, ORDERED_TEXT_BYTES).cmp(&beginning(b, ORDERED_TEXT_BYTES))
        }
        _ => a.compare(b).unwrap_or(Ordering::Equal),
    })
}
