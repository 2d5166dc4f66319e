//! Tests the rules for trees that each record must keep: required children, values that are unique together,
//! references.

use std::collections::BTreeSet;

use crate::support::trees::{edit, path};
use crate::support::typed::kind_of;
use crate::support::{CheckedRepository, Random, seeds};
use annals::*;

fn text(name: &str) -> AttributeDefinition {
    AttributeDefinition::new(name, ValueType::String)
}

/// Devices with interfaces, and routes that lead through them.
fn declare(repository: &Repository) -> Result<()> {
    repository.transact(|t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        let interface = TypeDefinition::entity("interface").attribute(text("name").key());
        let interface = interface.attribute(text("address")).attribute(text("mac"));
        let port = AttributeDefinition::new("port", ValueType::Integer);
        t.define_type(interface.attribute(port).unique_together(&["address", "port"]))?;
        t.define_type(route())?;
        t.define_type(
            TypeDefinition::entity("device")
                .attribute(text("id").key())
                .requiring_child("system")
                .requiring_child("interface"),
        )
    })?;
    Ok(())
}

fn route() -> TypeDefinition {
    TypeDefinition::entity("route")
        .attribute(AttributeDefinition::new("number", ValueType::Integer).key())
        .attribute(text("via").referring_to("../../interface/name"))
        .attribute(text("macs").many().referring_to("../../interface/mac"))
        .attribute(text("backup").referring_to("/device/interface/name"))
        .attribute(text("zone").referring_to("/clock/zone"))
        .attribute(text("next").referring_to("../../../device/id"))
        .attribute(text("same").referring_to("../via"))
}

fn interface(name: &str) -> Item {
    Item::new().property("name", name)
}

fn device(id: &str, names: &[&str]) -> Item {
    let device = Item::new().property("id", id).child("system", Item::new());
    names.iter().fold(device, |device, name| device.listed("interface", interface(name)))
}

fn with_devices(repository: &Repository) -> Result<()> {
    declare(repository)?;
    edit(repository, |tree| {
        tree.put(&path("/device[id='a']"), &device("a", &["eth0", "eth1"]))?;
        tree.put(&path("/device[id='b']"), &device("b", &["eth0", "eth2"]))
    })?;
    Ok(())
}

fn set(repository: &Repository, at: &str, value: impl Into<Value> + Clone) -> Result<()> {
    edit(repository, |tree| tree.set(&path(at), value.clone()))
}

fn delete(repository: &Repository, at: &str) -> Result<()> {
    edit(repository, |tree| tree.delete(&path(at)))
}

fn id_of(repository: &Repository, at: &str) -> InstanceId {
    let found =
        repository.snapshot().tree().item(&path(at)).unwrap().expect("it is there").entity.id().clone();
    InstanceId::Entity(found)
}

#[test]
fn a_required_child_is_there_at_the_end_of_each_transaction() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    with_devices(&repository)?;
    let refused = edit(&repository, |tree| {
        tree.put(&path("/device[id='c']"), &Item::new().property("id", "c").child("system", Item::new()))
    });
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cardinality);
    assert!(error.text().contains("called interface"), "{error}");
    assert_eq!(kind_of(delete(&repository, "/device[id='a']/system")), ErrorKind::Cardinality);
    delete(&repository, "/device[id='a']/interface[name='eth0']")?;
    let last = "/device[id='a']/interface[name='eth1']";
    assert_eq!(kind_of(delete(&repository, last)), ErrorKind::Cardinality);
    // Another takes its place in the same transaction.
    edit(&repository, |tree| {
        tree.delete(&path(last))?;
        tree.merge(&path("/device[id='a']/interface[name='eth9']"), &Item::new())
    })?;
    // Moved away, renamed, of another type.
    let moved =
        edit(&repository, |tree| tree.move_to(&path("/device[id='a']/system"), &path("/system"), None));
    assert_eq!(kind_of(moved), ErrorKind::Cardinality);
    let renamed = edit(&repository, |tree| {
        tree.move_to(&path("/device[id='a']/system"), &path("/device[id='a']/s"), None)
    });
    assert_eq!(kind_of(renamed), ErrorKind::Cardinality);
    let last = id_of(&repository, "/device[id='a']/interface[name='eth9']");
    repository.transact(|t| t.define_type(TypeDefinition::entity("port").attribute(text("name").key())))?;
    assert_eq!(kind_of(repository.transact(|t| t.retype(&last, "port"))), ErrorKind::Cardinality);
    assert_eq!(kind_of(repository.transact(|t| t.purge(&last))), ErrorKind::Cardinality);
    // With the device all may go, and come back.
    let id = id_of(&repository, "/device[id='a']");
    delete(&repository, "/device[id='a']")?;
    repository.transact(|t| t.restore(&id))?;
    repository.transact(|t| t.purge(&id))?;
    Ok(())
}

