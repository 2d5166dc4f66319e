//! The refusals of the door, and the texts of their errors.

use super::super::{RdfErrorKind, RdfFormat, RdfLimits, Update};
use super::{BASE, parse, read};

#[test]
fn an_operation_that_the_door_does_not_do_is_refused_by_name_and_place() {
    let cases = [
        ("LOAD <http://example.org/a>", "LOAD", 1),
        ("load silent <http://example.org/a>", "LOAD", 1),
        ("CLEAR ALL", "CLEAR", 1),
        ("CLEAR DEFAULT", "CLEAR", 1),
        ("CREATE GRAPH <g:g>", "CREATE", 1),
        ("DROP DEFAULT", "DROP", 1),
        ("ADD DEFAULT TO <g:g>", "ADD", 1),
        ("MOVE DEFAULT TO <g:g>", "MOVE", 1),
        ("COPY <g:g> TO DEFAULT", "COPY", 1),
        ("WITH <g:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "WITH", 1),
        ("DELETE { ?s ?p ?o } USING <g:g> WHERE { ?s ?p ?o }", "USING", 21),
        ("DELETE { ?s ?p ?o } USING NAMED <g:g> WHERE { ?s ?p ?o }", "USING", 21),
        ("INSERT DATA { GRAPH <g:g> { <> <p:p> 1 } }", "GRAPH", 15),
        ("DELETE DATA { GRAPH <g:g> { <> <p:p> 1 } }", "GRAPH", 15),
        ("DELETE WHERE { GRAPH ?g { ?s ?p ?o } }", "GRAPH", 16),
        ("INSERT { GRAPH <g:g> { <> <p:p> 1 } } WHERE { }", "GRAPH", 10),
        ("INSERT { <> <p:p> ?o } WHERE { GRAPH ?g { ?s ?p ?o } }", "GRAPH", 32),
        ("INSERT { <> <p:p> ?o } WHERE { SERVICE <s:s> { ?s ?p ?o } }", "SERVICE", 32),
        ("INSERT DATA { <> <p:p> 1 } ; CLEAR ALL", "CLEAR", 30),
    ];
    for (text, operation, column) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!(error.kind, RdfErrorKind::Unsupported, "{text}: {error}");
        assert!(error.text.contains(&format!("found {operation};")), "{text}: {error}");
        assert_eq!((error.line, error.column), (Some(1), Some(column)), "{text}: {error}");
    }
}

#[test]
fn a_pattern_that_the_door_does_not_do_is_refused_by_name() {
    let cases = [
        ("?s <p:p>* ?o", "a property path"),
        ("?s !<p:p> ?o", "a property path"),
        ("{ SELECT ?s WHERE { ?s ?p ?o } LIMIT 1 }", "SELECT"),
        ("{ SELECT (COUNT(*) AS ?s) WHERE { ?s ?p ?o } }", "SELECT"),
        ("?s ?p ?o FILTER(<f:f>(?o))", "the function <f:f>"),
        ("?s ?p ?o FILTER EXISTS { ?s <p:p>+ ?o }", "a property path"),
        ("?s ?p ?o BIND(BNODE(\"a\") AS ?b)", "BNODE"),
        ("?s ?p ?o OPTIONAL { ?s ?q ?r FILTER(<f:f>(?o)) }", "the function <f:f>"),
    ];
    for (pattern, found) in cases {
        let text = format!("DELETE {{ ?s ?p ?o }} WHERE {{ {pattern} }}");
        let error = parse(&text).expect_err(&text);
        assert_eq!(error.kind, RdfErrorKind::Unsupported, "{text}: {error}");
        assert!(error.text.contains(&format!("found {found}")), "{text}: {error}");
    }
}

