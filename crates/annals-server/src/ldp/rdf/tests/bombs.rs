//! Small requests that would cost much: each ends in an error, soon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oxrdf::{Literal, Triple};

use super::super::{RdfErrorKind, RdfFormat, RdfLimits};
use super::{BASE, lines, named, parse, read};

/// Long enough for a slow machine that does other things; the bombs would take minutes or the whole memory.
const SOON: Duration = Duration::from_secs(20);

fn assert_refused(document: &str, format: RdfFormat, kinds: &[RdfErrorKind]) {
    let start = Instant::now();
    let begin: String = document.chars().take(80).collect();
    let error = read(document, format).expect_err(&begin);
    assert!(kinds.contains(&error.kind), "{begin}: {error}");
    assert!(start.elapsed() < SOON, "{begin}: {:?}", start.elapsed());
}

const TOO_LARGE: &[RdfErrorKind] = &[RdfErrorKind::TooLarge];

#[test]
fn entities_of_entities_are_refused() {
    let mut document = "<!DOCTYPE a [ <!ENTITY a0 \"lol\">\n".to_owned();
    for level in 1..30 {
        document += &format!("<!ENTITY a{level} \"{}\">\n", format!("&a{};", level - 1).repeat(10));
    }
    document += "]><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">&a29;</rdf:RDF>";
    assert_refused(&document, RdfFormat::RdfXml, &[RdfErrorKind::Unsupported]);
}

#[test]
fn a_declaration_with_odd_quotes_hides_no_entity() {
    let document = "<!DOCTYPE a [ <!ENTITY a \"x\"> <!ENTITY b\"c \"&a;&a;\"> ]><a/>";
    assert_refused(document, RdfFormat::RdfXml, &[RdfErrorKind::Unsupported]);
}

#[test]
fn entities_that_are_long_or_used_often_are_refused() {
    let long = format!("<!DOCTYPE a [ <!ENTITY a \"{}\"> ]><a/>", "x".repeat(100_000));
    assert_refused(&long, RdfFormat::RdfXml, TOO_LARGE);
    let often =
        format!("<!DOCTYPE a [ <!ENTITY a \"{}\"> ]><a>{}</a>", "x".repeat(1_000), "&a;".repeat(100_000));
    assert_refused(&often, RdfFormat::RdfXml, TOO_LARGE);
    let many = format!("<!DOCTYPE a [ {} ]><a/>", "<!ENTITY a \"x\">".repeat(1_000));
    assert_refused(&many, RdfFormat::RdfXml, TOO_LARGE);
    let without_quotes = "!ENTITY".repeat(1_000_000);
    assert_refused(&without_quotes, RdfFormat::RdfXml, TOO_LARGE);
}

#[test]
fn deep_xml_and_many_attributes_are_refused() {
    let start = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:p=\"p:\">";
    let deep = format!("{start}{}", "<p:a><p:b>".repeat(100_000));
    assert_refused(&deep, RdfFormat::RdfXml, TOO_LARGE);
    let attributes: String = (0..100_000).map(|number| format!(" p:a{number}=\"\"")).collect();
    assert_refused(&format!("{start}<rdf:Description{attributes}/></rdf:RDF>"), RdfFormat::RdfXml, TOO_LARGE);
    let base = format!("{start}<rdf:Description xml:base=\"p:{}\"/></rdf:RDF>", "x".repeat(1_000_000));
    assert_refused(&base, RdfFormat::RdfXml, TOO_LARGE);
}

#[test]
fn deep_json_is_refused() {
    for (open, close) in [("[", "]"), ("{\"p:p\":", "}"), ("{\"@list\":[", "]}"), ("{\"@graph\":", "}")] {
        let count = 1_000_000;
        assert_refused(&open.repeat(count), RdfFormat::JsonLd, TOO_LARGE);
        let closed = format!("{{\"p:p\":{}1{}}}", open.repeat(10_000), close.repeat(10_000));
        assert_refused(&closed, RdfFormat::JsonLd, TOO_LARGE);
    }
}

