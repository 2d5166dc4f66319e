//! Candidates: named working copies that last, with conflicts, rebase, commit, and commits that are taken back unless somebody confirms
//! them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::support::named::id;
use crate::support::trees::path;
use crate::support::typed::kind_of;
use crate::support::{CheckedRepository, declare_lists};
use annals::*;

fn set(t: &mut Transaction, text: &str, value: impl Into<Value>) -> Result<()> {
    t.tree().set(&path(text), value)
}

fn value(snapshot: &Snapshot, text: &str) -> Option<Value> {
    snapshot.tree().item(&path(text)).unwrap().and_then(|found| found.value())
}

/// Two items of a list, under declared types.
fn filled() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    declare_lists(&repository);
    repository
        .transact(|t| {
            set(t, "/cont/lst[k1=1][k2='a']/l", "one")?;
            set(t, "/cont/lst[k1=2][k2='b']/l", "two")
        })
        .unwrap();
    repository
}

/// A candidate with an edit of each of the two items.
fn edited(repository: &Repository) -> Candidates {
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates
        .edit("c", |t| {
            set(t, ONE, "mine")?;
            set(t, TWO, "mine")
        })
        .unwrap();
    candidates
}

const ONE: &str = "/cont/lst[k1=1][k2='a']/l";
const TWO: &str = "/cont/lst[k1=2][k2='b']/l";

#[test]
fn edits_are_seen_by_their_candidate_only_until_they_are_committed_together() {
    let repository = filled();
    let candidates = repository.candidates();
    candidates.open("night", "ada").unwrap();
    candidates.edit("night", |t| set(t, ONE, "1")).unwrap();
    candidates.edit("night", |t| set(t, "/cont/lst[k1=3][k2='c']/l", "three")).unwrap();
    // The second edit sees the first.
    candidates
        .edit("night", |t| {
            assert_eq!(t.view()?.tree().item(&path(ONE))?.and_then(|found| found.value()), Some("1".into()));
            Ok(())
        })
        .unwrap();
    assert_eq!(value(&repository.snapshot(), ONE), Some("one".into()));
    let view = candidates.view("night").unwrap();
    assert_eq!(value(&view, ONE), Some("1".into()));
    assert_eq!(value(&view, "/cont/lst[k1=3][k2='c']/l"), Some("three".into()));
    // Others go on, and the view shows it.
    repository.transact(|t| set(t, TWO, "2")).unwrap();
    assert_eq!(value(&candidates.view("night").unwrap(), TWO), Some("2".into()));
    assert_eq!(candidates.get("night").unwrap().created.author, "ada".into());
    let commit = CandidateCommit { author: "ada".into(), message: "night work".into(), confirm_within: None };
    let receipt = candidates.commit("night", &commit).unwrap();
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.position(), receipt.position);
    assert_eq!((value(&snapshot, ONE), value(&snapshot, TWO)), (Some("1".into()), Some("2".into())));
    assert_eq!(value(&snapshot, "/cont/lst[k1=3][k2='c']/l"), Some("three".into()));
    let (_, record) = repository.follow(Position(receipt.position.0 - 1)).poll().unwrap().unwrap();
    assert_eq!((&*record.author, &*record.message), ("ada", "night work"));
    assert!(candidates.list().unwrap().is_empty());
    assert_eq!(kind_of(candidates.get("night")), ErrorKind::NotFound);
    // The name is free again, and nothing of the old edits is left.
    candidates.open("night", "ada").unwrap();
    assert_eq!(candidates.get("night").unwrap().changes_count, 0);
}

#[test]
fn an_edit_that_breaks_a_rule_is_refused_and_keeps_nothing() {
    let repository = filled();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| set(t, ONE, "1")).unwrap();
    assert_eq!(
        kind_of(candidates.edit("c", |t| t.create_entity(NewEntity::new("lst")))),
        ErrorKind::InvalidProperty
    );
    assert_eq!(candidates.get("c").unwrap().changes_count, 1);
    assert_eq!(value(&candidates.view("c").unwrap(), ONE), Some("1".into()));
    assert_eq!(kind_of(candidates.open("c", "")), ErrorKind::AlreadyExists);
    assert_eq!(kind_of(candidates.open("a/b", "")), ErrorKind::InvalidArgument);
    assert_eq!(kind_of(candidates.open("", "")), ErrorKind::InvalidArgument);
    assert_eq!(kind_of(candidates.edit("none", |_| Ok(()))), ErrorKind::NotFound);
    assert_eq!(kind_of(candidates.confirm("c", "")), ErrorKind::PreconditionFailed);
}

