//! Values of properties.

use annals_json_form::form;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value as Json, json};

use super::{ByName, Duration, Instant};

named_forms![
    Value,
    Properties,
    Stamp,
    DecimalValue,
    FloatValue,
    BytesValue,
    DateValue,
    TimestampValue,
    DurationValue,
    UuidValue,
    IriValue,
    LiteralValue,
    ContentValue,
    MapValue,
    ListValue,
    SetValue,
    PlainMapValue,
];

/// A property value. Kinds that JSON lacks are objects with one key that starts with `$`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(with = "ValueForm", example = json!({ "$set": ["shell", "interactive"] }))]
pub struct Value(pub Json);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        let json = Json::deserialize(from)?;
        crate::value_from_json(&json).map(|_| Value(json)).map_err(D::Error::custom)
    }
}

// The forms of a value.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum ValueForm {
    Scalar(Scalar),
    List(Vec<Item>),
    Decimal(DecimalValue),
    Float(FloatValue),
    Bytes(BytesValue),
    Date(DateValue),
    Timestamp(TimestampValue),
    Duration(DurationValue),
    Uuid(UuidValue),
    Iri(IriValue),
    Literal(LiteralValue),
    Content(ContentValue),
    Map(MapValue),
    TaggedList(ListValue),
    Set(SetValue),
    PlainMap(PlainMapValue),
}

// The scalars of JSON in one schema, so that client generators need fewer invented names.
#[form(inline)]
#[schemars(transform = scalar)]
pub enum Scalar {
    Flag(bool),
    Number(Number),
    Text(String),
}

fn scalar(schema: &mut schemars::Schema) {
    *schema = schemars::json_schema!({ "type": ["boolean", "number", "string"] });
}

// Client generators accept a type that contains itself only through a named object. So the items of a list have no
// type.
#[form(inline)]
#[schemars(description = "A Value.")]
pub struct Item(pub Json);

/// Values by the names of their properties.
#[form]
#[schemars(example = json!({ "name": "bash", "size": 7, "tags": { "$set": ["shell", "interactive"] } }))]
pub struct Properties(pub ByName<Value>);

/// The instant and the author of a write.
#[form]
#[schemars(example = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" }))]
pub struct Stamp {
    pub instant: Instant,
    /// Empty if the author is unknown.
    pub author: String,
}

/// A decimal number of at most 28 digits, with its original scale.
#[form]
#[schemars(example = json!({ "$decimal": "1.20" }))]
pub struct DecimalValue {
    #[serde(rename = "$decimal")]
    pub decimal: String,
}

/// A float that JSON lacks: `NaN`, `inf` or `-inf`.
#[form]
#[schemars(example = json!({ "$float": "NaN" }))]
pub struct FloatValue {
    #[serde(rename = "$float")]
    pub float: String,
}

/// Bytes in base64 with padding.
#[form]
#[schemars(example = json!({ "$bytes": "AAE=" }))]
pub struct BytesValue {
    #[serde(rename = "$bytes")]
    #[schemars(extend("contentEncoding" = "base64"))]
    pub bytes: String,
}

/// A day.
#[form]
#[schemars(example = json!({ "$date": "2025-08-09" }))]
pub struct DateValue {
    #[serde(rename = "$date")]
    #[schemars(extend("format" = "date"))]
    pub date: String,
}

/// An instant.
#[form]
#[schemars(example = json!({ "$timestamp": "2025-08-09T12:00:00Z" }))]
pub struct TimestampValue {
    #[serde(rename = "$timestamp")]
    pub timestamp: Instant,
}

/// A duration, from weeks to seconds.
#[form]
#[schemars(example = json!({ "$duration": "PT5M" }))]
pub struct DurationValue {
    #[serde(rename = "$duration")]
    pub duration: Duration,
}

/// A UUID.
#[form]
#[schemars(example = json!({ "$uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8" }))]
pub struct UuidValue {
    #[serde(rename = "$uuid")]
    #[schemars(extend("format" = "uuid"))]
    pub uuid: String,
}

/// An IRI.
#[form]
#[schemars(example = json!({ "$iri": "urn:x" }))]
pub struct IriValue {
    #[serde(rename = "$iri")]
    #[schemars(extend("format" = "iri"))]
    pub iri: String,
}

/// A text with either a language or a datatype.
#[form]
#[schemars(example = json!({ "$literal": "chat", "language": "fr" }))]
pub struct LiteralValue {
    #[serde(rename = "$literal")]
    pub literal: String,
    /// The language of the text: a tag of BCP 47.
    pub language: Option<String>,
    /// The IRI of the datatype.
    #[schemars(extend("format" = "iri"))]
    pub datatype: Option<String>,
}

/// A binary in the store of contents.
#[form]
#[schemars(example = content_example())]
pub struct ContentValue {
    /// The SHA-256 digest of the bytes.
    #[serde(rename = "$content")]
    #[schemars(extend("pattern" = "^[0-9a-fA-F]{64}$"))]
    pub content: String,
    /// The number of bytes.
    pub size: u64,
    /// `application/octet-stream` if left out.
    pub media_type: Option<String>,
    /// The file name, without folders.
    pub name: Option<String>,
    /// Further digests in hexadecimal digits, by `md5`, `sha`, `sha-256` and `sha-512`.
    pub digests: Option<ByName<String>>,
}

fn content_example() -> Json {
    json!({
        "$content": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "size": 0,
        "mediaType": "image/tiff",
        "name": "scan.tif",
        "digests": { "md5": "d41d8cd98f00b204e9800998ecf8427e" }
    })
}

/// A map with a key that starts with `$`.
#[form]
#[schemars(example = json!({ "$map": { "$odd": 1 } }))]
pub struct MapValue {
    #[serde(rename = "$map")]
    pub map: ByName<Value>,
}

/// A list, where an array has another meaning.
#[form]
#[schemars(example = json!({ "$list": ["first", "second"] }))]
pub struct ListValue {
    #[serde(rename = "$list")]
    pub list: Vec<Value>,
}

/// The values of a multi-valued property: scalars, without order.
#[form]
#[schemars(example = json!({ "$set": ["shell", "interactive"] }))]
pub struct SetValue {
    #[serde(rename = "$set")]
    pub set: Vec<Value>,
}

/// A map without keys that start with `$`.
#[form]
#[schemars(example = json!({ "city": "Paris" }), extend("propertyNames" = { "pattern": "^[^$]" }))]
pub struct PlainMapValue(#[serde(deserialize_with = "plain_map")] pub ByName<Value>);

fn plain_map<'de, D: Deserializer<'de>>(from: D) -> Result<ByName<Value>, D::Error> {
    let map = ByName::deserialize(from)?;
    match map.keys().find(|name| name.starts_with('$')) {
        None => Ok(map),
        Some(name) => Err(D::Error::custom(format!("expected names without `$` in front, found {name:?}"))),
    }
}
