//! A relationship type of a walk with its directions, as callers give it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::model::Direction;
use crate::{Error, Result};

/// A relationship type that a walk follows (with subtypes), and its directions.
///
/// The text form is the name of the type; a colon and `in`, `out` or `both` follow if the type has its own directions.
/// A name may contain colons: only the last one counts, and only before such a word, or at the end. A type whose name
/// really ends with `:in` needs a direction after it, `odd:in:out`, or a single colon, `odd:in:`, which leaves the
/// direction to the walk.
///
/// ```
/// use annals::{Along, Direction};
/// let reads: Along = "reads:in".parse()?;
/// assert_eq!((&*reads.type_name, &*reads.directions), ("reads", &[Direction::In][..]));
/// let plain: Along = "raw:reads".parse()?;
/// assert_eq!((&*plain.type_name, plain.directions.len()), ("raw:reads", 0));
/// assert_eq!("odd:in:".parse::<Along>()?.type_name, "odd:in");
/// assert_eq!(Along::from(("odd:in", Direction::Out)).to_string(), "odd:in:out");
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Along {
    /// Name of the relationship type.
    pub type_name: String,
    /// Directions to follow it in; empty for those of the walk.
    pub directions: Vec<Direction>,
}

/// The suffixes after the last colon, with their directions.
const SUFFIXES: [(&str, &[Direction]); 4] = [
    (":in", &[Direction::In]),
    (":out", &[Direction::Out]),
    (":both", &[Direction::Out, Direction::In]),
    (":", &[]),
];

impl From<&str> for Along {
    /// The type of this name, in the directions of the walk. The name is not parsed.
    fn from(type_name: &str) -> Along {
        Along { type_name: type_name.to_owned(), directions: Vec::new() }
    }
}

impl From<(&str, Direction)> for Along {
    /// The type of this name, in one direction.
    fn from((type_name, direction): (&str, Direction)) -> Along {
        Along { type_name: type_name.to_owned(), directions: vec![direction] }
    }
}

impl FromStr for Along {
    type Err = Error;

    /// Never fails: a suffix that is not a direction belongs to the name, and the walk refuses unknown names.
    fn from_str(text: &str) -> Result<Along> {
        let mut suffixes = SUFFIXES.into_iter();
        let found = suffixes.find_map(|(suffix, directions)| Some((text.strip_suffix(suffix)?, directions)));
        let (type_name, directions) = found.unwrap_or((text, &[]));
        Ok(Along { type_name: type_name.to_owned(), directions: directions.to_vec() })
    }
}

impl Display for Along {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let has = |direction| self.directions.contains(&direction);
        let suffix = match (has(Direction::Out), has(Direction::In)) {
            (true, true) => ":both",
            (true, false) => ":out",
            (false, true) => ":in",
            (false, false) if SUFFIXES.iter().any(|(suffix, _)| self.type_name.ends_with(suffix)) => ":",
            (false, false) => "",
        };
        write!(f, "{}{suffix}", self.type_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_name_with_any_colons_reads_back(
            name in "(a|b|:|in|out|both|up){1,5}",
            directions in prop_oneof![
                Just(vec![]),
                Just(vec![Direction::In]),
                Just(vec![Direction::Out]),
                Just(vec![Direction::Out, Direction::In]),
            ],
        ) {
            let along = Along { type_name: name, directions };
            prop_assert_eq!(along.to_string().parse::<Along>().unwrap(), along);
        }
    }
}
