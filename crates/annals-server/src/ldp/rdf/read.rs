//! Reads a document of RDF into triples.

use std::cell::Cell;
use std::fmt::Display;
use std::io::{self, Read};
use std::time::Instant;

use oxjsonld::{JsonLdErrorCode, JsonLdParser};
use oxrdf::{GraphName, NamedNode, Triple};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser};
use oxttl::{NTriplesParser, TurtleParser, TurtleSyntaxError};

use super::collector::Collector;
use super::{RdfError, RdfErrorKind, RdfFormat, RdfLimits, json_scan, text_scan, xml_scan};

/// How much a parser of Turtle or XML gets between two looks at the clock. Units: bytes.
const CHUNK_BYTES: usize = 16 << 10;

/// The triples of a document, in its order, with repetitions.
///
/// Relative IRIs and `<>` are resolved against `base`. Blank nodes get new random names, so that two calls never share
/// one. The document is kept as a whole while it is read.
///
/// Errors: `Syntax` with the place if the parser tells it; `TooLarge` and `TimedOut` over a bound of `limits`;
/// `Unsupported` for a remote context or a named graph of JSON-LD, and for entities of entities of XML.
pub fn read(
    bytes: impl Read,
    format: RdfFormat,
    base: &str,
    limits: &RdfLimits,
) -> Result<Vec<Triple>, RdfError> {
    let document = read_whole(bytes, limits)?;
    // A mark of the order of bytes says nothing in UTF-8.
    let document = document.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&document);
    if let Err(error) = NamedNode::new(base) {
        return Err(syntax(format!(
            "expected an absolute IRI as base, found {base}: {error}; check the address"
        )));
    }
    match format {
        RdfFormat::Turtle => read_turtle(document, base, limits),
        RdfFormat::NTriples => read_n_triples(document, limits),
        RdfFormat::JsonLd => read_json_ld(document, base, limits),
        RdfFormat::RdfXml => read_rdf_xml(document, base, limits),
    }
}

/// The bytes that all terms of a document take once prefixes and bases are resolved, before they are made; 0 for formats
/// that bound them otherwise.
///
/// Errors: those of [`read`].
pub fn expanded_bytes(
    document: &[u8],
    format: RdfFormat,
    base: &str,
    limits: &RdfLimits,
) -> Result<usize, RdfError> {
    match format {
        RdfFormat::Turtle => text_scan::check_turtle(document, base, limits),
        RdfFormat::NTriples | RdfFormat::JsonLd | RdfFormat::RdfXml => Ok(0),
    }
}

fn syntax(text: impl Into<String>) -> RdfError {
    RdfError::new(RdfErrorKind::Syntax, text)
}

fn correct(format: &str, found: &impl Display) -> String {
    format!("expected {format}, found: {found}; correct the document and send it again")
}