#[test]
fn what_is_restored_has_its_required_children() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    with_devices(&repository)?;
    let (id, system) = (id_of(&repository, "/device[id='a']"), id_of(&repository, "/device[id='a']/system"));
    delete(&repository, "/device[id='a']")?;
    repository.transact(|t| t.purge(&system))?;
    assert_eq!(kind_of(repository.transact(|t| t.restore(&id))), ErrorKind::Cardinality);
    edit(&repository, |tree| tree.put(&path("/device[id='x']"), &device("x", &["eth0"])))?;
    Ok(())
}

#[test]
fn siblings_differ_in_values_that_are_unique_together() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    with_devices(&repository)?;
    let [eth0, eth1] = ["/device[id='a']/interface[name='eth0']", "/device[id='a']/interface[name='eth1']"];
    set(&repository, &format!("{eth0}/address"), "10.0.0.1")?;
    set(&repository, &format!("{eth1}/address"), "10.0.0.1")?;
    set(&repository, &format!("{eth0}/port"), 1)?;
    // One that lacks a value is not compared, nor is one of another parent.
    let error = set(&repository, &format!("{eth1}/port"), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotUnique);
    assert!(error.text().contains("address and port"), "{error}");
    set(&repository, "/device[id='b']/interface[name='eth0']/address", "10.0.0.1")?;
    set(&repository, "/device[id='b']/interface[name='eth0']/port", 1)?;
    // Both change places in one transaction.
    set(&repository, &format!("{eth1}/port"), 2)?;
    edit(&repository, |tree| {
        tree.set(&path(&format!("{eth0}/port")), 2)?;
        tree.set(&path(&format!("{eth1}/port")), 1)
    })?;
    // Moved beside one that has them.
    let to = path("/device[id='a']/interface[name='eth7']");
    let from = path("/device[id='b']/interface[name='eth0']");
    assert_eq!(kind_of(edit(&repository, |tree| tree.move_to(&from, &to, None))), ErrorKind::NotUnique);
    // Deleted, it does not count; restored, it does.
    let gone = id_of(&repository, eth0);
    delete(&repository, eth0)?;
    set(&repository, &format!("{eth1}/port"), 2)?;
    assert_eq!(kind_of(repository.transact(|t| t.restore(&gone))), ErrorKind::NotUnique);
    set(&repository, &format!("{eth1}/port"), 3)?;
    repository.transact(|t| t.restore(&gone))?;
    // Long texts that begin alike are told apart.
    let long = |end: &str| format!("{}{end}", "x".repeat(1000));
    set(&repository, &format!("{eth0}/address"), long("a"))?;
    set(&repository, &format!("{eth1}/address"), long("b"))?;
    set(&repository, &format!("{eth0}/port"), 4)?;
    set(&repository, &format!("{eth1}/port"), 4)?;
    let same = set(&repository, &format!("{eth1}/address"), long("a"));
    assert_eq!(kind_of(same), ErrorKind::NotUnique);
    Ok(())
}

