//! The context of every command: the repository's folder, the output, and the time to read as of.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use annals::{Error, ErrorKind, Instant, Options, Position, Repository, Result, Snapshot};
use annals_exchange::user::user_name;
use clap::Args;

pub use crate::as_of::{AsOfArguments, instant};
use crate::beside::{server_of_folder, server_of_log, unasked};
use crate::output::Output;
use crate::place::{Answer, Place};
use crate::progress::Progress;
use crate::remote::{Remote, Upload, is_same_server};
use crate::reports::Reports;
use crate::request::Request;
use crate::stop::Outcome;

/// Longest wait for records of the time that is asked for.
const SETTLED_TIME: Duration = Duration::from_secs(5);
/// Longest file with a token. Units: bytes.
const TOKEN_BYTES_MAX: u64 = 16 << 10;

/// Arguments of every command.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Folder of the repository, or the URL of its log, such as postgres://annals@db/library
    #[arg(
        long = "repository",
        short = 'r',
        global = true,
        env = "ANNALS_REPOSITORY",
        default_value = "annals-data",
        value_name = "PATH"
    )]
    pub repository: PathBuf,
    /// Store of the contents and checkpoints of a log in a store, such as s3://library/annals; the same one for all servers
    /// and commands of the log
    #[arg(long, global = true, env = "ANNALS_OBJECTS", value_name = "URL")]
    pub objects: Option<String>,
    /// Ask the server at this address instead of a folder [env: ANNALS_SERVER=]
    #[arg(long, global = true, value_name = "URL", help_heading = "Server")]
    pub server: Option<String>,
    /// The token for the server is in this file [env: ANNALS_TOKEN= has the token itself]
    #[arg(long, global = true, env = "ANNALS_TOKEN_FILE", value_name = "FILE", help_heading = "Server")]
    pub token_file: Option<PathBuf>,
    /// Trust the authorities of this file, in PEM, instead of those of the system
    #[arg(long, global = true, env = "ANNALS_CA_FILE", value_name = "FILE", help_heading = "Server")]
    pub ca_file: Option<PathBuf>,
    /// Read and write the folder or the log itself, whatever the environment says
    #[arg(long = "local", global = true, conflicts_with = "server", help_heading = "Server")]
    pub is_local: bool,
    /// True if the command line, and not the environment, names the folder.
    #[arg(skip)]
    pub is_repository_named: bool,
    /// True if the command line, and not the environment, names the store of objects.
    #[arg(skip)]
    pub is_objects_named: bool,
    /// True if the command line, and not the environment, names the file of the token.
    #[arg(skip)]
    pub is_token_file_named: bool,
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

impl Global {
    /// The address of the server to ask, if it is not a folder: from the command line, or from the environment.
    pub fn server(&self) -> Option<String> {
        let told = server_of_environment();
        let is_folder = self.is_local || self.is_repository_named;
        self.server.clone().or_else(|| told.filter(|_| !is_folder))
    }

    /// The place of the repository, unless a server is asked.
    ///
    /// Errors: `InvalidArgument` for a URL that no log or no store has, for one with a password, and for objects of a folder.
    pub fn place(&self) -> Result<annals_logs::Place> {
        let place = annals_logs::Place::parse(&self.repository)?;
        // Those of the environment may be of another repository.
        let is_meant = self.is_objects_named || place.folder().is_none();
        place.with_objects(self.objects.clone().filter(|_| is_meant))
    }

