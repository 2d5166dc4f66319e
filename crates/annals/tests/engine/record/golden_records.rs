//! A repository of format version 1, written once, must open for ever and hold exactly what was written.
//!
//! `cargo test -p annals --test engine golden_records -- --ignored` wrote the fixture. It is never written again: what a
//! later version writes differently gets a fixture of its own.

use annals::action;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::named::{entity, id, relationship};
use crate::support::{CheckedRepository, copy_folder, dump};
use annals::log::{FileLog, Log, ReadLimit};
use annals::*;
use rust_decimal::Decimal;

fn fixture() -> PathBuf {
    fixture_named("every-action-v1")
}

fn fixture_named(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// One value of every kind.
fn values() -> Vec<(&'static str, Value)> {
    vec![
        ("boolean", Value::Boolean(true)),
        ("bytes", Value::Bytes(vec![0, 1, 255].into())),
        ("date", Value::Date("2025-08-09".parse().unwrap())),
        ("decimal", Value::Decimal(Decimal::new(-12_345, 2))),
        ("decimal-largest", Value::Decimal(Decimal::MAX)),
        ("decimal-smallest", Value::Decimal(Decimal::MIN)),
        ("duration", Value::Duration(Duration::from_micros(-1))),
        ("float", Value::Float(-0.5)),
        ("float-nan", Value::Float(f64::NAN)),
        ("integer", Value::Integer(42)),
        ("integer-smallest", Value::Integer(i64::MIN)),
        ("iri", Value::Iri("http://example.org/ä".into())),
        ("list", Value::List([Value::Integer(1), Value::List([].into())].into())),
        ("map", Value::Map(Arc::new([("a".into(), Value::Boolean(false))].into()))),
        ("set", Value::set([Value::from("x"), Value::Integer(7)]).unwrap()),
        ("string", Value::from("tree\u{0}\u{1F333}")),
        ("timestamp", Value::Timestamp("1969-12-31T23:59:59.999999Z".parse().unwrap())),
        ("uuid", Value::Uuid([9; 16])),
    ]
}

type Step = fn(&mut Transaction) -> Result<()>;

/// Every action, each in a record of its own.
const STEPS: [Step; 22] = [
    |t| {
        let name = AttributeDefinition::new("name", ValueType::String).required().default_value("nobody");
        let key = AttributeDefinition::new("key", ValueType::Integer).unique();
        let tags = AttributeDefinition::new("tags", ValueType::Any).many().unindexed();
        let definition = TypeDefinition::entity("person").attribute(name).attribute(key).attribute(tags);
        t.define_type(TypeDefinition { description: "somebody".into(), ..definition })
    },
    |t| t.define_type(TypeDefinition::entity("author").supertype("person").closed()),
    |t| {
        let ends = [EndDefinition::one("person"), EndDefinition::ANY];
        let [from, to] = ends;
        t.define_type(TypeDefinition::relationship("wrote").between(from, to))
    },
    |t| t.define_type(TypeDefinition::classification("secret").applicable_to("thing")),
    |t| {
        t.author("ada").message("every kind of value");
        let new = NewEntity::new("thing").id("0190b2f0-1111-7222-8333-444455556666")?;
        t.create_entity(values().into_iter().fold(new, |new, (name, value)| new.property(name, value)))?;
        t.create_entity(NewEntity::new("author").id("ada")?.property("key", 1).property("name", "Ada"))
            .map(drop)
    },
    |t| {
        let secret = ClassificationContent::new("secret").property("level", 3);
        t.create_entity(NewEntity::new("thing").id("book")?.property("pages", 10).classified(secret))
            .map(drop)
    },
    |t| {
        let new = NewRelationship::new("wrote", id("ada"), id("book")).id("r")?.property("in", 1843);
        t.create_relationship(new).map(drop)
    },
    |t| t.update(&entity("book"), Patch::new().set("pages", 11).add("notes", "G").unset("nothing")),
    |t| t.update(&entity("book"), Patch::new().add("notes", "A").remove("notes", "G")),
    |t| t.update(&entity("book"), Patch::new().clear().set("pages", 12)),
    |t| t.update(&relationship("r"), Patch::new().set("in", 1842)),
    |t| t.replace(&relationship("r"), vec![("since".into(), Value::from(1))]),
    |t| {
        let classifications = Some(vec![ClassificationContent::new("open").property("since", 2)]);
        t.push_action(Action::Replace(action::Replace {
            instance: entity("book"),
            properties: vec![("pages".into(), 13.into())],
            classifications,
            provenance: None,
        }))
    },
    |t| t.classify(&id("book"), ClassificationContent::new("old").property("age", 180)),
    |t| t.reclassify(&id("book"), "old", Patch::new().set("age", 181)),
    |t| t.declassify(&id("book"), "open"),
    |t| {
        t.valid_from(Some(Instant::from_micros(1_600_000_005_500_000)?));
        t.update(&entity("book"), Patch::new().set("pages", 9))
    },
    |t| t.delete(&entity("book")),
    |t| t.restore(&entity("book")),
    |t| {
        t.delete(&relationship("r"))?;
        t.restore(&relationship("r"))
    },
    |t| {
        t.create_entity(NewEntity::new("thing").id("gone")?)?;
        t.create_relationship(NewRelationship::new("near", id("gone"), id("book")).id("near")?)?;
        t.purge(&relationship("near"))?;
        t.purge(&entity("gone"))
    },
    |t| {
        t.undo(&entity("book"))?;
        t.push_action(Action::Void(action::Void))
    },
];

fn stamp(seconds: i64) -> Stamp {
    Stamp { instant: Instant::from_micros(seconds * 1_000_000).unwrap(), author: "elsewhere".into() }
}

fn header(version: u32) -> CopyHeader {
    let provenance = Provenance {
        kind: ProvenanceKind::ContentPack,
        license: Some("CC0-1.0".into()),
        maintained_by: vec!["ada".into(), "grace".into()],
        mappings: [("catalogue".into(), "17".into())].into(),
        effective_from: Some(Instant::from_micros(1).unwrap()),
        effective_to: Some(Instant::from_micros(2).unwrap()),
        ..Provenance::of_home("there")
    };
    let (created, updated) = (stamp(1_500_000_000), stamp(1_500_000_001));
    CopyHeader { provenance, version, status: Some("draft".into()), created, updated }
}

fn classification_copy(version: u32) -> ClassificationCopy {
    ClassificationCopy {
        name: "secret".into(),
        properties: vec![("level".into(), Value::from(i64::from(version)))],
        provenance: Provenance::of_home("there"),
        version,
        created: stamp(1_500_000_002),
        updated: stamp(1_500_000_003),
    }
}

fn entity_copy(text: &str, version: u32) -> EntityCopy {
    EntityCopy {
        id: id(text),
        type_name: "thing".into(),
        properties: vec![("version".into(), Value::from(i64::from(version)))],
        classifications: vec![classification_copy(version)],
        header: header(version),
    }
}

fn relationship_copy(text: &str, from: &str, to: &str) -> RelationshipCopy {
    let properties = vec![("since".into(), Value::from(1))];
    let (from, to) = (id(from), id(to));
    RelationshipCopy { id: id(text), type_name: "near".into(), from, to, properties, header: header(1) }
}

/// Every action that changes more than content, each in a record of its own.
const LIFECYCLE_STEPS: [Step; 19] = [
    |t| t.name_collection("here"),
    |t| {
        let red = EnumElement { ordinal: 0, name: "red".into(), description: "like blood".into() };
        let blue = EnumElement { ordinal: 7, name: "blue".into(), description: "".into() };
        t.define_type(TypeDefinition { elements: vec![red, blue], ..TypeDefinition::enumeration("color") })
    },
    |t| {
        let color = AttributeDefinition {
            enum_type: Some("color".into()),
            ..AttributeDefinition::new("color", ValueType::String)
        };
        let sizes = AttributeDefinition {
            item_type: Some(ValueType::Integer),
            ..AttributeDefinition::new("sizes", ValueType::List)
        };
        let definition = TypeDefinition::entity("paint").attribute(color).attribute(sizes);
        t.define_type(TypeDefinition {
            external_id: Some("0190b2f0-1111-7222-8333-444455556666".into()),
            version: 3,
            initial_status: Some("draft".into()),
            ..definition.with_statuses(&["draft", "active"])
        })
    },
    |t| {
        let provenance = Provenance { home: None, ..header(1).provenance };
        let provenance = Provenance { kind: ProvenanceKind::Unknown, ..provenance };
        let new = NewEntity::new("paint").id("a")?.property("color", "red").status("active");
        t.create_entity(new.from_provenance(provenance.clone()))?;
        t.create_entity(NewEntity::new("paint").id("b")?)?;
        let new = NewRelationship::new("near", id("a"), id("b")).id("r")?.status("proposed");
        t.create_relationship(new.from_provenance(provenance)).map(drop)
    },
    |t| {
        t.set_status(&entity("a"), "draft")?;
        t.set_status(&relationship("r"), "approved")
    },
    |t| {
        let provenance = Provenance { license: Some("MIT".into()), ..Provenance::default() };
        t.set_provenance(&entity("a"), provenance.clone())?;
        t.set_provenance(&relationship("r"), provenance)
    },
    |t| t.save_entity_copy(entity_copy("x", 7)),
    |t| {
        t.push_action(Action::SaveProxy(Box::new(EntityProxy {
            properties: vec![("key".into(), Value::from("f"))],
            ..EntityProxy::new(id("far"), "thing", "there")
        })))
    },
    |t| t.save_relationship_copy(relationship_copy("s", "x", "far"), []),
    |t| t.save_classification_copy(&id("a"), classification_copy(4)),
    |t| t.save_entity_copy(entity_copy("x", 9)),
    |t| {
        t.reidentify(&entity("b"), &id("b2"))?;
        t.reidentify(&relationship("r"), &id("r2"))
    },
    |t| {
        t.define_type(TypeDefinition::entity("item"))?;
        t.retype(&entity("b2"), "item")?;
        t.retype(&relationship("r2"), "far")
    },
    |t| t.relink(&id("r2"), Some(&id("b2")), None),
    |t| t.relink(&id("r2"), None, Some(&id("a"))),
    |t| {
        t.rehome(&entity("x"), "there")?;
        t.rehome(&relationship("s"), "there")
    },
    |t| t.purge_classification_copy(&id("a"), "secret", "there"),
    |t| {
        let provenance =
            Some(std::sync::Arc::new(Provenance { license: Some("MIT".into()), ..Provenance::default() }));
        t.classify(&id("b2"), ClassificationContent { provenance, ..ClassificationContent::new("open") })
    },
    |t| {
        t.save_entity_copy(entity_copy("y", 1))?;
        t.save_relationship_copy(relationship_copy("u", "y", "far"), [])?;
        t.purge_copy(&relationship("u"), "there")?;
        t.purge_copy(&entity("y"), "there")
    },
];

fn write_all(repository: &Repository, steps: &[Step]) {
    for (number, step) in (0i64..).zip(steps) {
        let mut transaction = repository.transaction();
        transaction.committed_at(Instant::from_micros(1_600_000_000_000_000 + number * 1_000_000).unwrap());
        step(&mut transaction).unwrap();
        transaction.commit().unwrap();
    }
}

/// The dump of the repository as of some positions, and as of a valid time that was corrected.
fn contents(repository: &Repository) -> String {
    let snapshot = repository.snapshot();
    let mut text = contents_at(&snapshot, [0, 7, 13, snapshot.position().0], &SINCE_VERSION_1);
    let valid = Some(Instant::from_micros(1_600_000_006_000_000).unwrap());
    let past = snapshot.as_of(AsOf { valid, ..AsOf::default() }).unwrap();
    write_dump(&mut text, "valid", &dump(&past), &SINCE_VERSION_1);
    text
}

fn lifecycle_contents(repository: &Repository) -> String {
    contents_at(&repository.snapshot(), 1..=LIFECYCLE_STEPS.len() as u64, &SINCE_CONTAINERS)
}

fn contents_at(snapshot: &Snapshot, positions: impl IntoIterator<Item = u64>, unsaid: &[&str]) -> String {
    let mut text = String::new();
    for position in positions {
        let past = snapshot.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() }).unwrap();
        write_dump(&mut text, &format!("position {position}"), &dump(&past), unsaid);
    }
    text
}