#[test]
fn a_reference_leads_to_something() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    with_devices(&repository)?;
    let [eth0, eth1] = ["/device[id='a']/interface[name='eth0']", "/device[id='a']/interface[name='eth1']"];
    let route = "/device[id='a']/route[number=1]";
    let error = set(&repository, &format!("{route}/via"), "eth2").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingEnd);
    assert!(error.text().contains("../../interface/name"), "{error}");
    set(&repository, &format!("{route}/via"), "eth0")?;
    // Of any device; of a named child; of a property that is no key, several.
    assert_eq!(kind_of(set(&repository, &format!("{route}/backup"), "eth9")), ErrorKind::MissingEnd);
    set(&repository, &format!("{route}/backup"), "eth2")?;
    assert_eq!(kind_of(set(&repository, &format!("{route}/zone"), "UTC")), ErrorKind::MissingEnd);
    edit(&repository, |tree| {
        tree.set(&path(&format!("{route}/zone")), "UTC")?;
        tree.set(&path("/clock/zone"), "UTC")
    })?;
    let macs = Value::set([Value::from("m0"), Value::from("m1")])?;
    set(&repository, &format!("{eth0}/mac"), "m0")?;
    assert_eq!(kind_of(set(&repository, &format!("{route}/macs"), macs.clone())), ErrorKind::MissingEnd);
    set(&repository, &format!("{eth1}/mac"), "m1")?;
    set(&repository, &format!("{route}/macs"), macs)?;
    // The target goes, is called otherwise, loses its value, or stands elsewhere.
    for at in [eth0, eth1, "/device[id='b']/interface[name='eth2']", "/clock"] {
        assert_eq!(kind_of(delete(&repository, at)), ErrorKind::MissingEnd, "{at}");
    }
    let id = id_of(&repository, eth0);
    assert_eq!(kind_of(repository.transact(|t| t.purge(&id))), ErrorKind::MissingEnd);
    let renamed = repository.transact(|t| t.update(&id, Patch::new().set("name", "eth7")));
    assert_eq!(kind_of(renamed), ErrorKind::MissingEnd);
    assert_eq!(kind_of(set(&repository, "/clock/zone", "CET")), ErrorKind::MissingEnd);
    let mac = repository.transact(|t| t.update(&id, Patch::new().unset("mac")));
    assert_eq!(kind_of(mac), ErrorKind::MissingEnd);
    let moves = |from: &str, to: &str| edit(&repository, |tree| tree.move_to(&path(from), &path(to), None));
    assert_eq!(kind_of(moves(eth0, "/device[id='b']/interface[name='eth7']")), ErrorKind::MissingEnd);
    assert_eq!(kind_of(moves("/clock", "/watch")), ErrorKind::MissingEnd);
    assert_eq!(kind_of(moves(route, "/device[id='b']/route[number=1]")), ErrorKind::MissingEnd);
    // In one transaction with what refers to it.
    edit(&repository, |tree| {
        tree.set(&path(&format!("{route}/via")), "eth1")?;
        tree.set(&path(&format!("{route}/macs")), Value::set([Value::from("m1")])?)?;
        tree.delete(&path(eth0))
    })?;
    // Deleted and made anew, it is there.
    edit(&repository, |tree| {
        tree.delete(&path(eth1))?;
        tree.merge(&path(eth1), &Item::new().property("mac", "m1"))
    })?;
    // All goes together, and the other device is referred to from elsewhere.
    edit(&repository, |tree| {
        tree.put(&path("/device[id='c']"), &device("c", &["eth5"]))?;
        tree.set(&path("/device[id='c']/route[number=2]/backup"), "eth1")
    })?;
    assert_eq!(kind_of(delete(&repository, "/device[id='a']")), ErrorKind::MissingEnd);
    delete(&repository, "/device[id='c']")?;
    let id = id_of(&repository, "/device[id='a']");
    delete(&repository, "/device[id='a']")?;
    delete(&repository, "/device[id='b']")?;
    assert_eq!(kind_of(repository.transact(|t| t.restore(&id))), ErrorKind::MissingEnd);
    edit(&repository, |tree| tree.put(&path("/device[id='d']"), &device("d", &["eth2"])))?;
    repository.transact(|t| t.restore(&id))?;
    Ok(())
}

