//! What the server says about a binary in its description: size, media type, file name and digests.

use std::fmt::Write;

use annals::{Content, Digest, DigestAlgorithm};
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};

use super::triples::{Sink, emit};
use super::vocabulary::{FILE_NAME, MEDIA_TYPE, MESSAGE_DIGEST, SIZE, XSD};
use crate::problem::Problem;

/// True for the predicates of these statements.
pub fn is_fact(predicate: &str) -> bool {
    [SIZE, MEDIA_TYPE, FILE_NAME, MESSAGE_DIGEST].contains(&predicate)
}

/// Passes on the statements about a content.
pub fn each_triple(
    content: &Content,
    subject: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    facts(content).iter().try_for_each(|(predicate, object)| emit(subject, predicate, object.as_ref(), sink))
}

/// True if a statement about a content is one of these.
pub fn makes(content: &Content, triple: &Triple) -> bool {
    facts(content).iter().any(|(predicate, object)| {
        triple.predicate == NamedNodeRef::new_unchecked(predicate) && triple.object == *object
    })
}

fn facts(content: &Content) -> Vec<(&'static str, Term)> {
    let long = NamedNode::new_unchecked(format!("{XSD}long"));
    let mut facts: Vec<(&str, Term)> = vec![
        (SIZE, Literal::new_typed_literal(content.size.to_string(), long).into()),
        (MEDIA_TYPE, Literal::new_simple_literal(&*content.media_type).into()),
    ];
    facts.extend(content.name.as_deref().map(|name| (FILE_NAME, Literal::new_simple_literal(name).into())));
    let digests = content.digest(DigestAlgorithm::Sha256).into_iter().chain(content.digests.iter().cloned());
    facts.extend(digests.map(|digest| (MESSAGE_DIGEST, NamedNode::new_unchecked(urn(&digest)).into())));
    facts
}

/// A digest as Fedora writes it.
fn urn(digest: &Digest) -> String {
    let name = match digest.algorithm() {
        DigestAlgorithm::Sha1 => "sha1",
        algorithm => algorithm.name(),
    };
    let mut urn = format!("urn:{name}:");
    for byte in digest.bytes() {
        let _ = write!(urn, "{byte:02x}");
    }
    urn
}