    /// Takes over the arguments of the shell that its line does not name.
    pub fn fill_from(&mut self, shell: &Global, is_named: impl Fn(&str) -> bool) {
        self.is_json |= shell.is_json;
        self.candidate = self.candidate.take().or_else(|| shell.candidate.clone());
        if !is_named("memory_bytes_max") {
            self.memory_bytes_max = shell.memory_bytes_max;
        }
        for (name, mine, other) in [
            ("token_file", &mut self.token_file, &shell.token_file),
            ("ca_file", &mut self.ca_file, &shell.ca_file),
        ] {
            if !is_named(name) {
                mine.clone_from(other);
            }
        }
        self.is_token_file_named = is_named("token_file") || shell.is_token_file_named;
        if is_named("repository") {
            self.is_repository_named = true;
        } else if !is_named("server") && !is_named("is_local") {
            self.repository.clone_from(&shell.repository);
            self.server.clone_from(&shell.server);
            self.is_local = shell.is_local;
            self.is_repository_named = shell.is_repository_named;
            if !is_named("objects") {
                self.objects.clone_from(&shell.objects);
                self.is_objects_named = shell.is_objects_named;
            }
        }
        self.is_objects_named |= is_named("objects");
    }

    /// True if it asks another place than the shell.
    pub fn is_elsewhere(&self, shell: &Global) -> bool {
        let place = |global: &Global| {
            (
                global.server(),
                global.repository.clone(),
                global.objects.clone(),
                global.is_local,
                global.memory_bytes_max,
                global.token_file.clone(),
                global.ca_file.clone(),
            )
        };
        place(self) != place(shell)
    }

    /// The same for a process that runs a line: as variables, over which the line has priority. They leave out what
    /// [`Global::as_arguments`] has.
    pub fn as_environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![("ANNALS_REPOSITORY", self.repository.clone().into_os_string())];
        variables.extend(self.server().map(|url| ("ANNALS_SERVER", url.into())));
        variables.extend(self.objects.clone().map(|url| ("ANNALS_OBJECTS", url.into())));
        variables.extend(self.ca_file.clone().map(|path| ("ANNALS_CA_FILE", path.into_os_string())));
        variables.extend(self.memory_bytes_max.map(|bytes| ("ANNALS_MEMORY", bytes.to_string().into())));
        variables
    }

    /// The options that the environment would say otherwise: a folder although it names a server, and a file of the token
    /// that is not its own.
    ///
    /// Shape: `[(option, its short form, value)]`.
    pub fn as_arguments(&self) -> Vec<(&'static str, &'static str, PathBuf)> {
        let mut options = Vec::new();
        if self.server().is_none() {
            options.push(("--repository", "-r", self.repository.clone()));
        }
        if let Some(file) = self.token_file.clone().filter(|_| self.is_token_file_named) {
            options.push(("--token-file", "--token-file", file));
        }
        options
    }

    /// The token for the server that has the folder open. One of the environment is for the server that the environment
    /// names, if it names one.
    ///
    /// Errors: `InvalidArgument` if that is another server; as [`Global::token`].
    pub fn token_for_folder(&self, url: &str) -> Result<Option<String>> {
        let token = self.token()?;
        match server_of_environment() {
            Some(told) if token.is_some() && !self.is_token_file_named && !is_same_server(&told, url) => {
                let text = format!(
                    "token: expected one for {url}, which has {} open, found that of the environment, which is for {told}; give \
                     the right one with --token-file, or unset ANNALS_SERVER if it is for this server",
                    self.repository.display()
                );
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
            _ => Ok(token),
        }
    }

    /// The token for a server, from the file or the environment.
    ///
    /// Errors: `Io` if the file cannot be read; `InvalidArgument` if it is empty.
    fn token(&self) -> Result<Option<String>> {
        let Some(path) = &self.token_file else {
            return Ok(std::env::var("ANNALS_TOKEN").ok().filter(|token| !token.is_empty()));
        };
        let mut text = String::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(TOKEN_BYTES_MAX).read_to_string(&mut text))
            .map_err(|error| Error::io("read the token", error).with("path", path.display()))?;
        match text.trim() {
            "" => {
                let text = format!("{}: expected a token, found nothing", path.display());
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
            token => Ok(Some(token.to_owned())),
        }
    }
}

/// The server that the environment names.
fn server_of_environment() -> Option<String> {
    std::env::var("ANNALS_SERVER").ok().filter(|told| !told.is_empty())
}

