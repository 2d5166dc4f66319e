//! The operational view: what is pushed under leases and told by providers, merged over the running tree.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant as Clock};

use crate::support::declare_lists;
use crate::support::trees::path;
use crate::support::typed::kind_of;
use annals::log::MemoryLog;
use annals::*;

const LONG: Duration = Duration::from_secs(600);

fn lease(name: &str) -> Origin {
    Origin::Lease(name.into())
}

/// Two items of a sorted list and two of one that users order.
fn running() -> Repository {
    let repository = Repository::in_memory();
    declare_lists(&repository);
    repository
        .transact(|t| {
            for k in [1, 3] {
                t.tree().set(&path(&format!("/cont/lst[k1={k}][k2='a']/l")), "running")?;
            }
            for k in [9, 5] {
                t.tree().set(&path(&format!("/cont/usr-lst[k={k}]/l")), "running")?;
            }
            Ok(())
        })
        .unwrap();
    repository
}

fn listed(item: &OperationalItem, list: &str, key: &str) -> Vec<(i64, Origin)> {
    let key = |item: &OperationalItem| match item.property(key) {
        Some((Value::Integer(number), _)) => (*number, item.origin.clone()),
        other => panic!("{other:?}"),
    };
    item.children(list).map(key).collect()
}

#[test]
fn pushed_state_is_merged_with_its_origin_and_is_gone_with_its_lease() {
    let repository = running();
    let operational = Operational::over(&repository).unwrap();
    let before = repository.snapshot().position();
    operational.open_lease("a", LONG).unwrap();
    operational
        .push("a", |tree| {
            tree.set(&path("/cont/lst[k1=2][k2='a']/l"), "pushed")?;
            tree.set(&path("/cont/lst[k1=3][k2='a']/l"), "pushed")?;
            tree.set(&path("/cont/usr-lst[k=1]/l"), "pushed")
        })
        .unwrap();
    let all = operational.get(&path("/cont"), None).unwrap().unwrap();
    let expected = [(1, Origin::Running), (2, lease("a")), (3, Origin::Running)];
    assert_eq!(listed(&all, "lst", "k1"), expected);
    // Items that users ordered keep their order; pushed items follow them.
    let expected = [(9, Origin::Running), (5, Origin::Running), (1, lease("a"))];
    assert_eq!(listed(&all, "usr-lst", "k"), expected);
    let third = operational.get(&path("/cont/lst[k2='a'][k1='3']"), None).unwrap().unwrap();
    assert_eq!(third.property("l"), Some((&"pushed".into(), lease("a"))));
    assert_eq!(third.property("k1"), Some((&3.into(), Origin::Running)));
    // A later change of a leaf, and of what is not there.
    operational.push("a", |tree| tree.set(&path("/cont/lst[k1=3][k2='a']/l"), "again")).unwrap();
    assert_eq!(kind_of(operational.push("a", |tree| tree.delete(&path("/none")))), ErrorKind::NotFound);
    let flat = operational.get(&path("/cont"), Some(0)).unwrap().unwrap();
    assert!(flat.children.is_empty());
    // Nothing of it is in the history.
    assert_eq!(repository.snapshot().position(), before);
    operational.end_lease("a").unwrap();
    let all = operational.get(&path("/cont"), None).unwrap().unwrap();
    assert_eq!(listed(&all, "lst", "k1").len(), 2);
    assert_eq!(kind_of(operational.push("a", |_| Ok(()))), ErrorKind::NotFound);
    assert_eq!(kind_of(operational.end_lease("a")), ErrorKind::NotFound);
}

#[test]
fn a_lease_ends_by_itself_unless_it_is_renewed() {
    let repository = running();
    let operational = Operational::over(&repository).unwrap();
    operational.open_lease("short", Duration::from_millis(300)).unwrap();
    operational.open_lease("kept", Duration::from_millis(300)).unwrap();
    for name in ["short", "kept"] {
        operational.push(name, |tree| tree.set(&path(&format!("/{name}/leaf")), 1)).unwrap();
    }
    let mut subscription = operational.subscribe("short", &path("/short"), None).unwrap();
    operational.renew("kept", LONG).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(operational.get(&path("/short"), None).unwrap().is_none());
    assert!(operational.get(&path("/kept"), None).unwrap().is_some());
    assert_eq!(operational.leases().unwrap().len(), 1);
    assert_eq!(kind_of(operational.renew("short", LONG)), ErrorKind::NotFound);
    // A subscription ends with the lease.
    assert_eq!(kind_of(subscription.wait(Duration::from_secs(10))), ErrorKind::Closed);
    // The name is free again, and nothing is left.
    operational.open_lease("short", LONG).unwrap();
    assert!(operational.get(&path("/short"), None).unwrap().is_none());
}

