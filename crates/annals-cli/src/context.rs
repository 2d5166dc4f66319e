//! The context of every command: the repository's folder, the output, and the time to read as of.

use std::path::PathBuf;
use std::sync::Arc;

use annals::{AsOf, Error, ErrorKind, Instant, Options, Position, Repository, Result, Snapshot};
use clap::Args;

use crate::output::Output;
use crate::progress::Progress;

/// Arguments of every command.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Folder of the repository
    #[arg(
        long = "repository",
        short = 'r',
        global = true,
        env = "ANNALS_REPOSITORY",
        default_value = "annals-data",
        value_name = "PATH"
    )]
    pub repository: PathBuf,
    /// Use at most this much memory, e.g. 512MiB, 1.5GiB or 1GB; long values then stay on disk
    #[arg(
        long = "memory",
        global = true,
        env = "ANNALS_MEMORY",
        value_name = "SIZE",
        value_parser = annals::parse_size
    )]
    pub memory_bytes_max: Option<u64>,
    /// Read the repository as this candidate would change it, or add the changes to this candidate
    #[arg(long = "candidate", global = true, value_name = "NAME")]
    pub candidate: Option<String>,
    /// Answer in JSON: one object, or one per line for lists; errors too
    #[arg(long = "json", global = true)]
    pub is_json: bool,
}

/// The time to read as of; by default now.
#[derive(Args, Clone, Debug, Default)]
pub struct AsOfArguments {
    /// As the repository was after this position
    #[arg(long, value_name = "N", help_heading = "Time")]
    pub at_position: Option<u64>,
    /// As the repository was at this instant (RFC 3339, a date, month or year, now, today or yesterday)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    pub at: Option<Instant>,
    /// As it was true at this instant (the same forms)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    pub valid_at: Option<Instant>,
}

impl AsOfArguments {
    /// The snapshot as of that time. Warns if the repository was empty then.
    pub fn snapshot(&self, context: &Context, repository: &Repository) -> Result<Snapshot> {
        let present = match &context.candidate {
            Some(name) => repository.candidates().view(name)?,
            None => repository.snapshot(),
        };
        let snapshot = present.as_of(self.as_of())?;
        if let (Some(at), Position(0), Some(first)) =
            (self.at, snapshot.position(), present.instant_of(Position(1)))
        {
            eprintln!(
                "warning: nothing was known at {at}: the first record is of {first}; --valid-at reads what was true \
                 then"
            );
        }
        Ok(snapshot)
    }

    /// The time; now if none is given.
    pub fn as_of(&self) -> AsOf {
        AsOf { position: self.at_position.map(Position), instant: self.at, valid: self.valid_at }
    }

    /// True if a time is given.
    pub fn is_given(&self) -> bool {
        self.as_of() != AsOf::default()
    }
}

/// Reads an instant, or one of the words `now`, `today` and `yesterday`, which mean the start of the day in UTC.
pub fn instant(text: &str) -> Result<Instant> {
    const DAY_MICROS: i64 = 86_400_000_000;
    let now = Instant::now();
    let today = now.micros() - now.micros().rem_euclid(DAY_MICROS);
    match text {
        "now" => Ok(now),
        "today" => Instant::from_micros(today),
        "yesterday" => Instant::from_micros(today - DAY_MICROS),
        other => other.parse().map_err(|error: Error| {
            Error::new(error.kind(), format!("{}, or one of now, today and yesterday", error.text()))
        }),
    }
}

/// Author, message and valid time of a write.
#[derive(Args, Clone, Debug, Default)]
pub struct SignatureArguments {
    /// The author [default: the name of the user; '' for none]
    #[arg(long, env = "ANNALS_AUTHOR", default_value_t = user_name(), hide_default_value = true)]
    pub author: String,
    /// Why you write
    #[arg(long, short = 'm', default_value = "")]
    pub message: String,
    /// Valid time of the changes, unless an operation names one
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub valid_from: Option<Instant>,
}

/// The name of the user: `$USER`, or the name of this process's user id; empty if neither is known.
pub fn user_name() -> String {
    let given = std::env::var("USER").ok().filter(|name| !name.trim().is_empty());
    given.or_else(account_name).unwrap_or_default()
}

#[cfg(unix)]
fn account_name() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    // /proc/self belongs to the user of this process; a system call for the user id takes unsafe code.
    let user_id = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == user_id).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn account_name() -> Option<String> {
    None
}

/// The context of a command.
pub struct Context {
    /// Folder of the repository.
    pub path: PathBuf,
    /// The memory budget, if there is one. Units: bytes.
    pub memory_bytes_max: Option<u64>,
    /// The candidate that the command reads or edits.
    pub candidate: Option<String>,
    /// Where answers go.
    pub output: Output,
}

impl Context {
    /// The context of one command.
    pub fn new(global: &Global) -> Context {
        Context {
            path: global.repository.clone(),
            memory_bytes_max: global.memory_bytes_max,
            candidate: global.candidate.clone(),
            output: Output::new(global.is_json),
        }
    }

    /// Opens the repository for reading, beside a writer if there is one.
    ///
    /// Errors: `NotFound` if there is no repository; those of [`Repository::open`].
    pub fn open_to_read(&self) -> Result<Repository> {
        self.check_exists()?;
        match self.open(true) {
            // A writer that ended before its first commit leaves nothing that a reader can use; only a writer can open
            // it.
            Err(error) if error.kind() == ErrorKind::Unavailable => self.open(false),
            outcome => outcome,
        }
    }

    /// Opens an existing repository for writing.
    ///
    /// Errors: `NotFound` if there is none; those of [`Repository::open`].
    pub fn open_to_write(&self) -> Result<Repository> {
        self.check_exists()?;
        self.open(false)
    }

    /// Opens the repository for writing, and creates it if it does not exist.
    pub fn open_or_create(&self) -> Result<Repository> {
        self.open(false)
    }

    fn check_exists(&self) -> Result<()> {
        if self.path.is_dir() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "{}: expected a repository, found none; create one with `annals import`, or name another with \
                 --repository",
                self.path.display()
            ),
        ))
    }

    fn open(&self, is_read_only: bool) -> Result<Repository> {
        let progress = Progress::new("open", "records");
        let shown = progress.clone();
        let options = Options {
            is_read_only,
            memory_bytes_max: self.memory_bytes_max,
            on_replay: Some(Arc::new(move |at: Position, tail: Position| shown.set(at.0, Some(tail.0)))),
            ..Options::default()
        };
        let repository = Repository::open_with(&self.path, options);
        progress.finish();
        let repository = repository?;
        for warning in repository.warnings() {
            eprintln!("warning: {warning}");
        }
        Ok(repository)
    }
}
