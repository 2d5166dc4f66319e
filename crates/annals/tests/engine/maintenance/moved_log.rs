//! A compaction whose new log was replaced by that of another process before it was read back.

use std::sync::Arc;

use annals::log::{
    Appended, Call, Log, MemoryLog, ReadLimit, Rewrite, RewriteRecord, RewriteReport, Rewritten,
};
use annals::*;

use crate::support::named::entity;

/// A log of which another process puts a rewriting in place each time.
struct MovedLog(MemoryLog);

struct Moved<'l>(Box<dyn Rewritten + 'l>);

impl Log for MovedLog {
    fn tail(&self) -> Result<Position> {
        self.0.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.0.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.0.read(from, limit)
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

impl Rewrite for MovedLog {
    fn seal(&self) -> Result<Position> {
        self.0.seal()
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        Ok(Box::new(Moved(self.0.rewrite(last, change)?)))
    }
}

impl Log for Moved<'_> {
    fn tail(&self) -> Result<Position> {
        self.0.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.0.append_call(call)
    }

    fn read(&self, _: Position, _: ReadLimit) -> Result<Vec<Vec<u8>>> {
        Err(Error::new(ErrorKind::Conflict, "another rewriting was put in place first; retry"))
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

impl Rewritten for Moved<'_> {
    fn report(&self) -> RewriteReport {
        self.0.report()
    }

    fn put_in_place(self: Box<Self>) -> Result<()> {
        self.0.put_in_place()
    }
}

#[test]
fn a_compaction_that_another_one_was_quicker_than_is_a_conflict() {
    let log = Arc::new(MovedLog(MemoryLog::new()));
    let repository = Repository::with_log(log, Options::default()).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("a")?).map(drop)).unwrap();
    repository.transact(|t| t.purge(&entity("a"))).unwrap();
    let refused = repository.compact().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(repository.check().unwrap().is_clean());
}
