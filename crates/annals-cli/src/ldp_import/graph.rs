//! The statements of a resource as a copy writes them: without those that servers make, and with the addresses of the
//! target.

use std::collections::{HashMap, HashSet};

use annals::Digest;
use annals_server::rdf::{RdfError, RdfFormat, RdfWriter};
use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term, Triple};

use super::answer;

const LDP: &str = "http://www.w3.org/ns/ldp#";
const CONTAINS: &str = "http://www.w3.org/ns/ldp#contains";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const FEDORA: &str = "http://fedora.info/definitions/v4/";
const FEDORA_NAMES: &str = "http://fedora.info/definitions/v4/repository#";
/// Predicates about the bytes of a binary; the target derives them from the bytes and the headers.
const OF_BYTES: [&str; 5] = [
    "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType",
    FILE_NAME,
    "http://www.loc.gov/premis/rdf/v1#hasSize",
    DIGEST,
    "http://www.iana.org/assignments/relation/describedby",
];
const FILE_NAME: &str = "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#filename";
const DIGEST: &str = "http://www.loc.gov/premis/rdf/v1#hasMessageDigest";
/// In the addresses that Fedora 4 gives to blank nodes (RFC 8615, RDF 1.1 section 3.5).
const GENERATED: &str = "/.well-known/genid/";
/// Fedora 4 puts this many pairs of digits before the UUID of a posted resource.
const PAIRS: usize = 4;
/// Of a UUID in text.
const UUID_BYTES: usize = 36;
/// The statements of Fedora that stay: nothing else says when and by whom a resource was made there.
const KEPT: [&str; 4] = ["created", "createdBy", "lastModified", "lastModifiedBy"];

/// The addresses of two root containers, without a slash at their ends.
#[derive(Clone, Debug)]
pub struct Roots {
    /// That of the source.
    pub from: String,
    /// That of the target.
    pub to: String,
    /// Whether the pairs of digits before a UUID are left out at the target.
    pub are_pairs_short: bool,
}

impl Roots {
    /// The part of an address of the source behind its root: empty, or begins with `/` or `#`. `None` outside.
    pub fn rest<'i>(&self, iri: &'i str) -> Option<&'i str> {
        let rest = iri.strip_prefix(&*self.from)?;
        (rest.is_empty() || rest.starts_with(['/', '#'])).then_some(rest)
    }

    /// The address at the target of the rest of an address.
    pub fn target(&self, rest: &str) -> String {
        if self.are_pairs_short {
            format!("{}{}", self.to, shortened(rest))
        } else {
            format!("{}{rest}", self.to)
        }
    }

    /// True if the target has the one resource directly in the other. Shape: rests of addresses.
    pub fn is_child(&self, child: &str, parent: &str) -> bool {
        let [child, parent] = [child, parent].map(|rest| self.target(rest.trim_end_matches('/')));
        let name = child.strip_prefix(&*parent).and_then(|name| name.strip_prefix('/'));
        name.is_some_and(|name| !name.contains('/'))
    }

    /// The same address at the target; an address outside of the root stays.
    fn moved(&self, node: &NamedNode) -> NamedNode {
        match self.rest(node.as_str()) {
            Some(rest) => NamedNode::new_unchecked(self.target(rest)),
            None => node.clone(),
        }
    }

    fn moved_triple(&self, triple: &Triple, blanks: &HashMap<&str, BlankNode>) -> Triple {
        let subject: NamedOrBlankNode = match &triple.subject {
            NamedOrBlankNode::NamedNode(node) => match blanks.get(node.as_str()) {
                Some(blank) => blank.clone().into(),
                None => self.moved(node).into(),
            },
            NamedOrBlankNode::BlankNode(node) => node.clone().into(),
        };
        let object: Term = match &triple.object {
            Term::NamedNode(node) => match blanks.get(node.as_str()) {
                Some(blank) => blank.clone().into(),
                None => self.moved(node).into(),
            },
            object => object.clone(),
        };
        Triple::new(subject, triple.predicate.clone(), object)
    }

    /// A blank node for each generated address of the source that the document describes.
    fn blanks<'t>(&self, triples: &'t [Triple]) -> HashMap<&'t str, BlankNode> {
        let host =
            self.from.find("://").and_then(|at| self.from.get(at + 3..)?.find('/').map(|end| at + 3 + end));
        let host = host.and_then(|end| self.from.get(..end)).unwrap_or(&self.from);
        let mut blanks = HashMap::new();
        for triple in triples {
            let NamedOrBlankNode::NamedNode(node) = &triple.subject else { continue };
            let rest = node.as_str().strip_prefix(host).filter(|rest| rest.starts_with('/'));
            if rest.is_some_and(|rest| rest.contains(GENERATED)) {
                blanks.entry(node.as_str()).or_default();
            }
        }
        blanks
    }
}

