//! Trees in time: what is put back to how it was is as it was, after any history, and differences tell what became of each item.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::trees::{edit, path};
use crate::support::typed::kind_of;
use crate::support::{CheckedRepository, Random, seeds};
use annals::*;

fn then(position: Position) -> AsOf {
    AsOf { position: Some(position), ..AsOf::default() }
}

fn repository() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
            t.define_type(TypeDefinition::entity("lst").attribute(key("k", ValueType::Integer)))?;
            t.define_type(TypeDefinition::entity("usr").attribute(key("k", ValueType::Integer)))?;
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            let orders = TypeDefinition::relationship("orders").containing_in_order();
            t.define_type(orders.between(EndDefinition::ANY, EndDefinition::many("usr")))
        })
        .unwrap();
    repository
}

fn step(random: &mut Random) -> String {
    match random.below(4) {
        0 => format!("lst[k={}]", random.below(3)),
        1 => format!("usr[k={}]", random.below(4)),
        _ => ["x", "y", "z"][random.below(3)].to_owned(),
    }
}

fn any_path(random: &mut Random) -> TreePath {
    let steps: Vec<String> = (0..=random.below(3)).map(|_| step(random)).collect();
    path(&format!("/{}", steps.join("/")))
}

/// Does something to the tree; many of these are refused.
fn change(repository: &Repository, random: &mut Random) {
    let (at, to) = (any_path(random), any_path(random));
    let number = i64::try_from(random.below(1000)).unwrap();
    let action = random.below(12);
    let outcome = repository.transact(|t| match action {
        0..3 => t.tree().merge(&at, &Item::new().property("v", number)).map(drop),
        3 => t.tree().set(&at.clone().child(TreeStep::named("w")), number),
        4 => t.tree().put(&at, &Item::new().property("v", number).child("x", Item::new())).map(drop),
        5 => t.tree().delete(&at),
        6 | 7 => t.tree().move_to(&at, &to, None),
        8 => t.tree().insert(&at, &Item::new(), &Insert::First).map(drop),
        9 => t.tree().copy(&at, &to).map(drop),
        10 => {
            let Some(id) = any_deleted(t, number)? else { return Ok(()) };
            t.restore(&InstanceId::Entity(id))
        }
        _ => {
            let found = t.view()?.tree().item(&at)?.map(|item| item.entity.id().clone());
            let Some(id) = found else { return Ok(()) };
            let other = Patch::new().set("k", number % 4);
            t.classify(&id, ClassificationContent::new("seen").property("n", number)).ok();
            t.update(&InstanceId::Entity(id), other)
        }
    });
    drop(outcome);
}

fn any_deleted(t: &mut Transaction, number: i64) -> Result<Option<Id>> {
    let position = t.base().position();
    let back = u64::try_from(number).unwrap() % (position.0 + 1);
    let before = t.base().as_of(then(Position(position.0 - back)))?;
    let mut ids = Vec::new();
    for entity in before.find_entities(&Find::all().limit(1000))?.items {
        if t.base().entity(entity.id())?.is_none() {
            ids.push(entity.id().clone());
        }
    }
    Ok((!ids.is_empty()).then(|| ids[usize::try_from(number).unwrap() % ids.len()].clone()))
}

#[test]
fn what_is_put_back_is_as_it_was_after_any_history() -> Result<()> {
    let mut reverts = 0;
    for seed in seeds("TREE_SEED", 24) {
        let mut random = Random(seed);
        let repository = repository();
        for _ in 0..12 {
            for _ in 0..12 {
                change(&repository, &mut random);
            }
            let snapshot = repository.snapshot();
            let position = Position(1 + random.below(snapshot.position().0 as usize) as u64);
            let before = snapshot.as_of(then(position))?;
            let at = if random.below(3) == 0 { TreePath::root() } else { any_path(&mut random) };
            let wanted = before.tree().get(&at, None)?;
            match edit(&repository, |t| t.revert(&at, then(position))) {
                Ok(()) => {
                    let found = repository.snapshot().tree().get(&at, None)?;
                    let wanted = match (&wanted, &found) {
                        // The root stays.
                        (None, Some(root)) if at == TreePath::root() => {
                            Some(Item { children: Vec::new(), ..root.clone() })
                        }
                        _ => wanted,
                    };
                    assert_eq!(found, wanted, "seed {seed}: {at} as of {position}");
                    reverts += 1;
                }
                // Its parent is missing, or it was not there and is not.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    assert!(at != TreePath::root(), "seed {seed}: {error}");
                }
                // Its present container was below it then.
                Err(error) if error.kind() == ErrorKind::InvalidEnds && at != TreePath::root() => {}
                Err(error) => panic!("seed {seed}: {at} as of {position}: {error}"),
            }
        }
    }
    assert!(reverts > 100, "{reverts}");
    Ok(())
}

