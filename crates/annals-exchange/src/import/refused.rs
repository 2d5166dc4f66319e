//! A part of the input that could not be read: its place and the reason, so that the rest can still be imported.

use std::fmt;

/// One thing read from the input, or the reason why it was skipped.
pub type Checked<T> = std::result::Result<T, Refused>;

/// Bytes of input quoted in a reason, so that a damaged file cannot flood the terminal.
const QUOTED_BYTES_MAX: usize = 60;

/// A stanza or row that was skipped. Reading continues after it.
/// Units: `line` counts lines of the unpacked input from 1 and names the line with the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The line with the fault.
    pub line: u64,
    /// Names the expected and the found.
    pub reason: String,
}

impl Refused {
    /// Refuses the part on `line`.
    pub fn new(line: u64, reason: impl Into<String>) -> Refused {
        Refused { line, reason: reason.into() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Refused {}

/// Quotes a piece of input for a reason: shortened, with control characters made visible.
pub fn quote(found: &str) -> String {
    let ends = found.char_indices().map(|(start, character)| start + character.len_utf8());
    let end = ends.take_while(|&end| end <= QUOTED_BYTES_MAX).last().unwrap_or(0);
    let dots = if end < found.len() { "…" } else { "" };
    format!("`{}{dots}`", found[..end].escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_line() {
        assert_eq!(Refused::new(7, "no id").to_string(), "line 7: no id");
    }

    #[test]
    fn a_long_quote_is_cut_between_characters_and_shows_control_characters() {
        assert_eq!(quote("a\tb\u{1b}"), "`a\\tb\\u{1b}`");
        assert_eq!(quote(&"ä".repeat(100)), format!("`{}…`", "ä".repeat(30)));
    }
}