#[test]
fn what_both_sides_changed_is_a_conflict_that_a_rebase_solves_for_either_side() {
    for keep in [Keep::Mine, Keep::Theirs] {
        let repository = filled();
        let candidates = edited(&repository);
        assert!(candidates.conflicts("c").unwrap().is_empty());
        repository.transact(|t| set(t, ONE, "theirs")).unwrap();
        let conflicts = candidates.conflicts("c").unwrap();
        assert_eq!(conflicts.len(), 1);
        assert_eq!((conflicts[0].edit, conflicts[0].reason.kind()), (0, ErrorKind::Conflict));
        let refused = candidates.commit("c", &CandidateCommit::default());
        assert_eq!(kind_of(refused), ErrorKind::PreconditionFailed);
        assert_eq!(kind_of(candidates.rebase("c", None, "")), ErrorKind::PreconditionFailed);
        let dropped = candidates.rebase("c", Some(keep), "ada").unwrap();
        assert_eq!(dropped.len(), usize::from(keep == Keep::Theirs));
        assert!(candidates.conflicts("c").unwrap().is_empty());
        candidates.commit("c", &CandidateCommit::default()).unwrap();
        let expected = if keep == Keep::Mine { "mine" } else { "theirs" };
        assert_eq!(value(&repository.snapshot(), ONE), Some(expected.into()));
        assert_eq!(value(&repository.snapshot(), TWO), Some("mine".into()));
    }
}

/// Story: a candidate put an item, and others changed another property of it and added a child. A random test expected that a
/// rebase for the candidate takes these changes back; an edit is the difference that the put made, as `docs/trees.md` says.
#[test]
fn a_put_that_is_rebased_keeps_what_others_changed_beside_it() {
    let repository = CheckedRepository::in_memory();
    let item = || Item::new().property("mtu", 1500).property("text", "old");
    repository.transact(|t| t.tree().put(&path("/eth0"), &item()).map(drop)).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    let mine = Item::new().property("mtu", 1500).property("text", "mine");
    candidates.edit("c", |t| t.tree().put(&path("/eth0"), &mine)).unwrap();
    repository
        .transact(|t| {
            set(t, "/eth0/mtu", 9000)?;
            set(t, "/eth0/text", "theirs")?;
            set(t, "/eth0/unit/number", 1)
        })
        .unwrap();
    assert_eq!(candidates.conflicts("c").unwrap().len(), 1);
    assert!(candidates.rebase("c", Some(Keep::Mine), "").unwrap().is_empty());
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    let snapshot = repository.snapshot();
    assert_eq!(value(&snapshot, "/eth0/text"), Some("mine".into()));
    assert_eq!(value(&snapshot, "/eth0/mtu"), Some(9000.into()));
    assert_eq!(value(&snapshot, "/eth0/unit/number"), Some(1.into()));
}

#[test]
fn edits_of_what_was_purged_are_told_and_can_only_be_dropped() {
    let repository = filled();
    let candidates = edited(&repository);
    let snapshot = repository.snapshot();
    let id = snapshot.tree().item(&path("/cont/lst[k1=1][k2='a']")).unwrap().unwrap().entity.id().clone();
    repository.transact(|t| t.purge(&InstanceId::Entity(id.clone()))).unwrap();
    let conflicts = candidates.conflicts("c").unwrap();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].reason.kind(), ErrorKind::NotFound);
    assert_eq!(kind_of(candidates.view("c")), ErrorKind::PreconditionFailed);
    assert_eq!(kind_of(candidates.edit("c", |_| Ok(()))), ErrorKind::PreconditionFailed);
    assert_eq!(kind_of(candidates.rebase("c", Some(Keep::Mine), "")), ErrorKind::PreconditionFailed);
    assert!(candidates.commit("c", &CandidateCommit::default()).is_err());
    assert_eq!(candidates.rebase("c", Some(Keep::Theirs), "").unwrap().len(), 1);
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    assert_eq!(value(&repository.snapshot(), TWO), Some("mine".into()));
    assert_eq!(value(&repository.snapshot(), ONE), None);
}

