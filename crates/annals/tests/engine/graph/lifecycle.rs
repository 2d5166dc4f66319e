//! Statuses, provenance, re-homing, new ids, types and ends, copies and proxies: what each does now and as of before.

use std::sync::Arc;

use crate::support::copies::{copy_of, link_copy, proxy, stamp};
use crate::support::named::{entity, id, relationship};
use crate::support::typed::{commit, link, new, refused, then};
use crate::support::{self, CheckedRepository};
use annals::*;

fn ids(page: Page<Entity<'_>>) -> Vec<String> {
    page.items.iter().map(|found| found.id().to_string()).collect()
}

fn found(snapshot: &Snapshot, find: &Find) -> Vec<String> {
    ids(snapshot.find_entities(find).unwrap())
}

fn neighbors(snapshot: &Snapshot, from: &str) -> Vec<String> {
    let found = snapshot.neighbors(&id(from), Direction::Out, None).unwrap();
    found.map(|neighbor| neighbor.unwrap().entity.id().to_string()).collect()
}

#[test]
fn an_instance_has_the_statuses_of_its_type_and_keeps_its_own_when_it_is_deleted() {
    let repository = CheckedRepository::in_memory();
    let term = TypeDefinition::entity("term").with_statuses(&["draft", "active", "approved"]);
    commit(&repository, |t| t.define_type(term.clone()));
    commit(&repository, |t| t.create_entity(new("term", "a")));
    commit(&repository, |t| t.set_status(&entity("a"), "approved"));
    commit(&repository, |t| t.delete(&entity("a")));
    let snapshot = repository.snapshot();
    let deleted = snapshot.entity_version(&id("a"), 3).unwrap().unwrap();
    assert_eq!((deleted.status_name(), deleted.status_on_delete()), ("deleted", Some("approved")));
    commit(&repository, |t| t.restore(&entity("a")));
    let names = |snapshot: &Snapshot| -> Vec<String> {
        let versions = snapshot.versions(&entity("a"), 0, 10).unwrap();
        versions.iter().rev().map(|known| known.status_name.to_string()).collect()
    };
    assert_eq!(names(&repository.snapshot()), ["draft", "approved", "deleted", "approved"]);
    assert_eq!(then(&repository, 2).entity(&id("a")).unwrap().unwrap().status_name(), "draft");
    commit(&repository, |t| t.create_entity(new("term", "b").status("active")));
    for status in ["retired", "Draft"] {
        assert_eq!(refused(&repository, |t| t.set_status(&entity("a"), status)), ErrorKind::StatusNotAllowed);
        let created = refused(&repository, |t| t.create_entity(new("term", "c").status(status)));
        assert_eq!(created, ErrorKind::StatusNotAllowed);
    }
    assert_eq!(refused(&repository, |t| t.set_status(&entity("a"), "deleted")), ErrorKind::StatusNotAllowed);
    commit(&repository, |t| t.set_status(&entity("a"), "draft"));
    commit(&repository, |t| t.undo(&entity("a")));
    assert_eq!(repository.snapshot().entity(&id("a")).unwrap().unwrap().status_name(), "approved");
    // Without a type any status will do.
    commit(&repository, |t| t.create_relationship(link("k", "r", "a", "b").status("proposed")));
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.relationship(&id("r")).unwrap().unwrap().status_name(), "proposed");
}

