//! The commands, one file each. A command unpacks its arguments, calls the engine and prints the answer.

// In the order a newcomer should read them.
mod quickstart;
mod import;
mod import_csv;
mod overheard;
mod import_ldp;
mod import_remote;
mod export;
mod get;
mod find;
mod neighbors;
mod path;
mod reach;
mod relationships;
mod neighborhood;
mod related;
mod linking;
mod shared;
mod history;
mod diff;
mod log;
mod follow;
mod types;
mod types_convert;
mod stats;
mod apply;
mod instances;
mod classify;
mod ls;
mod tree;
mod cat;
mod put;
mod content;
mod mv;
mod rm;
mod candidate;
mod revert;
mod take_back;
mod check;
mod backup;
mod restore;
mod compact;
mod storage;
mod serve;
mod health;
mod doctor;
mod access;
mod token;
mod config;
mod completions;
mod man;
mod shell;
mod prompt;
mod completing;
mod selection;
mod tree_path;
mod tree_times;
mod listing;
mod graph_format;
mod grouping;
mod terminal;

use std::path::Path;

use annals::{Error, ErrorKind};
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use shell::{CommandLine, Commands};

use crate::context::{Context, Global};
use crate::stop::Outcome;

const AFTER_HELP: &str = "\
Start:
  annals quickstart                     a small catalogue with a past, and commands to try
  annals import people.jsonl            read entities and relationships from JSON Lines
  annals find person name^=A            whose name starts with A
  annals neighbors ada --direction out  what is linked from the entity ada
  annals history ada                    who changed it, when and why
  annals log --author bob --since 7d    what Bob changed in the last seven days

Time: every reading command takes --at-position, --at and --valid-at.

Exit codes:
  0  done                                  4  somebody else was first, or is at it
  1  refused or failed                     5  stored bytes are damaged
  2  malformed command line or argument    6  done, but lines of the input were refused
  3  not found";

/// A graph repository with complete history.
#[derive(Parser, Debug)]
#[command(name = "annals", version, after_help = AFTER_HELP)]
pub struct Arguments {
    /// Arguments of every command.
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    command: Command,
    /// The name of the command.
    #[arg(skip)]
    name: String,
}