#[test]
fn a_check_tells_what_all_edits_together_break_and_commits_nothing() {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::entity("system").requiring_child("clock"))?;
            t.define_type(TypeDefinition::relationship("contains").containing())
        })
        .unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    // An edit may leave undone what the next one does.
    candidates.edit("c", |t| set(t, "/system/hostname", "r1")).unwrap();
    assert!(candidates.conflicts("c").unwrap().is_empty());
    assert_eq!(kind_of(candidates.check("c")), ErrorKind::Cardinality);
    assert_eq!(kind_of(candidates.commit("c", &CandidateCommit::default())), ErrorKind::Cardinality);
    candidates.edit("c", |t| set(t, "/system/clock/zone", "UTC")).unwrap();
    candidates.check("c").unwrap();
    assert!(repository.snapshot().tree().item(&path("/system")).unwrap().is_none());
    let _validator = repository.validate("never", |_| Err("not today".to_owned()));
    assert_eq!(kind_of(candidates.check("c")), ErrorKind::Refused);
}

#[test]
fn many_edits_are_kept_in_order_and_discarded_ones_leave_nothing() {
    let repository = filled();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    for number in 0..100 {
        candidates.edit("c", |t| set(t, ONE, format!("secret {number}"))).unwrap();
    }
    assert_eq!(value(&candidates.view("c").unwrap(), ONE), Some("secret 99".into()));
    assert_eq!(candidates.get("c").unwrap().changes_count, 100);
    candidates.discard("c", "").unwrap();
    assert_eq!(value(&repository.snapshot(), ONE), Some("one".into()));
    repository.compact().unwrap();
    let mut follow = repository.follow(Position(0));
    while let Some((_, record)) = follow.poll().unwrap() {
        assert!(!format!("{record:?}").contains("secret"), "{record:?}");
    }
}

#[test]
fn two_who_edit_one_candidate_lose_nothing() {
    let repository = filled();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let candidates = candidates.clone();
            scope.spawn(move || {
                for number in 0..10 {
                    let at = format!("/cont/lst[k1={}][k2='t']/l", 100 + thread * 10 + number);
                    candidates.edit("c", |t| set(t, &at, "new")).unwrap();
                }
            });
        }
    });
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    let snapshot = repository.snapshot();
    let count = snapshot.tree().find(&path("/cont/lst[l = 'new']"), 1_000).unwrap().len();
    assert_eq!(count, 40);
}

/// A repository in a folder, whose clock the test moves.
struct Timed {
    folder: tempfile::TempDir,
    micros: Arc<AtomicI64>,
}

impl Timed {
    fn new() -> Timed {
        let start = Instant::now().micros();
        Timed { folder: tempfile::tempdir().unwrap(), micros: Arc::new(AtomicI64::new(start)) }
    }

    fn open(&self) -> Repository {
        let micros = Arc::clone(&self.micros);
        let clock: annals::WallClock =
            Arc::new(move || Instant::from_micros(micros.load(Ordering::SeqCst)).unwrap());
        Repository::open_with(self.folder.path(), Options { clock, ..Options::default() }).unwrap()
    }

