//! Names of statuses.

use crate::model::check_name;
use crate::{Error, ErrorKind, Result};

/// The status of instances without another one.
pub(crate) const ACTIVE: &str = "active";

/// Checks the name of a status. `deleted` is not allowed: only `delete` sets it.
///
/// Errors: `InvalidArgument` for a malformed name; `StatusNotAllowed` for `deleted`.
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
