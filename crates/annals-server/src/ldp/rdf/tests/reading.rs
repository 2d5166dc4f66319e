//! The statements that each format reads as.

use std::io::{self, Read};

use super::super::{RdfErrorKind, RdfFormat, RdfLimits};
use super::canonical::are_isomorphic;
use super::{BASE, lines, read};

#[test]
fn the_turtle_of_the_scripts_resolves_against_the_new_resource() {
    let document = "@prefix ldp: <http://www.w3.org/ns/ldp#> .\n\
        @prefix pcdm: <http://pcdm.org/models#> .\n\
        @prefix ore: <http://www.openarchives.org/ore/terms/> .\n\
        <> a ldp:IndirectContainer ; ldp:hasMemberRelation pcdm:hasMember ;\n\
        ldp:insertedContentRelation ore:proxyFor ; ldp:membershipResource <../b> .";
    let expected = [
        "<http://localhost:8080/rest/1/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> \
         <http://www.w3.org/ns/ldp#IndirectContainer>",
        "<http://localhost:8080/rest/1/a> <http://www.w3.org/ns/ldp#hasMemberRelation> \
         <http://pcdm.org/models#hasMember>",
        "<http://localhost:8080/rest/1/a> <http://www.w3.org/ns/ldp#insertedContentRelation> \
         <http://www.openarchives.org/ore/terms/proxyFor>",
        "<http://localhost:8080/rest/1/a> <http://www.w3.org/ns/ldp#membershipResource> \
         <http://localhost:8080/rest/b>",
    ];
    assert_eq!(lines(&read(document, RdfFormat::Turtle).unwrap()), expected);
}

#[test]
fn every_format_reads_the_same_resource() {
    let turtle = "<> <http://purl.org/dc/elements/1.1/title> \"a \\\"b\\\"\\n\"@en ; <p:q> [ <p:r> <#x> ] .";
    let n_triples = format!(
        "\u{FEFF}<{BASE}> <http://purl.org/dc/elements/1.1/title> \"a \\\"b\\\"\\n\"@en .\n\
         <{BASE}> <p:q> _:b .\n_:b <p:r> <{BASE}#x> ."
    );
    let json_ld = r##"{"@context": {"dc": "http://purl.org/dc/elements/1.1/"}, "@id": "",
        "dc:title": {"@value": "a \"b\"\n", "@language": "en"},
        "p:q": {"p:r": {"@id": "#x"}}}"##;
    let rdf_xml = r##"<?xml version="1.0"?>
        <!DOCTYPE rdf:RDF [ <!ENTITY dc "http://purl.org/dc/elements/1.1/"> ]>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="&dc;" xmlns:p="p:">
        <rdf:Description rdf:about=""><dc:title xml:lang="en">a "b"&#10;</dc:title>
        <p:q rdf:parseType="Resource"><p:r rdf:resource="#x"/></p:q></rdf:Description></rdf:RDF>"##;
    let expected = read(turtle, RdfFormat::Turtle).unwrap();
    assert_eq!(expected.len(), 3);
    let cases = [
        (n_triples.as_str(), RdfFormat::NTriples),
        (json_ld, RdfFormat::JsonLd),
        (rdf_xml, RdfFormat::RdfXml),
    ];
    for (document, format) in cases {
        let found = read(document, format).unwrap_or_else(|error| panic!("{format:?}: {error}"));
        assert!(are_isomorphic(&found, &expected), "{format:?}: {:#?}", lines(&found));
    }
}

#[test]
fn two_requests_never_share_a_blank_node() {
    for (document, format) in [
        ("_:a <p:p> _:a .", RdfFormat::Turtle),
        ("_:a <p:p> _:a .", RdfFormat::NTriples),
        (r#"{"@id": "_:a", "p:p": {"@id": "_:a"}}"#, RdfFormat::JsonLd),
    ] {
        let first = read(document, format).unwrap();
        let second = read(document, format).unwrap();
        assert_eq!(first[0].object, first[0].subject.clone().into(), "{format:?}: one label is one node");
        assert_ne!(first, second, "{format:?}");
    }
}

#[test]
fn an_empty_document_has_no_triples() {
    assert_eq!(read("", RdfFormat::Turtle), Ok(Vec::new()));
    assert_eq!(read("# nothing\n", RdfFormat::NTriples), Ok(Vec::new()));
    assert_eq!(read("{}", RdfFormat::JsonLd), Ok(Vec::new()));
    let empty = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>"#;
    assert_eq!(read(empty, RdfFormat::RdfXml), Ok(Vec::new()));
}

#[test]
fn an_error_of_syntax_names_its_place_and_the_remedy() {
    let cases = [
        ("<> <p:p> \"x\" .\n<> p:p 1 .", RdfFormat::Turtle, Some((2, 4))),
        ("<a:a> <p:p> .\n", RdfFormat::NTriples, Some((1, 13))),
        ("<> <p:p> 'x\n' .", RdfFormat::Turtle, Some((1, 10))),
        ("{\"p:p\": \n nonsense}", RdfFormat::JsonLd, Some((2, 2))),
        ("{\"@id\": 5}", RdfFormat::JsonLd, None),
        (
            "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n</b>",
            RdfFormat::RdfXml,
            Some((2, 5)),
        ),
    ];
    for (document, format, place) in cases {
        let error = read(document, format).expect_err("it is wrong");
        assert_eq!(error.kind, RdfErrorKind::Syntax, "{error}");
        assert_eq!(error.line.zip(error.column), place, "{format:?}: {error}");
        assert!(error.text.contains("expected"), "{error}");
    }
}

#[test]
fn a_relative_base_is_refused() {
    let error =
        super::super::read(&b""[..], RdfFormat::Turtle, "/rest/a", &RdfLimits::default()).unwrap_err();
    assert_eq!(error.kind, RdfErrorKind::Syntax);
    assert!(error.text.contains("/rest/a"), "{error}");
}

#[test]
fn a_body_that_breaks_off_is_an_error_and_not_a_shorter_document() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("connection reset"))
        }
    }
    let body = "<> <p:p> 1 .".as_bytes().chain(Broken);
    let error = super::super::read(body, RdfFormat::Turtle, BASE, &RdfLimits::default()).unwrap_err();
    assert!(error.text.contains("connection reset"), "{error}");
}
