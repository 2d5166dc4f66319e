//! The writes that an import may make on behalf of a client.

use std::fmt;
use std::sync::Arc;

use annals::{Result, Transaction};

/// Refuses a transaction.
type Check = dyn Fn(&Transaction) -> Result<()> + Send + Sync;

/// Checks the changes of each transaction of an import before it is submitted.
#[derive(Clone)]
pub struct ChangeCheck(pub Arc<Check>);

impl fmt::Debug for ChangeCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChangeCheck")
    }
}

impl ChangeCheck {
    /// Refuses a transaction that is not allowed.
    ///
    /// Errors: those of the check.
    pub fn check(&self, transaction: &Transaction) -> Result<()> {
        (self.0)(transaction)
    }
}