#[test]
fn a_new_id_takes_history_and_relationships_along_and_the_old_one_is_found_as_of_before() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| {
        t.create_entity(new("t", "hub").property("p", 1))?;
        t.create_entity(new("t", "other"))?;
        t.create_relationship(link("k", "r", "hub", "other"))
    });
    commit(&repository, |t| t.update(&entity("hub"), Patch::new().set("p", 2)));
    commit(&repository, |t| t.reidentify(&entity("hub"), &id("new")));
    commit(&repository, |t| t.update(&entity("new"), Patch::new().set("p", 3)));
    let snapshot = repository.snapshot();
    assert!(snapshot.entity(&id("hub")).unwrap().is_none());
    let now = snapshot.entity(&id("new")).unwrap().unwrap();
    assert_eq!((now.reidentified_from(), now.version()), (Some(&id("hub")), 4));
    assert_eq!(snapshot.relationship(&id("r")).unwrap().unwrap().from(), &id("new"));
    assert_eq!(neighbors(&snapshot, "new"), ["other"]);
    assert_eq!(snapshot.versions(&entity("new"), 0, 9).unwrap().len(), 4);
    assert_eq!(
        snapshot.versions(&entity("hub"), 0, 9).unwrap().len(),
        4,
        "the old id still leads to its history"
    );
    let before = then(&repository, 2);
    let old = before.entity(&id("hub")).unwrap().unwrap();
    assert_eq!((old.id(), old.property("p")), (&id("hub"), Some(2.into())));
    assert!(before.entity(&id("new")).unwrap().is_none());
    assert_eq!(before.relationship(&id("r")).unwrap().unwrap().from(), &id("hub"));
    assert_eq!(neighbors(&before, "hub"), ["other"]);
    assert_eq!(found(&before, &Find::of("t").matching("p", Operator::Equal, 2)), ["hub"]);
    assert_eq!(snapshot.entity_version(&id("new"), 1).unwrap().unwrap().id(), &id("hub"));
    assert_eq!(refused(&repository, |t| t.update(&entity("hub"), Patch::new())), ErrorKind::Deleted);
    assert_eq!(refused(&repository, |t| t.create_entity(new("t", "hub"))), ErrorKind::AlreadyExists);
    assert_eq!(
        refused(&repository, |t| t.reidentify(&entity("new"), &id("other"))),
        ErrorKind::AlreadyExists
    );
    assert_eq!(refused(&repository, |t| t.undo(&entity("gone"))), ErrorKind::NotFound);
    commit(&repository, |t| t.reidentify(&relationship("r"), &id("s")));
    assert!(repository.snapshot().relationship(&id("r")).unwrap().is_none());
    assert!(then(&repository, 4).relationship(&id("r")).unwrap().is_some());
    commit(&repository, |t| t.purge(&entity("new")));
    commit(&repository, |t| t.create_entity(new("t", "hub")));
    assert!(then(&repository, 2).entity(&id("hub")).unwrap().is_none());
}

#[test]
fn a_difference_tells_what_an_instance_is_called_is_and_leads_to() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| {
        for name in ["a", "b", "gone", "late"] {
            t.create_entity(new("t", name))?;
        }
        t.create_relationship(link("k", "r", "a", "b"))
    });
    commit(&repository, |t| t.set_status(&entity("a"), "draft"));
    commit(&repository, |t| t.reidentify(&entity("a"), &id("z")));
    commit(&repository, |t| t.retype(&entity("z"), "u"));
    commit(&repository, |t| t.relink(&id("r"), None, Some(&id("late"))));
    let license = Provenance { license: Some("CC0-1.0".into()), ..Provenance::default() };
    commit(&repository, |t| t.set_provenance(&entity("z"), license.clone()));
    commit(&repository, |t| t.reidentify(&entity("gone"), &id("lost")));
    commit(&repository, |t| t.delete(&entity("lost")));
    commit(&repository, |t| t.reidentify(&entity("z"), &id("y")));
    let snapshot = repository.snapshot();
    let names = |before: &str, after: &str| Some((before.into(), after.into()));
    let ids = |before: &str, after: &str| Some((id(before), id(after)));
    let whole = Difference {
        status: names("active", "draft"),
        id: ids("a", "y"),
        type_name: names("t", "u"),
        provenance: Some((Arc::default(), Arc::new(license))),
        ..Difference::default()
    };
    let moved = Difference { to: ids("b", "late"), ..Difference::default() };
    assert_eq!(
        snapshot.changes_between(Position(1), snapshot.position()).unwrap(),
        [
            // By the ids they have at the end; of what is gone, by the one it had at the beginning.
            InstanceChange::Changed(entity("y"), Box::new(whole.clone())),
            InstanceChange::Changed(relationship("r"), Box::new(moved.clone())),
            InstanceChange::Disappeared(entity("gone")),
        ]
    );
    // An end that was renamed is no other end.
    let renamed = Difference { id: ids("a", "z"), ..Difference::default() };
    assert_eq!(
        snapshot.changes_between(Position(2), Position(3)).unwrap(),
        [InstanceChange::Changed(entity("z"), Box::new(renamed.clone()))]
    );
    for name in ["a", "z", "y"] {
        assert_eq!(snapshot.difference(&entity(name), 1, 6).unwrap(), whole, "by the id {name}");
        assert_eq!(snapshot.difference(&entity(name), 2, 3).unwrap(), renamed, "by the id {name}");
    }
    assert_eq!(snapshot.difference(&relationship("r"), 1, 2).unwrap(), moved);
    let formers = snapshot.versions(&entity("y"), 0, 9).unwrap();
    let formers: Vec<_> = formers.into_iter().map(|version| version.former_id).collect();
    let (a, z) = (Some(id("a")), Some(id("z")));
    assert_eq!(formers, [None, z.clone(), z.clone(), z, a.clone(), a], "newest first");
    // A cascade of an entity that has another id now takes its relationships along.
    commit(&repository, |t| t.delete(&entity("y")));
    commit(&repository, |t| t.restore(&entity("y")));
    commit(&repository, |t| t.reidentify(&entity("y"), &id("x")));
    let gone = repository.snapshot().changes_between(Position(9), Position(10)).unwrap();
    assert_eq!(
        gone,
        [InstanceChange::Disappeared(relationship("r")), InstanceChange::Disappeared(entity("y"))]
    );
}

