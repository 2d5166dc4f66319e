//! One connection to PostgreSQL: its session, its prepared statements, and the notices that tell of unsynced commits.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::Severity;
use tokio_postgres::tls::NoTls;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Row, SimpleQueryMessage, Socket, Statement};

use super::credentials;
use super::failure::{Answered, Failure};
use super::place::{Host, PostgresPlace, Protection};
use super::settings::{SESSION, SETTINGS, Settings};
use super::tls::Tls;

/// The parameters of a statement.
pub(super) type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

/// Without a word from the server for so long, the system asks whether it is there.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// A connection. Dropping its last clone ends it.
pub(super) struct Connection {
    client: Client,
    driver: AbortHandle,
    is_unsynced: Arc<AtomicBool>,
    // Set by `close`: the driver ends a moment later.
    is_ended: AtomicBool,
    statements: Mutex<BTreeMap<String, Statement>>,
    pub settings: Settings,
    log: String,
}

impl Connection {
    /// Connects to a host, and begins the session. The caller sets the deadline.
    pub async fn open(place: &PostgresPlace, host: &Host, limit: Duration) -> Answered<Connection> {
        let log = place.to_string();
        let mut config = Config::new();
        config
            .host(&host.name)
            .port(host.port)
            .user(&place.user)
            .dbname(&place.database)
            .application_name("annals")
            .options(SESSION)
            .connect_timeout(limit)
            .keepalives_idle(KEEPALIVE)
            .tcp_user_timeout(limit.max(Duration::from_secs(1)));
        let password = credentials::password(place, host, &|name| std::env::var_os(name));
        if let Some(password) = password.map_err(|error| Failure::Unreached { error, is_definite: true })? {
            config.password(password);
        }
        let is_unsynced = Arc::default();
        let (client, driver) = match &place.protection {
            Protection::None => {
                config.ssl_mode(SslMode::Disable);
                let opened = config.connect(NoTls).await;
                let (client, connection) = opened.map_err(|error| Failure::of_connecting(&log, &error))?;
                (client, drive(connection, &is_unsynced))
            }
            Protection::Verified(authorities) => {
                config.ssl_mode(SslMode::Require);
                let tls = Tls::trusting(authorities.as_deref());
                let tls = tls.map_err(|error| Failure::Unreached { error, is_definite: true })?;
                let opened = config.connect(tls).await;
                let (client, connection) = opened.map_err(|error| Failure::of_connecting(&log, &error))?;
                (client, drive(connection, &is_unsynced))
            }
        };
        let (statements, is_ended) = (Mutex::default(), AtomicBool::new(false));
        let settings = Settings::default();
        let mut connection = Connection { client, driver, is_unsynced, is_ended, statements, settings, log };
        let answers = connection.client.simple_query(SETTINGS).await;
        let answers = answers.map_err(|error| Failure::of_connecting(&connection.log, &error))?;
        let row = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        // Warnings at the start say nothing of a commit.
        connection.is_unsynced.store(false, Ordering::SeqCst);
        connection.settings = Settings::read(|at| row.and_then(|row| row.try_get(at).ok().flatten()));
        Ok(connection)
    }

    /// Runs a statement that is prepared at its first use. One that changes something is committed when it ends.
    pub async fn query(&self, text: &str, parameters: Parameters<'_>) -> Answered<Vec<Row>> {
        let statement = self.statement(text).await?;
        let rows = self.client.query(&statement, parameters).await;
        let rows = rows.map_err(|error| Failure::of(&self.log, &error))?;
        self.check_synced()?;
        Ok(rows)
    }

    /// As [`Connection::query`]. Shape: how many rows it changed.
    pub async fn execute(&self, text: &str, parameters: Parameters<'_>) -> Answered<u64> {
        let statement = self.statement(text).await?;
        let count = self.client.execute(&statement, parameters).await;
        let count = count.map_err(|error| Failure::of(&self.log, &error))?;
        self.check_synced()?;
        Ok(count)
    }

    /// Runs several statements without parameters, in one transaction unless they say otherwise. Shape: how many rows each
    /// changed.
    pub async fn run(&self, text: &str) -> Answered<Vec<u64>> {
        let answers = self.client.simple_query(text).await;
        let answers = answers.map_err(|error| Failure::of(&self.log, &error))?;
        self.check_synced()?;
        let count = |answer| match answer {
            SimpleQueryMessage::CommandComplete(count) => Some(count),
            _ => None,
        };
        Ok(answers.into_iter().filter_map(count).collect())
    }

    /// The prepared statement; it is prepared at its first use.
    pub async fn statement(&self, text: &str) -> Answered<Statement> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let prepared = self.client.prepare(text).await;
        // Whatever happens to it, nothing was executed.
        let prepared = prepared.map_err(|error| match Failure::of(&self.log, &error) {
            Failure::Unanswered { error, .. } => Failure::Unreached { error, is_definite: false },
            other => other,
        })?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.insert(text.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Order: after the answer, because the notice comes before it.
    fn check_synced(&self) -> Answered<()> {
        match self.is_unsynced.load(Ordering::SeqCst) {
            false => Ok(()),
            true => Err(Failure::unsynced(&self.log)),
        }
    }

    /// True if statements cannot be sent any more.
    pub fn is_closed(&self) -> bool {
        self.is_ended.load(Ordering::SeqCst) || self.client.is_closed()
    }

    /// Closes the socket at once. The server is not asked to cancel anything: a cancelled wait for a standby would leave a
    /// visible commit that no standby has.
    pub fn close(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
        self.driver.abort();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// Moves the bytes of a connection until it ends, and notes commits that the server did not sync to its standbys.
fn drive<T>(
    mut connection: tokio_postgres::Connection<Socket, T>,
    is_unsynced: &Arc<AtomicBool>,
) -> AbortHandle
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let is_unsynced = Arc::clone(is_unsynced);
    let run = async move {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            match message {
                // The statements of a log have no other warnings, and this one has no code of its own.
                Ok(AsyncMessage::Notice(notice)) => {
                    let is_warning = notice.parsed_severity() == Some(Severity::Warning);
                    is_unsynced.fetch_or(is_warning, Ordering::SeqCst);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    };
    tokio::spawn(run).abort_handle()
}
