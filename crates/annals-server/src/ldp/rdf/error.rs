//! The one error of RDF: its kind, its place, and what to do.

use std::fmt;

/// Why a document or an update is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RdfErrorKind {
    /// The text is not what its format allows.
    Syntax,
    /// A bound of `RdfLimits` in count or bytes is exceeded.
    TooLarge,
    /// The text is correct, and asks for something that the door does not do.
    Unsupported,
    /// The bound in time is exceeded.
    TimedOut,
}

/// A refusal. `Display` gives the place, then the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RdfError {
    /// Why.
    pub kind: RdfErrorKind,
    /// The text: expected, found, and what to do.
    pub text: String,
    /// Counts from 1; `None` if the parser does not tell it.
    pub line: Option<u64>,
    /// In characters, counts from 1; `None` if the parser does not tell it.
    pub column: Option<u64>,
}

impl RdfError {
    /// A refusal without a place.
    pub fn new(kind: RdfErrorKind, text: impl Into<String>) -> RdfError {
        RdfError { kind, text: text.into(), line: None, column: None }
    }

    /// Adds the place. Units: both count from 1.
    pub fn at(mut self, line: u64, column: u64) -> RdfError {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// Adds the place of the byte at `offset` of `text`.
    pub(super) fn at_offset(self, text: &[u8], offset: usize) -> RdfError {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        self.at(line as u64, column as u64)
    }
}

impl fmt::Display for RdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: {}", self.text),
            _ => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for RdfError {}