/// It is refused at the commit, and the transaction reads what it has so far.
#[test]
fn a_transaction_that_is_half_made_can_be_read() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    with_devices(&repository)?;
    let half = || -> Result<Transaction> {
        let mut transaction = repository.transaction();
        transaction.tree().create(&path("/device[id='c']"), &Item::new())?;
        assert!(transaction.view()?.tree().item(&path("/device[id='c']"))?.is_some());
        transaction.tree().set(&path("/device[id='c']/route[number=1]/via"), "eth0")?;
        transaction.tree().merge(&path("/device[id='c']/system"), &Item::new())?;
        assert!(transaction.view()?.tree().item(&path("/device[id='c']/route[number=1]"))?.is_some());
        Ok(transaction)
    };
    assert_eq!(kind_of(half()?.commit()), ErrorKind::Cardinality);
    assert_eq!(kind_of(half()?.dry_run()), ErrorKind::Cardinality);
    let mut whole = half()?;
    whole.tree().merge(&path("/device[id='c']/interface[name='eth1']"), &Item::new())?;
    assert_eq!(kind_of(whole.commit()), ErrorKind::MissingEnd);
    let mut whole = half()?;
    whole.tree().merge(&path("/device[id='c']/interface[name='eth0']"), &Item::new())?;
    whole.commit()?;
    Ok(())
}

#[test]
fn what_is_there_keeps_a_type_from_asking_for_more() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        let key = AttributeDefinition::new("k", ValueType::Integer).key();
        t.define_type(
            TypeDefinition::entity("list").attribute(key).attribute(text("a")).attribute(text("b")),
        )?;
        t.tree()
            .put(&path("/list[k=1]"), &Item::new().property("k", 1).property("a", "x").property("b", "x"))?;
        t.tree().put(&path("/list[k=2]"), &Item::new().property("k", 2).property("a", "x"))
    })?;
    let list = || {
        let key = AttributeDefinition::new("k", ValueType::Integer).key();
        TypeDefinition::entity("list").attribute(key)
    };
    let plain = || list().attribute(text("a")).attribute(text("b"));
    let referring = |to: &str| list().attribute(text("a").referring_to(to)).attribute(text("b"));
    let define = |definition: TypeDefinition| repository.transact(|t| t.define_type(definition.clone()));
    for (definition, kind) in [
        (plain().unique_together(&["a"]), ErrorKind::NotUnique),
        (plain().requiring_child("c"), ErrorKind::Cardinality),
        (referring("/list/k"), ErrorKind::MissingEnd),
    ] {
        let error = define(definition).expect_err("it should be refused");
        assert_eq!(error.kind(), kind);
        assert!(error.context().iter().any(|(name, _)| *name == "already there"), "{error}");
    }
    define(plain().unique_together(&["a", "b"]))?;
    assert_eq!(kind_of(set(&repository, "/list[k=2]/b", "x")), ErrorKind::NotUnique);
    define(referring("/list/b"))?;
    assert_eq!(kind_of(set(&repository, "/list[k=1]/b", "y")), ErrorKind::MissingEnd);
    // A violation that the same transaction repairs is no error.
    repository.transact(|t| {
        t.define_type(referring("/list/b").requiring_child("c"))?;
        t.tree().merge(&path("/list[k=1]/c"), &Item::new())?;
        t.tree().merge(&path("/list[k=2]/c"), &Item::new())
    })?;
    // Taken away again.
    define(plain())?;
    delete(&repository, "/list[k=1]/c")?;
    set(&repository, "/list[k=2]/b", "x")?;
    // A name on the path becomes that of a list.
    define(plain().attribute(text("d").referring_to("/names/name")))?;
    edit(&repository, |tree| {
        tree.set(&path("/names/name"), "n")?;
        tree.set(&path("/list[k=1]/d"), "n")
    })?;
    let names = TypeDefinition::entity("names").attribute(text("id").key());
    assert_eq!(kind_of(define(names.clone())), ErrorKind::MissingEnd);
    repository.transact(|t| {
        t.define_type(names.clone())?;
        t.tree().set(&path("/names[id='x']/name"), "n")
    })?;
    delete(&repository, "/names[id='x']").expect_err("it is referred to");
    Ok(())
}

