//! The time to read as of, as members of an object.

use annals::{AsOf, Position, Result};

use super::{Object, invalid, number, optional_text};

/// The names of the members.
pub const AS_OF: [&str; 3] = ["atPosition", "at", "validAt"];

/// The time in the members of an object; now, if there is none.
///
/// Errors: `InvalidArgument` for a malformed position or instant.
pub fn as_of_from_json(fields: &Object, what: &str) -> Result<AsOf> {
    let [position, at, valid] = AS_OF;
    let position = number(fields, what, position)?.map(Position);
    let instant = |name| optional_text(fields, what, name)?.map(str::parse).transpose();
    Ok(AsOf { position, instant: instant(at)?, valid: instant(valid)? })
}

/// The same; a time is required.
pub fn past_from_json(fields: &Object, what: &str) -> Result<AsOf> {
    let as_of = as_of_from_json(fields, what)?;
    if as_of == AsOf::default() {
        return Err(invalid(format!("{what}: expected a time as one of {}, found none", AS_OF.join(", "))));
    }
    Ok(as_of)
}