/// Fields of types that are newer than the fixtures without containers.
const SINCE_CONTAINERS: [&str; 2] = [
    ", containment: None, required_children: [], unique_together: []",
    ", is_key: false, minimum: None, maximum: None, pattern: None, reference: None",
];

/// Fields that version 1 does not have; types that are read from there have their defaults.
const SINCE_VERSION_1: [&str; 5] = [
    ", status_name: \"active\"",
    ", status_name: \"deleted\"",
    ", is_propagatable: false, statuses: [], initial_status: None, elements: [], deprecation: None, \
     external_id: None, version: 1, is_advisory: false, containment: None, required_children: [], unique_together: []",
    ", enum_type: None, item_type: None, deprecation: None, is_key: false, minimum: None, maximum: None, pattern: None, \
     reference: None",
    ", name: None",
];

/// Leaves out the fields that histories and provenances got after the fixtures were written.
fn as_histories_were(text: &str) -> String {
    let mut parts = text.split(", home: ");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once(", verb: ").expect("only histories tell homes behind a comma");
        told.push_str(", verb: ");
        told.push_str(rest);
    }
    told.replace(", propagated_from: None", "")
}

fn write_dump(text: &mut String, what: &str, all: &BTreeMap<String, String>, unsaid: &[&str]) {
    for (key, value) in all {
        let value = unsaid.iter().fold(as_histories_were(value), |value, unsaid| value.replace(unsaid, ""));
        for line in value.lines() {
            writeln!(text, "{what} | {key} | {line}").unwrap();
        }
    }
}