#[test]
fn state_is_told_in_parts_and_held_to_the_types_of_its_values() {
    let repository = Repository::in_memory();
    let name = AttributeDefinition::new("name", ValueType::String).key();
    let mtu = AttributeDefinition::new("mtu", ValueType::Integer).required();
    let interface = TypeDefinition::entity("interface").attribute(name).attribute(mtu).closed();
    repository
        .transact(|t| {
            t.define_type(interface.clone())?;
            t.define_type(TypeDefinition::relationship("contains").containing())
        })
        .unwrap();
    let operational = Operational::over(&repository).unwrap();
    operational.open_lease("a", LONG).unwrap();
    let item = path("/interface[name='eth0']");
    operational.push("a", |tree| tree.merge(&item, &Item::new())).unwrap();
    assert!(operational.get(&item, None).unwrap().is_some());
    let wrong = Item::new().property("mtu", true);
    assert_eq!(kind_of(operational.push("a", |tree| tree.merge(&item, &wrong))), ErrorKind::InvalidProperty);
    // A type that is declared later is learned.
    let speed = AttributeDefinition::new("speed", ValueType::Integer);
    repository.transact(|t| t.define_type(interface.clone().attribute(speed.clone()))).unwrap();
    operational.push("a", |tree| tree.merge(&item, &Item::new().property("speed", 10))).unwrap();
}

#[test]
fn providers_are_asked_when_what_they_tell_is_read() {
    let repository = running();
    let operational = Operational::over(&repository).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let at = path("/cont/state");
    let provider = operational
        .provide("sensors", &at, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            let inner = Item::new().property("celsius", 40);
            Ok(Some(Item::new().property("is-up", true).child("temperature", inner)))
        })
        .unwrap();
    let of_provider = Origin::Provider("sensors".into());
    let all = operational.get(&path("/"), None).unwrap().unwrap();
    let state = all.children("cont").next().unwrap().children("state").next().unwrap().clone();
    assert_eq!(
        (state.origin.clone(), state.property("is-up")),
        (of_provider.clone(), Some((&true.into(), of_provider.clone())))
    );
    assert_eq!(listed(all.children("cont").next().unwrap(), "lst", "k1").len(), 2);
    let inner = operational.get(&path("/cont/state/temperature"), None).unwrap().unwrap();
    assert_eq!(inner.property("celsius"), Some((&40.into(), of_provider)));
    assert!(operational.get(&path("/cont/lst[k1=1][k2='a']"), None).unwrap().is_some());
    assert_eq!(calls.load(Ordering::SeqCst), 2, "it is not asked for what is elsewhere");
    let failing = operational.provide("broken", &path("/cont/state"), |_| {
        Err(Error::new(ErrorKind::Unavailable, "the sensor does not answer"))
    });
    assert_eq!(kind_of(operational.get(&at, None)), ErrorKind::Unavailable);
    drop(failing);
    drop(provider);
    assert!(operational.get(&at, None).unwrap().is_none());
}

/// An item with a text of `bytes` bytes in each of `count` children.
fn large(count: usize, bytes: usize) -> Item {
    let child = Item::new().property("text", "x".repeat(bytes));
    (0..count).fold(Item::new(), |item, number| item.child(&format!("c{number}"), child.clone()))
}

#[test]
fn a_lease_of_many_items_ends_at_once_and_is_packed_in_steps() {
    let operational = Operational::over(&running()).unwrap();
    operational.open_lease("many", LONG).unwrap();
    for k1 in 0..3 {
        operational
            .push("many", |tree| {
                let keyed = |k: i64| Item::new().property("k1", k).property("k2", "a").property("l", "x");
                let list =
                    (0..10_000).fold(Item::new(), |item, k| item.listed("lst", keyed(k1 * 10_000 + k)));
                tree.merge(&path("/cont"), &list)
            })
            .unwrap();
    }
    let nested = Item::new().property("n", 1).child("inner", large(100, 10).property("n", 2));
    operational.push("many", |tree| tree.merge(&path("/cont/lst[k1=7][k2='a']"), &nested)).unwrap();
    let before = operational.get(&path("/cont"), None).unwrap().unwrap();
    // More history than the bound and than the state: it is packed.
    for number in 0..12 {
        let text = format!("{number}{}", "x".repeat(4 << 20));
        operational.push("many", |tree| tree.set(&path("/cont/text"), &*text)).unwrap();
    }
    operational.push("many", |tree| tree.delete(&path("/cont/text"))).unwrap();
    assert!(operational.get(&path("/cont"), None).unwrap().unwrap() == before, "the same tree");
    let start = std::time::Instant::now();
    operational.end_lease("many").unwrap();
    let view = operational.get(&path("/cont"), None).unwrap().unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(view.children("lst").count(), 2);
}