/// Errors: `TooLarge` over `bytes_max`.
fn read_whole(bytes: impl Read, limits: &RdfLimits) -> Result<Vec<u8>, RdfError> {
    let mut document = Vec::new();
    let more = u64::try_from(limits.bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    bytes
        .take(more)
        .read_to_end(&mut document)
        .map_err(|error| syntax(format!("the document ends early: {error}; send it again")))?;
    if document.len() > limits.bytes_max {
        let text = format!(
            "expected a document of at most {} bytes, found more; send it in parts",
            limits.bytes_max
        );
        return Err(RdfError::new(RdfErrorKind::TooLarge, text));
    }
    Ok(document)
}

fn turtle_error(format: &str, error: &TurtleSyntaxError) -> RdfError {
    let place = error.location().start;
    syntax(correct(format, &error.message())).at(place.line + 1, place.column + 1)
}

fn read_turtle(document: &[u8], base: &str, limits: &RdfLimits) -> Result<Vec<Triple>, RdfError> {
    text_scan::check_turtle(document, base, limits)?;
    let mut collector = Collector::new(limits);
    let parser = TurtleParser::new().with_base_iri(base).map_err(|error| syntax(error.to_string()))?;
    let mut parser = parser.low_level();
    let mut chunks = document.chunks(CHUNK_BYTES);
    // In chunks, because directives give no triple at which the collector could look at the clock.
    while !parser.is_end() {
        match chunks.next() {
            Some(chunk) => parser.extend_from_slice(chunk),
            None => parser.end(),
        }
        collector.look_at_clock()?;
        while let Some(triple) = parser.parse_next() {
            collector.take(triple.map_err(|error| turtle_error("Turtle", &error))?)?;
        }
    }
    Ok(collector.finish())
}

fn read_n_triples(document: &[u8], limits: &RdfLimits) -> Result<Vec<Triple>, RdfError> {
    let mut collector = Collector::new(limits);
    for triple in NTriplesParser::new().for_slice(document) {
        collector.take(triple.map_err(|error| turtle_error("N-Triples", &error))?)?;
    }
    Ok(collector.finish())
}

fn read_json_ld(document: &[u8], base: &str, limits: &RdfLimits) -> Result<Vec<Triple>, RdfError> {
    json_scan::check(document, base, limits)?;
    let mut collector = Collector::new(limits);
    let parser = JsonLdParser::new().with_base_iri(base).map_err(|error| syntax(error.to_string()))?;
    for quad in parser.for_slice(document) {
        let quad = quad.map_err(|error| match (error.code(), error.location()) {
            (Some(JsonLdErrorCode::LoadingRemoteContextFailed | JsonLdErrorCode::LoadingDocumentFailed), _) => {
                let text = "expected a context in the document, found the address of one; the server loads nothing: \
                            put the context itself into the document";
                RdfError::new(RdfErrorKind::Unsupported, text)
            }
            (_, Some(place)) => {
                syntax(correct("JSON-LD", &error)).at(place.start.line + 1, place.start.column + 1)
            }
            _ => syntax(correct("JSON-LD", &error)),
        })?;
        if !is_default(&quad.graph_name) {
            let text = format!(
                "expected triples of one graph, found a triple in the graph {}; a resource is one graph: \
                 remove @id beside @graph, or PUT the graph as another resource",
                quad.graph_name
            );
            return Err(RdfError::new(RdfErrorKind::Unsupported, text));
        }
        collector.take(Triple { subject: quad.subject, predicate: quad.predicate, object: quad.object })?;
    }
    Ok(collector.finish())
}

/// True for the graph of the document itself, also by the name that older versions of Jena write for it.
fn is_default(graph: &GraphName) -> bool {
    match graph {
        GraphName::DefaultGraph => true,
        GraphName::NamedNode(name) => name.as_str() == "urn:x-arq:DefaultGraphNode",
        GraphName::BlankNode(_) => false,
    }
}

fn read_rdf_xml(document: &[u8], base: &str, limits: &RdfLimits) -> Result<Vec<Triple>, RdfError> {
    xml_scan::check(document, limits)?;
    let mut collector = Collector::new(limits);
    let parser = RdfXmlParser::new().with_base_iri(base).map_err(|error| syntax(error.to_string()))?;
    let late = Cell::new(None);
    let mut parser = parser.for_reader(Chunks { rest: document, end: collector.end(), limits, late: &late });
    while let Some(triple) = parser.next() {
        let triple = match triple {
            Ok(triple) => triple,
            Err(RdfXmlParseError::Io(error)) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(late.take().expect("the reader keeps why it ended"));
            }
            Err(error) => {
                let offset = usize::try_from(parser.buffer_position()).unwrap_or(usize::MAX);
                return Err(syntax(correct("RDF/XML", &error)).at_offset(document, offset));
            }
        };
        collector.take(triple)?;
    }
    Ok(collector.finish())
}

/// Hands out a document in chunks, until the time is over.
struct Chunks<'d> {
    rest: &'d [u8],
    end: Instant,
    limits: &'d RdfLimits,
    late: &'d Cell<Option<RdfError>>,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Err(error) = self.limits.check_reading(self.end) {
            self.late.set(Some(error));
            return Err(io::ErrorKind::TimedOut.into());
        }
        let length = buffer.len().min(CHUNK_BYTES);
        self.rest.read(&mut buffer[..length])
    }
}
