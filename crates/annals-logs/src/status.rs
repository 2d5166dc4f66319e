//! A log as its store shows it, and another id for one that went back.

#[cfg(any(feature = "postgres", feature = "s3"))]
use annals::log::Log;
use annals::log::LogId;
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
    let options = Options { is_read_only: true, ..options.clone() };
    match crate::scheme_of(place) {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => {
            let log = crate::postgres::PostgresLog::open(place, &options)?;
            of_log(&log, log.durability())
        }
        #[cfg(feature = "s3")]
        Some("s3") => {
            let log = crate::s3::S3Log::open(place, &options)?;
            of_log(&log, log.durability())
        }
        scheme => {
            let _ = options;
            Err(crate::no_log(scheme))
        }
    }
}

#[cfg(any(feature = "postgres", feature = "s3"))]
fn of_log(log: &dyn Log, durability: &str) -> Result<Status> {
    let tail = log.tail()?;
    Ok(Status {
        place: log.describe(),
        id: log.id(),
        tail,
        bytes: log.bytes_up_to(tail),
        generation: log.generation(),
        durability: durability.to_owned(),
    })
}

/// Accepts a log that lost acknowledged records, because its store was restored or failed over to a copy that lacked them: the
/// log gets another id. Tags, cursors and checkpoints from before then name nothing, and processes that have it open refuse it
/// until they are started again. `objects` is the place of its contents, if that is another one: they stay those of the log.
///
/// Errors: those of [`open`](crate::open) and of [`open_store`](crate::open_store); `InvalidArgument` if the objects are those of
/// another log; `Locked` while a writer is alive.
#[cfg_attr(
    not(any(feature = "postgres", feature = "s3")),
    expect(unreachable_code, unused_variables, reason = "without stores")
)]
pub fn adopt(place: &str, objects: Option<&str>, options: &Options) -> Result<LogId> {
    #[cfg(feature = "s3")]
    let objects = objects.map(|objects| crate::s3::S3Store::open(objects, options)).transpose()?;
    #[cfg(not(feature = "s3"))]
    let _ = objects;
    let (before, now): (LogId, LogId) = match crate::scheme_of(place) {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => {
            let log = crate::postgres::PostgresLog::open(place, options)?;
            #[cfg(feature = "s3")]
            objects.iter().try_for_each(|objects| objects.claim(log.id()))?;
            (log.id(), log.adopt()?)
        }
        #[cfg(feature = "s3")]
        Some("s3") => {
            let log = crate::s3::S3Log::find(place, options)?;
            objects.iter().try_for_each(|objects| objects.claim(log.id()))?;
            (log.id(), log.adopt()?)
        }
        scheme => return Err(crate::no_log(scheme)),
    };
    #[cfg(feature = "s3")]
    objects.iter().try_for_each(|objects| objects.hand_over(before, now))?;
    let _ = before;
    Ok(now)
}
