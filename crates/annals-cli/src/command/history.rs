//! `annals history`: the versions of an entity or relationship.

use annals::{History, Instant, VersionInfo};
use annals_exchange::text::one_line;
use annals_json::VersionForm;
use clap::Args;

use super::listing::BATCH_ITEMS_MAX;
use super::selection::InstanceArgument;
use crate::context::{AsOfArguments, Context, instant};
use crate::output::Table;
use crate::stop::Outcome;

/// Show the versions of an entity or relationship, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals history package:bash
  annals history package:bash --limit 1
  annals history package:bash --from 2025-01-01 --to 2026-01-01 --oldest-first
  annals diff package:bash 1 2                what differs between two of them
The version marked with * is the one that `annals get` shows. Statuses, homes, former ids and proxies have columns if
a version has them.")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArgument,
    /// Show at most this many versions
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Skip this many versions
    #[arg(long, default_value_t = 0, value_name = "N")]
    skip: usize,
    /// Begin with the version that was current at this instant
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    from: Option<Instant>,
    /// Only versions written before this instant
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    to: Option<Instant>,
    /// Show the instance in each version too, as JSON
    #[arg(long)]
    content: bool,
    /// Show the oldest first
    #[arg(long)]
    oldest_first: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// A title, and the function that fills the column; it returns `None` for the usual value.
type Column = (&'static str, fn(&VersionInfo) -> Option<String>);

/// The columns that are not empty for these versions.
fn rare_columns(versions: &[VersionInfo]) -> Vec<Column> {
    let known: [Column; 4] = [
        ("STATUS", |version| {
            let is_usual = ["active", "deleted"].contains(&&*version.status_name);
            (!is_usual).then(|| one_line(&version.status_name))
        }),
        ("HOME", |version| version.home.as_ref().map(|home| one_line(home))),
        ("FORMER ID", |version| version.former_id.as_ref().map(ToString::to_string)),
        ("PROXY", |version| version.is_proxy.then(|| "proxy".to_owned())),
    ];
    let is_needed = |(_, text): &Column| versions.iter().any(|version| text(version).is_some());
    known.into_iter().filter(is_needed).collect()
}

/// Prints the versions.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let instance = arguments.instance.find(&snapshot)?;
    let history = History {
        from: arguments.from,
        to: arguments.to,
        is_oldest_first: arguments.oldest_first,
        skip: arguments.skip,
        limit: arguments.limit,
        ..History::default()
    };
    if context.output.is_json() || arguments.content {
        let mut rest = history;
        while rest.limit > 0 {
            let batch = History { limit: rest.limit.min(BATCH_ITEMS_MAX), ..rest };
            let versions = VersionForm::history(&snapshot, &instance, &batch, arguments.content)?;
            versions.iter().try_for_each(|version| context.output.json(version))?;
            if versions.is_empty() {
                break;
            }
            rest.skip = rest.skip.saturating_add(versions.len());
            rest.limit -= versions.len();
        }
        context.output.end_list();
        return Ok(());
    }
    let versions = snapshot.history(&instance, &History { bytes_max: usize::MAX, ..history })?;
    let rare = rare_columns(&versions);
    let mut titles = vec!["", "VERSION", "ACTION"];
    titles.extend(rare.iter().map(|(title, _)| *title));
    titles.extend(["POSITION", "COMMITTED", "VALID FROM", "AUTHOR", "MESSAGE"]);
    let mut table = Table::new(&titles);
    for version in versions {
        let mut row = vec![
            if version.is_in_force { "*" } else { "" }.to_owned(),
            version.version.to_string(),
            version.verb.to_owned(),
        ];
        row.extend(rare.iter().map(|(_, text)| text(&version).unwrap_or_default()));
        row.extend([
            version.position.0.to_string(),
            version.instant.to_string(),
            version.valid_from.to_string(),
            one_line(&version.author),
            one_line(&version.message),
        ]);
        table.row(row);
    }
    context.output.table(&mut table)?;
    context.output.end_list();
    Ok(())
}
