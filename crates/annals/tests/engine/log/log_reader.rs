//! Reads a log with a program that knows nothing but docs/formats.md, and pins the bytes that page shows.

use annals::action;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use annals::log::{FileLog, FileOptions, Log, MemoryLog, ReadLimit};
use annals::storage::{MemoryStore, Store};
use annals::*;

const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: true, open_files_max: 8 };

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_log(arguments: &[&str], folder: &Path) -> Output {
    Command::new("python3")
        .arg(root().join("tools/read-log.py"))
        .args(arguments)
        .arg(folder)
        .output()
        .expect("python3 runs; install it, or run ./test, which does")
}

fn lines(output: &Output) -> Vec<&str> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::str::from_utf8(&output.stdout).unwrap().lines().collect()
}

fn instant(text: &str) -> Instant {
    text.parse().unwrap()
}

/// Commits at the given minute of one fixed day, so that equal tests write equal bytes.
fn commit(
    repository: &Repository,
    minute: u32,
    work: impl FnOnce(&mut Transaction) -> Result<()>,
) -> Receipt {
    let mut transaction = repository.transaction();
    transaction.author("ada").committed_at(instant(&format!("2020-02-29T10:{minute:02}:00Z")));
    work(&mut transaction).unwrap();
    transaction.commit().unwrap()
}

fn every_kind_of_value() -> Vec<(Value, &'static str)> {
    vec![
        (Value::Boolean(true), "F5"),
        (Value::Integer(-1000), "39 03 E7"),
        (Value::Float(1.5), "FB 3F F8 00 00 00 00 00 00"),
        (Value::Decimal("-12.50".parse().unwrap()), "C4 82 21 39 04 E1"),
        (
            Value::Decimal("18446744073709551616".parse().unwrap()),
            "C4 82 00 C2 49 01 00 00 00 00 00 00 00 00",
        ),
        (Value::from("ä"), "62 C3 A4"),
        (Value::Bytes([0, 255].into()), "42 00 FF"),
        (Value::Date("2025-08-09".parse().unwrap()), "D8 64 19 4F 55"),
        (Value::Timestamp(instant("1969-12-31T23:59:59.5Z")), "D9 03 E9 A2 01 20 25 1A 00 07 A1 20"),
        (Value::Duration(Duration::from_micros(90_000_000)), "D9 03 EA A1 01 18 5A"),
        (Value::Uuid([0x11; 16]), "D8 25 50 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11"),
        (Value::Iri("urn:x".into()), "D9 01 0A 65 75 72 6E 3A 78"),
        (Value::List([Value::from(1), Value::from("a")].into()), "82 01 61 61"),
        (Value::Map(Arc::new([("k".into(), Value::from(true))].into())), "A1 61 6B F5"),
        (Value::set([Value::from(1), Value::from("a")]).unwrap(), "D9 01 02 82 01 61 61"),
    ]
}

