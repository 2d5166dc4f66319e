//! `annals shell`: a prompt that runs the other commands, with one repository or one connection for all of them.

use std::cell::RefCell;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::rc::Rc;

use annals::{Error, ErrorKind};
use clap::Args;
use serde_json::json;

use super::completing::{Names, candidates};
use super::listing::json_of_line;
use super::prompt::Prompt;
use crate::context::{Context, Entered, Global};
use crate::interrupt;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::{self, FAILED, Outcome, Stop};

/// Most ids that are looked up for a completion.
const IDS_MAX: usize = 100;
/// Words that end the shell.
const ENDS: [&str; 2] = ["exit", "quit"];

/// Ask for commands, and run them on one repository
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals shell library                     annals library> find book limit 3
  annals shell --server https://annals.example
  annals shell < commands.txt              each line is a command; stops at the first that fails
A line is a command as behind `annals`, with the quotes of a shell. Tab completes commands, options, types and ids; Ctrl-C
ends the command, Ctrl-D or `exit` the shell. The lines are in a history file that only you can read: ANNALS_HISTORY
names it, and an empty name stores none. A line that begins with a space, or that holds a password, is not stored.
The first command that writes takes the folder for the shell until it ends.")]
pub struct Arguments {
    /// Folder of the repository, or the URL of its log
    #[arg(value_name = "REPOSITORY")]
    folder: Option<PathBuf>,
    /// Without a terminal: go on behind a command that fails
    #[arg(long = "keep-going")]
    is_going_on: bool,
}

/// Reads the words of a line.
pub type ReadLine = fn(&[String], &Global) -> Result<Box<dyn CommandLine>, clap::Error>;

/// The commands that a shell runs.
#[derive(Clone, Copy)]
pub struct Commands {
    /// All of them, as clap knows them.
    pub root: fn() -> clap::Command,
    /// Reads the words of a line. Arguments of every command are the shell's, unless the line names others.
    pub read: ReadLine,
}

/// A command with its arguments.
pub trait CommandLine {
    /// Arguments of every command.
    fn global(&self) -> &Global;
    /// True if it is the shell itself.
    fn is_shell(&self) -> bool;
    /// True if it opens a repository itself, instead of asking the door; or needs none.
    fn opens_itself(&self) -> bool;
    /// Runs it in a context, which may have a place that another command has left open.
    fn run(&self, context: &mut Context) -> Outcome;
}

/// The commands of one shell share it.
struct Session {
    commands: Commands,
    /// Arguments of every command, unless its line names others.
    global: Global,
    /// The repository or the connection that the last command has left open.
    place: Option<Entered>,
    /// True if a person reads the answers.
    is_interactive: bool,
}

impl Session {
    /// Does something with the place that is open, as a command does.
    fn with_place<T>(&mut self, work: impl FnOnce(&mut Context) -> T) -> T {
        let mut context = Context::with_place(&self.global, self.place.take());
        let done = work(&mut context);
        self.place = context.take_place();
        done
    }

    /// Closes the place.
    fn close(&mut self) -> Result<(), Error> {
        self.place.take().map_or(Ok(()), Entered::close)
    }
}

impl Arguments {
    /// Runs commands until the input ends.
    pub fn run(&self, global: &Global, commands: Commands) -> Outcome {
        let mut global = global.clone();
        if let Some(folder) = &self.folder {
            if global.server.is_some() {
                let text = "--server: expected a folder or a server, found both; leave one of them out";
                return Err(Error::new(ErrorKind::InvalidArgument, text).into());
            }
            annals_logs::Place::parse(folder)?;
            global.repository.clone_from(folder);
            global.is_repository_named = true;
        }
        let is_interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let session = Session { commands, global, place: None, is_interactive };
        let code = match is_interactive {
            true => converse(session)?,
            false => self.read(session)?,
        };
        if code == stop::OK { Ok(()) } else { Err(Stop::Silent(code)) }
    }

    /// Runs each line of standard input. Returns the exit code of the first command that fails.
    fn read(&self, mut session: Session) -> Outcome<u8> {
        let mut first = stop::OK;
        let mut line = String::new();
        loop {
            line.clear();
            // Order: the lock is free while a command runs, which may read standard input, too.
            let count = std::io::stdin().lock().read_line(&mut line);
            if count.map_err(|error| Error::io("read standard input", error))? == 0 {
                break;
            }
            let Some(code) = session.run_line(&line) else { break };
            if first == stop::OK {
                first = code;
            }
            if code != stop::OK && !self.is_going_on {
                break;
            }
        }
        session.close()?;
        Ok(first)
    }
}

