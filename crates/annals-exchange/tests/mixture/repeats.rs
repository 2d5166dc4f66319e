//! Idempotency keys: whatever happens to the log, each repeat gets the first receipt, and makes no record.

use annals::*;

use crate::world::World;

/// Most receipts that are asked for again.
const KNOWN_MAX: usize = 200;

impl World {
    /// A key for the next transaction, now and then.
    pub(crate) fn any_key(&mut self) -> Option<IdempotencyKey> {
        self.keys_count += 1;
        let text = format!("{} {}", self.seed, self.keys_count);
        self.random.one_in(3).then(|| IdempotencyKey::new("ada", &text, "a transaction"))
    }

    /// Keeps the receipt of a commit with a key.
    pub(crate) fn note_key(&mut self, key: IdempotencyKey, receipt: Receipt) {
        if self.receipts.len() >= KNOWN_MAX {
            let at = self.random.below(KNOWN_MAX);
            self.receipts.swap_remove(at);
        }
        self.receipts.push((key, receipt));
    }

    /// Asks for an earlier receipt, and commits with its key again now and then.
    pub(crate) fn check_repeats(&mut self) {
        if self.receipts.is_empty() || !self.random.one_in(4) {
            return;
        }
        let (key, receipt) = *self.random.choose(&self.receipts);
        let repository = self.repository().clone();
        let found = repository.snapshot().receipt_of(&key).expect("it was no other request");
        assert_eq!(found, Some(receipt), "{}", self.what());
        if self.random.one_in(4) {
            let mut again = repository.transaction();
            again.idempotency_key(key).create_entity(NewEntity::new("node")).expect("a new id");
            let kind = again.commit().expect_err("the key is known").kind();
            // With little memory there may be no room to try.
            let is_refused = matches!(kind, ErrorKind::AlreadyExists | ErrorKind::NoRoom);
            assert!(is_refused, "{kind:?}: {}", self.what());
        }
    }

    /// The same in another repository with this log.
    pub(crate) fn check_repeats_in(&self, other: &Repository) {
        let snapshot = other.snapshot();
        for (key, receipt) in &self.receipts {
            let found = snapshot.receipt_of(key).expect("it was no other request");
            assert_eq!(found, Some(*receipt), "in a copy: {}", self.what());
        }
    }
}
