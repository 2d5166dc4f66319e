//! Writes a part of the graph for other programs, as GraphML or as DOT.

use std::io::Write;

use annals::Value;
use annals_json::json_of;

use super::dot::write_dot;
use super::graph_part::GraphPart;
use super::graphml::write_graphml;
use crate::Outcome;

/// A graph format of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// GraphML, an XML format, with a typed key for each property.
    GraphMl,
    /// DOT, which Graphviz draws.
    Dot,
}

impl GraphFormat {
    /// All formats.
    pub const ALL: [GraphFormat; 2] = [GraphFormat::GraphMl, GraphFormat::Dot];

    /// Its name in every door.
    pub fn name(self) -> &'static str {
        match self {
            GraphFormat::GraphMl => "graphml",
            GraphFormat::Dot => "dot",
        }
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            GraphFormat::GraphMl => "application/graphml+xml",
            GraphFormat::Dot => "text/vnd.graphviz",
        }
    }

    /// Writes a part of the graph, in UTF-8, line by line.
    ///
    /// GraphML reads the part twice, the first time for the keys at the beginning. Neither format allows control
    /// characters; they become U+FFFD.
    pub fn write<P: GraphPart + ?Sized>(self, part: &P, writer: &mut dyn Write) -> Outcome {
        match self {
            GraphFormat::GraphMl => write_graphml(part, writer),
            GraphFormat::Dot => write_dot(part, writer),
        }
    }
}

/// The text of a value: texts unchanged, other scalars as in searches, all others as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::String(text) | Value::Iri(text) => text.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(instant) => instant.to_string(),
        Value::Duration(duration) => duration.to_string(),
        Value::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).to_string(),
        other => String::from_utf8_lossy(&json_of(other)).into_owned(),
    }
}

/// The properties by name.
pub(super) fn by_name<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Vec<(&'p str, Value)> {
    let mut named: Vec<(&str, Value)> = properties.collect();
    named.sort_unstable_by_key(|(name, _)| *name);
    named
}