#[test]
fn contexts_that_cost_too_much_are_refused() {
    let terms: String =
        (0..100_000).map(|number| format!("\"a{number}\": \"a{}:x\", ", number + 1)).collect();
    assert_refused(&format!("{{\"@context\": {{{terms}\"b\": \"p:b\"}}}}"), RdfFormat::JsonLd, TOO_LARGE);
    let nodes = "{\"@context\": {\"a\": \"p:a\"}, \"a\": 1},".repeat(100_000);
    assert_refused(&format!("{{\"@graph\": [{nodes} {{}}]}}"), RdfFormat::JsonLd, TOO_LARGE);
    let escaped = "{\"\\u0040context\": {\"a\": \"p:a\"}, \"a\": 1},".repeat(100_000);
    assert_refused(&format!("{{\"@graph\": [{escaped} {{}}]}}"), RdfFormat::JsonLd, TOO_LARGE);
    let scoped = "{\"a\": {\"a\": 1}},".repeat(100_000);
    let document = format!(
        "{{\"@context\": {{\"a\": {{\"@id\": \"p:a\", \"@context\": {{}}}}}}, \"@graph\": [{scoped} {{}}]}}"
    );
    assert_refused(&document, RdfFormat::JsonLd, TOO_LARGE);
    let vocabulary = format!("{{\"@context\": {{\"@vocab\": \"p:{}\"}}, ", "x".repeat(100_000));
    let keys: String = (0..100_000).map(|number| format!("\"a{number}\": 1, ")).collect();
    assert_refused(&format!("{vocabulary}{keys} \"b\": 1}}"), RdfFormat::JsonLd, TOO_LARGE);
}

#[test]
fn the_longest_chain_of_terms_that_is_read_fits_the_stack_of_a_thread() {
    let terms: String = (0..510).map(|number| format!("\"a{number}\": \"a{}:x\", ", number + 1)).collect();
    let document = format!("{{\"@context\": {{{terms}\"a510\": \"p:b\"}}, \"@id\": \"\", \"a0\": 1}}");
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let found =
        thread.spawn(move || read(&document, RdfFormat::JsonLd).map(|triples| triples.len())).unwrap().join();
    assert_eq!(found.unwrap(), Ok(1));
}

#[test]
fn deep_turtle_is_refused() {
    for open in ["[ <p:p> ", "( ", "<> <p:p> [ <p:p> ("] {
        assert_refused(&format!("<> <p:p> {}", open.repeat(1_000_000)), RdfFormat::Turtle, TOO_LARGE);
    }
}

#[test]
fn a_long_prefix_that_is_used_often_is_refused() {
    let document = format!("@prefix p: <p:{}> .\n{}", "x".repeat(8_000), "p:a p:b p:c .\n".repeat(100_000));
    assert_refused(&document, RdfFormat::Turtle, TOO_LARGE);
}

/// `error` comes before anything is expanded.
fn assert_update_refused(text: &str) {
    let start = Instant::now();
    let begin: String = text.chars().take(80).collect();
    let error = parse(text).expect_err(&begin);
    assert_eq!(error.kind, RdfErrorKind::TooLarge, "{begin}: {error}");
    assert!(start.elapsed() < SOON, "{begin}: {:?}", start.elapsed());
}

#[test]
fn terms_of_an_update_are_charged_for_what_they_expand_to() {
    let long = format!("http://x/{}", "y".repeat(8_000));
    let values: Vec<String> = (0..20_000).map(|number| format!("a:{number}")).collect();
    assert_update_refused(&format!("PREFIX a: <{long}> INSERT DATA {{ <> <p:p> {} }}", values.join(",")));
    // A subject is stored once for each of its values.
    let values = "1.5, ".repeat(20_000);
    for (open, close) in [("INSERT DATA {", "}"), ("DELETE DATA {", "}"), ("INSERT {", "} WHERE {}")] {
        assert_update_refused(&format!("{open} <{long}> <p:p> {values} 2 {close}"));
    }
    // A language is no directive, also if it is called base.
    let base = format!("BASE <{long}/> INSERT DATA {{ <> <p:p> \"x\"@base, <a:a>");
    assert_update_refused(&format!("{base}{} }}", ", <a>".repeat(20_000)));
}