/// The kinds that came after the fixtures.
fn later_kinds_of_value(contents: &Contents) -> Vec<(Value, &'static str)> {
    let content = contents.put(&mut &b""[..], &NewContent::of("a/b")).unwrap();
    vec![
        (Value::from(Literal::in_language("chat", "fr").unwrap()), "D8 26 82 62 66 72 64 63 68 61 74"),
        (Value::from(Literal::with_datatype("1", "x:d").unwrap()), "DA 61 6E 6E 6C 82 63 78 3A 64 61 31"),
        (
            content.value(),
            "DA 61 6E 6E 63 A3 00 58 20 E3 B0 C4 42 98 FC 1C 14 9A FB F4 C8 99 6F B9 24 27 AE 41 E4 64 9B 93 4C A4 95 99 1B \
             78 52 B8 55 01 00 02 63 61 2F 62",
        ),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_values_of_the_page_are_the_bytes_of_the_log() {
    let page = std::fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = Options { contents: Some(store), ..Options::default() };
    let contents =
        Repository::with_log(Arc::new(MemoryLog::new()), options.clone()).unwrap().contents().unwrap();
    for (value, expected) in every_kind_of_value().into_iter().chain(later_kinds_of_value(&contents)) {
        let log = Arc::new(MemoryLog::new());
        let repository = Repository::with_log(log.clone(), options.clone()).unwrap();
        let kind = value.value_type().name();
        repository.transact(|t| t.create_entity(NewEntity::new("t").property("p", value.clone()))).unwrap();
        let record = log.read(Position(1), ReadLimit::ONE).unwrap().remove(0);
        assert!(hex(&record).ends_with(expected), "{kind}: {}", hex(&record));
        assert!(page.contains(&format!("`{expected}`")), "docs/formats.md does not show {expected} ({kind})");
    }
}

#[test]
fn the_record_of_the_page_is_the_bytes_of_the_log() {
    let page = std::fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let (_, example) = page.split_once("<!-- golden record -->").expect("the page marks its example");
    let listing = example.split("```").nth(1).expect("the example is a code block");
    let shown: Vec<&str> =
        listing.lines().skip(1).flat_map(|line| line.split('#').next().unwrap().split_whitespace()).collect();

    let log = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
    commit(&repository, 30, |t| {
        t.message("first").valid_from(Some(instant("2020-01-01")));
        t.create_entity(NewEntity::new("person").id("ada")?.property("name", "Ada"))?;
        let machine = NewEntity::new("machine").id("11111111-1111-1111-1111-111111111111")?;
        let machine = t.create_entity(machine.property("name", "Engine"))?;
        t.valid_from(None);
        t.create_relationship(NewRelationship::new("uses", Id::new("ada")?, machine).id("u")?)?;
        Ok(())
    });
    let record = log.read(Position(1), ReadLimit::ONE).unwrap().remove(0);
    assert_eq!(hex(&record), shown.join(" "));
}

/// One of every action, in several segments.
fn write_everything(folder: &Path) {
    let log = FileLog::open_with(folder.join("log"), OPTIONS).unwrap();
    let repository = Repository::with_log(Arc::new(log), Options::default()).unwrap();
    let (a, b) = (Id::new("a").unwrap(), Id::new("b").unwrap());
    let (entity, other) = (InstanceId::Entity(a.clone()), InstanceId::Entity(b.clone()));
    let relationship = InstanceId::Relationship(Id::new("r").unwrap());
    commit(&repository, 1, |t| {
        t.message("types");
        let name = AttributeDefinition::new("name", ValueType::String).required().unique();
        let size = AttributeDefinition::new("size", ValueType::Integer).unindexed().default_value(7);
        let tags = AttributeDefinition::new("tags", ValueType::String).many();
        t.define_type(TypeDefinition::entity("thing"))?;
        let machine = TypeDefinition::entity("machine").supertype("thing");
        t.define_type(machine.attribute(name).attribute(size).attribute(tags))?;
        let uses = TypeDefinition::relationship("uses");
        t.define_type(uses.between(EndDefinition::many("thing"), EndDefinition::one("machine")))?;
        t.define_type(TypeDefinition::classification("old").applicable_to("thing").closed())
    });
    commit(&repository, 2, |t| {
        t.valid_from(Some(instant("2019-01-01")));
        let mut all = NewEntity::new("thing").id("a")?.classified(ClassificationContent::new("old"));
        for (number, (value, _)) in every_kind_of_value().into_iter().enumerate() {
            all = all.property(&format!("p{number}"), value);
        }
        t.create_entity(all)?;
        t.create_entity(NewEntity::new("machine").id("b")?.property("name", "B"))?;
        t.valid_from(None);
        t.create_relationship(
            NewRelationship::new("uses", a.clone(), b.clone()).id("r")?.property("since", 1843),
        )?;
        Ok(())
    });
    commit(&repository, 3, |t| {
        t.update(&entity, Patch::new().set("p0", false).unset("p1").add("p14", "b").remove("p14", 1))
    });
    commit(&repository, 4, |t| t.update(&relationship, Patch::new().clear()));
    commit(&repository, 5, |t| t.classify(&a, ClassificationContent::new("rare").property("rank", 1)));
    commit(&repository, 6, |t| t.reclassify(&a, "rare", Patch::new().set("rank", 2)));
    commit(&repository, 7, |t| t.declassify(&a, "old"));
    commit(&repository, 8, |t| {
        t.message("a correction").valid_from(Some(instant("2019-06-01")));
        t.update(&entity, Patch::new().set("p0", true))
    });
    commit(&repository, 9, |t| t.delete(&other));
    commit(&repository, 10, |t| t.restore(&other));
    commit(&repository, 11, |t| t.delete(&relationship));
    commit(&repository, 12, |t| t.undo(&relationship));
    commit(&repository, 13, |t| t.undo(&entity));
    commit(&repository, 14, |t| t.replace(&relationship, vec![("x".into(), Value::from(1.0))]));
    commit(&repository, 15, |t| t.purge(&relationship));
    commit(&repository, 16, |t| t.purge(&other));
    commit(&repository, 17, |t| t.push_action(Action::Void(action::Void)));
    let long = "x".repeat(3000);
    commit(&repository, 18, |t| t.update(&entity, Patch::new().clear().set("long", long.as_str())));
    commit(&repository, 19, |t| t.update(&entity, Patch::new().set("long", "short")));
    repository.close().unwrap();
}

/// A repository whose log is of a released format, which every later version must open.
fn fixture(format: u32) -> PathBuf {
    root().join(format!("crates/annals/tests/fixtures/repository-v{format}"))
}

#[test]
fn repositories_of_all_formats_open_and_answer_as_ever() {
    for format in [1, 2] {
        opens_and_answers_as_ever(&fixture(format));
    }
}

fn opens_and_answers_as_ever(fixture: &Path) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("log")).unwrap();
    for entry in std::fs::read_dir(fixture.join("log")).unwrap().flatten() {
        std::fs::copy(entry.path(), folder.path().join("log").join(entry.file_name())).unwrap();
    }
    let repository = Repository::open(folder.path()).unwrap();
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.position(), Position(19));
    assert_eq!((snapshot.entities_count(), snapshot.relationships_count()), (1, 0));
    let id = Id::new("a").unwrap();
    let entity = snapshot.entity(&id).unwrap().unwrap();
    assert_eq!(entity.property("long"), Some(Value::from("short")));
    assert_eq!((entity.version(), entity.latest_version()), (9, 9));
    let versions = snapshot.versions(&entity.instance_id(), 0, 100).unwrap();
    let verbs: Vec<&str> = versions.iter().rev().map(|version| version.verb).collect();
    let expected = ["create", "update", "classify", "reclassify", "declassify", "update", "replace"];
    assert_eq!(verbs, [&expected[..], &["update", "update"]].concat());
    let corrected = AsOf { valid: Some(instant("2019-07-01")), ..AsOf::default() };
    let corrected = snapshot.as_of(corrected).unwrap();
    let then = corrected.entity(&id).unwrap().unwrap();
    for (number, (value, _)) in every_kind_of_value().into_iter().enumerate() {
        assert_eq!(then.property(&format!("p{number}")), Some(value));
    }
    assert_eq!(repository.check().unwrap().differences, Vec::<String>::new());
}

