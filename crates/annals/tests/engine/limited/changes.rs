//! Writers with grants change what the grants admit, and find out nothing about the rest.

use std::sync::Arc;

use annals::*;

use crate::support::access::limited;
use crate::support::named::{entity, id, relationship as link};
use crate::support::{Random, seeds};

fn page(name: &str, team: &str) -> NewEntity {
    NewEntity::new("page").id(name).unwrap().property("team", team)
}

fn grant(entities: &str, rights: &[Right]) -> (Grant, Vec<Right>) {
    (Grant { entities: entities.parse().unwrap(), ..Grant::default() }, rights.to_vec())
}

/// Reads pages that are not secret, and writes those of the team `own`.
fn rights() -> Arc<Rights> {
    let own = grant("page where team = own", &Right::ALL);
    Arc::new(Rights::new(&[grant("page where not classified secret", &[]), own]).unwrap())
}

/// Pages `own`, `other` and `hidden`, and relationships of each with the next.
fn repository() -> Repository {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(page("own", "own"))?;
            t.create_entity(page("other", "other"))?;
            t.create_entity(page("hidden", "other"))?;
            t.classify(&id("hidden"), ClassificationContent::new("secret"))?;
            t.create_relationship(NewRelationship::new("knows", id("own"), id("other")).id("near")?)?;
            t.create_relationship(NewRelationship::new("knows", id("other"), id("hidden")).id("far")?)
        })
        .unwrap();
    repository
}

