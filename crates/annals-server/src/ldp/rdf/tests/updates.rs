//! The changes that updates make.

use oxrdf::Triple;

use super::super::update::Changes;
use super::super::{RdfFormat, RdfLimits, Update};
use super::canonical::are_isomorphic;
use super::{lines, parse, read, titled};

const DC: &str = "PREFIX dc: <http://purl.org/dc/elements/1.1/>\n";

/// Shape: the resource of most tests.
fn graph() -> Vec<Triple> {
    let document = "@prefix dc: <http://purl.org/dc/elements/1.1/> .\n\
        <> dc:title 'a', 'b' ; dc:relation <#r> ; <p:n> 1, 2, 10 . <#r> dc:title 'r' ; <p:n> 5 .";
    read(document, RdfFormat::Turtle).expect("Turtle")
}

fn evaluate(text: &str) -> Changes {
    let update = parse(&format!("{DC}{text}")).unwrap_or_else(|error| panic!("{text}: {error}"));
    update.evaluate(&graph(), &RdfLimits::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Shape: Turtle of what is removed, and of what is added.
fn assert_changes(text: &str, removed: &str, added: &str) {
    let changes = evaluate(text);
    let expected = |document: &str| {
        let prefix = "@prefix dc: <http://purl.org/dc/elements/1.1/> .\n";
        read(&format!("{prefix}{document}"), RdfFormat::Turtle).expect("Turtle")
    };
    assert!(
        are_isomorphic(&changes.removed, &expected(removed)),
        "{text}: removed {:#?}",
        lines(&changes.removed)
    );
    assert!(are_isomorphic(&changes.added, &expected(added)), "{text}: added {:#?}", lines(&changes.added));
}

#[test]
fn the_updates_of_the_scripts_are_ground() {
    let relation =
        parse(&format!("{DC}insert {{ <> dc:relation <http://example.org/uri/1> }} where {{ }}")).unwrap();
    let expected = "<http://localhost:8080/rest/1/a> <http://purl.org/dc/elements/1.1/relation> \
                    <http://example.org/uri/1>";
    assert!(relation.is_ground());
    assert_eq!(lines(&relation.ground().unwrap().added), [expected]);
    let title = parse(&format!("{DC}insert {{ <> dc:title \"this is object # 1\" }} where {{ }}")).unwrap();
    assert_eq!(title.ground(), Some(Changes { removed: vec![], added: vec![titled("this is object # 1")] }));
}

#[test]
fn an_update_of_data_is_ground_and_its_operations_apply_in_order() {
    let text = format!(
        "{DC}DELETE DATA {{ <> dc:title 'a' }} ; INSERT DATA {{ <> dc:title 'c', 'd' }} ; \
         DELETE {{ <> dc:title 'c' }} INSERT {{ <> dc:title 'a' }} WHERE {{ }} ;"
    );
    let changes = parse(&text).unwrap().ground().unwrap();
    assert_eq!(changes, Changes { removed: vec![titled("c")], added: vec![titled("d"), titled("a")] });
}

#[test]
fn an_update_with_variables_or_patterns_is_not_ground() {
    for text in [
        "INSERT { <> <p:p> ?x } WHERE { }",
        "DELETE { <> ?p 1 } WHERE { }",
        "INSERT { <> <p:p> 1 } WHERE { <> <p:q> 2 }",
        "DELETE WHERE { <> <p:q> 2 }",
        "INSERT { <> <p:p> ?x } WHERE { VALUES ?x { 1 } }",
        "INSERT DATA { <> <p:p> 1 } ; DELETE WHERE { <> <p:q> ?o }",
    ] {
        let update = parse(text).unwrap();
        assert!(!update.is_ground() && update.ground().is_none(), "{text}");
    }
    assert!(parse("").unwrap().is_ground(), "an empty update changes nothing");
}

#[test]
fn a_ground_update_gives_the_net_effect_when_the_graph_is_known() {
    assert_changes("INSERT DATA { <> dc:title 'a', 'c' }", "", "<> dc:title 'c' .");
    assert_changes("DELETE DATA { <> dc:title 'a', 'c' }", "<> dc:title 'a' .", "");
    assert_changes("DELETE DATA { <> dc:title 'a' } ; INSERT DATA { <> dc:title 'a' }", "", "");
    assert_changes("INSERT DATA { <> dc:title 'c' } ; DELETE DATA { <> dc:title 'c' }", "", "");
}

#[test]
fn one_operation_deletes_before_it_inserts() {
    let text = "DELETE { <> dc:title ?t } INSERT { <> dc:title 'a' } WHERE { <> dc:title ?t }";
    assert_changes(text, "<> dc:title 'b' .", "");
    assert_changes(
        "DELETE { <> dc:title 'z' } INSERT { <> dc:title 'z' } WHERE { }",
        "",
        "<> dc:title 'z' .",
    );
}

#[test]
fn a_later_operation_sees_the_earlier_ones() {
    let text = "INSERT DATA { <> dc:title 'c' } ; DELETE DATA { <> dc:title 'a' } ; \
                INSERT { <#copy> dc:title ?t } WHERE { <> dc:title ?t }";
    assert_changes(text, "<> dc:title 'a' .", "<> dc:title 'c' . <#copy> dc:title 'b', 'c' .");
    assert_changes(
        "DELETE WHERE { ?s dc:title ?t } ; INSERT { <> <p:left> ?t } WHERE { ?s dc:title ?t }",
        "<> dc:title 'a', 'b' . <#r> dc:title 'r' .",
        "",
    );
}

#[test]
fn delete_where_removes_what_matches() {
    assert_changes("DELETE WHERE { <> dc:title ?t }", "<> dc:title 'a', 'b' .", "");
    assert_changes(
        "DELETE WHERE { <> dc:relation ?r . ?r dc:title ?t }",
        "<> dc:relation <#r> . <#r> dc:title 'r' .",
        "",
    );
    assert_changes("DELETE WHERE { <> dc:title 'z' }", "", "");
    assert_changes("DELETE WHERE { ?x dc:relation ?x }", "", "");
}

#[test]
fn each_part_of_a_where_gives_its_solutions() {
    let cases = [
        ("?s <p:n> ?x FILTER(?x > 4)", "10, 5"),
        ("?s <p:n> ?x FILTER(?x > 4 && ?x != 10 || ?x = 1)", "1, 5"),
        ("?s <p:n> ?x FILTER(?x IN (1, 5, 7))", "1, 5"),
        ("?s <p:n> ?x FILTER(?x NOT IN (1, 5, 7))", "2, 10"),
        ("?s <p:n> ?x FILTER(!(?x < 4) && !bound(?y))", "5, 10"),
        ("<> <p:n> ?x OPTIONAL { <#r> <p:n> ?y FILTER(?y > ?x) } FILTER(!bound(?y))", "10"),
        ("<#r> <p:n> ?n OPTIONAL { <#r> dc:title ?x }", "'r'"),
        ("<#r> <p:n> ?n OPTIONAL { <#r> dc:relation ?x }", ""),
        ("{ <> dc:title ?x } UNION { <#r> <p:n> ?x }", "'a', 'b', 5"),
        ("?s <p:n> ?x MINUS { <> <p:n> ?x }", "5"),
        ("?s <p:n> ?x MINUS { <> dc:title ?y }", "1, 2, 5, 10"),
        ("VALUES ?x { 1 <#v> 'v'@en }", "1, <#v>, 'v'@en"),
        ("VALUES (?s ?x) { (<> 1) (UNDEF 2) } ?s dc:relation ?r", "1, 2"),
        ("<> <p:n> ?n BIND(?n + 1 AS ?x)", "2, 3, 11"),
        (
            "<> dc:title ?t BIND(CONCAT(UCASE(?t), '-', STR(<#x>)) AS ?x)",
            "'A-http://localhost:8080/rest/1/a#x', 'B-http://localhost:8080/rest/1/a#x'",
        ),
        ("<> dc:title ?t BIND(?t + 1 AS ?x)", ""),
        ("<> dc:title ?t BIND(IRI(CONCAT('#', ?t)) AS ?x)", "<#a>, <#b>"),
        ("<> dc:title ?t BIND(REPLACE(?t, '[a]', 'x$0') AS ?x)", "'xa', 'b'"),
        ("<> dc:title ?x FILTER REGEX(?x, '^A', 'i')", "'a'"),
        ("<> dc:title ?t BIND(IF(?t = 'a', 1, COALESCE(?nothing, 2)) AS ?x)", "1, 2"),
        ("VALUES ?n { 1.50 } BIND(COALESCE(?nothing, ?n, 1 + 1) AS ?x)", "1.50"),
        ("VALUES ?n { 1.50 } BIND(IF(true, IF(true, ?n, STR(?n)), 1) AS ?x)", "1.50"),
        ("<> dc:title ?t BIND(COALESCE(?t + 1, IF(?t = 'a', 1/0, UCASE(?t)), 7) AS ?x)", "7, 'B'"),
        ("<> dc:title ?x FILTER NOT EXISTS { <#r> dc:title ?x }", "'a', 'b'"),
        ("<> <p:n> ?x FILTER EXISTS { <> <p:n> ?x MINUS { <#r> dc:title ?t } }", "1, 2, 10"),
        ("<> <p:n> ?x FILTER EXISTS { <#r> <p:n> ?y FILTER(?y < ?x) }", "10"),
        ("<> <p:n> ?n BIND(xsd:string(?n) AS ?x)", "'1', '2', '10'"),
        ("[] dc:relation [ <p:n> ?x ]", "5"),
        ("<> dc:relation/<p:n> ?x", "5"),
        ("<> ^dc:relation ?x", ""),
        ("?s ?p ?x FILTER(isIRI(?x))", "<#r>"),
        ("?s ?p ?x FILTER(?x = 'r' || 1/0 = 1)", "'r'"),
        ("?s ?x ?o FILTER(sameTerm(?o, 'r'))", "dc:title"),
        ("<> dc:nothing ?x", ""),
    ];
    for (pattern, expected) in cases {
        let prefix = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ";
        let text = format!("{prefix}INSERT {{ <#x> <p:x> ?x }} WHERE {{ {pattern} }}");
        let added = if expected.is_empty() { String::new() } else { format!("<#x> <p:x> {expected} .") };
        assert_changes(&text, "", &added);
    }
}

#[test]
fn each_solution_gets_blank_nodes_of_its_own() {
    let text = "INSERT { <> <p:has> _:b . _:b <p:title> ?t } WHERE { <> dc:title ?t }";
    assert_changes(text, "", "<> <p:has> [ <p:title> 'a' ], [ <p:title> 'b' ] .");
    let update: Update = parse("INSERT DATA { <> <p:has> [ <p:title> 'a' ] }").unwrap();
    assert_ne!(update.ground(), update.ground(), "two requests never share a blank node");
}

#[test]
fn a_template_without_a_term_gives_no_triple() {
    assert_changes("INSERT { <> <p:x> ?nothing . ?t <p:x> 1 . <> ?t 1 } WHERE { <> dc:title ?t }", "", "");
}

#[test]
fn blank_nodes_of_the_graph_are_found_and_removed() {
    let graph = read("<> <p:has> [ <p:title> 'a' ], [ <p:title> 'b' ] .", RdfFormat::Turtle).unwrap();
    let update =
        parse("DELETE { <> <p:has> ?b . ?b ?p ?o } WHERE { <> <p:has> ?b . ?b <p:title> 'a' ; ?p ?o }")
            .unwrap();
    let changes = update.evaluate(&graph, &RdfLimits::default()).unwrap();
    assert_eq!(changes.removed.len(), 2, "{changes:#?}");
    assert!(changes.removed.iter().all(|triple| graph.contains(triple)));
}

#[test]
fn repetitions_in_the_graph_change_nothing() {
    let mut graph = graph();
    graph.extend(graph.clone());
    let update = parse(&format!("{DC}DELETE WHERE {{ <> dc:title ?t }}")).unwrap();
    let changes = update.evaluate(&graph, &RdfLimits::default()).unwrap();
    assert_eq!(changes.removed, [titled("a"), titled("b")]);
}