#[test]
#[ignore = "writes the fixture; only for a new format"]
fn write_the_fixture() {
    write_everything(&fixture(2));
    std::fs::remove_file(fixture(2).join("log/lock")).unwrap();
}

#[test]
fn another_program_reads_what_the_engine_wrote() {
    let folder = tempfile::tempdir().unwrap();
    write_everything(folder.path());
    let output = read_log(&["--anchors"], folder.path());
    let expected = include_str!("../../fixtures/repository-v1.jsonl");
    let found = lines(&output);
    for format in [1, 2] {
        assert_eq!(lines(&read_log(&["--anchors"], &fixture(format))), found, "format {format}");
    }
    assert_eq!(found, expected.lines().collect::<Vec<_>>(), "found:\n{}", found.join("\n"));
    assert_eq!(lines(&read_log(&["--to-end", "--anchors"], folder.path())), found);
}

#[test]
fn another_program_reads_literals() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let word = AttributeDefinition::new("p0", ValueType::Literal);
    let later = later_kinds_of_value(&repository.contents().unwrap());
    let [(french, _), (typed, _), _] = &later[..] else { panic!("there are three") };
    commit(&repository, 1, |t| t.define_type(TypeDefinition::entity("t").attribute(word)));
    commit(&repository, 2, |t| {
        let all = NewEntity::new("t").id("a")?.property("p0", french.clone());
        let all = all.property("p1", typed.clone()).property("p2", Value::set([french.clone()])?);
        t.create_entity(all).map(drop)
    });
    repository.close().unwrap();
    let output = read_log(&[], folder.path());
    let lines = lines(&output);
    assert!(lines[0].contains(r#""type":"literal""#), "{}", lines[0]);
    let french = r#"{"$literal":"chat","language":"fr"}"#;
    let typed = r#"{"$literal":"1","datatype":"x:d"}"#;
    let expected = format!(r#""properties":{{"p0":{french},"p1":{typed},"p2":{{"$set":[{french}]}}}}"#);
    assert!(lines[1].contains(&expected), "{}", lines[1]);
}

/// The bytes of a content on the page, as the program reads them.
#[test]
fn another_program_reads_contents() {
    let page = std::fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let row = page.lines().find(|line| line.starts_with("| content |")).unwrap();
    let bytes = row.split('`').nth(1).unwrap();
    let read = "import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('read_log', sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps(module.value(module.cbor(bytes.fromhex(sys.argv[2]), 0)[0]), sort_keys=True))";
    let program = root().join("tools/read-log.py");
    let command = |bytes: &str| {
        let mut command = Command::new("python3");
        command.env("PYTHONDONTWRITEBYTECODE", "1").args(["-c", read]).arg(&program).arg(bytes);
        command.output().unwrap()
    };
    let digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let plain = r#""mediaType": "a/b", "size": 0}"#;
    assert_eq!(lines(&command(bytes)), [format!(r#"{{"$content": "{digits}", {plain}"#)]);
    // With a name, a digest, and a digest and a member of a later version.
    let more = bytes.replace("63 A3 00", "63 A6 00") + " 03 61 6E 04 A2 00 41 FF 18 63 41 00 05 00";
    let plain = r#""digests": {"md5": "ff"}, "mediaType": "a/b", "name": "n", "size": 0}"#;
    assert_eq!(lines(&command(&more)), [format!(r#"{{"$content": "{digits}", {plain}"#)]);
}

#[test]
fn another_program_finds_the_damage_that_the_engine_finds() {
    let folder = tempfile::tempdir().unwrap();
    write_everything(folder.path());
    let log = folder.path().join("log");
    let last = std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path());
    let last =
        last.filter(|path| path.extension().is_some_and(|extension| extension == "seg")).max().unwrap();
    let whole = std::fs::read(&last).unwrap();

    // Behind the tail: what a power cut may leave.
    std::fs::write(&last, [&whole[..], &whole[64..85]].concat()).unwrap();
    assert!(read_log(&["--to-end"], &log).status.success());

    // Before the tail: damage, and the place is named.
    let first = log.join("00000000000000000001.seg");
    let mut bytes = std::fs::read(&first).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&first, bytes).unwrap();
    let output = read_log(&[], &log);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("00000000000000000001.seg: offset 64, position 1"), "{text}");
}

/// Records do not list the instances that a deletion, restoration or purge takes along: another program derives them,
/// also after a compaction.
#[test]
fn another_program_follows_cascades_through_containers() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    let id = |text: &str| Id::new(text).unwrap();
    let entity = |text: &str| InstanceId::Entity(id(text));
    let contain = |t: &mut Transaction, from: &str, to: &str, name: &str| {
        let contains = NewRelationship::new("holds", id(from), id(to)).id(name).unwrap();
        t.create_relationship(contains.property("name", to)).map(drop)
    };
    commit(&repository, 1, |t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        t.define_type(TypeDefinition::relationship("holds").supertype("contains"))
    });
    commit(&repository, 2, |t| {
        for name in ["a", "b", "c", "d", "o"] {
            t.create_entity(NewEntity::new("folder").id(name)?)?;
        }
        contain(t, "a", "b", "ab")?;
        contain(t, "b", "c", "bc")?;
        contain(t, "b", "d", "bd")?;
        t.create_relationship(NewRelationship::new("knows", id("c"), id("o")).id("k")?).map(drop)
    });
    commit(&repository, 3, |t| t.delete(&entity("d")));
    commit(&repository, 4, |t| t.delete(&entity("a")));
    commit(&repository, 5, |t| t.restore_alone(&id("a")));
    commit(&repository, 6, |t| t.delete(&entity("a")));
    commit(&repository, 7, |t| t.restore(&entity("a")));
    commit(&repository, 8, |t| {
        t.delete(&InstanceId::Relationship(id("bc")))?;
        contain(t, "o", "c", "oc")
    });
    commit(&repository, 9, |t| t.purge(&entity("a")));
    let taken = |folder: &Path| -> Vec<String> {
        let output = read_log(&["--cascades"], folder);
        let with = |line: &&str| line.contains("takesAlong");
        let cut = |line: &str| {
            let (_, taken) = line.split_once("\"takesAlong\":").unwrap();
            let (taken, _) = taken.split_once("}").unwrap();
            taken.replace(['"', '{', '['], "").replace("],", " ").replace(']', "")
        };
        lines(&output).into_iter().filter(with).map(cut).collect()
    };
    let all = "entities:b,c relationships:ab,bc,k";
    let expected = [
        "entities: relationships:bd",
        all,
        // Alone, without what it knew.
        "entities:b,c relationships:ab,bc",
        "entities:b,c relationships:ab,bc",
        "entities:b,c relationships:ab,bc",
        "entities:b relationships:ab,bc,bd",
    ];
    assert_eq!(taken(folder.path()), expected);
    repository.compact().unwrap();
    let expected = [
        "entities: relationships:",
        "entities:c relationships:k",
        "entities:c relationships:",
        "entities:c relationships:",
        "entities:c relationships:",
    ];
    assert_eq!(taken(folder.path()), expected[1..]);
    // The lists name what they write.
    let output = read_log(&[], folder.path());
    let listed =
        r#"{"action":"delete","instances":[{"id":"k","kind":"relationship"},{"id":"c","kind":"entity"}]}"#;
    assert!(lines(&output)[3].contains(listed), "{}", lines(&output)[3]);
    repository.close().unwrap();
}