/// How a command uses the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads, beside a writer if there is one.
    Read,
    /// It writes, so that a folder must not have another writer.
    Write,
    /// The same, and it creates a repository that does not exist.
    Create,
}

/// Author, message and valid time of a write.
#[derive(Args, Clone, Debug, Default)]
pub struct SignatureArguments {
    /// The author [default: the name of the user, or that of the token; '' for none]
    #[arg(long, env = "ANNALS_AUTHOR")]
    pub author: Option<String>,
    /// Why you write
    #[arg(long, short = 'm', default_value = "")]
    pub message: String,
    /// Valid time of the changes, unless an operation names one
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub valid_from: Option<Instant>,
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
    global: Global,
    /// The place that answers, once a request was sent.
    place: Option<Entered>,
    /// True if the place stays open for the next command.
    is_kept: bool,
    /// True if the place is that of another command: since then, others may have written.
    is_old: bool,
}

/// A place that answers requests.
pub struct Entered {
    place: Place,
    access: Access,
}

impl Entered {
    /// Ends it: see [`Place::close`].
    ///
    /// Errors: those of closing the repository.
    pub fn close(self) -> Result<()> {
        self.place.close()
    }

    /// The same at the end of the process. The graph is not freed: the system takes back the memory of a process at once.
    ///
    /// Errors: as [`Entered::close`].
    fn end(self) -> Result<()> {
        if let Place::Folder(_, repository) = &self.place {
            std::mem::forget(repository.snapshot());
        }
        self.close()
    }
}

impl Context {
    /// The snapshot as of that time. Warns if the repository was empty then.
    pub fn snapshot(&self, time: &AsOfArguments, repository: &Repository) -> Result<Snapshot> {
        if let Some(at) = time.at {
            repository.wait_settled(at, SETTLED_TIME)?;
        }
        let present = match &self.candidate {
            Some(name) => repository.candidates().view(name)?,
            None => repository.snapshot(),
        };
        let snapshot = present.as_of(time.as_of())?;
        if let (Some(at), Position(0), Some(first)) =
            (time.at, snapshot.position(), present.instant_of(Position(1)))
        {
            tell!(
                "warning: nothing was known at {at}: the first record is of {first}; --valid-at reads what was true \
                 then"
            );
        }
        Ok(snapshot)
    }

    /// The context of one command.
    pub fn new(global: &Global) -> Context {
        Context {
            path: global.repository.clone(),
            memory_bytes_max: global.memory_bytes_max,
            candidate: global.candidate.clone(),
            output: Output::new(global.is_json),
            global: global.clone(),
            place: None,
            is_kept: false,
            is_old: false,
        }
    }

    /// The context of one of many commands, with the place that the command before has left open.
    pub fn with_place(global: &Global, place: Option<Entered>) -> Context {
        Context { is_old: place.is_some(), place, is_kept: true, ..Context::new(global) }
    }

    /// The place that is still open.
    pub fn take_place(&mut self) -> Option<Entered> {
        self.place.take()
    }

    /// Sends a request about the repository, or the candidate that the command reads.
    ///
    /// Errors: the problem that is the answer; those of opening the repository, or of reaching the server.
    pub fn ask(&mut self, request: Request) -> Outcome<Answer> {
        self.enter(Access::Read)?.ask(request)
    }

    /// The same as of a time. Warns if the repository was empty then.
    pub fn ask_at(&mut self, request: Request, time: &AsOfArguments) -> Outcome<Answer> {
        self.warn_of_emptiness(time)?;
        let request = self.of_candidate(request).read_at(time);
        self.ask(request)
    }

    /// With the candidate that the command reads or edits.
    pub fn of_candidate(&self, request: Request) -> Request {
        request.with_all("candidate", &self.candidate)
    }

