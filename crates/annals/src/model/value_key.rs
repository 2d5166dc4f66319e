//! Byte keys that order as their values do.
//!
//! Shape of a key: one tag byte, then by kind:
//! `10` boolean: 1 byte · `20` number: its float64 order bits (8), kind (1), then the integer (8), the bits of the float (8),
//! or of the decimal the whole part (16), the fraction in units of 10^-28 (16) and the scale (1) ·
//! `30` string, `38` IRI, `40` bytes: escaped (`00` becomes `00 FF`), ended by `00 00` (whole) or `00 02` (cut) ·
//! `3A` literal with a language, `3C` with a datatype: its text as above, and if that is whole, the language or datatype as above ·
//! `50` date: 4 · `58` timestamp, `60` duration: 8 · `68` UUID: 16. Big endian, sign bit flipped.
//! Numbers of all kinds share one order, so a range over a property finds integers, floats and decimals alike.

use crate::structures::text_key::{BYTES, DATATYPE, END_CUT, END_WHOLE, IRI, LANGUAGE, STRING};
use std::cmp::Ordering;

use super::number::{Parts, nearest_float};
use super::{Date, Duration, Instant, Literal, Meaning, Value};

/// Longest text that an index key holds completely. A longer one is cut there, and compared in full when found.
const INDEX_TEXT_BYTES_MAX: usize = 120;
/// Longest key [`append_index_key`] makes. Units: bytes (every byte of the text may need an escape).
pub(crate) const INDEX_KEY_BYTES_MAX: usize = 1 + 2 * INDEX_TEXT_BYTES_MAX + 4;

const BOOLEAN: u8 = 0x10;
const NUMBER: u8 = 0x20;
const DATE: u8 = 0x50;
const TIMESTAMP: u8 = 0x58;
const DURATION: u8 = 0x60;
const UUID: u8 = 0x68;

const INTEGER_KIND: u8 = 1;
const FLOAT_KIND: u8 = 2;
const DECIMAL_KIND: u8 = 3;

const LESS: u8 = 0x7F;
const SAME: u8 = 0x80;
const MORE: u8 = 0x81;

/// True for values in property indexes: scalars, and the members of sets.
pub(crate) fn is_indexable(value: &Value) -> bool {
    value.is_scalar()
}

/// Appends the key of a scalar; long texts are cut. Lists, maps and sets append nothing.
pub(crate) fn append_index_key(value: &Value, out: &mut Vec<u8>) {
    append(value, INDEX_TEXT_BYTES_MAX, out);
}

impl Value {
    /// Appends the key of a scalar from which [`Value::from_key`] restores it. No such key is a prefix of another.
    pub(crate) fn append_exact_key(&self, out: &mut Vec<u8>) {
        append(self, usize::MAX, out);
    }

    /// Restores the scalar of an exact key; `None` for other bytes, or for a key with a cut text.
    pub(super) fn from_key(key: &[u8]) -> Option<Value> {
        decode_key(key)
    }
}

/// True if no other value has the index key of `value`; long texts with the same beginning have the same key.
pub(crate) fn has_own_key(value: &Value) -> bool {
    match value {
        Value::String(text) | Value::Iri(text) => text.len() <= INDEX_TEXT_BYTES_MAX,
        Value::Bytes(bytes) => bytes.len() <= INDEX_TEXT_BYTES_MAX,
        Value::Literal(literal) => literal.bytes() <= INDEX_TEXT_BYTES_MAX,
        Value::Set(values) => values.iter().all(|value| has_own_key(&value)),
        _ => true,
    }
}

/// Appends the common prefix of the keys of all numbers near `value`; false (and nothing appended) if it is no number.
pub(crate) fn append_numeric_prefix(value: &Value, out: &mut Vec<u8>) -> bool {
    let Some(float) = approximate(value) else { return false };
    out.push(NUMBER);
    out.extend_from_slice(&float_order(float));
    true
}

