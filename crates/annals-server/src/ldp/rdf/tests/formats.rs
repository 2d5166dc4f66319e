//! Media types and `Accept`.

use super::super::{RdfFormat, negotiate};

const OFFERS: [&str; 4] =
    ["text/turtle", "application/n-triples", "application/ld+json", "application/rdf+xml"];

#[test]
fn parameters_and_case_of_a_content_type_are_ignored() {
    let cases = [
        ("text/turtle", Some(RdfFormat::Turtle)),
        ("Text/Turtle; charset=ISO-8859-1", Some(RdfFormat::Turtle)),
        (" text/turtle ;charset=utf-8", Some(RdfFormat::Turtle)),
        ("text/n3", Some(RdfFormat::Turtle)),
        ("application/n-triples", Some(RdfFormat::NTriples)),
        ("application/ld+json; profile=\"http://www.w3.org/ns/json-ld#compacted\"", Some(RdfFormat::JsonLd)),
        ("application/rdf+xml", Some(RdfFormat::RdfXml)),
        ("text/plain", None),
        ("application/json", None),
        ("application/sparql-update", None),
        ("application/ld+json or application/json", None),
        ("image/png; charset=ISO-8859-1", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(RdfFormat::of_content_type(text), expected, "{text}");
    }
}

#[test]
fn a_media_type_reads_back_as_its_format() {
    for format in RdfFormat::ALL {
        assert_eq!(RdfFormat::of_content_type(format.media_type()), Some(format));
    }
    assert_eq!(RdfFormat::ALL.map(RdfFormat::media_type), OFFERS);
}

#[test]
fn accept_chooses_by_quality_then_by_the_order_of_the_offers() {
    let cases = [
        (None, Some("text/turtle")),
        (Some(""), Some("text/turtle")),
        (Some("*/*"), Some("text/turtle")),
        (Some("application/n-triples"), Some("application/n-triples")),
        (Some("APPLICATION/N-Triples"), Some("application/n-triples")),
        (Some("application/*"), Some("application/n-triples")),
        (Some("application/ld+json, text/turtle"), Some("text/turtle")),
        (Some("application/ld+json, text/turtle;q=0.9"), Some("application/ld+json")),
        (Some("text/turtle;q=0.1, application/rdf+xml;q=0.11"), Some("application/rdf+xml")),
        (Some("text/turtle; charset=utf-8"), Some("text/turtle")),
        (
            Some("application/ld+json;profile=\"a,b;q=0\";q=0.5, text/turtle;q=0.4"),
            Some("application/ld+json"),
        ),
        // The most specific range decides, whatever the order.
        (Some("*/*, text/turtle;q=0"), Some("application/n-triples")),
        (Some("text/*;q=0, */*;q=0.1"), Some("application/n-triples")),
        (Some("text/turtle;q=0.2, text/*;q=0.9, */*;q=0.3"), Some("application/n-triples")),
        (Some("text/html"), None),
        (Some("image/png"), None),
        (Some("text/turtle;q=0"), None),
        (Some("*/*;q=0"), None),
        (Some("*/*;q=0.000"), None),
        // Malformed parts count as absent.
        (Some("nonsense"), Some("text/turtle")),
        (Some("text/turtle;q=2, application/n-triples"), Some("application/n-triples")),
        (Some("text/turtle;q=, application/n-triples;q=0.1"), Some("application/n-triples")),
        (Some("text/turtle;q=0.1234, application/n-triples;q=0.1"), Some("application/n-triples")),
        (Some("*/turtle, application/n-triples"), Some("application/n-triples")),
        (Some(",,, application/n-triples ,"), Some("application/n-triples")),
        (Some("text/ turtle, application/n-triples"), Some("application/n-triples")),
    ];
    for (accept, expected) in cases {
        assert_eq!(negotiate(accept, &OFFERS), expected, "{accept:?}");
    }
}

#[test]
fn a_binary_is_its_only_offer() {
    assert_eq!(negotiate(Some("image/png"), &["image/png"]), Some("image/png"));
    assert_eq!(negotiate(Some("text/turtle"), &["image/png"]), None);
    assert_eq!(negotiate(None, &[]), None);
}