    fn pass(&self, time: Duration) {
        self.micros.fetch_add(i64::try_from(time.as_micros()).unwrap(), Ordering::SeqCst);
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited in vain until {what}");
}

#[test]
fn a_commit_that_nobody_confirms_is_taken_back_also_after_a_restart() {
    let timed = Timed::new();
    let repository = timed.open();
    declare_lists(&repository);
    repository.transact(|t| set(t, ONE, "one")).unwrap();
    repository.transact(|t| set(t, TWO, "two")).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "ada").unwrap();
    candidates
        .edit("c", |t| {
            set(t, ONE, "1")?;
            t.tree().delete(&path("/cont/lst[k1=2][k2='b']"))?;
            set(t, "/cont/lst[k1=3][k2='c']/l", "three")
        })
        .unwrap();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_secs(600)), ..CandidateCommit::default() };
    candidates.commit("c", &how).unwrap();
    assert_eq!(value(&repository.snapshot(), ONE), Some("1".into()));
    for refused in [candidates.edit("c", |_| Ok(())).map(drop), candidates.discard("c", "").map(drop)] {
        assert_eq!(kind_of(refused), ErrorKind::PreconditionFailed);
    }
    // Somebody changes something else meanwhile, which stays.
    repository.transact(|t| set(t, "/other/leaf", "stays")).unwrap();
    repository.close().unwrap();
    timed.pass(Duration::from_secs(601));
    let repository = timed.open();
    wait_until("it is taken back", || value(&repository.snapshot(), ONE) == Some("one".into()));
    let snapshot = repository.snapshot();
    assert_eq!(value(&snapshot, TWO), Some("two".into()));
    assert_eq!(value(&snapshot, "/cont/lst[k1=3][k2='c']/l"), None);
    assert_eq!(value(&snapshot, "/other/leaf"), Some("stays".into()));
    // It is open again, with its edits, and can be committed again.
    let candidates = repository.candidates();
    assert_eq!(candidates.get("c").unwrap().unconfirmed, None);
    assert!(candidates.conflicts("c").unwrap().is_empty());
    assert_eq!(value(&candidates.view("c").unwrap(), ONE), Some("1".into()));
    candidates.commit("c", &how).unwrap();
    candidates.confirm("c", "ada").unwrap();
    timed.pass(Duration::from_secs(6_000));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(value(&repository.snapshot(), ONE), Some("1".into()));
    assert!(candidates.list().unwrap().is_empty());
}

/// The pause after a failure belonged to the name of the candidate, so the next commit of this name waited for it, too.
#[test]
fn a_commit_is_taken_back_in_time_also_after_one_of_the_same_name_that_could_not_be() {
    let timed = Timed::new();
    let repository = timed.open();
    let candidates = repository.candidates();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_secs(600)), ..CandidateCommit::default() };
    let commit = |leaf: &str| {
        candidates.open("c", "").unwrap();
        candidates.edit("c", |t| set(t, leaf, 1)).unwrap();
        candidates.commit("c", &how).unwrap();
    };
    let unconfirmed = || candidates.get("c").unwrap().unconfirmed;
    commit("/one/leaf");
    repository.transact(|t| set(t, "/one/leaf", 2)).unwrap();
    timed.pass(Duration::from_secs(601));
    wait_until("it says why it stays", || unconfirmed().is_some_and(|waiting| waiting.failure.is_some()));
    candidates.confirm("c", "").unwrap();
    // All of this within the time in which the thread looks once.
    commit("/two/leaf");
    timed.pass(Duration::from_secs(601));
    wait_until("the second is taken back", || unconfirmed().is_none());
    assert_eq!(value(&repository.snapshot(), "/two/leaf"), None);
}

#[test]
fn a_forged_candidate_makes_one_record_and_no_more() {
    let repository = Repository::in_memory();
    let forged = || {
        let entity = NewEntity::new("annals-candidate").id("annals-candidate:junk")?;
        Ok(entity
            .property("confirm-before", Value::Timestamp(Instant::now()))
            .property("committed", 99_999_999))
    };
    repository.transact(|t| t.create_entity(forged()?)).unwrap();
    // The reason that is stored names the newest position, so it differs each time.
    for _ in 0..12 {
        repository.transact(|t| t.create_entity(NewEntity::new("thing"))).unwrap();
        std::thread::sleep(Duration::from_millis(250));
    }
    let position = repository.snapshot().position();
    assert!((13..=14).contains(&position.0), "{position}");
}

