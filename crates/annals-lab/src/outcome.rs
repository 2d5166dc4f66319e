//! What all that can fail returns.

/// There is nobody to tell kinds of errors apart.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
