//! `annals history`: the versions of an entity or relationship.

use annals::Instant;
use annals_exchange::text::one_line;
use clap::Args;
use serde_json::Value as Json;

use super::listing::{after_skipped, json_of_line};
use super::selection::InstanceArgument;
use crate::columns::VERSIONS;
use crate::context::{AsOfArguments, Context, instant};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::rows::RowsArguments;
use crate::shown::Shown;
use crate::stop::Outcome;
use crate::table::Table;

/// Show the versions of an entity or relationship, newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals history package:bash
  annals history package:bash --limit 1
  annals history package:bash --from 2025-01-01 --to 2026-01-01 --oldest-first
  annals diff package:bash 1 2                what differs between two of them
  annals history package:bash --columns @version,@instant,@author,size     how a property changed
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
    rows: RowsArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// The columns of rows, if the user names none.
const USUAL_COLUMNS: &str = "@version,@action,@status,@inForce,@position,@instant,@validFrom,@author,@message,@home,@formerId,@isProxy";

/// A title, and the function that fills the column; it returns `None` for the usual value.
type Column = (&'static str, fn(Shown) -> Option<String>);

/// The columns that are not empty for these versions.
fn rare_columns(versions: &[Json]) -> Vec<Column> {
    let known: [Column; 4] = [
        ("STATUS", |version| {
            let status = version.text("status");
            (!["active", "deleted"].contains(&status)).then(|| one_line(status))
        }),
        ("HOME", |version| version.optional("home").map(one_line)),
        ("FORMER ID", |version| version.optional("formerId").map(str::to_owned)),
        ("PROXY", |version| version.is("isProxy").then(|| "proxy".to_owned())),
    ];
    let is_needed = |(_, text): &Column| versions.iter().any(|version| text(Shown(version)).is_some());
    known.into_iter().filter(is_needed).collect()
}

/// Prints the versions.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let Arguments { instance, limit, skip, from, to, content, oldest_first, rows, as_of } = arguments;
    let mut rows = rows.rows(context, &VERSIONS, USUAL_COLUMNS)?;
    // The instance is in the answer if a column shows something of it.
    let is_whole = rows.as_ref().map_or(*content, |rows| rows.asks_for(VERSIONS.instance));
    context.warn_of_emptiness(as_of)?;
    let candidate = context.candidate.clone();
    let request = |collection: &'static str| {
        Request::get_of(collection, &instance.id, "/history")
            .with_all("from", from)
            .with_all("to", to)
            .flag("content", is_whole)
            .flag("oldestFirst", *oldest_first)
            .with("limit", (*limit).max(1))
            .with_all("after", after_skipped(*skip))
            .read_at(as_of)
            .with_all("candidate", &candidate)
            .lines()
    };
    let (_, mut answer) = instance.ask(context, request)?;
    let mut versions = Vec::new();
    while let Some(AnswerLine::Item(line)) = answer.line()?.filter(|_| *limit > 0) {
        if let Some(rows) = &mut rows {
            rows.item(context, &json_of_line(&line)?)?;
        } else if context.output.is_json() || *content {
            context.output.json_line(&line)?;
        } else {
            versions.push(json_of_line(&line)?);
        }
    }
    if let Some(rows) = rows {
        return rows.end(context, "", None);
    }
    let rare = rare_columns(&versions);
    let mut titles = vec!["", "VERSION", "ACTION"];
    titles.extend(rare.iter().map(|(title, _)| *title));
    titles.extend(["POSITION", "COMMITTED", "VALID FROM", "AUTHOR", "MESSAGE"]);
    let mut table = Table::new(&titles);
    for version in versions.iter().map(Shown) {
        let mut row = vec![
            if version.is("inForce") { "*" } else { "" }.to_owned(),
            version.number("version").to_string(),
            version.text("action").to_owned(),
        ];
        row.extend(rare.iter().map(|(_, text)| text(version).unwrap_or_default()));
        row.extend([
            version.number("position").to_string(),
            version.text("instant").to_owned(),
            version.text("validFrom").to_owned(),
            one_line(version.text("author")),
            one_line(version.text("message")),
        ]);
        table.row(row);
    }
    context.output.table(&mut table)?;
    context.output.end_list();
    Ok(())
}
