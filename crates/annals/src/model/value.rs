//! Property values.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use rust_decimal::Decimal;

use super::iri::{is_iri, shown};
use super::number::Parts;
use super::{Content, Date, Duration, Instant, Literal, Meaning, ValueSet, ValueType};
use crate::{Error, ErrorKind, Result};

/// Longest string, IRI or byte string. Units: bytes.
pub const VALUE_BYTES_MAX: usize = 16 << 20;
/// Deepest nesting of lists and maps.
pub const NESTING_MAX: usize = 32;
/// Most properties of an instance, and of each of its classifications. A document needs some thousand; each name has
/// its indexes.
pub const PROPERTIES_MAX: usize = 32_768;
/// Most names of types, properties, classifications and homes in a repository: together they take some hundred
/// megabytes of memory.
pub const NAMES_MAX: usize = 1_000_000;

/// The value of a property. Cloning is cheap: long contents are shared.
///
/// Equality is exact (`Integer(1)` is not `Float(1.0)`); searches compare numbers by their numeric value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A 64-bit signed integer.
    Integer(i64),
    /// A 64-bit IEEE 754 number.
    Float(f64),
    /// An exact decimal number of at most 28 digits.
    Decimal(Decimal),
    /// Unicode text.
    String(Arc<str>),
    /// Opaque bytes.
    Bytes(Arc<[u8]>),
    /// A calendar day.
    Date(Date),
    /// A point in time.
    Timestamp(Instant),
    /// A length of time.
    Duration(Duration),
    /// A UUID: its sixteen bytes.
    Uuid([u8; 16]),
    /// An internationalised resource identifier.
    Iri(Arc<str>),
    /// A text with a language or a datatype.
    Literal(Arc<Literal>),
    /// An ordered sequence of values.
    List(Arc<[Value]>),
    /// Values by name.
    Map(Arc<BTreeMap<Arc<str>, Value>>),
    /// A multi-valued property: a set of scalar values under one name.
    Set(ValueSet),
    /// A binary in the store of contents.
    Content(Arc<Content>),
}

impl Value {
    /// The type of this value; for a set the type of the property as a whole.
    pub fn value_type(&self) -> ValueType {
        match self {
            Value::Boolean(_) => ValueType::Boolean,
            Value::Integer(_) => ValueType::Integer,
            Value::Float(_) => ValueType::Float,
            Value::Decimal(_) => ValueType::Decimal,
            Value::String(_) => ValueType::String,
            Value::Bytes(_) => ValueType::Bytes,
            Value::Date(_) => ValueType::Date,
            Value::Timestamp(_) => ValueType::Timestamp,
            Value::Duration(_) => ValueType::Duration,
            Value::Uuid(_) => ValueType::Uuid,
            Value::Iri(_) => ValueType::Iri,
            Value::Literal(_) => ValueType::Literal,
            Value::Content(_) => ValueType::Content,
            Value::List(_) => ValueType::List,
            Value::Map(_) => ValueType::Map,
            Value::Set(_) => ValueType::Any,
        }
    }

    /// True for everything but lists, maps, sets and contents.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Value::List(_) | Value::Map(_) | Value::Set(_) | Value::Content(_))
    }

    /// A set of the given scalars.
    ///
    /// Errors: `InvalidArgument` if one of them is a list, map or set.
    pub fn set(values: impl IntoIterator<Item = Value>) -> Result<Value> {
        let mut set = ValueSet::new();
        for value in values {
            set.insert(&value)?;
        }
        Ok(Value::Set(set))
    }

    /// The text of a string or IRI.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::Iri(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a string, an IRI, or a literal with a language.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Literal(literal) => literal.text_in_language(),
            other => other.as_str(),
        }
    }

    /// The integer.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Compares as searches do: numbers by numeric value across their kinds, all other values only within their kind;
    /// `None` if the two cannot be compared.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        use Value::{Decimal as Dec, Float, Integer};
        match (self, other) {
            (Integer(a), Integer(b)) => Some(a.cmp(b)),
            (Float(a), Float(b)) => Some(compare_floats(*a, *b)),
            (Dec(a), Dec(b)) => Some(a.cmp(b)),
            (Integer(a), Dec(b)) => Some(Decimal::from(*a).cmp(b)),
            (Dec(a), Integer(b)) => Some(a.cmp(&Decimal::from(*b))),
            (Integer(a), Float(b)) => Some(Parts::of_integer(*a).compare_float(*b)),
            (Float(a), Integer(b)) => Some(Parts::of_integer(*b).compare_float(*a).reverse()),
            (Dec(a), Float(b)) => Some(Parts::of_decimal(*a).compare_float(*b)),
            (Float(a), Dec(b)) => Some(Parts::of_decimal(*b).compare_float(*a).reverse()),
            (a, b) if a.rank() == b.rank() => Some(a.cmp(b)),
            _ => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Boolean(_) => 1,
            Value::Integer(_) => 2,
            Value::Float(_) => 3,
            Value::Decimal(_) => 4,
            Value::String(_) => 5,
            Value::Iri(_) => 6,
            // Texts in a language do not compare with texts of a datatype.
            Value::Literal(literal) if literal.text_in_language().is_some() => 7,
            Value::Literal(_) => 8,
            Value::Bytes(_) => 9,
            Value::Date(_) => 10,
            Value::Timestamp(_) => 11,
            Value::Duration(_) => 12,
            Value::Uuid(_) => 13,
            Value::List(_) => 14,
            Value::Map(_) => 15,
            Value::Set(_) => 16,
            Value::Content(_) => 17,
        }
    }

    /// Refuses values that exceed a bound: [`VALUE_BYTES_MAX`], [`NESTING_MAX`].
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        self.check_at(name, 0)
    }

    /// Refuses texts that are no IRIs. Only new records are checked: older logs may have them.
    ///
    /// Errors: `InvalidArgument`.
    pub(crate) fn check_iris(&self, name: &str) -> Result<()> {
        let (what, text) = match self {
            Value::Iri(text) => ("an IRI", &**text),
            Value::Literal(literal) => match literal.meaning() {
                Meaning::Datatype(datatype) => ("a datatype that is an IRI", &**datatype),
                Meaning::Language(_) => return Ok(()),
            },
            Value::List(values) => return values.iter().try_for_each(|value| value.check_iris(name)),
            Value::Map(values) => return values.values().try_for_each(|value| value.check_iris(name)),
            Value::Set(values) => return values.iter().try_for_each(|value| value.check_iris(name)),
            _ => return Ok(()),
        };
        if is_iri(text) {
            return Ok(());
        }
        let text = format!(
            "property {name}: expected {what} with a scheme and without characters that RFC 3987 forbids, found {}; \
             percent-encode these characters, or store a string",
            shown(text)
        );
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    fn check_at(&self, name: &str, depth: usize) -> Result<()> {
        if depth > NESTING_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "property {name}: expected at most {NESTING_MAX} levels of lists and maps; flatten it"
                ),
            ));
        }
        let bytes = match self {
            Value::String(text) | Value::Iri(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Literal(literal) => literal.bytes(),
            Value::Content(content) => return content.check(),
            Value::List(values) => {
                return values.iter().try_for_each(|value| value.check_at(name, depth + 1));
            }
            Value::Map(values) => {
                return values.values().try_for_each(|value| value.check_at(name, depth + 1));
            }
            Value::Set(values) => {
                return values.iter().try_for_each(|value| value.check_at(name, depth + 1));
            }
            _ => 0,
        };
        if bytes > VALUE_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "property {name}: expected at most {VALUE_BYTES_MAX} bytes, found {bytes}; keep it in a file and store where"
                ),
            ));
        }
        Ok(())
    }
}

