//! The names of contents in a store.

use std::fmt;

use crate::model::Sha256;

/// Between the digest and the number.
const BEFORE_NUMBER: char = '~';

/// The name of a content in a store: its SHA-256. While a name is being removed, equal bytes are stored under the digest and
/// a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContentName {
    pub(crate) sha256: Sha256,
    /// 0 for the digest alone.
    pub(crate) number: u32,
}

impl ContentName {
    /// The name without a number.
    pub(crate) fn of(sha256: Sha256) -> ContentName {
        ContentName { sha256, number: 0 }
    }

    /// The beginning of all names with a number.
    pub(crate) fn numbered(sha256: Sha256) -> String {
        format!("{sha256}{BEFORE_NUMBER}")
    }

    /// `None` for any other text.
    pub(crate) fn parse(text: &str) -> Option<ContentName> {
        let Some((digest, digits)) = text.split_once(BEFORE_NUMBER) else {
            return Sha256::parse(text).map(ContentName::of);
        };
        let name = ContentName { sha256: Sha256::parse(digest)?, number: digits.parse().ok()? };
        // One text for each name.
        (name.number > 0 && name.to_string() == text).then_some(name)
    }
}

impl fmt::Display for ContentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => self.sha256.fmt(f),
            number => write!(f, "{}{BEFORE_NUMBER}{number}", self.sha256),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_none() {
        for number in [0, 1, 12, u32::MAX] {
            let name = ContentName { sha256: Sha256([0xab; 32]), number };
            assert_eq!(ContentName::parse(&name.to_string()), Some(name));
        }
        let digest = Sha256([0xab; 32]).to_string();
        for text in
            ["", "~1", &digest[1..], &format!("{digest}~"), &format!("{digest}~0"), &format!("{digest}~01")]
        {
            assert_eq!(ContentName::parse(text), None, "{text}");
        }
        assert_eq!(ContentName::parse(&format!("{digest}~4294967296")), None);
    }
}
