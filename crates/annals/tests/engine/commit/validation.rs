//! Hooks that look at each transaction before it is durable.

use std::sync::{Arc, Mutex};

use crate::support::trees::path;
use crate::support::{CheckedRepository, declare_lists};
use annals::*;

fn set(repository: &Repository, text: &str, value: &str) -> Result<Receipt> {
    repository.transact(|t| t.author("ada").tree().set(&path(text), value)).map(|(_, receipt)| receipt)
}

const LEAF: &str = "/cont/lst[k1=1][k2='a']/l";

#[test]
fn a_hook_sees_what_would_become_of_a_path_and_its_reason_reaches_the_committer() {
    let repository = CheckedRepository::in_memory();
    declare_lists(&repository);
    set(&repository, LEAF, "one").unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let watch = Watch::tree("/cont").unwrap();
    let validator = repository.validate("no-bad", move |proposal| {
        let value = |snapshot: &Snapshot| {
            let found = snapshot.tree().item(&path(LEAF)).unwrap();
            found.and_then(|found| found.value())
        };
        let changes = proposal.changes(&watch).unwrap();
        told.lock().unwrap().push((value(proposal.before()), value(proposal.after()), changes.len()));
        assert_eq!(&*proposal.record().author, "ada");
        match value(proposal.after()) {
            Some(bad) if bad.as_str() == Some("bad") => Err("bad is not allowed here".to_owned()),
            _ => Ok(()),
        }
    });
    let before = repository.snapshot().position();
    let refused = set(&repository, LEAF, "bad").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(refused.to_string().contains("no-bad: bad is not allowed here"), "{refused}");
    assert_eq!(repository.snapshot().position(), before);
    set(&repository, LEAF, "good").unwrap();
    set(&repository, "/elsewhere/leaf", "bad").unwrap();
    let some = |text: &str| Some(Value::from(text));
    let expected =
        [(some("one"), some("bad"), 1), (some("one"), some("good"), 1), (some("good"), some("good"), 0)];
    assert_eq!(*seen.lock().unwrap(), expected);
    drop(validator);
    set(&repository, LEAF, "bad").unwrap();
}

#[test]
fn a_rule_over_several_instances_holds_beside_writers() {
    let repository = CheckedRepository::in_memory();
    let _validator = repository.validate("at-most-ten", |proposal| match proposal.after().entities_count() {
        0..=10 => Ok(()),
        count => Err(format!("found {count}")),
    });
    let refused: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    (0..5)
                        .filter(|_| match repository.transact(|t| t.create_entity(NewEntity::new("node"))) {
                            Ok(_) => false,
                            Err(error) => error.kind() == ErrorKind::Refused,
                        })
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((repository.snapshot().entities_count(), refused), (10, 30));
}

#[test]
fn a_hook_that_panics_or_commits_refuses_and_the_repository_goes_on() {
    let repository = CheckedRepository::in_memory();
    let panicking = repository.validate("broken", |_| panic!("a mistake"));
    let refused = repository.transact(|t| t.create_entity(NewEntity::new("node"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    drop(panicking);
    let inner = Repository::clone(&repository);
    let _committing = repository.validate("committing", move |_| {
        let outcome = inner.transact(|t| t.create_entity(NewEntity::new("node")));
        outcome.map(|_| ()).map_err(|error| error.to_string())
    });
    let refused = repository.transact(|t| t.create_entity(NewEntity::new("node"))).unwrap_err();
    assert!(refused.to_string().contains("cannot commit another one"), "{refused}");
    assert_eq!(repository.snapshot().entities_count(), 0);
}