#[test]
fn a_difference_tells_whose_a_copy_is_and_when_a_whole_takes_the_place_of_its_proxy() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| {
        t.save_entity_copy(copy_of("x", "east", 1))?;
        t.save_relationship_copy(link_copy("r", "x", "a", "east"), vec![proxy("a", "east")])
    });
    commit(&repository, |t| t.save_entity_copy(copy_of("a", "east", 3)));
    commit(&repository, |t| t.rehome(&entity("a"), "east"));
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.difference(&entity("a"), 1, 2).unwrap().is_proxy, Some((true, false)));
    let whose = snapshot.difference(&entity("a"), 2, 3).unwrap().provenance;
    let (before, after) = whose.expect("it has another home");
    assert_eq!((before.home.as_deref(), after.home.as_deref()), (Some("east"), None));
    let versions = snapshot.versions(&entity("a"), 0, 9).unwrap();
    let told: Vec<_> = versions.iter().map(|known| (known.home.as_deref(), known.is_proxy)).collect();
    assert_eq!(told, [(None, false), (Some("east"), false), (Some("east"), true)], "newest first");
}

#[test]
fn another_type_is_checked_and_found_as_of_before_under_the_old_one() {
    let repository = CheckedRepository::in_memory();
    let size = AttributeDefinition::new("size", ValueType::Integer);
    commit(&repository, |t| {
        t.define_type(TypeDefinition::entity("asset"))?;
        t.define_type(TypeDefinition::entity("file").supertype("asset").attribute(size.clone()))?;
        t.define_type(TypeDefinition::entity("table").supertype("asset").closed())?;
        t.define_type(TypeDefinition::classification("old").applicable_to("file"))?;
        t.define_type(
            TypeDefinition::relationship("holds")
                .between(EndDefinition::many("file"), EndDefinition::many("asset")),
        )
    });
    commit(&repository, |t| {
        t.create_entity(new("file", "a").property("size", 1))?;
        t.create_entity(new("asset", "b"))?;
        t.create_relationship(link("holds", "r", "a", "b"))
    });
    assert_eq!(refused(&repository, |t| t.retype(&entity("a"), "table")), ErrorKind::InvalidProperty, "size");
    commit(&repository, |t| t.update(&entity("a"), Patch::new().unset("size")));
    assert_eq!(refused(&repository, |t| t.retype(&entity("a"), "table")), ErrorKind::InvalidEnds);
    assert_eq!(refused(&repository, |t| t.retype(&entity("a"), "undeclared")), ErrorKind::WrongType);
    commit(&repository, |t| t.delete(&relationship("r")));
    commit(&repository, |t| t.retype(&entity("a"), "table"));
    let (now, before) = (repository.snapshot(), then(&repository, 2));
    assert_eq!(now.entity(&id("a")).unwrap().unwrap().type_name(), "table");
    assert_eq!(before.entity(&id("a")).unwrap().unwrap().type_name(), "file");
    let of = |name: &str| [found(&now, &Find::of(name)), found(&before, &Find::of(name))];
    assert_eq!(of("file"), [vec![], vec!["a".to_owned()]]);
    assert_eq!(of("table"), [vec!["a".to_owned()], vec![]]);
    assert_eq!(of("asset").map(|found| found.len()), [2, 2], "below both types it is found once");
    let counts: Vec<_> = before.counts(TypeKind::Entity).unwrap();
    assert!(counts.contains(&("file".into(), 1)) && !counts.iter().any(|(name, _)| &**name == "table"));
    commit(&repository, |t| t.undo(&entity("a")));
    assert_eq!(repository.snapshot().entity(&id("a")).unwrap().unwrap().type_name(), "file");
    let expected = refused(&repository, |t| {
        t.expect_type(&entity("a"), "table")?;
        t.delete(&entity("a"))
    });
    assert_eq!(expected, ErrorKind::WrongType);
}

