//! Looks through Turtle and SPARQL before they are parsed, and refuses what would cost the parser too much.
//!
//! The parser of SPARQL is recursive, and it tries some forms twice: its time doubles with each such form inside
//! another. So the scan bounds levels and doublings. It also names the operations that the door does not do, with place.

use std::time::Instant;

use super::expansion::Expansion;
use super::{RdfError, RdfErrorKind, RdfLimits};

/// How many tokens pass between two looks at the clock.
const CLOCK_INTERVAL: usize = 4_096;
/// Bytes of one WHERE.
pub(super) const WHERE_BYTES_MAX: usize = 64 << 10;
/// Operators and brackets of one WHERE: each may be a level of a tree that is walked recursively.
const WHERE_OPERATORS_MAX: usize = 256;
/// Forms inside each other that the parser of SPARQL tries twice.
const DOUBLINGS_MAX: usize = 6;

/// Words that begin an operation, and what to do instead.
const REFUSED_OPERATIONS: [(&str, &str); 9] = [
    ("LOAD", "send the triples themselves in INSERT DATA"),
    ("CLEAR", "write DELETE WHERE { ?s ?p ?o }, or PUT the resource"),
    ("CREATE", "PUT a new resource"),
    ("DROP", "DELETE the resource"),
    ("ADD", "PATCH the other resource"),
    ("MOVE", "PUT the other resource, then DELETE this one"),
    ("COPY", "PUT the other resource"),
    ("WITH", "leave it out: an update applies to the resource that is patched"),
    ("USING", "leave it out: WHERE reads the resource that is patched"),
];
/// Words inside of brackets, and what to do instead.
const REFUSED_PATTERNS: [(&str, &str); 2] = [
    ("GRAPH", "leave it out: a resource is one graph"),
    ("SERVICE", "ask the other server yourself, and send the result in VALUES"),
];

/// The bytes of all terms once they are resolved, or a little more.
///
/// Errors: `TooLarge` over `nesting_max` or `expanded_bytes_max`, `Syntax` for a string that does not end; with the
/// place; `TimedOut`.
pub(super) fn check_turtle(document: &[u8], base: &str, limits: &RdfLimits) -> Result<usize, RdfError> {
    Scan::new(document, base, limits, false).run()
}

/// The bytes of all terms once they are resolved, or a little more.
///
/// Errors: `TooLarge` over a bound, `Unsupported` for an operation that the door does not do, `Syntax` for a string
/// that does not end; with the place; `TimedOut`.
pub(super) fn check_update(text: &str, base: &str, limits: &RdfLimits) -> Result<usize, RdfError> {
    Scan::new(text.as_bytes(), base, limits, true).run()
}

/// A WHERE that is not closed yet.
struct Where {
    start: usize,
    operators: usize,
}

