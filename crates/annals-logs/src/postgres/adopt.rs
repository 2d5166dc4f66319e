//! Another id for a log that went back, so that nobody takes its new records for the lost ones.

use std::time::Duration;

use annals::log::{LogId, Register, Slot};
use annals::{Error, ErrorKind, Result};
use uuid::Uuid;

use super::PostgresLog;
use super::lanes::Lane;

/// A writer gives signs of life more often than this.
const WATCH: Duration = Duration::from_secs(4);

impl PostgresLog {
    /// Gives the log another id, and returns it. Tags, cursors and checkpoints name the log by its id: those from before name
    /// nothing then, and a process that has the log open refuses it until it is started again.
    ///
    /// It watches the lease for four seconds first.
    ///
    /// Errors: `Locked` while a writer is alive, `Conflict` if the log got another id meanwhile, `ReadOnly`, `Unavailable`.
    pub fn adopt(&self) -> Result<LogId> {
        self.check_writer()?;
        let lease = self.get(Slot::Lease)?;
        if lease.is_some() {
            std::thread::sleep(WATCH);
        }
        if self.get(Slot::Lease)? != lease {
            let text = format!(
                "{}: expected no writer, found signs of life of one; stop it",
                self.shared.lanes.place
            );
            return Err(Error::new(ErrorKind::Locked, text));
        }
        let (old, new) = (Uuid::from_bytes(self.shared.seen.id.0), Uuid::new_v4());
        let changed = self.ask(self.deadline, move |shared, until| async move {
            let changed = shared.lanes.execute(Lane::Register, &shared.sql.adopt, &[&new, &old], until).await;
            changed.map_err(|failure| failure.into_error())
        })?;
        if changed == 1 {
            return Ok(LogId(new.into_bytes()));
        }
        let text = format!("{}: expected its id, found another one; look again", self.shared.lanes.place);
        Err(Error::new(ErrorKind::Conflict, text))
    }
}