#[test]
fn a_push_under_a_lease_that_ends_meanwhile_reaches_no_later_lease_of_its_name() {
    let operational = Operational::over(&running()).unwrap();
    operational.open_lease("a", LONG).unwrap();
    let late = operational.push("a", |tree| {
        operational.end_lease("a").unwrap();
        operational.open_lease("a", LONG).unwrap();
        tree.set(&path("/late/leaf"), 1)
    });
    assert_eq!(kind_of(late), ErrorKind::NotFound);
    assert!(operational.get(&path("/late"), None).unwrap().is_none());
    operational.push("a", |tree| tree.set(&path("/own/leaf"), 1)).unwrap();
    assert!(operational.get(&path("/late"), None).unwrap().is_none());
}

#[test]
fn a_view_waits_for_no_push() {
    let operational = Operational::over(&running()).unwrap();
    operational.open_lease("a", LONG).unwrap();
    operational.push("a", |tree| tree.set(&path("/x/leaf"), 1)).unwrap();
    operational
        .push("a", |tree| {
            let reader = operational.clone();
            let found = std::thread::spawn(move || reader.get(&path("/x"), None).unwrap().unwrap());
            assert_eq!(found.join().unwrap().property("leaf").unwrap().0, &1.into());
            tree.set(&path("/x/leaf"), 2)
        })
        .unwrap();
}

#[test]
fn what_is_pushed_for_long_is_packed_and_stays_and_subscriptions_end() {
    let operational = Operational::over(&running()).unwrap();
    operational.open_lease("a", LONG).unwrap();
    operational.push("a", |tree| tree.set(&path("/cont/lst[k1=2][k2='a']/l"), "kept")).unwrap();
    let mut subscription = operational.subscribe("a", &path("/cont"), None).unwrap();
    let text = |number: usize| format!("{number}{}", "x".repeat(4 << 20));
    for number in 0..70 {
        operational.push("a", |tree| tree.set(&path("/cont/text"), text(number))).unwrap();
    }
    while let Ok(Some(_)) = subscription.poll() {}
    assert_eq!(kind_of(subscription.poll()), ErrorKind::Closed);
    let all = operational.get(&path("/cont"), None).unwrap().unwrap();
    assert_eq!(all.property("text"), Some((&text(69).as_str().into(), lease("a"))));
    assert_eq!(listed(&all, "lst", "k1").len(), 3);
    operational.push("a", |tree| tree.delete(&path("/cont/text"))).unwrap();
}

#[test]
fn names_and_times_out_of_bounds_are_refused() {
    let operational = Operational::over(&running()).unwrap();
    for (name, lasts) in
        [("", LONG), ("a/b", LONG), (".", LONG), ("..", LONG), ("a", Duration::ZERO), ("a", LEASE_MAX + LONG)]
    {
        assert_eq!(kind_of(operational.open_lease(name, lasts)), ErrorKind::InvalidArgument, "{name}");
    }
    operational.open_lease("a", LONG).unwrap();
    assert_eq!(kind_of(operational.open_lease("a", LONG)), ErrorKind::AlreadyExists);
    assert_eq!(kind_of(operational.provide("p", &path("//x"), |_| Ok(None))), ErrorKind::InvalidArgument);
}

/// A view made before must not show its leases once the repository reads what another one writes.
#[test]
fn leases_end_with_the_term_in_which_they_were_opened() {
    let log = Arc::new(MemoryLog::with_register());
    let open = |is_standby| {
        let options = Options { lease_ms: 150, poll_interval_ms: 1, is_standby, ..Options::default() };
        Repository::with_log(Arc::clone(&log) as Arc<_>, options).unwrap()
    };
    let (first, second) = (open(false), open(true));
    first.transact(|t| t.tree().set(&path("/x/leaf"), 1)).unwrap();
    let operational = Operational::over(&first).unwrap();
    operational.open_lease("a", LONG).unwrap();
    operational.push("a", |tree| tree.set(&path("/x/leaf"), 2)).unwrap();
    first.demote().unwrap();
    second.promote().unwrap();
    let (_, receipt) = second.transact(|t| t.tree().set(&path("/x/leaf"), 3)).unwrap();
    let end = Clock::now() + Duration::from_secs(20);
    while first.snapshot().position() < receipt.position {
        assert!(Clock::now() < end, "the first one never follows");
        std::thread::sleep(Duration::from_millis(1));
    }
    let is_over = || {
        assert_eq!(kind_of(operational.get(&path("/x"), None)), ErrorKind::NotWriter);
        assert_eq!(kind_of(operational.push("a", |_| Ok(()))), ErrorKind::NotWriter);
        assert_eq!(kind_of(operational.open_lease("b", LONG)), ErrorKind::NotWriter);
        assert_eq!(kind_of(operational.leases()), ErrorKind::NotWriter);
    };
    is_over();
    // Nor when it writes again, in a later term.
    second.demote().unwrap();
    first.promote().unwrap();
    is_over();
    let anew = Operational::over(&first).unwrap();
    assert_eq!(anew.leases().unwrap(), []);
    let found = anew.get(&path("/x"), None).unwrap().unwrap();
    assert_eq!(found.property("leaf"), Some((&3.into(), Origin::Running)));
}
