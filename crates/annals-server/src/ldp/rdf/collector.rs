//! Collects the triples of one document: gives blank nodes their names, and keeps to the bounds.

use std::collections::HashMap;
use std::time::Instant;

use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};

use super::{RdfError, RdfErrorKind, RdfLimits};

/// How many triples pass between two looks at the clock.
const CLOCK_INTERVAL: usize = 256;

/// Bytes that a term takes besides its text, roughly.
pub(super) const TERM_BYTES: usize = 32;

pub(super) struct Collector<'l> {
    limits: &'l RdfLimits,
    end: Instant,
    bytes: usize,
    names: BlankNames,
    triples: Vec<Triple>,
}

/// The names of the blank nodes of one document. A name is random, so that two documents never share one.
#[derive(Default)]
pub(super) struct BlankNames {
    names: HashMap<BlankNode, BlankNode>,
}

impl BlankNames {
    pub(super) fn name(&mut self, label: BlankNode) -> BlankNode {
        self.names.entry(label).or_default().clone()
    }
}

impl<'l> Collector<'l> {
    pub(super) fn new(limits: &'l RdfLimits) -> Collector<'l> {
        let end = Instant::now() + limits.read_time_max;
        Collector { limits, end, bytes: 0, names: BlankNames::default(), triples: Vec::new() }
    }

    /// When reading has to be over.
    pub(super) fn end(&self) -> Instant {
        self.end
    }

    /// Errors: `TimedOut`.
    pub(super) fn look_at_clock(&self) -> Result<(), RdfError> {
        self.limits.check_reading(self.end)
    }

    pub(super) fn take(&mut self, triple: Triple) -> Result<(), RdfError> {
        if self.triples.len() >= self.limits.triples_max {
            let text = format!(
                "expected at most {} triples in a document, found more; send them in several updates",
                self.limits.triples_max
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        if self.triples.len().is_multiple_of(CLOCK_INTERVAL) {
            self.look_at_clock()?;
        }
        let subject = match triple.subject {
            NamedOrBlankNode::BlankNode(label) => self.names.name(label).into(),
            subject => subject,
        };
        let object = match triple.object {
            Term::BlankNode(label) => self.names.name(label).into(),
            object => object,
        };
        let triple = Triple { subject, predicate: triple.predicate, object };
        self.bytes += check_terms(&triple, self.limits)?;
        if self.bytes > self.limits.expanded_bytes_max {
            let text = format!(
                "expected terms of at most {} bytes after prefixes are resolved, found more; send the document in parts",
                self.limits.expanded_bytes_max
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        self.triples.push(triple);
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<Triple> {
        self.triples
    }
}

/// Refuses long terms. Units of the result: bytes of the terms.
pub(super) fn check_terms(triple: &Triple, limits: &RdfLimits) -> Result<usize, RdfError> {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => check_iri(node, limits)?,
        NamedOrBlankNode::BlankNode(node) => node.as_str().len(),
    };
    Ok(3 * TERM_BYTES + subject + check_iri(&triple.predicate, limits)? + check_term(&triple.object, limits)?)
}

/// As `check_terms`, for one term.
pub(super) fn check_term(term: &Term, limits: &RdfLimits) -> Result<usize, RdfError> {
    match term {
        Term::NamedNode(node) => check_iri(node, limits),
        Term::BlankNode(node) => Ok(node.as_str().len()),
        Term::Literal(literal) => check_literal(literal, limits),
    }
}

pub(super) fn check_iri(node: &NamedNode, limits: &RdfLimits) -> Result<usize, RdfError> {
    let length = node.as_str().len();
    if length > limits.iri_bytes_max {
        let begin: String = node.as_str().chars().take(60).collect();
        let text = format!(
            "expected an IRI of at most {} bytes, found {length} ({begin}…); use a shorter IRI",
            limits.iri_bytes_max
        );
        return Err(RdfError::new(RdfErrorKind::TooLarge, text));
    }
    Ok(length)
}

pub(super) fn check_literal(literal: &Literal, limits: &RdfLimits) -> Result<usize, RdfError> {
    let length = literal.value().len();
    if length > limits.literal_bytes_max {
        let text = format!(
            "expected a literal of at most {} bytes, found {length}; store it as a binary",
            limits.literal_bytes_max
        );
        return Err(RdfError::new(RdfErrorKind::TooLarge, text));
    }
    let others = literal.language().map_or(0, str::len) + literal.datatype().as_str().len();
    if others > limits.iri_bytes_max {
        let text = format!("expected a datatype of at most {} bytes, found {others}", limits.iri_bytes_max);
        return Err(RdfError::new(RdfErrorKind::TooLarge, text + "; use a shorter IRI"));
    }
    Ok(length + others)
}
