//! A search with its names looked up, ready to check instances.

use std::cell::Cell;

use crate::cancel::Cancel;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Direction, TypeKind};
use crate::read::operators::expand::Expand;
use crate::read::operators::filter::subject::Subject;
use crate::read::operators::filter::value_test::ValueTest;
use crate::read::operators::link_types::LinkTypes;
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::search::{Header, Pattern};
use crate::{Error, ErrorKind, Result};

/// A condition on instances.
pub(in crate::read) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    None(Vec<Test>),
    /// Without a symbol, no instance ever had a property of this name.
    Property(Option<Symbol>, ValueTest),
    AnyText(Pattern),
    Header(Header, ValueTest),
    /// Ascending.
    Type(Vec<Symbol>),
    /// Ascending.
    Classified(Vec<Symbol>, Option<Box<Test>>),
    Linked(Box<LinkTest>),
}

pub(in crate::read) struct LinkTest {
    pub(in crate::read) directions: &'static [Direction],
    pub(in crate::read) types: LinkTypes,
    pub(in crate::read) matching: Option<Test>,
    pub(in crate::read) other: Option<Test>,
}

/// Number of visits between two checks for cancellation.
const VISITS_UNCHECKED: usize = 256;

/// Counts visits, and stops when there are too many or the read was cancelled.
pub(in crate::read) struct Bound {
    visited: Cell<usize>,
    branches_skipped: Cell<usize>,
    visited_max: usize,
}

impl Bound {
    pub(in crate::read) fn new(visited_max: usize) -> Bound {
        Bound { visited: Cell::new(0), branches_skipped: Cell::new(0), visited_max }
    }

    pub(in crate::read) fn visited(&self) -> usize {
        self.visited.get()
    }

    /// Counts skipped branches of indexes.
    pub(in crate::read) fn skipped(&self, count: usize) {
        self.branches_skipped.set(self.branches_skipped.get() + count);
    }

    pub(in crate::read) fn branches_skipped(&self) -> usize {
        self.branches_skipped.get()
    }

    #[inline]
    pub(in crate::read) fn visit(&self, snapshot: &Snapshot) -> Result<()> {
        let visited = self.visited.get() + 1;
        self.visited.set(visited);
        if visited > self.visited_max {
            return Err(self.too_many());
        }
        if visited.is_multiple_of(VISITS_UNCHECKED) { snapshot.check_cancelled() } else { Ok(()) }
    }

    /// The number of visits that it still allows.
    pub(in crate::read) fn left(&self) -> usize {
        self.visited_max.saturating_sub(self.visited.get())
    }

    /// Counts visits of those that are left.
    pub(in crate::read) fn visit_together(&self, snapshot: &Snapshot, count: usize) -> Result<()> {
        let before = self.visited.get();
        self.visited.set(before + count);
        let is_checked = (before + count) / VISITS_UNCHECKED > before / VISITS_UNCHECKED;
        if is_checked { snapshot.check_cancelled() } else { Ok(()) }
    }

    #[cold]
    fn too_many(&self) -> Error {
        Error::new(
            ErrorKind::TooLarge,
            format!(
                "search: expected to look at no more than {} instances; give a more selective condition, or a larger \
                 bound",
                self.visited_max
            ),
        )
    }
}

impl Test {
    /// Both tests, this one first.
    pub(in crate::read) fn and(self, other: Test) -> Test {
        match other {
            Test::All(mut parts) => {
                parts.insert(0, self);
                Test::All(parts)
            }
            other => Test::All(vec![self, other]),
        }
    }

    /// Lets `cancel` stop patterns in the middle of a text.
    pub(in crate::read) fn watch(&mut self, cancel: Option<&Cancel>) {
        match self {
            Test::Property(_, ValueTest { pattern: Some(pattern), .. })
            | Test::Header(_, ValueTest { pattern: Some(pattern), .. })
            | Test::AnyText(pattern) => pattern.watch(cancel),
            _ => {}
        }
    }

