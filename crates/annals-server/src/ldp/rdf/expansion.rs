//! Counts the bytes that the terms of Turtle and of SPARQL updates take once prefixes and bases are resolved.
//!
//! A prefix, a base, or the subject of many triples makes terms much longer than the text that names them. So the scan
//! counts them before a parser makes them.

use std::collections::HashMap;

use oxiri::Iri;

use super::collector::TERM_BYTES;
use super::{RdfError, RdfErrorKind, RdfLimits};

/// Bytes of a blank node.
const NODE_BYTES: usize = 32;
/// `a`, `rdf:first`, `rdf:rest`, `rdf:nil`: an IRI of the namespace of RDF.
const RDF_BYTES: usize = 48;

/// The place of the next term in its triple.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Subject,
    Predicate,
    Object,
    /// In a list: each item is the object of a triple.
    Item,
}

/// The terms of the triple that is being read. Units: bytes.
#[derive(Clone, Copy)]
struct Triple {
    place: Place,
    subject: usize,
    predicate: usize,
}

impl Triple {
    fn at(place: Place, subject: usize) -> Triple {
        Triple { place, subject, predicate: RDF_BYTES }
    }
}

/// A directive that is not complete.
enum Directive {
    Base,
    Prefix { name: Option<Vec<u8>> },
}

/// The sum of the terms so far.
pub(super) struct Expansion<'l> {
    limits: &'l RdfLimits,
    base: String,
    /// The length of each namespace.
    prefixes: HashMap<Vec<u8>, usize>,
    directive: Option<Directive>,
    /// The triple of each open bracket; the last one is the innermost.
    triples: Vec<Triple>,
    /// True before the datatype of the literal that was counted last.
    is_datatype_next: bool,
    bytes: usize,
}

impl<'l> Expansion<'l> {
    pub(super) fn new(base: &str, limits: &'l RdfLimits) -> Expansion<'l> {
        Expansion {
            limits,
            base: base.to_owned(),
            prefixes: HashMap::new(),
            directive: None,
            triples: vec![Triple::at(Place::Subject, 0)],
            is_datatype_next: false,
            bytes: 0,
        }
    }

    /// Units of the result: bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A word that begins a directive: `PREFIX` or `BASE`, or after `@` one that stands where a statement begins.
    /// Elsewhere a word after `@` is a language.
    pub(super) fn directive(&mut self, word: &[u8], has_at: bool) {
        let [triple] = &self.triples[..] else { return };
        if has_at && triple.place != Place::Subject {
            return;
        }
        if word.eq_ignore_ascii_case(b"prefix") {
            self.directive = Some(Directive::Prefix { name: None });
        } else if word.eq_ignore_ascii_case(b"base") {
            self.directive = Some(Directive::Base);
        }
    }

    /// A name with a colon.
    pub(super) fn name(&mut self, name: &[u8]) -> Result<(), RdfError> {
        let prefix = name.split(|byte| *byte == b':').next().unwrap_or_default();
        if let Some(Directive::Prefix { name }) = &mut self.directive {
            *name = Some(prefix.to_owned());
            return Ok(());
        }
        let namespace = self.prefixes.get(prefix).copied().unwrap_or(0);
        self.term(namespace + name.len())
    }

    /// The text between `<` and `>`.
    pub(super) fn iri(&mut self, text: &[u8]) -> Result<(), RdfError> {
        match self.directive.take() {
            None if is_absolute(text) => self.term(text.len()),
            None => self.term(self.base.len() + text.len()),
            Some(directive) => {
                let resolved = self.resolve(text);
                if resolved.len() > self.limits.iri_bytes_max {
                    let text = format!(
                        "expected prefixes and bases of at most {} bytes, found {}; use a shorter IRI",
                        self.limits.iri_bytes_max,
                        resolved.len()
                    );
                    return Err(RdfError::new(RdfErrorKind::TooLarge, text));
                }
                self.charge(resolved.len())?;
                match directive {
                    Directive::Base => self.base = resolved,
                    Directive::Prefix { name } => {
                        self.prefixes.insert(name.unwrap_or_default(), resolved.len());
                    }
                }
                Ok(())
            }
        }
    }

    /// At least as long as the parser makes it.
    fn resolve(&self, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        match Iri::parse(&*self.base).and_then(|base| base.resolve(&text)) {
            Ok(resolved) => resolved.into_inner(),
            // The text has escapes, or the parser refuses it.
            Err(_) => self.base.clone() + &text,
        }
    }

    /// `a`, where a predicate is expected.
    pub(super) fn rdf_type(&mut self) -> Result<(), RdfError> {
        self.term(RDF_BYTES)
    }

    /// A term of this length. Errors: `TooLarge`.
    pub(super) fn term(&mut self, length: usize) -> Result<(), RdfError> {
        if std::mem::take(&mut self.is_datatype_next) {
            return self.charge(length);
        }
        let triple = self.triples.last_mut().expect("the outermost triple is never removed");
        match triple.place {
            Place::Subject => {
                triple.subject = length;
                triple.place = Place::Predicate;
                Ok(())
            }
            Place::Predicate => {
                triple.predicate = length;
                triple.place = Place::Object;
                Ok(())
            }
            Place::Object => {
                let bytes = 3 * TERM_BYTES + triple.subject + triple.predicate + length;
                self.charge(bytes)
            }
            Place::Item => self.charge(6 * TERM_BYTES + 2 * (NODE_BYTES + RDF_BYTES) + NODE_BYTES + length),
        }
    }

    /// `^^`: the next term is the datatype of the literal before it.
    pub(super) fn datatype(&mut self) {
        self.is_datatype_next = true;
    }

    /// `.`, `;` or `,`. The terms before it stay until others replace them.
    pub(super) fn separator(&mut self, byte: u8) {
        let triple = self.triples.last_mut().expect("the outermost triple is never removed");
        triple.place = match (triple.place, byte) {
            (Place::Item, _) => Place::Item,
            (_, b',') => Place::Object,
            (_, b';') => Place::Predicate,
            _ => Place::Subject,
        };
    }

    /// Opens a bracket.
    pub(super) fn open(&mut self, byte: u8) {
        self.triples.push(match byte {
            b'[' => Triple::at(Place::Predicate, NODE_BYTES),
            b'(' => Triple::at(Place::Item, NODE_BYTES),
            _ => Triple::at(Place::Subject, 0),
        });
    }

    /// Closes it; what was in it is a node.
    pub(super) fn close(&mut self, byte: u8) -> Result<(), RdfError> {
        if self.triples.len() > 1 {
            self.triples.pop();
        }
        if byte == b'}' {
            self.separator(b'.');
            return Ok(());
        }
        self.term(NODE_BYTES)
    }

    /// Errors: `TooLarge`.
    fn charge(&mut self, bytes: usize) -> Result<(), RdfError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.expanded_bytes_max {
            let text = format!(
                "expected terms of at most {} bytes after prefixes are resolved, found more; send them in parts",
                self.limits.expanded_bytes_max
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        Ok(())
    }
}

/// True if an IRI begins with a scheme.
fn is_absolute(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| b":/?#".contains(byte));
    end.is_some_and(|end| end > 0 && text[end] == b':')
}
