//! Handles whose transaction broke: they refuse, and nothing of it is committed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use annals::{ErrorKind, Repository};
use annals_jvm::handles::Thing;
use annals_jvm::{changes, handles, opened};

fn repository() -> (i64, Repository) {
    let opened = opened::Opened::open(b"{}").unwrap();
    let repository = opened.repository().unwrap();
    (handles::add(Thing::Repository(std::sync::Arc::new(opened))), repository)
}

fn operations(transaction: i64, json: &str) -> annals::Result<Vec<u8>> {
    changes::apply(transaction, 5, json.as_bytes())
}

const BOTH: &str = r#"[{"action": "create", "kind": "entity", "id": "a", "type": "t"},
    {"action": "create", "kind": "entity", "id": "b", "type": "t", "properties": {"": 1}}]"#;

#[test]
fn operations_that_fail_after_the_first_leave_nothing_to_commit() {
    let (handle, repository) = repository();
    let transaction = changes::begin(handle, b"{}").unwrap();
    assert_eq!(operations(transaction, BOTH).unwrap_err().kind(), ErrorKind::InvalidArgument);
    for error in [
        operations(transaction, "[]").unwrap_err(),
        changes::commit(transaction).unwrap_err(),
        changes::commit(transaction).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }
    assert_eq!(repository.snapshot().position().0, 0);
}

#[test]
fn a_failure_before_the_first_change_leaves_the_transaction_as_it_was() {
    let (handle, repository) = repository();
    let transaction = changes::begin(handle, b"{}").unwrap();
    operations(transaction, r#"[{"action": "create", "kind": "entity", "id": "a", "type": "t"}]"#).unwrap();
    assert!(operations(transaction, r#"[{"action": "create", "kind": "entity", "id": "a"}]"#).is_err());
    changes::commit(transaction).unwrap();
    assert_eq!(repository.snapshot().position().0, 1);
}

#[test]
fn a_transaction_is_refused_after_a_panic_within_it() {
    let (handle, repository) = repository();
    let transaction = changes::begin(handle, b"{}").unwrap();
    operations(transaction, r#"[{"action": "create", "kind": "entity", "id": "a", "type": "t"}]"#).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        handles::with_transaction(transaction, |_| -> annals::Result<()> { panic!("a fault") })
    }));
    assert!(panicked.is_err());
    for error in [operations(transaction, "[]").unwrap_err(), changes::commit(transaction).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().contains("panicked"), "{error}");
    }
    assert_eq!(repository.snapshot().position().0, 0);
}
