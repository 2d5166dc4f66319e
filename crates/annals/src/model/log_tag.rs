//! The log that a tag is of: positions in another log name other states.

use std::fmt;

/// A part of the id of a log ([`LogId`](crate::log::LogId)), which tags carry. A copy of the log and a restored backup have
/// other ids, so a tag of one of these logs names nothing in the other, although both have the same positions.
///
/// Shape: as text `@` and eight hexadecimal digits, such as `@3f2a9c01`; nothing for a log without an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogTag(u32);

impl LogTag {
    /// The tag of a log without an id, such as one in memory.
    pub const NONE: LogTag = LogTag(0);

    /// The tag of the log with this id.
    pub fn of(id: [u8; 16]) -> LogTag {
        let [first, second, third, fourth, ..] = id;
        let part = u32::from_be_bytes([first, second, third, fourth]);
        // One id of four billion begins with zeros.
        if part == 0 && id != [0; 16] { LogTag(1) } else { LogTag(part) }
    }

    /// The part of the id; 0 for a log without an id.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The log that the text of a tag names, whatever else the tag has; `None` if the text names a log wrongly.
    pub fn named_in(text: &str) -> Option<LogTag> {
        let Some((_, rest)) = text.split_once('@') else { return Some(LogTag::NONE) };
        LogTag::parse(rest.get(..8)?)
    }

    /// From its eight digits, without the `@`.
    pub(crate) fn parse(digits: &str) -> Option<LogTag> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let part = (digits.len() == 8 && digits.bytes().all(is_digit))
            .then(|| u32::from_str_radix(digits, 16).ok())??;
        (part != 0).then_some(LogTag(part))
    }

    /// Why a tag of the log `given` is none of this log, for error texts; `None` if it is one.
    pub fn why_not(self, given: LogTag) -> Option<&'static str> {
        match given {
            _ if given == self => None,
            LogTag::NONE => Some("names no log, as tags of earlier versions of Annals do"),
            _ => Some("is of another log: a copy, or a restored backup"),
        }
    }
}

impl fmt::Display for LogTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == LogTag::NONE { Ok(()) } else { write!(f, "@{:08x}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_reads_back_from_its_text_and_a_log_without_an_id_has_none() {
        let id = |first: u8, last: u8| {
            let mut id = [0; 16];
            (id[0], id[15]) = (first, last);
            LogTag::of(id)
        };
        assert_eq!(id(0, 0), LogTag::NONE);
        assert_eq!((id(0x3f, 1).to_string(), id(0, 1).to_string()), ("@3f000000".into(), "@00000001".into()));
        assert_eq!(LogTag::NONE.to_string(), "");
        for known in [id(0x3f, 1), id(0, 1), LogTag::NONE] {
            assert_eq!(LogTag::named_in(&format!("\"17.1{known};3;40\"")), Some(known));
        }
        for wrong in ["1.1@", "1.1@3f2a9c0", "1.1@00000000", "1.1@3F2A9C01", "1.1@+f2a9c01", "1.1@3f2a9c0é"]
        {
            assert_eq!(LogTag::named_in(wrong), None, "{wrong}");
        }
    }
}
