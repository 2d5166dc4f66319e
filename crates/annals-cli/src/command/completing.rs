//! The words that a line of the shell may go on with: commands, options and their values, as clap knows them, and names
//! that the repository has.

use clap::{Arg, Command, ValueHint};

/// Names that the repository has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Of types.
    Types,
    /// Ids of entities.
    Ids,
}

/// The words that `begun` may become, behind these words. `look_up` gives names that begin so.
pub fn candidates(
    root: &Command,
    words: &[String],
    begun: &str,
    look_up: &mut dyn FnMut(Names, &str) -> Vec<String>,
) -> Vec<String> {
    let (mut command, mut behind) = (root, words);
    while let Some((first, rest)) = behind.split_first()
        && let Some(next) = command.find_subcommand(first)
    {
        (command, behind) = (next, rest);
    }
    // Those of every command are with the root.
    let options = || command.get_arguments().chain(root.get_arguments()).filter(|arg| !arg.is_hide_set());
    let option_of = |word: &str| options().find(|option| is_named(option, word));
    let mut found = Vec::new();
    let waiting = behind.last().and_then(|word| option_of(word)).filter(|option| takes_value(option));
    if let Some(option) = waiting {
        values(option, begun, look_up, &mut found);
    } else if begun.starts_with('-') {
        found.extend(options().filter_map(Arg::get_long).map(|name| format!("--{name}")));
        found.extend(["--help".to_owned()]);
    } else {
        found.extend(command.get_subcommands().map(|next| next.get_name().to_owned()));
        let mut place = 0;
        let mut is_value = false;
        for word in behind {
            let option = option_of(word);
            place += usize::from(!is_value && option.is_none() && !word.starts_with('-'));
            is_value = option.is_some_and(takes_value);
        }
        let positional = command.get_positionals().nth(place).or_else(|| command.get_positionals().last());
        if let Some(positional) = positional {
            values(positional, begun, look_up, &mut found);
        }
    }
    found.retain(|word| word.starts_with(begun));
    found.sort_unstable();
    found.dedup();
    found
}

fn is_named(option: &Arg, word: &str) -> bool {
    let long = word.strip_prefix("--");
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1);
    long.is_some_and(|name| option.get_long() == Some(name))
        || short.is_some_and(|name| option.get_short() == name.chars().next())
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// Adds the values that an argument may have.
fn values(
    argument: &Arg,
    begun: &str,
    look_up: &mut dyn FnMut(Names, &str) -> Vec<String>,
    found: &mut Vec<String>,
) {
    found.extend(argument.get_possible_values().iter().map(|value| value.get_name().to_owned()));
    let names = argument.get_value_names().unwrap_or_default();
    // An argument without a name for its value is named as its field.
    let field = argument.get_id().as_str().to_uppercase();
    let has =
        |wanted: &str| field == wanted || names.iter().any(|name| name.split('|').any(|part| part == wanted));
    if has("TYPE") || has("TYPE_NAME") || has("SEARCH") {
        found.extend(look_up(Names::Types, begun));
    }
    if has("ID") || has("FROM") || has("TO") {
        found.extend(look_up(Names::Ids, begun));
    }
    if argument.get_value_hint() == ValueHint::AnyPath {
        found.extend(files(begun));
    }
}

/// The files and folders whose paths begin so.
fn files(begun: &str) -> Vec<String> {
    let (folder, name) = begun.rsplit_once('/').map_or(("", begun), |(folder, name)| (folder, name));
    let shown = begun.strip_suffix(name).unwrap_or_default();
    let entries = std::fs::read_dir(match (folder, begun.starts_with('/')) {
        ("", true) => "/",
        ("", false) => ".",
        (folder, _) => folder,
    });
    let is_wanted =
        |found: &String| found.starts_with(name) && (!found.starts_with('.') || name.starts_with('.'));
    let names =
        entries.into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(is_wanted).map(|found| format!("{shown}{found}")).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Parser)]
    #[command(name = "annals")]
    struct Root {
        /// Answer in JSON
        #[arg(long, global = true)]
        json: bool,
        #[command(subcommand)]
        command: Sub,
    }

    #[derive(clap::Subcommand)]
    enum Sub {
        Get {
            #[arg(value_name = "ID")]
            id: String,
            #[arg(long = "type", short = 't', value_name = "TYPE")]
            type_name: Option<String>,
        },
        Types,
    }

    fn found(words: &[&str], begun: &str) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut look_up = |names, _: &str| match names {
            Names::Types => vec!["person".to_owned(), "page".to_owned()],
            Names::Ids => vec!["ada".to_owned(), "bob".to_owned()],
        };
        candidates(&Root::command(), &words, begun, &mut look_up)
    }

    #[test]
    fn commands_options_types_and_ids_are_completed() {
        assert_eq!(found(&[], "g"), ["get"]);
        assert_eq!(found(&["get"], "--"), ["--help", "--json", "--type"]);
        assert_eq!(found(&["get"], "a"), ["ada"]);
        assert_eq!(found(&["get", "--json"], ""), ["ada", "bob"]);
        assert_eq!(found(&["get", "-t"], "p"), ["page", "person"]);
        assert_eq!(found(&["get", "--type"], "pe"), ["person"]);
        assert!(found(&["nothing"], "x").is_empty());
    }
}
