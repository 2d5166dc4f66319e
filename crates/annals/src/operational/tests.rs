//! The bounds of pushed state, with small ones.

use super::*;
use crate::log::MemoryLog;
use crate::model::{AttributeDefinition, TypeDefinition, ValueType};
use crate::options::Options;

const LONG: Duration = Duration::from_secs(600);
const MIB: u64 = 1 << 20;

fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

/// A view in which a lease has room for 1 MiB, and all together for 4.
fn small(names: &[&str]) -> Operational {
    let repository = Repository::with_log(Arc::new(MemoryLog::new()), Options::default()).unwrap();
    let operational = Operational::within(&repository, Term::default(), Account::of(MIB, 4 * MIB)).unwrap();
    names.iter().for_each(|name| operational.open_lease(name, LONG).unwrap());
    operational
}

/// An item with 64 KiB in each of `count` children.
fn large(count: usize) -> Item {
    let child = Item::new().property("text", "x".repeat(64 << 10));
    (0..count).fold(Item::new(), |item, number| item.child(&format!("c{number}"), child.clone()))
}

#[test]
fn a_lease_that_is_full_refuses_its_own_pushes_and_no_others() {
    let operational = small(&["full", "other"]);
    let push = |number: usize| {
        let path = path(&format!("/b{number}"));
        operational.push("full", |tree| tree.merge(&path, &large(4)))
    };
    for number in 0..3 {
        push(number).unwrap();
    }
    let error = push(3).unwrap_err();
    assert_eq!((error.kind(), error.text().contains("1048576")), (ErrorKind::TooLarge, true), "{error}");
    assert!(operational.get(&path("/b3"), None).unwrap().is_none(), "all or nothing");
    operational.push("other", |tree| tree.set(&path("/b0/leaf"), 1)).unwrap();
    // A deletion gives its room back, though the history still has the deleted state.
    for _ in 0..4 {
        operational.push("full", |tree| tree.delete(&path("/b0"))).unwrap();
        push(0).unwrap();
    }
    operational.end_lease("full").unwrap();
    operational.open_lease("full", LONG).unwrap();
    assert!(operational.get(&path("/b1"), None).unwrap().is_none());
    push(0).unwrap();
}