#[test]
fn a_type_cannot_ask_for_what_makes_no_sense() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    for to in
        ["x", "/a[k=1]/b", "//b", "/a/*", "/a[1]/b", "", "/", "../", "..", "../..", "/a/../b", "/a[b > 1]/c"]
    {
        let definition = TypeDefinition::entity("e").attribute(text("a").referring_to(to));
        let refused = repository.transact(|t| t.define_type(definition.clone()));
        assert_eq!(kind_of(refused), ErrorKind::TypeViolation, "{to}");
    }
    let anything = AttributeDefinition::new("a", ValueType::Any);
    for definition in [
        TypeDefinition::relationship("r").attribute(text("a").referring_to("/a/b")),
        TypeDefinition::entity("e").attribute(anything.clone().referring_to("/a/b")),
        TypeDefinition::entity("e").attribute(anything).unique_together(&["a"]),
        TypeDefinition::entity("e").attribute(text("a").many()).unique_together(&["a"]),
        TypeDefinition::entity("e").unique_together(&["a"]),
    ] {
        let refused = repository.transact(|t| t.define_type(definition.clone()));
        assert_eq!(kind_of(refused), ErrorKind::TypeViolation);
    }
    repository.transact(|t| {
        t.define_type(TypeDefinition::entity("above").attribute(text("a").referring_to("/a/b")))
    })?;
    let below = TypeDefinition::entity("below").supertype("above").attribute(text("a").referring_to("/a/c"));
    assert_eq!(kind_of(repository.transact(|t| t.define_type(below.clone()))), ErrorKind::TypeViolation);
    Ok(())
}

#[test]
fn constraints_hold_after_reopening_from_the_log_and_from_a_checkpoint() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("repository");
    let repository = CheckedRepository::open_with(&place, Options::default());
    with_devices(&repository)?;
    for name in ["eth0", "eth1"] {
        set(&repository, &format!("/device[id='a']/interface[name='{name}']/address"), "x")?;
    }
    set(&repository, "/device[id='a']/interface[name='eth0']/port", 1)?;
    set(&repository, "/device[id='a']/interface[name='eth0']/mac", "m")?;
    edit(&repository, |tree| {
        let route = Item::new().property("number", 1).property("via", "eth0").property("backup", "eth2");
        tree.put(&path("/device[id='a']/route[number=1]"), &route)?;
        tree.set(&path("/device[id='a']/route[number=1]/macs"), Value::set([Value::from("m")])?)
    })?;
    let check = |repository: &Repository| {
        let refused = [
            delete(repository, "/device[id='b']/system"),
            set(repository, "/device[id='a']/interface[name='eth1']/port", 1),
            delete(repository, "/device[id='a']/interface[name='eth0']"),
            delete(repository, "/device[id='b']/interface[name='eth2']"),
            set(repository, "/device[id='a']/interface[name='eth0']/mac", "n"),
        ];
        let kinds = refused.map(kind_of);
        let [cardinality, unique, missing] =
            [ErrorKind::Cardinality, ErrorKind::NotUnique, ErrorKind::MissingEnd];
        assert_eq!(kinds, [cardinality, unique, missing, missing, missing]);
    };
    check(&repository);
    repository.close();
    let repository = CheckedRepository::open_with(&place, Options::default());
    check(&repository);
    repository.checkpoint()?;
    repository.close();
    let repository = CheckedRepository::open_with(&place, Options::default());
    check(&repository);
    Ok(())
}

/// An instance was purged after others had stopped needing it. Without it, the records from before that would break the
/// rules.
#[test]
fn a_compaction_takes_out_what_once_was_needed() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("repository");
    let repository = CheckedRepository::open_with(&place, Options::default());
    with_devices(&repository)?;
    set(&repository, "/device[id='a']/route[number=1]/via", "eth0")?;
    let (system, eth0) = (
        id_of(&repository, "/device[id='a']/system"),
        id_of(&repository, "/device[id='a']/interface[name='eth0']"),
    );
    edit(&repository, |tree| {
        tree.delete(&path("/device[id='a']/system"))?;
        tree.merge(&path("/device[id='a']/system"), &Item::new())?;
        tree.delete(&path("/device[id='a']/interface[name='eth0']"))?;
        tree.merge(&path("/device[id='a']/interface[name='eth0']"), &Item::new())
    })?;
    repository.transact(|t| {
        t.purge(&system)?;
        t.purge(&eth0)
    })?;
    assert!(repository.compact()?.changes_count > 0);
    assert_eq!(kind_of(delete(&repository, "/device[id='a']/interface[name='eth0']")), ErrorKind::MissingEnd);
    repository.close();
    let repository = CheckedRepository::open_with(&place, Options::default());
    assert_eq!(kind_of(delete(&repository, "/device[id='a']/system")), ErrorKind::Cardinality);
    Ok(())
}

