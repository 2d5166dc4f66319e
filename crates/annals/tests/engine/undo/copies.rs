//! Changes of copies and of their past in this repository, and undo of a new id or home.

use crate::support::CheckedRepository;
use crate::support::copies::{copy_of, link_copy, stamp};
use crate::support::named::{entity, id};
use crate::support::typed::{commit, link, new, refused, then};
use annals::*;

fn found(snapshot: &Snapshot, find: &Find) -> Vec<String> {
    let page = snapshot.find_entities(find).unwrap();
    page.items.iter().map(|found| found.id().to_string()).collect()
}

/// Every version made here counted as one more at the home, so that the home's next copy looked older than what was here.
#[test]
fn what_is_done_here_to_a_copy_leaves_the_number_of_its_version_at_home() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 7)));
    commit(&repository, |t| t.create_entity(new("t", "own")));
    commit(&repository, |t| t.save_relationship_copy(link_copy("r", "own", "x", "there"), []));
    let at_home = |version: u64| {
        let snapshot = repository.snapshot();
        let copy = snapshot.entity(&id("x")).unwrap().unwrap();
        assert_eq!((copy.home_version(), u64::from(copy.latest_version())), (7, version));
    };
    let since = repository.snapshot().entity(&id("x")).unwrap().unwrap().valid_from();
    let mine = || ClassificationContent::new("mine").property("p", 1);
    let copied = || ClassificationCopy {
        name: "theirs".into(),
        properties: Vec::new(),
        provenance: Provenance::of_home("elsewhere"),
        version: 1,
        created: stamp("2020-01-01"),
        updated: stamp("2020-01-01"),
    };
    commit(&repository, |t| t.classify(&id("x"), mine()));
    at_home(2);
    commit(&repository, |t| t.reclassify(&id("x"), "mine", Patch::new().set("p", 2)));
    commit(&repository, |t| t.save_classification_copy(&id("x"), copied()));
    commit(&repository, |t| t.purge_classification_copy(&id("x"), "theirs", "elsewhere"));
    commit(&repository, |t| t.declassify(&id("x"), "mine"));
    at_home(6);
    // Of the past as well.
    commit(&repository, |t| {
        t.valid_from(Some(since));
        t.classify(&id("x"), mine())
    });
    at_home(7);
    for version in 1..=7 {
        let snapshot = repository.snapshot();
        assert_eq!(snapshot.entity_version(&id("x"), version).unwrap().unwrap().home_version(), 7);
    }
    // Deleted with an entity of ours, and restored with it.
    commit(&repository, |t| t.delete(&entity("own")));
    commit(&repository, |t| t.restore(&entity("own")));
    let snapshot = repository.snapshot();
    let link = snapshot.relationship(&id("r")).unwrap().unwrap();
    assert_eq!((link.home_version(), link.version()), (1, 3));
    // Versions of our own instances keep counting.
    commit(&repository, |t| t.rehome(&entity("x"), "there"));
    commit(&repository, |t| t.classify(&id("x"), mine()));
    assert_eq!(repository.snapshot().entity(&id("x")).unwrap().unwrap().home_version(), 9);
}

#[test]
fn undo_gives_the_id_and_the_home_back_and_checkpoints_know_it() {
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    commit(&repository, |t| {
        t.create_entity(new("t", "a"))?;
        t.save_entity_copy(copy_of("x", "there", 7))?;
        t.create_relationship(link("k", "r", "a", "x"))
    });
    commit(&repository, |t| {
        t.reidentify(&entity("a"), &id("b"))?;
        t.rehome(&entity("x"), "there")
    });
    commit(&repository, |t| {
        t.undo(&entity("b"))?;
        t.undo(&entity("x"))
    });
    let look = |snapshot: &Snapshot| {
        let homed = found(snapshot, &Find::parse("* where @home = there").unwrap());
        let named = ["a", "b"].map(|name| snapshot.entity(&id(name)).unwrap().is_some());
        let by_id = found(snapshot, &Find::parse("* where @id = a or @id = b order by @id").unwrap());
        let x = snapshot.entity(&id("x")).unwrap().unwrap().home_version();
        let from = snapshot.relationship(&id("r")).unwrap().unwrap().from().to_string();
        (homed, named, by_id, x, from)
    };
    let expected = |name: &str, is_there: bool| {
        let homed = if is_there { vec!["x".to_owned()] } else { vec![] };
        let home_version = if is_there { 7 } else { 8 };
        (homed, ["a", "b"].map(|known| known == name), vec![name.to_owned()], home_version, name.to_owned())
    };
    let check = |repository: &Repository| {
        for (position, name) in [(1, "a"), (2, "b"), (3, "a")] {
            assert_eq!(look(&then(repository, position)), expected(name, position != 2), "at {position}");
        }
        let verbs: Vec<_> = repository.snapshot().versions(&entity("b"), 0, 9).unwrap();
        assert_eq!(
            verbs.iter().map(|known| known.verb).collect::<Vec<_>>(),
            ["reidentify", "reidentify", "create"]
        );
    };
    check(&repository);
    repository.checkpoint().unwrap();
    drop(repository);
    let repository = CheckedRepository::open(folder.path());
    check(&repository);
    assert_eq!(refused(&repository, |t| t.create_entity(new("t", "b"))), ErrorKind::AlreadyExists);
    assert_eq!(refused(&repository, |t| t.undo(&entity("b"))), ErrorKind::Deleted);
    assert_eq!(refused(&repository, |t| t.update(&entity("x"), Patch::new())), ErrorKind::NotHome);
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 8)));
    commit(&repository, |t| t.purge(&entity("a")));
    commit(&repository, |t| {
        t.create_entity(new("t", "a"))?;
        t.create_entity(new("t", "b"))
    });
}

