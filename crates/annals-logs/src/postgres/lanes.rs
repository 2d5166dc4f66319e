//! The connections of a log, one for each kind of statement, opened at the first use and again after each loss.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annals::ErrorKind;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::Row;

use super::connection::{Connection, Parameters};
use super::failure::{Answered, Failure};
use super::place::PostgresPlace;

/// The pause before another try to connect grows from the first to the second of these.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// Statements of one lane share a connection, and wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Append,
    Read,
    Register,
    Rewrite,
}

/// The connections of a log.
pub(super) struct Lanes {
    pub place: PostgresPlace,
    pub is_read_only: bool,
    /// The host that was the primary last.
    first_host: AtomicUsize,
    append: Mutex<Option<Arc<Connection>>>,
    read: Mutex<Option<Arc<Connection>>>,
    register: Mutex<Option<Arc<Connection>>>,
    rewrite: Mutex<Option<Arc<Connection>>>,
}

impl Lanes {
    pub fn new(place: PostgresPlace, is_read_only: bool) -> Lanes {
        Lanes {
            place,
            is_read_only,
            first_host: AtomicUsize::new(0),
            append: Mutex::default(),
            read: Mutex::default(),
            register: Mutex::default(),
            rewrite: Mutex::default(),
        }
    }

    fn slot(&self, lane: Lane) -> &Mutex<Option<Arc<Connection>>> {
        match lane {
            Lane::Append => &self.append,
            Lane::Read => &self.read,
            Lane::Register => &self.register,
            Lane::Rewrite => &self.rewrite,
        }
    }

    /// Runs a statement once. After a failure that says nothing of its effect the connection is closed.
    pub async fn query(
        &self,
        lane: Lane,
        text: &str,
        parameters: Parameters<'_>,
        until: Instant,
    ) -> Answered<Vec<Row>> {
        let connection = self.prepared(lane, text, until).await?;
        self.within(&connection, until, connection.query(text, parameters)).await
    }

    /// As [`Lanes::query`]. Shape: how many rows it changed.
    pub async fn execute(
        &self,
        lane: Lane,
        text: &str,
        parameters: Parameters<'_>,
        until: Instant,
    ) -> Answered<u64> {
        let connection = self.prepared(lane, text, until).await?;
        self.within(&connection, until, connection.execute(text, parameters)).await
    }

    /// As [`Lanes::query`], for several statements without parameters.
    pub async fn run(&self, lane: Lane, text: &str, until: Instant) -> Answered<Vec<u64>> {
        let connection = self.connection(lane, until).await?;
        self.within(&connection, until, connection.run(text)).await
    }

    /// Runs a statement that changes nothing, again on another connection if one breaks.
    pub async fn look(
        &self,
        lane: Lane,
        text: &str,
        parameters: Parameters<'_>,
        until: Instant,
    ) -> Answered<Vec<Row>> {
        let mut pause = PAUSES[0];
        loop {
            match self.query(lane, text, parameters, until).await {
                Err(failure) if failure.is_worth_another_try() && Instant::now() + pause < until => {
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSES[1]);
                }
                answer => return answer,
            }
        }
    }

    /// The connection of a lane with a prepared statement. Nothing is executed before, so one that breaks is replaced.
    async fn prepared(&self, lane: Lane, text: &str, until: Instant) -> Answered<Arc<Connection>> {
        let mut pause = PAUSES[0];
        loop {
            let connection = self.connection(lane, until).await?;
            match self.within(&connection, until, connection.statement(text)).await {
                Ok(_) => return Ok(connection),
                Err(Failure::Unanswered { is_late: true, error }) => {
                    return Err(Failure::Unreached { error, is_definite: false });
                }
                Err(Failure::Unreached { is_definite: false, .. }) if Instant::now() + pause < until => {
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSES[1]);
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    async fn within<T>(
        &self,
        connection: &Connection,
        until: Instant,
        answer: impl Future<Output = Answered<T>>,
    ) -> Answered<T> {
        let answer = timeout_at(until, answer).await;
        let answer = answer.unwrap_or_else(|_| Err(Failure::late(&self.place.to_string())));
        if let Err(Failure::Unanswered { .. } | Failure::Unreached { .. }) = &answer {
            connection.close();
        }
        answer
    }

    /// The connection of a lane; a new one if it has none, or a broken one.
    pub async fn connection(&self, lane: Lane, until: Instant) -> Answered<Arc<Connection>> {
        let late = || Failure::unreached(format!("{}: the server did not answer in time", self.place));
        let mut slot = timeout_at(until, self.slot(lane).lock()).await.map_err(|_| late())?;
        if let Some(known) = slot.as_ref().filter(|known| !known.is_closed()) {
            return Ok(Arc::clone(known));
        }
        *slot = None;
        let opened = Arc::new(self.connect(until).await?);
        *slot = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Connects to the primary, and tries again until the deadline while that may help.
    async fn connect(&self, until: Instant) -> Answered<Connection> {
        let mut pause = PAUSES[0];
        loop {
            match self.connect_once(until).await {
                Err(Failure::Unreached { is_definite: false, .. }) if Instant::now() + pause < until => {
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSES[1]);
                }
                outcome => return outcome,
            }
        }
    }

    /// Asks each host in turn, beginning with the latest primary.
    async fn connect_once(&self, until: Instant) -> Answered<Connection> {
        let hosts = &self.place.hosts;
        let first = self.first_host.load(Ordering::Relaxed);
        let mut failures: Vec<Failure> = Vec::new();
        for left in (1..=hosts.len()).rev() {
            let at = (first + hosts.len() - left) % hosts.len();
            let Some(host) = hosts.get(at) else { continue };
            // A host that hangs leaves the others their share of the time.
            let share =
                until.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap_or(u32::MAX);
            let opened = timeout_at(Instant::now() + share, Connection::open(&self.place, host, share)).await;
            let late = || Failure::unreached(format!("{}: {host} did not answer in time", self.place));
            match opened.unwrap_or_else(|_| Err(late())) {
                Ok(connection) if connection.settings.is_standby => {
                    let text = format!(
                        "{}: expected the primary, found that {host} is a standby; name the primary",
                        self.place
                    );
                    // It may be promoted soon.
                    failures.push(match hosts.len() {
                        1 => Failure::definite(ErrorKind::ReadOnly, text),
                        _ => Failure::unreached(text),
                    });
                }
                Ok(connection) => {
                    connection
                        .settings
                        .check(&self.place, self.is_read_only)
                        .map_err(|error| Failure::Unreached { error, is_definite: true })?;
                    self.first_host.store(at, Ordering::Relaxed);
                    return Ok(connection);
                }
                Err(failure) => failures.push(failure),
            }
        }
        // One that can be mended says more than a host that is down.
        let definite = failures.iter().position(|failure| {
            matches!(failure, Failure::Unreached { is_definite: true, .. } | Failure::Refused(_))
        });
        let mut chosen = failures.into_iter().skip(definite.unwrap_or_default());
        Err(chosen.next().unwrap_or_else(|| Failure::unreached(format!("{}: no host answered", self.place))))
    }
}
