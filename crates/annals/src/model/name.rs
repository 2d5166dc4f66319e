//! Names of types, properties, classifications and files.

use crate::{Error, ErrorKind, Result};

/// Longest name of a type, property or classification. Units: bytes.
pub const NAME_BYTES_MAX: usize = 255;

/// Refuses names that are empty, too long or hold control characters.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    // Names are checked at every write, and most are plain ASCII.
    let is_plain = name.bytes().all(|byte| (b' '..0x7F).contains(&byte));
    let is_printable = is_plain || !name.chars().any(char::is_control);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !is_printable {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("{what} {name:?}: expected 1 to {NAME_BYTES_MAX} bytes without control characters"),
        ));
    }
    Ok(())
}