    /// A bar for work that a server does, which tells nothing until it is done. A repository of this process tells how far it
    /// is itself.
    ///
    /// Errors: those of entering the place.
    pub fn waiting(&mut self, work: &'static str, access: Access) -> Outcome<Progress> {
        self.enter(access)?;
        Ok(if self.is_at_server() { Progress::new(work, "records").with_time() } else { Progress::none() })
    }

    /// True if the user names a server.
    pub fn asks_server(&self) -> bool {
        self.global.server().is_some()
    }

    /// The place that answers. The first call opens the repository, or chooses the server.
    ///
    /// Errors: those of opening the repository; `InvalidArgument` for a wrong address.
    pub fn enter(&mut self, access: Access) -> Outcome<&Place> {
        // A reader cannot write: it is opened anew.
        self.close_unless(|entered| access == Access::Read || entered != Access::Read)?;
        match &self.place {
            None => self.place = Some(Entered { place: self.open_place(access)?, access }),
            Some(Entered { place: Place::Folder(_, repository), .. }) if self.is_old => {
                repository.refresh()?;
            }
            Some(_) => {}
        }
        self.is_old = false;
        Ok(&self.place.as_ref().expect("it is set").place)
    }

    /// Closes the repository of a folder that is open, unless it is open in the right way.
    fn close_unless(&mut self, is_right: impl Fn(Access) -> bool) -> Result<()> {
        let is_wrong =
            |entered: &mut Entered| matches!(entered.place, Place::Folder(..)) && !is_right(entered.access);
        self.place.take_if(is_wrong).map_or(Ok(()), Entered::close)
    }

    fn open_place(&self, access: Access) -> Result<Place> {
        if let Some(url) = self.global.server() {
            let token = self.global.token()?;
            let remote = Remote::new(&url, token.as_deref(), self.global.ca_file.as_deref())?;
            return Ok(Place::Server(Box::new(remote)));
        }
        match self.open_unless_served(access)? {
            Ok(repository) => Place::of_folder(repository),
            Err(place) => Ok(place),
        }
    }

    /// Opens the repository; or the server that has it, if there is one that the command may ask.
    ///
    /// Errors: those of opening it, with the reason why no server is asked; those of the token.
    fn open_unless_served(&self, access: Access) -> Result<std::result::Result<Repository, Place>> {
        let served = |remote| Ok(Err(Place::Server(Box::new(remote))));
        let place = self.global.place()?;
        if let annals_logs::Place::Log(log) = &place {
            match server_of_log(log, &self.global) {
                Ok(Ok(remote)) => return served(remote),
                // It may be gone: then the lease ends.
                Ok(Err(_)) => {}
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Err(_) if access == Access::Create => {}
                Err(error) => {
                    return Err(error.with("to create one", "annals import, or annals serve --create"));
                }
            }
        }
        let opened = match access {
            Access::Read => self.open_to_read(),
            Access::Write => self.open_to_write(),
            Access::Create => self.open_or_create(),
        };
        match opened {
            Err(locked) if locked.kind() == ErrorKind::Locked && !self.global.is_local => {
                served(match &place {
                    // A server may have begun to write meanwhile.
                    annals_logs::Place::Log(log) => {
                        server_of_log(log, &self.global)?.map_err(|reason| unasked(locked, reason))?
                    }
                    annals_logs::Place::Folder(folder) => server_of_folder(folder, &self.global, locked)?,
                })
            }
            opened => opened.map(Ok),
        }
    }

    /// Answers from a repository that the command has opened itself.
    ///
    /// Errors: `Io`.
    pub fn enter_folder(&mut self, repository: Repository) -> Outcome {
        self.place = Some(Entered { place: Place::of_folder(repository)?, access: Access::Create });
        Ok(())
    }

    /// Opens or creates the repository for a command that reads files itself. `None` if a server has it: then the command
    /// sends the files.
    ///
    /// Errors: those of opening it.
    pub fn open_or_send(&mut self) -> Outcome<Option<Repository>> {
        if self.asks_server() {
            self.enter(Access::Create)?;
            return Ok(None);
        }
        if self.is_at_server() {
            return Ok(None);
        }
        match self.open_unless_served(Access::Create)? {
            Ok(repository) => Ok(Some(repository)),
            Err(place) => {
                self.place = Some(Entered { place, access: Access::Create });
                Ok(None)
            }
        }
    }

