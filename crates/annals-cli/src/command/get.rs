//! `annals get`: one entity or relationship, now or as of an earlier time.

use annals::{Error, ErrorKind, Id};
use annals_exchange::text::{one_line, value_to_text};
use clap::Args;

use super::listing::json_of_line;
use super::selection::InstanceArgument;
use crate::context::{AsOfArguments, Context};
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::{Outcome, Stop};
use crate::table::Table;

/// Show an entity or a relationship
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals get package:bash
  annals get package:bash package:dash
  annals get package:bash --valid-at 2024-01-01     as it was true then
  annals get package:bash --version 1               its first version
  annals get far --summary                          also if only a proxy of it is here
  annals --json get package:bash | jq .properties")]
pub struct Arguments {
    #[command(flatten)]
    first: InstanceArgument,
    /// Ids of further instances
    #[arg(value_name = "ID")]
    more: Vec<Id>,
    /// This version, even a deleted one
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Show all that the repository knows of an entity, even if it holds only a proxy of it
    #[arg(long = "summary", conflicts_with_all = ["version", "is_relationship"])]
    is_summary: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the instances. Those that are not there do not prevent the others.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    context.warn_of_emptiness(&arguments.as_of)?;
    let (mut missing, mut is_first) = (None, true);
    for id in std::iter::once(&arguments.first.id).chain(&arguments.more) {
        let instance = InstanceArgument { id: id.clone(), ..arguments.first.clone() };
        match one(context, &instance, arguments, is_first) {
            Err(stop) if stop.kind() == Some(ErrorKind::NotFound) && !arguments.more.is_empty() => {
                context.output.flush()?;
                missing = Some(stop.tell(context.output.is_json()));
            }
            outcome => {
                outcome?;
                is_first = false;
            }
        }
    }
    missing.map_or(Ok(()), |code| Err(Stop::Silent(code)))
}

fn one(context: &mut Context, instance: &InstanceArgument, arguments: &Arguments, is_first: bool) -> Outcome {
    let Arguments { version, is_summary, as_of, .. } = arguments;
    let candidate = context.candidate.clone();
    let request = |collection: &'static str| {
        let of = |rest: &str| Request::get_of(collection, &instance.id, rest);
        let request = match version {
            Some(version) => of(&format!("/versions/{version}")).known_at(as_of),
            None if *is_summary && collection == "entities" => of("/summary").read_at(as_of),
            None => of("").read_at(as_of),
        };
        request.with_all("candidate", &candidate)
    };
    let (collection, mut answer) =
        instance.ask(context, request).map_err(|stop| explained(stop, &instance.id, *version))?;
    if *is_summary && collection == "relationships" {
        let id = &instance.id;
        let text = format!("--summary: expected the id of an entity, found relationship {id}; leave it out");
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let line = answer.whole()?;
    if context.output.is_json() {
        return context.output.json_line(&line);
    }
    let json = json_of_line(&line)?;
    if !is_first {
        context.output.line("")?;
    }
    print(context, collection, Shown(&json), as_of)
}

/// Says how the command line shows a proxy, or an instance that is not there.
fn explained(stop: Stop, id: &Id, version: Option<u32>) -> Stop {
    let Stop::Told(told) = stop else { return stop };
    // The door names the instance first: the kind, and the id.
    let kind = if told.text.starts_with("relationship ") { "relationship" } else { "entity" };
    let is_unseen = told.text.ends_with("does not exist at this time");
    let (kind, text) = match (told.kind(), version) {
        (Some(ErrorKind::ProxyOnly), _) => (
            ErrorKind::ProxyOnly,
            format!(
                "entity {id}: the repository holds only a proxy of it; add --summary to see its known fields"
            ),
        ),
        (Some(ErrorKind::NotFound), Some(version)) if told.text.contains(" has no version ") => (
            ErrorKind::NotFound,
            format!("{kind} {id} has no version {version}; list its versions with `annals history`"),
        ),
        (Some(ErrorKind::Deleted), _) | (Some(ErrorKind::NotFound), None)
            if is_unseen || told.kind() == Some(ErrorKind::Deleted) =>
        {
            (
                ErrorKind::NotFound,
                format!(
                    "{kind} {id} is deleted, or was not there yet; list its versions with `annals history`"
                ),
            )
        }
        (Some(ErrorKind::NotFound), None) if id.to_string().starts_with('/') => {
            (ErrorKind::NotFound, format!("{}; `annals cat {id}` shows the item at a path", told.text))
        }
        _ => return Stop::Told(told),
    };
    Error::new(kind, text).into()
}

