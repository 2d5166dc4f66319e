//! Compares two graphs whose blank nodes may have other labels.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use oxrdf::{NamedOrBlankNode, Term, Triple};

/// Graphs with more blank nodes are taken as different. The comparison costs at most their number squared.
const BLANKS_MAX: usize = 1_000;

/// True if the graphs are the same but for the labels of their blank nodes. It may be false for equal graphs with blank
/// nodes that cannot be told apart, never true for different ones.
pub fn is_same(a: &[Triple], b: &[Triple]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match (named(a), named(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// The triples with a name for each blank node that depends only on what the graph says about it. `None` if two blank
/// nodes would get the same name.
fn named(triples: &[Triple]) -> Option<BTreeSet<String>> {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for triple in triples {
        if let NamedOrBlankNode::BlankNode(node) = &triple.subject {
            names.insert(node.as_str(), 0);
        }
        if let Term::BlankNode(node) = &triple.object {
            names.insert(node.as_str(), 0);
        }
    }
    if names.len() > BLANKS_MAX {
        return None;
    }
    let mut distinct = usize::from(!names.is_empty());
    // Each round looks one triple further. A round that tells no more nodes apart is the last.
    while distinct < names.len() {
        names = refined(triples, &names);
        let now = names.values().collect::<BTreeSet<_>>().len();
        if now <= distinct {
            return None;
        }
        distinct = now;
    }
    Some(triples.iter().map(|triple| text(triple, &names)).collect())
}

fn refined<'t>(triples: &'t [Triple], names: &BTreeMap<&'t str, u64>) -> BTreeMap<&'t str, u64> {
    let mut around: HashMap<&str, Vec<u64>> = HashMap::new();
    for triple in triples {
        let (subject, object) = ends(triple, names);
        if let NamedOrBlankNode::BlankNode(node) = &triple.subject {
            around.entry(node.as_str()).or_default().push(sum(&("out", triple.predicate.as_str(), &object)));
        }
        if let Term::BlankNode(node) = &triple.object {
            around.entry(node.as_str()).or_default().push(sum(&("in", triple.predicate.as_str(), &subject)));
        }
    }
    let name = |(label, name): (&&'t str, &u64)| {
        let mut around = around.remove(*label).unwrap_or_default();
        around.sort_unstable();
        (*label, sum(&(name, around)))
    };
    names.iter().map(name).collect()
}

fn ends(triple: &Triple, names: &BTreeMap<&str, u64>) -> (String, String) {
    let blank = |label: &str| format!("_:{:016x}", names.get(label).copied().unwrap_or_default());
    let subject = match &triple.subject {
        NamedOrBlankNode::BlankNode(node) => blank(node.as_str()),
        subject => subject.to_string(),
    };
    let object = match &triple.object {
        Term::BlankNode(node) => blank(node.as_str()),
        object => object.to_string(),
    };
    (subject, object)
}

fn text(triple: &Triple, names: &BTreeMap<&str, u64>) -> String {
    let (subject, object) = ends(triple, names);
    format!("{subject} {} {object}", triple.predicate)
}

fn sum(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use annals_server::rdf::{RdfFormat, RdfLimits, read};

    use super::*;

    fn graph(turtle: &str) -> Vec<Triple> {
        read(turtle.as_bytes(), RdfFormat::Turtle, "http://a/", &RdfLimits::default()).unwrap()
    }

    #[test]
    fn labels_of_blank_nodes_do_not_matter_and_everything_else_does() {
        let one = graph("<x> <p> [ <q> 1 ; <r> [ <q> 2 ] ] , [ <q> 1 ] .");
        let same = graph("<x> <p> _:a , _:b . _:b <r> _:c ; <q> 1 . _:c <q> 2 . _:a <q> 1 .");
        let other = graph("<x> <p> _:a , _:b . _:b <r> _:c ; <q> 1 . _:c <q> 3 . _:a <q> 1 .");
        let crossed = graph("<x> <p> _:a , _:b . _:b <r> _:a ; <q> 1 . _:c <q> 2 . _:a <q> 1 .");
        assert!(is_same(&one, &same));
        assert!(!is_same(&one, &other));
        assert!(!is_same(&one, &crossed));
        assert!(is_same(&graph("<x> <p> 1 ."), &graph("<x> <p> 1 .")));
        assert!(!is_same(&graph("<x> <p> 1 ."), &graph("<x> <p> \"1\" .")));
        // Twins: they could be told apart only by trying.
        assert!(!is_same(&graph("<x> <p> [] , [] ."), &graph("<x> <p> [] , [] .")));
    }
}
