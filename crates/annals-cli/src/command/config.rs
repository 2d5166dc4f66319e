//! The configuration file of `serve`: the same options as on the command line, in TOML.
//!
//! A value from the file becomes an argument, so that one parser reads all values. The command line and the environment
//! win over the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::Value;

/// The command that reads a configuration file.
const COMMAND: &str = "serve";
/// Options that a configuration file cannot set.
const NEVER: [&str; 10] = [
    "config",
    "check-config",
    "candidate",
    "json",
    "help",
    "version",
    "server",
    "token-file",
    "ca-file",
    "local",
];
/// Largest file. Units: bytes.
const BYTES_MAX: u64 = 1 << 20;

/// Reads the arguments of `command`, and the configuration file that they name.
///
/// Errors: `clap`'s, for malformed arguments, and for a file that cannot be read, is not TOML, or has a key that is not
/// an option.
pub fn matches(command: Command, mut arguments: Vec<OsString>) -> Result<ArgMatches, clap::Error> {
    let mut command = without_empty(command);
    let unread = command.clone();
    command.build();
    let matches = command.try_get_matches_from_mut(&arguments)?;
    let named = matches.subcommand().filter(|(name, _)| *name == COMMAND);
    let path = named.and_then(|(_, given)| given.get_one::<PathBuf>("config").map(|path| (given, path)));
    let Some((given, path)) = path else { return Ok(matches) };
    let serve = command.find_subcommand(COMMAND).expect("serve is a command");
    let more = read(path).and_then(|table| from_table(serve, given, &table));
    let more = more.map_err(|text| {
        let text = format!("configuration {}: {text}\n", path.display());
        clap::Error::raw(ErrorKind::InvalidValue, text).with_cmd(serve)
    })?;
    arguments.extend(more.into_iter().map(OsString::from));
    unread.try_get_matches_from(arguments)
}

/// The same command, which takes an empty variable of the environment for one that is not set.
fn without_empty(command: Command) -> Command {
    let is_empty =
        |option: &Arg| option.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|option| match is_empty(&option) {
        true => option.env(Resettable::Reset),
        false => option,
    });
    command.mut_subcommands(without_empty)
}

/// The same command, which reads no variable of the environment.
pub fn without_environment(command: Command) -> Command {
    command.mut_args(|option| option.env(Resettable::Reset)).mut_subcommands(without_environment)
}

fn read(path: &Path) -> Result<toml::Table, String> {
    let length = std::fs::metadata(path).map_err(|error| format!("it cannot be read: {error}"))?.len();
    if length > BYTES_MAX {
        return Err(format!("expected at most {BYTES_MAX} bytes, found {length}"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))?;
    text.parse().map_err(|error| format!("expected TOML: {error}"))
}

/// The arguments that a configuration file sets, without those that the command line or the environment sets.
fn from_table(serve: &Command, given: &ArgMatches, table: &toml::Table) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    for (key, value) in table {
        let options = || serve.get_arguments().filter(|option| is_for_files(option));
        let Some(option) = options().find(|option| option.get_long() == Some(key)) else {
            let mut known: Vec<&str> = options().filter_map(Arg::get_long).collect();
            known.sort_unstable();
            return Err(format!("{key}: there is no such option; expected one of {}", known.join(", ")));
        };
        let source = given.value_source(option.get_id().as_str());
        if matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            continue;
        }
        match (option.get_action(), value) {
            (ArgAction::SetTrue, Value::Boolean(true)) => arguments.push(format!("--{key}")),
            (ArgAction::SetTrue, Value::Boolean(false)) => {}
            (ArgAction::SetTrue, _) => return Err(format!("{key}: expected true or false, found {value}")),
            (ArgAction::Append, Value::Array(values)) => {
                for value in values {
                    arguments.push(format!("--{key}={}", text(key, value)?));
                }
            }
            _ => arguments.push(format!("--{key}={}", text(key, value)?)),
        }
    }
    Ok(arguments)
}

fn is_for_files(option: &Arg) -> bool {
    option.get_long().is_some_and(|long| !NEVER.contains(&long))
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err(format!("{key}: expected a text or a whole number, found {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let option = |name: &'static str| Arg::new(name).long(name);
        let serve = Command::new(COMMAND).args([
            option("config").value_parser(clap::value_parser!(PathBuf)),
            option("listen").default_value("here").value_parser(["here", "there"]),
            option("host").action(ArgAction::Append),
            option("page-max").env("ANNALS_CONFIG_TEST_PAGE_MAX").value_parser(clap::value_parser!(u32)),
            option("read-only").action(ArgAction::SetTrue),
        ]);
        Command::new("annals").arg(option("repository").global(true)).subcommand(serve)
    }

    fn parsed(arguments: &[&str], file: &str) -> Result<ArgMatches, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("annals.toml");
        std::fs::write(&path, file).unwrap();
        let mut all: Vec<OsString> = ["annals", COMMAND, "--config"].map(OsString::from).into();
        all.push(path.into());
        all.extend(arguments.iter().map(OsString::from));
        let matches = matches(command(), all).map_err(|error| error.to_string())?;
        Ok(matches.subcommand_matches(COMMAND).unwrap().clone())
    }

    #[test]
    fn the_file_gives_what_the_command_line_does_not() {
        let file = "listen = 'there'\nhost = ['a.example', 'b.example']\npage-max = 7\nread-only = true\n\
                    repository = '/srv/graph'";
        let found = parsed(&["--page-max", "8"], file).unwrap();
        let text = |name: &str| found.get_one::<String>(name).cloned();
        assert_eq!(
            (text("listen").as_deref(), text("repository").as_deref()),
            (Some("there"), Some("/srv/graph"))
        );
        assert_eq!(found.get_many::<String>("host").unwrap().collect::<Vec<_>>(), ["a.example", "b.example"]);
        assert_eq!(found.get_one::<u32>("page-max"), Some(&8));
        assert!(found.get_flag("read-only"));
    }

    #[test]
    fn a_mistake_in_the_file_is_named() {
        let cases = [
            ("lisen = 'x'", "lisen: there is no such option; expected one of"),
            ("listen = 'nowhere'", "invalid value 'nowhere' for '--listen"),
            ("page-max = 1.5", "page-max: expected a text or a whole number, found 1.5"),
            ("read-only = 'yes'", "read-only: expected true or false"),
            ("config = 'other'", "config: there is no such option"),
            ("listen =", "expected TOML"),
        ];
        for (file, expected) in cases {
            let error = parsed(&[], file).unwrap_err();
            assert!(error.contains(expected), "{file}: {error}");
        }
    }
}