#[test]
fn a_relationship_moved_to_another_end_leads_as_of_before_to_the_old_one() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| {
        for text in ["a", "b", "c"] {
            t.create_entity(new("t", text))?;
        }
        t.create_relationship(link("k", "r", "a", "b"))
    });
    commit(&repository, |t| t.relink(&id("r"), None, Some(&id("c"))));
    commit(&repository, |t| t.relink(&id("r"), Some(&id("b")), None));
    let snapshot = repository.snapshot();
    let ends = |snapshot: &Snapshot| {
        let found = snapshot.relationship(&id("r")).unwrap().unwrap();
        (found.from().to_string(), found.to().to_string())
    };
    assert_eq!(ends(&snapshot), ("b".into(), "c".into()));
    assert_eq!((neighbors(&snapshot, "a"), neighbors(&snapshot, "b")), (vec![], vec!["c".to_owned()]));
    for (position, to) in [(1, "b"), (2, "c")] {
        let before = then(&repository, position);
        assert_eq!(ends(&before), ("a".into(), to.into()));
        assert_eq!((neighbors(&before, "a"), neighbors(&before, "b")), (vec![to.to_owned()], vec![]));
    }
    assert_eq!(refused(&repository, |t| t.relink(&id("r"), Some(&id("x")), None)), ErrorKind::MissingEnd);
    assert_eq!(refused(&repository, |t| t.relink(&id("r"), None, None)), ErrorKind::InvalidArgument);
    commit(&repository, |t| t.undo(&relationship("r")));
    assert_eq!(ends(&repository.snapshot()), ("a".into(), "c".into()));
    commit(&repository, |t| t.delete(&entity("a")));
    commit(&repository, |t| t.restore(&entity("a")));
    assert_eq!(ends(&repository.snapshot()), ("a".into(), "c".into()));
}

