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

/// Records from before the rule.
#[test]
fn an_instance_of_an_older_log_keeps_a_text_that_is_no_iri_and_gets_no_other() {
    let log = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
    repository.transact(|t| t.create_entity(with_value(Value::Iri("urn:xxxx".into())))).unwrap();
    drop(repository);
    let mut record = log.read(Position(1), ReadLimit::default()).unwrap().remove(0);
    let at = record.windows(8).position(|bytes| bytes == b"urn:xxxx").unwrap();
    record[at..at + 8].copy_from_slice(b"urn:x> <");
    let old = Arc::new(MemoryLog::new());
    old.append(Position(1), &[&record]).unwrap();
    let repository = Repository::with_log(old, Options::default()).unwrap();
    let bad = Value::Iri("urn:x> <".into());
    let value = || repository.snapshot().entity(a().id()).unwrap().unwrap().property("p");
    assert_eq!(value(), Some(bad.clone()));
    repository.transact(|t| t.update(&a(), Patch::new().set("q", 1))).unwrap();
    let kept = vec![("p".into(), bad.clone()), ("q".into(), 2.into())];
    repository.transact(|t| t.replace(&a(), kept.clone())).unwrap();
    repository.transact(|t| t.update(&a(), Patch::new().add("p", Value::Iri("urn:y".into())))).unwrap();
    let other = repository.transact(|t| t.update(&a(), Patch::new().add("p", Value::Iri("urn:z>".into()))));
    assert_eq!(kind_of(other), ErrorKind::InvalidArgument);
    repository.transact(|t| t.update(&a(), Patch::new().remove("p", bad.clone()))).unwrap();
    assert_eq!(value(), Some(Value::set([Value::Iri("urn:y".into())]).unwrap()));
}
