//! Names of statuses.

use crate::model::check_name;
use crate::{Error, ErrorKind, Result};

/// The status of instances that have no other.
pub(crate) const ACTIVE: &str = "active";

/// Checks the name of a status. `deleted` is none: it is what `delete` makes of an instance.
///
/// Errors: `InvalidArgument` if it is no name; `StatusNotAllowed` for `deleted`.
pub(crate) fn check_status_name(status: &str) -> Result<()> {
    check_name("status", status)?;
    if status == "deleted" {
        return Err(Error::new(
            ErrorKind::StatusNotAllowed,
            "status deleted: expected another name; an instance gets it by being deleted, and has its status besides",
        ));
    }
    Ok(())
}
