//! Opens a log in PostgreSQL: creates its tables, and refuses a server that would lose what it acknowledges.

use annals::log::LogId;
use annals::{Error, ErrorKind, Result};
use tokio::time::Instant;
use uuid::Uuid;

use super::failure::{Answered, Failure};
use super::lanes::{Lane, Lanes};
use super::seen::{Seen, column, position};
use super::sql::{FORMAT, Sql};

/// The name of the fact of an error that there is no log: its schema.
const MISSING: &str = "schema";

/// True for the error that the database has no log there.
pub(crate) fn is_missing(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound && error.context().iter().any(|(name, _)| *name == MISSING)
}

/// The log that was found, or created.
pub(super) struct Opened {
    pub seen: Seen,
    pub durability: String,
    /// False if purged bytes may still be in the files of the table.
    pub is_vacuumed: bool,
}

/// Finds the log, and creates it if it is missing and opened for writing.
///
/// Errors: those of connecting; `NotFound`, `NewerFormat`, `InvalidArgument`, `Io`.
pub(super) async fn open(lanes: &Lanes, sql: &Sql, until: Instant) -> Result<Opened> {
    find(lanes, sql, until).await.map_err(Failure::into_opening_error)
}

async fn find(lanes: &Lanes, sql: &Sql, until: Instant) -> Answered<Opened> {
    let lane = if lanes.is_read_only { Lane::Read } else { Lane::Append };
    let connection = lanes.connection(lane, until).await?;
    let durability = connection.settings.durability();
    let rows = lanes.query(lane, &sql.exists(), &[], until).await?;
    let has = |at| rows.first().map_or(Ok(false), |row| column(row, at)).map_err(Failure::Refused);
    if !has(1)? {
        if lanes.is_read_only {
            let text = format!("{}: expected a log, found none; open it for writing once", lanes.place);
            let missing = Error::new(ErrorKind::NotFound, text).with(MISSING, &lanes.place.schema);
            return Err(Failure::Refused(missing));
        }
        lanes.run(lane, &sql.create(Uuid::new_v4(), has(0)?), until).await?;
    }
    let rows = lanes.query(lane, &sql.origin, &[], until).await?;
    let Some(row) = rows.first() else {
        let text = format!("{}: expected a row in the table log, found none; restore it", lanes.place);
        return Err(Failure::Refused(Error::new(ErrorKind::Corrupted, text)));
    };
    let read = || -> Result<Opened> {
        let format: i32 = column(row, 1)?;
        if format != FORMAT {
            let text =
                format!("{}: expected format {FORMAT}, found {format}; use a newer version", lanes.place);
            return Err(Error::new(ErrorKind::NewerFormat, text));
        }
        let id = LogId(column::<Uuid>(row, 0)?.into_bytes());
        let seen = Seen::new(lanes.place.to_string(), id, position(row, 2)?);
        Ok(Opened { seen, durability, is_vacuumed: column(row, 3)? })
    };
    let opened = read().map_err(Failure::Refused)?;
    if !lanes.is_read_only {
        try_conditions(lanes, sql, until).await?;
    }
    Ok(opened)
}

/// Refuses a server that takes a condition and ignores it.
async fn try_conditions(lanes: &Lanes, sql: &Sql, until: Instant) -> Answered<()> {
    let counts = lanes.run(Lane::Append, &sql.trial(), until).await?;
    if matches!(counts.as_slice(), [_, 1, 0, _]) {
        return Ok(());
    }
    let text = format!(
        "{}: expected that a position is inserted once, found that the server ignores the condition ({counts:?}); use \
         PostgreSQL itself, without a pool of statements before it",
        lanes.place
    );
    Err(Failure::Refused(Error::new(ErrorKind::InvalidArgument, text)))
}
