//! Masks tokens in texts that others than their client may read: lines of the log, and answers that repeat a request.

use std::borrow::Cow;

/// The beginning of each token.
pub const TOKEN_START: &str = "annals_";
/// The text in place of a token.
const MASK: &str = "annals_***";
/// A text with so many digits behind an underscore may be a token, or a part of one.
const DIGITS_MIN: usize = 8;

/// The text with a mask in place of each token, also of one that is cut off or percent-encoded.
pub fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains(TOKEN_START) && !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    // Up to here the text is shown or masked.
    let mut done = 0;
    let mut at = 0;
    while at < text.len() {
        let Some(inside) = after_start(text, at) else {
            at = next(text.as_bytes(), at).1;
            continue;
        };
        let (end, is_secret) = run(text.as_bytes(), inside);
        if is_secret {
            shown.push_str(&text[done..at]);
            shown.push_str(MASK);
            done = end;
        }
        // A part of a text without secrets has none either.
        at = end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[done..]);
    Cow::Owned(shown)
}

/// The place behind the beginning of a token at a place, if one begins there.
fn after_start(text: &str, mut at: usize) -> Option<usize> {
    for expected in TOKEN_START.bytes() {
        let (byte, end) = next(text.as_bytes(), at);
        if byte != Some(expected) {
            return None;
        }
        at = end;
    }
    Some(at)
}

/// The end of the characters of a token, and whether secret digits are among them. The underscore before them is read
/// already.
fn run(text: &[u8], mut at: usize) -> (usize, bool) {
    let (mut digits, mut is_secret) = (Some(0), false);
    while let (Some(byte), end) = next(text, at)
        && (byte.is_ascii_alphanumeric() || b"._@-".contains(&byte))
    {
        digits = match digits {
            _ if byte == b'_' => Some(0),
            Some(count) if byte.is_ascii_hexdigit() => Some(count + 1),
            _ => None,
        };
        is_secret |= digits == Some(DIGITS_MIN);
        at = end;
    }
    (at, is_secret)
}

/// The byte at a place, decoded if it is percent-encoded, and the place behind it. `None` at the end.
fn next(text: &[u8], at: usize) -> (Option<u8>, usize) {
    let digit = |place: usize| text.get(place).and_then(|byte| char::from(*byte).to_digit(16));
    match (text.get(at), digit(at + 1), digit(at + 2)) {
        (Some(b'%'), Some(high), Some(low)) => (u8::try_from(16 * high + low).ok(), at + 3),
        (byte, _, _) => (byte.copied(), at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_masked_and_nothing_else() {
        let token = format!("annals_ada.b@c-d_{}", "0f".repeat(32));
        let encoded: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let half = token.replace('_', "%5f");
        for (text, expected) in [
            (format!("?token={token}&x=1"), "?token=annals_***&x=1".to_owned()),
            (format!("{token} {token}"), "annals_*** annals_***".to_owned()),
            (format!("ä{half}ä"), "äannals_***ä".to_owned()),
            (format!("/{encoded}/"), "/annals_***/".to_owned()),
            (format!("\"{}\"", &token[..40]), "\"annals_***\"".to_owned()),
            (format!("{token}zz"), "annals_***".to_owned()),
            ("annals_deadbeef".to_owned(), "annals_***".to_owned()),
            (format!("annals_annals_{token}"), "annals_***".to_owned()),
        ] {
            assert_eq!(masked(&text), expected, "{text}");
        }
        for text in
            ["annals_log_lines_dropped_total 7", "annals::access", "100 %", "%", "%zz", "annals_", "50%ä", ""]
        {
            assert!(matches!(masked(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn a_text_that_begins_again_and_again_takes_linear_time() {
        let text = TOKEN_START.repeat(200_000);
        assert!(matches!(masked(&text), Cow::Borrowed(_)));
    }
}