/// Copies are as they are at home, so the rules of this repository do not apply. They apply to an instance that is
/// re-homed here.
#[test]
fn copies_are_not_asked() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    with_devices(&repository)?;
    let there = Provenance { home: Some("there".into()), ..Provenance::default() };
    let stamp = Stamp { instant: "2020-01-01T00:00:00Z".parse()?, author: "bob".into() };
    let header =
        CopyHeader { provenance: there, version: 1, status: None, created: stamp.clone(), updated: stamp };
    let id = Id::new("far")?;
    repository.transact(|t| {
        t.save_entity_copy(EntityCopy {
            id: id.clone(),
            type_name: "device".into(),
            properties: vec![("id".into(), Value::from("far"))],
            classifications: Vec::new(),
            header: header.clone(),
        })
    })?;
    let rehomed = repository.transact(|t| t.rehome(&InstanceId::Entity(id.clone()), "there"));
    assert_eq!(kind_of(rehomed), ErrorKind::Cardinality);
    Ok(())
}

/// Whether all is right in a tree, found by looking at all of it.
fn is_whole(snapshot: &Snapshot) -> Result<bool> {
    let tree = snapshot.tree();
    let values = |at: &str, property: &str| -> Result<Vec<Value>> {
        let found = tree.find(&path(at), 1000)?;
        Ok(found.iter().filter_map(|item| item.entity.property(property)).collect())
    };
    for device in tree.find(&path("/device"), 1000)? {
        let at = device.path()?;
        let system = tree.item(&path(&format!("{at}/system")))?;
        if system.is_none() || values(&format!("{at}/interface"), "name")?.is_empty() {
            return Ok(false);
        }
    }
    let mut met = BTreeSet::new();
    for item in tree.find(&path("//interface"), 1000)? {
        let (parent, _) = item.path()?.split_last().unwrap();
        let of = |property| item.entity.property(property);
        if let (Some(address), Some(port)) = (of("address"), of("port"))
            && !met.insert(format!("{parent} {address:?} {port:?}"))
        {
            return Ok(false);
        }
    }
    let devices = values("/device", "id")?;
    let everywhere = values("/device/interface", "name")?;
    for item in tree.find(&path("//route"), 1000)? {
        let (parent, _) = item.path()?.split_last().unwrap();
        let names = values(&format!("{parent}/interface"), "name")?;
        let macs = values(&format!("{parent}/interface"), "mac")?;
        let of = |property| item.entity.property(property);
        let is_right = of("via").is_none_or(|name| names.contains(&name))
            && of("backup").is_none_or(|name| everywhere.contains(&name))
            && of("next").is_none_or(|id| devices.contains(&id))
            && of("same").is_none_or(|name| of("via") == Some(name))
            && match of("macs") {
                Some(Value::Set(wanted)) => wanted.iter().all(|mac| macs.contains(&mac)),
                _ => true,
            };
        if !is_right {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Does something to the tree in a transaction, which begins at a position.
fn change(transaction: &mut Transaction, random: &mut Random, now: u64) -> Result<()> {
    let device = format!("/device[id='{}']", random.below(3));
    let at = format!("{device}/interface[name='{}']", random.below(3));
    let route = format!("{device}/route[number={}]", random.below(2));
    let other = random.below(3);
    let before = Position(now.saturating_sub(1 + random.below(8) as u64));
    let before = AsOf { position: Some(before), ..AsOf::default() };
    let mut tree = transaction.tree();
    match random.below(16) {
        0 => tree.merge(&path(&device), &Item::new().child("system", Item::new())).map(drop),
        1 | 2 => tree.merge(&path(&at), &Item::new().property("mac", format!("m{other}"))).map(drop),
        3 => tree.set(&path(&format!("{at}/address")), format!("{}", random.below(2))),
        4 => tree.set(&path(&format!("{at}/port")), 1),
        5 | 6 => {
            let property = ["via", "backup", "next", "same"][random.below(4)];
            tree.set(&path(&format!("{route}/{property}")), format!("{other}"))
        }
        7 => tree.set(&path(&format!("{route}/macs")), Value::set([Value::from(format!("m{other}"))])?),
        8 => tree.remove(&path(&at)).map(drop),
        9 => tree.remove(&path(&[device, route][random.below(2)])).map(drop),
        10 => {
            let to = format!("/device[id='{other}']/interface[name='{}']", random.below(3));
            tree.move_to(&path(&at), &path(&to), None)
        }
        11 => tree.move_to(&path(&route), &path(&format!("/device[id='{other}']/route[number=1]")), None),
        12 => tree.revert(&path(&[device, at, route][random.below(3)]), before),
        13 => tree.restore(&path(&[device, at, route][random.below(3)]), before).map(drop),
        _ => {
            let found = transaction.view()?.tree().item(&path(&[device, at][random.below(2)]))?;
            let Some(id) = found.map(|item| InstanceId::Entity(item.entity.id().clone())) else {
                return Ok(());
            };
            match random.below(3) {
                0 => transaction.purge(&id),
                1 => transaction.retype(&id, "other"),
                _ => transaction.update(&id, Patch::new().set("name", format!("{other}"))),
            }
        }
    }
}

#[test]
fn what_is_committed_is_whole_and_what_is_refused_is_not() -> Result<()> {
    let [mut committed, mut refused] = [0, 0];
    for seed in seeds("ANNALS_CONSTRAINTS_SEED", 30) {
        let repository = CheckedRepository::in_memory();
        declare(&repository)?;
        let other = TypeDefinition::entity("other").attribute(text("name").key());
        repository.transact(|t| t.define_type(other.clone()))?;
        let mut random = Random(seed);
        for step in 0..120 {
            let mut transaction = repository.transaction();
            let now = repository.snapshot().position().0;
            // A change that is refused at once may have been made in part.
            let mut changes = 0..=random.below(5);
            if changes.any(|_| change(&mut transaction, &mut random, now).is_err()) {
                continue;
            }
            let Ok(view) = transaction.view() else { continue };
            let is_right = is_whole(view)?;
            let outcome = transaction.commit();
            assert_eq!(outcome.is_ok(), is_right, "seed {seed}, step {step}: {:?}", outcome.err());
            *(if is_right { &mut committed } else { &mut refused }) += 1;
        }
    }
    assert!(committed > 100 && refused > 100, "{committed} {refused}");
    Ok(())
}

/// Instances that are created or deleted together while no type has rules are not checked one by one.
#[test]
fn rules_that_a_record_takes_away_and_declares_again_hold_at_its_end() -> Result<()> {
    let lax = || TypeDefinition::entity("device").attribute(text("id"));
    let strict = || lax().requiring_child("system").unique_together(&["id"]);
    for count in [1, 3, 4, 40] {
        let repository = CheckedRepository::in_memory();
        repository.transact(|t| t.define_type(TypeDefinition::relationship("contains").containing()))?;
        repository.transact(|t| t.define_type(strict()))?;
        let put = |t: &mut Transaction, at: &str| {
            let item = Item::new().of_type("device").property("id", at).child("system", Item::new());
            t.tree().put(&path(at), &item).map(drop)
        };
        let paths: Vec<String> = (0..count).map(|number| format!("/d{number}")).collect();
        repository.transact(|t| paths.iter().try_for_each(|at| put(t, at)))?;
        let between = |work: &dyn Fn(&mut Transaction) -> Result<()>| {
            repository.transact(|t| {
                t.define_type(lax())?;
                work(t)?;
                t.define_type(strict())
            })
        };
        let create = |t: &mut Transaction| t.create_entity(NewEntity::new("device")).map(drop);
        let created = between(&|t| (0..count).try_for_each(|_| create(t)));
        assert_eq!(kind_of(created), ErrorKind::Cardinality, "{count}");
        let empty = |t: &mut Transaction, at: &str| t.tree().delete(&path(&format!("{at}/system"))).map(drop);
        let deleted = between(&|t| paths.iter().try_for_each(|at| empty(t, at)));
        assert_eq!(kind_of(deleted), ErrorKind::Cardinality, "{count}");
        between(&|t| paths.iter().try_for_each(|at| put(t, &format!("/other{at}"))))?;
    }
    Ok(())
}
