//! Asks before every commit whether its client may commit this, now.

use annals::{InstanceId, Transaction};

use super::acl_changes::check_acls;
use super::change_verbs::check_changes;
use super::principal::Principal;
use crate::protocol::problem::Problem;

/// Refuses a transaction with a change that its client may not make by what is true in its snapshot. All doors ask this of
/// each transaction that they commit, try, or add to a candidate; a client with grants is also checked by the engine, which
/// its transaction is [limited](super::limit) to.
///
/// `own` is the entity of the candidate that the transaction commits or ends, if there is one.
///
/// Errors: `forbidden`; `invalid-argument` for a grant that says nothing clear.
pub fn may_commit(
    principal: &Principal,
    transaction: &Transaction,
    own: Option<&InstanceId>,
) -> Result<(), Problem> {
    if !principal.is_granted() {
        check_changes(principal, transaction, own)?;
    }
    check_acls(principal, transaction)
}