#[test]
fn a_subtree_is_put_back_with_its_items_names_order_and_links() -> Result<()> {
    let repository = repository();
    edit(&repository, |t| {
        let users =
            [3, 1, 2].into_iter().fold(Item::new(), |all, k| all.listed("usr", Item::new().property("k", k)));
        t.put(&path("/c"), &users.property("mtu", 1500).child("x", Item::new()).child("y", Item::new()))?;
        t.merge(&path("/out"), &Item::new())
    })?;
    let id = |repository: &Repository, text: &str| -> Result<Id> {
        Ok(repository.snapshot().tree().item(&path(text))?.unwrap().entity.id().clone())
    };
    let (x, out) = (id(&repository, "/c/x")?, id(&repository, "/out")?);
    repository.transact(|t| {
        t.create_relationship(NewRelationship::new("knows", out.clone(), x.clone()).id("k")?)
    })?;
    let position = repository.snapshot().position();
    let wanted = repository.snapshot().tree().get(&path("/c"), None)?;
    // Swapped names, another order, another value, one gone, one moved out, one new.
    edit(&repository, |t| t.move_to(&path("/c/x"), &path("/c/z"), None))?;
    edit(&repository, |t| t.move_to(&path("/c/y"), &path("/c/x"), None))?;
    edit(&repository, |t| t.move_to(&path("/c/z"), &path("/c/y"), None))?;
    edit(&repository, |t| t.insert(&path("/c/usr[k=2]"), &Item::new(), &Insert::First))?;
    edit(&repository, |t| t.set(&path("/c/mtu"), 9000))?;
    edit(&repository, |t| t.delete(&path("/c/y")))?;
    edit(&repository, |t| t.move_to(&path("/c/usr[k=3]"), &path("/out/usr[k=9]"), None))?;
    edit(&repository, |t| t.merge(&path("/c/new/deep"), &Item::new()))?;
    edit(&repository, |t| t.revert(&path("/c"), then(position)))?;
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.tree().get(&path("/c"), None)?, wanted);
    assert!(snapshot.relationship(&Id::new("k")?)?.is_some(), "it went with an item that came back");
    assert_eq!(snapshot.tree().count(&path("/out"))?, Some(0));
    // Nothing differs: no record.
    edit(&repository, |t| t.revert(&path("/c"), then(position)))?;
    assert_eq!(repository.snapshot().position(), snapshot.position());
    // A property alone.
    edit(&repository, |t| t.delete(&path("/c/mtu")))?;
    edit(&repository, |t| t.revert(&path("/c/mtu"), then(position)))?;
    assert_eq!(repository.snapshot().tree().get(&path("/c"), None)?, wanted);
    assert_eq!(kind_of(edit(&repository, |t| t.revert(&path("/none"), then(position)))), ErrorKind::NotFound);
    Ok(())
}

#[test]
fn a_deleted_item_is_brought_back_to_its_path() -> Result<()> {
    let repository = repository();
    edit(&repository, |t| t.merge(&path("/c/x/deep"), &Item::new().property("v", 1)))?;
    let position = repository.snapshot().position();
    let wanted = repository.snapshot().tree().get(&path("/c/x"), None)?;
    let restore = |text: &str| edit(&repository, |t| t.restore(&path(text), then(position)));
    assert_eq!(kind_of(restore("/c/x")), ErrorKind::NotDeleted);
    assert_eq!(kind_of(restore("/c/none")), ErrorKind::NotFound);
    edit(&repository, |t| t.delete(&path("/c/x")))?;
    restore("/c/x")?;
    assert_eq!(repository.snapshot().tree().get(&path("/c/x"), None)?, wanted);
    // Its parent went, and another one is there.
    edit(&repository, |t| t.delete(&path("/c")))?;
    assert_eq!(kind_of(restore("/c/x")), ErrorKind::NotFound);
    // A transaction that continues after this refusal does not commit an item without a container.
    edit(&repository, |t| {
        assert_eq!(kind_of(t.restore(&path("/c/x"), then(position))), ErrorKind::NotFound);
        t.merge(&path("/other"), &Item::new()).map(drop)
    })?;
    let id = wanted.as_ref().and_then(|item| item.id.clone()).expect("it has an id");
    assert!(repository.snapshot().entity(&id)?.is_none());
    edit(&repository, |t| t.merge(&path("/c"), &Item::new()))?;
    restore("/c/x")?;
    assert_eq!(repository.snapshot().tree().get(&path("/c/x"), None)?, wanted);
    edit(&repository, |t| t.delete(&path("/c/x")))?;
    edit(&repository, |t| t.merge(&path("/c/x"), &Item::new()))?;
    assert_eq!(kind_of(restore("/c/x")), ErrorKind::AlreadyExists);
    Ok(())
}