/// Asks for lines at a terminal, and runs them.
fn converse(session: Session) -> Outcome<u8> {
    interrupt::listen()?;
    let session = Rc::new(RefCell::new(session));
    let name = session.borrow().name();
    let root = (session.borrow().commands.root)();
    let asked = Rc::clone(&session);
    let complete = move |words: &[String], begun: &str| {
        let mut look_up = |names, begun: &str| asked.borrow_mut().look_up(names, begun).unwrap_or_default();
        let mut found = candidates(&root, words, begun, &mut look_up);
        if words.is_empty() {
            found.extend(ENDS.iter().filter(|end| end.starts_with(begun)).map(|end| (*end).to_owned()));
        }
        found
    };
    let mut prompt = Prompt::new(&name, Box::new(complete))?;
    while let Some(line) = prompt.line()? {
        if session.borrow_mut().run_line(&line).is_none() {
            break;
        }
    }
    session.borrow_mut().close()?;
    Ok(stop::OK)
}

impl Session {
    /// The place, before each line.
    fn name(&self) -> String {
        let folder = || self.global.repository.display().to_string();
        self.global.server().unwrap_or_else(folder)
    }

    /// The first names that begin so.
    fn look_up(&mut self, names: Names, begun: &str) -> Outcome<Vec<String>> {
        let (request, member) = match names {
            Names::Types => (Request::get("/v1/types"), "name"),
            Names::Ids => {
                let condition = (!begun.is_empty()).then(|| format!("@id ^= {}", json!(begun)));
                (Request::get("/v1/entities").with_all("q", condition).with("limit", IDS_MAX), "id")
            }
        };
        self.with_place(|context| {
            let page = json_of_line(&context.ask(request)?.whole()?)?;
            Ok(Shown(&page).all("items").map(|item| item.text(member).to_owned()).collect())
        })
    }

    /// Runs a line. Returns its exit code; `None` if it ends the shell.
    fn run_line(&mut self, line: &str) -> Option<u8> {
        let Some(mut words) = shlex::split(line) else {
            let text = "line: expected a quote at the end of what a quote begins, found the end of the line";
            let stop = Stop::from(Error::new(ErrorKind::InvalidArgument, text));
            return Some(stop.tell(self.global.is_json));
        };
        if words.first().is_some_and(|word| word == "annals") {
            words.remove(0);
        }
        match words.first().map(String::as_str) {
            None => Some(stop::OK),
            Some(word) if ENDS.contains(&word) => None,
            Some(_) => Some(self.run_words(&words)),
        }
    }

    fn run_words(&mut self, words: &[String]) -> u8 {
        let line = match (self.commands.read)(words, &self.global) {
            Ok(line) => line,
            Err(error) if error.use_stderr() && self.is_json(words) => {
                return stop::tell_usage(&error.to_string());
            }
            Err(error) => {
                let _ = error.print();
                return if error.use_stderr() { stop::USAGE } else { stop::OK };
            }
        };
        let before = interrupt::count();
        let outcome = self.run_command(&*line, words);
        if interrupt::count() != before {
            tell!("interrupted");
            return FAILED;
        }
        match outcome {
            Ok(()) => stop::OK,
            Err(stop) => {
                // A repository refuses further work after damage, or a full disk, until it is opened again; and a server that
                // does not write any more is the wrong one.
                let stays = match &stop {
                    Stop::Told(told) => told.kind() != Some(ErrorKind::NotWriter),
                    stop => matches!(stop, Stop::Silent(_)),
                };
                if !stays {
                    self.place = None;
                }
                stop.tell(line.global().is_json)
            }
        }
    }

    fn is_json(&self, words: &[String]) -> bool {
        self.global.is_json || words.iter().any(|word| word == "--json")
    }

    fn run_command(&mut self, line: &dyn CommandLine, words: &[String]) -> Outcome {
        if line.is_shell() {
            let text = "shell: expected another command, found the shell, which runs already";
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        if line.opens_itself() {
            // Order: first, because a folder has one writer.
            self.close()?;
            return self.run_apart(line, words);
        }
        if line.global().is_elsewhere(&self.global) {
            return line.run(&mut Context::new(line.global()));
        }
        let mut context = Context::with_place(line.global(), self.place.take());
        let outcome = line.run(&mut context);
        self.place = context.take_place();
        outcome
    }

    /// Runs a command that opens the repository itself in a process of its own, so that Ctrl-C ends it at any time.
    fn run_apart(&self, line: &dyn CommandLine, words: &[String]) -> Outcome {
        let broken = |source| Error::io("start the command", source);
        let mut process = Process::new(std::env::current_exe().map_err(broken)?);
        process.args(words).envs(line.global().as_environment());
        let lacks = |option: &str| !words.iter().any(|word| word.starts_with(option));
        for (option, short, value) in line.global().as_arguments() {
            if lacks(option) && lacks(short) {
                process.arg(option).arg(value);
            }
        }
        if line.global().is_json && lacks("--json") {
            process.arg("--json");
        }
        if let Some(name) = line.global().candidate.as_ref().filter(|_| lacks("--candidate")) {
            process.args(["--candidate", name]);
        }
        if !self.is_interactive {
            // Else it would read the lines behind it.
            process.stdin(Stdio::null());
        }
        let ended = process.status().map_err(broken)?;
        match ended.code().map(u8::try_from) {
            Some(Ok(stop::OK)) => Ok(()),
            Some(Ok(code)) => Err(Stop::Silent(code)),
            _ => Err(Stop::Silent(FAILED)),
        }
    }
}
