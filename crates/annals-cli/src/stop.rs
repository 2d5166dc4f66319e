//! Why a command ends early, its message and its exit code. `docs/cli.md` lists the codes.

use std::io;
use std::path::Path;

use annals::{Error, ErrorKind};
use annals_exchange::text::lines;
use annals_json::Object;
use serde_json::{Value as Json, json};

use crate::told::Told;

/// Done.
pub const OK: u8 = 0;
/// Refused or failed.
pub const FAILED: u8 = 1;
/// The command line is malformed.
pub const USAGE: u8 = 2;
/// There is no such instance, type, version, position or file.
pub const NOT_FOUND: u8 = 3;
/// Another writer was first, or has the repository open.
pub const CONFLICT: u8 = 4;
/// Stored bytes are damaged.
pub const DAMAGED: u8 = 5;
/// Done, but some lines of the input were refused.
pub const REFUSED_LINES: u8 = 6;

/// The result of a command.
pub type Outcome<T = ()> = std::result::Result<T, Stop>;

/// Why a command ended early.
#[derive(Debug)]
pub enum Stop {
    /// It failed.
    Failed(Error),
    /// The door refused it.
    Told(Told),
    /// The input is wrong, so the command did nothing; exit code 1 for every kind.
    Refused(Error),
    /// The reader of standard output has closed it, as `head` does: no failure.
    OutputClosed,
    /// The command has printed its message already; the exit code remains.
    Silent(u8),
}

impl Stop {
    /// Names the file that the command was reading, if the error does not name it yet.
    pub fn in_file(self, path: &Path) -> Stop {
        let is_named =
            |error: &Error| error.context().iter().any(|(name, _)| matches!(*name, "file" | "path"));
        match self {
            Stop::Failed(error) if !is_named(&error) => {
                Stop::Failed(error.with("file", path.display().to_string()))
            }
            stop => stop,
        }
    }

    /// Leaves a fact out of a refusal of the door.
    #[must_use]
    pub fn without(mut self, fact: &str) -> Stop {
        if let Stop::Told(told) = &mut self {
            told.context.retain(|(name, _)| name != fact);
        }
        self
    }

    /// The kind of the error, if the engine has it.
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Stop::Failed(error) | Stop::Refused(error) => Some(error.kind()),
            Stop::Told(told) => told.kind(),
            Stop::OutputClosed | Stop::Silent(_) => None,
        }
    }

    /// Prints the message to standard error; returns the exit code.
    pub fn tell(&self, is_json: bool) -> u8 {
        match self {
            Stop::Failed(error) | Stop::Refused(error) => {
                if is_json {
                    tell!("{}", json!({ "error": error_to_json(error) }));
                } else {
                    tell!("error: {} [{}]", lines(&text_of(error)), error.kind().name());
                }
                if matches!(self, Stop::Refused(_)) { FAILED } else { exit_code(error.kind()) }
            }
            Stop::Told(told) => {
                if is_json {
                    let context: Object = told
                        .context
                        .iter()
                        .map(|(name, value)| (name.clone(), value.as_str().into()))
                        .collect();
                    let error = json!({ "kind": told.kind, "text": told_text(told), "context": context });
                    tell!("{}", json!({ "error": error }));
                } else {
                    tell!("error: {} [{}]", lines(&told_text(told)), told.kind);
                }
                told.kind().map_or(FAILED, exit_code)
            }
            Stop::OutputClosed => OK,
            Stop::Silent(code) => *code,
        }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

impl From<Told> for Stop {
    fn from(told: Told) -> Stop {
        Stop::Told(told)
    }
}

impl From<annals_exchange::Stop> for Stop {
    fn from(stop: annals_exchange::Stop) -> Stop {
        match stop {
            annals_exchange::Stop::Failed(error) => Stop::Failed(error),
            annals_exchange::Stop::Refused(error) => Stop::Refused(error),
            annals_exchange::Stop::AtRefusal => Stop::Silent(REFUSED_LINES),
            annals_exchange::Stop::Output(error) => error.into(),
        }
    }
}

impl From<io::Error> for Stop {
    /// Only for errors of writing to standard output.
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::OutputClosed,
            _ => Stop::Failed(Error::io("write to standard output", error)),
        }
    }
}

/// The text of an error for the command line: it names the argument for a valid time.
fn text_of(error: &Error) -> String {
    match error.context() {
        [("validAt", instant)] => format!("{}; try --valid-at {instant} or later", error.text()),
        _ => error.to_string(),
    }
}

/// The same for a refusal of the door.
fn told_text(told: &Told) -> String {
    if let [(name, instant)] = &told.context[..]
        && name == "validAt"
    {
        return format!("{}; try --valid-at {instant} or later", told.text);
    }
    let facts = told.context.iter().map(|(name, value)| format!(" ({name}: {value})"));
    std::iter::once(told.text.clone()).chain(facts).collect()
}

/// The JSON form of an error.
pub fn error_to_json(error: &Error) -> Json {
    let context: Object =
        error.context().iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    json!({ "kind": error.kind().name(), "text": text_of(error), "context": context })
}

/// Prints the error of a malformed command line as JSON; returns the exit code.
pub fn tell_usage(text: &str) -> u8 {
    let text = text.trim().trim_start_matches("error: ");
    tell!("{}", json!({ "error": { "kind": "usage", "text": text, "context": {} } }));
    USAGE
}

fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidArgument
        | ErrorKind::InvalidExpression
        | ErrorKind::InvalidPage
        | ErrorKind::FutureInstant => USAGE,
        ErrorKind::NotFound => NOT_FOUND,
        ErrorKind::Conflict | ErrorKind::PreconditionFailed | ErrorKind::Busy | ErrorKind::Locked => CONFLICT,
        ErrorKind::Corrupted | ErrorKind::Gap | ErrorKind::NewerFormat => DAMAGED,
        _ => FAILED,
    }
}
