//! The tests of RDF: every format, every operation of an update, and what is refused.

mod bombs;
mod canonical;
mod formats;
mod random;
mod reading;
mod refusals;
mod updates;
mod writing;

use oxrdf::{Literal, NamedNode, Triple};

use super::{RdfError, RdfFormat, RdfLimits, RdfWriter, Update};

/// The resource of all tests.
const BASE: &str = "http://localhost:8080/rest/1/a";

fn read(document: &str, format: RdfFormat) -> Result<Vec<Triple>, RdfError> {
    super::read(document.as_bytes(), format, BASE, &RdfLimits::default())
}

fn write(triples: &[Triple], format: RdfFormat) -> String {
    let mut writer = RdfWriter::new(format);
    let mut out = Vec::new();
    for triple in triples {
        writer.write(triple.into(), &mut out).expect("a triple that the format can say");
    }
    writer.finish(&mut out);
    String::from_utf8(out).expect("all formats are UTF-8")
}

fn parse(text: &str) -> Result<Update, RdfError> {
    Update::parse(text, BASE, &RdfLimits::default())
}

/// Shape: N-Triples without the final dots, in the order of `triples`.
fn lines(triples: &[Triple]) -> Vec<String> {
    triples.iter().map(Triple::to_string).collect()
}

fn named(iri: &str) -> NamedNode {
    NamedNode::new(iri).expect("an IRI")
}

fn titled(title: &str) -> Triple {
    Triple::new(named(BASE), named("http://purl.org/dc/elements/1.1/title"), Literal::from(title))
}
