//! Writes RDF/XML, while the triples arrive.

use oxrdf::vocab::xsd;
use oxrdf::{NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, TermRef, TripleRef};
use quick_xml::escape::escape;

use super::{RdfError, RdfErrorKind};

const START: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n";
const END_OF_SUBJECT: &[u8] = b"</rdf:Description>\n";
const END: &[u8] = b"</rdf:RDF>\n";

/// Shape: an `rdf:Description` for each run of triples with one subject, an element for each triple.
#[derive(Default)]
pub(super) struct RdfXmlWriter {
    /// The subject whose element is not closed yet.
    subject: Option<NamedOrBlankNode>,
    is_started: bool,
}

impl RdfXmlWriter {
    /// Errors: `Unsupported`, and nothing is written.
    pub(super) fn write(&mut self, triple: TripleRef<'_>, out: &mut Vec<u8>) -> Result<(), RdfError> {
        let (namespace, name) = split(triple.predicate)?;
        if let TermRef::Literal(literal) = triple.object {
            check_characters(literal.value())?;
        }
        if self.subject.as_ref().is_none_or(|subject| subject.as_ref() != triple.subject) {
            self.open(triple.subject, out);
        }
        let mut put = |text: &str| out.extend_from_slice(text.as_bytes());
        put("  <p:");
        put(name);
        put(" xmlns:p=\"");
        put(&escaped(namespace));
        put("\"");
        match triple.object {
            TermRef::NamedNode(node) => {
                put(" rdf:resource=\"");
                put(&escaped(node.as_str()));
                put("\"/>\n");
                return Ok(());
            }
            TermRef::BlankNode(node) => {
                put(" rdf:nodeID=\"b");
                put(node.as_str());
                put("\"/>\n");
                return Ok(());
            }
            TermRef::Literal(literal) => {
                if let Some(language) = literal.language() {
                    put(" xml:lang=\"");
                    put(language);
                    put("\"");
                } else if literal.datatype() != xsd::STRING {
                    put(" rdf:datatype=\"");
                    put(&escaped(literal.datatype().as_str()));
                    put("\"");
                }
                put(">");
                put(&escaped(literal.value()));
            }
        }
        put("</p:");
        put(name);
        put(">\n");
        Ok(())
    }

    fn open(&mut self, subject: NamedOrBlankNodeRef<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_started { END_OF_SUBJECT } else { START });
        self.is_started = true;
        let element = match subject {
            NamedOrBlankNodeRef::NamedNode(node) => {
                format!("<rdf:Description rdf:about=\"{}\">\n", escaped(node.as_str()))
            }
            // A name of XML does not begin with a digit, a label may.
            NamedOrBlankNodeRef::BlankNode(node) => {
                format!("<rdf:Description rdf:nodeID=\"b{}\">\n", node.as_str())
            }
        };
        out.extend_from_slice(element.as_bytes());
        self.subject = Some(subject.into_owned());
    }

    pub(super) fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_started { END_OF_SUBJECT } else { START });
        out.extend_from_slice(END);
    }
}

/// The namespace and the name of a predicate: the longest end that is a name of XML in ASCII.
fn split(predicate: NamedNodeRef<'_>) -> Result<(&str, &str), RdfError> {
    let iri = predicate.as_str();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let end = iri.bytes().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    match iri[end..].bytes().position(is_first) {
        Some(first) if end + first > 0 => Ok(iri.split_at(end + first)),
        _ => {
            let text = format!(
                "expected a predicate that ends in a name of XML, found {iri}; ask for text/turtle, which writes all"
            );
            Err(RdfError::new(RdfErrorKind::Unsupported, text))
        }
    }
}

/// XML 1.0 has no form for most control characters.
fn check_characters(text: &str) -> Result<(), RdfError> {
    let is_wrong = |found: &char| matches!(found, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}');
    match text.chars().find(is_wrong) {
        Some(found) => {
            let text = format!(
                "expected characters of XML, found U+{:04X} in a literal; ask for text/turtle, which writes all",
                u32::from(found)
            );
            Err(RdfError::new(RdfErrorKind::Unsupported, text))
        }
        None => Ok(()),
    }
}

fn escaped(text: &str) -> String {
    // A reader of XML turns a plain one into a line feed.
    escape(text).replace('\r', "&#13;")
}
