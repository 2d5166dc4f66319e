//! `annals history`: the versions of an entity or relationship.

use annals::{History, Instant};
use clap::Args;

use super::selection::InstanceArgument;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, one_line};
use crate::stop::Outcome;
use crate::wire::{version_to_json, version_with_content};

/// Show the versions of an entity or relationship, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals history package:bash
  annals history package:bash --limit 1
  annals history package:bash --from 2025-01-01 --to 2026-01-01 --oldest-first
  annals diff package:bash 1 2                what differs between two of them
The version marked with * is the one that `annals get` shows.")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArgument,
    /// Most versions
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Leave out this many of the first
    #[arg(long, default_value_t = 0, value_name = "N")]
    skip: usize,
    /// Begin with the version that was there at this instant
    #[arg(long, value_name = "INSTANT")]
    from: Option<Instant>,
    /// Only versions written before this instant
    #[arg(long, value_name = "INSTANT")]
    to: Option<Instant>,
    /// Show the instance in each version too, as JSON
    #[arg(long)]
    content: bool,
    /// The oldest first
    #[arg(long)]
    oldest_first: bool,
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
    let history = History {
        from: arguments.from,
        to: arguments.to,
        is_oldest_first: arguments.oldest_first,
        skip: arguments.skip,
        limit: arguments.limit,
    };
    for version in snapshot.history(&instance, &history)? {
        if context.output.is_json() || arguments.content {
            let json = match arguments.content {
                true => version_with_content(&snapshot, &instance, &version)?,
                false => version_to_json(&version),
            };
            context.output.json(&json)?;
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
    if arguments.content { Ok(()) } else { context.output.table(&table) }
}
