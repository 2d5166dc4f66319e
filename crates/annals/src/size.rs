//! Sizes as people write them: `512MiB`, `1.5GiB`, `1GB`.

use crate::{Error, ErrorKind, Result};

/// Units that a size may end with, and their bytes.
const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Reads a size: a number, which may have a fraction, and a unit (`B`, `kB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB`, `TiB`, in
/// any case); bytes without one.
///
/// ```
/// assert_eq!(annals::parse_size("1.5GiB")?, 3 << 29);
/// assert_eq!(annals::parse_size("1GB")?, 1_000_000_000);
/// # Ok::<(), annals::Error>(())
/// ```
///
/// Units: bytes.
/// Errors: `InvalidArgument`.
pub fn parse_size(text: &str) -> Result<u64> {
    let malformed = || {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("size {text:?}: expected a number and a unit, such as 512MiB, 1.5GiB or 1GB"),
        )
    };
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim();
    let factor = match UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, factor)) => *factor,
        None if unit.is_empty() => 1,
        None => return Err(malformed()),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // Six digits after the point are enough, and keep the sum exact.
    if (whole.is_empty() && fraction.is_empty()) || fraction.len() > 6 || fraction.contains('.') {
        return Err(malformed());
    }
    let parse = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u64>().ok() };
    let (whole, part) = parse(whole).zip(parse(fraction)).ok_or_else(malformed)?;
    let scale: u128 = fraction.bytes().map(|_| 10).product();
    let bytes = u128::from(whole) * u128::from(factor) + u128::from(part) * u128::from(factor) / scale;
    u64::try_from(bytes).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("512MiB", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("1 gb", 1_000_000_000),
            ("1.25kB", 1_250),
            ("64", 64),
            ("0.5B", 0),
            (".5KiB", 512),
            ("2tib", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn malformed_sizes_are_refused() {
        for text in
            ["", "GiB", ".", "1.2.3", "-1", "1XB", "1GiBs", "1e9", "1.0000001GB", "99999999999TiB", "１B"]
        {
            assert_eq!(parse_size(text).unwrap_err().kind(), ErrorKind::InvalidArgument, "{text}");
        }
    }
}
