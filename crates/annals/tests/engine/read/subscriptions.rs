//! Subscriptions: what each record did to a path, a type or a search, shared, resumable, and complete however slow they are.

use std::sync::Arc;
use std::time::Duration;

use crate::support::trees::path;
use crate::support::typed::kind_of;
use crate::support::{CheckedRepository, declare_lists};
use annals::*;

fn lists() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    declare_lists(&repository);
    repository
}

fn set(repository: &Repository, text: &str, value: impl Into<Value> + Clone) -> Position {
    repository.transact(|t| t.tree().set(&path(text), value.clone())).unwrap().1.position
}

/// The changes of an event in a form that is easy to compare.
fn told(event: &Event) -> Vec<String> {
    let line = |change: &WatchedChange| match change {
        WatchedChange::Tree(TreeChange { path, kind, .. }) => match kind {
            TreeChangeKind::Created => format!("created {path}"),
            TreeChangeKind::Deleted => format!("deleted {path}"),
            TreeChangeKind::Moved { from, after } => {
                let [was, is] =
                    after.clone().map(|step| step.map_or("first".into(), |step| step.to_string()));
                format!("moved {path} from {from} after {is}, was after {was}")
            }
            TreeChangeKind::Modified(difference) => {
                let values = difference.properties.iter().map(|property| {
                    let text = |value: &Option<Value>| {
                        value.as_ref().and_then(|value| value.as_str().map(str::to_owned))
                    };
                    format!("{} {:?}->{:?}", property.name, text(&property.before), text(&property.after))
                });
                format!("modified {path} {}", values.collect::<Vec<_>>().join(" "))
            }
        },
        WatchedChange::Instance(InstanceChange::Appeared(id)) => format!("appeared {}", id.id()),
        WatchedChange::Instance(InstanceChange::Disappeared(id)) => format!("disappeared {}", id.id()),
        WatchedChange::Instance(InstanceChange::Changed(id, _)) => format!("changed {}", id.id()),
    };
    event.changes.iter().map(line).map(|text| text.replace(" = ", "=")).collect()
}

fn next(subscription: &mut Subscription) -> Vec<String> {
    subscription.poll().unwrap().map_or_else(Vec::new, |event| told(&event))
}

#[test]
fn a_path_is_watched_with_old_values_places_and_all_that_is_below() {
    let repository = lists();
    let mut all = repository.subscribe(Watch::tree("/cont").unwrap(), None).unwrap();
    let mut one = repository.subscribe(Watch::tree("/cont/lst[k1=1][k2='a']").unwrap(), None).unwrap();
    let mut list = repository.subscribe(Watch::tree("/cont/usr-lst").unwrap(), None).unwrap();
    set(&repository, "/cont/lst[k1=1][k2='a']/l", "x");
    let item = "/cont/lst[k1=1][k2='a']";
    assert_eq!(next(&mut all), ["created /cont".to_owned(), format!("created {item}")]);
    assert_eq!(next(&mut one), [format!("created {item}")]);
    set(&repository, "/cont/lst[k1=1][k2='a']/l", "y");
    let modified = format!("modified {item} l Some(\"x\")->Some(\"y\")");
    assert_eq!((next(&mut all), next(&mut one)), (vec![modified.clone()], vec![modified]));
    set(&repository, "/elsewhere/leaf", "z");
    assert_eq!((next(&mut all), next(&mut one), next(&mut list)), (vec![], vec![], vec![]));
    for k in 1..=3 {
        set(&repository, &format!("/cont/usr-lst[k={k}]/l"), "u");
        assert_eq!(next(&mut list), [format!("created /cont/usr-lst[k={k}]")]);
    }
    let last = path("/cont/usr-lst[k=3]");
    repository.transact(|t| t.tree().insert(&last, &Item::new(), &Insert::First).map(drop)).unwrap();
    let moved = "moved /cont/usr-lst[k=3] from /cont/usr-lst[k=3] after first, was after /usr-lst[k=2]";
    assert_eq!(next(&mut list), [moved]);
    repository.transact(|t| t.tree().delete(&path("/cont"))).unwrap();
    assert_eq!(next(&mut one), [format!("deleted {item}")]);
    assert_eq!(next(&mut list).len(), 3);
    // Records that `all` has not read yet come one after the other.
    let mut count = 0;
    while !next(&mut all).is_empty() {
        count += 1;
    }
    assert_eq!(count, 5);
}