#[test]
fn bases_and_prefixes_that_grow_are_refused() {
    let growing: String = (0..20_000).map(|number| format!("@base <x{number}/> .\n")).collect();
    assert_refused(&format!("{growing}<a:s> <a:p> <a:o> ."), RdfFormat::Turtle, TOO_LARGE);
    let growing: String = (0..20_000).map(|number| format!("BASE <x{number}/>\n")).collect();
    assert_refused(&format!("{growing}<a:s> <a:p> <a:o> ."), RdfFormat::Turtle, TOO_LARGE);
    assert_update_refused(&format!("{growing} INSERT DATA {{ <a:s> <a:p> <a:o> }}"));
    let long = "x".repeat(9_000);
    assert_refused(&format!("@prefix p: <a:{long}> .\n<a:s> <a:p> <a:o> ."), RdfFormat::Turtle, TOO_LARGE);
}

#[test]
fn a_document_that_is_large_without_prefixes_is_read() {
    let subject = format!("http://example.org/{}", "s".repeat(100));
    let values = vec!["\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"; 150_000].join(",");
    let found = read(&format!("<{subject}> <http://example.org/p> {values} ."), RdfFormat::Turtle);
    assert_eq!(found.map(|triples| triples.len()), Ok(150_000));
}

#[test]
fn directives_that_do_not_grow_are_read() {
    let directives: String =
        (0..2_000).map(|number| format!("@base </a{number}/> .\nPREFIX p: <x#>\n")).collect();
    let found = lines(&read(&format!("{directives}<a:s> <a:p> p:o ."), RdfFormat::Turtle).unwrap());
    assert_eq!(found, ["<a:s> <a:p> <http://localhost:8080/a1999/x#o>"]);
}

#[test]
fn a_document_of_directives_is_given_up_at_the_bound_of_time_and_when_nobody_waits() {
    let document = "@prefix p: <p:> .\n".repeat(10_000);
    let late = RdfLimits { read_time_max: Duration::ZERO, ..RdfLimits::default() };
    let given_up = RdfLimits { is_given_up: Some(Arc::new(true.into())), ..RdfLimits::default() };
    for limits in [&late, &given_up] {
        let read = super::super::read(document.as_bytes(), RdfFormat::Turtle, BASE, limits);
        assert_eq!(read.unwrap_err().kind, RdfErrorKind::TimedOut);
    }
    let update = parse("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }").unwrap();
    let error = update.evaluate(&large(20_000), &given_up).unwrap_err();
    assert_eq!(error.kind, RdfErrorKind::TimedOut);
}