#[test]
fn names_that_a_url_folds_are_refused() {
    let repository = Repository::in_memory();
    let candidates = repository.candidates();
    for name in ["", ".", "..", "a/b"] {
        assert_eq!(kind_of(candidates.open(name, "")), ErrorKind::InvalidArgument, "{name}");
    }
    candidates.open("...", "").unwrap();
}

#[test]
fn a_commit_can_be_taken_back_by_hand_and_only_if_it_can_be_undone() {
    let repository = filled();
    let candidates = repository.candidates();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_secs(600)), ..CandidateCommit::default() };
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| set(t, ONE, "1")).unwrap();
    candidates.commit("c", &how).unwrap();
    candidates.take_back("c", None, "ada").unwrap();
    assert_eq!(value(&repository.snapshot(), ONE), Some("one".into()));
    let id = repository.snapshot().tree().item(&path("/cont")).unwrap().unwrap().entity.id().clone();
    candidates.edit("c", |t| t.purge(&InstanceId::Entity(id.clone()))).unwrap();
    assert_eq!(kind_of(candidates.commit("c", &how)), ErrorKind::InvalidArgument);
    let long = CandidateCommit { confirm_within: Some(Duration::from_secs(1 << 40)), ..how };
    assert_eq!(kind_of(candidates.commit("c", &long)), ErrorKind::InvalidArgument);
    assert!(repository.snapshot().tree().item(&path("/cont")).unwrap().is_some());
}

#[test]
fn records_of_every_kind_are_taken_back() {
    let repository = filled();
    let a = repository.transact(|t| t.create_entity(NewEntity::new("node").property("x", 1))).unwrap().0;
    let b = repository.transact(|t| t.create_entity(NewEntity::new("node"))).unwrap().0;
    let link = repository
        .transact(|t| {
            t.create_relationship(NewRelationship::new("knows", a.clone(), b.clone()).property("w", 1))
        })
        .unwrap()
        .0;
    repository.transact(|t| set(t, "/else/leaf", 1).and_then(|()| set(t, "/new/leaf", 1))).unwrap();
    let before = repository.snapshot();
    let entity = |id: &Id| InstanceId::Entity(id.clone());
    type Work<'w> = Box<dyn Fn(&mut Transaction) -> Result<()> + 'w>;
    let edits: Vec<Work<'_>> = vec![
        Box::new(|t| t.update(&entity(&a), Patch::new().set("x", 2).set("y", 3))),
        Box::new(|t| t.delete(&entity(&a))),
        Box::new(|t| t.delete(&InstanceId::Relationship(link.clone()))),
        Box::new(|t| t.relink(&link, Some(&b), Some(&a))),
        Box::new(|t| t.update(&InstanceId::Relationship(link.clone()), Patch::new().set("w", 2))),
        Box::new(|t| t.classify(&a, ClassificationContent::new("hot"))),
        Box::new(|t| t.retype(&entity(&a), "other-node")),
        Box::new(|t| t.tree().delete(&path("/cont"))),
        Box::new(|t| {
            t.tree()
                .move_to(&path("/cont/lst[k1=1][k2='a']"), &path("/else/lst[k1=1][k2='a']"), None)
                .map(drop)
        }),
        // Two items change their keys against each other.
        Box::new(|t| {
            t.tree().move_to(&path("/cont/lst[k1=1][k2='a']"), &path("/cont/lst[k1=9][k2='a']"), None)?;
            t.tree().move_to(&path("/cont/lst[k1=2][k2='b']"), &path("/cont/lst[k1=1][k2='a']"), None)?;
            t.tree()
                .move_to(&path("/cont/lst[k1=9][k2='a']"), &path("/cont/lst[k1=2][k2='b']"), None)
                .map(drop)
        }),
        // A created container takes over an existing one.
        Box::new(|t| {
            t.tree().move_to(&path("/cont"), &path("/new/cont"), None)?;
            set(t, "/cont/leaf", 1)
        }),
    ];
    for (number, work) in edits.iter().enumerate() {
        let (_, receipt) = repository.transact(|t| work(t)).unwrap();
        let (_, back) = repository
            .transact(|t| t.take_back(receipt.position))
            .unwrap_or_else(|error| panic!("{number}: {error}"));
        let after = repository.snapshot();
        assert_eq!(after.position(), back.position);
        let changes = after.tree().difference(
            &path("/"),
            AsOf { position: Some(before.position()), ..AsOf::default() },
            AsOf::default(),
        );
        assert!(changes.as_ref().is_ok_and(Vec::is_empty), "{number}: {changes:?}");
        let entity = after.entity(&a).unwrap().unwrap();
        assert_eq!((entity.property("x"), entity.property("y")), (Some(1.into()), None), "{number}");
        assert_eq!((entity.type_name(), entity.classifications().count()), ("node", 0), "{number}");
        let known = after.relationship(&link).unwrap().unwrap();
        assert_eq!((known.from(), known.to(), known.property("w")), (&a, &b, Some(1.into())), "{number}");
    }
    assert_eq!(kind_of(repository.transact(|t| t.take_back(Position(0)))), ErrorKind::NotFound);
    assert_eq!(kind_of(repository.transact(|t| t.take_back(Position(10_000)))), ErrorKind::NotFound);
    let (_, receipt) = repository.transact(|t| t.purge(&entity(&b))).unwrap();
    assert_eq!(kind_of(repository.transact(|t| t.take_back(receipt.position))), ErrorKind::InvalidArgument);
}