/// An item of a whole tree: its path, the id of its parent, and its place among all items.
type Placed = (TreePath, Option<Id>, usize);

/// All items at a path and below it, by id.
fn all_items(snapshot: &Snapshot, at: &TreePath) -> BTreeMap<String, Placed> {
    fn add(snapshot: &Snapshot, item: &Item, parent: Option<Id>, all: &mut BTreeMap<String, Placed>) {
        let id = item.id.clone().unwrap();
        let path = snapshot.tree().path_of(&id).unwrap().unwrap();
        let count = all.len();
        all.insert(id.to_string(), (path, parent, count));
        item.children.iter().for_each(|child| add(snapshot, &child.item, Some(id.clone()), all));
    }
    let mut all = BTreeMap::new();
    if let Some(item) = snapshot.tree().get(at, None).unwrap() {
        let above = at.split_last().map(|(above, _)| above);
        let parent = above.and_then(|above| snapshot.tree().item(&above).unwrap());
        add(snapshot, &item, parent.map(|parent| parent.entity.id().clone()), &mut all);
    }
    all
}

#[test]
fn a_difference_tells_what_became_of_each_item_whatever_it_is_computed_from() -> Result<()> {
    let mut kinds = [0; 4];
    for seed in seeds("TREE_SEED", 24) {
        let mut random = Random(seed);
        let repository = repository();
        for _ in 0..150 {
            change(&repository, &mut random);
        }
        let snapshot = repository.snapshot();
        for _ in 0..10 {
            let mut any = || Position(1 + random.below(snapshot.position().0 as usize) as u64);
            let (from, to) = (any(), any());
            let at = if random.below(2) == 0 { TreePath::root() } else { any_path(&mut random) };
            let what = format!("seed {seed}: {at} from {from} to {to}");
            let [before, after] = [snapshot.as_of(then(from))?, snapshot.as_of(then(to))?];
            let [was, is] = [&before, &after].map(|side| all_items(side, &at));
            let [was_anywhere, is_anywhere] =
                [&before, &after].map(|side| all_items(side, &TreePath::root()));
            let found = snapshot.tree().difference(&at, then(from), then(to));
            if was.is_empty() && is.is_empty() {
                assert_eq!(kind_of(found), ErrorKind::NotFound, "{what}");
                continue;
            }
            let found = found?;
            let changed = snapshot.changes_between(from.min(to), from.max(to))?;
            // In order, and nothing twice.
            let places: Vec<usize> =
                found.iter().filter_map(|change| Some(is_anywhere.get(&change.id.to_string())?.2)).collect();
            assert!(places.is_sorted(), "{what}: {found:#?}");
            let mut told: BTreeMap<String, Vec<&TreeChange>> = BTreeMap::new();
            found.iter().for_each(|change| told.entry(change.id.to_string()).or_default().push(change));
            for id in was.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
                let told = told.remove(id).unwrap_or_default();
                let is_told =
                    |kind: fn(&TreeChangeKind) -> bool| told.iter().any(|change| kind(&change.kind));
                let (was, is) = (was_anywhere.get(id), is_anywhere.get(id));
                let is_created = is_told(|kind| *kind == TreeChangeKind::Created);
                let is_deleted = is_told(|kind| *kind == TreeChangeKind::Deleted);
                let is_moved = is_told(|kind| matches!(kind, TreeChangeKind::Moved { .. }));
                let is_modified = is_told(|kind| matches!(kind, TreeChangeKind::Modified(_)));
                for (kind, is_it) in kinds.iter_mut().zip([is_created, is_deleted, is_moved, is_modified]) {
                    *kind += u32::from(is_it);
                }
                let (Some((was, parent, _)), Some((is, parent_now, _))) = (was, is) else {
                    assert_eq!((is_created, is_deleted), (was.is_none(), is.is_none()), "{what}: {id}");
                    assert_eq!(told.len(), 1, "{what}: {id}");
                    continue;
                };
                assert!(!is_created && !is_deleted, "{what}: {id}");
                let is_elsewhere = parent != parent_now || was.steps.last() != is.steps.last();
                let is_in_order = is.to_string().rsplit('/').next().unwrap().starts_with("usr");
                assert!(is_moved == is_elsewhere || is_in_order && is_moved, "{what}: {id} {told:?}");
                let is_id = |change: &&InstanceChange| matches!(change, InstanceChange::Changed(it, _) if it.id().to_string() == *id);
                assert_eq!(is_modified, changed.iter().any(|change| is_id(&change)), "{what}: {id}");
                for TreeChange { path, kind, .. } in told {
                    assert_eq!(path, is, "{what}");
                    if let TreeChangeKind::Moved { from, .. } = kind {
                        assert_eq!(from, was, "{what}");
                    }
                }
            }
            // Nothing else is told of.
            assert!(told.is_empty(), "{what}: {told:?}");
            // With valid times both trees are compared.
            let instant = |position: Position| -> Result<Instant> {
                let log = LogQuery { is_oldest_first: true, limit: 1000, ..LogQuery::default() };
                let records = snapshot.log(&log)?.records;
                Ok(records.iter().find(|record| record.position == position).unwrap().instant)
            };
            let at_valid = |position: Position| -> Result<AsOf> {
                Ok(AsOf { valid: Some(instant(position)?), ..then(position) })
            };
            let compared = snapshot.tree().difference(&at, at_valid(from)?, at_valid(to)?)?;
            assert_eq!(compared, found, "{what}");
        }
    }
    assert!(kinds.iter().all(|count| *count > 20), "{kinds:?}");
    Ok(())
}