#[test]
fn a_property_is_watched_and_what_becomes_of_the_item_that_has_it() {
    let repository = lists();
    let item = "/cont/lst[k1=1][k2='a']";
    let leaf = format!("{item}/l");
    let mut one = repository.subscribe(Watch::tree(&leaf).unwrap(), None).unwrap();
    set(&repository, &leaf, "x");
    assert_eq!(next(&mut one), [format!("created {item}")]);
    set(&repository, &format!("{item}/other"), "y");
    set(&repository, &format!("{item}/below/leaf"), "y");
    assert_eq!(next(&mut one), Vec::<String>::new());
    set(&repository, &leaf, "z");
    assert_eq!(next(&mut one), [format!("modified {item} l Some(\"x\")->Some(\"z\")")]);
    repository.transact(|t| t.tree().delete(&path(&leaf))).unwrap();
    assert_eq!(next(&mut one), [format!("modified {item} l Some(\"z\")->None")]);
    set(&repository, &leaf, "back");
    repository.transact(|t| t.tree().delete(&path("/cont"))).unwrap();
    assert_eq!(next(&mut one), [format!("modified {item} l None->Some(\"back\")")]);
    assert_eq!(next(&mut one), [format!("deleted {item}")]);
}

#[test]
fn what_was_told_of_something_is_not_told_again_once_it_is_purged() {
    let repository = CheckedRepository::in_memory();
    let mut nodes = repository.subscribe(Watch::entities_of("node"), None).unwrap();
    let start = nodes.position();
    let node = NewEntity::new("node").id("secret").unwrap();
    repository.transact(|t| t.create_entity(node.clone()).map(drop)).unwrap();
    assert_eq!(next(&mut nodes), ["appeared secret"]);
    repository.transact(|t| t.purge(&InstanceId::Entity(Id::new("secret")?))).unwrap();
    repository.compact().unwrap();
    let mut again = repository.subscribe(Watch::entities_of("node"), Some(start)).unwrap();
    assert_eq!(next(&mut again), Vec::<String>::new());
}

#[test]
fn a_type_or_a_search_tells_what_comes_into_it_and_leaves_it() {
    let repository = CheckedRepository::in_memory();
    let find = Find::parse("node where size > 5").unwrap();
    let watch = Watch::Search { kind: TypeKind::Entity, find: Box::new(find) };
    let mut large = repository.subscribe(watch, None).unwrap();
    let mut nodes = repository.subscribe(Watch::entities_of("node"), None).unwrap();
    let entity = InstanceId::Entity(Id::new("a").unwrap());
    let sized = |size: i64| Patch::new().set("size", size);
    repository
        .transact(|t| t.create_entity(NewEntity::new("node").id("a")?.property("size", 1)).map(drop))
        .unwrap();
    repository
        .transact(|t| t.create_entity(NewEntity::new("other").id("b")?.property("size", 9)).map(drop))
        .unwrap();
    repository.transact(|t| t.update(&entity, sized(6))).unwrap();
    repository.transact(|t| t.update(&entity, sized(7))).unwrap();
    repository.transact(|t| t.update(&entity, sized(2))).unwrap();
    repository.transact(|t| t.delete(&entity)).unwrap();
    let mut events = Vec::new();
    while let Some(event) = large.poll().unwrap() {
        events.extend(told(&event));
    }
    assert_eq!(events, ["appeared a", "changed a", "disappeared a"]);
    let mut events = Vec::new();
    while let Some(event) = nodes.poll().unwrap() {
        events.extend(told(&event));
    }
    assert_eq!(events, ["appeared a", "changed a", "changed a", "changed a", "disappeared a"]);
}

