//! A log as its store shows it, and another id for one that went back.

use annals::log::{Log as _, LogId};
use annals::{Position, Result};

use crate::Options;

/// A log as its store shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The place, without a password.
    pub place: String,
    /// Its id.
    pub id: LogId,
    /// Its last position.
    pub tail: Position,
    /// Bytes of its records.
    pub bytes: u64,
    /// How often it was rewritten, after purges.
    pub generation: u64,
    /// How durable an acknowledged commit is. It begins with `unsafe: ` if it may be lost.
    pub durability: String,
}

/// Looks at the log at `place`, and writes nothing.
///
/// Errors: those of [`open`](crate::open) for reading.
pub fn status(place: &str, options: &Options) -> Result<Status> {
    #[cfg(feature = "postgres")]
    {
        let options = Options { is_read_only: true, ..options.clone() };
        let log = crate::postgres::PostgresLog::open(place, &options)?;
        let tail = log.tail()?;
        Ok(Status {
            place: log.describe(),
            id: log.id(),
            tail,
            bytes: log.bytes_up_to(tail),
            generation: log.generation(),
            durability: log.durability().to_owned(),
        })
    }
    #[cfg(not(feature = "postgres"))]
    {
        let _ = options;
        unreachable!("no place has a log in this build")
    }
}

/// Accepts a log that lost acknowledged records, because its store was restored or failed over to a copy that lacked them: the
/// log gets another id. Tags, cursors and checkpoints from before then name nothing, and processes that have it open refuse it
/// until they are started again.
///
/// Errors: those of [`open`](crate::open); `Locked` while a writer is alive.
pub fn adopt(place: &str, options: &Options) -> Result<LogId> {
    #[cfg(feature = "postgres")]
    {
        crate::postgres::PostgresLog::open(place, options)?.adopt()
    }
    #[cfg(not(feature = "postgres"))]
    {
        let _ = options;
        unreachable!("no place has a log in this build")
    }
}
