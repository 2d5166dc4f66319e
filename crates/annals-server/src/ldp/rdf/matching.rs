//! The terms and triples of one evaluation as numbers, and what the evaluation may still cost.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use oxrdf::{Term, TermRef, Triple};

use super::{RdfError, RdfErrorKind, RdfLimits};

/// The number of no term.
pub(super) const UNBOUND: u32 = 0;

/// How many steps pass between two looks at the clock.
const CLOCK_INTERVAL: usize = 1_024;
/// All cells of all rows of an evaluation: 64 MiB.
const CELLS_MAX: usize = 16 << 20;
/// All text that an evaluation makes. Units: bytes.
const MADE_BYTES_MAX: usize = 64 << 20;

/// A solution: for each variable the number of its term, or `UNBOUND`.
pub(super) type Row = Box<[u32]>;

/// A number for each term, the same for equal terms. Numbers begin with 1.
#[derive(Default)]
pub(super) struct Terms<'g> {
    of_graph: HashMap<TermRef<'g>, u32>,
    graph: Vec<TermRef<'g>>,
    of_made: HashMap<Term, u32>,
    made: Vec<Term>,
}

impl<'g> Terms<'g> {
    /// The number of a term of the graph. All terms of the graph come before terms that are made.
    fn add(&mut self, term: TermRef<'g>) -> u32 {
        assert!(self.made.is_empty(), "the graph is read before terms are made");
        let next = number(self.graph.len() + 1);
        let found = *self.of_graph.entry(term).or_insert(next);
        if found == next {
            self.graph.push(term);
        }
        found
    }

    pub(super) fn find(&self, term: TermRef<'_>) -> Option<u32> {
        let found = self.of_graph.get(&term).copied();
        found.or_else(|| self.of_made.get(&term.into_owned()).copied())
    }

    pub(super) fn make(&mut self, term: Term) -> u32 {
        if let Some(found) = self.find(term.as_ref()) {
            return found;
        }
        let next = number(self.graph.len() + self.made.len() + 1);
        self.of_made.insert(term.clone(), next);
        self.made.push(term);
        next
    }

    /// `None` for `UNBOUND`.
    pub(super) fn get(&self, number: u32) -> Option<Term> {
        let index = (number as usize).checked_sub(1)?;
        match self.graph.get(index) {
            Some(term) => Some(term.into_owned()),
            None => self.made.get(index - self.graph.len()).cloned(),
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("bounds in bytes and rows keep the terms below this")
}

/// The triples of the graph that a pattern may match, with an index for each place.
pub(super) struct Matches {
    pub(super) triples: Vec<[u32; 3]>,
    places: [HashMap<u32, Vec<u32>>; 3],
}

impl Matches {
    /// Errors: `TimedOut`.
    pub(super) fn read<'g>(
        triples: impl Iterator<Item = &'g Triple>,
        terms: &mut Terms<'g>,
        budget: &mut Budget<'_>,
    ) -> Result<Matches, RdfError> {
        let mut matches = Matches { triples: Vec::new(), places: Default::default() };
        let mut seen = HashSet::new();
        for triple in triples {
            budget.step()?;
            let numbers = [
                terms.add(triple.subject.as_ref().into()),
                terms.add(triple.predicate.as_ref().into()),
                terms.add(triple.object.as_ref()),
            ];
            if !seen.insert(numbers) {
                continue;
            }
            let at = number(matches.triples.len());
            for (place, term) in matches.places.iter_mut().zip(numbers) {
                place.entry(term).or_default().push(at);
            }
            matches.triples.push(numbers);
        }
        Ok(matches)
    }

    /// Indexes of the triples that may have these terms; `None` for all triples.
    pub(super) fn candidates(&self, known: [Option<u32>; 3]) -> Option<&[u32]> {
        let lists =
            self.places.iter().zip(known).filter_map(|(place, known)| {
                known.map(|known| place.get(&known).map_or(&[][..], Vec::as_slice))
            });
        lists.min_by_key(|list| list.len())
    }
}

/// What an evaluation may still cost.
pub(super) struct Budget<'l> {
    pub(super) limits: &'l RdfLimits,
    end: Instant,
    steps: usize,
    cells: usize,
    made_bytes: usize,
}

impl<'l> Budget<'l> {
    pub(super) fn new(limits: &'l RdfLimits) -> Budget<'l> {
        let end = Instant::now() + limits.evaluation_time_max;
        Budget { limits, end, steps: 0, cells: 0, made_bytes: 0 }
    }

    /// Errors: `TimedOut`.
    pub(super) fn step(&mut self) -> Result<(), RdfError> {
        self.steps += 1;
        if self.steps.is_multiple_of(CLOCK_INTERVAL) { self.look_at_clock() } else { Ok(()) }
    }

    /// For a step that may take long.
    pub(super) fn look_at_clock(&self) -> Result<(), RdfError> {
        self.limits.check_waiting()?;
        if Instant::now() <= self.end {
            return Ok(());
        }
        let text = format!(
            "expected an update that is evaluated in {} ms, it took longer; bind more terms of its WHERE, \
             or name the triples in DELETE DATA and INSERT DATA",
            self.limits.evaluation_time_max.as_millis()
        );
        Err(RdfError::new(RdfErrorKind::TimedOut, text))
    }

    /// Before a row is added to `count` others. Errors: `TooLarge`, `TimedOut`.
    pub(super) fn row(&mut self, count: usize, width: usize) -> Result<(), RdfError> {
        self.step()?;
        self.cells += width.max(1);
        if count >= self.limits.solutions_max || self.cells > CELLS_MAX {
            let text = format!(
                "expected at most {} solutions of a WHERE, found more; bind more of its terms, or send several updates",
                self.limits.solutions_max
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        Ok(())
    }

    /// Before text of so many bytes is made. Errors: `TooLarge`.
    pub(super) fn make(&mut self, bytes: usize) -> Result<(), RdfError> {
        self.made_bytes = self.made_bytes.saturating_add(bytes);
        if self.made_bytes > MADE_BYTES_MAX {
            let text =
                format!("expected an update that makes at most {MADE_BYTES_MAX} bytes of text, found more");
            return Err(RdfError::new(RdfErrorKind::TooLarge, text + "; send several updates"));
        }
        Ok(())
    }
}
