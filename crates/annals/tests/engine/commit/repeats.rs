//! Idempotency keys: which process made the commit, and what has become of the log, does not matter.

use std::sync::Arc;

use crate::support::named::{id, new};
use annals::log::{Log, MemoryLog};
use annals::*;

fn key(number: u32) -> IdempotencyKey {
    IdempotencyKey::new("ada", &number.to_string(), "create")
}

/// Creates an entity for a request, as a door does it.
fn create(repository: &Repository, number: u32) -> Result<Receipt> {
    if let Some(receipt) = repository.snapshot().receipt_of(&key(number))? {
        return Ok(receipt);
    }
    let name = format!("e{number}");
    let step = |t: &mut Transaction| {
        t.idempotency_key(key(number));
        t.create_entity(new(&name))
    };
    repository.transact(step).map(|(_, receipt)| receipt)
}

fn open(log: &MemoryLog, is_read_only: bool) -> Repository {
    let options = Options { is_read_only, poll_interval_ms: 1, ..Options::default() };
    Repository::with_log(Arc::new(log.clone()) as Arc<dyn Log>, options).unwrap()
}

#[test]
fn each_process_of_a_log_knows_the_receipt() {
    let log = MemoryLog::new();
    let writer = open(&log, false);
    let receipts: Vec<Receipt> = (1..=5).map(|number| create(&writer, number).unwrap()).collect();
    let follower = open(&log, true);
    let again: Vec<Receipt> = (1..=5).map(|number| create(&follower, number).unwrap()).collect();
    assert_eq!(again, receipts);
    assert_eq!(create(&follower, 6).unwrap_err().kind(), ErrorKind::ReadOnly);
    writer.close().unwrap();
    let next = open(&log, false);
    assert_eq!(create(&next, 3).unwrap(), receipts[2]);
    assert_eq!(next.snapshot().position(), Position(5));
    assert_eq!(next.check().unwrap().differences, Vec::<String>::new());
}

/// Two transactions with one key that see the same snapshot: in one batch, and one after the other.
#[test]
fn of_two_transactions_with_a_key_one_commits() {
    let repository = Repository::in_memory();
    let begin = |name: &str| {
        let mut transaction = repository.transaction();
        transaction.idempotency_key(key(1)).create_entity(new(name)).unwrap();
        transaction
    };
    let (first, second, third) = (begin("a"), begin("b"), begin("c"));
    let tickets = [first.submit().unwrap(), second.submit().unwrap()];
    let outcomes = tickets.map(|ticket| ticket.wait());
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(third.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(repository.snapshot().position(), Position(1));
    assert_eq!(repository.snapshot().receipt_of(&key(1)).unwrap().unwrap().position, Position(1));
    let other = IdempotencyKey::new("ada", "1", "delete");
    assert_eq!(repository.snapshot().receipt_of(&other).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

/// Of two tries of a request at once the second may find that nothing is left to change. It got the receipt of whatever was the
/// last commit then.
#[test]
fn a_repeat_that_finds_its_change_done_is_told_as_one() {
    let repository = Repository::in_memory();
    repository.transact(|t| t.create_entity(new("a").property("n", 1))).unwrap();
    let set = || {
        repository.transact(|t| {
            t.idempotency_key(key(1));
            t.update(&InstanceId::Entity(id("a")), Patch::new().set("n", 2)).map(drop)
        })
    };
    let (_, receipt) = set().unwrap();
    repository.transact(|t| t.create_entity(new("b"))).unwrap();
    assert_eq!(set().unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(repository.snapshot().receipt_of(&key(1)).unwrap().unwrap(), receipt);
}

#[test]
fn checkpoints_purges_compactions_and_backups_keep_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let [data, copy, restored] = ["data", "copy", "restored"].map(|name| folder.path().join(name));
    let repository = Repository::open(&data).unwrap();
    let receipts: Vec<Receipt> = (1..=3).map(|number| create(&repository, number).unwrap()).collect();
    repository.transact(|t| t.purge(&InstanceId::Entity(id("e2")))).unwrap();
    repository.compact().unwrap();
    let known = |repository: &Repository| -> Vec<Receipt> {
        (1..=3).map(|number| create(repository, number).unwrap()).collect()
    };
    assert_eq!(known(&repository), receipts);
    repository.checkpoint().unwrap();
    repository.backup(&copy).unwrap();
    restore(&copy, &restored).unwrap();
    repository.close().unwrap();
    for place in [&data, &restored] {
        let repository = Repository::open(place).unwrap();
        assert_eq!(known(&repository), receipts, "{}", place.display());
        assert_eq!(repository.check().unwrap().differences, Vec::<String>::new());
    }
}