fn wheel() -> (CheckedRepository, Candidates, InstanceId) {
    let repository = CheckedRepository::in_memory();
    let wheel = id("wheel");
    repository.transact(|t| t.create_entity(NewEntity::new("part").id("wheel")?)).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    (repository, candidates, InstanceId::Entity(wheel))
}

#[test]
fn an_edit_that_expects_another_version_is_refused() {
    let (repository, candidates, wheel) = wheel();
    let patch = |value: i64| Patch::new().set("spokes", value);
    candidates.edit("c", |t| t.update(&wheel, patch(1))).unwrap();
    let seen = candidates.view("c").unwrap().revision(&wheel).unwrap();
    assert_eq!(seen.version, 2);
    for expect in
        [&mut |t: &mut Transaction| t.expect_version(&wheel, 1) as Result<()>, &mut |t: &mut Transaction| {
            t.expect_revision(&wheel, repository.snapshot().revision(&wheel).unwrap())
        }] as [&mut dyn FnMut(&mut Transaction) -> Result<()>; 2]
    {
        let refused = candidates.edit("c", |t| {
            expect(t)?;
            t.update(&wheel, patch(2))
        });
        assert_eq!(kind_of(refused), ErrorKind::PreconditionFailed);
    }
    assert_eq!(candidates.get("c").unwrap().changes_count, 1);
    candidates
        .edit("c", |t| {
            t.expect_version(&wheel, 2)?;
            t.expect_revision(&wheel, seen)?;
            t.update(&wheel, patch(2))
        })
        .unwrap();
    assert_eq!(candidates.get("c").unwrap().changes_count, 2);
}

#[test]
fn a_version_of_a_candidate_has_a_revision_that_no_other_state_has() {
    let (repository, candidates, wheel) = wheel();
    let patch = |text: &str| Patch::new().set("by", text);
    let seen = || candidates.view("c").unwrap().revision(&wheel).unwrap();
    let committed = repository.snapshot().revision(&wheel).unwrap();
    assert_eq!(seen(), committed, "the candidate has not changed it");
    candidates.edit("c", |t| t.update(&wheel, patch("the candidate"))).unwrap();
    let first = seen();
    repository.transact(|t| t.update(&wheel, patch("others"))).unwrap();
    let second = repository.snapshot().revision(&wheel).unwrap();
    assert_eq!((first.version, second.version), (2, 2));
    assert_ne!(first, second, "the same number, but another state");
    // The edit is dropped, and another one makes a version with its number.
    candidates.rebase("c", Some(Keep::Theirs), "").unwrap();
    assert_eq!(seen(), second);
    candidates.edit("c", |t| t.update(&wheel, patch("the candidate again"))).unwrap();
    let third = seen();
    repository.transact(|t| t.update(&wheel, patch("others again"))).unwrap();
    candidates.rebase("c", Some(Keep::Theirs), "").unwrap();
    assert_eq!(seen(), repository.snapshot().revision(&wheel).unwrap());
    let all = [committed, first, second, third, seen()];
    let distinct: std::collections::BTreeSet<Revision> = all.into_iter().collect();
    assert_eq!(distinct.len(), all.len(), "{all:?}");
    for revision in all {
        assert_eq!(revision.to_string().parse::<Revision>().unwrap(), revision);
    }
}