#[test]
fn all_leases_together_have_a_bound_and_give_room_back_when_they_end() {
    let operational = small(&["a", "b", "c", "d", "e", "f"]);
    let push = |name: &str| operational.push(name, |tree| tree.merge(&path("/x"), &large(13)));
    for name in ["a", "b", "c", "d"] {
        push(name).unwrap();
    }
    let error = push("e").unwrap_err();
    assert_eq!((error.kind(), error.text().contains("4194304")), (ErrorKind::Busy, true), "{error}");
    operational.end_lease("a").unwrap();
    for _ in 0..500 {
        if operational.pushed_bytes() > 3 * MIB {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    push("e").unwrap();
    // Histories give way: the state of each is small.
    let operational = small(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    for round in 0..24 {
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let text = format!("{round}{}", "x".repeat(200 << 10));
            operational.push(name, |tree| tree.set(&path("/x/text"), &*text)).unwrap();
        }
    }
    assert!(operational.pushed_bytes() <= 4 * MIB);
}

#[test]
fn pushed_state_counts_against_the_memory_budget() {
    let options = Options { memory_bytes_max: Some(16 * MIB), ..Options::default() };
    let repository = Repository::with_log(Arc::new(MemoryLog::new()), options).unwrap();
    let operational = Operational::over(&repository).unwrap();
    operational.open_lease("a", LONG).unwrap();
    // The process holds more than the smallest budget.
    let held = std::hint::black_box(vec![1_u8; 32 << 20]);
    let item = large(4);
    let error = operational.push("a", |tree| tree.merge(&path("/x"), &item)).unwrap_err();
    drop(held);
    assert_eq!(error.kind(), ErrorKind::NoRoom, "{error}");
    assert!(error.text().starts_with("memory: expected at most 16.0 MiB"), "{error}");
}

/// The thread waited for the lock of one ended lease, and freed none of the others.
#[test]
fn a_lease_that_somebody_pushes_to_keeps_no_other_one_from_being_freed() {
    let operational = small(&["busy", "other"]);
    operational.push("other", |tree| tree.merge(&path("/x"), &large(1))).unwrap();
    let (begun, is_begun) = std::sync::mpsc::channel();
    let (end, is_ended) = std::sync::mpsc::channel::<()>();
    let operational = &operational;
    std::thread::scope(|scope| {
        let pushing = scope.spawn(move || {
            operational.push("busy", |_| {
                begun.send(()).unwrap();
                let _ = is_ended.recv();
                Ok(())
            })
        });
        is_begun.recv().unwrap();
        operational.end_lease("busy").unwrap();
        operational.end_lease("other").unwrap();
        let deadline = Clock::now() + Duration::from_secs(5);
        while operational.pushed_bytes() > 0 && Clock::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let left = operational.pushed_bytes();
        end.send(()).unwrap();
        assert_eq!(pushing.join().unwrap().unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(left, 0);
    });
}

/// A push of new state was taken for history, and copied at once.
#[test]
fn new_state_is_not_copied_and_histories_still_are() {
    let operational = small(&["a"]);
    let mut events = operational.subscribe("a", &TreePath::root(), None).unwrap();
    operational.push("a", |tree| tree.merge(&path("/x"), &large(10))).unwrap();
    assert!(events.poll().unwrap().is_some());
    assert!(events.poll().unwrap().is_none(), "packing would end the subscription");
    // Items that come and go are history.
    let items = (0..200).fold(Item::new(), |item, number| item.child(&format!("c{number}"), Item::new()));
    let state = operational.pushed_bytes();
    for _ in 0..10 {
        operational.push("a", |tree| tree.merge(&path("/y"), &items)).unwrap();
        operational.push("a", |tree| tree.delete(&path("/y"))).unwrap();
    }
    let ended = std::iter::repeat_with(|| events.poll()).take(100).find_map(Result::err);
    assert_eq!(ended.unwrap().kind(), ErrorKind::Closed);
    assert!(operational.pushed_bytes() < state + state / 2 + MIB / 8, "{}", operational.pushed_bytes());
}

#[test]
fn a_value_that_its_type_refuses_stays_refused_when_the_same_push_sets_another() {
    let repository = Repository::in_memory();
    let number = AttributeDefinition::new("n", ValueType::Integer).required().within(0, 9);
    let node = TypeDefinition::entity("node").attribute(number);
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.define_type(node.clone())
        })
        .unwrap();
    let operational = Operational::over(&repository).unwrap();
    operational.open_lease("l", LONG).unwrap();
    let item = |n: i64| Item { type_name: Some("node".into()), ..Item::new().property("n", n) };
    let twice = |tree: &mut TreeEdit<'_>, first: i64| {
        tree.create(&path("/a"), &item(first))?;
        tree.set(&path("/a/n"), 0)
    };
    let pushed = operational.push("l", |tree| twice(tree, 10)).map_err(|error| error.kind());
    assert_eq!(pushed, Err(ErrorKind::InvalidProperty));
    let committed = repository.transact(|t| twice(&mut t.tree(), 10)).map(drop).map_err(|error| error.kind());
    assert_eq!(committed, Err(ErrorKind::InvalidProperty));
    let without = Item { type_name: Some("node".into()), ..Item::new() };
    let late = repository.transact(|t| {
        t.tree().create(&path("/a"), &without)?;
        t.tree().set(&path("/a/n"), 0)
    });
    assert_eq!(late.map(drop).map_err(|error| error.kind()), Err(ErrorKind::InvalidProperty));
    operational.push("l", |tree| twice(tree, 1)).unwrap();
    repository.transact(|t| twice(&mut t.tree(), 1)).unwrap();
}