struct Scan<'t> {
    text: &'t [u8],
    limits: &'t RdfLimits,
    is_update: bool,
    at: usize,
    /// For each open bracket: how often the parser may try its inside.
    open: Vec<usize>,
    doublings: usize,
    is_negated: bool,
    /// Whether a function with two forms stands before.
    has_two_forms: bool,
    is_where_next: bool,
    inside: Option<Where>,
    expansion: Expansion<'t>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t [u8], base: &str, limits: &'t RdfLimits, is_update: bool) -> Scan<'t> {
        Scan {
            text,
            limits,
            is_update,
            at: 0,
            open: Vec::new(),
            doublings: 0,
            is_negated: false,
            has_two_forms: false,
            is_where_next: false,
            inside: None,
            expansion: Expansion::new(base, limits),
        }
    }

    /// Adds the place.
    fn charged(&self, outcome: Result<(), RdfError>) -> Result<(), RdfError> {
        outcome.map_err(|error| error.at_offset(self.text, self.at))
    }

    fn error(&self, kind: RdfErrorKind, text: String) -> RdfError {
        RdfError::new(kind, text).at_offset(self.text, self.at)
    }

    fn run(mut self) -> Result<usize, RdfError> {
        let end = Instant::now() + self.limits.read_time_max;
        let mut tokens_count = 0_usize;
        while let Some(&byte) = self.text.get(self.at) {
            if tokens_count.is_multiple_of(CLOCK_INTERVAL) {
                self.limits.check_reading(end)?;
            }
            tokens_count += 1;
            match byte {
                b'#' => self.at += self.length_until(|byte| byte == b'\n' || byte == b'\r'),
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'"' | b'\'' => self.string(byte)?,
                b'<' => self.iri()?,
                b'\\' => self.at += 2,
                b'(' | b'[' | b'{' => self.open(byte)?,
                b')' | b']' | b'}' => self.close(byte)?,
                b'?' | b'$' | b'@' => self.sigil()?,
                b'_' | b':' | 0x80.. => self.word()?,
                byte if byte.is_ascii_alphanumeric() => self.word()?,
                _ => self.operator(byte)?,
            }
            self.check_where_bytes()?;
        }
        Ok(self.expansion.bytes())
    }

    fn length_until(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = &self.text[self.at..];
        rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
    }

    fn string(&mut self, quote: u8) -> Result<(), RdfError> {
        let long = [quote; 3];
        let is_long = self.text[self.at..].starts_with(&long);
        let mut at = self.at + if is_long { 3 } else { 1 };
        loop {
            match self.text.get(at) {
                Some(b'\\') => at += 2,
                Some(b'\n' | b'\r') | None if !is_long => break,
                None => break,
                Some(found) if *found == quote && !is_long => {
                    return self.end_string(at + 1);
                }
                Some(found) if *found == quote && self.text[at..].starts_with(&long) => {
                    return self.end_string(at + 3);
                }
                Some(_) => at += 1,
            }
        }
        let end = if is_long { "three quotes" } else { "a quote on the same line" };
        let text = format!(
            "expected {end} at the end of the string that begins here, found none; write line ends as \\n"
        );
        Err(self.error(RdfErrorKind::Syntax, text))
    }

    fn end_string(&mut self, end: usize) -> Result<(), RdfError> {
        let length = end - self.at;
        let outcome = self.expansion.term(length);
        self.charged(outcome)?;
        self.at = end;
        self.end_operand()
    }

    fn end_operand(&mut self) -> Result<(), RdfError> {
        self.has_two_forms = false;
        self.is_negated = false;
        Ok(())
    }

    /// An IRI, or the operator "less than": the parser may read either. Text that looks like an IRI is counted as both.
    fn iri(&mut self) -> Result<(), RdfError> {
        let rest = &self.text[self.at + 1..];
        let is_part = |byte: &u8| *byte > b' ' && !b"<>\"{}|^`".contains(byte);
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        if rest.get(length) != Some(&b'>') {
            return self.operator(b'<');
        }
        if self.inside.is_some() {
            let inner = &rest[..length];
            if inner.contains(&b'\'') {
                let text = "expected no apostrophe between < and > in WHERE, found one; write %27 in an IRI, and a space \
                            after the operator <";
                return Err(self.error(RdfErrorKind::Unsupported, text.to_owned()));
            }
            let opened = inner.iter().filter(|byte| matches!(byte, b'(' | b'[')).count();
            let closed = inner.iter().filter(|byte| matches!(byte, b')' | b']')).count();
            for _ in closed..opened {
                self.open(b'(')?;
                self.at -= 1;
            }
        }
        let outcome = self.expansion.iri(&rest[..length]);
        self.charged(outcome)?;
        self.at += length + 2;
        self.has_two_forms = false;
        Ok(())
    }

    /// A variable or the tag of a language.
    fn sigil(&mut self) -> Result<(), RdfError> {
        let start = self.at + 1;
        self.at = start;
        self.at += self.length_until(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80));
        if self.text[start - 1] == b'@' {
            self.expansion.directive(&self.text[start..self.at], true);
        } else {
            let outcome = self.expansion.term(self.at - start);
            self.charged(outcome)?;
        }
        self.end_operand()
    }

    fn word(&mut self) -> Result<(), RdfError> {
        let start = self.at;
        let mut is_name = false;
        while let Some(&byte) = self.text.get(self.at) {
            let is_part = match byte {
                b':' => {
                    is_name = true;
                    true
                }
                b'\\' => {
                    self.at += 1;
                    true
                }
                b'-' | b'%' | b'.' => is_name,
                b'_' | 0x80.. => true,
                byte => byte.is_ascii_alphanumeric(),
            };
            if !is_part {
                break;
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        self.has_two_forms = false;
        let found = &self.text[start..self.at];
        if is_name {
            let outcome = self.expansion.name(found);
            return self.charged(outcome);
        }
        let is_literal = found[0].is_ascii_digit() || matches!(found, b"true" | b"false");
        let outcome = match found {
            b"a" => self.expansion.rdf_type(),
            _ if is_literal => self.expansion.term(found.len()),
            _ => {
                self.expansion.directive(found, false);
                Ok(())
            }
        };
        self.charged(outcome)?;
        let word = String::from_utf8_lossy(&self.text[start..self.at]).to_ascii_uppercase();
        let words = ["SUBSTR", "REGEX", "REPLACE", "GROUP_CONCAT"];
        self.has_two_forms = words.contains(&word.as_str());
        if self.is_update { self.check_word(&word, start) } else { Ok(()) }
    }

    fn check_word(&mut self, word: &str, start: usize) -> Result<(), RdfError> {
        let refused: &[(&str, &str)] =
            if self.open.is_empty() { &REFUSED_OPERATIONS } else { &REFUSED_PATTERNS };
        if let Some((_, remedy)) = refused.iter().find(|(refused, _)| *refused == word) {
            self.at = start;
            let expected = "expected INSERT DATA, DELETE DATA, DELETE WHERE, or DELETE and INSERT with WHERE";
            return Err(self.error(RdfErrorKind::Unsupported, format!("{expected}, found {word}; {remedy}")));
        }
        if self.open.is_empty() && word == "WHERE" {
            self.is_where_next = true;
        }
        Ok(())
    }

    fn operator(&mut self, byte: u8) -> Result<(), RdfError> {
        let is_not_equal = byte == b'!' && self.text.get(self.at + 1) == Some(&b'=');
        self.is_negated = byte == b'!' && !is_not_equal;
        self.has_two_forms = false;
        if b"!|&+-*/=^<>".contains(&byte) {
            self.count_operator()?;
        }
        if byte == b'^' {
            self.expansion.datatype();
        }
        // A dot before a digit belongs to a number.
        let is_in_number = byte == b'.' && self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        if b".;,".contains(&byte) && !is_in_number {
            self.expansion.separator(byte);
        }
        self.at += 1;
        Ok(())
    }

    fn count_operator(&mut self) -> Result<(), RdfError> {
        let Some(inside) = &mut self.inside else { return Ok(()) };
        inside.operators += 1;
        if inside.operators > WHERE_OPERATORS_MAX {
            let text = format!(
                "expected at most {WHERE_OPERATORS_MAX} operators and brackets in a WHERE, found more; \
                 send several updates"
            );
            return Err(self.error(RdfErrorKind::TooLarge, text));
        }
        Ok(())
    }

    fn open(&mut self, byte: u8) -> Result<(), RdfError> {
        if self.open.is_empty() && byte == b'{' && self.is_where_next {
            self.is_where_next = false;
            self.inside = Some(Where { start: self.at, operators: 0 });
        }
        let mut doublings = 0;
        if self.inside.is_some() && byte == b'(' {
            doublings += usize::from(self.is_negated);
            doublings += usize::from(self.has_two_forms);
        }
        self.open.push(doublings);
        self.expansion.open(byte);
        self.doublings += doublings;
        self.count_operator()?;
        let max = self.limits.nesting_max;
        if self.open.len() > max || self.doublings > DOUBLINGS_MAX {
            let text = if self.open.len() > max {
                format!(
                    "expected at most {max} brackets inside each other, found more; give inner nodes a name"
                )
            } else {
                "expected fewer functions and negations inside each other, found more; bind inner values with BIND".to_owned()
            };
            return Err(self.error(RdfErrorKind::TooLarge, text));
        }
        self.is_negated = false;
        self.has_two_forms = false;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<(), RdfError> {
        let outcome = self.expansion.close(byte);
        self.charged(outcome)?;
        self.doublings -= self.open.pop().unwrap_or(0);
        if self.open.is_empty() {
            self.inside = None;
        }
        self.is_negated = false;
        self.has_two_forms = false;
        self.at += 1;
        Ok(())
    }

    fn check_where_bytes(&self) -> Result<(), RdfError> {
        match &self.inside {
            Some(inside) if self.at - inside.start > WHERE_BYTES_MAX => {
                let text = format!(
                    "expected at most {WHERE_BYTES_MAX} bytes in a WHERE, found more; send several updates"
                );
                Err(self.error(RdfErrorKind::TooLarge, text))
            }
            _ => Ok(()),
        }
    }
}