#[test]
fn words_of_refused_operations_may_be_names_and_text() {
    let texts = [
        "PREFIX load: <l:> PREFIX graph: <g:> INSERT DATA { <> load:graph \"CLEAR ALL\"@graph ; graph:drop '''LOAD''' }",
        "# DROP ALL\nDELETE WHERE { ?graph ?service ?clear }",
        "INSERT DATA { <#graph> <p:p> _:graph }",
    ];
    for text in texts {
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn an_error_of_syntax_in_an_update_names_its_place() {
    let error = parse("INSERT DATA {\n <> <p:p> \n}").unwrap_err();
    assert_eq!((error.kind, error.line), (RdfErrorKind::Syntax, Some(3)), "{error}");
    assert!(error.text.contains("correct the update"), "{error}");
    assert!(error.text.len() < 600, "{error}");
    for text in [
        "DELETE DATA { <> <p:p> ?o }",
        "DELETE DATA { <> <p:p> [] }",
        "INSERT { <> <p:p> 1 }",
        "nonsense",
        "INSERT DATA { <> p:p 1 }",
        "INSERT DATA { <> <p:p> \"a\nb\" }",
    ] {
        assert_eq!(parse(text).unwrap_err().kind, RdfErrorKind::Syntax, "{text}");
    }
}

#[test]
fn a_named_graph_of_json_ld_is_refused_and_not_dropped() {
    let document = r#"{"@id": "g:g", "@graph": [{"@id": "", "p:p": 1}]}"#;
    let error = read(document, RdfFormat::JsonLd).unwrap_err();
    assert_eq!(error.kind, RdfErrorKind::Unsupported, "{error}");
    assert!(error.text.contains("g:g"), "{error}");
    let unnamed = r#"{"@graph": [{"@id": "", "p:p": 1}]}"#;
    assert_eq!(read(unnamed, RdfFormat::JsonLd).unwrap().len(), 1);
}

#[test]
fn a_remote_context_is_refused_and_nothing_is_loaded() {
    let documents = [
        r#"{"@context": "http://localhost:1/context.jsonld", "p:p": 1}"#,
        r#"{"@context": {"@import": "http://localhost:1/context.jsonld"}, "p:p": 1}"#,
        r#"{"@context": [{"a": "p:a"}, "/context.jsonld"], "p:p": 1}"#,
    ];
    for document in documents {
        let error = read(document, RdfFormat::JsonLd).expect_err(document);
        assert_eq!(error.kind, RdfErrorKind::Unsupported, "{document}: {error}");
        assert!(error.text.contains("put the context itself into the document"), "{error}");
    }
}

#[test]
fn each_bound_of_a_document_is_kept() {
    let small = RdfLimits {
        triples_max: 2,
        bytes_max: 200,
        expanded_bytes_max: 1_000,
        nesting_max: 3,
        iri_bytes_max: 60,
        literal_bytes_max: 10,
        ..RdfLimits::default()
    };
    let long = "x".repeat(61);
    let cases = [
        ("<> <p:p> 1, 2, 3 .".to_owned(), "2 triples"),
        ("# comment\n".repeat(30), "200 bytes"),
        ("<> <p:p> [ <p:p> [ <p:p> [ <p:p> [] ] ] ] .".to_owned(), "3 brackets"),
        (format!("<> <p:p> <p:{long}> ."), "IRI of at most 60 bytes"),
        ("<> <p:p> 'more than ten' .".to_owned(), "literal of at most 10 bytes"),
        (format!("<> <p:p> ''^^<p:{long}> ."), "datatype of at most 60 bytes"),
    ];
    for (document, expected) in cases {
        let error =
            super::super::read(document.as_bytes(), RdfFormat::Turtle, BASE, &small).expect_err(&document);
        assert_eq!(error.kind, RdfErrorKind::TooLarge, "{document}: {error}");
        assert!(error.text.contains(expected), "{document}: {error}");
    }
}

#[test]
fn each_bound_of_an_update_is_kept() {
    let small = RdfLimits { triples_max: 2, bytes_max: 200, literal_bytes_max: 10, ..RdfLimits::default() };
    let cases = [
        ("INSERT DATA { <> <p:p> 1, 2, 3 }".to_owned(), "2 triples"),
        (format!("# {}\n", "x".repeat(200)), "200 bytes"),
        ("INSERT DATA { <> <p:p> 'more than ten' }".to_owned(), "literal of at most 10 bytes"),
        ("INSERT { <> <p:p> 'more than ten' } WHERE { }".to_owned(), "literal of at most 10 bytes"),
    ];
    for (text, expected) in cases {
        let error = Update::parse(&text, BASE, &small).expect_err(&text);
        assert_eq!(error.kind, RdfErrorKind::TooLarge, "{text}: {error}");
        assert!(error.text.contains(expected), "{text}: {error}");
    }
    let many = Update::parse("INSERT { ?a <p:q> ?b } WHERE { ?a <p:p> ?b }", BASE, &small).unwrap();
    let graph = read("<> <p:p> 1, 2, 3 .", RdfFormat::Turtle).unwrap();
    assert_eq!(many.evaluate(&graph, &small).unwrap_err().kind, RdfErrorKind::TooLarge);
}