#[test]
fn a_subscription_goes_on_from_any_position_and_one_far_behind_learns_many_changes_at_once() {
    let repository = lists();
    let start = repository.snapshot().position();
    set(&repository, "/cont/lst[k1=1][k2='a']/l", "0");
    for number in 1..=3 {
        set(&repository, "/cont/lst[k1=1][k2='a']/l", number.to_string());
    }
    let watch = Watch::tree("/cont").unwrap();
    let mut first = repository.subscribe(watch.clone(), Some(start)).unwrap();
    first.poll().unwrap().unwrap();
    let second = first.poll().unwrap().unwrap();
    let mut again = repository.subscribe(watch.clone(), Some(second.position)).unwrap();
    let (third, same) = (first.poll().unwrap().unwrap(), again.poll().unwrap().unwrap());
    assert_eq!(told(&third), told(&same));
    assert!(Arc::ptr_eq(&third, &same), "it is found out once");
    let before = repository.snapshot().position().0;
    for number in 1..=2 * RECORDS_BEHIND_MAX {
        set(&repository, "/cont/lst[k1=1][k2='a']/l", format!("late {number}"));
    }
    // Blocks end at the same positions for all subscriptions.
    let event = again.poll().unwrap().unwrap();
    assert_eq!((event.from, event.position.0), (third.position, RECORDS_BEHIND_MAX));
    let last = RECORDS_BEHIND_MAX - before;
    let expected = format!("modified /cont/lst[k1=1][k2='a'] l Some(\"2\")->Some(\"late {last}\")");
    assert_eq!(told(&event), [expected]);
    let mut others = [first, repository.subscribe(watch.clone(), Some(start)).unwrap()];
    let [same, whole] = others.each_mut().map(|other| other.poll().unwrap().unwrap());
    assert!(Arc::ptr_eq(&event, &same), "it is found out once");
    assert_eq!((whole.from, whole.position), (start, event.position));
    let rest = |subscription: &mut Subscription| -> Vec<Arc<Event>> {
        std::iter::from_fn(|| subscription.poll().unwrap()).collect()
    };
    let expected = rest(&mut again);
    assert!(others.iter_mut().all(|other| rest(other) == expected));
    let records: u64 = expected.iter().map(|event| event.records_count()).sum();
    assert_eq!(again.position(), repository.snapshot().position());
    assert_eq!(again.position().0, event.position.0 + records);
    let beyond = Position(repository.snapshot().position().0 + 1);
    assert_eq!(kind_of(repository.subscribe(watch, Some(beyond))), ErrorKind::NotFound);
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let repository = lists();
    for text in ["//lst", "/cont/*", "/cont/lst[1]", "/cont/lst[l > 'a']"] {
        assert_eq!(
            kind_of(repository.subscribe(Watch::tree(text).unwrap(), None)),
            ErrorKind::InvalidArgument,
            "{text}"
        );
    }
    for text in ["node status draft", "node deleted with", "node proxies with", "node only leaf"] {
        let watch = Watch::Search { kind: TypeKind::Entity, find: Box::new(Find::parse(text).unwrap()) };
        assert_eq!(kind_of(repository.subscribe(watch, None)), ErrorKind::InvalidArgument, "{text}");
    }
    let of_type = Watch::Search { kind: TypeKind::Classification, find: Box::new(Find::all()) };
    assert_eq!(kind_of(repository.subscribe(of_type, None)), ErrorKind::InvalidArgument);
}

#[test]
fn those_who_wait_are_woken_by_what_they_watch() {
    let repository = lists();
    let mut subscription = repository.subscribe(Watch::tree("/cont").unwrap(), None).unwrap();
    assert!(subscription.wait(Duration::from_millis(20)).unwrap().is_none());
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| subscription.wait(Duration::from_secs(20)).unwrap().map(|event| told(&event)));
        set(&repository, "/other/leaf", 1);
        set(&repository, "/cont/leaf", 1);
        assert_eq!(waiting.join().unwrap(), Some(vec!["created /cont".to_owned()]));
    });
}

/// A tree begins at the entity of an id: with another id of that entity, the whole tree goes.
#[test]
fn those_who_watch_a_tree_read_again_when_its_root_gets_another_id() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/leaf", 1);
    let first = repository.snapshot().position();
    let mut subscription = repository.subscribe(Watch::tree("/a").unwrap(), Some(first)).unwrap();
    let [root, other] = ["root", "other"].map(|id| Id::new(id).unwrap());
    let mut reidentify = |from: &Id, to: &Id| {
        repository.transact(|t| t.reidentify(&InstanceId::Entity(from.clone()), to)).unwrap();
        assert!(subscription.poll().unwrap().unwrap().read_again);
        repository.snapshot().tree().get(&path("/a"), None).unwrap().is_some()
    };
    assert!(!reidentify(&root, &other));
    let second = repository.snapshot().position();
    assert!(reidentify(&other, &root));
    // A reader that comes later is behind.
    let mut late = repository.subscribe(Watch::tree("/a").unwrap(), Some(first)).unwrap();
    assert!(late.poll().unwrap().unwrap().read_again);
    let snapshot = repository.snapshot();
    let then = |position| snapshot.as_of(AsOf { position: Some(position), ..AsOf::default() }).unwrap();
    assert!(then(first).tree().get(&path("/a"), None).unwrap().is_some());
    assert!(then(second).tree().get(&path("/a"), None).unwrap().is_none());
}
