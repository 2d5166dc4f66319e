//! The types of values that attributes may be declared with.

/// The type of an attribute's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Any value.
    #[default]
    Any,
    /// [`Value::Boolean`].
    Boolean,
    /// [`Value::Integer`].
    Integer,
    /// [`Value::Float`].
    Float,
    /// [`Value::Decimal`].
    Decimal,
    /// [`Value::String`].
    String,
    /// [`Value::Bytes`].
    Bytes,
    /// [`Value::Date`].
    Date,
    /// [`Value::Timestamp`].
    Timestamp,
    /// [`Value::Duration`].
    Duration,
    /// [`Value::Uuid`].
    Uuid,
    /// [`Value::Iri`].
    Iri,
    /// [`Value::List`].
    List,
    /// [`Value::Map`].
    Map,
}

impl ValueType {
    /// All value types, in the order of their codes in records.
    pub const ALL: [ValueType; 14] = [
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
        }
    }
}
