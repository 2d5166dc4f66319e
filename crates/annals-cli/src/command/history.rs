//! `annals history`: the versions of an entity or relationship.

use clap::Args;

use super::selection::InstanceArgument;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, one_line};
use crate::stop::Outcome;
use crate::wire::version_to_json;

/// Show the versions of an entity or relationship, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals history package:bash
  annals history package:bash --limit 1
  annals diff package:bash 1 2                what differs between two of them
The version marked with * is the one that `annals get` shows.")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArgument,
    /// Most versions
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Leave out this many of the newest
    #[arg(long, default_value_t = 0, value_name = "N")]
    skip: usize,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the versions.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let instance = arguments.instance.find(&snapshot)?;
    let mut table =
        Table::new(&["", "VERSION", "ACTION", "POSITION", "COMMITTED", "VALID FROM", "AUTHOR", "MESSAGE"]);
    for version in snapshot.versions(&instance, arguments.skip, arguments.limit)? {
        if context.output.is_json() {
            context.output.json(&version_to_json(&version))?;
            continue;
        }
        table.row([
            if version.is_in_force { "*" } else { "" }.to_owned(),
            version.version.to_string(),
            version.verb.to_owned(),
            version.position.0.to_string(),
            version.instant.to_string(),
            version.valid_from.to_string(),
            one_line(&version.author),
            one_line(&version.message),
        ]);
    }
    context.output.table(&table)
}
