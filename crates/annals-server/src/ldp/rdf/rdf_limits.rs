//! The bounds of RDF documents and updates, in count, bytes and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{RdfError, RdfErrorKind};

/// 200,000 triples take about 100 MB while a request is answered.
const TRIPLES_MAX: usize = 200_000;
const BYTES_MAX: usize = 16 << 20;
/// Bytes of all terms of a document. A prefix of Turtle or XML makes terms longer than the document.
const EXPANDED_BYTES_MAX: usize = 128 << 20;
/// A recursive parser (SPARQL) has room for these levels on the stack of a thread.
const NESTING_MAX: usize = 32;
const IRI_BYTES_MAX: usize = 8 << 10;
const LITERAL_BYTES_MAX: usize = 1 << 20;
const SOLUTIONS_MAX: usize = 100_000;
const READ_TIME_MAX: Duration = Duration::from_secs(10);
const EVALUATION_TIME_MAX: Duration = Duration::from_secs(1);

/// The most that one request may cost. Over a bound the request is refused with `TooLarge` or `TimedOut`.
#[derive(Clone, Debug)]
pub struct RdfLimits {
    /// Triples of a document, and changes of an update.
    pub triples_max: usize,
    /// Bytes of a document or of the text of an update, as it is sent.
    pub bytes_max: usize,
    /// Bytes of all terms of a document, after prefixes and relative IRIs are resolved.
    pub expanded_bytes_max: usize,
    /// Levels of brackets, elements or objects inside each other.
    pub nesting_max: usize,
    /// Bytes of an IRI.
    pub iri_bytes_max: usize,
    /// Bytes of the text of a literal.
    pub literal_bytes_max: usize,
    /// Solutions of a WHERE.
    pub solutions_max: usize,
    /// The longest time to read a document.
    pub read_time_max: Duration,
    /// The longest time to evaluate an update.
    pub evaluation_time_max: Duration,
    /// Becomes true when nobody waits for the result any more. Work then ends with `TimedOut`.
    pub is_given_up: Option<Arc<AtomicBool>>,
}

impl RdfLimits {
    /// Looks at the clock, and whether somebody still waits for a document that is being read.
    ///
    /// Errors: `TimedOut`.
    pub(super) fn check_reading(&self, end: Instant) -> Result<(), RdfError> {
        self.check_waiting()?;
        if Instant::now() <= end {
            return Ok(());
        }
        let text = format!(
            "expected a document that is read in {} s, it took longer; send it in parts",
            self.read_time_max.as_secs()
        );
        Err(RdfError::new(RdfErrorKind::TimedOut, text))
    }

    /// Errors: `TimedOut` if nobody waits any more.
    pub(super) fn check_waiting(&self) -> Result<(), RdfError> {
        if self.is_given_up.as_ref().is_some_and(|is_given_up| is_given_up.load(Ordering::Relaxed)) {
            return Err(RdfError::new(RdfErrorKind::TimedOut, "the request is over"));
        }
        Ok(())
    }
}

impl Default for RdfLimits {
    fn default() -> RdfLimits {
        RdfLimits {
            triples_max: TRIPLES_MAX,
            bytes_max: BYTES_MAX,
            expanded_bytes_max: EXPANDED_BYTES_MAX,
            nesting_max: NESTING_MAX,
            iri_bytes_max: IRI_BYTES_MAX,
            literal_bytes_max: LITERAL_BYTES_MAX,
            solutions_max: SOLUTIONS_MAX,
            read_time_max: READ_TIME_MAX,
            evaluation_time_max: EVALUATION_TIME_MAX,
            is_given_up: None,
        }
    }
}
