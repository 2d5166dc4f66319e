//! The bytes that each format writes.

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, Triple};

use super::super::{RdfErrorKind, RdfFormat, RdfWriter};
use super::{BASE, named, titled, write};

fn resource() -> Vec<Triple> {
    let container = named("http://www.w3.org/ns/ldp#Container");
    let count = Literal::new_typed_literal("7", xsd::INTEGER);
    let label = Literal::new_language_tagged_literal("ein <Titel>\r\n", "de").unwrap();
    vec![
        Triple::new(named(BASE), rdf::TYPE, container.clone()),
        Triple::new(named(BASE), rdf::TYPE, named("p:B")),
        titled("a \"title\""),
        Triple::new(named(BASE), named("p:label"), label),
        Triple::new(BlankNode::new_unchecked("1"), named("p:count"), count),
        Triple::new(named(BASE), rdf::TYPE, container),
    ]
}

#[test]
fn n_triples_has_one_triple_per_line_with_absolute_iris() {
    let expected = "\
<http://localhost:8080/rest/1/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/ldp#Container> .
<http://localhost:8080/rest/1/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <p:B> .
<http://localhost:8080/rest/1/a> <http://purl.org/dc/elements/1.1/title> \"a \\\"title\\\"\" .
<http://localhost:8080/rest/1/a> <p:label> \"ein <Titel>\\r\\n\"@de .
_:1 <p:count> \"7\"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://localhost:8080/rest/1/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/ldp#Container> .
";
    assert_eq!(write(&resource(), RdfFormat::NTriples), expected);
}

#[test]
fn turtle_uses_the_prefixes_of_repositories() {
    let text = write(&resource(), RdfFormat::Turtle);
    let (prefixes, triples): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("@prefix"));
    assert!(prefixes.contains(&"@prefix ldp: <http://www.w3.org/ns/ldp#> ."), "{prefixes:#?}");
    let expected = "\
<http://localhost:8080/rest/1/a> a ldp:Container , <p:B> ;
\tdc:title \"a \\\"title\\\"\" ;
\t<p:label> \"ein <Titel>\\r\\n\"@de .
_:1 <p:count> 7 .
<http://localhost:8080/rest/1/a> a ldp:Container .";
    assert_eq!(triples.join("\n").replace("rdf:type", "a"), expected);
}

#[test]
fn json_ld_is_an_array_of_objects_in_expanded_form() {
    let expected = "\
[{\"@id\":\"http://localhost:8080/rest/1/a\",\"@type\":[\"http://www.w3.org/ns/ldp#Container\",\"p:B\"],\
\"http://purl.org/dc/elements/1.1/title\":[{\"@value\":\"a \\\"title\\\"\"}],\
\"p:label\":[{\"@value\":\"ein <Titel>\\r\\n\",\"@language\":\"de\"}]},
{\"@id\":\"_:1\",\"p:count\":[{\"@value\":\"7\",\"@type\":\"http://www.w3.org/2001/XMLSchema#integer\"}]},
{\"@id\":\"http://localhost:8080/rest/1/a\",\"@type\":[\"http://www.w3.org/ns/ldp#Container\"]}]
";
    assert_eq!(write(&resource(), RdfFormat::JsonLd), expected);
}

#[test]
fn a_key_of_json_ld_never_stands_twice_in_an_object() {
    let other = Triple::new(named(BASE), named("p:other"), named("p:x"));
    let text = write(&[titled("a"), other, titled("b")], RdfFormat::JsonLd);
    assert_eq!(text.matches("@id\":\"http://localhost").count(), 2, "{text}");
}

#[test]
fn rdf_xml_has_an_element_for_each_triple() {
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">
<rdf:Description rdf:about=\"http://localhost:8080/rest/1/a\">
  <p:label xmlns:p=\"p:\" xml:lang=\"de\">ein &lt;Titel&gt;&#13;
</p:label>
</rdf:Description>
<rdf:Description rdf:nodeID=\"b1\">
  <p:count xmlns:p=\"p:\" rdf:datatype=\"http://www.w3.org/2001/XMLSchema#integer\">7</p:count>
</rdf:Description>
</rdf:RDF>
";
    assert_eq!(write(&resource()[3..5], RdfFormat::RdfXml), expected);
}

#[test]
fn a_document_without_triples_is_complete() {
    assert_eq!(write(&[], RdfFormat::NTriples), "");
    assert_eq!(write(&[], RdfFormat::JsonLd), "[]\n");
    for format in RdfFormat::ALL {
        assert_eq!(super::read(&write(&[], format), format), Ok(Vec::new()), "{format:?}");
    }
}

#[test]
fn rdf_xml_refuses_what_it_cannot_say_and_writes_nothing_of_it() {
    let subject = named(BASE);
    let cases = [
        Triple::new(subject.clone(), named("http://example.org/uri/1"), named("p:x")),
        Triple::new(subject, named("p:x"), Literal::from("a\u{1}b")),
    ];
    for triple in cases {
        let mut out = Vec::new();
        let error = RdfWriter::new(RdfFormat::RdfXml).write(triple.as_ref(), &mut out).unwrap_err();
        assert_eq!((error.kind, out.len()), (RdfErrorKind::Unsupported, 0), "{error}");
        assert!(error.text.contains("ask for text/turtle"), "{error}");
    }
}

#[test]
fn what_is_written_so_far_leaves_the_writer_at_once() {
    let mut writer = RdfWriter::new(RdfFormat::JsonLd);
    let mut longest = 0;
    for number in 0..10_000 {
        let mut out = Vec::new();
        writer.write(titled(&number.to_string()).as_ref(), &mut out).unwrap();
        longest = longest.max(out.len());
        assert!(!out.is_empty());
    }
    assert!(longest < 200, "{longest} bytes for one triple");
}