/// A path without the pairs of digits that Fedora 4 puts before a UUID: `/a/3f/51/af/56/3f51af56-…` is `/a/3f51af56-…`.
fn shortened(rest: &str) -> String {
    let (path, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        let pairs_from = kept.len().saturating_sub(PAIRS);
        let pairs = kept.get(pairs_from..).unwrap_or_default();
        let is_uuid = segment.len() == UUID_BYTES
            && segment.bytes().all(|letter| letter.is_ascii_hexdigit() || letter == b'-');
        if is_uuid
            && pairs.len() == PAIRS
            && pairs.iter().all(|pair| pair.len() == 2)
            && segment.starts_with(&pairs.concat())
        {
            kept.truncate(pairs_from);
        }
        kept.push(segment);
    }
    format!("{}{fragment}", kept.join("/"))
}

/// The statements of a resource, taken apart.
#[derive(Debug, Default)]
pub struct Statements {
    /// Those of clients, each once, with the addresses of the target.
    pub own: Vec<Triple>,
    /// The addresses of the children at the source, in the order of the document.
    pub children: Vec<String>,
    /// The classes of LDP that the resource states.
    pub classes: Vec<String>,
    /// The digests of the bytes, if the resource is a binary.
    pub digests: Vec<Digest>,
    /// The file name of the bytes.
    pub file_name: Option<String>,
}

impl Statements {
    /// Takes the statements about the resource at `iri` apart.
    pub fn of(triples: &[Triple], iri: &str, roots: &Roots) -> Statements {
        let mut statements = Statements::default();
        let mut known = HashSet::new();
        let blanks = roots.blanks(triples);
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
                (DIGEST, Term::NamedNode(digest)) => {
                    statements.digests.extend(answer::digest_of_urn(digest.as_str()))
                }
                (FILE_NAME, Term::Literal(name)) if !name.value().is_empty() => {
                    // Fedora 6 keeps the backslashes before quotes of the header that it got.
                    statements.file_name = Some(name.value().replace("\\\"", "\""));
                }
                _ if is_made_by_server(triple) => {}
                _ => {
                    let moved = roots.moved_triple(triple, &blanks);
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

    fn roots(are_pairs_short: bool) -> Roots {
        Roots { from: "http://a/rest".into(), to: "http://b/ldp".into(), are_pairs_short }
    }

    fn statements(turtle: &str) -> Statements {
        let roots = roots(false);
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

    #[test]
    fn generated_addresses_that_the_document_describes_are_blank_nodes() {
        let found = statements(
            "@prefix g: <http://a/rest/.well-known/genid/> . <> <http://p> g:1 , g:2 , <http://b/.well-known/genid/3> .
             g:1 <http://q> g:1 . <http://b/.well-known/genid/3> <http://q> 1 .",
        );
        let own: Vec<String> = found.own.iter().map(ToString::to_string).collect();
        let label = own[0].rsplit(' ').next().unwrap();
        assert!(label.starts_with("_:"), "{own:?}");
        assert_eq!(own[1], "<http://b/ldp/x> <http://p> <http://b/ldp/.well-known/genid/2>");
        assert_eq!(own[2], "<http://b/ldp/x> <http://p> <http://b/.well-known/genid/3>");
        assert_eq!(own[3], format!("{label} <http://q> {label}"));
        assert_eq!(own.len(), 5);
    }

    #[test]
    fn a_file_name_has_its_quotes_without_backslashes() {
        const NAME: &str = "<http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#filename>";
        let name = |literal: &str| statements(&format!("<> {NAME} {literal} .")).file_name;
        assert_eq!(name("'a \\\\\"b\\\\\" c'").as_deref(), Some("a \"b\" c"));
        assert_eq!(name("'a \"b\" c'").as_deref(), Some("a \"b\" c"));
        assert_eq!(name("''"), None);
    }

    #[test]
    fn pairs_of_digits_are_left_out_only_before_their_uuid() {
        const UUID: &str = "3f51af56-4ab4-4ab6-b546-a725ff021383";
        let long = format!("/a/3f/51/af/56/{UUID}");
        let cases = [
            (format!("{long}/b/3f/51/af/56/{UUID}#x/y"), format!("/a/{UUID}/b/{UUID}#x/y")),
            (format!("/3f/51/af/56/{UUID}/fcr:metadata"), format!("/{UUID}/fcr:metadata")),
            (format!("/3f/51/af/57/{UUID}"), format!("/3f/51/af/57/{UUID}")),
            (format!("/51/af/56/{UUID}"), format!("/51/af/56/{UUID}")),
            ("/3f/51/af/56/3f51af56".into(), "/3f/51/af/56/3f51af56".into()),
            (String::new(), String::new()),
        ];
        for (rest, expected) in cases {
            assert_eq!(shortened(&rest), expected);
        }
        assert!(roots(true).is_child(&long, "/a") && !roots(false).is_child(&long, "/a"));
        assert!(roots(false).is_child("/a/b/", "/a/") && !roots(false).is_child("/ab", "/a"));
    }
}
