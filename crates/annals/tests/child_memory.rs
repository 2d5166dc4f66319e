//! Measures the memory of a child beside that of an entity and a relationship that contains nothing. Run by hand:
//! `cargo test --release -p annals --test child_memory -- --ignored --nocapture`. Each kind is measured in a process of
//! its own.

use std::process::Command;
use std::time::Duration;

use annals::*;

const COUNT: usize = 500_000;
const COUNT_OF_ONE: usize = 10_000;
/// The kind that a process is to measure.
const KIND: &str = "ANNALS_CHILD_KIND";

/// By name: the types of the relationship and of the entity, and the property that the relationship has.
const KINDS: [(&str, [&str; 2], &str); 6] = [
    ("an entity and a relationship", ["knows", "plain"], ""),
    ("a child with keys", ["contains", "list"], ""),
    ("an entity and a relationship with a name", ["knows", "plain"], "name"),
    ("a child with a name", ["contains", "plain"], "name"),
    ("an entity and a relationship with an order", ["knows", "plain"], "order"),
    ("a child with keys that users order", ["orders", "list"], "order"),
];

/// Units: bytes.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: usize = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kibibytes << 10
}

/// Fills a repository, and tells what each takes. Units: bytes.
fn bytes_each([contains, type_name]: [&str; 2], held: &str) -> Result<usize> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path().join("repository"))?;
    let k = AttributeDefinition::new("k", ValueType::Integer);
    let l = AttributeDefinition::new("l", ValueType::String);
    repository.transact(|t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        t.define_type(TypeDefinition::relationship("orders").containing_in_order())?;
        t.define_type(TypeDefinition::entity("plain").attribute(k.clone()).attribute(l.clone()))?;
        t.define_type(TypeDefinition::entity("list").attribute(k.clone().key()).attribute(l.clone()))
    })?;
    let create = |t: &mut Transaction, parent: &Id, n: usize| {
        let entity = NewEntity::new(type_name).property("k", n as i64).property("l", format!("leaf {n}"));
        let child = t.create_entity(entity)?;
        let relationship = NewRelationship::new(contains, parent.clone(), child);
        let order = u32::try_from(n + 1).unwrap().to_be_bytes();
        t.create_relationship(match held {
            "name" => relationship.property("name", format!("name {n}")),
            "order" => relationship.property("order", Value::Bytes(order.to_vec().into())),
            _ => relationship,
        })
        .map(drop)
    };
    let before = resident_bytes();
    for start in (0..COUNT).step_by(COUNT_OF_ONE) {
        repository.transact(|t| {
            let parent = t.create_entity(NewEntity::new("parent"))?;
            (start..start + COUNT_OF_ONE).try_for_each(|n| create(t, &parent, n))
        })?;
    }
    // The indexes are brought up to date behind the commits.
    std::thread::sleep(Duration::from_secs(2));
    Ok((resident_bytes() - before) / COUNT)
}

#[test]
#[ignore = "it measures; run by hand"]
fn a_child_takes_little_more_memory_than_an_entity_and_a_relationship() -> Result<()> {
    if let Ok(kind) = std::env::var(KIND) {
        let (_, types, held) = KINDS[kind.parse::<usize>().unwrap()];
        println!("\nbytes {}", bytes_each(types, held)?);
        return Ok(());
    }
    let measured: Vec<usize> = (0..KINDS.len())
        .map(|kind| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output =
                command.args(["--ignored", "--nocapture"]).env(KIND, kind.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let bytes = text.lines().find_map(|line| line.strip_prefix("bytes ")).expect("it was measured");
            println!("{}: {bytes} bytes", KINDS[kind].0);
            bytes.parse().unwrap()
        })
        .collect();
    for (number, pair) in measured.chunks(2).enumerate() {
        let [plain, child] = [pair[0], pair[1]];
        assert!(child * 10 <= plain * 13, "{}: {child} bytes, beside {plain}", KINDS[2 * number + 1].0);
    }
    Ok(())
}
