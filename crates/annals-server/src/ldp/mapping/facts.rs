//! The statements of the server about a binary in its description: size, media type, file name and digests, or where its bytes
//! are.

use std::fmt::Write;

use annals::{Content, Digest, DigestAlgorithm, Entity};
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Term, Triple};

use super::triples::{Sink, emit};
use super::vocabulary::{
    FILE_NAME, MEDIA_TYPE, MESSAGE_DIGEST, PROXY_FOR, REDIRECTS_TO, SIZE, XSD, node, node_in,
};
use crate::ldp::binary::bytes::content_of;
use crate::ldp::binary::external::{External, Handling};
use crate::protocol::problem::Problem;

/// True for the predicates of these statements.
pub fn is_fact(predicate: &str) -> bool {
    [SIZE, MEDIA_TYPE, FILE_NAME, MESSAGE_DIGEST, PROXY_FOR, REDIRECTS_TO].contains(&predicate)
}

/// Passes on the statements about the bytes of a binary.
pub fn each_triple(
    binary: &Entity<'_>,
    subject: &NamedOrBlankNode,
    sink: &mut Sink<'_>,
) -> Result<(), Problem> {
    facts(binary)
        .iter()
        .try_for_each(|(predicate, object)| emit(subject, node(predicate), object.as_ref(), sink))
}

/// True if a statement about a binary is one of these.
pub fn makes(binary: &Entity<'_>, triple: &Triple) -> bool {
    facts(binary)
        .iter()
        .any(|(predicate, object)| triple.predicate == node(predicate) && triple.object == *object)
}

fn facts(binary: &Entity<'_>) -> Vec<(&'static str, Term)> {
    match (content_of(binary), External::of(binary)) {
        (Some(content), _) => facts_of_content(&content),
        (None, Some(external)) => facts_of_external(&external),
        (None, None) => Vec::new(),
    }
}

/// The server says neither size nor digests of bytes that are elsewhere: they may change there.
fn facts_of_external(external: &External) -> Vec<(&'static str, Term)> {
    let place = if external.handling == Handling::Redirect { REDIRECTS_TO } else { PROXY_FOR };
    let text = |text: &str| Literal::new_simple_literal(text).into();
    let mut facts = vec![(MEDIA_TYPE, text(&external.media_type))];
    facts.extend(NamedNode::new(&*external.url).ok().map(|url| (place, url.into())));
    facts.extend(external.name.as_deref().map(|name| (FILE_NAME, text(name))));
    facts
}

fn facts_of_content(content: &Content) -> Vec<(&'static str, Term)> {
    let long = node_in(XSD, "long");
    let mut facts: Vec<(&str, Term)> = vec![
        (SIZE, Literal::new_typed_literal(content.size.to_string(), long).into()),
        (MEDIA_TYPE, Literal::new_simple_literal(&*content.media_type).into()),
    ];
    facts.extend(content.name.as_deref().map(|name| (FILE_NAME, Literal::new_simple_literal(name).into())));
    let digests = content.digest(DigestAlgorithm::Sha256).into_iter().chain(content.digests.iter().cloned());
    let named = digests.filter_map(|digest| NamedNode::new(urn(&digest)).ok());
    facts.extend(named.map(|urn| (MESSAGE_DIGEST, urn.into())));
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
