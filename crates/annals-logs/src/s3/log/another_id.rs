//! Another id for a log that went back, so that nobody takes its new records for the lost ones.

use std::time::Duration;

use annals::log::{LogId, Register, Slot};
use annals::{Error, ErrorKind, Position, Result};

use super::S3Log;
use super::look::{look_far, refresh};
use super::manifest_object::{FOLDER, swap};
use super::shared_log::{call_name, parse_call_name};

/// A writer gives signs of life more often than this.
const WATCH: Duration = Duration::from_secs(4);

impl S3Log {
    /// Gives the log another id, and returns it. Calls behind a gap are removed. Tags, cursors and checkpoints name the log by
    /// its id: those from before name nothing then, and a process that has the log open refuses it until it is started again.
    ///
    /// It watches the lease for four seconds first.
    ///
    /// Errors: `Locked` while a writer is alive, `Conflict` if the log was changed meanwhile, `ReadOnly`, `Unavailable`.
    pub fn adopt(&self) -> Result<LogId> {
        let shared = &self.shared;
        shared.check_writer("adopt")?;
        let store = &shared.store;
        let lease = store.get(Slot::Lease)?;
        if lease.is_some() {
            std::thread::sleep(WATCH);
        }
        if store.get(Slot::Lease)? != lease {
            let text =
                format!("{}: expected no writer, found signs of life of one; stop it", shared.describe());
            return Err(Error::new(ErrorKind::Locked, text));
        }
        refresh(shared)?;
        let known = shared.known();
        let mut next = known.manifest.changed();
        next.id = LogId::random();
        let id = next.id;
        if swap(shared.bucket(), &known, next)?.is_none() {
            let text = format!(
                "{}: expected its manifest as it was, found another one; look again",
                shared.describe()
            );
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        self.remove_beyond()?;
        Ok(id)
    }

    /// Removes the calls behind a gap: they follow calls that are lost.
    fn remove_beyond(&self) -> Result<()> {
        let shared = &self.shared;
        while look_far(shared)?.is_some() {
            let end: Position = shared.end().position;
            let page = shared.bucket().names_after(FOLDER, &call_name(end));
            let (names, _) = page.map_err(|failure| failure.into_error(FOLDER))?;
            for name in names.iter().take_while(|name| parse_call_name(name).is_some()) {
                shared.bucket().remove(&shared.key(name)?).map_err(|failure| failure.into_error(name))?;
            }
        }
        Ok(())
    }
}
