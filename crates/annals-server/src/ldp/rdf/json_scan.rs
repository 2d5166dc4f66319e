//! Looks through a JSON-LD document before it is parsed, and refuses what would cost the parser too much.
//!
//! The parser keeps an object as a whole, and makes all its terms at once. So the bounds in bytes and depth hold before.

use super::{RdfError, RdfErrorKind, RdfLimits};

/// A context is copied for each object that changes it.
const CONTEXT_COST_MAX: usize = 64 << 20;
/// The parser is recursive over terms that are defined by other terms.
const CONTEXT_KEYS_MAX: usize = 512;
/// Contexts in contexts are evaluated for each use of a term: only in documents of at most so many bytes.
const SCOPED_CONTEXT_BYTES_MAX: usize = 64 << 10;

/// Errors: `TooLarge` with the place. Text that is no JSON passes: the parser reports it better.
pub(super) fn check(document: &[u8], base: &str, limits: &RdfLimits) -> Result<(), RdfError> {
    let mut scan =
        Scan { document, limits, depth: 0, contexts: Vec::new(), context_keys: 0, contexts_count: 0 };
    let mut values_count = 0_usize;
    let mut longest = base.len();
    let mut at = 0;
    while let Some(&byte) = document.get(at) {
        match byte {
            b'{' | b'[' => {
                scan.open(at)?;
                values_count += 1;
            }
            b'}' | b']' => scan.close(),
            b'"' => {
                let end = end_of_string(document, at);
                longest = longest.max(end - at);
                values_count += 1;
                if is_followed_by_colon(document, end) {
                    scan.key(&document[at + 1..end.saturating_sub(1).max(at + 1)], at)?;
                }
                at = end;
                continue;
            }
            b',' => {
                scan.end_value();
                values_count += 1;
            }
            _ => {}
        }
        at += 1;
    }
    let cost = values_count.saturating_mul(longest);
    if cost > limits.expanded_bytes_max.saturating_mul(2) {
        let text = format!(
            "expected values x longest string of at most {} bytes in a JSON-LD document, found {values_count} values \
             and a string of {longest} bytes; send the document as Turtle",
            limits.expanded_bytes_max.saturating_mul(2)
        );
        return Err(RdfError::new(RdfErrorKind::TooLarge, text));
    }
    Ok(())
}

struct Scan<'d> {
    document: &'d [u8],
    limits: &'d RdfLimits,
    depth: usize,
    /// The depths at which a context that is not closed yet begins.
    contexts: Vec<usize>,
    /// Keys of the outermost context that is not closed yet.
    context_keys: usize,
    contexts_count: usize,
}

impl Scan<'_> {
    fn too_large(&self, text: String, at: usize) -> RdfError {
        RdfError::new(RdfErrorKind::TooLarge, text).at_offset(self.document, at)
    }

    fn open(&mut self, at: usize) -> Result<(), RdfError> {
        self.depth += 1;
        let max = self.limits.nesting_max;
        if self.depth > max {
            let text = format!(
                "expected at most {max} levels of JSON, found more; give inner nodes an @id and send them flat"
            );
            return Err(self.too_large(text, at));
        }
        Ok(())
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        while self.contexts.last().is_some_and(|depth| self.depth <= *depth) {
            self.contexts.pop();
        }
    }

    /// A context that is a string or null ends at the comma.
    fn end_value(&mut self) {
        while self.contexts.last() == Some(&self.depth) {
            self.contexts.pop();
        }
    }

    fn key(&mut self, name: &[u8], at: usize) -> Result<(), RdfError> {
        let is_inside = !self.contexts.is_empty();
        if is_inside {
            self.context_keys += 1;
        }
        if self.context_keys > CONTEXT_KEYS_MAX {
            let text = format!(
                "expected at most {CONTEXT_KEYS_MAX} keys in a context, found more; remove terms that are not used"
            );
            return Err(self.too_large(text, at));
        }
        // A key with an escape may spell a context.
        if name != b"@context" && !name.contains(&b'\\') {
            return Ok(());
        }
        if is_inside && self.document.len() > SCOPED_CONTEXT_BYTES_MAX {
            let text = format!(
                "expected no context inside a context in a document of more than {SCOPED_CONTEXT_BYTES_MAX} bytes; \
                 move its terms to the outer context"
            );
            return Err(self.too_large(text, at));
        }
        if !is_inside {
            self.context_keys = 0;
        }
        self.contexts.push(self.depth);
        self.contexts_count += 1;
        if self.contexts_count.saturating_mul(self.document.len()) > CONTEXT_COST_MAX {
            let text = format!(
                "expected contexts x bytes of at most {CONTEXT_COST_MAX} in a JSON-LD document, found more; use one context at the top"
            );
            return Err(self.too_large(text, at));
        }
        Ok(())
    }
}

/// The offset after the string that begins at `start`.
fn end_of_string(document: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = document.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    document.len()
}

fn is_followed_by_colon(document: &[u8], at: usize) -> bool {
    document[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}
