//! IRIs are those of RFC 3987: what is none is refused in new records, and read from older logs.

use std::sync::Arc;

use annals::log::{Log, MemoryLog, ReadLimit};
use annals::*;

use crate::support::CheckedRepository;
use crate::support::typed::kind_of;

const NO_IRIS: [&str; 10] = [
    "",
    "x",
    "/x",
    "http://x/a b",
    "http://x/a>",
    "http://x/a> <http://x/b> <http://x/c> .\n<http://x/d",
    "urn:\"x\"",
    "urn:x%2",
    "urn:x\u{7f}",
    "urn:a\\b",
];

fn a() -> InstanceId {
    InstanceId::Entity(Id::new("a").unwrap())
}

fn with_value(value: Value) -> NewEntity {
    NewEntity::new("t").id("a").unwrap().property("p", value)
}

#[test]
fn a_text_that_is_no_iri_is_refused_wherever_a_value_is_written() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("a").unwrap())).unwrap();
    repository.transact(|t| t.classify(a().id(), ClassificationContent::new("c"))).unwrap();
    let position = repository.snapshot().position();
    for text in NO_IRIS {
        let iri = Value::Iri(text.into());
        let forms = [
            iri.clone(),
            Value::set([iri.clone()]).unwrap(),
            Value::List([iri.clone()].into()),
            Value::Map(Arc::new([("m".into(), iri.clone())].into())),
        ];
        for value in forms {
            let refused = |outcome: Result<()>| {
                assert_eq!(kind_of(outcome), ErrorKind::InvalidArgument, "{value:?}");
            };
            let new = NewEntity { id: Id::random(), ..with_value(value.clone()) };
            refused(repository.transact(|t| t.create_entity(new.clone())).map(drop));
            refused(repository.transact(|t| t.update(&a(), Patch::new().set("p", value.clone()))).map(drop));
            let properties = vec![("p".into(), value.clone())];
            refused(repository.transact(|t| t.replace(&a(), properties.clone())).map(drop));
            let content = ClassificationContent::new("d").property("p", value.clone());
            refused(repository.transact(|t| t.classify(a().id(), content.clone())).map(drop));
            let patch = Patch::new().set("p", value.clone());
            refused(repository.transact(|t| t.reclassify(a().id(), "c", patch.clone())).map(drop));
            let link = NewRelationship::new("r", a().id().clone(), a().id().clone());
            let link = link.property("p", value.clone());
            refused(repository.transact(|t| t.create_relationship(link.clone())).map(drop));
            let attribute = AttributeDefinition {
                default: Some(value.clone()),
                ..AttributeDefinition::new("p", ValueType::Any)
            };
            let definition = TypeDefinition::entity("d").attribute(attribute);
            if !matches!(value, Value::Set(_)) {
                refused(repository.transact(|t| t.define_type(definition.clone())).map(drop));
            }
        }
        let added = repository.transact(|t| t.update(&a(), Patch::new().add("p", iri.clone())));
        assert_eq!(kind_of(added), ErrorKind::InvalidArgument);
    }
    assert_eq!(repository.snapshot().position(), position);
    for text in ["urn:x", "http://example.org/é?a=[b#c".replace('[', "%5B").as_str(), "http://[::1]/", "a:"]
    {
        repository.transact(|t| t.update(&a(), Patch::new().set("p", Value::Iri(text.into())))).unwrap();
    }
}

#[test]
fn a_datatype_that_is_no_iri_is_refused() {
    let repository = CheckedRepository::in_memory();
    for datatype in ["urn:x%2", "urn:x\u{7f}", "urn:x[", "urn:\u{fdd0}"] {
        // A value of an older log is one, too.
        let literal = Literal::with_datatype("1", datatype).unwrap();
        let created = repository.transact(|t| t.create_entity(with_value(literal.clone().into())));
        assert_eq!(kind_of(created), ErrorKind::InvalidArgument, "{datatype:?}");
    }
    let literal = Literal::with_datatype("1", "urn:x").unwrap();
    repository.transact(|t| t.create_entity(with_value(literal.clone().into()))).unwrap();
}

/// The log of a repository, with each `urn:xxxx` in it replaced by a text that is no IRI: as older versions wrote it.
fn older(write: impl FnOnce(&Repository)) -> Repository {
    let log = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
    write(&repository);
    drop(repository);
    let old = Arc::new(MemoryLog::new());
    for (position, mut record) in (1..).zip(log.read(Position(1), ReadLimit::default()).unwrap()) {
        while let Some(at) = record.windows(8).position(|bytes| bytes == b"urn:xxxx") {
            record[at..at + 8].copy_from_slice(b"urn:x> <");
        }
        old.append(Position(position), &[&record]).unwrap();
    }
    Repository::with_log(old, Options::default()).unwrap()
}

fn bad() -> Value {
    Value::Iri("urn:x> <".into())
}

fn value(repository: &Repository) -> Option<Value> {
    repository.snapshot().entity(a().id()).unwrap().unwrap().property("p")
}

