//! Writes triples in a format, one after the other, in constant memory.

use oxrdf::TripleRef;
use oxttl::ntriples::LowLevelNTriplesSerializer;
use oxttl::turtle::LowLevelTurtleSerializer;
use oxttl::{NTriplesSerializer, TurtleSerializer};

use super::json_ld_writer::JsonLdWriter;
use super::rdf_xml_writer::RdfXmlWriter;
use super::{RdfError, RdfFormat};

/// Prefixes of the vocabularies that a repository uses. Only Turtle writes them, as `@prefix` at the top.
pub const PREFIXES: [(&str, &str); 13] = [
    ("acl", "http://www.w3.org/ns/auth/acl#"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("ebucore", "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#"),
    ("fedora", "http://fedora.info/definitions/v4/repository#"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("ldp", "http://www.w3.org/ns/ldp#"),
    ("ore", "http://www.openarchives.org/ore/terms/"),
    ("pcdm", "http://pcdm.org/models#"),
    ("premis", "http://www.loc.gov/premis/rdf/v1#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// A document in the making. Triples with one subject that follow each other share its mention.
/// IRIs are written absolute; in Turtle with the prefixes of `PREFIXES`, in N-Triples without.
pub struct RdfWriter {
    inner: Inner,
}

enum Inner {
    Turtle(LowLevelTurtleSerializer),
    NTriples(LowLevelNTriplesSerializer),
    JsonLd(JsonLdWriter),
    RdfXml(RdfXmlWriter),
}

impl RdfWriter {
    /// A writer with the prefixes of `PREFIXES`.
    pub fn new(format: RdfFormat) -> RdfWriter {
        RdfWriter::with_prefixes(format, &PREFIXES)
    }

    /// Shape: `(prefix, IRI)`. A prefix whose IRI is not absolute is left out: it would resolve to something else.
    pub fn with_prefixes(format: RdfFormat, prefixes: &[(&str, &str)]) -> RdfWriter {
        let inner = match format {
            RdfFormat::Turtle => {
                let start = TurtleSerializer::new();
                let serializer = prefixes.iter().fold(start, |serializer, (prefix, iri)| {
                    serializer.clone().with_prefix(*prefix, *iri).unwrap_or(serializer)
                });
                Inner::Turtle(serializer.low_level())
            }
            RdfFormat::NTriples => Inner::NTriples(NTriplesSerializer::new().low_level()),
            RdfFormat::JsonLd => Inner::JsonLd(JsonLdWriter::default()),
            RdfFormat::RdfXml => Inner::RdfXml(RdfXmlWriter::default()),
        };
        RdfWriter { inner }
    }

    /// Appends a triple to `out`. Nothing of the triple is kept but its subject and the names of its predicates.
    ///
    /// Errors: `Unsupported` for what RDF/XML cannot say: control characters, and a predicate without a name at its
    /// end. The other formats write everything.
    pub fn write(&mut self, triple: TripleRef<'_>, out: &mut Vec<u8>) -> Result<(), RdfError> {
        match &mut self.inner {
            Inner::Turtle(serializer) => {
                serializer.serialize_triple(triple, out).expect("memory takes all bytes")
            }
            Inner::NTriples(serializer) => {
                serializer.serialize_triple(triple, out).expect("memory takes all bytes")
            }
            Inner::JsonLd(writer) => writer.write(triple, out),
            Inner::RdfXml(writer) => writer.write(triple, out)?,
        }
        Ok(())
    }

    /// Appends the end of the document to `out`. A document without triples is complete too.
    pub fn finish(self, out: &mut Vec<u8>) {
        match self.inner {
            Inner::Turtle(mut serializer) => serializer.finish(out).expect("memory takes all bytes"),
            Inner::NTriples(_) => {}
            Inner::JsonLd(writer) => writer.finish(out),
            Inner::RdfXml(writer) => writer.finish(out),
        }
    }
}