#[test]
fn a_unique_value_that_others_took_is_a_conflict_of_the_edit_that_uses_it() {
    let repository = CheckedRepository::in_memory();
    let name = AttributeDefinition::new("name", ValueType::String).unique();
    repository.transact(|t| t.define_type(TypeDefinition::entity("person").attribute(name.clone()))).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    let person = |name: &str| NewEntity::new("person").id(name).unwrap().property("name", name);
    for name in ["ada", "bob", "eve"] {
        candidates.edit("c", |t| t.create_entity(person(name))).unwrap();
    }
    let others = NewEntity::new("person").id("other").unwrap().property("name", "bob");
    repository.transact(|t| t.create_entity(others.clone())).unwrap();
    let conflicts = candidates.conflicts("c").unwrap();
    let told: Vec<_> = conflicts.iter().map(|found| (found.edit, found.reason.kind())).collect();
    assert_eq!(told, [(1, ErrorKind::NotUnique)]);
    for keep in [None, Some(Keep::Mine)] {
        assert_eq!(kind_of(candidates.rebase("c", keep, "")), ErrorKind::PreconditionFailed);
    }
    let dropped = candidates.rebase("c", Some(Keep::Theirs), "").unwrap();
    assert_eq!(dropped.len(), 1);
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    let snapshot = repository.snapshot();
    assert!(["ada", "eve", "other"].iter().all(|name| snapshot.entity(&id(name)).unwrap().is_some()));
    assert!(snapshot.entity(&id("bob")).unwrap().is_none());
}

/// Story: two instances exchange a value, which is not unique between the two edits; the innocent edit was dropped.
#[test]
fn edits_that_exchange_a_unique_value_are_no_conflict() {
    let repository = CheckedRepository::in_memory();
    let code = AttributeDefinition::new("code", ValueType::String).unique();
    repository.transact(|t| t.define_type(TypeDefinition::entity("part").attribute(code.clone()))).unwrap();
    let part = |name: &str| NewEntity::new("part").id(name).unwrap().property("code", name);
    repository
        .transact(|t| ["x", "y", "z"].iter().try_for_each(|name| t.create_entity(part(name)).map(drop)))
        .unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    let give = |name: &str, code: &str| {
        let instance = InstanceId::Entity(id(name));
        candidates.edit("c", |t| t.update(&instance, Patch::new().set("code", code)))
    };
    // Nobody checks what is unique within a candidate before its end, so the order does not matter.
    give("x", "y").unwrap();
    give("y", "c").unwrap();
    give("z", "u").unwrap();
    // These say nothing about the value.
    for note in [3, 2, 1] {
        let patch = Patch::new().set("note", note);
        candidates.edit("c", |t| t.update(&InstanceId::Entity(id("z")), patch.clone())).unwrap();
    }
    repository.transact(|t| t.create_entity(part("u"))).unwrap();
    let conflicts = candidates.conflicts("c").unwrap();
    let told: Vec<_> = conflicts.iter().map(|found| (found.edit, found.reason.kind())).collect();
    assert_eq!(told, [(2, ErrorKind::NotUnique)]);
    assert_eq!(candidates.rebase("c", Some(Keep::Theirs), "").unwrap().len(), 1);
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    let snapshot = repository.snapshot();
    let code = |name: &str| snapshot.entity(&id(name)).unwrap().unwrap().property("code");
    assert_eq!([code("x"), code("y"), code("z")], ["y", "c", "z"].map(|code| Some(code.into())));
    assert_eq!(snapshot.entity(&id("z")).unwrap().unwrap().property("note"), Some(1.into()));
}
