//! Compares sets of triples up to the names of their blank nodes.

use oxrdf::Triple;
use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::graph::Graph;

/// True if renaming blank nodes makes the sets equal. The time grows fast with blank nodes that look alike.
pub(super) fn are_isomorphic(left: &[Triple], right: &[Triple]) -> bool {
    let canonical = |triples: &[Triple]| {
        let mut graph: Graph = triples.iter().collect();
        graph.canonicalize(CanonicalizationAlgorithm::Unstable);
        graph
    };
    canonical(left) == canonical(right)
}

#[test]
fn sets_that_differ_in_names_of_blank_nodes_are_isomorphic_and_others_are_not() {
    let read = |text: &str| super::read(text, super::RdfFormat::Turtle).expect("Turtle");
    let left = read("_:a <p:p> _:b . _:b <p:p> \"x\" .");
    assert!(are_isomorphic(&left, &read("_:b <p:p> _:a . _:a <p:p> \"x\" .")));
    assert!(!are_isomorphic(&left, &read("_:a <p:p> _:b . _:a <p:p> \"x\" .")));
}