fn kind<T: std::fmt::Debug>(outcome: Result<T>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

#[test]
fn a_writer_changes_what_its_grants_admit_before_and_after() {
    let (repository, rights) = (repository(), rights());
    let update = |name: &str, team: &str| {
        let patch = Patch::new().set("team", team);
        limited(&repository, &rights, |t| t.update(&entity(name), patch.clone()))
    };
    let note = Patch::new().set("note", 1);
    limited(&repository, &rights, |t| t.update(&entity("own"), note.clone())).unwrap();
    assert_eq!(
        kind(limited(&repository, &rights, |t| t.update(&entity("other"), note.clone()))),
        ErrorKind::Refused
    );
    assert_eq!(kind(update("own", "other")), ErrorKind::Refused, "it would give the page away");
    assert_eq!(kind(update("other", "own")), ErrorKind::Refused, "it would take the page");
    let create = |team: &str| limited(&repository, &rights, |t| t.create_entity(page("new", team)));
    assert_eq!(kind(create("other")), ErrorKind::Refused);
    create("own").unwrap();
    assert_eq!(kind(limited(&repository, &rights, |t| t.delete(&entity("other")))), ErrorKind::Refused);
    limited(&repository, &rights, |t| t.delete(&entity("new"))).unwrap();
    limited(&repository, &rights, |t| t.restore(&entity("new"))).unwrap();
    let secret = || ClassificationContent::new("open");
    limited(&repository, &rights, |t| t.classify(&id("own"), secret())).unwrap();
    assert_eq!(
        kind(limited(&repository, &rights, |t| t.classify(&id("other"), secret()))),
        ErrorKind::Refused
    );
}

#[test]
fn each_kind_of_change_needs_its_right() {
    for (number, right) in Right::ALL.into_iter().enumerate() {
        let repository = repository();
        let all: Vec<Right> = Right::ALL.into_iter().filter(|one| *one != right).collect();
        let rights = Arc::new(Rights::new(&[grant("page", &all)]).unwrap());
        repository.transact(|t| t.create_entity(page("gone", "own"))).unwrap();
        repository.transact(|t| t.delete(&entity("gone"))).unwrap();
        let outcomes = [
            limited(&repository, &rights, |t| t.create_entity(page("new", "own"))).map(drop),
            limited(&repository, &rights, |t| t.update(&entity("own"), Patch::new().set("n", 1))).map(drop),
            limited(&repository, &rights, |t| t.delete(&link("near"))).map(drop),
            limited(&repository, &rights, |t| t.classify(&id("own"), ClassificationContent::new("open")))
                .map(drop),
        ];
        for (at, outcome) in outcomes.into_iter().enumerate() {
            match at == number {
                true => assert_eq!(kind(outcome), ErrorKind::Refused, "{}", right.name()),
                false => outcome.unwrap(),
            }
        }
        let restored = limited(&repository, &rights, |t| t.restore(&entity("gone")));
        assert_eq!(restored.is_err(), right == Right::Create);
        let status = limited(&repository, &rights, |t| t.set_status(&entity("own"), "draft"));
        assert_eq!(status.is_err(), right == Right::Update);
    }
}

/// The same requests for something hidden and for something that is not there end alike.
#[test]
fn hidden_instances_are_refused_as_absent_ones() {
    let (repository, rights) = (repository(), rights());
    let told = |name: &str, relationship: &str, number: usize| {
        let (named, related) = (entity(name), link(relationship));
        let outcome = limited(&repository, &rights, |t| match number {
            0 => t.update(&named, Patch::new().set("team", "own")),
            1 => t.replace(&named, vec![("team".into(), "own".into())]),
            2 => t.delete(&named),
            3 => t.restore(&named),
            4 => t.classify(named.id(), ClassificationContent::new("open")),
            5 => t.declassify(named.id(), "secret"),
            6 => t.undo(&named),
            7 => t.undo_content(&named),
            8 => t.reidentify(&named, &id("free")),
            9 => t.set_status(&named, "draft"),
            10 => {
                t.create_relationship(NewRelationship::new("knows", id("own"), named.id().clone())).map(drop)
            }
            11 => {
                t.create_relationship(NewRelationship::new("knows", named.id().clone(), id("own"))).map(drop)
            }
            12 => t.relink(&id("near"), None, Some(named.id())),
            13 => t.update(&related, Patch::new().set("w", 2)),
            14 => t.delete(&related),
            15 => t.relink(related.id(), None, Some(&id("own"))),
            16 => t.expect_version(&named, 7),
            17 => t.retype(&named, "book"),
            _ => t.restore_alone(named.id()),
        });
        let error = outcome.unwrap_err();
        let text = error.to_string().replace(name, "NAME").replace(relationship, "NAME");
        (error.kind(), text, format!("{:?}", error.context()))
    };
    for number in 0..19 {
        assert_eq!(told("hidden", "far", number), told("absent", "away", number), "{number}");
    }
}

#[test]
fn what_belongs_to_others_is_not_taken_along() {
    let (repository, rights) = (repository(), rights());
    repository
        .transact(|t| {
            let inside = NewRelationship::new("contains", id("own"), id("hidden"));
            t.create_relationship(inside.property("name", "x"))
        })
        .unwrap();
    let refused = limited(&repository, &rights, |t| t.delete(&entity("own"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(!refused.to_string().contains("hidden"), "{refused}");
    assert!(repository.snapshot().entity(&id("hidden")).unwrap().is_some());
}

/// A refused restoration named the hidden relationship that would have come back.
#[test]
fn a_refused_restoration_names_nothing_that_is_hidden() {
    let repository = repository();
    let refused = |verbs: &[Right]| {
        let rights = Arc::new(Rights::new(&[grant("page where not classified secret", verbs)]).unwrap());
        limited(&repository, &rights, |t| t.restore(&entity("other"))).unwrap_err().to_string()
    };
    repository.transact(|t| t.delete(&entity("other"))).unwrap();
    assert!(!refused(&Right::ALL).contains("far"), "{}", refused(&Right::ALL));
    // A writer that may not restore anything is refused as if nothing hidden came along; a reader is refused before.
    let refused_writer = refused(&[Right::Delete]);
    assert!(refused_writer.contains("relationship near"), "{refused_writer}");
    assert_eq!(refused(&[]), "change: expected a grant to change something, found none; ask for one");
}

#[test]
fn only_the_container_lets_something_in() {
    let (repository, rights) = (repository(), rights());
    let put = |from: &str, to: &str| {
        let new = NewRelationship::new("contains", id(from), id(to)).property("name", "x");
        limited(&repository, &rights, |t| t.create_relationship(new.clone()))
    };
    assert_eq!(kind(put("other", "own")), ErrorKind::Refused);
    assert_eq!(kind(put("own", "other")), ErrorKind::Refused, "it would take the page");
    limited(&repository, &rights, |t| t.create_entity(page("second", "own"))).unwrap();
    put("own", "second").unwrap();
    let under = Grant { under: Some(id("own")), ..Grant::default() };
    let rights = Arc::new(Rights::new(&[(under, Right::ALL.to_vec())]).unwrap());
    let new = |parent: &str, name: &str| {
        let (parent, name) = (id(parent), name.to_owned());
        limited(&repository, &rights, move |t| {
            t.create_entity(page(&name, "any"))?;
            let inside = NewRelationship::new("contains", parent.clone(), id(&name));
            t.create_relationship(inside.property("name", name.as_str()))
        })
    };
    new("own", "a").unwrap();
    new("a", "b").unwrap();
    assert_eq!(kind(new("hidden", "c")), ErrorKind::MissingEnd);
    assert_eq!(
        kind(limited(&repository, &rights, |t| t.create_entity(page("d", "any")))),
        ErrorKind::Refused
    );
    // It sees in its own reads what it has just put there.
    limited(&repository, &rights, |t| {
        t.create_entity(page("e", "any"))?;
        let inside = NewRelationship::new("contains", id("b"), id("e")).property("name", "e");
        t.create_relationship(inside)?;
        assert!(t.view()?.entity(&id("e"))?.is_some());
        assert!(t.view()?.entity(&id("hidden"))?.is_none());
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_limited_transaction_takes_no_other_changes() {
    let (repository, rights) = (repository(), rights());
    let refused = |work: &dyn Fn(&mut Transaction) -> Result<()>| {
        assert_eq!(kind(limited(&repository, &rights, work)), ErrorKind::Refused);
    };
    refused(&|t| t.purge(&entity("own")));
    refused(&|t| t.define_type(TypeDefinition::entity("new")).map(drop));
    refused(&|t| t.take_back(Position(1)));
    refused(&|t| {
        t.valid_from(Some("2000-01-01".parse()?)).tree().set(&crate::support::trees::path("/a/b"), 1)
    });
    refused(&|t| t.create_entity(NewEntity::new("annals.Grant").id("g")?).map(drop));
}

/// Random changes of a limited writer never change anything but what a sight of each right admits before and after.
/// Grants admit what is in force before and after; nobody would check a version of another time.
#[test]
fn a_limited_writer_writes_no_version_of_another_time() {
    let repository = repository();
    repository
        .transact(|t| {
            t.valid_from(Some("1990-01-01".parse()?));
            t.create_entity(page("early", "own"))
        })
        .unwrap();
    repository.transact(|t| t.update(&entity("early"), Patch::new().set("n", 1))).unwrap();
    for from in ["2000-01-01", "2300-01-01"] {
        let correct = |t: &mut Transaction| {
            t.valid_from(Some(from.parse()?));
            t.update(&entity("early"), Patch::new().set("team", "other"))
        };
        assert_eq!(kind(limited(&repository, &rights(), correct)), ErrorKind::Refused, "{from}");
    }
}

#[test]
fn whatever_a_limited_writer_tries_the_rest_stays() {
    let seeds = seeds("ANNALS_SIGHT_SEED", 12);
    let histories = seeds.clone().count();
    let mut accepted = 0;
    for seed in seeds {
        let (mut random, repository, rights) = (Random(seed), repository(), rights());
        let own = Arc::new(Sight::new(vec![grant("page where team = own", &[]).0]).unwrap());
        for number in 0..60 {
            let names = ["own", "other", "hidden", "p0", "p1", "p2"];
            let (a, b) = (*random.choose(&names), *random.choose(&names));
            let (team, what) = (*random.choose(&["own", "own", "other"]), random.below(9));
            let is_limited = random.below(4) > 0;
            let mut work = |t: &mut Transaction| match what {
                0 => t.create_entity(page(a, team)).map(drop),
                1 => t.update(&entity(a), Patch::new().set("team", team)),
                2 => t.update(&entity(a), Patch::new().set("n", number)),
                3 => t.delete(&entity(a)),
                4 => t.restore(&entity(a)),
                5 => t.classify(&id(a), ClassificationContent::new("secret")),
                6 => t.declassify(&id(a), "secret"),
                7 => t.create_relationship(NewRelationship::new("knows", id(a), id(b))).map(drop),
                _ => {
                    let inside = NewRelationship::new("contains", id(a), id(b));
                    t.create_relationship(inside.property("name", format!("n{number}"))).map(drop)
                }
            };
            if !is_limited {
                drop(repository.transact(&mut work));
                continue;
            }
            let before = repository.snapshot();
            let Ok((_, receipt)) = limited(&repository, &rights, work) else { continue };
            accepted += 1;
            let after = repository.snapshot();
            let (saw, sees) = (before.seen_by(&own).unwrap(), after.seen_by(&own).unwrap());
            for name in names {
                let [was, is] = [&before, &after].map(|snapshot| snapshot.revision(&entity(name)));
                if was == is {
                    continue;
                }
                let what = format!("seed {seed}, step {number}, {name} at {}", receipt.position);
                let admitted = |seen: &Snapshot| seen.entity(&id(name)).unwrap().is_some();
                let (was_live, is_live) =
                    (before.entity(&id(name)).unwrap().is_some(), after.entity(&id(name)).unwrap().is_some());
                assert!(!was_live || admitted(&saw), "{what}: it was not its own");
                assert!(!is_live || admitted(&sees), "{what}: it is not its own");
            }
        }
    }
    assert!(accepted > histories, "{accepted} of {histories} histories");
}

#[test]
fn two_kinds_of_changes_in_one_transaction_need_both_rights() {
    let repository = repository();
    let rights = Arc::new(Rights::new(&[grant("page", &[Right::Classify])]).unwrap());
    let both = limited(&repository, &rights, |t| {
        t.classify(&id("own"), ClassificationContent::new("open"))?;
        t.update(&entity("own"), Patch::new().set("n", 1))
    });
    assert_eq!(kind(both), ErrorKind::Refused);
}

#[test]
fn relationships_of_others_stay_as_they_are() {
    let (repository, rights) = (repository(), rights());
    repository
        .transact(|t| {
            t.create_entity(page("third", "other"))?;
            t.create_relationship(NewRelationship::new("knows", id("other"), id("third")).id("theirs")?)
        })
        .unwrap();
    let update =
        |name: &str| limited(&repository, &rights, |t| t.update(&link(name), Patch::new().set("w", 1)));
    update("near").unwrap();
    assert_eq!(kind(update("theirs")), ErrorKind::Refused);
    let take = limited(&repository, &rights, |t| t.relink(&id("theirs"), Some(&id("own")), None));
    assert_eq!(kind(take), ErrorKind::Refused, "it was theirs");
    let give = limited(&repository, &rights, |t| t.relink(&id("near"), Some(&id("third")), None));
    assert_eq!(kind(give), ErrorKind::Refused, "it would be theirs");
    // A hidden relationship goes along.
    repository
        .transact(|t| t.create_relationship(NewRelationship::new("knows", id("hidden"), id("own"))))
        .unwrap();
    let refused = limited(&repository, &rights, |t| t.delete(&entity("own"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(!refused.to_string().contains("hidden"), "{refused}");
}

/// Others put something into a container between the check and the commit of its deletion.
#[test]
fn nothing_goes_along_that_came_after_the_check() {
    let (repository, rights) = (repository(), rights());
    let mut transaction = repository.transaction();
    transaction.limit_to(&rights).unwrap();
    transaction.delete(&entity("own")).unwrap();
    repository
        .transact(|t| {
            let inside = NewRelationship::new("contains", id("own"), id("hidden"));
            t.create_relationship(inside.property("name", "x"))
        })
        .unwrap();
    assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::Conflict);
    assert!(repository.snapshot().entity(&id("hidden")).unwrap().is_some());
}

/// A page was secret, and an admin replaced its text with a clean one. An undo of the content brought the secret text back,
/// without the classification that hid it.
#[test]
fn an_undo_brings_nothing_back_that_is_hidden() {
    let repository = repository();
    let rights = Arc::new(Rights::new(&[grant("page where not classified secret", &Right::ALL)]).unwrap());
    let replaced = |name: &str, text: &str, classifications: Vec<ClassificationContent>| action::Replace {
        instance: entity(name),
        properties: vec![("team".into(), "own".into()), ("text".into(), text.into())],
        classifications: Some(classifications),
        provenance: None,
    };
    repository
        .transact(|t| {
            let secret = vec![ClassificationContent::new("secret")];
            t.create_entity(NewEntity {
                classifications: secret,
                ..page("a", "own").property("text", "hidden")
            })?;
            t.create_entity(page("b", "own").property("text", "seen"))
        })
        .unwrap();
    for name in ["a", "b"] {
        repository.transact(|t| t.push_action(replaced(name, "clean", Vec::new()))).unwrap();
    }
    let undo = |name: &str| limited(&repository, &rights, |t| t.undo_content(&entity(name)));
    assert_eq!(undo("a").map_err(|error| error.kind()).map(drop), Err(ErrorKind::InvalidArgument));
    assert_eq!(kind(limited(&repository, &rights, |t| t.undo(&entity("a")))), ErrorKind::InvalidArgument);
    undo("b").unwrap();
    // Nor does it tell of a hidden instance.
    assert_eq!(kind(undo("hidden")), ErrorKind::NotFound);
}

#[test]
fn an_upsert_tells_nothing_of_a_hidden_entity() {
    let (repository, rights) = (repository(), rights());
    let put = |type_name: &str| {
        let new = NewEntity::new(type_name).id("hidden").unwrap().property("team", "own");
        limited(&repository, &rights, |t| t.upsert_entity(new.clone())).unwrap_err()
    };
    assert_eq!(put("page").kind(), ErrorKind::AlreadyExists);
    assert_eq!(put("other").to_string(), put("page").to_string());
    let put = |from: &str| {
        let new = NewRelationship::new("knows", id(from), id("other")).id("far").unwrap();
        limited(&repository, &rights, |t| t.upsert_relationship(new.clone())).unwrap_err()
    };
    assert_eq!(put("own").kind(), ErrorKind::AlreadyExists);
}