#[test]
fn a_copy_is_kept_as_it_is_there_and_written_by_its_home_only() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.name_collection("here"));
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 7)));
    let snapshot = repository.snapshot();
    let copy = snapshot.entity(&id("x")).unwrap().unwrap();
    assert_eq!((copy.home(), copy.home_version(), copy.version()), (Some("there"), 7, 1));
    assert_eq!(
        (copy.created().to_stamp(), copy.updated().to_stamp()),
        (stamp("2020-01-01"), stamp("2020-02-01"))
    );
    for work in [
        (|t: &mut Transaction| t.update(&entity("x"), Patch::new().set("a", 1)))
            as fn(&mut Transaction) -> Result<()>,
        |t| t.replace(&entity("x"), Vec::new()),
        |t| t.delete(&entity("x")),
        |t| t.purge(&entity("x")),
        |t| t.set_status(&entity("x"), "draft"),
        |t| t.retype(&entity("x"), "u"),
        |t| t.reidentify(&entity("x"), &id("y")),
    ] {
        assert_eq!(refused(&repository, work), ErrorKind::NotHome);
    }
    // Classifications have homes of their own.
    commit(&repository, |t| t.classify(&id("x"), ClassificationContent::new("mine")));
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 9)));
    let snapshot = repository.snapshot();
    let copy = snapshot.entity(&id("x")).unwrap().unwrap();
    assert_eq!((copy.home_version(), copy.property("version")), (9, Some(9.into())));
    assert!(copy.classification("mine").is_some(), "what was attached here stays");
    let first = then(&repository, 2);
    assert_eq!(first.entity(&id("x")).unwrap().unwrap().home_version(), 7);
    assert_eq!(
        refused(&repository, |t| t.save_entity_copy(copy_of("x", "elsewhere", 9))),
        ErrorKind::HomeConflict
    );
    assert_eq!(
        refused(&repository, |t| t.save_entity_copy(copy_of("y", "here", 1))),
        ErrorKind::HomeConflict
    );
    commit(&repository, |t| t.create_entity(new("t", "own")));
    assert_eq!(
        refused(&repository, |t| t.save_entity_copy(copy_of("own", "there", 1))),
        ErrorKind::HomeConflict
    );
    assert_eq!(refused(&repository, |t| t.purge_copy(&entity("own"), "there")), ErrorKind::HomeConflict);
    assert_eq!(refused(&repository, |t| t.rehome(&entity("own"), "there")), ErrorKind::HomeConflict);
    assert_eq!(refused(&repository, |t| t.name_collection("other")), ErrorKind::AlreadyExists);

    commit(&repository, |t| t.rehome(&entity("x"), "there"));
    commit(&repository, |t| t.update(&entity("x"), Patch::new().set("a", 1)));
    let snapshot = repository.snapshot();
    let own = snapshot.entity(&id("x")).unwrap().unwrap();
    assert_eq!((own.home(), own.home_version()), (None, 11), "its home's numbers go on");
    assert_eq!(first.entity(&id("x")).unwrap().unwrap().home(), Some("there"));
    commit(&repository, |t| t.save_entity_copy(copy_of("z", "there", 1)));
    assert_eq!(refused(&repository, |t| t.purge_copy(&entity("z"), "elsewhere")), ErrorKind::HomeConflict);
    commit(&repository, |t| t.purge_copy(&entity("z"), "there"));
    assert_eq!(repository.snapshot().versions(&entity("z"), 0, 1).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_proxy_is_an_end_and_a_summary_until_the_whole_entity_comes() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.create_entity(new("t", "own")));
    commit(&repository, |t| {
        t.save_relationship_copy(
            link_copy("r", "own", "far", "there"),
            [proxy("own", "there"), proxy("far", "there")],
        )
    });
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entity(&id("far")).unwrap_err().kind(), ErrorKind::ProxyOnly);
    let summary = snapshot.entity_summary(&id("far")).unwrap().unwrap();
    assert_eq!((summary.is_proxy(), summary.property("key")), (true, Some("far".into())));
    assert_eq!(found(&snapshot, &Find::all()), ["own"], "searches leave proxies out");
    for (text, expected) in [
        ("* proxies with", vec!["own", "far"]),
        ("* proxies with order by @id", vec!["far", "own"]),
        ("* where key = far proxies with", vec!["far"]),
        ("t where @home = there proxies with", vec!["far"]),
        ("t where classified c proxies with", vec![]),
        ("u proxies with", vec![]),
        ("* proxies without", vec!["own"]),
        ("* deleted only proxies with", vec![]),
    ] {
        let find = Find::parse(text).unwrap();
        assert_eq!(found(&snapshot, &find), expected, "{text}");
        assert_eq!(snapshot.count_entities(&find).unwrap(), expected.len() as u64, "{text}");
    }
    assert_eq!(snapshot.entities_count(), 1);
    assert_eq!(neighbors(&snapshot, "own"), ["far"]);
    assert_eq!(refused(&repository, |t| t.update(&entity("far"), Patch::new())), ErrorKind::NotHome);
    assert_eq!(refused(&repository, |t| t.rehome(&entity("far"), "there")), ErrorKind::ProxyOnly);
    commit(&repository, |t| t.classify(&id("far"), ClassificationContent::new("c")));
    let classified = |t: &mut Transaction| t.declassify(&id("far"), "c");
    assert_eq!(found(&repository.snapshot(), &Find::all().classified("c")), [] as [&str; 0]);
    commit(&repository, classified);
    commit(&repository, |t| t.save_entity_copy(copy_of("far", "there", 3)));
    assert_eq!(repository.snapshot().entities_count(), 2);
    let before = then(&repository, 4);
    let with = |find: Find| found(&before, &find.with_proxies());
    let is_key = Find::all().matching("key", Operator::Equal, "far");
    assert_eq!(with(is_key.clone()), ["far"], "as of then it is found as the proxy it was");
    assert_eq!(
        (with(Find::of("t").order_by("key")), found(&before, &is_key)),
        (vec!["far".into(), "own".into()], vec![])
    );
    assert_eq!(before.entity(&id("far")).unwrap_err().kind(), ErrorKind::ProxyOnly);
    assert_eq!((found(&before, &Find::all()), before.entities_count()), (vec!["own".to_owned()], 1));
    assert_eq!(found(&repository.snapshot(), &Find::of("t")).len(), 2);
    let missing =
        refused(&repository, |t| t.save_relationship_copy(link_copy("s", "own", "nowhere", "there"), []));
    assert_eq!(missing, ErrorKind::MissingEnd);
    commit(&repository, |t| t.purge_copy(&entity("far"), "there"));
    assert!(repository.snapshot().relationship(&id("r")).unwrap().is_none());
}