#[test]
fn a_difference_shows_paths_values_and_neighbours() -> Result<()> {
    let repository = repository();
    edit(&repository, |t| {
        let users =
            [1, 2, 3].into_iter().fold(Item::new(), |all, k| all.listed("usr", Item::new().property("k", k)));
        t.put(&path("/c"), &users.property("mtu", 1500).child("x", Item::new().child("deep", Item::new())))?;
        t.merge(&path("/out/y"), &Item::new())
    })?;
    let from = repository.snapshot().position();
    edit(&repository, |t| t.set(&path("/c/mtu"), 9000))?;
    edit(&repository, |t| t.insert(&path("/c/usr[k=3]"), &Item::new(), &Insert::First))?;
    edit(&repository, |t| t.move_to(&path("/c/x"), &path("/out/x"), None))?;
    edit(&repository, |t| t.move_to(&path("/out/y"), &path("/c/y"), None))?;
    edit(&repository, |t| t.delete(&path("/c/usr[k=2]")))?;
    edit(&repository, |t| t.merge(&path("/c/new"), &Item::new()))?;
    let snapshot = repository.snapshot();
    let found = snapshot.tree().difference(&path("/c"), then(from), AsOf::default())?;
    let line = |change: &TreeChange| {
        let after = |step: &Option<TreeStep>| step.as_ref().map_or(String::new(), TreeStep::to_string);
        match &change.kind {
            TreeChangeKind::Created => format!("+ {}", change.path),
            TreeChangeKind::Deleted => format!("- {}", change.path),
            TreeChangeKind::Moved { from, after: [was, is] } => {
                format!("> {} from {from} {} {}", change.path, after(was), after(is))
            }
            TreeChangeKind::Modified(difference) => {
                let property = &difference.properties[0];
                format!("~ {} {} {:?} {:?}", change.path, property.name, property.before, property.after)
            }
        }
    };
    let lines: Vec<String> = found.iter().map(|change| line(change).trim_end().to_owned()).collect();
    let expected = [
        "~ /c mtu Some(Integer(1500)) Some(Integer(9000))",
        "+ /c/new",
        "> /c/y from /out/y",
        "> /c/usr[k = 3] from /c/usr[k = 3] /usr[k = 2]",
        "- /c/usr[k = 2]",
        "> /out/x from /c/x",
    ];
    assert_eq!(lines, expected);
    assert_eq!(snapshot.tree().difference(&path("/c"), then(from), then(from))?, []);
    for (at, kind) in [
        ("/none", ErrorKind::NotFound),
        ("/c/mtu", ErrorKind::NotFound),
        ("/c/usr", ErrorKind::InvalidArgument),
    ] {
        let refused = snapshot.tree().difference(&path(at), then(from), AsOf::default());
        assert_eq!(kind_of(refused), kind, "{at}");
    }
    Ok(())
}