fn approximate(value: &Value) -> Option<f64> {
    match value {
        // Rounding keeps the order (a < b never becomes a > b); the exact bytes decide if the floats are equal.
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Decimal(number) => Some(nearest_float(*number)),
        _ => None,
    }
}

fn float_order(float: f64) -> [u8; 8] {
    // Both zeros are one number, and every NaN sorts after infinity.
    let float = if float == 0.0 {
        0.0
    } else if float.is_nan() {
        f64::NAN.copysign(1.0)
    } else {
        float
    };
    let bits = float.to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    ordered.to_be_bytes()
}

fn flip64(number: i64) -> [u8; 8] {
    (number.cast_unsigned() ^ 1 << 63).to_be_bytes()
}

fn append(value: &Value, text_bytes_max: usize, out: &mut Vec<u8>) {
    if append_numeric_prefix(value, out) {
        match value {
            Value::Integer(number) => {
                out.push(INTEGER_KIND);
                out.extend_from_slice(&flip64(*number));
            }
            Value::Float(number) => {
                out.push(FLOAT_KIND);
                out.extend_from_slice(&number.to_bits().to_be_bytes());
            }
            Value::Decimal(number) => {
                out.push(DECIMAL_KIND);
                append_parts(Parts::of_decimal(*number), out);
                out.extend_from_slice(&number.scale().to_be_bytes()[3..]);
            }
            _ => unreachable!("only numbers have a numeric prefix"),
        }
        return;
    }
    match value {
        Value::Boolean(boolean) => out.extend_from_slice(&[BOOLEAN, u8::from(*boolean)]),
        Value::String(text) => append_text(STRING, text.as_bytes(), text_bytes_max, out),
        Value::Iri(text) => append_text(IRI, text.as_bytes(), text_bytes_max, out),
        Value::Bytes(bytes) => append_text(BYTES, bytes, text_bytes_max, out),
        Value::Literal(literal) => append_literal(literal, text_bytes_max, out),
        Value::Date(date) => {
            out.push(DATE);
            out.extend_from_slice(&(date.days().cast_unsigned() ^ 1 << 31).to_be_bytes());
        }
        Value::Timestamp(instant) => {
            out.push(TIMESTAMP);
            out.extend_from_slice(&flip64(instant.micros()));
        }
        Value::Duration(duration) => {
            out.push(DURATION);
            out.extend_from_slice(&flip64(duration.micros()));
        }
        Value::Uuid(bytes) => {
            out.push(UUID);
            out.extend_from_slice(bytes);
        }
        _ => {}
    }
}

/// Appends a key that orders scalars as they compare, and is the same for equal numbers of different kinds. For other
/// values it is their index key.
///
/// Shape of a number: `20`, its float64 order bits (8), then `80` if it is that float, or `7F` if it is less and `81`
/// if it is more, each with its whole part (16) and its fraction (16, in units of 10^-28).
pub(crate) fn append_order_key(value: &Value, out: &mut Vec<u8>) {
    let Some(float) = approximate(value) else { return append_index_key(value, out) };
    append_numeric_prefix(value, out);
    let parts = match value {
        Value::Integer(number) => Parts::of_integer(*number),
        Value::Decimal(number) => Parts::of_decimal(*number),
        _ => return out.push(SAME),
    };
    out.push(match parts.compare_float(float) {
        Ordering::Equal => return out.push(SAME),
        Ordering::Less => LESS,
        Ordering::Greater => MORE,
    });
    append_parts(parts, out);
}

fn append_parts(parts: Parts, out: &mut Vec<u8>) {
    for part in [parts.whole, parts.fraction] {
        out.extend_from_slice(&(part.cast_unsigned() ^ 1 << 127).to_be_bytes());
    }
}

fn decode_parts(bytes: &[u8]) -> Option<(Parts, &[u8])> {
    let part = |bytes: &[u8; 16]| (u128::from_be_bytes(*bytes) ^ 1 << 127).cast_signed();
    let (whole, rest) = bytes.split_first_chunk()?;
    let (fraction, rest) = rest.split_first_chunk()?;
    Some((Parts { whole: part(whole), fraction: part(fraction) }, rest))
}

