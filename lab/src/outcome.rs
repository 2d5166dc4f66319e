//! The result of every fallible function.

/// The lab does not distinguish kinds of errors.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
