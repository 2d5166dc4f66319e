//! Parses JSON text into trees without losing digits of integers, and estimates the memory of a tree before.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;

use super::json::unique_from_slice;

/// Memory of an element of a list, or of a list or object itself: a list may have twice the capacity. Units: bytes.
const ITEM_BYTES: usize = 2 * size_of::<Json>();
/// Memory of a member's name in addition to its text, with the free room of maps. Units: bytes.
const NAME_BYTES: usize = 96;
/// An integer with at most this many digits has 64 bits.
const DIGITS_SAFE: usize = 18;

/// Why a text was not parsed.
#[derive(Debug)]
pub struct Fault {
    reason: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

impl Fault {
    /// The reason without the place.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.reason, self.line, self.column)
    }
}

impl std::error::Error for Fault {}

/// The tree of a JSON text.
///
/// Errors: also for a repeated key in an object, and for an integer beyond 64 bits, which the parser would round to a
/// float.
pub fn json_from_slice(text: &[u8]) -> Result<Json, Fault> {
    let text = exact(text)?;
    unique_from_slice(&text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
        Fault { reason, line: error.line(), column: error.column() }
    })
}

/// The same for a string.
pub fn json_from_str(text: &str) -> Result<Json, Fault> {
    json_from_slice(text.as_bytes())
}

/// Memory of the tree of a JSON text, roughly, and rather too much than too little. Units: bytes.
pub fn tree_bytes(text: &[u8]) -> usize {
    let mut bytes = text.len() + ITEM_BYTES;
    each_outside_strings(text, |at| {
        bytes += match text[at] {
            b',' | b'[' | b'{' => ITEM_BYTES,
            b':' => NAME_BYTES,
            _ => 0,
        };
        at + 1
    });
    bytes
}

/// The same text, with every integer in a form that the parser keeps.
fn exact(text: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
    let (mut negative_zeros, mut fault) = (Vec::new(), None);
    each_outside_strings(text, |at| {
        if !matches!(text[at], b'-' | b'0'..=b'9') {
            return at + 1;
        }
        let is_of_number = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        let end = at + text[at..].iter().take_while(is_of_number).count();
        let number = &text[at..end];
        let is_integer = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
        if number == b"-0" {
            negative_zeros.push(at);
        } else if number.len() > DIGITS_SAFE && is_integer(number.strip_prefix(b"-").unwrap_or(number)) {
            let digits = std::str::from_utf8(number).expect("digits are ASCII");
            if digits.parse::<i64>().is_err() && fault.is_none() {
                let reason = format!(
                    "value: expected an integer of 64 bits, found {digits}; write {{\"$decimal\": \"{digits}\"}}"
                );
                let before = &text[..at];
                let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
                let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
                fault = Some(Fault { reason, line, column });
            }
        }
        end
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let mut text = Cow::Borrowed(text);
    for at in negative_zeros {
        // The parser would make `-0` a float; the integer is 0, and a blank may precede it.
        text.to_mut()[at] = b' ';
    }
    Ok(text)
}

/// Calls `look` with each offset outside strings; `look` returns the offset at which to continue.
fn each_outside_strings(text: &[u8], mut look: impl FnMut(usize) -> usize) {
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'"' {
            at = look(at);
            continue;
        }
        at += 1;
        while at < text.len() && text[at] != b'"' {
            at += if text[at] == b'\\' { 2 } else { 1 };
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_kept_or_refused() {
        let kept = r#"{"a": [-0, 0, -0.0, 1.5e300, 9223372036854775807, -9223372036854775808], "99999999999999999999": "\"-0"}"#;
        let json = json_from_str(kept).unwrap();
        assert_eq!(json["a"][0], json!(0));
        assert!(json["a"][2].is_f64());
        assert_eq!([&json["a"][4], &json["a"][5]], [&json!(i64::MAX), &json!(i64::MIN)]);
        assert_eq!(json["99999999999999999999"], "\"-0");
        for refused in ["9223372036854775808", "-9223372036854775809", "123456789012345678901"] {
            let fault = json_from_str(&format!("[1,\n {refused}]")).unwrap_err();
            assert_eq!((fault.line, fault.column), (2, 2), "{fault}");
            assert!(fault.to_string().contains("$decimal"), "{fault}");
        }
        assert!(
            json_from_str("1e400").is_err()
                && json_from_str("[-]").is_err()
                && json_from_str("\"\\").is_err()
        );
        // Exact to the last bit.
        assert_eq!(json_from_str("0.1e-6").unwrap().as_f64().map(f64::to_bits), Some(0.1e-6_f64.to_bits()));
        assert_eq!(
            json_from_str("7.2057594037927933e16").unwrap().as_f64(),
            "7.2057594037927933e16".parse().ok()
        );
    }

    #[test]
    fn a_tree_takes_no_more_than_was_told() {
        let list = format!("[{}1]", "1,".repeat(100_000));
        assert!(tree_bytes(list.as_bytes()) >= 100_000 * size_of::<Json>());
        assert_eq!(tree_bytes(br#""[,{:""#), 6 + ITEM_BYTES);
    }
}
