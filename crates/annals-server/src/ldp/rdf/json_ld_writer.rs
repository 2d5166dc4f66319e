//! Writes JSON-LD in expanded form, while the triples arrive.

use std::collections::BTreeSet;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{NamedNode, NamedOrBlankNode, NamedOrBlankNodeRef, TermRef, TripleRef};

/// A key stands once in an object. Past so many keys a new object with the same `@id` begins, and memory stays bounded.
const KEYS_MAX: usize = 256;

/// Shape: an array of objects. Objects with the same `@id` describe the same node together.
#[derive(Default)]
pub(super) struct JsonLdWriter {
    /// The node of the object that is not closed yet.
    subject: Option<NamedOrBlankNode>,
    /// The key whose array is not closed yet.
    predicate: Option<NamedNode>,
    /// Whether that array has identifiers as plain strings: `@type`.
    is_type: bool,
    /// The keys of the object, closed and open.
    keys: BTreeSet<String>,
    is_started: bool,
}

impl JsonLdWriter {
    pub(super) fn write(&mut self, triple: TripleRef<'_>, out: &mut Vec<u8>) {
        let is_type = triple.predicate == rdf::TYPE && !matches!(triple.object, TermRef::Literal(_));
        let is_same_subject = self.subject.as_ref().is_some_and(|subject| subject.as_ref() == triple.subject);
        let is_same_key = is_same_subject
            && is_type == self.is_type
            && self.predicate.as_ref().is_some_and(|predicate| predicate.as_ref() == triple.predicate);
        if is_same_key {
            out.push(b',');
        } else {
            let key = if is_type { "@type" } else { triple.predicate.as_str() };
            if is_same_subject && !self.keys.contains(key) && self.keys.len() < KEYS_MAX {
                out.extend_from_slice(b"],");
            } else {
                self.open_object(triple.subject, out);
            }
            string(key, out);
            out.extend_from_slice(b":[");
            self.keys.insert(key.to_owned());
            self.predicate = Some(triple.predicate.into_owned());
            self.is_type = is_type;
        }
        value(triple.object, is_type, out);
    }

    fn open_object(&mut self, subject: NamedOrBlankNodeRef<'_>, out: &mut Vec<u8>) {
        let before: &[u8] = match (self.is_started, &self.subject) {
            (false, _) => b"[",
            (true, Some(_)) => b"]},\n",
            (true, None) => b",\n",
        };
        out.extend_from_slice(before);
        out.extend_from_slice(b"{\"@id\":");
        match subject {
            NamedOrBlankNodeRef::NamedNode(node) => string(node.as_str(), out),
            NamedOrBlankNodeRef::BlankNode(node) => string(&node.to_string(), out),
        }
        out.push(b',');
        self.is_started = true;
        self.subject = Some(subject.into_owned());
        self.keys.clear();
    }

    pub(super) fn finish(self, out: &mut Vec<u8>) {
        let end: &[u8] = if self.is_started { b"]}]\n" } else { b"[]\n" };
        out.extend_from_slice(end);
    }
}

fn value(object: TermRef<'_>, is_type: bool, out: &mut Vec<u8>) {
    let mut node = |id: &str| {
        if is_type {
            string(id, out);
        } else {
            out.extend_from_slice(b"{\"@id\":");
            string(id, out);
            out.push(b'}');
        }
    };
    match object {
        TermRef::NamedNode(named) => node(named.as_str()),
        TermRef::BlankNode(blank) => node(&blank.to_string()),
        TermRef::Literal(literal) => {
            out.extend_from_slice(b"{\"@value\":");
            string(literal.value(), out);
            if let Some(language) = literal.language() {
                out.extend_from_slice(b",\"@language\":");
                string(language, out);
            } else if literal.datatype() != xsd::STRING {
                out.extend_from_slice(b",\"@type\":");
                string(literal.datatype().as_str(), out);
            }
            out.push(b'}');
        }
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("memory takes all bytes");
}
