//! Why a statement has no answer: what that says about its effect, and the errors and outcomes that follow.

use std::error::Error as _;
use std::fmt;

use annals::log::Appended;
use annals::{Error, ErrorKind};
use tokio_postgres::error::{DbError, Severity, SqlState};

/// The answer to a statement.
pub(super) type Answered<T> = Result<T, Failure>;

/// Why a statement has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was not sent: there is no connection. `is_definite` says that another try would fail, too.
    Unreached { error: Error, is_definite: bool },
    /// The server refused it, and so it has no effect, now or later.
    Refused(Error),
    /// It may have an effect, now or later: the answer was lost, came too late, or came before standbys had the effect.
    Unanswered { error: Error, is_late: bool },
}

impl Failure {
    /// An error before anything was sent that another try does not change.
    pub fn definite(kind: ErrorKind, text: impl Into<String>) -> Failure {
        Failure::Unreached { error: Error::new(kind, text), is_definite: true }
    }

    /// Nothing was sent, and a later try may succeed.
    pub fn unreached(text: impl Into<String>) -> Failure {
        Failure::Unreached { error: Error::new(ErrorKind::Unavailable, text), is_definite: false }
    }

    /// The statement was sent, and the connection ended.
    pub fn lost(log: &str, error: &tokio_postgres::Error) -> Failure {
        let text = format!("{log}: the connection was lost: {}", Cause(error));
        Failure::Unanswered { error: Error::new(ErrorKind::Unavailable, text), is_late: false }
    }

    /// The statement was sent, and there was no answer within the deadline.
    pub fn late(log: &str) -> Failure {
        let text = format!("{log}: the server did not answer in time; look at its load and its locks");
        Failure::Unanswered { error: Error::new(ErrorKind::Unavailable, text), is_late: true }
    }

    /// The server acknowledged an effect that its standbys may lack.
    pub fn unsynced(log: &str) -> Failure {
        let text = format!(
            "{log}: the server gave up waiting for its standbys: the effect may be lost in a failover; look at them"
        );
        Failure::Unanswered { error: Error::new(ErrorKind::Unavailable, text), is_late: false }
    }

    /// The failure of a statement that was sent.
    pub fn of(log: &str, error: &tokio_postgres::Error) -> Failure {
        match error.as_db_error() {
            // A statement that ends with an error was rolled back. A fatal one may have been committed before.
            Some(found) if found.parsed_severity() == Some(Severity::Error) => {
                Failure::Refused(of_server(log, found))
            }
            Some(found) => Failure::Unanswered { error: of_server(log, found), is_late: false },
            None => Failure::lost(log, error),
        }
    }

    /// The failure of an attempt to connect, where nothing is changed.
    pub fn of_connecting(log: &str, error: &tokio_postgres::Error) -> Failure {
        let Some(found) = error.as_db_error() else {
            let text =
                format!("{log}: could not connect: {}; start the server, or correct the place", Cause(error));
            return match is_certificate(error) {
                true => Failure::definite(
                    ErrorKind::InvalidArgument,
                    format!(
                        "{log}: the certificate of the server is not trusted: {}; give sslrootcert=PATH with its \
                         authority, and the host as the certificate names it",
                        Cause(error)
                    ),
                ),
                false if error.to_string().contains("TLS") || error.to_string().contains("password") => {
                    Failure::definite(ErrorKind::InvalidArgument, text)
                }
                false => Failure::unreached(text),
            };
        };
        let code = found.code();
        let is_passing = *code == SqlState::CANNOT_CONNECT_NOW
            || *code == SqlState::TOO_MANY_CONNECTIONS
            || *code == SqlState::ADMIN_SHUTDOWN
            || *code == SqlState::CRASH_SHUTDOWN;
        Failure::Unreached { error: of_server(log, found), is_definite: !is_passing }
    }

    /// The error of an opened log. Whatever is wrong with the connection, it may pass.
    pub fn into_error(self) -> Error {
        match self {
            Failure::Unreached { error, .. } => Error::new(ErrorKind::Unavailable, error.to_string()),
            Failure::Refused(error) | Failure::Unanswered { error, .. } => error,
        }
    }

    /// The error of an opening.
    pub fn into_opening_error(self) -> Error {
        match self {
            Failure::Unreached { error, .. }
            | Failure::Refused(error)
            | Failure::Unanswered { error, .. } => error,
        }
    }

    /// The outcome of an append.
    pub fn into_appended(self) -> Appended {
        match self {
            Failure::Unanswered { error, .. } => Appended::Unknown(error),
            nothing_written => Appended::Refused(nothing_written.into_error()),
        }
    }

    /// True if the same statement, which changes nothing, may have an answer at once on another connection.
    pub fn is_worth_another_try(&self) -> bool {
        matches!(self, Failure::Unanswered { is_late: false, .. })
    }
}

/// True if TLS has refused the certificate of the server.
fn is_certificate(error: &tokio_postgres::Error) -> bool {
    let text = Cause(error).to_string();
    text.contains("certificate") || text.contains("UnknownIssuer") || text.contains("NotValidForName")
}

/// An error with those that caused it, without repeating what it says itself.
struct Cause<'e>(&'e tokio_postgres::Error);

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.to_string();
        let mut source = self.0.source();
        while let Some(error) = source {
            let next = error.to_string();
            if !text.contains(&next) {
                text = format!("{text}: {next}");
            }
            source = error.source();
        }
        f.write_str(&text)
    }
}

/// The error for an error of the server.
fn of_server(log: &str, found: &DbError) -> Error {
    let (kind, remedy) = meaning(found.code());
    Error::new(
        kind,
        format!("{log}: the server said: {} ({}); {remedy}", found.message(), found.code().code()),
    )
}

/// The kind of a state of SQL, and the remedy.
fn meaning(state: &SqlState) -> (ErrorKind, &'static str) {
    let code = state.code();
    match code {
        "28P01" | "28000" => (
            ErrorKind::InvalidArgument,
            "correct the user, or the password in password-file, PGPASSWORD or PGPASSFILE",
        ),
        "3D000" => (ErrorKind::NotFound, "create the database, or correct the place"),
        "42501" => (ErrorKind::Io, "grant the right: docs/logs/postgresql.md lists them"),
        "3F000" | "42P01" | "42703" => (
            ErrorKind::Unavailable,
            "the tables of the log are not there any more: put them back, or correct the place",
        ),
        "53100" => (ErrorKind::NoRoom, "make room on the disk of the server"),
        "54000" | "54001" | "54011" | "54023" => (ErrorKind::TooLarge, "split it"),
        "25006" => (ErrorKind::Unavailable, "the server does not write: it is a standby, or read-only"),
        "40001" | "40P01" => (ErrorKind::Unavailable, "try again"),
        _ if code.starts_with("XX") || code.starts_with("58") => {
            (ErrorKind::Corrupted, "look at the log of the server, and at its disk")
        }
        _ if code.starts_with("53") => (ErrorKind::Unavailable, "give the server more connections or memory"),
        _ => (ErrorKind::Unavailable, "look at the log of the server"),
    }
}
