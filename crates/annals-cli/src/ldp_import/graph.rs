//! The statements of a resource as a copy writes them: without those that servers make, and with the addresses of the
//! target.

use std::collections::HashSet;

use annals_server::rdf::{RdfError, RdfFormat, RdfWriter};
use oxrdf::{NamedNode, NamedOrBlankNode, Term, Triple};

const LDP: &str = "http://www.w3.org/ns/ldp#";
const CONTAINS: &str = "http://www.w3.org/ns/ldp#contains";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const FEDORA: &str = "http://fedora.info/definitions/v4/";
const FEDORA_NAMES: &str = "http://fedora.info/definitions/v4/repository#";
/// What a server says about the bytes of a binary; the target knows it from the bytes and the headers.
const OF_BYTES: [&str; 5] = [
    "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType",
    "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#filename",
    "http://www.loc.gov/premis/rdf/v1#hasSize",
    "http://www.loc.gov/premis/rdf/v1#hasMessageDigest",
    "http://www.iana.org/assignments/relation/describedby",
];
/// The statements of Fedora that stay: nothing else says when and by whom a resource was made there.
const KEPT: [&str; 4] = ["created", "createdBy", "lastModified", "lastModifiedBy"];

/// The addresses of two root containers, without a slash at their ends.
#[derive(Clone, Debug)]
pub struct Roots {
    /// That of the source.
    pub from: String,
    /// That of the target.
    pub to: String,
}

impl Roots {
    /// The part of an address of the source behind its root: empty, or begins with `/` or `#`. `None` outside.
    pub fn rest<'i>(&self, iri: &'i str) -> Option<&'i str> {
        let rest = iri.strip_prefix(&*self.from)?;
        (rest.is_empty() || rest.starts_with(['/', '#'])).then_some(rest)
    }

    /// The same address at the target; an address outside of the root stays.
    fn moved(&self, node: &NamedNode) -> NamedNode {
        match self.rest(node.as_str()) {
            Some(rest) => NamedNode::new_unchecked(format!("{}{rest}", self.to)),
            None => node.clone(),
        }
    }

    fn moved_triple(&self, triple: &Triple) -> Triple {
        let subject: NamedOrBlankNode = match &triple.subject {
            NamedOrBlankNode::NamedNode(node) => self.moved(node).into(),
            NamedOrBlankNode::BlankNode(node) => node.clone().into(),
        };
        let object: Term = match &triple.object {
            Term::NamedNode(node) => self.moved(node).into(),
            object => object.clone(),
        };
        Triple::new(subject, triple.predicate.clone(), object)
    }
}

/// What a resource says, taken apart.
#[derive(Debug, Default)]
pub struct Statements {
    /// Those of clients, each once, with the addresses of the target.
    pub own: Vec<Triple>,
    /// The addresses of the children at the source, in the order of the document.
    pub children: Vec<String>,
    /// The classes of LDP that the resource states.
    pub classes: Vec<String>,
}

impl Statements {
    /// Takes the statements about the resource at `iri` apart.
    pub fn of(triples: &[Triple], iri: &str, roots: &Roots) -> Statements {
        let mut statements = Statements::default();
        let mut known = HashSet::new();
        for triple in triples {
            let is_own = matches!(&triple.subject, NamedOrBlankNode::NamedNode(node) if is_same_place(node.as_str(), iri));
            match (triple.predicate.as_str(), &triple.object) {
                (CONTAINS, Term::NamedNode(child)) if is_own => {
                    statements.children.push(child.as_str().to_owned())
                }
                (CONTAINS, _) => {}
                (TYPE, Term::NamedNode(class)) if class.as_str().starts_with(LDP) => {
                    if is_own {
                        statements.classes.push(class.as_str().to_owned());
                    }
                }
                _ if is_made_by_server(triple) => {}
                _ => {
                    let moved = roots.moved_triple(triple);
                    if known.insert(moved.clone()) {
                        statements.own.push(moved);
                    }
                }
            }
        }
        statements
    }
}

/// True if both are the address of one resource: a slash at the end changes nothing.
fn is_same_place(a: &str, b: &str) -> bool {
    a.strip_suffix('/').unwrap_or(a) == b.strip_suffix('/').unwrap_or(b)
}

fn is_made_by_server(triple: &Triple) -> bool {
    let predicate = triple.predicate.as_str();
    if OF_BYTES.contains(&predicate) {
        return true;
    }
    if predicate.starts_with(FEDORA) {
        return !predicate.strip_prefix(FEDORA_NAMES).is_some_and(|name| KEPT.contains(&name));
    }
    predicate == TYPE
        && matches!(&triple.object, Term::NamedNode(class) if class.as_str().starts_with(FEDORA))
}

/// The statements as N-Triples.
pub fn n_triples(triples: &[Triple]) -> Result<Vec<u8>, RdfError> {
    let mut bytes = Vec::new();
    let mut writer = RdfWriter::new(RdfFormat::NTriples);
    for triple in triples {
        writer.write(triple.as_ref(), &mut bytes)?;
    }
    writer.finish(&mut bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use annals_server::rdf::{RdfLimits, read};

    use super::*;

    fn statements(turtle: &str) -> Statements {
        let roots = Roots { from: "http://a/rest".into(), to: "http://b/ldp".into() };
        let triples = read(turtle.as_bytes(), RdfFormat::Turtle, "http://a/rest/x", &RdfLimits::default());
        Statements::of(&triples.unwrap(), "http://a/rest/x", &roots)
    }

    #[test]
    fn statements_of_servers_are_left_out_and_addresses_move() {
        let found = statements(
            "@prefix ldp: <http://www.w3.org/ns/ldp#> . @prefix f: <http://fedora.info/definitions/v4/repository#> .
             <> a ldp:Container , f:Resource , <http://pcdm.org/models#Object> ; ldp:contains <x/1> , <x/2> ;
               f:created 1 ; f:writable true ; <http://p> <y#z> , <http://a/restful> .",
        );
        assert_eq!(found.children, ["http://a/rest/x/1", "http://a/rest/x/2"]);
        assert_eq!(found.classes, ["http://www.w3.org/ns/ldp#Container"]);
        let own: Vec<String> = found.own.iter().map(ToString::to_string).collect();
        let expected = [
            "<http://b/ldp/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://pcdm.org/models#Object>",
            "<http://b/ldp/x> <http://fedora.info/definitions/v4/repository#created> \
             \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            "<http://b/ldp/x> <http://p> <http://b/ldp/y#z>",
            "<http://b/ldp/x> <http://p> <http://a/restful>",
        ];
        assert_eq!(own, expected);
    }
}