    /// Errors: those of patterns that stopped; these may have refused matching texts.
    pub(in crate::read) fn check(&self) -> Result<()> {
        let all = |parts: &[Test]| parts.iter().try_for_each(Test::check);
        match self {
            Test::All(parts) | Test::Any(parts) | Test::None(parts) => all(parts),
            Test::Property(_, test) | Test::Header(_, test) => {
                test.pattern.as_ref().map_or(Ok(()), Pattern::check)
            }
            Test::AnyText(pattern) => pattern.check(),
            Test::Classified(_, matching) => matching.as_deref().map_or(Ok(()), Test::check),
            Test::Linked(link) => {
                [&link.matching, &link.other].into_iter().flatten().try_for_each(Test::check)
            }
            Test::Type(_) => Ok(()),
        }
    }

    /// The single conditions, all of which must hold.
    pub(in crate::read) fn parts(&self) -> &[Test] {
        match self {
            Test::All(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }

    /// True if the subject fulfils it.
    ///
    /// Errors: those of reading history, for relationship conditions; `TooLarge` if these lead too far.
    pub(in crate::read) fn holds(
        &self,
        snapshot: &Snapshot,
        bound: &Bound,
        subject: Subject,
    ) -> Result<bool> {
        Ok(match self {
            Test::All(parts) => {
                for part in parts {
                    if !part.holds(snapshot, bound, subject)? {
                        return Ok(false);
                    }
                }
                true
            }
            Test::Any(parts) => any(parts, snapshot, bound, subject)?,
            Test::None(parts) => !any(parts, snapshot, bound, subject)?,
            Test::Property(name, test) => {
                let Some(name) = *name else { return Ok(test.holds(None)) };
                if test.is_of_text()
                    && let Some(text) = subject.text(snapshot, name)
                {
                    return Ok(test.holds_for_text(text));
                }
                subject.with_property(snapshot, name, |value| test.holds(value))
            }
            Test::AnyText(pattern) => subject.any_text(snapshot, &mut |text| pattern.is_match(text)),
            Test::Header(header, test) => test.holds(subject.header(snapshot, *header).as_ref()),
            Test::Type(types) => subject.is_of(snapshot, types),
            Test::Classified(names, matching) => {
                let is_classified = names.iter().any(|name| subject.is_classified(snapshot, *name));
                match matching {
                    Some(matching) if is_classified => {
                        for known in subject.classifications(snapshot) {
                            if names.binary_search(&known.name()).is_ok()
                                && matching.holds(snapshot, bound, Subject::Classification(known))?
                            {
                                return Ok(true);
                            }
                        }
                        false
                    }
                    _ => is_classified,
                }
            }
            Test::Linked(link) => link.holds(snapshot, bound, subject)?,
        })
    }
}

fn any(parts: &[Test], snapshot: &Snapshot, bound: &Bound, subject: Subject) -> Result<bool> {
    for part in parts {
        if part.holds(snapshot, bound, subject)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl LinkTest {
    fn holds(&self, snapshot: &Snapshot, bound: &Bound, subject: Subject) -> Result<bool> {
        let Some(slot) = subject.slot() else { return Ok(false) };
        for &direction in self.directions {
            for link in Expand::new(snapshot, self.types.clone()).links(slot, direction, None) {
                bound.visit(snapshot)?;
                if self.end_holds(
                    snapshot,
                    bound,
                    &self.matching,
                    TypeKind::Relationship,
                    link.relationship,
                )? && self.end_holds(snapshot, bound, &self.other, TypeKind::Entity, link.other)?
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn end_holds(
        &self,
        snapshot: &Snapshot,
        bound: &Bound,
        test: &Option<Test>,
        kind: TypeKind,
        slot: u32,
    ) -> Result<bool> {
        let Some(test) = test else { return Ok(true) };
        match snapshot.seen(kind, slot, false)? {
            None => Ok(false),
            Some(Held::InForce) => test.holds(snapshot, bound, Subject::InForce(kind, slot)),
            Some(Held::Read(version)) => {
                test.holds(snapshot, bound, Subject::Read(kind, slot, version.row()))
            }
        }
    }
}
