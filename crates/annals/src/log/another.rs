//! The error of a log that is not the one that was read before.

use crate::{Error, ErrorKind};

const ANOTHER: (&str, &str) = ("log", "another");

/// The error of a reader that finds another log than it has read, or one that has lost records since. A follower that gets
/// it shows nothing of the other log ([`Following::is_of_other_log`](crate::Following::is_of_other_log)).
pub fn another_log(name: &str, found: &str) -> Error {
    let text = format!(
        "{name}: it is not the log that was read here, or it has lost records since: {found}; put the right one back, \
         or open this one anew"
    );
    Error::new(ErrorKind::Unavailable, text).with(ANOTHER.0, ANOTHER.1)
}

/// True for such an error.
pub(crate) fn is_another_log(error: &Error) -> bool {
    error.context().iter().any(|(name, value)| (*name, value.as_str()) == ANOTHER)
}
