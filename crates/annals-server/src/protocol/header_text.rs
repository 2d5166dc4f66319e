//! Values of headers as text, and the parts of them.

use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};

use super::problem::Problem;

/// The values of a header, without those that are no text.
pub fn texts<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
}

/// The value of a header that may come once; `None` without one.
///
/// Errors: `invalid-argument` for several, of which each reader could take another one.
pub fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => {
            Err(Problem::invalid(format!("header {name}: expected one, found several; send one")))
        }
        (value, None) => Ok(value),
    }
}

/// The first value of a header; `None` if it is no text, too.
pub fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The media type that a body is declared to have, with its parameters; empty for none.
pub fn content_type(headers: &HeaderMap) -> &str {
    text(headers, &CONTENT_TYPE).unwrap_or_default()
}

/// The length that a body is declared to have. Units: bytes.
pub fn content_length(headers: &HeaderMap) -> Option<u64> {
    text(headers, &CONTENT_LENGTH)?.parse().ok()
}

/// The parts of a value between separators that are not in quotes.
pub fn split(value: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    value.split(move |found: char| {
        if is_escaped {
            is_escaped = false;
        } else if is_quoted && found == '\\' {
            is_escaped = true;
        } else if found == '"' {
            is_quoted = !is_quoted;
        }
        !is_quoted && found == separator
    })
}
