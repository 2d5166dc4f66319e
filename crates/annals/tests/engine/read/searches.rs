//! Searches that once missed something.

use crate::support::copies::proxy;
use crate::support::named::new;
use crate::support::{self, CheckedRepository};
use annals::*;

fn found(snapshot: &Snapshot, text: &str) -> Vec<String> {
    let page = snapshot.find_entities(&Find::parse(text).unwrap()).unwrap();
    page.items.iter().map(|found| found.id().to_string()).collect()
}

/// A pattern that is one text, or the beginning of one, was looked for among the strings of an index alone.
#[test]
fn a_pattern_finds_iris_through_the_index() {
    let repository = CheckedRepository::in_memory();
    let iri = |text: &str| Value::Iri(text.into());
    let work = |t: &mut Transaction| {
        t.create_entity(new("a").property("p", iri("a:b")))?;
        t.create_entity(new("b").property("p", Value::set([iri("a:")])?))
    };
    repository.transact(work).unwrap();
    let snapshot = repository.snapshot();
    for (text, expected) in [
        ("t where p =~ 'a.*'", &["a", "b"][..]),
        ("t where p =~ '\\\\Qa:b\\\\E'", &["a"]),
        ("t where p =~ 'a:'", &["b"]),
    ] {
        assert_eq!(found(&snapshot, text), expected, "{text}");
    }
}

/// Proxies stood in the list of what belongs to a home, which a search by home took for what it finds.
#[test]
fn a_search_by_home_leaves_proxies_out_and_so_do_counts_of_the_past() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.push_action(Action::SaveProxy(Box::new(proxy("far", "there"))))).unwrap();
    let attached = ClassificationCopy {
        name: "c".into(),
        properties: Vec::new(),
        provenance: Provenance::of_home("there"),
        version: 1,
        created: support::copies::stamp("2020-01-01"),
        updated: support::copies::stamp("2020-01-01"),
    };
    let far = Id::new("far").unwrap();
    repository.transact(|t| t.save_classification_copy(&far, attached.clone())).unwrap();
    repository.transact(|t| t.create_entity(new("own"))).unwrap();
    let snapshot = repository.snapshot();
    assert_eq!(found(&snapshot, "* where @home = there"), Vec::<String>::new());
    assert_eq!(found(&snapshot, "* where @home = there proxies with"), ["far"]);
    let before = snapshot.as_of(AsOf { position: Some(Position(2)), ..AsOf::default() }).unwrap();
    assert_eq!(before.counts(TypeKind::Classification).unwrap(), []);
    let named = repository.transact(|t| t.name_collection("there")).unwrap_err();
    assert_eq!(named.kind(), ErrorKind::HomeConflict);
}

/// Of an instance with more values of the past than anybody asks one by one, each is found as of its time.
#[test]
fn each_of_many_values_is_found_as_of_its_time() {
    let repository = CheckedRepository::in_memory();
    let create = |t: &mut Transaction| {
        t.create_entity(new("old").property("n", 0).property("m", 0))?;
        t.create_entity(new("other").property("n", -1).property("m", 0))
    };
    repository.transact(create).unwrap();
    let old = InstanceId::Entity(Id::new("old").unwrap());
    for number in 1..50 {
        repository.transact(|t| t.update(&old, Patch::new().set("n", number))).unwrap();
    }
    let snapshot = repository.snapshot();
    for number in [0, 1, 16, 17, 18, 48, 49] {
        let then = AsOf { position: Some(Position(number + 1)), ..AsOf::default() };
        let then = snapshot.as_of(then).unwrap();
        for (text, expected) in [
            (format!("t where n = {number}"), 1),
            (format!("t where n >= {number} and m = 0"), 1),
            (format!("t where n > {number} and m = 0"), 0),
            (format!("t where m = 0 and n = {}", number + 1), 0),
        ] {
            let find = Find::parse(&text).unwrap();
            let pages = (0..).map_while(|plan| then.find_ids_by_plan(TypeKind::Entity, &find, plan).unwrap());
            let found: Vec<usize> = pages.map(|page| page.items.len()).collect();
            assert!(
                !found.is_empty() && found.iter().all(|found| *found == expected),
                "{number}: {text}: {found:?}"
            );
        }
    }
}
