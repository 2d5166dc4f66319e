//! Writes a line of N-Triples, copying runs of bytes: a container with many members is mostly such lines.

use oxrdf::vocab::xsd;
use oxrdf::{NamedOrBlankNodeRef, TermRef, TripleRef};

pub(super) fn write(triple: TripleRef<'_>, out: &mut Vec<u8>) {
    match triple.subject {
        NamedOrBlankNodeRef::NamedNode(node) => iri(node.as_str(), out),
        NamedOrBlankNodeRef::BlankNode(node) => blank(node.as_str(), out),
    }
    out.push(b' ');
    iri(triple.predicate.as_str(), out);
    out.push(b' ');
    match triple.object {
        TermRef::NamedNode(node) => iri(node.as_str(), out),
        TermRef::BlankNode(node) => blank(node.as_str(), out),
        TermRef::Literal(literal) => {
            quoted(literal.value(), out);
            if let Some(language) = literal.language() {
                out.push(b'@');
                out.extend_from_slice(language.as_bytes());
            } else if literal.datatype() != xsd::STRING {
                out.extend_from_slice(b"^^");
                iri(literal.datatype().as_str(), out);
            }
        }
    }
    out.extend_from_slice(b" .\n");
}

fn iri(text: &str, out: &mut Vec<u8>) {
    out.push(b'<');
    out.extend_from_slice(text.as_bytes());
    out.push(b'>');
}

fn blank(label: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"_:");
    out.extend_from_slice(label.as_bytes());
}

fn quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    // Only ASCII is escaped, so the cuts are between characters.
    while let Some(at) = rest.iter().position(|byte| matches!(byte, 0..=0x1F | b'"' | b'\\' | 0x7F)) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            byte => out.extend_from_slice(format!("\\u{byte:04X}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