#[test]
fn a_document_at_the_bound_of_time_is_given_up() {
    let limits = RdfLimits { read_time_max: Duration::ZERO, ..RdfLimits::default() };
    for (document, format) in [
        ("<> <p:p> 1 .", RdfFormat::Turtle),
        ("<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"/>", RdfFormat::RdfXml),
    ] {
        let error = super::super::read(document.as_bytes(), format, BASE, &limits).unwrap_err();
        assert_eq!(error.kind, RdfErrorKind::TimedOut, "{error}");
    }
}

/// Shape: a resource with many values of two properties.
fn large(count: usize) -> Vec<Triple> {
    let value = |number: usize| {
        Triple::new(
            named(BASE),
            named(["p:a", "p:b"][number % 2]),
            Literal::new_simple_literal(number.to_string()),
        )
    };
    (0..count).map(value).collect()
}

#[test]
fn a_product_of_patterns_ends_in_an_error_soon() {
    let graph = large(20_000);
    let patterns = [
        "?a ?b ?c . ?d ?e ?f . ?g ?h ?i",
        "?a <p:a> ?b . ?c <p:b> ?d FILTER(?b = ?d)",
        "{ ?a <p:a> ?b } { ?c <p:b> ?d } FILTER(?b > ?d)",
        "?a <p:a> ?b OPTIONAL { ?c <p:b> ?d FILTER(?b = ?d) }",
        "?a <p:a> ?b MINUS { ?a <p:b> ?d FILTER(false) } FILTER EXISTS { ?c <p:b> ?d FILTER(?d = ?b) }",
        "?a <p:a> ?b FILTER(REGEX(?b, CONCAT('(a|b|', ?b, '){1,50}.*x{1,50}')))",
        "?a ?p ?b BIND(?b AS ?c) ?d ?q ?e BIND(?e AS ?f) FILTER(?c = ?f)",
        "{ ?a ?p ?b } { { ?c ?q ?d } { ?e ?r ?f } } FILTER(?b = ?d && ?d = ?f)",
        "?a ?p ?b OPTIONAL { ?c ?q ?d OPTIONAL { ?e ?r ?f FILTER(?d + ?f = 'x') } FILTER(?b + ?d = 'x') }",
        "?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(CONCAT(?b, ?d) = 'x')",
        "?a ?p ?b FILTER NOT EXISTS { ?c ?q ?d . ?e ?r ?f . ?g ?s ?h FILTER(CONCAT(?d, ?f, ?h) = ?b) }",
        "?a ?p ?b MINUS { ?c ?p ?d . ?e ?p ?f FILTER(?b = ?f) }",
    ];
    for pattern in patterns {
        let update = parse(&format!("DELETE {{ ?a <p:x> ?b }} WHERE {{ {pattern} }}")).unwrap();
        let start = Instant::now();
        let error = update.evaluate(&graph, &RdfLimits::default()).expect_err(pattern);
        assert!(matches!(error.kind, RdfErrorKind::TimedOut | RdfErrorKind::TooLarge), "{pattern}: {error}");
        assert!(start.elapsed() < Duration::from_secs(5), "{pattern}: {:?}", start.elapsed());
    }
}

#[test]
fn text_that_grows_is_refused_before_it_is_made() {
    let doublings: String =
        (0..40).map(|number| format!("BIND(CONCAT(?x{number}, ?x{number}) AS ?x{}) ", number + 1)).collect();
    let nested =
        (0..3).fold("?x0".to_owned(), |inner, _| format!("REPLACE({inner}, '', '{}')", "x".repeat(10_000)));
    let patterns = [
        format!("BIND('0123456789' AS ?x0) {doublings}"),
        format!("BIND('0123456789' AS ?x0) BIND({nested} AS ?x1)"),
        format!("BIND('{}' AS ?x0) BIND(CONCAT({}?x0) AS ?x1)", "x".repeat(30_000), "?x0, ".repeat(5_000)),
    ];
    for pattern in patterns {
        let update = parse(&format!("INSERT {{ <> <p:x> ?x0 }} WHERE {{ {pattern} }}")).unwrap();
        let start = Instant::now();
        let error = update.evaluate(&[], &RdfLimits::default()).unwrap_err();
        assert_eq!(error.kind, RdfErrorKind::TooLarge, "{error}");
        assert!(start.elapsed() < SOON);
    }
}

#[test]
fn an_update_that_would_take_the_parser_long_is_refused() {
    let nested = |open: &str, close: &str, count: usize| {
        format!(
            "DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o FILTER({}1{}) }}",
            open.repeat(count),
            close.repeat(count)
        )
    };
    let texts = [
        nested("(", ")", 100_000),
        nested("!(", ")", 30),
        nested("SUBSTR(", ",1)", 30),
        nested("REGEX(", ",1)", 30),
        nested("REPLACE(", ",1,1)", 30),
        nested("!SUBSTR(", ",1)", 8),
        nested("!<f:f>(", ")", 30),
        nested("! xsd:int(", ")", 30),
        nested("?a<((((((((((((((((((((((((((((((((((1>", "", 100),
        nested("EXISTS {", "}", 100_000),
        nested("1 + ", "", 10_000),
        nested("! ", "", 10_000),
        "DELETE WHERE { ".to_owned() + &"[ ?p ".repeat(100_000),
        "INSERT DATA { <> <p:p> ".to_owned() + &"( ".repeat(100_000),
        format!("DELETE {{ ?s ?p ?o }} WHERE {{ {} }}", "{} UNION ".repeat(10_000)),
        format!("DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o {} }}", "OPTIONAL { ?a ?b ?c } ".repeat(10_000)),
        format!("DELETE {{ ?s ?p ?o }} WHERE {{ ?s {} ?o }}", "<p:p>/".repeat(10_000)),
        format!("DELETE {{ ?s ?p ?o }} WHERE {{ {} }}", "?s ?p ?o . ".repeat(10_000)),
        format!(
            "DELETE {{ ?s ?p ?o }} WHERE {{ {} }}",
            (0..100).map(|at| format!("?s{at} ?p ?o . ")).collect::<String>()
        ),
    ];
    for text in texts {
        let start = Instant::now();
        let begin: String = text.chars().take(80).collect();
        let error =
            parse(&text).and_then(|update| update.evaluate(&[], &RdfLimits::default())).expect_err(&begin);
        assert_eq!(error.kind, RdfErrorKind::TooLarge, "{begin}: {error}");
        assert!(start.elapsed() < SOON, "{begin}: {:?}", start.elapsed());
    }
}

#[test]
fn an_apostrophe_that_hides_brackets_from_the_scan_is_refused() {
    let error = parse("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?a<'>'((((1')))) }").unwrap_err();
    assert!(error.text.contains("%27"), "{error}");
}

#[test]
fn the_deepest_update_that_is_parsed_fits_the_stack_of_a_thread() {
    let texts = [
        ("(", ")", 28),
        ("!(", ")", 5),
        ("SUBSTR(!(", "),1)", 3),
        ("EXISTS { ?s ?p ?o FILTER(", ") }", 14),
        ("1 + ", "", 200),
    ]
    .map(|(open, close, count)| {
        let inner = format!("{}1{}", open.repeat(count), close.repeat(count));
        format!("INSERT {{ ?s ?p 2 }} WHERE {{ ?s ?p ?o FILTER({inner}) }}")
    });
    for text in texts {
        // A failed parse tries every form.
        for text in [text.clone(), text.replace("1)", "1 nonsense)").replace("1 +", "1 *")] {
            let thread = std::thread::Builder::new().stack_size(2 << 20);
            let start = Instant::now();
            let run = move || {
                let _ = parse(&text).and_then(|update| update.evaluate(&large(4), &RdfLimits::default()));
            };
            thread.spawn(run).unwrap().join().expect("it has room");
            assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        }
    }
}

#[test]
fn the_widest_update_that_is_evaluated_fits_the_stack_of_a_thread() {
    let patterns = [
        "OPTIONAL { ?s ?p ?o } ".repeat(250),
        "?s ?p ?o . ".repeat(256),
        "{ ?s ?p ?o } ".repeat(250),
        "{ ?s ?p ?o } UNION ".repeat(200) + "{ }",
        "?s ?p ?o ".to_owned() + &"MINUS { ?s <p:c> ?o } ".repeat(200),
        "{ ?s ?p ?o OPTIONAL { ".repeat(14) + "?s ?p ?o" + &" } }".repeat(14),
        (0..60).map(|number| format!("BIND({number} AS ?x{number}) ")).collect::<String>(),
    ];
    for pattern in patterns {
        let update = parse(&format!("INSERT {{ <> <p:x> ?o }} WHERE {{ {pattern} }}"));
        let run = move || update.and_then(|update| update.evaluate(&large(1), &RdfLimits::default()));
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let found = thread.spawn(run).unwrap().join().expect("it has room");
        assert!(found.is_ok(), "{pattern}: {found:?}");
    }
    for pattern in ["?s ?p ?o . ".repeat(300), "{ ?s ?p ?o . ?s ?q ?o } ".repeat(200)] {
        let error = parse(&format!("INSERT {{ <> <p:x> ?o }} WHERE {{ {pattern} }}"))
            .and_then(|update| update.evaluate(&large(1), &RdfLimits::default()))
            .unwrap_err();
        assert_eq!(error.kind, RdfErrorKind::TooLarge, "{error}");
        assert!(error.text.contains("send several updates"), "{error}");
    }
}

#[test]
fn a_large_ground_update_is_parsed_in_a_moment() {
    let values: Vec<String> = (0..50_000).map(|number| format!("\"{number}\"")).collect();
    let update = parse(&format!("INSERT DATA {{ <> <p:p> {} }}", values.join(", "))).unwrap();
    assert_eq!(update.ground().unwrap().added.len(), 50_000);
}

#[test]
fn an_update_of_a_large_resource_reads_only_what_it_names() {
    let graph = large(200_000);
    let update =
        parse("DELETE { <> <p:a> ?o } INSERT { <> <p:c> ?o } WHERE { <> <p:a> ?o FILTER(?o = '0') }")
            .unwrap();
    let limits = RdfLimits { evaluation_time_max: SOON, ..RdfLimits::default() };
    let changes = update.evaluate(&graph, &limits).unwrap();
    assert_eq!((changes.removed.len(), changes.added.len()), (1, 1));
}
