//! Compares Debian versions as dpkg does: `1.0~rc1` before `1.0`, an epoch before all else.
//!
//! Source: <https://www.debian.org/doc/debian-policy/ch-controlfields.html#version>, and `lib/dpkg/version.c`.

use std::cmp::Ordering;

/// Compares two versions: epoch, then upstream version, then Debian revision.
pub fn compare_versions(one: &str, other: &str) -> Ordering {
    let (one, other) = (Parts::of(one), Parts::of(other));
    compare_numbers(one.epoch.as_bytes(), other.epoch.as_bytes())
        .then_with(|| compare_parts(one.upstream, other.upstream))
        .then_with(|| compare_parts(one.revision, other.revision))
}

struct Parts<'v> {
    epoch: &'v str,
    upstream: &'v str,
    revision: &'v str,
}

impl<'v> Parts<'v> {
    fn of(version: &'v str) -> Parts<'v> {
        let (epoch, rest) = version.split_once(':').unwrap_or(("", version));
        let (upstream, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
        Parts { epoch, upstream, revision }
    }
}

/// Compares by turns the text up to the next digit, and the number up to the next text.
fn compare_parts(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while !one.is_empty() || !other.is_empty() {
        let ((text, number), (other_text, other_number));
        (text, one) = split(one, |byte| !byte.is_ascii_digit());
        (other_text, other) = split(other, |byte| !byte.is_ascii_digit());
        (number, one) = split(one, |byte| byte.is_ascii_digit());
        (other_number, other) = split(other, |byte| byte.is_ascii_digit());
        let order = compare_texts(text, other_text).then_with(|| compare_numbers(number, other_number));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn split(text: &[u8], belongs: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !belongs(byte)).unwrap_or(text.len()))
}

/// A tilde sorts before the end, the end before letters, letters before everything else.
fn compare_texts(one: &[u8], other: &[u8]) -> Ordering {
    let rank = |byte: Option<&u8>| match byte {
        Some(b'~') => -1,
        None => 0,
        Some(letter) if letter.is_ascii_alphabetic() => i32::from(*letter),
        Some(sign) => i32::from(*sign) + 256,
    };
    (0..one.len().max(other.len()))
        .map(|index| rank(one.get(index)).cmp(&rank(other.get(index))))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Numbers of any length.
fn compare_numbers(one: &[u8], other: &[u8]) -> Ordering {
    let (_, one) = split(one, |byte| *byte == b'0');
    let (_, other) = split(other, |byte| *byte == b'0');
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_dpkg_orders_them() {
        // Each is later than the one before it; checked with `dpkg --compare-versions`.
        let ascending = [
            "0~",
            "0",
            "0.0~a",
            "1.0~~",
            "1.0~~a",
            "1.0~",
            "1.0~rc1-1",
            "1.0",
            "1.0-0.1",
            "1.0-1",
            "1.0-1+b1",
            "1.0-1.1",
            "1.0-2",
            "1.0-10",
            "1.0a-1",
            "1.0a1",
            "1.0+dfsg-1",
            "1.0-1-1",
            "1.0.1",
            "1.2",
            "1.10",
            "20240101",
            "99999999999999999999999999",
            "1:0.1",
            "2:0",
        ];
        for (index, one) in ascending.iter().enumerate() {
            for (other_index, other) in ascending.iter().enumerate() {
                assert_eq!(compare_versions(one, other), index.cmp(&other_index), "{one} and {other}");
            }
        }
    }

    #[test]
    fn what_is_written_differently_can_be_equal() {
        for (one, other) in [("1.0", "0:1.0"), ("1.0", "1.0-0"), ("1.01", "1.1"), ("1.0-1", "1.00-01")] {
            assert_eq!(compare_versions(one, other), Ordering::Equal, "{one} and {other}");
        }
    }
}