/// Records from before the rule.
#[test]
fn an_instance_of_an_older_log_keeps_a_text_that_is_no_iri_and_gets_no_other() {
    let repository = older(|repository| {
        repository.transact(|t| t.create_entity(with_value(Value::Iri("urn:xxxx".into())))).unwrap();
    });
    let value = || value(&repository);
    assert_eq!(value(), Some(bad()));
    repository.transact(|t| t.update(&a(), Patch::new().set("q", 1))).unwrap();
    let kept = vec![("p".into(), bad()), ("q".into(), 2.into())];
    repository.transact(|t| t.replace(&a(), kept.clone())).unwrap();
    repository.transact(|t| t.update(&a(), Patch::new().add("p", Value::Iri("urn:y".into())))).unwrap();
    repository.transact(|t| t.update(&a(), Patch::new().add("p", bad()).set("q", 3))).unwrap();
    let other = repository.transact(|t| t.update(&a(), Patch::new().add("p", Value::Iri("urn:z>".into()))));
    assert_eq!(kind_of(other), ErrorKind::InvalidArgument);
    repository.transact(|t| t.update(&a(), Patch::new().remove("p", bad()))).unwrap();
    assert_eq!(value(), Some(Value::set([Value::Iri("urn:y".into())]).unwrap()));
    // It has gone, so a client would give it anew.
    let again = repository.transact(|t| t.update(&a(), Patch::new().add("p", bad())));
    assert_eq!(kind_of(again), ErrorKind::InvalidArgument);
}

/// The check of new values refused these, so an older log could not be set back to any of its own states.
#[test]
fn a_text_of_an_older_log_that_is_no_iri_returns_from_history() {
    let iri = || Value::Iri("urn:xxxx".into());
    let path: TreePath = "/a".parse().unwrap();
    let repository = older(|repository| {
        repository
            .transact(|t| {
                t.define_type(TypeDefinition::relationship("contains").containing())?;
                t.tree().create(&path, &Item::new().property("p", iri()))?;
                t.create_entity(with_value(iri()))?;
                t.classify(a().id(), ClassificationContent::new("c").property("p", iri()))
            })
            .unwrap();
    });
    let first = repository.snapshot();
    let change = || {
        let changed = repository.transact(|t| {
            t.update(&a(), Patch::new().set("p", 1))?;
            t.reclassify(a().id(), "c", Patch::new().set("p", 1))
        });
        changed.unwrap().1.position
    };
    let is_back = || {
        let snapshot = repository.snapshot();
        let entity = snapshot.entity(a().id()).unwrap().unwrap();
        let classification = entity.classification("c").unwrap();
        assert_eq!((entity.property("p"), classification.property("p")), (Some(bad()), Some(bad())));
    };
    let position = change();
    repository.transact(|t| t.take_back(position)).unwrap();
    is_back();
    repository.transact(|t| t.update(&a(), Patch::new().set("p", 1))).unwrap();
    repository.transact(|t| t.undo(&a())).unwrap();
    is_back();
    repository.transact(|t| t.declassify(a().id(), "c")).unwrap();
    repository.transact(|t| t.undo(&a())).unwrap();
    is_back();
    let position = change();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.take_back(position)).unwrap();
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    is_back();
    // Trees.
    let item = || repository.snapshot().tree().get(&path, None).unwrap().unwrap().properties;
    repository.transact(|t| t.tree().set(&"/a/p".parse()?, 1)).unwrap();
    repository
        .transact(|t| t.tree().revert(&path, AsOf { position: Some(first.position()), ..AsOf::default() }))
        .unwrap();
    assert_eq!(item(), [("p".into(), bad())]);
    repository.transact(|t| t.tree().delete(&path)).unwrap();
    repository
        .transact(|t| t.tree().restore(&path, AsOf { position: Some(first.position()), ..AsOf::default() }))
        .unwrap();
    assert_eq!(item(), [("p".into(), bad())]);
    let new = repository.transact(|t| t.tree().set(&"/a/q".parse()?, bad()));
    assert_eq!(kind_of(new), ErrorKind::InvalidArgument);
}

/// Another repository may be older than the rule.
#[test]
fn a_text_that_is_no_iri_comes_with_a_history_and_with_copies() {
    let repository = CheckedRepository::in_memory();
    let instant: Instant = "2025-01-01T00:00:00Z".parse().unwrap();
    let mut transaction = repository.transaction();
    transaction.committed_at(instant);
    transaction.push_action(with_value(bad())).unwrap();
    transaction.commit().unwrap();
    assert_eq!(value(&repository), Some(bad()));
    let stamp = Stamp { instant, author: "them".into() };
    let header = CopyHeader {
        provenance: Provenance::of_home("there"),
        version: 1,
        status: None,
        created: stamp.clone(),
        updated: stamp.clone(),
    };
    let classification = ClassificationCopy {
        name: "c".into(),
        properties: vec![("p".into(), bad())],
        provenance: Provenance::of_home("there"),
        version: 1,
        created: stamp.clone(),
        updated: stamp,
    };
    let copy = EntityCopy {
        id: Id::new("far").unwrap(),
        type_name: "t".into(),
        properties: vec![("p".into(), bad())],
        classifications: vec![classification.clone()],
        header,
    };
    repository.transact(|t| t.save_entity_copy(copy.clone())).unwrap();
    repository.transact(|t| t.save_classification_copy(a().id(), classification.clone())).unwrap();
    let snapshot = repository.snapshot();
    for id in [&copy.id, a().id()] {
        let entity = snapshot.entity(id).unwrap().unwrap();
        assert_eq!(entity.property("p"), Some(bad()));
        assert_eq!(entity.classification("c").unwrap().property("p"), Some(bad()));
    }
}