fn print(context: &mut Context, collection: &str, instance: Shown, time: &AsOfArguments) -> Outcome {
    let is_entity = collection == "entities";
    let kind = if is_entity { "entity" } else { "relationship" };
    context.output.line(format!("{kind} {}", instance.text("id")))?;
    let mut table = Table::untitled();
    let mut row = |name: &str, text: String| table.row([format!("  {name}"), text]);
    for name in ["from", "to"].into_iter().filter(|_| !is_entity) {
        row(name, end(context, instance.text(name), time)?);
    }
    let (version, latest) = (instance.number("version"), instance.number("latestVersion"));
    row("type", instance.text("type").to_owned());
    row("version", format!("{version} of {latest}, {}", one_line(instance.text("status"))));
    row("created", stamp_to_text(instance.of("created")));
    let updated = stamp_to_text(instance.of("updated"));
    row("updated", format!("{updated} at position {}", instance.number("position")));
    row("valid from", instance.text("validFrom").to_owned());
    if let Some(status) = instance.optional("statusOnDelete") {
        row("status on delete", one_line(status));
    }
    if let Some(id) = instance.optional("reidentifiedFrom") {
        row("reidentified from", id.to_owned());
    }
    for (name, text) in instance.provenance() {
        row(&words(name), text);
    }
    let home_version = instance.number("homeVersion");
    if home_version != 0 && home_version != version {
        row("home version", home_version.to_string());
    }
    if instance.is("isProxy") {
        row("proxy", "only what relationships tell of it is here".to_owned());
    }
    let classified = instance.classifications();
    if !classified.is_empty() {
        row("classified", classified);
    }
    context.output.table(&mut table)?;
    print_properties(context, instance)
}

/// The entity at an end of a relationship, with its type if that is known.
fn end(context: &mut Context, id: &str, time: &AsOfArguments) -> Outcome<String> {
    let request = Request::get_of("entities", &Id::new(id)?, "/summary").read_at(time);
    let request = context.of_candidate(request);
    let known = match context.ask(request) {
        Ok(mut answer) => json_of_line(&answer.whole()?)?,
        Err(stop) if matches!(stop.kind(), Some(ErrorKind::NotFound | ErrorKind::Deleted)) => {
            return Ok(id.to_owned());
        }
        Err(stop) => return Err(stop),
    };
    let proxy = if Shown(&known).is("isProxy") { ", a proxy" } else { "" };
    Ok(format!("{id} ({}{proxy})", Shown(&known).text("type")))
}

/// `maintained by` for `maintainedBy`.
fn words(name: &str) -> String {
    let words =
        name.chars().flat_map(|one| one.is_uppercase().then_some(' ').into_iter().chain(one.to_lowercase()));
    words.collect()
}

fn stamp_to_text(stamp: Shown) -> String {
    match (stamp.text("instant"), stamp.text("author")) {
        (instant, "") => instant.to_owned(),
        (instant, author) => format!("{instant} by {}", one_line(author)),
    }
}

fn print_properties(context: &mut Context, instance: Shown) -> Outcome {
    let mut table = Table::untitled();
    let mut is_any = false;
    for (name, value) in instance.properties() {
        is_any = true;
        table.row([format!("  {}", one_line(name)), value_to_text(&value)]);
    }
    if is_any {
        context.output.line("properties")?;
    }
    context.output.table(&mut table)
}
