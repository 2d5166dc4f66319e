//! The cost that the evaluation of an update has left, and the functions that may cost much.
//!
//! The evaluator drops an error of an expression, so the first refusal is kept here: all that is asked later is refused,
//! no triple is handed out any more, and the evaluation ends soon.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use oxrdf::{Term, Variable};
use spareval::QueryEvaluator;
use spargebra::algebra::Function;
use sparopt::algebra::Expression;

use super::collector::check_term;
use super::{RdfError, RdfErrorKind, RdfLimits};

/// How many steps pass between two looks at the clock.
const CLOCK_INTERVAL: usize = 1_024;
/// Bytes of text that are copied in a step.
const STEP_BYTES: usize = 64;
/// All cells of all rows of an evaluation: about 64 MiB.
const CELLS_MAX: usize = 4 << 20;
/// The cells that take as much memory as a row without cells.
const ROW_CELLS: usize = 6;
/// All text that an evaluation makes. Units: bytes.
const MADE_BYTES_MAX: usize = 64 << 20;
/// The text that REGEX and REPLACE look through. Units: bytes.
const SEARCHED_BYTES_MAX: usize = 16 << 10;

pub(super) struct Budget {
    pub(super) limits: RdfLimits,
    end: Instant,
    spent: Mutex<Spent>,
}

#[derive(Default)]
struct Spent {
    steps: usize,
    cells: usize,
    made_bytes: usize,
    refusal: Option<RdfError>,
}

impl Budget {
    pub(super) fn new(limits: &RdfLimits) -> Budget {
        let end = Instant::now() + limits.evaluation_time_max;
        Budget { limits: limits.clone(), end, spent: Mutex::default() }
    }

    /// Errors: the first refusal; `TimedOut`.
    pub(super) fn step(&self) -> Result<(), RdfError> {
        self.spend(1, |_| Ok(()))
    }

    /// Before a term is copied. Errors: as `step`.
    pub(super) fn copy(&self, term: &Term) -> Result<(), RdfError> {
        self.spend(1 + text_bytes(Some(term)) / STEP_BYTES, |_| Ok(()))
    }

    /// Before a row is made. Units: `width` counts variables. Errors: as `step`; `TooLarge`.
    pub(super) fn row(&self, width: usize) -> Result<(), RdfError> {
        // A join compares it with all rows of its other side before the next one is asked for.
        self.spend(CLOCK_INTERVAL, |spent| {
            spent.cells += ROW_CELLS + width;
            if spent.cells > CELLS_MAX { Err(self.too_many_solutions()) } else { Ok(()) }
        })
    }

    /// Before a solution of a whole WHERE is made that is this one. Errors: as `row`.
    pub(super) fn solution(&self, number: usize) -> Result<(), RdfError> {
        self.spend(CLOCK_INTERVAL, |_| {
            if number > self.limits.solutions_max { Err(self.too_many_solutions()) } else { Ok(()) }
        })
    }

    /// After terms are made that have so many bytes, or that are refused. Errors: `bytes`; as `step`; `TooLarge`.
    pub(super) fn make(&self, bytes: Result<usize, RdfError>) -> Result<(), RdfError> {
        self.spend(1, |spent| {
            spent.made_bytes = spent.made_bytes.saturating_add(bytes?);
            if spent.made_bytes <= MADE_BYTES_MAX {
                return Ok(());
            }
            let text =
                format!("expected an update that makes at most {MADE_BYTES_MAX} bytes of text, found more");
            Err(RdfError::new(RdfErrorKind::TooLarge, text + "; send several updates"))
        })
    }

    /// The value of a function; `None` for an error of SPARQL, and if it is refused.
    pub(super) fn call(&self, function: &Function, arguments: &[Term]) -> Option<Term> {
        self.spend(CLOCK_INTERVAL, |_| self.check_size(function, arguments)).ok()?;
        let names: Vec<Variable> =
            (0..arguments.len()).map(|index| Variable::new_unchecked(format!("a{index}"))).collect();
        let call = Expression::FunctionCall(
            function.clone(),
            names.iter().map(|name| name.clone().into()).collect(),
        );
        let value =
            QueryEvaluator::new().evaluate_expression(&call, names.iter().zip(arguments.iter().cloned()))?;
        self.make(check_term(&value, &self.limits)).ok()?;
        Some(value)
    }

    /// Errors: the first refusal.
    pub(super) fn finish(&self) -> Result<(), RdfError> {
        self.spent().refusal.clone().map_or(Ok(()), Err)
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spend(
        &self,
        steps: usize,
        check: impl FnOnce(&mut Spent) -> Result<(), RdfError>,
    ) -> Result<(), RdfError> {
        let mut spent = self.spent();
        if let Some(refusal) = &spent.refusal {
            return Err(refusal.clone());
        }
        spent.steps += steps;
        let mut outcome = Ok(());
        if spent.steps >= CLOCK_INTERVAL {
            spent.steps = 0;
            outcome = self.look_at_clock();
        }
        let outcome = outcome.and_then(|()| check(&mut spent));
        spent.refusal = outcome.clone().err();
        outcome
    }

    fn look_at_clock(&self) -> Result<(), RdfError> {
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

    fn too_many_solutions(&self) -> RdfError {
        let text = format!(
            "expected at most {} solutions of a WHERE, found more; bind more of its terms, or send several updates",
            self.limits.solutions_max
        );
        RdfError::new(RdfErrorKind::TooLarge, text)
    }

    /// Refuses what would make, or look through, too much text.
    fn check_size(&self, function: &Function, arguments: &[Term]) -> Result<(), RdfError> {
        let bytes = |index: usize| text_bytes(arguments.get(index));
        let (name, made) = match function {
            Function::Regex => ("REGEX", 0),
            // A match may be repeated for each two bytes of the replacement.
            Function::Replace => ("REPLACE", (bytes(0) + 1).saturating_mul(bytes(2) + 1)),
            Function::Concat => ("CONCAT", (0..arguments.len()).map(bytes).sum()),
            _ => return Ok(()),
        };
        let max = self.limits.literal_bytes_max;
        if made > max.saturating_mul(4) {
            let text = format!(
                "expected {name} to make at most {max} bytes, it may make {made}; make the text yourself"
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        if !matches!(function, Function::Concat) && bytes(0) > SEARCHED_BYTES_MAX {
            let text = format!(
                "expected a text of at most {SEARCHED_BYTES_MAX} bytes for {name}, found {}; use CONTAINS or SUBSTR first",
                bytes(0)
            );
            return Err(RdfError::new(RdfErrorKind::TooLarge, text));
        }
        Ok(())
    }
}

fn text_bytes(term: Option<&Term>) -> usize {
    match term {
        Some(Term::Literal(literal)) => literal.value().len(),
        _ => 0,
    }
}