/// Numeric order with NaN last and both zeros equal.
fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl Ord for Value {
    /// A total order for storing: by kind, then by value. Floats order by their bits, so that equal means identical.
    fn cmp(&self, other: &Value) -> Ordering {
        use Value::*;
        match (self, other) {
            (Boolean(a), Boolean(b)) => a.cmp(b),
            (Integer(a), Integer(b)) => a.cmp(b),
            (Float(a), Float(b)) => a.total_cmp(b),
            // Equal decimals of different scale (1.0 and 1.00) are different values.
            (Decimal(a), Decimal(b)) => a.cmp(b).then_with(|| a.scale().cmp(&b.scale())),
            (String(a), String(b)) | (Iri(a), Iri(b)) => a.cmp(b),
            (Literal(a), Literal(b)) => a.cmp(b),
            (Bytes(a), Bytes(b)) => a.cmp(b),
            (Date(a), Date(b)) => a.cmp(b),
            (Timestamp(a), Timestamp(b)) => a.cmp(b),
            (Duration(a), Duration(b)) => a.cmp(b),
            (Uuid(a), Uuid(b)) => a.cmp(b),
            (List(a), List(b)) => a.cmp(b),
            (Map(a), Map(b)) => a.cmp(b),
            (Set(a), Set(b)) => a.cmp(b),
            (Content(a), Content(b)) => a.cmp(b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Boolean(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Integer(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Integer(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::String(value.into())
    }
}

impl From<Literal> for Value {
    fn from(value: Literal) -> Value {
        Value::Literal(Arc::new(value))
    }
}

impl From<Content> for Value {
    fn from(value: Content) -> Value {
        Value::Content(Arc::new(value))
    }
}

impl From<Instant> for Value {
    fn from(value: Instant) -> Value {
        Value::Timestamp(value)
    }
}

impl From<Date> for Value {
    fn from(value: Date) -> Value {
        Value::Date(value)
    }
}

impl From<Decimal> for Value {
    fn from(value: Decimal) -> Value {
        Value::Decimal(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_24_bytes() {
        assert_eq!(size_of::<Value>(), 24);
    }

    #[test]
    fn numbers_compare_across_kinds() {
        let half = Value::Float(0.5);
        assert_eq!(Value::Integer(1).compare(&Value::Float(1.0)), Some(Ordering::Equal));
        assert_eq!(Value::Integer(0).compare(&half), Some(Ordering::Less));
        assert_eq!(Value::Decimal(Decimal::new(5, 1)).compare(&half), Some(Ordering::Equal));
        assert_eq!(Value::Integer(i64::MAX).compare(&Value::Float(9.3e18)), Some(Ordering::Less));
        assert_eq!(
            Value::Integer(9_007_199_254_740_993).compare(&Value::Float(9_007_199_254_740_992.0)),
            Some(Ordering::Greater)
        );
        assert_eq!(Value::Float(-1e-308).compare(&Value::Decimal(Decimal::ZERO)), Some(Ordering::Less));
        assert_eq!(Value::Integer(1).compare(&Value::from("1")), None);
        assert_ne!(Value::Integer(1), Value::Float(1.0));
    }
}