    /// Sends a request with a body that is read while it is sent, to the server that the context has entered.
    ///
    /// Errors: as [`Context::ask`].
    pub fn send(&mut self, request: Request, upload: Upload) -> Outcome<Answer> {
        self.enter(Access::Create)?.send(request, upload)
    }

    /// The author of a write, once the place is entered: the given one, or the name of the user. `None` if a server knows
    /// the name by a token.
    pub fn author(&self, given: Option<&str>) -> Outcome<Option<String>> {
        Ok(match given {
            Some(given) => Some(given.to_owned()),
            None if self.is_at_server() && self.global.token()?.is_some() => None,
            None => Some(user_name()),
        })
    }

    fn is_at_server(&self) -> bool {
        matches!(&self.place, Some(Entered { place: Place::Server(_), .. }))
    }

    /// Closes the repository at the end of a command, unless it stays open for the next one.
    ///
    /// Errors: those of closing it.
    pub fn leave(&mut self) -> Outcome {
        match self.is_kept {
            true => Ok(()),
            false => Ok(self.place.take().map_or(Ok(()), Entered::end)?),
        }
    }

    /// Warns if the repository was empty at the instant of the time to read as of.
    pub fn warn_of_emptiness(&mut self, time: &AsOfArguments) -> Outcome {
        let Some(at) = time.at else { return Ok(()) };
        let first = Request::get("/v1/log").with("order", "oldest-first").with("limit", 1);
        // A client that may not read the log gets no warning.
        let Ok(mut answer) = self.ask(first) else { return Ok(()) };
        let page: serde_json::Value = serde_json::from_slice(&answer.whole()?).unwrap_or_default();
        let instant = page["items"][0]["instant"].as_str();
        if let Some(first) = instant.and_then(|text| text.parse::<Instant>().ok()).filter(|first| *first > at)
        {
            tell!(
                "warning: nothing was known at {at}: the first record is of {first}; --valid-at reads what was true \
                 then"
            );
        }
        Ok(())
    }

    /// Opens the repository for reading, beside a writer if there is one.
    ///
    /// Errors: `NotFound` if there is no repository; those of [`Repository::open`].
    pub fn open_to_read(&self) -> Result<Repository> {
        self.check_exists()?;
        match self.open(true) {
            // A writer that ended before its first commit leaves nothing that a reader can use; only a writer can open
            // it. Of a log in a store this means only that it does not answer.
            Err(error) if error.kind() == ErrorKind::Unavailable && self.path.is_dir() => self.open(false),
            outcome => outcome,
        }
    }

    /// Opens the repository for a command that reads it itself. `None` if the user names a server: then the command asks it.
    ///
    /// Errors: those of opening it.
    pub fn open_or_ask(&mut self) -> Outcome<Option<Repository>> {
        match self.asks_server() {
            true => Ok(None),
            false => Ok(Some(self.open_to_read()?)),
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
        if self.path.is_dir() || self.global.place()?.folder().is_none() {
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
        if self.global.server().is_some() {
            let text = "--server: this needs the folder itself; run it there, without --server";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let progress = Progress::new("open", "records").with_time();
        let shown = progress.clone();
        let options = Options {
            is_read_only,
            memory_bytes_max: self.memory_bytes_max,
            on_replay: Some(Arc::new(move |at: Position, tail: Position| shown.set(at.0, Some(tail.0)))),
            observer: Some(Arc::new(Reports::default())),
            ..Options::default()
        };
        let repository = self.global.place()?.open(options);
        progress.finish();
        let repository = repository?;
        for warning in repository.warnings() {
            tell!("warning: {warning}");
        }
        Ok(repository)
    }
}
