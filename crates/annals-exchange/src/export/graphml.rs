//! GraphML: keys with their types, then the nodes and the edges of one directed graph.
//!
//! Source: <http://graphml.graphdrawing.org/specification.html>; characters of XML 1.0, <https://www.w3.org/TR/xml/#charsets>.

use std::collections::BTreeMap;
use std::io::Write;

use annals::Value;

use super::graph_part::GraphPart;
use super::graph_text::{TypeNames, by_name, note_types, plain_text};
use crate::Outcome;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="type" for="all" attr.name="@type" attr.type="string"/>
  <key id="distance" for="node" attr.name="@distance" attr.type="int"/>
  <key id="classifications" for="node" attr.name="@classifications" attr.type="string"/>
"#;

/// Writes a part of the graph as GraphML.
pub fn write_graphml<P: GraphPart + ?Sized>(part: &P, writer: &mut dyn Write) -> Outcome {
    let (mut nodes, mut edges) = (TypeNames::new(), TypeNames::new());
    part.each_node(&mut |node| {
        node.entity
            .into_iter()
            .for_each(|entity| note_types(&mut nodes, entity.properties(), attribute_type));
        Ok(())
    })?;
    part.each_edge(&mut |edge| {
        note_types(&mut edges, edge.properties(), attribute_type);
        Ok(())
    })?;
    writer.write_all(HEAD.as_bytes())?;
    let (nodes, edges) = (Numbered::new("n", &nodes), Numbered::new("e", &edges));
    nodes.write(writer, "node")?;
    edges.write(writer, "edge")?;
    writer.write_all(b"  <graph edgedefault=\"directed\">\n")?;
    part.each_node(&mut |node| {
        let Some(entity) = node.entity else {
            return Ok(writeln!(writer, "    <node id=\"{}\"/>", escaped(&node.id.to_string()))?);
        };
        writeln!(writer, "    <node id=\"{}\">", escaped(&node.id.to_string()))?;
        datum(writer, "type", entity.type_name())?;
        if let Some(distance) = node.distance {
            datum(writer, "distance", &distance.to_string())?;
        }
        let classifications: Vec<&str> = entity.classifications().map(|known| known.name()).collect();
        if !classifications.is_empty() {
            datum(writer, "classifications", &classifications.join(", "))?;
        }
        nodes.write_data(writer, entity.properties())?;
        Ok(writer.write_all(b"    </node>\n")?)
    })?;
    part.each_edge(&mut |edge| {
        let [id, from, to] = [edge.id(), edge.from(), edge.to()].map(|id| escaped(&id.to_string()));
        writeln!(writer, "    <edge id=\"{id}\" source=\"{from}\" target=\"{to}\">")?;
        datum(writer, "type", edge.type_name())?;
        edges.write_data(writer, edge.properties())?;
        Ok(writer.write_all(b"    </edge>\n")?)
    })?;
    Ok(writer.write_all(b"  </graph>\n</graphml>\n")?)
}

fn attribute_type(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "boolean",
        Value::Integer(_) => "long",
        Value::Float(_) => "double",
        _ => "string",
    }
}

/// Keys with their ids in the file.
struct Numbered<'k> {
    keys: BTreeMap<&'k str, (String, &'static str)>,
}

impl<'k> Numbered<'k> {
    fn new(prefix: &str, keys: &'k TypeNames) -> Numbered<'k> {
        let numbered = keys.iter().enumerate();
        let numbered = numbered.map(|(number, (name, attribute_type))| {
            (&**name, (format!("{prefix}{number}"), *attribute_type))
        });
        Numbered { keys: numbered.collect() }
    }

    fn write(&self, writer: &mut dyn Write, of: &str) -> Outcome {
        for (name, (id, attribute_type)) in &self.keys {
            let name = escaped(name);
            writeln!(
                writer,
                "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{attribute_type}\"/>"
            )?;
        }
        Ok(())
    }

    fn write_data<'p>(
        &self,
        writer: &mut dyn Write,
        properties: impl Iterator<Item = (&'p str, Value)>,
    ) -> Outcome {
        for (name, value) in by_name(properties) {
            if let Some((id, attribute_type)) = self.keys.get(name) {
                datum(writer, id, &text_of(&value, attribute_type))?;
            }
        }
        Ok(())
    }
}

/// XML and Rust have different names for infinite numbers and for NaN.
fn text_of(value: &Value, attribute_type: &str) -> String {
    match value {
        Value::Float(number) if attribute_type == "double" && number.is_infinite() => {
            if *number > 0.0 {
                "INF".into()
            } else {
                "-INF".into()
            }
        }
        value => plain_text(value),
    }
}

fn datum(writer: &mut dyn Write, key: &str, text: &str) -> Outcome {
    Ok(writeln!(writer, "      <data key=\"{key}\">{}</data>", escaped(text))?)
}

/// The text for an element or an attribute. White space is written as references, because a reader would normalise it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            other => escaped.push(other),
        }
    }
    escaped
}
