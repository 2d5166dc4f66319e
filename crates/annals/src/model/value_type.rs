//! The declared types of attribute values.

/// The type of an attribute's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Any value.
    #[default]
    Any,
    /// [`Value::Boolean`](super::Value::Boolean).
    Boolean,
    /// [`Value::Integer`](super::Value::Integer).
    Integer,
    /// [`Value::Float`](super::Value::Float).
    Float,
    /// [`Value::Decimal`](super::Value::Decimal).
    Decimal,
    /// [`Value::String`](super::Value::String).
    String,
    /// [`Value::Bytes`](super::Value::Bytes).
    Bytes,
    /// [`Value::Date`](super::Value::Date).
    Date,
    /// [`Value::Timestamp`](super::Value::Timestamp).
    Timestamp,
    /// [`Value::Duration`](super::Value::Duration).
    Duration,
    /// [`Value::Uuid`](super::Value::Uuid).
    Uuid,
    /// [`Value::Iri`](super::Value::Iri).
    Iri,
    /// [`Value::List`](super::Value::List).
    List,
    /// [`Value::Map`](super::Value::Map).
    Map,
    /// [`Value::Literal`](super::Value::Literal).
    Literal,
    /// [`Value::Content`](super::Value::Content).
    Content,
}

impl ValueType {
    /// All value types, in the order of their codes in records.
    pub const ALL: [ValueType; 16] = [
        ValueType::Any,
        ValueType::Boolean,
        ValueType::Integer,
        ValueType::Float,
        ValueType::Decimal,
        ValueType::String,
        ValueType::Bytes,
        ValueType::Date,
        ValueType::Timestamp,
        ValueType::Duration,
        ValueType::Uuid,
        ValueType::Iri,
        ValueType::List,
        ValueType::Map,
        ValueType::Literal,
        ValueType::Content,
    ];

    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Any => "any",
            ValueType::Boolean => "boolean",
            ValueType::Integer => "integer",
            ValueType::Float => "float",
            ValueType::Decimal => "decimal",
            ValueType::String => "string",
            ValueType::Bytes => "bytes",
            ValueType::Date => "date",
            ValueType::Timestamp => "timestamp",
            ValueType::Duration => "duration",
            ValueType::Uuid => "uuid",
            ValueType::Iri => "iri",
            ValueType::List => "list",
            ValueType::Map => "map",
            ValueType::Literal => "literal",
            ValueType::Content => "content",
        }
    }
}
