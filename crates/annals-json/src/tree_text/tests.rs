//! Trees are parsed back equal to those written.

use annals::{
    AttributeDefinition, Branch, EndDefinition, Item, ListOptions, Literal, Repository, TypeDefinition,
    ValueType,
};
use serde_json::{Value as Json, json};

use super::*;
use crate::{TreeContent, item_from_json, tree_content_from_json};

const WHOLE: TreeExtent = TreeExtent { depth: None, has_ids: true };
const PLAIN: TreeExtent = TreeExtent { depth: None, has_ids: false };

/// A list with two keys, and one that users order; members cannot have the name of the second.
fn repository() -> Repository {
    let repository = Repository::in_memory();
    let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
    repository
        .transact(|t| {
            let lst = TypeDefinition::entity("lst").attribute(key("k1", ValueType::Integer));
            t.define_type(lst.attribute(key("k2", ValueType::String)))?;
            t.define_type(TypeDefinition::entity("@odd").attribute(key("k", ValueType::Integer)))?;
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            let orders = TypeDefinition::relationship("orders").containing_in_order();
            t.define_type(orders.between(EndDefinition::ANY, EndDefinition::many("@odd")))
        })
        .unwrap();
    repository
}

fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

fn put(repository: &Repository, text: &str, item: &Item) {
    repository.transact(|t| t.tree().put(&path(text), item).map(|_| ())).unwrap();
}

fn read(repository: &Repository, text: &str, extent: &TreeExtent) -> Json {
    tree_to_json(&repository.snapshot(), None, &path(text), extent).unwrap()
}

#[test]
fn a_configuration_reads_back_as_written() {
    let repository = repository();
    let json = json!({
        "hostname": "r1", "up": true, "load": 0.5, "tags": [1, "a", {"$date": "2025-08-09"}],
        "since": {"$date": "2025-08-09"}, "route": {"$list": [1, {"a": [2]}]}, "none": {"$set": []},
        "order": [3, 1, 3], "any": {"$set": [1, 2]}, "empty": {"$list": []},
        "labels": {"$map": {"env": "lab"}},
        "clock": {"zone": "UTC", "empty": {}},
        "lst": [
            {"k1": 9, "k2": "a", "mtu": 1500, "state": {"up": true}},
            {"k1": 10, "k2": "a", "lst": [{"k1": 1, "k2": "b"}]},
        ],
    });
    put(&repository, "/config", &item_from_json(&json).unwrap());
    assert_eq!(read(&repository, "/config", &PLAIN), json);
    assert_eq!(read(&repository, "/config/lst[k1=9][k2='a']/state", &PLAIN), json!({"up": true}));
    assert_eq!(read(&repository, "/config/tags", &PLAIN), json["tags"]);
    assert_eq!(read(&repository, "/config/none/such", &PLAIN), Json::Null);
    let short = TreeExtent { depth: Some(0), has_ids: false };
    assert_eq!(read(&repository, "/config/lst[1]", &short), json!({"k1": 9, "k2": "a", "mtu": 1500}));
    // The parsed tree can be put back: nothing changes.
    let before = repository.snapshot().position();
    put(&repository, "/config", &item_from_json(&read(&repository, "/config", &WHOLE)).unwrap());
    assert_eq!(repository.snapshot().position(), before);
}

#[test]
fn names_that_would_mean_something_else_stand_apart() {
    let repository = repository();
    let child = |number: i64| Item::new().property("n", number);
    let item = Item::new()
        .property("a", 1)
        .property("lst", 2)
        .property("@id", 3)
        .property("$odd", 4)
        .child("a", child(5))
        .child("$x", child(6))
        .child("lst", child(7).of_type("container"))
        .child("z", Item::new().property("$date", "no date"))
        .listed("lst", child(8).property("k1", 1).property("k2", ""))
        .listed("@odd", child(9).property("k", 2))
        .listed("@odd", child(10).property("k", 1));
    put(&repository, "/x", &item);
    let expected = json!({
        "a": 1, "lst": 2, "@properties": {"@id": 3, "$odd": 4}, "z": {"@properties": {"$date": "no date"}},
        "@children": {"$x": {"n": 6}, "a": {"n": 5}, "lst": {"n": 7}},
        "@lists": {"lst": [{"k1": 1, "k2": "", "n": 8}], "@odd": [{"k": 2, "n": 9}, {"k": 1, "n": 10}]},
    });
    assert_eq!(read(&repository, "/x", &PLAIN), expected);
    let whole = item_from_json(&read(&repository, "/x", &WHOLE)).unwrap();
    let found = repository.snapshot().tree().get(&path("/x"), None).unwrap().unwrap();
    assert_eq!(sorted(whole), sorted(found));
}

/// The same item with properties and children by name; lists keep their order.
fn sorted(mut item: Item) -> Item {
    item.properties.sort_by(|a, b| a.0.cmp(&b.0));
    item.children.sort_by(|a, b| (a.is_listed, &a.name).cmp(&(b.is_listed, &b.name)));
    item.children =
        item.children.into_iter().map(|child| Branch { item: sorted(child.item), ..child }).collect();
    item
}

/// The next pseudo-random number.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 40).unwrap()
}

