//! Many changes of trees in one transaction do what they do in one transaction each, whatever happens between them to the
//! items on their paths.

use crate::support::trees::path;
use crate::support::{CheckedRepository, Random, declare_lists};
use annals::*;

/// A change of a tree, or of an item under its id.
#[derive(Clone, Debug)]
enum Step {
    Set(String),
    Create(String),
    Merge(String),
    Remove(String),
    Move(String, String),
    /// Gives an item of `lst` another key.
    Rename(String, i64),
    Delete(String),
    Declare,
    /// The same below the item at a path.
    Below(String, Box<Step>),
}

fn root() -> Id {
    Id::new(ROOT_ID).unwrap()
}

type Outcome = std::result::Result<bool, ErrorKind>;

fn id_at(t: &mut Transaction, text: &str) -> Result<Option<InstanceId>> {
    let found = t.view()?.tree().item(&path(text))?.filter(|found| found.value().is_none());
    Ok(found.map(|found| InstanceId::Entity(found.entity.id().clone())))
}

fn take_step(t: &mut Transaction, root: &Id, step: &Step) -> Result<bool> {
    match step {
        Step::Set(at) => t.tree_below(root.clone()).set(&path(at), at.len() as i64)?,
        Step::Create(at) => drop(t.tree_below(root.clone()).create(&path(at), &Item::new())?),
        Step::Merge(at) => {
            let listed = Item::new().property("k1", 1).property("k2", "a");
            let item = Item::new().child("in", Item::new().property("m", 1)).listed("lst", listed);
            t.tree_below(root.clone()).merge(&path(at), &item)?;
        }
        Step::Remove(at) => return t.tree_below(root.clone()).remove(&path(at)),
        Step::Move(from, to) => t.tree_below(root.clone()).move_to(&path(from), &path(to), None)?,
        Step::Rename(at, key) => match id_at(t, at)? {
            Some(item) => t.update(&item, Patch::new().set("k1", *key))?,
            None => return Ok(false),
        },
        Step::Delete(at) => match id_at(t, at)? {
            Some(item) => t.delete(&item)?,
            None => return Ok(false),
        },
        Step::Declare => {
            let key = AttributeDefinition::new("k", ValueType::Integer).key();
            t.define_type(TypeDefinition::entity("late").attribute(key))?;
        }
        Step::Below(at, step) => match id_at(t, at)? {
            Some(item) => return take_step(t, item.id(), step),
            None => return Ok(false),
        },
    }
    Ok(true)
}

fn outcome(taken: Result<bool>) -> Outcome {
    taken.map_err(|error| error.kind())
}

fn some_path(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(3) {
        text += *random.choose(&["/cont", "/in", "/late", "/late[k=1]"]);
        if random.one_in(2) {
            let key = random.below(4);
            text += &match random.below(4) {
                0 => format!("/usr-lst[k={key}]"),
                _ => format!("/lst[k1={key}][k2='a']"),
            };
        }
    }
    text
}

fn some_step(random: &mut Random, number: usize) -> Step {
    let at = some_path(random);
    match random.below(24) {
        0..6 => Step::Set(format!("{at}/n")),
        6..8 => Step::Create(at),
        8..10 => Step::Merge(at),
        10..14 => Step::Remove(at),
        14 => Step::Remove(format!("{at}/n")),
        15 => Step::Remove(format!("{at}/lst")),
        16 => Step::Move(at, some_path(random)),
        17 => Step::Rename(at, 100 + number as i64),
        18 => Step::Delete(at),
        19 => Step::Declare,
        _ => Step::Below(at, Box::new(some_step(random, number))),
    }
}

fn repository() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    declare_lists(&repository);
    repository.transact(|t| t.tree().set(&path("/cont/lst[k1=0][k2='a']/n"), 0)).unwrap();
    repository
}

/// The tree without ids.
fn tree(snapshot: &Snapshot) -> Item {
    fn forget_ids(item: &mut Item) {
        item.id = None;
        item.children.iter_mut().for_each(|branch| forget_ids(&mut branch.item));
    }
    let mut item = snapshot.tree().get(&TreePath::root(), None).unwrap().unwrap();
    forget_ids(&mut item);
    item
}

