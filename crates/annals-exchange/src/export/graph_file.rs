//! Writes a part of the graph for other programs, as GraphML or as DOT.

use std::io::Write;

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
