//! How long a large tree takes as JSON. Run by hand: `cargo test --release -p annals-json --test tree_speed -- --ignored --nocapture`.

use std::time::Instant as Clock;

use annals::{AttributeDefinition, Item, Repository, TreePath, TypeDefinition, ValueType};
use annals_json::{TreeExtent, item_from_json, json_from_slice, write_tree};

#[test]
#[ignore = "measures"]
fn a_hundred_thousand_items_as_json() {
    let repository = Repository::in_memory();
    let path = TreePath::parse("/cont").unwrap();
    let all = (0..100_000).fold(Item::new(), |all, number: i64| {
        let item = Item::new().property("k1", number).property("k2", format!("str{number}"));
        all.listed("lst", item.property("l", format!("l{number}")))
    });
    repository
        .transact(|t| {
            let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
            let lst = TypeDefinition::entity("lst").attribute(key("k1", ValueType::Integer));
            t.define_type(lst.attribute(key("k2", ValueType::String)))?;
            t.tree().put(&path, &all).map(|_| ())
        })
        .unwrap();
    let snapshot = repository.snapshot();
    for has_ids in [false, true, false] {
        let start = Clock::now();
        let extent = TreeExtent { depth: None, has_ids };
        let text = write_tree(&snapshot, &snapshot.tree(), &path, &extent, &mut |_| Ok(())).unwrap().unwrap();
        println!("write {} bytes {:?}", text.len(), start.elapsed());
        let start = Clock::now();
        let json = json_from_slice(&text).unwrap();
        println!("parse {:?}", start.elapsed());
        let start = Clock::now();
        let item = item_from_json(&json).unwrap();
        println!("read {} items {:?}", item.items_count(), start.elapsed());
    }
}
