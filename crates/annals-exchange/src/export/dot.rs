//! DOT: each entity is a node with its id and its type, each relationship an edge; other fields are attributes that
//! Graphviz ignores.
//!
//! Source: <https://graphviz.org/doc/info/lang.html>, <https://graphviz.org/docs/attr-types/escString/>.

use std::io::Write;

use annals::Value;

use super::graph_part::GraphPart;
use super::graph_text::{by_name, plain_text};
use crate::Outcome;

/// The prefix of properties. Without it, a property with the name of an attribute of Graphviz could change the drawing,
/// or read a file.
const PREFIX: &str = "data-";

/// Writes a part of the graph as DOT.
pub fn write_dot<P: GraphPart + ?Sized>(part: &P, writer: &mut dyn Write) -> Outcome {
    writer.write_all(b"digraph annals {\n")?;
    part.each_node(&mut |node| {
        let id = node.id.to_string();
        let Some(entity) = node.entity else { return Ok(writeln!(writer, "  {};", quoted(&id))?) };
        let mut attributes = Attributes::labelled(&[&id, entity.type_name()]);
        attributes.add("@type", entity.type_name());
        if let Some(distance) = node.distance {
            attributes.add("@distance", &distance.to_string());
        }
        let classifications: Vec<&str> = entity.classifications().map(|known| known.name()).collect();
        if !classifications.is_empty() {
            attributes.add("@classifications", &classifications.join(", "));
        }
        attributes.add_all(entity.properties());
        Ok(writeln!(writer, "  {} [{}];", quoted(&id), attributes.0)?)
    })?;
    part.each_edge(&mut |edge| {
        let mut attributes = Attributes::labelled(&[edge.type_name()]);
        attributes.add("@id", &edge.id().to_string());
        attributes.add("@type", edge.type_name());
        attributes.add_all(edge.properties());
        let [from, to] = [edge.from(), edge.to()].map(|id| quoted(&id.to_string()));
        Ok(writeln!(writer, "  {from} -> {to} [{}];", attributes.0)?)
    })?;
    Ok(writer.write_all(b"}\n")?)
}

struct Attributes(String);

impl Attributes {
    /// A label with these lines.
    fn labelled(lines: &[&str]) -> Attributes {
        // Graphviz decodes entities of HTML in a label.
        let lines = lines.iter().map(|line| content(&line.replace('&', "&amp;"))).collect::<Vec<_>>();
        Attributes(format!("label=\"{}\"", lines.join("\\n")))
    }

    fn add(&mut self, name: &str, text: &str) {
        self.0.push_str(&format!(", {}={}", quoted(&format!("{PREFIX}{name}")), quoted(text)));
    }

    fn add_all<'p>(&mut self, properties: impl Iterator<Item = (&'p str, Value)>) {
        by_name(properties).into_iter().for_each(|(name, value)| self.add(name, &plain_text(&value)));
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", content(text))
}

/// The text between quotes. A backslash is doubled: at the end it would escape the quote, and in a label the next
/// character; a label shows it once.
fn content(text: &str) -> String {
    let mut content = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '"' => content.push_str("\\\""),
            '\\' => content.push_str("\\\\"),
            '\n' | '\t' => content.push(one),
            other if other.is_control() => content.push(char::REPLACEMENT_CHARACTER),
            other => content.push(other),
        }
    }
    content
}
