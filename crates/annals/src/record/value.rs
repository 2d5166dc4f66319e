//! Values as CBOR, each kind under its registered tag.

use std::collections::BTreeMap;
use std::sync::Arc;

use minicbor::Decoder;
use minicbor::data::Type;
use rust_decimal::Decimal;

use super::binary::{decode_content, decode_literal, encode_content, encode_literal};
use super::sink::Sink;
use super::{tag, time_key};
use crate::model::{Date, Duration, Instant, NESTING_MAX, Value};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The index for a number in a record. A number that memory cannot have is beyond every list.
pub(super) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The code of one of `all`.
#[expect(clippy::expect_used, reason = "each list `ALL` has every variant of its enum")]
pub(super) fn code_of<T: PartialEq>(all: &[T], wanted: T) -> usize {
    all.iter().position(|known| *known == wanted).expect("ALL lists every variant")
}

pub(super) fn encode_value(out: &mut Sink, value: &Value) {
    match value {
        Value::Boolean(boolean) => _ = out.put(*boolean),
        Value::Integer(number) => _ = out.put(*number),
        Value::Float(number) => _ = out.put(*number),
        Value::Decimal(number) => encode_decimal(out, *number),
        Value::String(text) => _ = out.str(text),
        Value::Bytes(bytes) => _ = out.bytes(bytes),
        Value::Date(date) => _ = out.tag(tag::DATE).put(date.days()),
        Value::Timestamp(instant) => encode_time(out, tag::TIMESTAMP, instant.micros()),
        Value::Duration(duration) => encode_time(out, tag::DURATION, duration.micros()),
        Value::Uuid(bytes) => _ = out.tag(tag::UUID).bytes(bytes),
        Value::Iri(text) => _ = out.tag(tag::IRI).str(text),
        Value::Literal(literal) => encode_literal(out, literal),
        Value::Content(content) => encode_content(out, content),
        Value::List(values) => out.list(values.iter(), encode_value),
        Value::Map(values) => {
            out.map(values.len());
            values.iter().for_each(|(name, value)| encode_value(out.str(name), value));
        }
        Value::Set(values) => {
            out.tag(tag::SET).array(values.len());
            values.iter().for_each(|value| encode_value(out, &value));
        }
    }
}

/// Appends the CBOR form of a value.
pub(crate) fn encode_value_into(value: &Value, out: &mut Vec<u8>) {
    encode_value(&mut Sink::new(out), value);
}

/// The value at the start of `bytes`, and its length; `None` if there is none.
pub(crate) fn decode_value_from(bytes: &[u8]) -> Option<(Value, usize)> {
    let mut input = Decoder::new(bytes);
    let value = decode_value(&mut input).ok()?;
    Some((value, input.position()))
}

fn encode_decimal(out: &mut Sink, number: Decimal) {
    let mantissa = number.mantissa();
    out.tag(tag::DECIMAL).array(2).put(-i64::from(number.scale()));
    if let Ok(small) = i64::try_from(mantissa) {
        out.put(small);
        return;
    }
    // RFC 8949: a negative bignum holds -1 - n.
    let (sign_tag, magnitude) = if mantissa < 0 {
        (tag::BIG_NEGATIVE, (-1 - mantissa).unsigned_abs())
    } else {
        (tag::BIG_POSITIVE, mantissa.unsigned_abs())
    };
    let bytes = magnitude.to_be_bytes();
    let mut digits = bytes.as_slice();
    while let [0, rest @ ..] = digits {
        digits = rest;
    }
    out.tag(sign_tag).bytes(digits);
}

fn encode_time(out: &mut Sink, time_tag: u64, micros: i64) {
    let (seconds, rest) = (micros.div_euclid(MICROS_PER_SECOND), micros.rem_euclid(MICROS_PER_SECOND));
    out.tag(time_tag).map(if rest == 0 { 1 } else { 2 }).entry(time_key::SECONDS, seconds);
    if rest != 0 {
        out.entry(time_key::MICROS, rest);
    }
}

pub(super) type Read<T> = std::result::Result<T, minicbor::decode::Error>;

pub(super) fn malformed(text: &'static str) -> minicbor::decode::Error {
    minicbor::decode::Error::message(text)
}

/// Reads a length that the rest of the input can hold, so that a damaged length never allocates.
pub(super) fn bounded(input: &Decoder, length: Option<u64>) -> Read<usize> {
    let length = length.ok_or_else(|| malformed("indefinite lengths are not used"))?;
    let rest = input.input().len() - input.position();
    match usize::try_from(length) {
        Ok(length) if length <= rest => Ok(length),
        _ => Err(malformed("a length exceeds the record")),
    }
}

/// The capacity for a claimed number of items. The claim may be wrong, so a large list grows as its items are read.
pub(super) fn room(length: usize) -> usize {
    const ROOM_ITEMS_MAX: usize = 4_096;
    length.min(ROOM_ITEMS_MAX)
}

