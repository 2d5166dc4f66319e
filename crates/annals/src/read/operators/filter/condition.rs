//! A condition for single instances, for reads other than searches.

use super::properties::check_filter;
use super::resolve;
use super::subject::Subject;
use super::test::{Bound, Test};
use crate::Result;
use crate::graph::structures::symbols::Symbol;
use crate::model::TypeKind;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{Expression, FIND_VISITED_MAX};

/// A condition on entities, or on relationships, with its names looked up.
pub(in crate::read) struct Filter {
    kind: TypeKind,
    test: Test,
    bound: Bound,
}

impl Filter {
    /// Errors: `InvalidExpression` for values that cannot be compared; `NotFound` for a type that is neither declared
    /// nor used.
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

    /// The same, with the bounds of a search; each name must be one that an instance can have.
    ///
    /// Shape: `None` for the condition that all instances fulfil. `types` are those of the instances, ascending; `None`
    /// for any.
    /// Errors: also `TooLarge` for too many conditions, and `NotFound` for a property that no instance has.
    pub(in crate::read) fn of_some(
        snapshot: &Snapshot,
        kind: TypeKind,
        types: Option<&[Symbol]>,
        expression: &Expression,
    ) -> Result<Option<Filter>> {
        if *expression == Expression::everything() {
            return Ok(None);
        }
        expression.check_bounds()?;
        check_filter(snapshot, kind, types, expression)?;
        Filter::new(snapshot, kind, expression).map(Some)
    }

    /// True if the snapshot sees an instance at `slot`, deleted or not, that fulfils it. Counts the instance as
    /// visited.
    ///
    /// Errors: those of reading history; `TooLarge` after too many visits; `Cancelled`.
    pub(in crate::read) fn holds_at(&self, snapshot: &Snapshot, slot: u32) -> Result<bool> {
        self.bound.visit(snapshot)?;
        match snapshot.seen(self.kind, slot, true)? {
            Some(held) => self.holds(snapshot, slot, &held),
            None => Ok(false),
        }
    }

    /// True if the instance at `slot` fulfils it, in the version that the snapshot sees.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, NewEntity, Repository};

    #[test]
    fn a_condition_is_asked_a_bounded_number_of_times() {
        let repository = Repository::in_memory();
        repository.transact(|t| t.create_entity(NewEntity::new("x").property("size", 1))).unwrap();
        let snapshot = repository.snapshot();
        let condition = "size > 0".parse().unwrap();
        let filter = Filter::of_some(&snapshot, TypeKind::Entity, None, &condition).unwrap().unwrap();
        let filter = Filter { bound: Bound::new(3), ..filter };
        (0..3).for_each(|_| assert!(filter.holds_at(&snapshot, 0).unwrap()));
        assert_eq!(filter.holds_at(&snapshot, 0).unwrap_err().kind(), ErrorKind::TooLarge);
        let everything = Expression::everything();
        assert!(Filter::of_some(&snapshot, TypeKind::Entity, None, &everything).unwrap().is_none());
    }
}