#[test]
fn a_classification_of_another_home_is_written_by_it_only() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.create_entity(new("t", "a")));
    let copy = |version: u32| ClassificationCopy {
        name: "c".into(),
        properties: vec![("v".into(), Value::from(i64::from(version)))],
        provenance: Provenance::of_home("there"),
        version,
        created: stamp("2020-01-01"),
        updated: stamp("2020-01-02"),
    };
    commit(&repository, |t| t.save_classification_copy(&id("a"), copy(4)));
    commit(&repository, |t| t.update(&entity("a"), Patch::new().set("p", 1)));
    commit(&repository, |t| t.save_classification_copy(&id("a"), copy(5)));
    let shown = |snapshot: &Snapshot| {
        let found = snapshot.entity(&id("a")).unwrap().unwrap();
        let known = found.classification("c").unwrap();
        let home = known.provenance().and_then(|provenance| provenance.home.as_deref()).map(str::to_owned);
        (known.version(), known.property("v"), home, known.updated().to_stamp())
    };
    let there = Some("there".to_owned());
    assert_eq!(shown(&repository.snapshot()), (5, Some(5.into()), there.clone(), stamp("2020-01-02")));
    assert_eq!(shown(&then(&repository, 3)), (4, Some(4.into()), there, stamp("2020-01-02")));
    let reclassify = |t: &mut Transaction| t.reclassify(&id("a"), "c", Patch::new().set("v", 0));
    assert_eq!(refused(&repository, reclassify), ErrorKind::NotHome);
    assert_eq!(refused(&repository, |t| t.declassify(&id("a"), "c")), ErrorKind::NotHome);
    let purge = |t: &mut Transaction, home: &str| t.purge_classification_copy(&id("a"), "c", home);
    assert_eq!(refused(&repository, |t| purge(t, "elsewhere")), ErrorKind::HomeConflict);
    assert_eq!(refused(&repository, |t| t.undo(&entity("a"))), ErrorKind::NotHome);
    commit(&repository, |t| purge(t, "there"));
    assert!(repository.snapshot().entity(&id("a")).unwrap().unwrap().classification("c").is_none());
    assert_eq!(refused(&repository, |t| purge(t, "there")), ErrorKind::NotFound);
    // Its history tells that this was not the repository's own: it cannot become that by a name.
    assert_eq!(refused(&repository, |t| t.name_collection("there")), ErrorKind::HomeConflict);
    commit(&repository, |t| t.name_collection("here"));
    assert_eq!(shown(&then(&repository, 3)).2, Some("there".to_owned()));
}

#[test]
fn provenance_is_kept_where_it_is_given() {
    let repository = CheckedRepository::in_memory();
    let given = Provenance {
        license: Some("CC0-1.0".into()),
        maintained_by: vec!["ada".into()],
        mappings: [("catalogue".into(), "17".into())].into(),
        effective_from: Some("2025-01-01".parse().unwrap()),
        ..Provenance::default()
    };
    commit(&repository, |t| t.create_entity(new("t", "a").from_provenance(given.clone())));
    commit(&repository, |t| t.update(&entity("a"), Patch::new().set("p", 1)));
    commit(&repository, |t| t.set_provenance(&entity("a"), Provenance::default()));
    assert_eq!(repository.snapshot().entity(&id("a")).unwrap().unwrap().provenance(), None);
    assert_eq!(then(&repository, 2).entity(&id("a")).unwrap().unwrap().provenance(), Some(&given));
    commit(&repository, |t| t.undo(&entity("a")));
    assert_eq!(repository.snapshot().entity(&id("a")).unwrap().unwrap().provenance(), Some(&given));
    let foreign = new("t", "b").from_provenance(Provenance::of_home("there"));
    assert_eq!(refused(&repository, |t| t.create_entity(foreign.clone())), ErrorKind::NotHome);
    let backwards = Provenance { effective_to: Some("2024-01-01".parse().unwrap()), ..given };
    assert_eq!(
        refused(&repository, |t| t.set_provenance(&entity("a"), backwards.clone())),
        ErrorKind::InvalidArgument
    );
}