#[derive(Subcommand, Debug)]
enum Command {
    Quickstart(quickstart::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
    Get(get::Arguments),
    Find(find::Arguments),
    Neighbors(neighbors::Arguments),
    Path(path::Arguments),
    Reach(reach::Arguments),
    Relationships(relationships::Arguments),
    Neighborhood(neighborhood::Arguments),
    Related(related::Arguments),
    Linking(linking::Arguments),
    Shared(shared::Arguments),
    History(history::Arguments),
    Diff(diff::Arguments),
    Log(log::Arguments),
    Follow(follow::Arguments),
    Types(types::Arguments),
    Stats(stats::Arguments),
    Apply(apply::Arguments),
    Create(instances::Create),
    Set(instances::Set),
    Link(instances::Link),
    Delete(instances::Delete),
    Purge(instances::Purge),
    Classify(classify::Classify),
    Declassify(classify::Declassify),
    Ls(ls::Arguments),
    Tree(tree::Arguments),
    Cat(cat::Arguments),
    Put(put::Put),
    Insert(put::Insert),
    Mv(mv::Mv),
    Cp(mv::Cp),
    Rm(rm::Rm),
    Candidate(candidate::Arguments),
    Revert(revert::Revert),
    TakeBack(take_back::TakeBack),
    Check(check::Arguments),
    Fixity(content::Fixity),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Compact(compact::Arguments),
    Storage(storage::Arguments),
    Serve(Box<serve::Serve>),
    Health(health::Arguments),
    Doctor(doctor::Arguments),
    Token(token::Arguments),
    Access(access::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Man(man::Arguments),
    Shell(shell::Arguments),
}

impl Command {
    /// True if the command reads or edits the candidate that `--candidate` names.
    fn takes_candidate(&self) -> bool {
        !matches!(
            self,
            Command::Quickstart(_)
                | Command::Import(_)
                | Command::Log(_)
                | Command::Follow(_)
                | Command::Types(_)
                | Command::Candidate(_)
                | Command::TakeBack(_)
                | Command::Check(_)
                | Command::Fixity(_)
                | Command::Backup(_)
                | Command::Compact(_)
                | Command::Storage(_)
                | Command::Serve(_)
                | Command::Token(_)
                | Command::Access(_)
                | Command::Health(_)
                | Command::Doctor(_)
                | Command::Completions(_)
                | Command::Man(_)
        )
    }
}

/// The place that a command works on.
enum Works {
    /// A repository, in a folder or behind a server.
    OnRepository,
    /// A folder only; the reason.
    OnFolder(&'static str),
    /// No repository: the environment may name a server all the same.
    Alone(&'static str),
}

impl Command {
    fn works(&self) -> Works {
        match self {
            Command::Serve(_) => Works::Alone("it serves a folder"),
            Command::Restore(restore) if restore.is_of_backup() => {
                Works::Alone("it copies one folder to another")
            }
            Command::Token(_) => Works::Alone("it writes a file of tokens"),
            Command::Quickstart(_) => Works::OnFolder("it makes a repository of its own"),
            Command::Storage(_) => Works::OnFolder("it looks at the store of a log"),
            Command::Completions(_) | Command::Man(_) => Works::Alone("it reads no repository"),
            Command::Doctor(_) => Works::Alone("it looks at the machine of a server"),
            Command::Fixity(_) => Works::OnFolder("run it beside the server, on its folder"),
            Command::Access(_) => Works::OnFolder("run it beside the server, on its folder"),
            Command::Import(import) if import.is_of_ldp() => Works::Alone("it takes two addresses"),
            Command::Tree(_) => Works::OnFolder("annals cat and annals ls show the same"),
            _ => Works::OnRepository,
        }
    }

    /// Refuses a server for a command that works on a folder.
    ///
    /// Errors: `InvalidArgument`.
    fn check_place(&self, global: &Global, name: &str) -> Result<(), Error> {
        let reason = match self.works() {
            Works::OnFolder(reason) if global.server().is_some() => reason,
            Works::Alone(reason) if global.server.is_some() => reason,
            _ => return Ok(()),
        };
        let text = format!("--server: annals {name} takes none: {reason}; leave it out, or add --local");
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }
}

/// The arguments of a line of the shell. Those of every command are the shell's, unless the line names others.
///
/// Errors: `clap`'s.
fn read_line(words: &[String], global: &Global) -> Result<Box<dyn CommandLine>, clap::Error> {
    let words = std::iter::once("annals").chain(words.iter().map(String::as_str));
    let matches = config::matches(Arguments::command(), words.map(Into::into).collect())?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    let is_named = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    arguments.global.fill_from(global, is_named);
    arguments.name = matches.subcommand_name().unwrap_or_default().to_owned();
    Ok(Box::new(arguments))
}

impl CommandLine for Arguments {
    fn global(&self) -> &Global {
        &self.global
    }

    fn run(&self, context: &mut Context) -> Outcome {
        run_in(self, context)
    }

    fn is_shell(&self) -> bool {
        matches!(self.command, Command::Shell(_))
    }

    fn opens_itself(&self) -> bool {
        let is_folder = self.global.server().is_none();
        match &self.command {
            Command::Import(import) => is_folder || import.is_of_ldp(),
            Command::Put(put) => is_folder && put.is_of_file(),
            Command::Export(export) => is_folder && export.is_of_csv(),
            Command::Restore(restore) => restore.is_of_backup(),
            Command::Backup(_) => is_folder,
            Command::Quickstart(_)
            | Command::Tree(_)
            | Command::Fixity(_)
            | Command::Serve(_)
            | Command::Token(_)
            | Command::Access(_)
            | Command::Health(_)
            | Command::Doctor(_)
            | Command::Completions(_)
            | Command::Man(_) => true,
            _ => false,
        }
    }
}

/// The arguments of this process, together with those of the configuration file that they name.
pub fn read_arguments() -> Result<Arguments, clap::Error> {
    let matches = config::matches(Arguments::command(), std::env::args_os().collect())?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    let source = matches.value_source("repository");
    arguments.global.is_repository_named = source == Some(ValueSource::CommandLine);
    let source = matches.value_source("objects");
    arguments.global.is_objects_named = source == Some(ValueSource::CommandLine);
    let source = matches.value_source("token_file");
    arguments.global.is_token_file_named = source == Some(ValueSource::CommandLine);
    arguments.name = matches.subcommand_name().unwrap_or_default().to_owned();
    Ok(arguments)
}

/// The options that a server reads from a configuration file, whatever the environment of this process is.
///
/// Errors: `clap`'s.
fn read_config(path: &Path) -> Result<(Global, serve::Serve), clap::Error> {
    let words = ["annals".into(), "serve".into(), "--config".into(), path.as_os_str().to_owned()];
    let matches = config::matches(config::without_environment(Arguments::command()), words.into())?;
    let read = Arguments::from_arg_matches(&matches)?;
    match read.command {
        Command::Serve(serve) => Ok((read.global, *serve)),
        other => unreachable!("the words are those of serve, not of {other:?}"),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut context = Context::new(&arguments.global);
    let outcome = run_in(arguments, &mut context);
    outcome.and(context.leave())
}

/// Runs the command in a context, which may have a place that another command has left open.
fn run_in(arguments: &Arguments, context: &mut Context) -> Outcome {
    // Order: first, so that a URL with a password is in no message and no argument of another process.
    annals_logs::Place::parse(&arguments.global.repository)?;
    arguments.global.objects.as_deref().map_or(Ok(()), annals_logs::check_store)?;
    arguments.command.check_place(&arguments.global, &arguments.name)?;
    if let (Some(name), false) = (&context.candidate, arguments.command.takes_candidate()) {
        let text = format!("--candidate {name}: this command takes no candidate; leave it out");
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let outcome = match &arguments.command {
        Command::Quickstart(arguments) => quickstart::run(context, arguments),
        Command::Import(arguments) => import::run(context, arguments),
        Command::Export(arguments) => export::run(context, arguments),
        Command::Get(arguments) => get::run(context, arguments),
        Command::Find(arguments) => find::run(context, arguments),
        Command::Neighbors(arguments) => neighbors::run(context, arguments),
        Command::Path(arguments) => path::run(context, arguments),
        Command::Reach(arguments) => reach::run(context, arguments),
        Command::Relationships(arguments) => relationships::run(context, arguments),
        Command::Neighborhood(arguments) => neighborhood::run(context, arguments),
        Command::Related(arguments) => related::run(context, arguments),
        Command::Linking(arguments) => linking::run(context, arguments),
        Command::Shared(arguments) => shared::run(context, arguments),
        Command::History(arguments) => history::run(context, arguments),
        Command::Diff(arguments) => diff::run(context, arguments),
        Command::Log(arguments) => log::run(context, arguments),
        Command::Follow(arguments) => follow::run(context, arguments),
        Command::Types(arguments) => types::run(context, arguments),
        Command::Stats(arguments) => stats::run(context, arguments),
        Command::Apply(arguments) => apply::run(context, arguments),
        Command::Create(create) => create.run(context),
        Command::Set(set) => set.run(context),
        Command::Link(link) => link.run(context),
        Command::Delete(delete) => delete.run(context),
        Command::Purge(purge) => purge.run(context),
        Command::Classify(classify) => classify.run(context),
        Command::Declassify(declassify) => declassify.run(context),
        Command::Ls(arguments) => ls::run(context, arguments),
        Command::Tree(arguments) => tree::run(context, arguments),
        Command::Cat(arguments) => cat::run(context, arguments),
        Command::Put(put) => put.run(context),
        Command::Insert(insert) => insert.run(context),
        Command::Mv(mv) => mv.run(context),
        Command::Cp(cp) => cp.run(context),
        Command::Rm(rm) => rm.run(context),
        Command::Candidate(arguments) => candidate::run(context, arguments),
        Command::Revert(revert) => revert.run(context),
        Command::TakeBack(take_back) => take_back.run(context),
        Command::Fixity(fixity) => fixity.run(context),
        Command::Check(arguments) => check::run(context, arguments),
        Command::Backup(arguments) => backup::run(context, arguments),
        Command::Restore(arguments) => restore::run(context, arguments),
        Command::Compact(arguments) => compact::run(context, arguments),
        Command::Storage(arguments) => storage::run(context, arguments),
        Command::Serve(serve) => serve.run(&arguments.global).map_err(Into::into),
        Command::Token(arguments) => token::run(context, arguments),
        Command::Access(arguments) => access::run(context, arguments),
        Command::Health(health) => health::run(context, health, &arguments.global),
        Command::Doctor(doctor) => doctor::run(context, doctor, &arguments.global, read_config),
        Command::Completions(arguments) => completions::run(context, arguments),
        Command::Man(arguments) => man::run(context, arguments, &Arguments::command()),
        Command::Shell(shell) => {
            shell.run(&arguments.global, Commands { root: Arguments::command, read: read_line })
        }
    };
    // Flush also after a failure: the text printed before it belongs to the answer.
    let flushed = context.output.flush();
    outcome.and(flushed)
}
