//! A part of a place, percent-decoded.

use percent_encoding::percent_decode_str;

/// The text of a part of a place; otherwise why it is none. `what` names the part.
pub(crate) fn decoded(text: &str, what: &str) -> std::result::Result<String, String> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| format!("{what}: expected UTF-8"))?;
    if text.chars().any(char::is_control) {
        return Err(format!("{what}: expected no control characters"));
    }
    Ok(text.into_owned())
}