/// Takes the steps in one transaction, and in one each, and compares what they give. A step that only its own commit refuses
/// is left out of both.
fn compare(before: &[Step], steps: &[Step]) {
    let [together, apart] = [repository(), repository()];
    for repository in [&together, &apart] {
        for step in before {
            let _ = repository.transact(|t| take_step(t, &root(), step));
        }
    }
    let mut transaction = together.transaction();
    for (number, step) in steps.iter().enumerate() {
        let mut own = apart.transaction();
        let wanted = outcome(take_step(&mut own, &root(), step));
        if wanted.is_ok() && own.commit().is_err() {
            continue;
        }
        let found = outcome(take_step(&mut transaction, &root(), step));
        assert_eq!(found, wanted, "step {number} of {steps:?} after {before:?}");
    }
    transaction.commit().unwrap_or_else(|error| panic!("{steps:?} after {before:?}: {error}"));
    assert_eq!(tree(&together.snapshot()), tree(&apart.snapshot()), "{steps:?} after {before:?}");
}

#[test]
fn steps_of_one_transaction_give_what_they_give_one_by_one() {
    for seed in 0..600 {
        let mut random = Random(seed);
        let mut some =
            |count: usize| -> Vec<Step> { (0..count).map(|number| some_step(&mut random, number)).collect() };
        let (before, steps) = (some(8), some(10));
        compare(&before, &steps);
    }
}

fn set(at: &str) -> Step {
    Step::Set(at.into())
}

fn remove(at: &str) -> Step {
    Step::Remove(at.into())
}

#[test]
fn a_parent_that_was_removed_is_made_again() {
    let steps = [set("/cont/in/lst[k1=1][k2='a']/n"), remove("/cont"), set("/cont/in/lst[k1=2][k2='a']/n")];
    compare(&[], &steps[..]);
    compare(&[], &steps[1..]);
    let below = "/cont/lst[k1=0][k2='a']";
    let again = set(&format!("{below}/n"));
    compare(&[], &[remove(below), remove("/cont"), again.clone(), remove(below), again]);
}

#[test]
fn a_parent_that_was_renamed_is_not_found_at_its_path() {
    let item = "/cont/lst[k1=0][k2='a']";
    let renamed = [set(&format!("{item}/in/n")), Step::Rename(item.into(), 9), set(&format!("{item}/in/n"))];
    compare(&[], &renamed);
    let moved = Step::Move("/cont".into(), "/other".into());
    compare(&[], &[set("/cont/in/n"), moved.clone(), set("/cont/in/n"), remove("/other/in")]);
    compare(&[], &[remove(item), moved, remove("/cont"), set("/cont/in/n")]);
}

#[test]
fn a_name_that_becomes_a_list_is_looked_up_as_one() {
    let steps = [set("/cont/late/n"), Step::Declare, set("/cont/late[k=1]/n"), remove("/cont/late")];
    compare(&[], &steps);
    compare(
        &[set("/cont/late/n")],
        &[remove("/cont/lst[k1=0][k2='a']"), Step::Declare, remove("/cont/late[k=1]")],
    );
}

#[test]
fn a_tree_below_a_removed_item_is_gone() {
    let at = "/cont/in";
    let below = |step: Step| Step::Below(at.into(), Box::new(step));
    compare(&[set("/cont/in/x/n")], &[below(remove("/x")), remove("/cont"), below(set("/x/n"))]);
    let repository = repository();
    let (inner, _) = repository.transact(|t| t.tree().create(&path(at), &Item::new())).unwrap();
    let mut transaction = repository.transaction();
    transaction.tree().remove(&path("/cont")).unwrap();
    let refused = transaction.tree_below(inner).set(&path("/x/n"), 1);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Deleted);
}

#[test]
fn a_dry_run_and_a_candidate_have_what_was_removed_and_made_again() -> Result<()> {
    let repository = repository();
    let edit = |t: &mut Transaction| {
        let mut tree = t.tree();
        assert!(tree.remove(&path("/cont"))?);
        assert!(!tree.remove(&path("/cont"))?);
        tree.set(&path("/cont/lst[k1=1][k2='a']/n"), 1)
    };
    let mut dry = repository.transaction();
    edit(&mut dry)?;
    let expected = tree(&dry.dry_run()?);
    assert_eq!(expected.children[0].item.children.len(), 1);
    let candidates = repository.candidates();
    candidates.open("c", "")?;
    candidates.edit("c", edit)?;
    assert_eq!(tree(&candidates.view("c")?), expected);
    candidates.edit("c", |t| t.tree().remove(&path("/cont/lst[k1=1][k2='a']")))?;
    candidates.edit("c", |t| t.tree().set(&path("/cont/lst[k1=1][k2='a']/n"), 1))?;
    assert_eq!(tree(&candidates.view("c")?), expected);
    candidates.commit("c", &CandidateCommit::default())?;
    assert_eq!(tree(&repository.snapshot()), expected);
    Ok(())
}