/// Everything at once, in a folder: reopened from a checkpoint, compacted, and rebuilt from the log.
#[test]
fn headers_outlive_checkpoints_and_compactions() {
    let folder = tempfile::tempdir().unwrap();
    let open = || CheckedRepository::open(folder.path());
    let repository = open();
    commit(&repository, |t| {
        t.name_collection("here")?;
        t.create_entity(new("t", "a").status("draft").property("long", "x".repeat(3_000)))?;
        t.create_entity(new("t", "b"))?;
        t.create_relationship(link("k", "r", "a", "b"))?;
        t.save_entity_copy(copy_of("x", "there", 2))?;
        t.save_relationship_copy(link_copy("s", "x", "p", "there"), [proxy("p", "there")])
    });
    commit(&repository, |t| {
        t.retype(&entity("a"), "u")?;
        t.relink(&id("r"), Some(&id("b")), None)?;
        t.reidentify(&entity("b"), &id("c"))?;
        t.rehome(&entity("x"), "there")
    });
    commit(&repository, |t| t.purge(&entity("a")));
    let dumped = [1, 2, 3].map(|position| support::dump(&then(&repository, position)));
    repository.checkpoint().unwrap();
    drop(repository);
    let repository = open();
    assert_eq!([1, 2, 3].map(|position| support::dump(&then(&repository, position))), dumped);
    repository.compact().unwrap();
    assert_eq!([1, 2, 3].map(|position| support::dump(&then(&repository, position))), dumped);
    assert!(repository.snapshot().entity(&id("c")).unwrap().is_some());
    assert!(
        repository.snapshot().relationship(&id("r")).unwrap().is_none(),
        "it once led from what was purged"
    );
    drop(repository);
    let repository = open();
    assert_eq!(repository.snapshot().entity(&id("p")).unwrap_err().kind(), ErrorKind::ProxyOnly);
    assert_eq!(refused(&repository, |t| t.name_collection("other")), ErrorKind::AlreadyExists);
}

/// The copy holds what the transaction itself attached, of which nobody knows the instant before the commit.
#[test]
fn a_copy_keeps_what_its_transaction_attached_with_the_stamp_of_the_commit() {
    let repository = CheckedRepository::in_memory();
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 1)));
    let mut transaction = repository.transaction();
    transaction.classify(&id("x"), ClassificationContent::new("mine")).unwrap();
    transaction.save_entity_copy(copy_of("x", "there", 2)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let receipt = transaction.commit().unwrap();
    let snapshot = repository.snapshot();
    let copy = snapshot.entity(&id("x")).unwrap().unwrap();
    let mine = copy.classification("mine").unwrap();
    assert_eq!((mine.created().instant, mine.updated().instant), (receipt.instant, receipt.instant));
}

/// Story: a record attached a classification of ours, and the next one another, and saved a newer copy. The first
/// classification then had the stamp of the second record.
#[test]
fn a_copy_leaves_the_stamps_of_classifications_that_earlier_records_attached() {
    let repository = CheckedRepository::in_memory();
    let classify = |t: &mut Transaction, name: &str| t.classify(&id("x"), ClassificationContent::new(name));
    commit(&repository, |t| t.save_entity_copy(copy_of("x", "there", 7)));
    commit(&repository, |t| {
        t.author("ada");
        classify(t, "first")
    });
    commit(&repository, |t| {
        t.author("grace");
        classify(t, "second")?;
        t.reclassify(&id("x"), "second", Patch::new().set("n", 1))?;
        t.save_entity_copy(copy_of("x", "there", 9))
    });
    let snapshot = repository.snapshot();
    let copy = snapshot.entity(&id("x")).unwrap().unwrap();
    let authors = |name: &str| {
        let known = copy.classification(name).unwrap();
        (known.created().author.to_owned(), known.updated().author.to_owned())
    };
    assert_eq!(authors("first"), ("ada".into(), "ada".into()));
    assert_eq!(authors("second"), ("grace".into(), "grace".into()));
    commit(&repository, |t| {
        t.author("joan");
        t.reclassify(&id("x"), "second", Patch::new().set("n", 2))?;
        t.save_entity_copy(copy_of("x", "there", 10))
    });
    let snapshot = repository.snapshot();
    let copy = snapshot.entity(&id("x")).unwrap().unwrap();
    let known = copy.classification("second").unwrap();
    assert_eq!((known.created().author, known.updated().author), ("grace", "joan"));
    assert_eq!(known.updated().instant, snapshot.instant_of(snapshot.position()).unwrap());
}
