//! A state of an instance that no other instance ever has, not even a later one with the same id.

use std::fmt;
use std::str::FromStr;

use super::log_tag::LogTag;
use crate::{Error, ErrorKind, Position, Result};

/// A state of an instance over time: its birth, its latest version, and the log in which they are.
///
/// An id is only a name: after a purge another instance may get it, and its versions count from 1 again. Its birth
/// differs, because the purge and the new instance are later records. In the view of a candidate, a version that only the
/// candidate has also names the base: after a rebase the candidate may have another version of that number.
///
/// Shape: as text the birth, a dot and the version; then a dash and the base, if there is one; then the log, if it has an
/// id: `17.1@3f2a9c01`, `17.2-40@3f2a9c01`, `17.1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    /// Position of the record that created the instance; zero before it is committed.
    pub birth: Position,
    /// Number of its latest version.
    pub version: u32,
    /// Base of the candidate whose version it is; zero for a version of all.
    pub base: Position,
    /// The log whose positions these are.
    pub log: LogTag,
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.birth, self.version)?;
        if self.base != Position::ZERO {
            write!(f, "-{}", self.base)?;
        }
        self.log.fmt(f)
    }
}

impl FromStr for Revision {
    type Err = Error;

    /// Errors: `InvalidArgument`.
    fn from_str(text: &str) -> Result<Revision> {
        let digits =
            |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u64>().ok());
        let (rest, log) = text.split_once('@').map_or((text, None), |(rest, log)| (rest, Some(log)));
        let (state, base) = rest.split_once('-').map_or((rest, None), |(state, base)| (state, Some(base)));
        let parts = state.split_once('.').and_then(|(birth, version)| {
            let base = match base {
                Some(base) => digits(base)??,
                None => 0,
            };
            let version = u32::try_from(digits(version)??).ok()?;
            let log = log.map_or(Some(LogTag::NONE), LogTag::parse)?;
            Some(Revision { birth: Position(digits(birth)??), version, base: Position(base), log })
        });
        parts.ok_or_else(|| {
            let text = format!(
                "revision: expected a birth, a version and a log such as 17.1@3f2a9c01, found {text:?}; \
                 give it as it was read"
            );
            Error::new(ErrorKind::InvalidArgument, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_reads_back_from_its_text_and_nothing_else_is_one() {
        for (base, told) in [(0, "17.3"), (40, "17.3-40")] {
            for log in ["", "@3f2a9c01"] {
                let (told, log) = (format!("{told}{log}"), LogTag::named_in(log).unwrap());
                let revision = Revision { birth: Position(17), version: 3, base: Position(base), log };
                assert_eq!(revision.to_string(), told);
                assert_eq!(told.parse::<Revision>().unwrap(), revision);
            }
        }
        for text in [
            "17.3@",
            "17.3@3f2a9c0",
            "17.3@3f2a9c01-40",
            "17.3@3f2a9c01@3f2a9c01",
            "17.3-",
            "17-3",
            "17.3-+4",
            "17.3-4-5",
            "",
            "17",
            "17.",
            ".3",
            "17.3.1",
            "+17.3",
            "17.-3",
            "17.4294967296",
            "a.b",
        ] {
            assert_eq!(text.parse::<Revision>().unwrap_err().kind(), ErrorKind::InvalidArgument, "{text}");
        }
    }
}
