//! The rules by which the server refuses a graph, and the document that says so.

use std::fmt::Display;

use http::header::{HeaderValue, LINK};
use oxrdf::{Term, Triple};

use super::base::Base;
use super::path::Path;
use super::vocabulary::CONSTRAINED_BY;
use crate::protocol::problem::Problem;

/// The name of the document, below the root.
pub const DOCUMENT: &str = "fcr:constraints";

/// A statement that the server does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    statement: String,
    reason: String,
}

impl Refusal {
    /// A refusal of a statement, with the reason and what to do.
    pub fn new(statement: impl Into<String>, reason: impl Into<String>) -> Refusal {
        Refusal { statement: statement.into(), reason: reason.into() }
    }

    /// A refusal of a triple.
    pub fn of_triple(triple: &Triple, reason: impl Into<String>) -> Refusal {
        Refusal::new(shortened(triple), reason)
    }

    /// A refusal of a term that the engine does not take.
    pub fn of(term: &impl Display, error: &annals::Error) -> Refusal {
        Refusal::new(shortened(term), error.text())
    }

    /// The answer.
    pub fn into_problem(self) -> Problem {
        let Refusal { statement, reason } = self;
        Problem::door("constraint-violated", format!("{statement}: {reason}")).with("statement", statement)
    }
}

/// Adds the link to the document to the answer to a refused write.
pub fn constrained(problem: Problem, base: &Base) -> Problem {
    let address = format!("{}{DOCUMENT}", base.iri(&Path::root()));
    match HeaderValue::try_from(format!("<{address}>; rel=\"{CONSTRAINED_BY}\"")) {
        Ok(link) => problem.header(LINK, link),
        Err(_) => problem,
    }
}

fn shortened(statement: &impl Display) -> String {
    const CHARACTERS_MAX: usize = 400;
    let text = statement.to_string();
    if text.chars().count() <= CHARACTERS_MAX {
        return text;
    }
    text.chars().take(CHARACTERS_MAX).chain(['…']).collect()
}

/// Checks the predicate of a triple, which becomes the name of a property or of a relationship type.
///
/// Errors: a refusal if it is too long.
pub fn check_predicate(triple: &Triple) -> Result<(), Refusal> {
    let bytes_max = annals::NAME_BYTES_MAX;
    if triple.predicate.as_str().len() <= bytes_max {
        return Ok(());
    }
    let found = triple.predicate.as_str().len();
    Err(Refusal::of_triple(
        triple,
        format!("expected a predicate of at most {bytes_max} bytes, found {found}"),
    ))
}

/// Refuses terms of RDF 1.2 that no value has.
pub fn unknown_term(triple: &Triple, term: &Term) -> Refusal {
    Refusal::of_triple(triple, format!("expected an IRI, a blank node or a literal, found {term}"))
}

/// The document.
pub const TEXT: &str = "\
@prefix ldp: <http://www.w3.org/ns/ldp#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix dcterms: <http://purl.org/dc/terms/> .

<> dcterms:title \"What the LDP door of Annals refuses\" ;
  rdfs:comment \"The server makes the statements with ldp:contains. A client cannot add or remove them.\" ,
    \"The server makes the classes ldp:Resource, ldp:RDFSource, ldp:NonRDFSource, ldp:Container, ldp:BasicContainer, \
ldp:DirectContainer and ldp:IndirectContainer of a resource. They never change.\" ,
    \"A resource without a stated interaction model becomes an ldp:BasicContainer.\" ,
    \"ldp:contains cannot be the relation between a resource and its members.\" ,
    \"A direct container says once what its membership resource is and which relation its members have, and an indirect \
container also says its inserted content relation once. Each of them is an IRI.\" ,
    \"A predicate is an IRI of at most 255 bytes.\" ,
    \"An update changes statements about the resource, its parts and its blank nodes. It names no other graph and no \
other service.\" ,
    \"The server makes the size, the media type, the file name and the digests in the description of a binary.\" ,
    \"A binary has an external content only below the addresses that the server was given, if there are any, with a \
handling of copy, proxy or redirect, without a body, and if the server can read it.\" ,
    \"Versions of resources come from what was committed. A POST to fcr:versions adds a version of the present state. A \
version with a time or a state that the client chooses is refused, and no version changes.\" ,
    \"Segments that begin with fcr: are reserved.\" .
";