fn random_value(state: &mut u64) -> Value {
    match next(state) % 11 {
        0 => Value::Integer(i64::try_from(next(state)).unwrap()),
        1 => Value::Float(0.5),
        2 => Value::Boolean(true),
        3 => Value::List([Value::from("x"), Value::List([].into())].into()),
        4 => Value::set([Value::from(1), Value::Date("2025-08-09".parse().unwrap())]).unwrap(),
        5 => Value::set([]).unwrap(),
        6 => Value::Map(Arc::new([("$a".into(), Value::from(1))].into_iter().collect())),
        7 => Value::Bytes([0, 1].into()),
        8 => Literal::in_language("chat", "fr").unwrap().into(),
        9 => Value::set([Literal::with_datatype("1789", "urn:year").unwrap().into()]).unwrap(),
        _ => Value::from("a \"text\""),
    }
}

fn random_item(state: &mut u64, depth: usize) -> Item {
    const NAMES: [&str; 8] = ["a", "b", "lst", "@odd", "@id", "$x", "a/b", "é\""];
    let mut item = Item::new();
    for name in NAMES {
        if next(state).is_multiple_of(3) {
            item = item.property(name, random_value(state));
        }
        if depth > 0 && next(state).is_multiple_of(3) {
            item = item.child(name, random_item(state, depth - 1).of_type("container"));
        }
    }
    for number in 0..next(state) % 3 {
        let number = i64::try_from(number).unwrap();
        if depth > 0 {
            let keyed = random_item(state, depth - 1).property("k1", number).property("k2", "x");
            item = item.listed("lst", keyed);
            let keyed = random_item(state, depth - 1).property("k", -number);
            item = item.listed("@odd", keyed);
        }
    }
    item
}

#[test]
fn random_trees_read_back_as_written() {
    let repository = repository();
    let seed: u64 = std::env::var("ANNALS_TREE_SEED").map_or(1, |text| text.parse().unwrap());
    for seed in seed..seed + 40 {
        println!("ANNALS_TREE_SEED={seed}");
        let mut state = seed;
        put(&repository, "/random", &random_item(&mut state, 3));
        let found = repository.snapshot().tree().get(&path("/random"), None).unwrap().unwrap();
        let json = read(&repository, "/random", &WHOLE);
        assert_eq!(sorted(item_from_json(&json).unwrap()), sorted(found), "seed {seed}");
    }
}

#[test]
fn what_is_no_tree_is_refused_with_its_place() {
    for (text, member) in [
        (r#"{"a": {"b": null}}"#, "a/b"),
        (r#"{"a": [{"k": 1}, {"k": [[1]]}]}"#, "a/1/k"),
        (r#"{"a": [1, {}]}"#, "a"),
        (r#"{"@what": 1}"#, "@what"),
        (r#"{"@id": 1}"#, "@id"),
        (r#"{"b": {"a": 1, "@properties": {"a": 2}}}"#, "b/a"),
        (r#"{"@children": {"c": 1}}"#, "@children/c"),
        (r#"{"@lists": {"l": {}}}"#, "@lists"),
    ] {
        let error = item_from_json(&serde_json::from_str(text).unwrap()).unwrap_err();
        assert_eq!(error.kind(), annals::ErrorKind::InvalidArgument, "{text}");
        assert!(error.context().contains(&("member", member.to_owned())), "{text}: {error}");
    }
    for text in ["[]", "[[1]]", "[{}]", "null"] {
        assert!(tree_content_from_json(&serde_json::from_str(text).unwrap()).is_err(), "{text}");
    }
    let list = tree_content_from_json(&json!([2, 1, 2])).unwrap();
    assert_eq!(list, TreeContent::Value(Value::List(vec![2.into(), 1.into(), 2.into()].into())));
}

#[test]
fn the_text_can_be_taken_while_it_is_written() {
    let repository = repository();
    let all = (0..100).fold(Item::new().property("lst", 1), |all, number| {
        all.listed("lst", Item::new().property("k1", number).property("k2", ""))
            .listed("@odd", Item::new().property("k", number).child("c", Item::new()))
    });
    put(&repository, "/x/y", &all);
    let snapshot = repository.snapshot();
    let (mut taken, mut times) = (Vec::new(), 0);
    let is_there = write_tree(&snapshot, &snapshot.tree(), &path("/x"), &PLAIN, &mut |text| {
        times += 1;
        taken.append(&mut text.take());
        Ok(())
    });
    assert_eq!(is_there.unwrap(), Some(Vec::new()));
    let json: Json = serde_json::from_slice(&taken).unwrap();
    assert_eq!(json, read(&repository, "/x", &PLAIN));
    // Both lists go aside as a whole.
    assert_eq!((times, json["y"]["@lists"]["@odd"].as_array().unwrap().len()), (2, 100));
}

#[test]
fn an_entry_tells_its_path_and_what_it_has_itself() {
    let repository = repository();
    put(&repository, "/x/y", &item_from_json(&json!({"@id": "y", "n": [1], "z": {}})).unwrap());
    let snapshot = repository.snapshot();
    let page = snapshot.tree().list(&path("/x"), &ListOptions::default()).unwrap().unwrap();
    let entries: Vec<TreeEntry> =
        page.items.into_iter().map(|found| TreeEntry::new(found).unwrap()).collect();
    let expected = json!([{"id": "y", "path": "/x/y", "type": "container", "value": {"n": [1]}}]);
    assert_eq!(tree(&entries), expected);
    let property = snapshot.tree().item(&path("/x/y/n")).unwrap().unwrap();
    let expected = json!({"id": "y", "path": "/x/y/n", "property": "n", "type": "container", "value": [1]});
    assert_eq!(tree(&TreeEntry::new(property).unwrap()), expected);
}
