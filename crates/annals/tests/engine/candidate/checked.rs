//! Candidates of a client that may not do everything: each write asks by what is true then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::named::id;
use annals::*;

fn entity(name: &str) -> InstanceId {
    InstanceId::Entity(id(name))
}

fn refused() -> Error {
    Error::new(ErrorKind::Refused, "not any more")
}

/// A client that may do everything until the flag falls, and then change nothing.
fn client(repository: &Repository) -> (Candidates, Arc<AtomicBool>) {
    let may = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&may);
    let candidates = repository.candidates().checked(move |candidate, t| {
        let own = candidate.instance()?;
        let others = t.actions().any(|action| action.instance().as_ref() != Some(&own));
        if others && !flag.load(Ordering::SeqCst) { Err(refused()) } else { Ok(()) }
    });
    (candidates, may)
}

fn filled() -> Repository {
    let repository = Repository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity { id: id("a"), ..NewEntity::new("page") })).unwrap();
    repository
}

fn update(candidates: &Candidates) -> Result<Receipt> {
    candidates.edit("c", |t| t.update(&entity("a"), Patch::new().set("n", 1))).map(|(_, receipt)| receipt)
}

#[test]
fn an_edit_is_asked_again_when_it_takes_effect() {
    let repository = filled();
    let (candidates, may) = client(&repository);
    candidates.open("c", "ada").unwrap();
    update(&candidates).unwrap();
    may.store(false, Ordering::SeqCst);
    let later = repository.snapshot().position();
    let commit = || candidates.commit("c", &CandidateCommit::default()).map(drop);
    let rebase = || candidates.rebase("c", Some(Keep::Mine), "ada").map(drop);
    for outcome in [update(&candidates).map(drop), candidates.check("c"), commit(), rebase()] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Refused);
    }
    assert_eq!(repository.snapshot().position(), later);
    may.store(true, Ordering::SeqCst);
    commit().unwrap();
    assert!(repository.snapshot().entity(&id("a")).unwrap().unwrap().property("n").is_some());
}

#[test]
fn a_commit_that_waits_is_asked_when_it_is_confirmed_or_taken_back() {
    let repository = filled();
    let (candidates, may) = client(&repository);
    candidates.open("c", "ada").unwrap();
    update(&candidates).unwrap();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_secs(600)), ..CandidateCommit::default() };
    candidates.commit("c", &how).unwrap();
    may.store(false, Ordering::SeqCst);
    assert_eq!(candidates.confirm("c", "ada").unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(candidates.take_back("c", None, "ada").unwrap_err().kind(), ErrorKind::Refused);
    may.store(true, Ordering::SeqCst);
    candidates.take_back("c", None, "ada").unwrap();
    assert!(repository.snapshot().entity(&id("a")).unwrap().unwrap().property("n").is_none());
    candidates.discard("c", "ada").unwrap();
}

#[test]
fn another_clients_candidate_is_refused_before_its_state_is_told() {
    let repository = filled();
    repository.candidates().open("c", "bob").unwrap();
    let candidates = repository
        .candidates()
        .checked(|candidate, _| if &*candidate.created.author == "ada" { Ok(()) } else { Err(refused()) });
    let outcomes = [
        update(&candidates).map(drop),
        candidates.rebase("c", None, "ada").map(drop),
        candidates.commit("c", &CandidateCommit::default()).map(drop),
        candidates.confirm("c", "ada").map(drop),
        candidates.take_back("c", None, "ada").map(drop),
        candidates.discard("c", "ada").map(drop),
    ];
    for outcome in outcomes {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Refused);
    }
}

/// Nobody would ask the rights of the writer when its edits are committed.
#[test]
fn a_candidate_takes_no_edits_of_writers_with_grants() {
    let repository = filled();
    let pages = Grant { entities: "page".parse().unwrap(), ..Grant::default() };
    let rights = Arc::new(Rights::new(&[(pages, Right::ALL.to_vec())]).unwrap());
    let candidates = repository.candidates();
    candidates.open("c", "ada").unwrap();
    let edit = candidates.edit("c", |t| {
        t.limit_to(&rights)?;
        t.update(&entity("a"), Patch::new().set("n", 1))
    });
    assert_eq!(edit.unwrap_err().kind(), ErrorKind::Refused);
    assert!(candidates.edits("c").unwrap().is_empty());
}