fn append_literal(literal: &Literal, bytes_max: usize, out: &mut Vec<u8>) {
    let (text, meaning) = (literal.text(), literal.meaning());
    let tag = match meaning {
        Meaning::Language(_) => LANGUAGE,
        Meaning::Datatype(_) => DATATYPE,
    };
    append_text(tag, text.as_bytes(), bytes_max, out);
    if text.len() <= bytes_max {
        append_escaped(meaning.text().as_bytes(), bytes_max - text.len(), out);
    }
}

fn append_text(tag: u8, text: &[u8], bytes_max: usize, out: &mut Vec<u8>) {
    out.push(tag);
    append_escaped(text, bytes_max, out);
}

fn append_escaped(text: &[u8], bytes_max: usize, out: &mut Vec<u8>) {
    let kept = &text[..text.len().min(bytes_max)];
    // Searching for a zero first is many times faster than splitting, and texts have none.
    if kept.contains(&0) {
        for (number, part) in kept.split(|byte| *byte == 0).enumerate() {
            if number > 0 {
                out.extend_from_slice(&[0, 0xFF]);
            }
            out.extend_from_slice(part);
        }
    } else {
        out.extend_from_slice(kept);
    }
    out.extend_from_slice(if kept.len() < text.len() { &END_CUT } else { &END_WHOLE });
}

/// Appends the common prefix of the keys of all strings (or IRIs) that start with `prefix`; nothing for other kinds.
pub(crate) fn append_text_prefix(prefix: &Value, out: &mut Vec<u8>) {
    if prefix.as_str().is_some() {
        append_index_key(prefix, out);
        out.truncate(out.len() - END_WHOLE.len());
    }
}

/// Appends the common prefix of the keys of all texts in a language that are `text`, or else start with it.
pub(crate) fn append_language_prefix(text: &str, is_whole: bool, out: &mut Vec<u8>) {
    append_text(LANGUAGE, text.as_bytes(), INDEX_TEXT_BYTES_MAX, out);
    if !is_whole {
        out.truncate(out.len() - END_WHOLE.len());
    }
}

pub(crate) fn decode_key(key: &[u8]) -> Option<Value> {
    let (&tag, rest) = key.split_first()?;
    Some(match tag {
        BOOLEAN => Value::Boolean(*rest.first()? != 0),
        NUMBER => {
            let (&kind, exact) = rest.get(8..)?.split_first()?;
            match kind {
                INTEGER_KIND => Value::Integer(unflip64(exact)?),
                FLOAT_KIND => Value::Float(f64::from_bits(u64::from_be_bytes(exact.try_into().ok()?))),
                DECIMAL_KIND => {
                    let (parts, scale) = decode_parts(exact)?;
                    let [scale] = scale else { return None };
                    Value::Decimal(parts.to_decimal((*scale).into())?)
                }
                _ => return None,
            }
        }
        STRING => Value::String(String::from_utf8(decode_text(rest)?).ok()?.into()),
        IRI => Value::Iri(String::from_utf8(decode_text(rest)?).ok()?.into()),
        LANGUAGE | DATATYPE => {
            let (text, meaning) = decode_two_texts(rest)?;
            let literal = if tag == LANGUAGE {
                Literal::in_language(&text, &meaning)
            } else {
                Literal::with_datatype(&text, &meaning)
            };
            Value::from(literal.ok()?)
        }
        BYTES => Value::Bytes(decode_text(rest)?.into()),
        DATE => {
            let days = u32::from_be_bytes(rest.try_into().ok()?) ^ 1 << 31;
            Value::Date(Date::from_days(days.cast_signed()).ok()?)
        }
        TIMESTAMP => Value::Timestamp(Instant::from_micros(unflip64(rest)?).ok()?),
        DURATION => Value::Duration(Duration::from_micros(unflip64(rest)?)),
        UUID => Value::Uuid(rest.try_into().ok()?),
        _ => return None,
    })
}

