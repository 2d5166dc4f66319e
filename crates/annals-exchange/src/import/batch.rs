//! A batch as the transaction that writes it sees it.

use annals::{Result, Ticket, Transaction};

use super::change_check::ChangeCheck;
use super::merge::Merge;
use super::operation::{Effect, Operation};
use super::returning;
use super::unit::{Unit, Written};

/// The operations of some units, and the transaction that writes them.
pub struct Batch {
    transaction: Transaction,
    operations: Vec<Operation>,
}

impl Batch {
    /// Notes in each unit how this transaction writes it.
    ///
    /// A merge compares each line with what the transaction sees. If another client changes the instance after that,
    /// the commit is a conflict, and the line is compared again; so the merge overwrites only what it has compared.
    ///
    /// Errors: those of the comparison.
    pub fn prepare(
        mut transaction: Transaction,
        units: &mut [Unit],
        mut merge: Option<&mut Merge>,
    ) -> Result<Batch> {
        transaction.as_declared(true);
        let mut operations = Vec::new();
        for unit in units {
            let of_line = unit.operations.clone();
            let written = match &mut merge {
                Some(merge) => merge.compare(transaction.base(), of_line)?,
                None => of_line,
            };
            unit.written = Written {
                changes_count: written.len(),
                effect: Effect::of(transaction.base(), &written),
                instance: written.first().and_then(|operation| operation.action.instance()),
            };
            operations.extend(written);
        }
        Ok(Batch { transaction, operations })
    }

    /// True if it restores an entity.
    pub fn restores(&self) -> bool {
        returning::restores(&self.operations)
    }

    /// Submits the transaction, if the check allows it; without one, every transaction is allowed.
    ///
    /// Errors: those of the operations.
    pub fn hand_over(self, check: Option<&ChangeCheck>) -> Result<Ticket> {
        let Batch { mut transaction, operations } = self;
        let links = returning::restore(&operations, &mut transaction)?;
        let base = transaction.base().clone();
        for (number, operation) in operations.into_iter().enumerate() {
            if !returning::is_done(&operation, &links, &base)? {
                // As the commit names the change that it refuses.
                operation.push(&mut transaction).map_err(|error| error.with("change", number))?;
            }
        }
        check.map_or(Ok(()), |check| check.check(&transaction))?;
        transaction.submit()
    }
}
