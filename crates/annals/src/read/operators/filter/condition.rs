//! A condition that is asked of one instance after the other, by reads that come to instances in other ways than a search.

use super::resolve;
use super::subject::Subject;
use super::test::{Bound, Test};
use crate::Result;
use crate::model::TypeKind;
use crate::read::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{Expression, FIND_VISITED_MAX};

/// A condition on entities, or on relationships, with its names looked up.
pub(in crate::read) struct Filter {
    kind: TypeKind,
    test: Test,
    bound: Bound,
}

impl Filter {
    /// Errors: `InvalidExpression` for what cannot be compared; `NotFound` for a type that is neither declared nor used.
    pub(in crate::read) fn new(
        snapshot: &Snapshot,
        kind: TypeKind,
        expression: &Expression,
    ) -> Result<Filter> {
        Ok(Filter {
            kind,
            test: resolve::test(snapshot, kind, expression)?,
            bound: Bound::new(FIND_VISITED_MAX),
        })
    }

    /// True if the instance at `slot`, of which the snapshot sees this version, fulfils it.
    ///
    /// Errors: those of reading history, for conditions on relationships; `TooLarge` if these lead too far.
    pub(in crate::read) fn holds(&self, snapshot: &Snapshot, slot: u32, held: &Held) -> Result<bool> {
        let subject = match held {
            Held::InForce => Subject::InForce(self.kind, slot),
            Held::Read(version) => Subject::Read(self.kind, slot, version.row()),
        };
        let holds = self.test.holds(snapshot, &self.bound, subject)?;
        self.test.check()?;
        Ok(holds)
    }
}