fn unflip64(bytes: &[u8]) -> Option<i64> {
    Some((u64::from_be_bytes(bytes.try_into().ok()?) ^ 1 << 63).cast_signed())
}

fn decode_two_texts(escaped: &[u8]) -> Option<(String, String)> {
    // A zero byte of the text is followed by FF, so the first other zero ends it.
    let mut at = 0;
    loop {
        at += escaped.get(at..)?.iter().position(|byte| *byte == 0)?;
        match escaped.get(at + 1)? {
            0xFF => at += 2,
            0 => break,
            _ => return None,
        }
    }
    let (first, second) = escaped.split_at_checked(at + END_WHOLE.len())?;
    Some((String::from_utf8(decode_text(first)?).ok()?, String::from_utf8(decode_text(second)?).ok()?))
}

fn decode_text(escaped: &[u8]) -> Option<Vec<u8>> {
    let body = escaped.strip_suffix(&END_WHOLE)?;
    let mut text = Vec::with_capacity(body.len());
    let mut bytes = body.iter();
    while let Some(&byte) = bytes.next() {
        text.push(byte);
        if byte == 0 && *bytes.next()? != 0xFF {
            return None;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<bool>().prop_map(Value::Boolean),
            any::<i64>().prop_map(Value::Integer),
            (-5i64..5).prop_map(Value::Integer),
            any::<f64>().prop_map(Value::Float),
            (-50i64..50, 0u32..4).prop_map(|(n, s)| Value::Decimal(Decimal::new(n, s))),
            (any::<i64>(), any::<u32>(), 0u32..29).prop_map(|(high, low, scale)| {
                Value::Decimal(Decimal::from_i128_with_scale(
                    (i128::from(high) << 32) + i128::from(low),
                    scale,
                ))
            }),
            "[a-c\\x00]{0,4}".prop_map(Value::from),
            "[a-c]{0,4}".prop_map(|text| Value::Iri(text.into())),
            proptest::collection::vec(any::<u8>(), 0..4).prop_map(|bytes| Value::Bytes(bytes.into())),
            (-9999i32..9999).prop_map(|days| Value::Date(Date::from_days(days).unwrap())),
            any::<i32>().prop_map(|n| Value::Timestamp(Instant::from_micros(n.into()).unwrap())),
            any::<i64>().prop_map(|n| Value::Duration(Duration::from_micros(n))),
            any::<[u8; 16]>().prop_map(Value::Uuid),
            ("[a\\x00é]{0,6}", "[a-c]{1,2}").prop_map(|(text, language)| {
                Value::from(Literal::in_language(&text, &language).unwrap())
            }),
            ("[a\\x00é]{0,6}", "[a-c]:[a-c]{0,2}").prop_map(|(text, datatype)| {
                Value::from(Literal::with_datatype(&text, &datatype).unwrap())
            }),
        ]
    }

    /// Numbers of all kinds near values where floats are too coarse to separate them.
    fn close_number() -> impl Strategy<Value = Value> {
        let anchor = prop_oneof![
            Just(0i128),
            Just(1),
            Just(1i128 << 53),
            Just(-(1i128 << 53)),
            Just(i128::from(i64::MAX) - 4),
            Just(11_000_000_000_000_000),
            Just(123_456_789_012_345_678),
        ];
        (anchor, -4i128..5, 0u32..20, -2i64..3, 0usize..4).prop_map(|(anchor, step, scale, ulps, kind)| {
            let near = |float: f64| match float.to_bits() {
                0 => float,
                bits => f64::from_bits(bits.wrapping_add_signed(ulps)),
            };
            let float = near((anchor + step) as f64);
            match kind {
                0 => Value::Integer(i64::try_from(anchor + step).unwrap_or(i64::MAX)),
                1 => Value::Float(float),
                2 => Value::Float(float / 10f64.powi(scale.try_into().unwrap())),
                _ => Value::Decimal(Decimal::from_i128_with_scale(anchor * 10 + step, scale)),
            }
        })
    }

    fn scalar_or_number() -> impl Strategy<Value = Value> {
        prop_oneof![
            scalar(),
            close_number(),
            close_number(),
            any::<f64>().prop_map(|number| Value::Float(number * 1e-290)),
            // Decimals with the same nearest float.
            (0i128..9, 0u32..29).prop_map(|(step, scale)| {
                Value::Decimal(Decimal::from_i128_with_scale(1_234_567_890_123_456_789_012_340 + step, scale))
            }),
            (0u32..9).prop_map(|zeros| {
                Value::Decimal(Decimal::from_i128_with_scale(
                    19_230_933_864_998_508_941 * 10i128.pow(zeros),
                    15 + zeros,
                ))
            }),
            // Around the outermost decimals.
            (0u32..3).prop_map(|step| Value::Decimal(Decimal::MAX - Decimal::from(step))),
            (0u32..3).prop_map(|step| Value::Decimal(Decimal::MIN + Decimal::from(step))),
            (-3i64..4).prop_map(|ulps| {
                let outermost = 79_228_162_514_264_337_593_543_950_336.0_f64;
                Value::Float(f64::from_bits(outermost.to_bits().wrapping_add_signed(ulps)))
            }),
        ]
    }

    fn key(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        value.append_exact_key(&mut out);
        out
    }

    proptest! {
        #[test]
        fn a_key_restores_its_value(value in scalar()) {
            prop_assert_eq!(decode_key(&key(&value)), Some(value));
        }

        #[test]
        fn keys_order_as_values_compare(a in scalar(), b in scalar()) {
            if let Some(order) = a.compare(&b) && order.is_ne() {
                prop_assert_eq!(key(&a).cmp(&key(&b)), order);
            }
        }

        /// A range search reads between the prefixes of its bounds, so no number may lie outside them.
        #[test]
        fn numbers_that_are_close_keep_their_order(a in close_number(), b in close_number()) {
            let prefix = |value: &Value| {
                let mut out = Vec::new();
                append_numeric_prefix(value, &mut out);
                out
            };
            match a.compare(&b) {
                Some(std::cmp::Ordering::Less) => prop_assert!(prefix(&a) <= prefix(&b)),
                Some(std::cmp::Ordering::Equal) => prop_assert_eq!(prefix(&a), prefix(&b)),
                _ => {}
            }
        }

        /// Also for close values: equal numbers of one kind may differ in their bytes only.
        #[test]
        fn keys_of_one_kind_order_exactly_as_values_compare(a in scalar_or_number(), b in scalar_or_number()) {
            if std::mem::discriminant(&a) == std::mem::discriminant(&b) && let Some(order) = a.compare(&b) && order.is_ne() {
                prop_assert_eq!(key(&a).cmp(&key(&b)), order);
            }
        }

        /// In an order by several keys, the next key decides among equal numbers, also of different kinds.
        #[test]
        fn order_keys_order_exactly_as_values_compare(a in scalar_or_number(), b in scalar_or_number()) {
            let order_key = |value: &Value| {
                let mut out = Vec::new();
                append_order_key(value, &mut out);
                out
            };
            if let Some(order) = a.compare(&b) {
                prop_assert_eq!(order_key(&a).cmp(&order_key(&b)), order);
            }
        }

        #[test]
        fn decoding_any_bytes_never_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            parts in any::<[[u8; 16]; 2]>(),
            scale in 0u8..40,
        ) {
            let _ = decode_key(&bytes);
            let decimal = [&[NUMBER; 9][..], &[DECIMAL_KIND], parts.as_flattened(), &[scale]].concat();
            let _ = decode_key(&decimal);
        }
    }

    #[test]
    fn long_texts_are_cut_within_the_bound() {
        let mut out = Vec::new();
        append_index_key(&Value::from("\0".repeat(5000)), &mut out);
        assert!(out.len() <= INDEX_KEY_BYTES_MAX);
    }
}