/// The variant for a code, which counts from 0 in `all`.
pub(super) fn variant<T: Copy>(all: &[T], code: u32, otherwise: &'static str) -> Read<T> {
    all.get(index(code)).copied().ok_or_else(|| malformed(otherwise))
}

pub(super) fn array(input: &mut Decoder) -> Read<usize> {
    let length = input.array()?;
    bounded(input, length)
}

/// Skips the parts of an array of `length` that this version does not know.
pub(super) fn skip_rest(input: &mut Decoder, length: usize, known: usize) -> Read<()> {
    (known..length).try_for_each(|_| input.skip())
}

pub(super) fn map(input: &mut Decoder) -> Read<usize> {
    let length = input.map()?;
    bounded(input, length)
}

pub(super) fn decode_value(input: &mut Decoder) -> Read<Value> {
    decode_nested(input, 0)
}

fn decode_nested(input: &mut Decoder, depth: usize) -> Read<Value> {
    if depth > NESTING_MAX {
        return Err(malformed("a value is nested too deep"));
    }
    Ok(match input.datatype()? {
        Type::Bool => Value::Boolean(input.bool()?),
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => Value::Integer(input.i64()?),
        Type::I8 | Type::I16 | Type::I32 | Type::I64 => Value::Integer(input.i64()?),
        Type::F16 | Type::F32 | Type::F64 => Value::Float(input.f64()?),
        Type::String => Value::String(input.str()?.into()),
        Type::Bytes => Value::Bytes(input.bytes()?.into()),
        Type::Array => {
            let length = array(input)?;
            let mut values = Vec::with_capacity(room(length));
            for _ in 0..length {
                values.push(decode_nested(input, depth + 1)?);
            }
            Value::List(values.into())
        }
        Type::Map => {
            let length = map(input)?;
            let mut values: BTreeMap<Arc<str>, Value> = BTreeMap::new();
            for _ in 0..length {
                let name = input.str()?.into();
                values.insert(name, decode_nested(input, depth + 1)?);
            }
            Value::Map(Arc::new(values))
        }
        Type::Tag => decode_tagged(input, depth)?,
        _ => return Err(malformed("no value has this CBOR type")),
    })
}

fn decode_tagged(input: &mut Decoder, depth: usize) -> Read<Value> {
    Ok(match input.tag()?.as_u64() {
        tag::DATE => {
            Value::Date(Date::from_days(input.i32()?).map_err(|_| malformed("a date is out of its range"))?)
        }
        tag::TIMESTAMP => Value::Timestamp(
            Instant::from_micros(decode_time(input)?).map_err(|_| malformed("an instant is out of range"))?,
        ),
        tag::DURATION => Value::Duration(Duration::from_micros(decode_time(input)?)),
        tag::UUID => {
            Value::Uuid(input.bytes()?.try_into().map_err(|_| malformed("a UUID does not have 16 bytes"))?)
        }
        tag::IRI => Value::Iri(input.str()?.into()),
        number @ (tag::LANGUAGE | tag::DATATYPE) => decode_literal(input, number)?,
        tag::CONTENT => decode_content(input)?,
        tag::DECIMAL => Value::Decimal(decode_decimal(input)?),
        tag::SET => {
            let length = array(input)?;
            let mut values = Vec::with_capacity(room(length));
            for _ in 0..length {
                values.push(decode_nested(input, depth + 1)?);
            }
            Value::set(values).map_err(|_| malformed("a set holds something else than scalars"))?
        }
        _ => return Err(malformed("no value has this CBOR tag")),
    })
}

fn decode_decimal(input: &mut Decoder) -> Read<Decimal> {
    if array(input)? != 2 {
        return Err(malformed("a decimal is not [exponent, mantissa]"));
    }
    let scale = u32::try_from(-i128::from(input.i64()?)).map_err(|_| malformed("a decimal's exponent"))?;
    let mantissa = match input.datatype()? {
        Type::Tag => {
            let sign_tag = input.tag()?.as_u64();
            let bytes = input.bytes()?;
            if bytes.len() > 12 {
                return Err(malformed("a decimal has more than 28 digits"));
            }
            let magnitude = bytes.iter().fold(0i128, |sum, &byte| sum << 8 | i128::from(byte));
            if sign_tag == tag::BIG_NEGATIVE { -1 - magnitude } else { magnitude }
        }
        _ => input.i64()?.into(),
    };
    Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| malformed("a decimal is out of range"))
}

fn decode_time(input: &mut Decoder) -> Read<i64> {
    let (mut seconds, mut micros) = (0i64, 0i64);
    for _ in 0..map(input)? {
        match input.i64()? {
            time_key::SECONDS => seconds = input.i64()?,
            time_key::MICROS => micros = input.i64()?,
            _ => input.skip()?,
        }
    }
    // For the most negative duration, the whole seconds alone are out of range.
    let micros = i128::from(seconds) * i128::from(MICROS_PER_SECOND) + i128::from(micros);
    i64::try_from(micros).map_err(|_| malformed("an instant is out of range"))
}
