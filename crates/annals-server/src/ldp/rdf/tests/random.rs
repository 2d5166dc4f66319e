//! Random triples through every format, and random bytes into every parser.

use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use proptest::prelude::*;

use super::super::RdfFormat;
use super::canonical::are_isomorphic;
use super::{read, write};

fn iri() -> impl Strategy<Value = NamedNode> {
    let text = prop_oneof![
        "http://example\\.org/[a-zA-Z0-9._~()'!$&*+,;=:@%20-]{0,12}(#[a-z?/]{0,4})?",
        "urn:[a-z]{1,3}:[A-Za-z0-9._-]{0,6}",
        "http://www\\.w3\\.org/ns/ldp#[A-Za-z.,-]{0,6}",
        "http://例え\\.jp/[à-ü𝒜-𝒵]{0,4}\\?q=[a-z]{0,3}",
    ];
    text.prop_filter_map("an IRI", |text| NamedNode::new(text).ok())
}

/// A predicate that RDF/XML can write too.
fn predicate() -> impl Strategy<Value = NamedNode> {
    "http://example\\.org/[a-z/#&']{0,3}[#/][A-Za-z_][A-Za-z0-9._-]{0,5}"
        .prop_filter_map("an IRI", |text| NamedNode::new(text).ok())
}

fn blank() -> impl Strategy<Value = BlankNode> {
    "[a-c1-2]{1}".prop_map(BlankNode::new_unchecked)
}

fn subject() -> impl Strategy<Value = NamedOrBlankNode> {
    prop_oneof![3 => iri().prop_map_into(), 1 => blank().prop_map_into()]
}

/// Shape: text with quotes, ends of lines, control characters and characters outside of the first plane.
fn text(has_control: bool) -> BoxedStrategy<String> {
    let odd = "[\"'\\\\<>&\\n\\r\\t {}@^.\u{85}\u{A0}\u{2028}\u{FFFD}\u{1F600}\u{10FFFF}a-z]{0,12}";
    if has_control {
        prop_oneof![odd, any::<String>(), "[\\x00-\\x1f\\x7f]{0,4}"].boxed()
    } else {
        odd.boxed()
    }
}

fn literal(has_control: bool) -> impl Strategy<Value = Literal> {
    let datatype = prop_oneof![
        Just("http://www.w3.org/2001/XMLSchema#integer".to_owned()),
        Just("http://www.w3.org/2001/XMLSchema#boolean".to_owned()),
        Just("http://www.w3.org/2001/XMLSchema#decimal".to_owned()),
        Just("http://www.w3.org/2001/XMLSchema#double".to_owned()),
        Just("http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral".to_owned()),
        Just("urn:odd:type".to_owned()),
    ];
    let value =
        || prop_oneof![text(has_control), "-?[0-9]{1,4}(\\.[0-9]{0,3})?(e[0-9])?", "true|false|1|INF"];
    prop_oneof![
        value().prop_map(Literal::from),
        (value(), "[a-z]{2}(-[A-Z]{2})?")
            .prop_map(|(value, tag)| Literal::new_language_tagged_literal(value, tag).expect("a tag")),
        (value(), datatype).prop_map(|(value, datatype)| Literal::new_typed_literal(
            value,
            NamedNode::new_unchecked(datatype)
        )),
    ]
}

fn triples(has_control: bool) -> impl Strategy<Value = Vec<Triple>> {
    let object = prop_oneof![
        2 => iri().prop_map(Term::from),
        1 => blank().prop_map(Term::from),
        4 => literal(has_control).prop_map(Term::from),
    ];
    let one = (subject(), prop_oneof![predicate(), Just(oxrdf::vocab::rdf::TYPE.into_owned())], object)
        .prop_map(|(subject, predicate, object)| Triple { subject, predicate, object });
    proptest::collection::vec(one, 0..8)
}

fn round_trip(triples: &[Triple], format: RdfFormat) -> Result<(), TestCaseError> {
    let written = write(triples, format);
    let found = read(&written, format);
    let found = found.map_err(|error| TestCaseError::fail(format!("{format:?}: {error}\n{written}")))?;
    prop_assert!(are_isomorphic(triples, &found), "{format:?}\n{written}\n{found:#?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(triples in triples(true)) {
        for format in [RdfFormat::Turtle, RdfFormat::NTriples, RdfFormat::JsonLd] {
            round_trip(&triples, format)?;
        }
    }

    #[test]
    fn what_rdf_xml_can_say_reads_back(triples in triples(false)) {
        round_trip(&triples, RdfFormat::RdfXml)?;
    }

    #[test]
    fn n_triples_has_a_line_for_each_triple(triples in triples(true)) {
        prop_assert_eq!(write(&triples, RdfFormat::NTriples).lines().count(), triples.len());
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in RdfFormat::ALL {
            let _ = super::super::read(&bytes[..], format, super::BASE, &super::RdfLimits::default());
        }
    }

    #[test]
    fn random_pieces_never_panic(pieces in proptest::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        for format in RdfFormat::ALL {
            let _ = read(&text, format);
        }
        if let Ok(update) = super::parse(&text) {
            let _ = update.evaluate(&[super::titled("a")], &super::RdfLimits::default());
        }
    }

    #[test]
    fn random_patterns_never_panic(pieces in proptest::collection::vec(piece(), 0..20)) {
        let text = format!("DELETE {{ ?s ?p ?o }} INSERT {{ ?s ?p [] }} WHERE {{ {} }}", pieces.concat());
        if let Ok(update) = super::parse(&text) {
            let _ = update.evaluate(&[super::titled("a"), super::titled("b")], &super::RdfLimits::default());
        }
    }
}

/// Pieces of all the languages.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "<>",
        "<a>",
        " a ",
        "?s ",
        "?p ",
        "?o ",
        "\"x\"",
        "'''",
        "\"\"\"",
        "@en",
        "^^",
        "_:b ",
        "[ ",
        "] ",
        "( ",
        ") ",
        "{ ",
        "} ",
        ". ",
        "; ",
        ", ",
        "FILTER",
        "OPTIONAL ",
        "UNION ",
        "BIND",
        " AS ",
        "VALUES ",
        "MINUS ",
        "EXISTS ",
        "INSERT ",
        "DELETE ",
        "DATA ",
        "WHERE ",
        "PREFIX p: <p:> ",
        "p:q ",
        "!",
        "= ",
        "<",
        ">",
        "&& ",
        "|| ",
        "+ ",
        "STR",
        "REGEX",
        "REPLACE",
        "CONCAT",
        "BNODE() ",
        "NOW() ",
        "1 ",
        "-2.5e3 ",
        "true ",
        "\\u00e9",
        "#c\n",
        "{\"@id\":",
        "\"@context\":",
        "\"@graph\":",
        "\"@type\":",
        "null",
        ":",
        "@base ",
        "@prefix ",
        "<rdf:RDF",
        " xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"",
        "/>",
        "</",
        "&amp;",
        "&x;",
        "<!DOCTYPE a [",
        "<!ENTITY x \"y\">",
        "]>",
        "<![CDATA[",
        "<?xml?>",
        "rdf:about=\"\"",
        "é",
        "\u{1F600}",
        "\0",
        "\\",
    ];
    prop_oneof![8 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}
