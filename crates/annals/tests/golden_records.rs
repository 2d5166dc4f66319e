//! A repository of format version 1, written once, must open for ever and hold exactly what was written.
//!
//! `cargo test -p annals --test golden_records -- --ignored` wrote the fixture. It is never written again: what a
//! later version writes differently gets a fixture of its own.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::log::{FileLog, Log, ReadLimit};
use annals::*;
use rust_decimal::Decimal;
use support::{CheckedRepository, dump};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/every-action-v1")
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn entity(text: &str) -> InstanceId {
    InstanceId::Entity(id(text))
}

fn relationship(text: &str) -> InstanceId {
    InstanceId::Relationship(id(text))
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
        t.push_action(Action::Replace(entity("book"), vec![("pages".into(), 13.into())], classifications))
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
        t.push_action(Action::Void)
    },
];

fn write_all(repository: &Repository) {
    for (number, step) in (0i64..).zip(STEPS) {
        let mut transaction = repository.transaction();
        transaction.committed_at(Instant::from_micros(1_600_000_000_000_000 + number * 1_000_000).unwrap());
        step(&mut transaction).unwrap();
        transaction.commit().unwrap();
    }
}

/// What there is to see at some positions, and of a time that was corrected.
fn contents(repository: &Repository) -> String {
    let snapshot = repository.snapshot();
    let mut text = String::new();
    for position in [0, 7, 13, snapshot.position().0] {
        let past = snapshot.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() }).unwrap();
        write_dump(&mut text, &format!("position {position}"), &dump(&past));
    }
    let valid = Some(Instant::from_micros(1_600_000_006_000_000).unwrap());
    let past = snapshot.as_of(AsOf { valid, ..AsOf::default() }).unwrap();
    write_dump(&mut text, "valid", &dump(&past));
    text
}

/// What types could not say in version 1, and so do not say when they are read from there.
const SINCE_VERSION_1: [&str; 5] = [
    ", status_name: \"active\"",
    ", status_name: \"deleted\"",
    ", is_propagatable: false, statuses: [], initial_status: None, elements: [], deprecation: None, \
     external_id: None, version: 1, is_advisory: false",
    ", enum_type: None, item_type: None, deprecation: None",
    ", name: None",
];

fn write_dump(text: &mut String, what: &str, all: &BTreeMap<String, String>) {
    for (key, value) in all {
        let value = SINCE_VERSION_1.iter().fold(value.clone(), |value, unsaid| value.replace(unsaid, ""));
        for line in value.lines() {
            writeln!(text, "{what} | {key} | {line}").unwrap();
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_repository_of_version_1_opens_with_exactly_its_content() {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&fixture(), folder.path());
    let expected = std::fs::read_to_string(fixture().join("contents.txt")).unwrap();
    let repository = CheckedRepository::open(folder.path());
    let found = contents(&repository);
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    repository.transact(|t| t.create_entity(NewEntity::new("thing"))).expect("it goes on");
}

#[test]
fn the_same_steps_write_the_same_bytes() {
    let old = FileLog::open_read_only(fixture().join("log")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    write_all(&repository);
    let log = FileLog::open_read_only(folder.path().join("log")).unwrap();
    for position in 1..=STEPS.len() as u64 {
        let read = |log: &FileLog| hex(&log.read(Position(position), ReadLimit::ONE).unwrap()[0]);
        assert_eq!(read(&log), read(&old), "record {position}");
    }
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

/// Writes the fixture, if there is none.
#[test]
#[ignore = "the fixture is written once"]
fn write_the_fixture() {
    assert!(!fixture().exists(), "a fixture is never written again");
    let repository = Repository::open(fixture()).unwrap();
    write_all(&repository);
    let text = contents(&repository);
    repository.close().unwrap();
    std::fs::write(fixture().join("contents.txt"), text).unwrap();
    let _ = std::fs::remove_file(fixture().join("log/lock"));
}
