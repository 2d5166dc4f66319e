//! Edits that take other instances along: what others have put there since is a conflict, and stays.

use crate::support::named::id;
use annals::*;

fn entity(name: &str) -> InstanceId {
    InstanceId::Entity(id(name))
}

/// Box `a` contains `b`, and `b` contains `c`. Box `other` is empty.
fn filled() -> Repository {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            for name in ["a", "b", "c", "other"] {
                t.create_entity(NewEntity { id: id(name), ..NewEntity::new("box") })?;
            }
            contain(t, "a", "b")?;
            contain(t, "b", "c")
        })
        .unwrap();
    repository
}

fn contain(t: &mut Transaction, parent: &str, child: &str) -> Result<()> {
    let link = NewRelationship::new("contains", id(parent), id(child)).property("name", child);
    t.create_relationship(NewRelationship { id: id(&format!("in-{child}")), ..link }).map(drop)
}

/// Somebody puts `late` into a box.
fn fill(repository: &Repository, parent: &str) {
    repository
        .transact(|t| {
            t.create_entity(NewEntity { id: id("late"), ..NewEntity::new("page") })?;
            contain(t, parent, "late")
        })
        .unwrap();
}

fn edited(repository: &Repository, work: impl FnMut(&mut Transaction) -> Result<()>) -> Candidates {
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", work).unwrap();
    candidates
}

fn is_there(repository: &Repository, name: &str) -> bool {
    repository.snapshot().entity(&id(name)).unwrap().is_some()
}

/// The candidate cannot be committed because of `other`, nor rebased without an answer.
fn assert_conflict(candidates: &Candidates, other: &str) {
    let conflicts = candidates.conflicts("c").unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!(conflicts[0].reason.kind(), ErrorKind::Conflict);
    assert!(conflicts[0].reason.text().contains(other), "{:?}", conflicts[0].reason);
    for refused in [
        candidates.check("c"),
        candidates.commit("c", &CandidateCommit::default()).map(drop),
        candidates.rebase("c", None, "").map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PreconditionFailed);
        assert!(refused.text().contains(other), "{refused}");
    }
}

#[test]
fn a_deletion_spares_what_others_put_into_the_box() {
    for deepest in ["a", "b", "c"] {
        let repository = filled();
        let candidates = edited(&repository, |t| t.delete(&entity("a")));
        fill(&repository, deepest);
        assert_conflict(&candidates, "late");
        assert!(is_there(&repository, "late"));
        // Theirs: the deletion is dropped. Mine, on purpose: it goes.
        assert_eq!(candidates.rebase("c", Some(Keep::Theirs), "").unwrap().len(), 1);
        candidates.commit("c", &CandidateCommit::default()).unwrap();
        assert!(is_there(&repository, "a") && is_there(&repository, "late"));
        let candidates = edited(&repository, |t| t.delete(&entity("a")));
        candidates.check("c").unwrap();
        candidates.commit("c", &CandidateCommit::default()).unwrap();
        assert!(!is_there(&repository, "late"));
    }
}

#[test]
fn mine_keeps_the_deletion_once() {
    let repository = filled();
    let candidates = edited(&repository, |t| t.delete(&entity("a")));
    fill(&repository, "b");
    assert!(candidates.rebase("c", Some(Keep::Mine), "").unwrap().is_empty());
    // Later changes are asked about again.
    repository.transact(|t| t.update(&entity("late"), Patch::new().set("n", 1))).unwrap();
    assert_conflict(&candidates, "late");
    candidates.rebase("c", Some(Keep::Mine), "").unwrap();
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    assert!(!is_there(&repository, "late"));
}

#[test]
fn a_purge_spares_what_others_linked() {
    let repository = filled();
    let candidates = edited(&repository, |t| t.purge(&entity("a")));
    repository
        .transact(|t| {
            let link = NewRelationship::new("knows", id("other"), id("c"));
            t.create_relationship(NewRelationship { id: id("late"), ..link })
        })
        .unwrap();
    assert_conflict(&candidates, "late");
}

/// The candidate moves a box into another one, which it then deletes; others fill the box that moves.
#[test]
fn what_the_candidate_moves_takes_along_what_others_put_there() {
    let repository = filled();
    let candidates = edited(&repository, |t| {
        t.relink(&id("in-b"), Some(&id("other")), None)?;
        t.delete(&entity("other"))
    });
    candidates.check("c").unwrap();
    fill(&repository, "b");
    assert_conflict(&candidates, "late");
}

#[test]
fn own_edits_and_changes_elsewhere_are_no_conflict() {
    let repository = filled();
    let candidates = edited(&repository, |t| {
        t.create_entity(NewEntity { id: id("own"), ..NewEntity::new("page") })?;
        contain(t, "a", "own")?;
        t.update(&entity("c"), Patch::new().set("n", 1))?;
        t.delete(&entity("a"))
    });
    fill(&repository, "other");
    assert!(candidates.conflicts("c").unwrap().is_empty());
    candidates.check("c").unwrap();
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    assert!(!is_there(&repository, "own") && is_there(&repository, "late"));
}

/// Many fill the box while many commit its deletion: whoever was told that it is in, finds it in or its box gone by a commit
/// that came before.
#[test]
fn nothing_that_was_acknowledged_goes_along_in_a_race() {
    for round in 0..200 {
        let repository = filled();
        let candidates = edited(&repository, |t| {
            t.relink(&id("in-b"), Some(&id("other")), None)?;
            t.delete(&entity("other"))
        });
        let filled = std::thread::scope(|scope| {
            let filling = scope.spawn(|| {
                repository.transact(|t| {
                    t.create_entity(NewEntity { id: id("late"), ..NewEntity::new("page") })?;
                    contain(t, if round % 2 == 0 { "b" } else { "other" }, "late")
                })
            });
            let committed = candidates.commit("c", &CandidateCommit::default());
            let filled = filling.join().unwrap();
            assert!(committed.is_ok() != filled.is_ok(), "{round}: {committed:?} {filled:?}");
            filled
        });
        assert_eq!(is_there(&repository, "late"), filled.is_ok(), "{round}");
    }
}