fn classification_copy(name: &str, home: &str) -> ClassificationCopy {
    ClassificationCopy {
        name: name.into(),
        properties: Vec::new(),
        provenance: Provenance::of_home(home),
        version: 1,
        created: stamp("2020-01-01"),
        updated: stamp("2020-01-01"),
    }
}

/// Corrections looked at the classifications of the present only: what another collection had attached in the past could be
/// taken off, and what it attached since kept properties of the past from being replaced.
#[test]
fn a_correction_leaves_alone_what_another_collection_had_attached() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.create_entity(new("t", "a")));
    commit(&repository, |t| t.save_classification_copy(&id("a"), classification_copy("theirs", "there")));
    let since = |version| {
        let snapshot = repository.snapshot();
        Some(snapshot.entity_version(&id("a"), version).unwrap().unwrap().valid_from())
    };
    let (first, second) = (since(1), since(2));
    commit(&repository, |t| {
        t.valid_from(first);
        t.replace(&entity("a"), vec![("p".into(), 1.into())])
    });
    commit(&repository, |t| t.purge_classification_copy(&id("a"), "theirs", "there"));
    for work in [
        (|t: &mut Transaction| t.declassify(&id("a"), "theirs")) as fn(&mut Transaction) -> Result<()>,
        |t| t.reclassify(&id("a"), "theirs", Patch::new().set("p", 1)),
        |t| t.classify(&id("a"), ClassificationContent::new("theirs").property("p", 1)),
    ] {
        let kind = refused(&repository, |t| {
            t.valid_from(second);
            work(t)
        });
        assert_eq!(kind, ErrorKind::NotHome);
    }
}

/// A correction under the id that its own transaction gives was not read before it was committed.
#[test]
fn a_correction_of_what_gets_another_id_at_once_is_checked() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.create_entity(new("t", "a").property("p", Value::List(Vec::new().into()))));
    commit(&repository, |t| t.update(&entity("a"), Patch::new().set("p", 1)));
    let since = repository.snapshot().entity_version(&id("a"), 1).unwrap().unwrap().valid_from();
    let add = || Patch::new().add("p", 2);
    let alone = refused(&repository, |t| t.valid_from(Some(since)).update(&entity("a"), add()));
    let before = refused(&repository, |t| {
        t.valid_from(Some(since)).update(&entity("a"), add())?;
        t.valid_from(None).reidentify(&entity("a"), &id("b"))
    });
    let after = refused(&repository, |t| {
        t.reidentify(&entity("a"), &id("b"))?;
        t.valid_from(Some(since)).update(&entity("b"), add())
    });
    assert_eq!([alone, before, after], [ErrorKind::InvalidArgument; 3]);
}

/// The creation that a later copy brought was shown for all versions but the last before it.
#[test]
fn each_version_tells_the_creation_that_was_known_then() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 1)));
    commit(&repository, |t| t.classify(&id("x"), ClassificationContent::new("mine")));
    let mut later = copy_of("x", "there", 2);
    later.header.created = stamp("2019-01-01");
    commit(&repository, |t| t.save_entity_copy(later.clone()));
    let snapshot = repository.snapshot();
    let created = |version| snapshot.entity_version(&id("x"), version).unwrap().unwrap().created().to_stamp();
    let (first, last) = (stamp("2020-01-01"), stamp("2019-01-01"));
    assert_eq!([1, 2, 3].map(created), [first.clone(), first, last]);
}

/// As of before, an order by creation goes by what was known then.
#[test]
fn an_order_by_creation_is_that_of_its_time() {
    let repository = CheckedRepository::in_memory();
    let created = |id: &str, date: &str| {
        let mut copy = copy_of(id, "there", if date < "2020" { 2 } else { 1 });
        copy.header.created = stamp(date);
        copy
    };
    commit(&repository, |t| t.save_entity_copy(created("x", "2020-03-01")));
    commit(&repository, |t| {
        t.save_entity_copy(created("y", "2020-01-01"))?;
        t.save_entity_copy(created("z", "2020-02-01"))
    });
    let position = repository.snapshot().position().0;
    commit(&repository, |t| t.save_entity_copy(created("x", "2019-01-01")));
    let ascending = Find::all().order_by_header(Header::CreatedAt, Order::Ascending);
    let descending = Find::all().order_by_header(Header::CreatedAt, Order::Descending);
    assert_eq!(found(&then(&repository, position), &ascending), ["y", "z", "x"]);
    assert_eq!(found(&then(&repository, position), &descending), ["x", "z", "y"]);
    assert_eq!(found(&repository.snapshot(), &ascending), ["x", "y", "z"]);
}

/// The whole content that goes with some changes held the provenance as it was given, not as it was kept.
#[test]
fn a_classification_with_a_provenance_can_be_read_back() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.name_collection("here"));
    commit(&repository, |t| t.create_entity(new("t", "a")));
    for number in 0..20 {
        let here = Provenance { home: Some("here".into()), ..Provenance::default() };
        let content =
            ClassificationContent { provenance: Some(here.into()), ..ClassificationContent::new("c") };
        commit(&repository, |t| t.classify(&id("a"), content.clone()));
        commit(&repository, |t| t.update(&entity("a"), Patch::new().set("n", number)));
        commit(&repository, |t| t.declassify(&id("a"), "c"));
    }
    let snapshot = repository.snapshot();
    for version in 1..=61 {
        let read = snapshot.entity_version(&id("a"), version).unwrap().unwrap();
        assert!(read.classifications().all(|known| known.provenance().is_none()), "version {version}");
    }
}