fn opens_with_exactly_its_content(fixture: &Path, contents: fn(&Repository) -> String) {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(fixture, folder.path());
    let expected = std::fs::read_to_string(fixture.join("contents.txt")).unwrap();
    let repository = CheckedRepository::open(folder.path());
    let found = contents(&repository);
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    repository.transact(|t| t.create_entity(NewEntity::new("thing"))).expect("it goes on");
}

fn steps_write_the_same_bytes(fixture: &Path, steps: &[Step]) {
    let old = FileLog::open_read_only(fixture.join("log")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    write_all(&repository, steps);
    let log = FileLog::open_read_only(folder.path().join("log")).unwrap();
    for position in 1..=steps.len() as u64 {
        let read = |log: &FileLog| hex(&log.read(Position(position), ReadLimit::ONE).unwrap()[0]);
        assert_eq!(read(&log), read(&old), "record {position}");
    }
}

#[test]
fn a_repository_of_version_1_opens_with_exactly_its_content() {
    opens_with_exactly_its_content(&fixture(), contents);
}

#[test]
fn a_repository_with_copies_and_other_ids_opens_with_exactly_its_content() {
    opens_with_exactly_its_content(&fixture_named("lifecycle-v1"), lifecycle_contents);
}

#[test]
fn the_same_steps_write_the_same_bytes() {
    steps_write_the_same_bytes(&fixture(), &STEPS);
    steps_write_the_same_bytes(&fixture_named("lifecycle-v1"), &LIFECYCLE_STEPS);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of three records, part by part as `docs/formats.md` describes them.
#[test]
fn records_are_the_bytes_of_the_format() {
    let log = FileLog::open_read_only(fixture().join("log")).unwrap();
    let record = |position: u64| hex(&log.read(Position(position), ReadLimit::ONE).unwrap()[0]);
    // {0: instant, 4: ["wrote", "in"], 5: [{0: 2, 1: "r", 2: 0, 4: "ada", 5: "book", 3: {1: 1843}}]}
    let related = [
        "a3",
        "00",
        "1b0005af3107ff8d80",
        "04",
        "82",
        "6577726f7465",
        "62696e",
        "05",
        "81",
        "a6",
        "00",
        "02",
        "01",
        "6172",
        "02",
        "00",
        "04",
        "63616461",
        "05",
        "64626f6f6b",
        "03",
        "a1",
        "01",
        "190733",
    ];
    assert_eq!(record(7), related.concat());
    // {0: instant, 4: [], 5: [{0: 7, 1: "book"}]}
    let deleted =
        ["a3", "00", "1b0005af3108a76640", "04", "80", "05", "81", "a2", "00", "07", "01", "64626f6f6b"];
    assert_eq!(record(18), deleted.concat());
    // {0: instant, 4: [], 5: [{0: 9, 1: "book", 10: true}]}
    let restored = [
        "a3",
        "00",
        "1b0005af3108b6a880",
        "04",
        "80",
        "05",
        "81",
        "a3",
        "00",
        "09",
        "01",
        "64626f6f6b",
        "0a",
        "f5",
    ];
    assert_eq!(record(19), restored.concat());
}

/// Writes the fixtures that are not there.
#[test]
#[ignore = "fixtures are written once"]
fn write_the_fixtures() {
    write_fixture(&fixture(), &STEPS, contents);
    write_fixture(&fixture_named("lifecycle-v1"), &LIFECYCLE_STEPS, lifecycle_contents);
}

fn write_fixture(fixture: &Path, steps: &[Step], contents: fn(&Repository) -> String) {
    if fixture.exists() {
        return;
    }
    let repository = Repository::open(fixture).unwrap();
    write_all(&repository, steps);
    let text = contents(&repository);
    repository.close().unwrap();
    std::fs::write(fixture.join("contents.txt"), text).unwrap();
    let _ = std::fs::remove_file(fixture.join("log/lock"));
}
